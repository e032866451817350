package ouro;

import java.util.ArrayList;
import java.util.List;

/** A transaction under way. */
final class Txn {
    /** An operation, or the part that a rollback to a savepoint undid. */
    private record Op(Note note, List<Op> undone) {}

    private record Mark(Object savepoint, int first) {}

    final long invoked;
    final boolean alone;  // A statement of its own.
    final boolean together;  // By together(): its statements are transactions to the database.
    Long committing;
    boolean unclear;  // Nobody knows how a statement of its own ended.
    boolean doomed;  // PostgreSQL can only roll it back.
    private final List<Op> ops = new ArrayList<>();
    private final List<Mark> marks = new ArrayList<>();

    Txn(long invoked, boolean alone, boolean together) {
        this.invoked = invoked;
        this.alone = alone;
        this.together = together;
    }

    void add(Note note) {
        ops.add(new Op(note, null));
    }

    void mark(Object savepoint) {
        marks.add(new Mark(savepoint, ops.size()));
    }

    private int find(Object savepoint) {
        int at = marks.size() - 1;
        while (at >= 0 && marks.get(at).savepoint != savepoint) {
            --at;
        }
        return at;
    }

    void release(Object savepoint) {
        int at = find(savepoint);
        if (at >= 0) {
            marks.subList(at, marks.size()).clear();
        }
    }

    void backTo(Object savepoint) {
        doomed = false;
        int at = find(savepoint);
        if (at < 0) {
            return;
        }
        List<Op> part = ops.subList(marks.get(at).first, ops.size());
        List<Op> undone = List.copyOf(part);
        part.clear();
        if (!undone.isEmpty()) {
            ops.add(new Op(null, undone));
        }
        // The savepoint itself is still there, and begins behind what was undone.
        marks.subList(at, marks.size()).clear();
        mark(savepoint);
    }

    private static void write(List<Op> ops, StringBuilder out) {
        int first = out.length();
        for (Op op : ops) {
            int before = out.length();
            out.append(before > first ? "," : "");
            int begin = out.length();
            if (op.undone != null) {
                out.append("[\"rolled-back\",[");
                int empty = out.length();
                write(op.undone, out);
                if (out.length() == empty) {
                    out.setLength(begin);
                } else {
                    out.append("]]");
                }
            } else if (op.note.known) {
                out.append(op.note);
            }
            if (out.length() == begin) {
                out.setLength(before);
            }
        }
    }

    /** The operations as native text, without the brackets around; empty if there are none. */
    String ops() {
        StringBuilder out = new StringBuilder();
        write(ops, out);
        return out.toString();
    }
}
