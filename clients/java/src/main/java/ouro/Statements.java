package ouro;

import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.regex.Pattern;

/** Finds statements of SQL that begin and end transactions past JDBC, which cannot be recorded. */
final class Statements {
    private Statements() {}

    private static final String ENDS = "(begin|start\\s+transaction|commit|end|rollback|abort|savepoint|release"
            + "|prepare\\s+(transaction|commit)|xa\\s|set\\s+(session\\s+|@@(session\\.)?)?autocommit)\\b";
    private static final Pattern NOISE = Pattern.compile("\\A(\\s+|;|--[^\\n]*(\\n|\\z)|/\\*.*?\\*/)+", Pattern.DOTALL);
    private static final Pattern QUOTED =
            Pattern.compile("'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|--[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);
    private static final Pattern FIRST = Pattern.compile("\\A" + ENDS, Pattern.CASE_INSENSITIVE);
    private static final Pattern LATER = Pattern.compile(";\\s*" + ENDS, Pattern.CASE_INSENSITIVE);

    static void check(String sql) throws SQLException {
        String text = NOISE.matcher(sql).replaceFirst("");
        if (FIRST.matcher(text).find()
                || (text.indexOf(';') >= 0 && LATER.matcher(QUOTED.matcher(text).replaceAll("''")).find())) {
            throw new SQLFeatureNotSupportedException("ouro records transactions that JDBC begins and ends; use "
                    + "setAutoCommit, commit, rollback and setSavepoint instead of: " + sql);
        }
    }
}
