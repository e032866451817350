package ouro;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A statement whose executions are recorded. */
final class RecordedStatement implements InvocationHandler {
    private final RecordedConnection connection;
    private final Statement inner;
    private final String prepared;  // Null: each execution has an SQL of its own.
    private Object proxy;
    private Session.Attempt attempt;  // The last one; its rows may still be read.
    private Object count;  // What getUpdateCount() said, as it may be asked but once.

    RecordedStatement(RecordedConnection connection, Statement inner, String prepared) {
        this.connection = connection;
        this.inner = inner;
        this.prepared = prepared;
    }

    <T extends Statement> T proxy(Class<T> type) {
        T made = RecordedConnection.proxy(type, this);
        proxy = made;
        return made;
    }

    @Override public Object invoke(Object self, Method method, Object[] arguments) throws SQLException {
        Object common = RecordedConnection.common(self, connection.session(), method, arguments);
        if (common != null) {
            return common;
        }
        String name = method.getName();
        if (name.startsWith("execute")) {
            return execute(method, arguments);
        }
        switch (name) {
            case "getConnection":
                return connection.self();
            case "addBatch":
                if (prepared == null) {
                    Statements.check((String) arguments[0]);
                }
                return RecordedConnection.call(inner, method, arguments);
            case "getResultSet":
                return rows((ResultSet) RecordedConnection.call(inner, method, arguments));
            case "getUpdateCount":
                if (count != null) {
                    return count;
                }
                return RecordedConnection.call(inner, method, arguments);
            case "getMoreResults":
                finish();
                return RecordedConnection.call(inner, method, arguments);
            case "close":
                finish();
                return RecordedConnection.call(inner, method, arguments);
            default:
                return RecordedConnection.call(inner, method, arguments);
        }
    }

    /** Nobody reads the rows of the last execution any more. */
    private void finish() {
        count = null;
        if (attempt != null) {
            attempt.read(false);
            attempt = null;
        }
    }

    private Object execute(Method method, Object[] arguments) throws SQLException {
        if (prepared == null && arguments != null) {
            Statements.check((String) arguments[0]);
        }
        finish();
        boolean alone = connection.alone();
        Session session = connection.target(alone);
        Session.Attempt begun = session.start(connection.session().takePending(), alone);
        Object result;
        try {
            result = RecordedConnection.call(inner, method, arguments);
        } catch (SQLException error) {
            begun.failed(error);
            throw error;
        }
        if (result instanceof ResultSet found) {
            attempt = begun;
            return rows(found);
        }
        if (result instanceof Boolean hasRows) {
            if (hasRows) {
                attempt = begun;
            } else {
                if (begun.changes()) {
                    count = inner.getUpdateCount();
                }
                begun.changed(count == null ? -1 : (int) count);
            }
        } else {
            begun.changed(total(result));
        }
        return result;
    }

    /** How many rows were changed; -1: not known. */
    private static long total(Object result) {
        if (result instanceof Number number) {
            return number.longValue();
        }
        long total = 0;
        if (result instanceof int[] counts) {
            for (int one : counts) {
                total = one < 0 || total < 0 ? -1 : total + one;
            }
        } else {
            for (long one : (long[]) result) {
                total = one < 0 || total < 0 ? -1 : total + one;
            }
        }
        return total;
    }

    /** The rows of the last execution, which fill its notes as they are read. */
    private ResultSet rows(ResultSet found) {
        Session.Attempt mine = attempt;
        if (found == null || mine == null) {
            return found;
        }
        Session session = connection.session();
        return RecordedConnection.proxy(ResultSet.class, (self, method, arguments) -> {
            Object common = RecordedConnection.common(self, session, method, arguments);
            if (common != null) {
                return common;
            }
            switch (method.getName()) {
                case "getStatement":
                    return proxy;
                case "next":
                    return next(mine, found, method);
                case "close":
                    mine.read(false);
                    return RecordedConnection.call(found, method, arguments);
                default:
                    return RecordedConnection.call(found, method, arguments);
            }
        });
    }

    private Object next(Session.Attempt mine, ResultSet found, Method method) throws SQLException {
        boolean more;
        try {
            more = (boolean) RecordedConnection.call(found, method, null);
        } catch (SQLException error) {
            mine.failed(error);
            throw error;
        }
        try {
            if (!more) {
                mine.read(true);
            } else {
                mine.row(found);
            }
        } catch (SQLException | RuntimeException error) {  // The program goes on; close() tells.
            connection.session().recorder().fail(error);
            mine.lift(true);
        }
        return more;
    }
}
