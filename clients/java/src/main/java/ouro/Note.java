package ouro;

import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** What a statement does: one operation of its transaction. */
final class Note {
    enum Kind {
        TOLD,     // The text says all.
        CHANGED,  // The text says all, if the statement changed a row.
        SINGLE,   // The first row completes the text.
        LISTED,   // All rows do, with an element each.
        SCANNED   // All rows do, with a key and its value each.
    }

    final Kind kind;
    final Function<Object, Object> convert;
    private final StringBuilder text;
    private int rows;
    boolean known;  // Else it is left out of the history.

    Note(Kind kind, String text, Function<Object, Object> convert) {
        this.kind = kind;
        this.convert = convert;
        this.text = new StringBuilder(text);
        known = kind == Kind.TOLD || kind == Kind.CHANGED;
    }

    boolean reads() {
        return kind != Kind.TOLD && kind != Kind.CHANGED;
    }

    @Override public String toString() {
        return text.toString();
    }

    private Object cell(ResultSet row, int column) throws SQLException {
        Object found = row.getObject(column);
        return convert == null ? found : convert.apply(found);
    }

    /** Takes the row at which the result is. */
    void row(ResultSet row) throws SQLException {
        ++rows;
        if (kind == Kind.SINGLE && rows > 1) {
            return;
        }
        ResultSetMetaData columns = row.getMetaData();
        int count = columns.getColumnCount();
        text.append(rows > 1 ? "," : "");
        if (kind == Kind.SCANNED) {
            if (count != 2) {
                throw new IllegalArgumentException(
                        "a query noted by scans() returns a key and a value, this one " + count + " columns");
            }
            text.append('[').append(Json.name(row.getObject(1))).append(',').append(Json.value(cell(row, 2)))
                    .append(']');
        } else if (kind == Kind.LISTED || count == 1) {
            text.append(Json.value(cell(row, 1)));
        } else {
            Map<String, Object> found = new LinkedHashMap<>();
            for (int column = 1; column <= count; ++column) {
                found.put(columns.getColumnLabel(column), cell(row, column));
            }
            text.append(Json.value(found));
        }
    }

    /** There are no more rows, or nobody looks at them if not `all`. What was not read completely stays out. */
    void end(boolean all) {
        if (known || (!all && (kind != Kind.SINGLE || rows == 0))) {
            return;
        }
        text.append(kind != Kind.SINGLE ? "]]" : rows == 0 ? "null]" : "]");
        known = true;
    }
}
