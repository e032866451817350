package ouro;

import java.sql.SQLException;
import java.util.Set;

/** What errors of databases say of transactions. */
final class Failures {
    private Failures() {}

    /**
     * Classes of SQLSTATE with which a server refuses a commit: there was no effect. Not among them: lost
     * connections (08), shutdowns (57), system errors (58, XX), and 40003, "completion unknown".
     */
    private static final Set<String> REFUSED =
            Set.of("0A", "21", "22", "23", "25", "27", "2D", "40", "42", "44", "55", "P0");

    private static final int MYSQL_LOCK_TIMEOUT = 1205;
    private static final int MYSQL_DEADLOCK = 1213;
    private static final int MYSQL_NOWAIT = 3572;
    private static final int H2_DEADLOCK = 40001;
    private static final int H2_LOCK_TIMEOUT = 50200;

    static boolean from(SQLException error, String... packages) {
        for (String name : packages) {
            if (error.getClass().getName().startsWith(name)) {
                return true;
            }
        }
        return false;
    }

    private static boolean fromMysql(SQLException error) {
        // MySQL's driver throws some of java.sql's own exceptions.
        return from(error, "com.mysql", "org.mariadb") || (error.getErrorCode() == MYSQL_DEADLOCK
                && "40001".equals(error.getSQLState()));
    }

    /** Whether this answer to a commit, or to a statement of its own, says for certain that it has no effect. */
    static boolean refused(SQLException error) {
        String state = error.getSQLState();
        if (from(error, "org.h2") && error.getErrorCode() == H2_LOCK_TIMEOUT) {
            return true;
        }
        return state != null && state.length() == 5 && !state.equals("40003")
                && REFUSED.contains(state.substring(0, 2));
    }

    /** Whether the database has rolled back the whole transaction in which this happened. */
    static boolean rolledBack(SQLException error) {
        return (fromMysql(error) && error.getErrorCode() == MYSQL_DEADLOCK)
                || (from(error, "org.h2") && error.getErrorCode() == H2_DEADLOCK);
    }

    /** Whether the transaction in which this happened can only be rolled back. */
    static boolean dooms(SQLException error) {
        return from(error, "org.postgresql");
    }

    /** Whether the database asks to try again: a conflict, a deadlock, a lock. */
    static boolean mayBeRetried(SQLException error) {
        String state = error.getSQLState();
        int code = error.getErrorCode();
        return "40001".equals(state) || "40P01".equals(state)
                || (fromMysql(error) && (code == MYSQL_LOCK_TIMEOUT || code == MYSQL_NOWAIT))
                || (from(error, "org.h2") && code == H2_LOCK_TIMEOUT);
    }
}
