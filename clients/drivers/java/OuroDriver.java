import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A driver for 'ouro run exec:COMMAND': connects ouro to any database with a JDBC driver.
 *
 * <pre>
 *   ouro run 'exec:java -cp h2.jar OuroDriver.java "jdbc:h2:mem:ouro;DB_CLOSE_DELAY=-1"'
 * </pre>
 *
 * Copy this file and change it: LEVELS and outcome() say what may differ between databases, Session is one
 * connection, and serve() speaks the protocol, which docs/drivers.md of ouro describes. One process serves
 * all connections, a thread each, so databases in memory can be tested, too.
 */
public final class OuroDriver {
    /** An isolation level of JDBC, and the level of ouro that it promises. */
    record Level(String name, int jdbc, String promises) {}

    private static final int H2_SNAPSHOT = 6;  // Not in JDBC; only H2 says that it supports this number.

    private static final List<Level> LEVELS = List.of(
            new Level("serializable", Connection.TRANSACTION_SERIALIZABLE, "serializable"),
            new Level("snapshot", H2_SNAPSHOT, "si"),
            new Level("repeatable read", Connection.TRANSACTION_REPEATABLE_READ, "repeatable-read"),
            new Level("read committed", Connection.TRANSACTION_READ_COMMITTED, "read-committed"));

    private final String url;
    private final boolean steps;
    private final PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private final Map<Long, Session> sessions = new HashMap<>();
    private Connection keeper;  // Open until the end, so that a database in memory stays.

    private OuroDriver(String url, boolean steps) {
        this.url = url;
        this.steps = steps;
    }

    public static void main(String[] arguments) throws Exception {
        boolean steps = arguments.length == 2 && arguments[0].equals("--steps");
        if (arguments.length != (steps ? 2 : 1)) {
            System.err.println("usage: java -cp JARS OuroDriver.java [--steps] JDBC-URL");
            System.exit(2);
        }
        // Derby looks for deadlocks only after 20 s and writes derby.log, unless it is told otherwise.
        System.setProperty("derby.locks.deadlockTimeout", "0");
        System.setProperty("derby.locks.waitTimeout", "2");
        System.setProperty("derby.stream.error.field", "java.lang.System.err");
        OuroDriver driver = new OuroDriver(arguments[arguments.length - 1], steps);
        System.setOut(System.err);  // Only answers may go to the standard output, but HSQLDB prints there.
        driver.serve();
        System.exit(0);  // Threads of the database may still run.
    }

    /**
     * What an error of a statement or a commit means. 'aborted' must be certain: transactions rolled back (40),
     * a key that somebody else inserted first (23), and H2's codes for locks and concurrent updates.
     */
    private static String outcome(SQLException error) {
        String state = error.getSQLState() == null ? "" : error.getSQLState();
        if (state.startsWith("08")) return "lost";
        if (state.equals("40003")) return "failed";  // "Statement completion unknown".
        boolean certain = state.startsWith("40") || state.startsWith("23") || state.equals("HYT00")
                || state.equals("90131");
        return certain ? "aborted" : "failed";
    }

