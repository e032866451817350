// What an application does with PostgreSQL's JDBC driver, to run through `ouro tap`:
//
//   java -cp postgresql.jar TapClient.java PORT [shop]
//
// Without `shop` everything is healthy. Every answer is compared; ends with 1 if one is wrong.

import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

public class TapClient {
  static String url;

  static Connection connect(String mode) throws SQLException {
    Properties settings = new Properties();
    settings.put("user", "postgres");
    settings.put("ApplicationName", "jdbc " + mode);
    settings.put("preferQueryMode", mode);
    settings.put("prepareThreshold", "2"); // Then statements have names, and results are binary.
    settings.put("sslmode", "disable");
    return DriverManager.getConnection(url, settings);
  }

  static void expect(Object wanted, Object found) {
    if (!wanted.equals(found)) throw new AssertionError("expected " + wanted + ", found " + found);
  }

  static int pieces(Connection link, int item) throws SQLException {
    try (PreparedStatement read =
        link.prepareStatement("SELECT pieces FROM stock WHERE item = ?")) {
      read.setInt(1, item);
      try (ResultSet rows = read.executeQuery()) {
        return rows.next() ? rows.getInt(1) : -1;
      }
    }
  }

  static void set(Connection link, int item, int pieces) throws SQLException {
    try (PreparedStatement write =
        link.prepareStatement("UPDATE stock SET pieces = ? WHERE item = ?")) {
      write.setInt(1, pieces);
      write.setInt(2, item);
      expect(1, write.executeUpdate());
    }
  }

  // Sells one piece; tries again if the server says that somebody else was first.
  static void sell(Connection link, int item) throws SQLException {
    for (; ; ) {
      try {
        set(link, item, pieces(link, item) - 1);
        link.commit();
        return;
      } catch (SQLException conflict) {
        link.rollback();
        if (!conflict.getSQLState().startsWith("40")) throw conflict;
      }
    }
  }

  static void sellAll(String mode, int level, int clients, int sales) throws Exception {
    List<Thread> clerks = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < clients; ++i) {
      Thread clerk =
          new Thread(
              () -> {
                try (Connection link = connect(mode)) {
                  link.setTransactionIsolation(level);
                  link.setAutoCommit(false);
                  for (int sale = 0; sale < sales; ++sale) sell(link, 1);
                } catch (Throwable failure) {
                  synchronized (failures) {
                    failures.add(failure);
                  }
                }
              });
      clerks.add(clerk);
      clerk.start();
    }
    for (Thread clerk : clerks) clerk.join();
    if (!failures.isEmpty()) throw new Exception(failures.get(0));
  }

  static void everything(String mode) throws Exception {
    try (Connection link = connect(mode)) {
      int before = pieces(link, 2);
      for (int i = 0; i < 5; ++i) expect(before, pieces(link, 2));
      expect(-1, pieces(link, 77));

      // A batch, which the driver sends in one piece.
      link.setAutoCommit(false);
      link.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      try (PreparedStatement write =
          link.prepareStatement("INSERT INTO sale (buyer, amount) VALUES (?, ?)")) {
        for (int i = 0; i < 50; ++i) {
          write.setString(1, "buyer " + i % 7);
          write.setBigDecimal(2, new BigDecimal(i).movePointLeft(1));
          write.addBatch();
        }
        expect(50, write.executeBatch().length);
      }
      link.commit();

      // Rows by and by, through a cursor of the driver.
      try (Statement all = link.createStatement()) {
        all.setFetchSize(10);
        int count = 0;
        try (ResultSet rows = all.executeQuery("SELECT id, buyer, amount FROM sale ORDER BY id")) {
          while (rows.next()) ++count;
        }
        if (count < 50) throw new AssertionError("only " + count + " rows");
      }
      link.commit();

      // A failure within a transaction, and a savepoint.
      try (Statement wrong = link.createStatement()) {
        wrong.execute("INSERT INTO stock VALUES (2, 5, 'twice')");
        throw new AssertionError("a key was inserted twice");
      } catch (SQLException expected) {
        expect("23505", expected.getSQLState());
      }
      link.rollback();
      java.sql.Savepoint savepoint = link.setSavepoint();
      set(link, 2, -5);
      link.rollback(savepoint);
      expect(before, pieces(link, 2));
      link.commit();

      // Keys of other types than the column: what they stand for is the server's affair.
      try (PreparedStatement odd =
          link.prepareStatement("SELECT pieces FROM stock WHERE item = ?")) {
        for (int i = 0; i < 4; ++i) {
          odd.setDouble(1, 2.0);
          try (ResultSet rows = odd.executeQuery()) {
            expect(true, rows.next());
            expect(before, rows.getInt(1));
          }
        }
      }
      link.commit();

      copy(link);
      cancel(link);
    }
  }

  static void copy(Connection link) throws Exception {
    var copier = link.unwrap(org.postgresql.PGConnection.class).getCopyAPI();
    copier.copyIn("COPY sale (buyer, amount) FROM STDIN", new StringReader("carl\t1.5\ndora\t2\n"));
    link.commit();
    StringWriter out = new StringWriter();
    expect(4L, copier.copyOut("COPY stock TO STDOUT", out));
    link.commit();
  }

  static void cancel(Connection link) throws SQLException {
    try (Statement slow = link.createStatement()) {
      slow.setQueryTimeout(1);
      slow.execute("SELECT pg_sleep(30)");
      throw new AssertionError("not cancelled");
    } catch (SQLException expected) {
      expect("57014", expected.getSQLState());
    }
    link.rollback();
    if (pieces(link, 2) < 0) throw new AssertionError("item 2 is gone");
    link.commit();
  }

  public static void main(String[] arguments) throws Exception {
    url = "jdbc:postgresql://127.0.0.1:" + arguments[0] + "/postgres";
    if (arguments.length > 1) {
      sellAll("extended", Connection.TRANSACTION_READ_COMMITTED, 4, 40);
      return;
    }
    for (String mode : List.of("simple", "extended", "extendedForPrepared")) everything(mode);
    sellAll("extended", Connection.TRANSACTION_REPEATABLE_READ, 4, 25);
    sellAll("simple", Connection.TRANSACTION_SERIALIZABLE, 3, 20);
  }
}
