package ouro;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Wrapper;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * What is recorded of one connection: {@code Session.of(connection)} or {@code Session.of(statement)}.
 *
 * <p>{@code reads}, {@code readsList}, {@code scans}, {@code writes}, {@code appends}, {@code adds} and
 * {@code deletes} are notes on the next statement that the connection executes; several may be on one. Those
 * that read take what they note from the rows, as they are read. {@code found} and {@code operation} tell of
 * the transaction under way what was found out otherwise.
 *
 * <p>Keys are integers or texts; values are numbers, texts, Booleans, null, Maps of these for rows, or
 * Collections for lists.
 */
public final class Session {
    static final String COMMITTED = "committed";
    static final String ABORTED = "aborted";
    static final String UNKNOWN = "unknown";

    private final Recorder recorder;
    private final String base;
    private String name;
    private int unknowns;
    private Txn txn;
    private List<Note> pending = new ArrayList<>();

    Session(Recorder recorder, String name) {
        this.recorder = recorder;
        this.base = name;
        this.name = name;
    }

    /** The session of a recorded connection or statement, also where a pool has wrapped it. */
    public static Session of(Wrapper recorded) throws SQLException {
        return recorded.unwrap(Session.class);
    }

    Recorder recorder() {
        return recorder;
    }

    // ---- what the next statement does ----

    /** A query reads `key`: the first column of the first row, or a row of several columns; null without a row. */
    public Session reads(Object key) {
        return reads(key, null);
    }

    /** The same; convert(v) is recorded for v, for drivers that return another kind of value than is written. */
    public Session reads(Object key, Function<Object, Object> convert) {
        return next(Note.Kind.SINGLE, "[\"r\"," + Json.name(key) + ",", convert);
    }

    /** A query reads a list: each row has an element, in order. */
    public Session readsList(Object key) {
        return next(Note.Kind.LISTED, "[\"r\"," + Json.name(key) + ",[", null);
    }

    /** A query reads all keys from `lower` to `upper`, both included (null: no bound): rows of key and value. */
    public Session scans(Object lower, Object upper) {
        String from = lower == null ? "null" : Json.name(lower);
        String to = upper == null ? "null" : Json.name(upper);
        return next(Note.Kind.SCANNED, "[\"scan\"," + from + "," + to + ",[", null);
    }

    /** A statement writes `value`; null deletes. One that changes no row writes nothing, and nothing is noted. */
    public Session writes(Object key, Object value) {
        return changes("w", key, Json.value(value));
    }

    /** A statement appends `element` to a list. */
    public Session appends(Object key, Object element) {
        return changes("append", key, Json.value(element));
    }

    /** A statement adds `delta` to a counter. */
    public Session adds(Object key, long delta) {
        return changes("inc", key, Long.toString(delta));
    }

    /** A statement deletes `key`. */
    public Session deletes(Object key) {
        return next(Note.Kind.CHANGED, "[\"d\"," + Json.name(key) + "]", null);
    }

    private Session changes(String word, Object key, String value) {
        return next(Note.Kind.CHANGED, "[\"" + word + "\"," + Json.name(key) + "," + value + "]", null);
    }

    private synchronized Session next(Note.Kind kind, String text, Function<Object, Object> convert) {
        pending.add(new Note(kind, text, convert));
        return this;
    }

    synchronized List<Note> takePending() {
        List<Note> taken = pending;
        pending = new ArrayList<>();
        return taken;
    }

    // ---- what the transaction under way did ----

    /** It read `value` of `key`: null if nothing was there, a Collection for a list. */
    public void found(Object key, Object value) {
        operation("[\"r\"," + Json.name(key) + "," + Json.value(value) + "]");
    }

    /** It did this operation of the native format, which is JSON. */
    public synchronized void operation(String json) {
        Session session = txn == null || txn.alone ? recorder.together(this) : this;
        session.tell(json);
    }

    private synchronized void tell(String json) {
        if (txn == null || txn.alone) {
            throw new IllegalStateException("no transaction is under way; execute its first statement before, and "
                    + "give the notes of a statement of its own before that statement");
        }
        txn.add(new Note(Note.Kind.TOLD, json, null));
    }

    // ---- what happens to transactions ----

    /** A statement that begins now. */
    synchronized Attempt start(List<Note> notes, boolean alone) {
        if (txn != null && txn.alone) {
            endAlone();  // Its rows were left open.
        }
        if (txn == null) {
            txn = new Txn(recorder.now(), alone, false);
        }
        notes.forEach(txn::add);
        return new Attempt(this, txn, notes);
    }

    /** Begins a transaction that the database does not know of. */
    synchronized void beginTogether() {
        txn = new Txn(recorder.now(), false, true);
    }

    /** Ends it: what its statements did stays, also if the program failed. */
    synchronized void endTogether() {
        if (txn != null) {
            end(txn.unclear ? UNKNOWN : COMMITTED);
        }
    }

