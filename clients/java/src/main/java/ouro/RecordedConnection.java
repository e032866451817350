package ouro;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import javax.sql.DataSource;

/** A connection of a driver that is recorded. Everything that the driver's connection can do is here, too. */
final class RecordedConnection implements InvocationHandler {
    private final Connection inner;
    private final Session session;
    private final Connection proxy;

    private RecordedConnection(Connection inner, Session session) {
        this.inner = inner;
        this.session = session;
        proxy = proxy(Connection.class, this);
    }

    static Connection wrap(Connection inner, Session session) {
        return new RecordedConnection(inner, session).proxy;
    }

    static DataSource wrap(Recorder recorder, DataSource source) {
        return proxy(DataSource.class, (self, method, arguments) -> {
            Object result = call(source, method, arguments);
            return result instanceof Connection connection ? recorder.wrap(connection) : result;
        });
    }

    static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(RecordedConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** Calls the driver. */
    static Object call(Object inner, Method method, Object[] arguments) throws SQLException {
        try {
            return method.invoke(inner, arguments);
        } catch (InvocationTargetException error) {
            if (error.getCause() instanceof SQLException cause) {
                throw cause;
            }
            if (error.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (error.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new UndeclaredThrowableException(error.getCause());
        } catch (IllegalAccessException error) {
            throw new AssertionError(error);
        }
    }

    /** What unwrap(), isWrapperFor() and those of Object answer for all that is recorded; null: something else. */
    static Object common(Object self, Session session, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "unwrap":
                return arguments[0] == Session.class ? session : null;
            case "isWrapperFor":
                return arguments[0] == Session.class ? true : null;
            case "equals":
                return self == arguments[0];
            case "hashCode":
                return System.identityHashCode(self);
            default:
                return null;
        }
    }

    Session session() {
        return session;
    }

    Connection self() {
        return proxy;
    }

    /** Whether a statement that is executed now is a transaction of its own. */
    boolean alone() throws SQLException {
        return inner.getAutoCommit();
    }

    /** Where it is recorded. */
    Session target(boolean alone) {
        return alone ? session.recorder().together(session) : session;
    }

    @Override public Object invoke(Object self, Method method, Object[] arguments) throws SQLException {
        Object common = common(self, session, method, arguments);
        if (common != null) {
            return common;
        }
        switch (method.getName()) {
            case "createStatement":
                return new RecordedStatement(this, (Statement) call(inner, method, arguments), null).proxy(Statement.class);
            case "prepareStatement":
                Statements.check((String) arguments[0]);
                return new RecordedStatement(this, (Statement) call(inner, method, arguments), (String) arguments[0])
                        .proxy(PreparedStatement.class);
            case "prepareCall":
                Statements.check((String) arguments[0]);
                return new RecordedStatement(this, (Statement) call(inner, method, arguments), (String) arguments[0])
                        .proxy(CallableStatement.class);
            case "commit":
                return session.commit(() -> call(inner, method, arguments));
            case "rollback":
                if (arguments == null) {
                    return session.rollback(() -> call(inner, method, arguments));
                }
                call(inner, method, arguments);
                session.backTo(arguments[0]);
                return null;
            case "setSavepoint":
                Savepoint made = (Savepoint) call(inner, method, arguments);
                session.mark(made);
                return made;
            case "releaseSavepoint":
                call(inner, method, arguments);
                session.release(arguments[0]);
                return null;
            case "setAutoCommit":
                if ((boolean) arguments[0] && !inner.getAutoCommit()) {  // This commits.
                    return session.commit(() -> call(inner, method, arguments));
                }
                return call(inner, method, arguments);
            case "close":
            case "abort":
                try {
                    return call(inner, method, arguments);
                } finally {
                    session.close();
                    session.recorder().forget(session);
                }
            default:
                return call(inner, method, arguments);
        }
    }
}
