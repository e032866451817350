package ouro;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import javax.sql.DataSource;

/**
 * Writes a history while a program uses a database: a line for each transaction, as it ends. A file that a
 * killed program left is complete but for transactions under way. Any number of threads may use one.
 *
 * <pre>
 *   Recorder recorder = Recorder.to("history.jsonl").initial("stock", 10);
 *   DataSource source = recorder.wrap(dataSource);
 * </pre>
 */
public final class Recorder implements AutoCloseable {
    private static final int MOST_RETRIES = 10;

    private final FileChannel file;
    private final boolean append;
    private final String prefix;
    private final Set<Session> sessions = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Session> idle = new ArrayDeque<>();  // Of together(), that can be used again.
    private final ThreadLocal<Session> together = new ThreadLocal<>();
    private int count;
    private IOException fault;
    private volatile LongSupplier clock = System::nanoTime;
    private volatile Predicate<SQLException> aborted = error -> false;

    private Recorder(Path path, boolean append) throws IOException {
        this.append = append;
        file = append ? FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND)
                : FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING);
        prefix = append ? InetAddress.getLocalHost().getHostName() + ":"
                + ManagementFactory.getRuntimeMXBean().getPid() + " " : "";
        if (file.size() == 0) {
            put("{\"ouro\":1,\"initial\":null}\n");
        }
        if (fault != null) {
            file.close();
            throw fault;
        }
    }

    /** Begins the history `path`; what every key holds at the start is null. */
    public static Recorder to(String path) throws IOException {
        return new Recorder(Path.of(path), false);
    }

    /** Goes on with the history `path`, into which other processes may write at the same time. */
    public static Recorder appendTo(String path) throws IOException {
        return new Recorder(Path.of(path), true);
    }

    /** Says what `key` holds at the start. */
    public Recorder initial(Object key, Object value) {
        put("{\"key\":" + Json.name(key) + ",\"initial\":" + Json.value(value) + "}\n");
        return this;
    }

    /** The client's clock, in any unit. The default, System.nanoTime, is on Linux the same for all processes. */
    public Recorder clock(LongSupplier clock) {
        this.clock = clock;
        return this;
    }

    /**
     * Which errors of a commit mean for certain that it had no effect, where that is not known of the database.
     * Otherwise the outcome of the transaction is unknown.
     */
    public Recorder aborted(Predicate<SQLException> aborted) {
        this.aborted = aborted;
        return this;
    }

    /** A source whose connections are recorded. Put it behind a pool rather than before it. */
    public DataSource wrap(DataSource source) {
        return RecordedConnection.wrap(this, source);
    }

    /** A connection that is recorded. REQUIRES: no transaction is open on it. */
    public Connection wrap(Connection connection) {
        return RecordedConnection.wrap(connection, session("connection"));
    }

    private synchronized Session session(String kind) {
        ++count;
        Session made = new Session(this, prefix + kind + " " + count);
        sessions.add(made);
        return made;
    }

    synchronized void forget(Session session) {
        sessions.remove(session);
    }

    /** Where statements outside of transactions are recorded: what this thread does together, or `own`. */
    Session together(Session own) {
        Session session = together.get();
        return session == null ? own : session;
    }

    /**
     * Records all statements that this thread executes in `work` outside of transactions as one transaction,
     * whichever connections they take: as what the program relies on to happen together, though the database
     * was not told. Transactions within remain transactions of their own.
     */
    public <T> T together(Callable<T> work) throws Exception {
        Session before = together.get();
        Session session;
        synchronized (this) {
            session = idle.poll();
        }
        if (session == null) {
            session = session("work");
        }
        session.beginTogether();
        together.set(session);
        try {
            return work.call();
        } finally {
            together.set(before);
            session.endTogether();
            synchronized (this) {
                idle.push(session);
            }
        }
    }

    /** A piece of work within a transaction. */
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /**
     * Runs `work` in a transaction and commits. If the database asks to try again, does so, up to ten times; each
     * attempt is a transaction of its own in the history. Throws Unclear if it is not known whether the commit
     * had an effect. REQUIRES: `connection` is recorded.
     */
    public <T> T run(Connection connection, Work<T> work) throws SQLException {
        boolean before = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try {
            for (int attempt = 0;; ++attempt) {
                try {
                    return once(connection, work);
                } catch (Unclear error) {
                    throw error;
                } catch (SQLException error) {
                    if (attempt == MOST_RETRIES || !Failures.mayBeRetried(error)) {
                        throw error;
                    }
                    pause(attempt, error);
                }
            }
        } finally {
            if (!connection.isClosed()) {
                connection.setAutoCommit(before);
            }
        }
    }

    private <T> T once(Connection connection, Work<T> work) throws SQLException {
        T result;
        try {
            result = work.run(connection);
        } catch (Throwable error) {
            rollBackQuietly(connection);
            throw error;
        }
        try {
            connection.commit();
            return result;
        } catch (SQLException error) {
            rollBackQuietly(connection);
            if (refused(error)) {
                throw error;
            }
            throw new Unclear(error);
        }
    }

    private static void rollBackQuietly(Connection connection) {
        try {
            connection.rollback();
        } catch (SQLException error) {
            // The error that led here says more.
        }
    }

    private static void pause(int attempt, SQLException cause) throws SQLException {
        long middle = Math.min(200, 1L << attempt);
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(middle / 2, middle * 3 / 2 + 1));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw cause;
        }
    }

    boolean refused(SQLException error) {
        return Failures.refused(error) || aborted.test(error);
    }

    long now() {
        return clock.getAsLong();
    }

    /** Writes whole lines. A fault is told by close(): the program that is recorded goes on. */
    synchronized void put(String lines) {
        if (fault != null) {
            return;
        }
        try {
            long end = file.size();
            ByteBuffer left = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
            try {
                while (left.hasRemaining()) {
                    file.write(left);
                }
            } catch (IOException error) {
                if (!append && file.isOpen()) {  // Nobody else writes: what is there stays a history.
                    file.truncate(end);
                }
                throw error;
            }
        } catch (IOException error) {
            fault = error;
        }
    }

    synchronized void fail(Exception error) {
        if (fault == null) {
            fault = new IOException(error);
        }
    }

    /**
     * Writes transactions that are still under way, with an unknown outcome, and closes the file. Throws the first
     * fault while recording; the history then lacks what came after it.
     */
    @Override public void close() throws IOException {
        List<Session> open;
        synchronized (this) {
            open = new ArrayList<>(sessions);
        }
        open.forEach(Session::close);
        synchronized (this) {
            if (file.isOpen()) {
                file.close();
            }
            if (fault != null) {
                throw fault;
            }
        }
    }

    // ---- of jdbc:ouro: ----

    private static final Map<Path, Recorder> SHARED = new HashMap<>();

    /** The recorder of this file that all connections of this process share. It is closed as the process ends. */
    static synchronized Recorder shared(String path) throws IOException {
        Path absolute = Path.of(path).toAbsolutePath().normalize();
        Recorder found = SHARED.get(absolute);
        if (found == null) {
            found = new Recorder(absolute, false);
            SHARED.put(absolute, found);
            Recorder made = found;
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    made.close();
                } catch (IOException error) {
                    System.err.println("ouro: " + absolute + ": " + error.getMessage());
                }
            }));
        }
        return found;
    }
}
