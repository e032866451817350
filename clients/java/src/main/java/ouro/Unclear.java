package ouro;

import java.sql.SQLException;

/**
 * It is not known whether the transaction was committed, so it must not be tried again blindly. The cause is the
 * database's error.
 */
public final class Unclear extends SQLException {
    private static final long serialVersionUID = 1;

    Unclear(SQLException cause) {
        super("whether the transaction was committed is not known: " + cause.getMessage(), cause.getSQLState(),
                cause.getErrorCode(), cause);
    }
}