    interface Call<T> {
        T run() throws SQLException;
    }

    <T> T commit(Call<T> call) throws SQLException {
        Txn mine;
        synchronized (this) {
            mine = txn;
            if (mine != null && !mine.alone) {
                mine.committing = recorder.now();
            }
        }
        String status = UNKNOWN;
        try {
            T result = call.run();
            status = mine != null && mine.doomed ? UNKNOWN : COMMITTED;  // PostgreSQL may have rolled back.
            return result;
        } catch (SQLException error) {
            status = recorder.refused(error) ? ABORTED : UNKNOWN;
            throw error;
        } finally {
            endIf(mine, status);
        }
    }

    <T> T rollback(Call<T> call) throws SQLException {
        Txn mine;
        synchronized (this) {
            mine = txn;
        }
        try {
            return call.run();
        } finally {
            endIf(mine, ABORTED);  // Whatever came of it, nobody asked for a commit.
        }
    }

    private synchronized void endIf(Txn mine, String status) {
        if (mine != null && txn == mine && !mine.alone) {
            end(status);
        }
    }

    synchronized void mark(Object savepoint) {
        if (txn == null) {
            txn = new Txn(recorder.now(), false, false);
        }
        txn.mark(savepoint);
    }

    synchronized void release(Object savepoint) {
        if (txn != null) {
            txn.release(savepoint);
        }
    }

    synchronized void backTo(Object savepoint) {
        if (txn != null) {
            txn.backTo(savepoint);
        }
    }

    /** The connection is gone, or the recorder: databases differ in what they do then. */
    synchronized void close() {
        if (txn != null && txn.alone && !txn.unclear) {
            endAlone();
        } else if (txn != null) {
            end(UNKNOWN);
        }
    }

    private void endAlone() {
        end(txn.unclear ? UNKNOWN : COMMITTED);
    }

    /** Writes the transaction. REQUIRES: there is one. */
    private void end(String status) {
        Txn ended = txn;
        txn = null;
        String ops = ended.ops();
        if (ops.isEmpty()) {
            return;
        }
        StringBuilder line = new StringBuilder("{\"session\":" + Json.text(name));
        if (!status.equals(COMMITTED)) {
            line.append(",\"status\":\"").append(status).append('"');
        }
        line.append(",\"invoked\":").append(ended.invoked);
        if (ended.committing != null) {
            line.append(",\"committing\":").append(ended.committing);
        }
        if (!status.equals(UNKNOWN)) {
            line.append(",\"completed\":").append(recorder.now());
        }
        recorder.put(line.append(",\"ops\":[").append(ops).append("]}\n").toString());
        if (status.equals(UNKNOWN)) {
            // It may still take effect after what the connection does next, which is why that belongs to
            // another session.
            ++unknowns;
            name = base + " #" + (unknowns + 1);
        }
    }

    /** A statement under way. */
    static final class Attempt {
        private final Session session;
        private final Txn txn;
        private final List<Note> notes;
        private boolean ended;

        Attempt(Session session, Txn txn, List<Note> notes) {
            this.session = session;
            this.txn = txn;
            this.notes = notes;
        }

        boolean changes() {
            return notes.stream().anyMatch(note -> note.kind == Note.Kind.CHANGED);
        }

        void lift(boolean all) {
            notes.stream().filter(note -> all || note.kind == Note.Kind.CHANGED).forEach(note -> note.known = false);
        }

        /** It changed so many rows, or an unknown number (-1). */
        void changed(long rows) {
            synchronized (session) {
                if (rows == 0) {
                    lift(false);
                }
                end();
            }
        }

        void row(ResultSet found) throws SQLException {
            if (!ended) {
                for (Note note : notes) {
                    if (note.reads()) {
                        note.row(found);
                    }
                }
            }
        }

        /** Its rows were read, all of them or not. */
        void read(boolean all) {
            synchronized (session) {
                if (!ended) {
                    notes.forEach(note -> note.end(all));
                    end();
                }
            }
        }

        private void end() {
            ended = true;
            if (session.txn == txn && txn.alone) {
                session.endAlone();
            }
        }

        void failed(SQLException error) {
            synchronized (session) {
                if (ended || session.txn != txn) {
                    return;
                }
                ended = true;
                if (!txn.alone && !txn.together) {
                    lift(true);
                    txn.doomed |= Failures.dooms(error);
                    if (Failures.rolledBack(error)) {  // What follows is another transaction.
                        session.end(ABORTED);
                    }
                    return;
                }
                boolean refused = session.recorder.refused(error);
                if (txn.together) {
                    if (refused) {
                        lift(true);
                    }
                    txn.unclear |= !refused;
                } else {
                    session.end(refused ? ABORTED : UNKNOWN);
                }
            }
        }
    }
}
