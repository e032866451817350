package ouro;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A connection that does what its statements say: 'fail' fails with `failure`, 'none' changes no row, queries return
 * `answer`. Commits end as `ends` says; null is success.
 */
final class FakeDatabase {
    final Deque<Object> ends = new ArrayDeque<>();
    SQLException failure = new SQLException("the connection is gone", "08006");
    Object[][] answer = {{7}};
    private boolean autocommit = true;

    void commitsEnd(Object... all) {
        for (Object end : all) {
            ends.add(end);
        }
    }

    Connection connection() {
        return RecordedConnection.proxy(Connection.class, (self, method, arguments) -> {
            switch (method.getName()) {
                case "getAutoCommit":
                    return autocommit;
                case "setAutoCommit":
                    autocommit = (boolean) arguments[0];
                    return null;
                case "createStatement":
                case "prepareStatement":
                    return statement();
                case "commit":
                    if (ends.poll() instanceof SQLException error) {
                        throw error;
                    }
                    return null;
                case "setSavepoint":
                    return RecordedConnection.proxy(Savepoint.class, (one, two, three) -> null);
                case "isClosed":
                    return false;
                default:
                    return null;
            }
        });
    }

    private Statement statement() {
        return RecordedConnection.proxy(PreparedStatement.class, (self, method, arguments) -> {
            String sql = arguments == null || arguments.length == 0 ? "" : arguments[0].toString();
            if (sql.contains("fail")) {
                throw failure;
            }
            switch (method.getName()) {
                case "executeQuery":
                    return rows();
                case "executeUpdate":
                    return sql.contains("none") ? 0 : 1;
                case "executeBatch":
                    return new int[] {0, Statement.SUCCESS_NO_INFO};
                case "execute":
                    return false;
                case "getUpdateCount":
                    return 0;
                default:
                    return null;
            }
        });
    }

    private ResultSet rows() {
        int[] at = {-1};
        ResultSetMetaData columns = RecordedConnection.proxy(ResultSetMetaData.class, (self, method, arguments) ->
                method.getName().equals("getColumnCount") ? (Object) answer[0].length : "c" + arguments[0]);
        return RecordedConnection.proxy(ResultSet.class, (self, method, arguments) -> {
            switch (method.getName()) {
                case "next":
                    return ++at[0] < answer.length;
                case "getObject":
                    return answer[at[0]][(int) arguments[0] - 1];
                case "getMetaData":
                    return columns;
                default:
                    return null;
            }
        });
    }
}
