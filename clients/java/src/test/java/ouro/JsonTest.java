package ouro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test void valuesAsNativeTextWritesThem() {
        assertEquals("[null,true,7,-3,1000.50,{\"@float\":0.25},{\"@float\":\"-Infinity\"},\"00ff\",\"a\\\"b\\u000a\"]",
                Json.value(Arrays.asList(null, true, 7L, BigInteger.valueOf(-3), new BigDecimal("1000.50"), 0.25f,
                        Double.NEGATIVE_INFINITY, new byte[] {0, -1}, "a\"b\n")));
        assertEquals("{\"a\":[1]}", Json.value(Map.of("a", new Integer[] {1})));
        LocalDateTime time = LocalDateTime.of(2026, 1, 2, 3, 4, 5);
        assertEquals(Json.value(time), Json.value(Timestamp.valueOf(time)));
        assertEquals("\"\\\\ud83d \ud83d\ude00\"", Json.value("\ud83d \ud83d\ude00"));
        assertThrows(IllegalArgumentException.class, () -> Json.value(new Object()));
    }

    @Test void keysAreIntegersOrTexts() {
        assertEquals("7", Json.name((short) 7));
        assertEquals("\"7\"", Json.name("7"));
        assertEquals("\"items/7\"", Json.name(List.of("items", 7)));
        assertThrows(IllegalArgumentException.class, () -> Json.name(null));
    }

    @Test void parsesWhatItIsGiven() {
        assertEquals(Map.of("a", List.of(1L, -2.5, true, "x\"\n\u00e9"), "b", Map.of(), "c", List.of()),
                Json.parse(" {\"a\": [1, -2.5, true, \"x\\\"\\n\\u00e9\"], \"b\":{}, \"c\":[] }\n"));
        for (String wrong : List.of("", "{", "[1", "[1 2]", "{\"a\"}", "\"a", "nul", "{} {}", "\"\\")) {
            assertThrows(IllegalArgumentException.class, () -> Json.parse(wrong), wrong);
        }
    }
}
