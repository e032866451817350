package ouro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecorderTest {
    private static final SQLException LOST = new SQLException("the connection is gone", "08006");
    private static final SQLException REFUSED = new SQLException("could not serialize access", "40001");

    @TempDir Path folder;
    private final FakeDatabase database = new FakeDatabase();
    private Recorder recorder;
    private Connection connection;
    private Statement statement;
    private Session note;
    private long ticks;

    @BeforeEach void record() throws Exception {
        recorder = Recorder.to(folder.resolve("history.jsonl").toString()).clock(() -> ++ticks);
        connection = recorder.wrap(database.connection());
        statement = connection.createStatement();
        note = Session.of(connection);
    }

    /** Fails unless the history has these lines behind its head. */
    private void shows(String... lines) throws Exception {
        recorder.close();
        List<String> found = Files.readAllLines(folder.resolve("history.jsonl"));
        assertEquals(String.join("\n", lines), String.join("\n", found.subList(1, found.size())));
    }

    private void query(String sql) throws SQLException {
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                // The rows fill the notes.
            }
        }
    }

    @Test void readsAndWritesOfTransactions() throws Exception {
        connection.setAutoCommit(false);
        note.reads("x");
        query("SELECT");
        Session.of(statement).writes("x", 8).writes("y", null);
        statement.executeUpdate("UPDATE");
        note.writes("x", 9);
        statement.executeUpdate("UPDATE none");
        statement.executeUpdate("UPDATE");  // Nothing is said of it.
        connection.commit();
        note.deletes(3);
        statement.executeUpdate("DELETE");
        connection.rollback();
        shows("{\"session\":\"connection 1\",\"invoked\":1,\"committing\":2,\"completed\":3,"
                        + "\"ops\":[[\"r\",\"x\",7],[\"w\",\"x\",8],[\"w\",\"y\",null]]}",
                "{\"session\":\"connection 1\",\"status\":\"aborted\",\"invoked\":4,\"completed\":5,"
                        + "\"ops\":[[\"d\",3]]}");
    }

    @Test void aCommitThatIsNotAnsweredIsUnknownAndEndsTheSession() throws Exception {
        database.commitsEnd(LOST, REFUSED, "success");
        connection.setAutoCommit(false);
        for (int value = 0; value < 3; ++value) {
            note.writes("x", value);
            statement.executeUpdate("UPDATE");
            if (value < 2) {
                assertThrows(SQLException.class, connection::commit);
            } else {
                connection.setAutoCommit(true);  // This commits, too.
            }
        }
        shows("{\"session\":\"connection 1\",\"status\":\"unknown\",\"invoked\":1,\"committing\":2,"
                        + "\"ops\":[[\"w\",\"x\",0]]}",
                "{\"session\":\"connection 1 #2\",\"status\":\"aborted\",\"invoked\":3,\"committing\":4,"
                        + "\"completed\":5,\"ops\":[[\"w\",\"x\",1]]}",
                "{\"session\":\"connection 1 #2\",\"invoked\":6,\"committing\":7,\"completed\":8,"
                        + "\"ops\":[[\"w\",\"x\",2]]}");
    }

    @Test void onlyWhatWasRefusedIsTriedAgain() throws Exception {
        database.commitsEnd(REFUSED, REFUSED, "success", LOST);
        int[] attempts = {0};
        Recorder.Work<String> work = inside -> {
            note.writes("x", ++attempts[0]);
            statement.executeUpdate("UPDATE");
            return "done";
        };
        assertEquals("done", recorder.run(connection, work));
        assertEquals(3, attempts[0]);
        assertSame(LOST, assertThrows(Unclear.class, () -> recorder.run(connection, work)).getCause());
        shows("{\"session\":\"connection 1\",\"status\":\"aborted\",\"invoked\":1,\"committing\":2,\"completed\":3,"
                        + "\"ops\":[[\"w\",\"x\",1]]}",
                "{\"session\":\"connection 1\",\"status\":\"aborted\",\"invoked\":4,\"committing\":5,\"completed\":6,"
                        + "\"ops\":[[\"w\",\"x\",2]]}",
                "{\"session\":\"connection 1\",\"invoked\":7,\"committing\":8,\"completed\":9,"
                        + "\"ops\":[[\"w\",\"x\",3]]}",
                "{\"session\":\"connection 1\",\"status\":\"unknown\",\"invoked\":10,\"committing\":11,"
                        + "\"ops\":[[\"w\",\"x\",4]]}");
    }

    @Test void statementsOfTheirOwn() throws Exception {
        note.writes("x", 1);
        statement.executeUpdate("UPDATE");
        note.writes("x", 2);
        assertThrows(SQLException.class, () -> statement.executeUpdate("UPDATE fail"));
        database.failure = REFUSED;
        note.writes("x", 3);
        assertThrows(SQLException.class, () -> statement.executeUpdate("UPDATE fail"));
        note.reads("x");
        statement.executeQuery("SELECT").next();  // Nobody closes it.
        note.writes("x", 4);
        statement.execute("UPDATE");  // Changes no row, as getUpdateCount() says.
        note.appends("l", "a").appends("l", "b");
        statement.executeBatch();
        shows("{\"session\":\"connection 1\",\"invoked\":1,\"completed\":2,\"ops\":[[\"w\",\"x\",1]]}",
                "{\"session\":\"connection 1\",\"status\":\"unknown\",\"invoked\":3,\"ops\":[[\"w\",\"x\",2]]}",
                "{\"session\":\"connection 1 #2\",\"status\":\"aborted\",\"invoked\":4,\"completed\":5,"
                        + "\"ops\":[[\"w\",\"x\",3]]}",
                "{\"session\":\"connection 1 #2\",\"invoked\":6,\"completed\":7,\"ops\":[[\"r\",\"x\",7]]}",
                "{\"session\":\"connection 1 #2\",\"invoked\":9,\"completed\":10,"
                        + "\"ops\":[[\"append\",\"l\",\"a\"],[\"append\",\"l\",\"b\"]]}");
    }

    @Test void whatRowsSay() throws Exception {
        connection.setAutoCommit(false);
        database.answer = new Object[][] {{"a", 1}, {"b", 0.5}};
        note.scans("a", null);
        query("SELECT");
        note.readsList("l");
        query("SELECT");
        note.reads("row", value -> value instanceof String text ? text + "!" : value);
        query("SELECT");
        // Not read to the end: nobody knows what it would have found.
        note.scans("a", "z");
        statement.executeQuery("SELECT").next();
        note.found("m", 3);
        note.found("list", List.of(1, "two"));
        note.operation("[\"aggregate\",\"count\",null,true,2]");
        assertThrows(IllegalArgumentException.class, () -> note.writes("x", new Object()));
        connection.commit();
        shows("{\"session\":\"connection 1\",\"invoked\":1,\"committing\":2,\"completed\":3,\"ops\":["
                + "[\"scan\",\"a\",null,[[\"a\",1],[\"b\",{\"@float\":0.5}]]],[\"r\",\"l\",[\"a\",\"b\"]],"
                + "[\"r\",\"row\",{\"c1\":\"a!\",\"c2\":1}],[\"r\",\"m\",3],[\"r\",\"list\",[1,\"two\"]],"
                + "[\"aggregate\",\"count\",null,true,2]]}");
    }

    @Test void savepoints() throws Exception {
        connection.setAutoCommit(false);
        write(1);
        Savepoint one = connection.setSavepoint();
        write(2);
        connection.rollback(one);
        write(3);
        Savepoint two = connection.setSavepoint("two");
        write(4);
        connection.releaseSavepoint(two);
        connection.rollback(one);
        connection.commit();
        shows("{\"session\":\"connection 1\",\"invoked\":1,\"committing\":2,\"completed\":3,\"ops\":[[\"w\",\"x\",1],"
                + "[\"rolled-back\",[[\"w\",\"x\",2]]],[\"rolled-back\",[[\"w\",\"x\",3],[\"w\",\"x\",4]]]]}");
    }

    private void write(int value) throws SQLException {
        note.writes("x", value);
        statement.executeUpdate("UPDATE");
    }

    @Test void transactionsThatTheServerEnded() throws Exception {
        connection.setAutoCommit(false);
        database.failure = new SQLException("Deadlock found", "40001", 1213);  // MySQL's.
        write(1);
        note.writes("x", 2);
        assertThrows(SQLException.class, () -> statement.executeUpdate("UPDATE fail"));
        write(3);
        connection.commit();
        shows("{\"session\":\"connection 1\",\"status\":\"aborted\",\"invoked\":1,\"completed\":2,"
                        + "\"ops\":[[\"w\",\"x\",1]]}",
                "{\"session\":\"connection 1\",\"invoked\":3,\"committing\":4,\"completed\":5,"
                        + "\"ops\":[[\"w\",\"x\",3]]}");
    }

    @Test void whatIsUnderWayAtTheEndIsUnknown() throws Exception {
        connection.setAutoCommit(false);
        write(1);
        shows("{\"session\":\"connection 1\",\"status\":\"unknown\",\"invoked\":1,\"ops\":[[\"w\",\"x\",1]]}");
    }

    @Test void whatAProgramDoesTogether() throws Exception {
        recorder.together(() -> {
            note.reads("x");
            query("SELECT");
            write(2);
            note.found("y", 5);
            connection.setAutoCommit(false);  // A transaction within.
            write(3);
            connection.commit();
            connection.setAutoCommit(true);
            return null;
        });
        assertThrows(SQLException.class, () -> recorder.together(() -> {
            note.writes("x", 4);
            return statement.executeUpdate("UPDATE fail");
        }));
        write(5);
        assertThrows(IllegalStateException.class, () -> note.found("y", 6));
        shows("{\"session\":\"connection 1\",\"invoked\":2,\"committing\":3,\"completed\":4,"
                        + "\"ops\":[[\"w\",\"x\",3]]}",
                "{\"session\":\"work 2\",\"invoked\":1,\"completed\":5,"
                        + "\"ops\":[[\"r\",\"x\",7],[\"w\",\"x\",2],[\"r\",\"y\",5]]}",
                "{\"session\":\"work 2\",\"status\":\"unknown\",\"invoked\":6,\"ops\":[[\"w\",\"x\",4]]}",
                "{\"session\":\"connection 1\",\"invoked\":7,\"completed\":8,\"ops\":[[\"w\",\"x\",5]]}");
    }

    @Test void whatBeginsAndEndsTransactionsPastJdbcIsRefused() throws Exception {
        for (String sql : List.of("BEGIN", "/* now */ commit", "UPDATE t SET v = 1; ROLLBACK",
                "set session autocommit = 0", "SAVEPOINT a", "PREPARE TRANSACTION 'a'")) {
            assertThrows(SQLException.class, () -> statement.execute(sql), sql);
            assertThrows(SQLException.class, () -> connection.prepareStatement(sql), sql);
        }
        statement.execute("UPDATE t SET v = '; commit'; -- end");
        statement.execute("PREPARE plan AS SELECT 1");
        PreparedStatement prepared = connection.prepareStatement("UPDATE commits");
        assertSame(connection, prepared.getConnection());
        shows();
    }
}
