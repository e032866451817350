package ouro;

import java.io.IOException;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;

/**
 * The JDBC driver of {@code jdbc:ouro:FILE:URL}: connects to URL, which begins with {@code jdbc:}, and records
 * what is done into FILE. All connections of the process share the recorder.
 */
public final class RecordingDriver implements Driver {
    private static final String PREFIX = "jdbc:ouro:";

    static {
        try {
            DriverManager.registerDriver(new RecordingDriver());
        } catch (SQLException error) {
            throw new ExceptionInInitializerError(error);
        }
    }

    /** The recorder of a file that jdbc:ouro: names, to say what keys hold at the start. */
    public static Recorder recorder(String file) throws IOException {
        return Recorder.shared(file);
    }

    @Override public Connection connect(String url, Properties properties) throws SQLException {
        if (!acceptsURL(url)) {
            return null;
        }
        int end = url.indexOf(":jdbc:", PREFIX.length());
        if (end <= PREFIX.length()) {
            throw new SQLException("expected jdbc:ouro:FILE:jdbc:…, found " + url);
        }
        Connection inner = DriverManager.getConnection(url.substring(end + 1), properties);
        try {
            return Recorder.shared(url.substring(PREFIX.length(), end)).wrap(inner);
        } catch (IOException error) {
            inner.close();
            throw new SQLException("the history cannot be written: " + error.getMessage(), error);
        }
    }

    @Override public boolean acceptsURL(String url) {
        return url.startsWith(PREFIX);
    }

    @Override public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override public int getMajorVersion() {
        return 0;
    }

    @Override public int getMinorVersion() {
        return 1;
    }

    @Override public boolean jdbcCompliant() {
        return false;
    }

    @Override public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }
}
