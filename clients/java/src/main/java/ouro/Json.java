package ouro;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Clob;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.temporal.TemporalAccessor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.UUID;

/** Values as the native text format writes them, and JSON as ouro prints it. */
final class Json {
    private Json() {}

    /** A text. Halves of surrogate pairs are spelled out. */
    static String text(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); ++i) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else if (Character.isHighSurrogate(c) && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                out.append(c).append(text.charAt(++i));
            } else if (Character.isSurrogate(c)) {
                out.append(String.format("\\\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    /** The name of a key: an integer, or the text of anything else; of a list, its parts with '/' between. */
    static String name(Object key) {
        if (key instanceof Long || key instanceof Integer || key instanceof Short || key instanceof Byte) {
            return key.toString();
        }
        if (key instanceof BigInteger big && big.bitLength() < 64) {
            return key.toString();
        }
        if (key instanceof Collection<?> parts) {
            StringJoiner joined = new StringJoiner("/");
            parts.forEach(part -> joined.add(String.valueOf(part)));
            return text(joined.toString());
        }
        if (key == null || key instanceof Boolean) {
            throw new IllegalArgumentException(key + " is no key; give an integer or a text");
        }
        return text(key.toString());
    }

    /** A value, a row (Map) or a list (Collection). Floats and doubles are floating-point numbers; BigDecimal is exact. */
    static String value(Object value) {
        if (value == null) {
            return "null";
        }
        if (value instanceof Boolean || value instanceof Long || value instanceof Integer || value instanceof Short
                || value instanceof Byte || value instanceof BigInteger) {
            return value.toString();
        }
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            boolean finite = !Double.isNaN(number) && !Double.isInfinite(number);
            return "{\"@float\":" + (finite ? Double.toString(number) : "\"" + number + "\"") + "}";
        }
        if (value instanceof BigDecimal exact) {
            return exact.toPlainString();
        }
        if (value instanceof byte[] bytes) {
            return text(HexFormat.of().formatHex(bytes));
        }
        if (value instanceof Timestamp time) {
            return text(time.toLocalDateTime().toString());
        }
        if (value instanceof Clob clob) {
            try {
                return text(clob.getSubString(1, (int) clob.length()));
            } catch (SQLException error) {
                throw new IllegalArgumentException("a long text that cannot be read", error);
            }
        }
        if (value instanceof CharSequence || value instanceof Character || value instanceof UUID
                || value instanceof TemporalAccessor || value instanceof java.util.Date || value instanceof Enum) {
            return text(value.toString());
        }
        StringJoiner joined;
        if (value instanceof Map<?, ?> row) {
            joined = new StringJoiner(",", "{", "}");
            row.forEach((column, cell) -> joined.add(text(column.toString()) + ":" + value(cell)));
            return joined.toString();
        }
        if (value instanceof Collection<?> list) {
            joined = new StringJoiner(",", "[", "]");
            list.forEach(element -> joined.add(value(element)));
            return joined.toString();
        }
        if (value instanceof Object[] list) {
            return value(Arrays.asList(list));
        }
        throw new IllegalArgumentException("a value of " + value.getClass().getName() + " cannot be recorded; make "
                + "it a number, a text, a Boolean, null, a Map of these, or a Collection");
    }

    /** Reads one value: Map, List, String, Long or BigInteger, Double, Boolean or null. */
    static Object parse(String text) {
        Json.Reader reader = new Reader(text);
        Object found = reader.value();
        reader.space();
        if (reader.at != text.length()) {
            throw reader.wrong();
        }
        return found;
    }

    private static final class Reader {
        final String text;
        int at;

        Reader(String text) {
            this.text = text;
        }

        IllegalArgumentException wrong() {
            return new IllegalArgumentException("no JSON at offset " + at);
        }

        void space() {
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
                ++at;
            }
        }

        boolean take(char c) {
            space();
            boolean found = at < text.length() && text.charAt(at) == c;
            at += found ? 1 : 0;
            return found;
        }

        void need(char c) {
            if (!take(c)) {
                throw wrong();
            }
        }

        /** What ouro prints nests a few levels deep, so this may call itself. */
        Object value() {
            space();
            if (take('{')) {
                Map<String, Object> map = new LinkedHashMap<>();
                for (boolean more = !take('}'); more; more = !take('}')) {
                    if (!map.isEmpty()) {
                        need(',');
                    }
                    space();
                    String name = string();
                    need(':');
                    map.put(name, value());
                }
                return map;
            }
            if (take('[')) {
                List<Object> list = new ArrayList<>();
                for (boolean more = !take(']'); more; more = !take(']')) {
                    if (!list.isEmpty()) {
                        need(',');
                    }
                    list.add(value());
                }
                return list;
            }
            if (at < text.length() && text.charAt(at) == '"') {
                return string();
            }
            int first = at;
            while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) {
                ++at;
            }
            return scalar(text.substring(first, at));
        }

        Object scalar(String word) {
            switch (word) {
                case "null":
                    return null;
                case "true":
                    return true;
                case "false":
                    return false;
                default:
                    try {
                        if (word.matches("-?[0-9]+")) {
                            return word.length() < 19 ? (Object) Long.valueOf(word) : new BigInteger(word);
                        }
                        return Double.valueOf(word);
                    } catch (NumberFormatException error) {
                        throw wrong();
                    }
            }
        }

        String string() {
            need('"');
            StringBuilder out = new StringBuilder();
            while (at < text.length() && text.charAt(at) != '"') {
                char c = text.charAt(at++);
                if (c != '\\') {
                    out.append(c);
                    continue;
                }
                if (at >= text.length()) {
                    throw wrong();
                }
                c = text.charAt(at++);
                int plain = "bfnrt".indexOf(c);
                if (c == 'u' && at + 4 <= text.length()) {
                    out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    out.append(plain < 0 ? c : "\b\f\n\r\t".charAt(plain));
                }
            }
            need('"');
            return out.toString();
        }
    }
}