    private static Map<String, Object> refusal(String outcome, Exception error) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("outcome", outcome);
        String reason = String.valueOf(error.getMessage()).lines().findFirst().orElse("");
        answer.put("reason", reason.substring(0, Math.min(200, reason.length())));
        return answer;
    }

    /** One connection, which runs one transaction at a time, and its thread. */
    private final class Session implements Runnable {
        final BlockingQueue<Map<String, Object>> requests = new LinkedBlockingQueue<>();
        private final Map<String, PreparedStatement> statements = new HashMap<>();
        private Connection connection;

        @Override
        public void run() {
            try {
                while (true) {
                    Map<String, Object> request = requests.take();
                    send(request, answer(request));
                    if (request.get("do").equals("close")) return;
                }
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }

        private Map<String, Object> answer(Map<String, Object> request) {
            try {
                switch ((String) request.get("do")) {
                    case "open" -> open((String) request.get("isolation"));
                    case "begin" -> { }  // JDBC begins with the first statement.
                    case "op" -> {
                        Map<String, Object> answer = new LinkedHashMap<>();
                        answer.put("result", run((List<?>) request.get("op")));
                        return answer;
                    }
                    case "commit" -> { return commit(); }
                    case "rollback" -> connection.rollback();
                    case "txn" -> { return whole((List<?>) request.get("ops")); }
                    case "close" -> close();
                    default -> throw new IllegalArgumentException("no such request: " + request.get("do"));
                }
                return new LinkedHashMap<>();
            } catch (SQLException error) {
                return refusal(outcome(error), error);
            } catch (RuntimeException error) {
                return refusal("failed", error);
            }
        }

        private void open(String isolation) throws SQLException {
            connection = DriverManager.getConnection(url);
            connection.setAutoCommit(false);
            for (Level level : LEVELS) {
                if (level.name().equals(isolation)) connection.setTransactionIsolation(level.jdbc());
            }
            connection.commit();
        }

        private void close() throws SQLException {
            connection.rollback();
            connection.close();
        }

        private PreparedStatement prepare(String sql, Object... numbers) throws SQLException {
            PreparedStatement statement = statements.get(sql);
            if (statement == null) {
                statement = connection.prepareStatement(sql);
                statements.put(sql, statement);
            }
            for (int i = 0; i < numbers.length; ++i) statement.setLong(i + 1, (Long) numbers[i]);
            return statement;
        }

        /** Runs one operation and returns its result. */
        private Object run(List<?> op) throws SQLException {
            switch ((String) op.get(0)) {
                case "r" -> {
                    PreparedStatement select = prepare("SELECT v FROM ouro_data WHERE k = ?", op.get(1));
                    try (ResultSet rows = select.executeQuery()) {
                        return rows.next() ? rows.getLong(1) : null;
                    }
                }
                case "w" -> {
                    // Each database has its own words for "insert or overwrite"; these all of them know.
                    Object key = op.get(1);
                    Object number = op.get(2);
                    if (prepare("UPDATE ouro_data SET v = ? WHERE k = ?", number, key).executeUpdate() == 0) {
                        prepare("INSERT INTO ouro_data (k, v) VALUES (?, ?)", key, number).executeUpdate();
                    }
                    return null;
                }
                case "d" -> {
                    prepare("DELETE FROM ouro_data WHERE k = ?", op.get(1)).executeUpdate();
                    return null;
                }
                case "scan" -> {
                    List<Object> found = new ArrayList<>();
                    try (ResultSet rows = prepare("SELECT k, v FROM ouro_data WHERE k BETWEEN ? AND ?",
                            op.get(1), op.get(2)).executeQuery()) {
                        while (rows.next()) found.add(List.of(rows.getLong(1), rows.getLong(2)));
                    }
                    return found;
                }
                default -> throw new IllegalArgumentException("no such operation: " + op.get(0));
            }
        }

        /** Ends a transaction that went wrong, so that nothing of it can become part of the next. */
        private void discard() {
            try {
                connection.rollback();
            } catch (SQLException error) {
                try {
                    connection.close();
                } catch (SQLException ignored) {
                    // It is broken already: every later request will fail.
                }
            }
        }

        private Map<String, Object> commit() {
            try {
                connection.commit();
            } catch (SQLException error) {
                discard();
                return refusal(outcome(error).equals("aborted") ? "aborted" : "unknown", error);
            }
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("outcome", "committed");
            return answer;
        }

        /** A whole transaction: begin, operations, commit. */
        private Map<String, Object> whole(List<?> ops) {
            List<Object> results = new ArrayList<>();
            Map<String, Object> answer;
            try {
                for (Object op : ops) results.add(run((List<?>) op));
                answer = commit();
            } catch (SQLException | RuntimeException error) {
                discard();
                // No commit was tried, so a lost connection leaves no effect either.
                boolean aborted = error instanceof SQLException sql && outcome(sql).equals("aborted");
                answer = refusal(aborted ? "aborted" : "failed", error);
            }
            answer.put("results", results);
            return answer;
        }
    }

    private void serve() throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, Object> request = new Json(line).object();
            String kind = (String) request.get("do");
            Long connection = (Long) request.get("connection");
            if (connection == null) {
                send(request, answer(kind));
                if (kind.equals("end")) return;
                continue;
            }
            if (kind.equals("open")) {
                Session session = new Session();
                sessions.put(connection, session);
                Thread thread = new Thread(session);
                thread.setDaemon(true);
                thread.start();
            }
            sessions.get(connection).requests.add(request);
        }
    }

    private Map<String, Object> answer(String kind) {
        try {
            switch (kind) {
                case "hello" -> { return hello(); }
                case "setup" -> makeTable();
                case "end" -> dropTable();
                default -> throw new IllegalArgumentException("no such request: " + kind);
            }
            return new LinkedHashMap<>();
        } catch (SQLException | RuntimeException error) {
            return refusal("failed", error);
        }
    }

    private Map<String, Object> hello() throws SQLException {
        keeper = DriverManager.getConnection(url);
        DatabaseMetaData about = keeper.getMetaData();
        List<Object> levels = new ArrayList<>();
        for (Level level : LEVELS) {
            boolean ours = level.jdbc() != H2_SNAPSHOT || about.getDatabaseProductName().equals("H2");
            if (ours && about.supportsTransactionIsolationLevel(level.jdbc())) {
                levels.add(Map.of("name", level.name(), "promises", level.promises()));
            }
        }
        List<Object> abilities = new ArrayList<>(List.of("registers", "scans", "deletes", "threads"));
        if (!steps) abilities.add("whole");
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("protocol", 1L);
        answer.put("name", about.getDatabaseProductName() + " " + about.getDatabaseProductVersion());
        answer.put("version", "1");
        answer.put("can", abilities);
        answer.put("isolation", levels);
        return answer;
    }

    private void makeTable() throws SQLException {
        try {
            dropTable();
        } catch (SQLException error) {
            // There was none. If it is something else, the next statement fails.
        }
        try (Statement statement = keeper.createStatement()) {
            statement.execute("CREATE TABLE ouro_data (k BIGINT NOT NULL PRIMARY KEY, v BIGINT)");
        }
    }

    private void dropTable() throws SQLException {
        try (Statement statement = keeper.createStatement()) {
            statement.execute("DROP TABLE ouro_data");
        }
    }

    private void send(Map<String, Object> request, Map<String, Object> answer) {
        answer.put("id", request.get("id"));
        String text = Json.write(answer);
        synchronized (output) {
            output.print(text + "\n");
            output.flush();
        }
    }

    /** As much JSON as the protocol needs: numbers are 64-bit integers. */
    private static final class Json {
        private final String text;
        private int at = 0;

        Json(String text) {
            this.text = text;
        }

        private char next() {
            while (Character.isWhitespace(text.charAt(at))) ++at;
            return text.charAt(at);
        }

        /** Skips this character if it is the next one. */
        private boolean skip(char wanted) {
            if (next() != wanted) return false;
            ++at;
            return true;
        }

        private void expect(char wanted) {
            if (!skip(wanted)) throw new IllegalArgumentException("no '" + wanted + "' at " + at + ": " + text);
        }

        Map<String, Object> object() {
            Map<String, Object> members = new HashMap<>();
            expect('{');
            while (!skip('}')) {
                String name = string();
                expect(':');
                members.put(name, value());
                skip(',');
            }
            return members;
        }

        private List<Object> array() {
            List<Object> elements = new ArrayList<>();
            expect('[');
            while (!skip(']')) {
                elements.add(value());
                skip(',');
            }
            return elements;
        }

        private Object value() {
            switch (next()) {
                case '{': return object();
                case '[': return array();
                case '"': return string();
                default:
            }
            int start = at;
            while (",]} \t".indexOf(text.charAt(at)) < 0) ++at;
            String word = text.substring(start, at);
            return switch (word) {
                case "true" -> true;
                case "false" -> false;
                case "null" -> null;
                default -> Long.valueOf(word);
            };
        }

        private String string() {
            StringBuilder result = new StringBuilder();
            expect('"');
            for (; text.charAt(at) != '"'; ++at) {
                char c = text.charAt(at);
                if (c == '\\') {
                    c = text.charAt(++at);
                    int escape = "bfnrt".indexOf(c);
                    if (escape >= 0) c = "\b\f\n\r\t".charAt(escape);
                    if (c == 'u') {
                        c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                        at += 4;
                    }
                }
                result.append(c);
            }
            ++at;
            return result.toString();
        }

        static String write(Object value) {
            if (value instanceof Map<?, ?> members) {
                StringJoiner joined = new StringJoiner(",", "{", "}");
                members.forEach((name, member) -> joined.add(write(name) + ":" + write(member)));
                return joined.toString();
            }
            if (value instanceof List<?> elements) {
                StringJoiner joined = new StringJoiner(",", "[", "]");
                elements.forEach(element -> joined.add(write(element)));
                return joined.toString();
            }
            return value instanceof String string ? quote(string) : String.valueOf(value);
        }

        private static String quote(String string) {
            StringBuilder result = new StringBuilder("\"");
            for (char c : string.toCharArray()) {
                if (c == '"' || c == '\\') result.append('\\');
                result.append(c < ' ' ? String.format("\\u%04x", (int) c) : String.valueOf(c));
            }
            return result.append('"').toString();
        }
    }
}
