package ouro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What real programs do on H2, judged by ouro. */
class H2Test {
    private static final int CLIENTS = 4;
    private static final int ROUNDS = 40;
    private static int databases;

    @TempDir Path folder;
    private String history;
    private Recorder recorder;
    private DataSource source;
    private Connection keeper;

    @BeforeEach void open() throws Exception {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:mem:test" + ++databases + ";LOCK_TIMEOUT=10000");
        keeper = h2.getConnection();
        try (Statement statement = keeper.createStatement()) {
            statement.execute("CREATE TABLE items (id INT PRIMARY KEY, n INT)");
            statement.execute("INSERT INTO items VALUES (1, 1000), (2, 1000)");
        }
        history = folder.resolve("history.jsonl").toString();
        recorder = Recorder.to(history).initial(1, 1000).initial(2, 1000);
        source = recorder.wrap(h2);
    }

    @AfterEach void close() throws Exception {
        keeper.close();
    }

    private Verdict verdict(String level) throws Exception {
        recorder.close();
        return Ouro.check(history, level);
    }

    private static int read(Connection connection, int key, String more) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT n FROM items WHERE id = ?" + more)) {
            Session.of(statement).reads(key);
            statement.setInt(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    private static void write(Connection connection, int key, int value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("UPDATE items SET n = ? WHERE id = ?")) {
            Session.of(statement).writes(key, value);
            statement.setInt(1, value);
            statement.setInt(2, key);
            statement.executeUpdate();
        }
    }

    /** Sells one, with time for others between reading and writing. */
    private static Void sell(Connection connection, String more) throws SQLException {
        int left = read(connection, 1, more);
        Thread.yield();
        write(connection, 1, left - 1);
        return null;
    }

    private interface Round {
        void run(Connection connection) throws Exception;
    }

    private void clients(Round round) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Future<Void>> all = new ArrayList<>();
            for (int client = 0; client < CLIENTS; ++client) {
                Callable<Void> work = () -> {
                    try (Connection connection = source.getConnection()) {
                        for (int i = 0; i < ROUNDS; ++i) {
                            round.run(connection);
                        }
                    }
                    return null;
                };
                all.add(threads.submit(work));
            }
            for (Future<Void> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test void locksKeepReadAndWriteTogether() throws Exception {
        clients(connection -> recorder.run(connection, inside -> sell(inside, " FOR UPDATE")));
        Verdict verdict = verdict("strict-serializable");
        assertTrue(verdict.holds(), verdict.toString());
        assertTrue(verdict.transactions() >= CLIENTS * ROUNDS);
    }

    @Test void readCommittedLosesUpdates() throws Exception {
        try (Connection one = source.getConnection(); Connection two = source.getConnection()) {
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            int left = read(one, 1, "");
            sell(two, "");
            two.commit();
            write(one, 1, left - 2);
            one.commit();
        }
        Verdict verdict = verdict("all");
        assertEquals("violated", verdict.levels().get("serializable"), verdict.toString());
        assertEquals("holds", verdict.levels().get("read-committed"), verdict.toString());
        assertEquals("lost update", verdict.anomalies().get(0).name());
        assertTrue(verdict.toString().contains("one update is lost"), verdict.toString());
    }

    @Test void withoutTransactionsUpdatesAreLost() throws Exception {
        clients(connection -> recorder.together(() -> {
            int left = read(connection, 1, "");
            Thread.sleep(1);
            write(connection, 1, left - 1);
            return null;
        }));
        Verdict verdict = verdict("serializable");
        assertTrue(verdict.violated(), verdict.toString());
        assertEquals("lost update", verdict.anomalies().get(0).name());
    }

    @Test void serializableOfH2HasWriteSkew() throws Exception {
        try (Connection one = source.getConnection(); Connection two = source.getConnection()) {
            for (Connection connection : List.of(one, two)) {
                connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                connection.setAutoCommit(false);
            }
            int seenByOne = read(one, 1, "") + read(one, 2, "");
            int seenByTwo = read(two, 1, "") + read(two, 2, "");
            write(one, 1, seenByOne);
            write(two, 2, seenByTwo + 1);
            one.commit();
            two.commit();
        }
        assertTrue(verdict("serializable").violated());
        assertTrue(Ouro.check(history, "session-si").holds());
    }

    @Test void anUpdateThatFindsNothingWritesNothing() throws Exception {
        try (Connection connection = source.getConnection(); Statement statement = connection.createStatement()) {
            Session.of(connection).writes(3, 5);
            assertEquals(0, statement.executeUpdate("UPDATE items SET n = 5 WHERE id = 3"));
            Session.of(connection).scans(1, 3);
            try (ResultSet rows = statement.executeQuery("SELECT id, n FROM items ORDER BY id")) {
                while (rows.next()) {
                    rows.getInt("n");
                }
            }
            Session.of(connection).reads(2);
            try (ResultSet rows = statement.executeQuery("SELECT n FROM items WHERE id = 2 AND n < 0")) {
                assertFalse(rows.next());  // Which is noted as if nobody had ever written 2.
            }
        }
        Verdict verdict = verdict("read-committed");
        assertEquals(2, verdict.transactions());
        assertEquals("thin-air read", verdict.anomalies().get(0).name(), verdict.toString());
    }

    @Test void aDriverThatRecords() throws Exception {
        String url = "jdbc:ouro:" + folder.resolve("driver.jsonl") + ":jdbc:h2:mem:driver;DB_CLOSE_DELAY=-1";
        RecordingDriver.recorder(folder.resolve("driver.jsonl").toString()).initial(1, 5);
        try (Connection connection = DriverManager.getConnection(url, "sa", "")) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE items (id INT PRIMARY KEY, n INT)");
                statement.execute("INSERT INTO items VALUES (1, 5)");
            }
            connection.setAutoCommit(false);
            sell(connection, "");
            connection.commit();
            try (Connection other = DriverManager.getConnection(url, "sa", "")) {
                assertEquals(4, read(other, 1, ""));
            }
        }
        Verdict verdict = Ouro.check(folder.resolve("driver.jsonl").toString(), "strict-serializable");
        assertTrue(verdict.holds() && verdict.transactions() == 2, verdict.toString());
        assertThrows(SQLException.class, () -> DriverManager.getConnection("jdbc:ouro:jdbc:h2:mem:"));
    }

    @Test void whatCannotBeChecked() {
        String missing = folder.resolve("nothing.jsonl").toString();
        assertTrue(assertThrows(IOException.class, () -> Ouro.check(missing, "serializable")).getMessage()
                .contains("nothing.jsonl"));
        assertTrue(assertThrows(IOException.class, () -> Ouro.check(missing, "serialisable")).getMessage()
                .contains("did you mean 'serializable'"));
    }
}
