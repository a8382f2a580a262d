import com.mysql.cj.jdbc.MysqlXADataSource;
import com.mysql.cj.jdbc.MysqlXid;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.XAConnection;
import javax.transaction.xa.XAException;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

/**
 * MySQL Connector/J at work. Usage: Client HOST PORT USER PASSWORD. One line per case, `ok NAME` or `FAIL NAME: why`.
 */
public class Client {
    interface Body {
        void run() throws Exception;
    }

    static final String DB = "client_java";
    static int passed, failed;
    static String host, port, user, password;

    static void run(String name, Body body) {
        try {
            body.run();
            passed++;
            System.out.println("ok   java." + name);
        } catch (Throwable e) {
            failed++;
            String why = String.valueOf(e).replace('\n', ' ');
            System.out.println("FAIL java." + name + ": " + why.substring(0, Math.min(why.length(), 400)));
        }
    }

    static void same(Object got, Object want) {
        if (!String.valueOf(got).equals(String.valueOf(want))) throw new AssertionError("got " + got + ", want " + want);
    }

    static Connection open(String database, String params) throws SQLException {
        String url = "jdbc:mysql://" + host + ":" + port + "/" + database + "?allowPublicKeyRetrieval=true&sslMode=DISABLED" + params;
        return DriverManager.getConnection(url, user, password);
    }

    /** The error number that the body ends with; 0 when it ends well. */
    static int number(Body body) throws Exception {
        try {
            body.run();
            return 0;
        } catch (SQLException e) {
            return e.getErrorCode() == 0 ? -1 : e.getErrorCode();
        }
    }

    static int update(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            return s.executeUpdate(sql);
        }
    }

    static Object one(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getObject(1);
        }
    }

    static void suite(String tag, String params) throws Exception {
        try (Connection boot = open("", params)) {
            update(boot, "DROP DATABASE IF EXISTS " + DB);
            update(boot, "CREATE DATABASE " + DB + " CHARACTER SET utf8mb4");
        }
        byte[] blob = new byte[200000];
        for (int i = 0; i < blob.length; i++) blob[i] = (byte) i;
        LocalDateTime at = LocalDateTime.of(2024, 2, 29, 23, 59, 58, 123456000);
        Connection c = open(DB, params);
        run(tag + "create", () -> update(c, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100) UNIQUE, n INT, u BIGINT UNSIGNED,"
            + " x DOUBLE, m DECIMAL(10,2), b LONGBLOB, d DATE, at DATETIME(6), z INT NULL, flag BOOLEAN) ENGINE=InnoDB"));
        run(tag + "insert_with_keys", () -> {
            String sql = "INSERT INTO t (v,n,u,x,m,b,d,at,z,flag) VALUES (?,?,?,?,?,?,?,?,?,?)";
            try (PreparedStatement p = c.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
                p.setString(1, "日本😀'\\");
                p.setInt(2, -5);
                p.setBigDecimal(3, new BigDecimal("18446744073709551615"));
                p.setDouble(4, 1.25);
                p.setBigDecimal(5, new BigDecimal("3.50"));
                p.setBytes(6, blob);
                p.setObject(7, LocalDate.of(2024, 2, 29));
                p.setObject(8, at);
                p.setNull(9, Types.INTEGER);
                p.setBoolean(10, true);
                same(p.executeUpdate(), 1);
                try (ResultSet keys = p.getGeneratedKeys()) {
                    keys.next();
                    same(keys.getLong(1), 1);
                }
            }
        });
        run(tag + "every_type", () -> {
            try (PreparedStatement p = c.prepareStatement("SELECT v,n,u,x,m,b,d,at,z,flag FROM t WHERE id=?")) {
                p.setLong(1, 1);
                try (ResultSet r = p.executeQuery()) {
                    r.next();
                    same(r.getString(1), "日本😀'\\");
                    same(r.getInt(2), -5);
                    same(r.getBigDecimal(3), "18446744073709551615");
                    same(r.getDouble(4), 1.25);
                    same(r.getBigDecimal(5), "3.50");
                    same(Arrays.equals(r.getBytes(6), blob), true);
                    same(r.getObject(7, LocalDate.class), "2024-02-29");
                    same(r.getObject(8, LocalDateTime.class), at);
                    r.getInt(9);
                    same(r.wasNull(), true);
                    same(r.getBoolean(10), true);
                }
            }
        });
        run(tag + "batch", () -> {
            c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO t (v,n) VALUES (?,?)")) {
                for (int i = 0; i < 300; i++) {
                    p.setString(1, "k" + i);
                    p.setInt(2, i);
                    p.addBatch();
                }
                same(p.executeBatch().length, 300);
            }
            c.commit();
            c.setAutoCommit(true);
            same(one(c, "SELECT SUM(n) FROM t WHERE v LIKE 'k%'"), 44850);
        });
        run(tag + "transaction", () -> {
            c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            same(c.getTransactionIsolation(), Connection.TRANSACTION_READ_COMMITTED);
            c.setAutoCommit(false);
            same(update(c, "DELETE FROM t WHERE n=1"), 1);
            Savepoint point = c.setSavepoint("sp1");
            update(c, "DELETE FROM t");
            c.rollback(point);
            same(one(c, "SELECT COUNT(*) FROM t"), 300);
            c.rollback();
            same(one(c, "SELECT COUNT(*) FROM t"), 301);
            c.setAutoCommit(true);
            c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        });
        run(tag + "read_only", () -> {
            c.setReadOnly(true);
            same(number(() -> update(c, "DELETE FROM t WHERE n=-999")) != 0, true);
            c.setReadOnly(false);
        });
        run(tag + "errors", () -> {
            same(number(() -> update(c, "INSERT INTO t (v) VALUES ('k1')")), 1062);
            same(number(() -> update(c, "SELEC 1")), 1064);
            same(number(() -> one(c, "SELECT * FROM nosuch")), 1146);
            same(number(() -> one(c, "SELECT nosuch FROM t")), 1054);
            same(number(() -> update(c, "INSERT INTO t (n) VALUES (99999999999)")), 1264);
            same(number(() -> open("nosuchdb", params).close()), 1049);
        });
        run(tag + "lock_timeout", () -> {
            try (Connection other = open(DB, params)) {
                update(other, "SET innodb_lock_wait_timeout=1");
                c.setAutoCommit(false);
                update(c, "UPDATE t SET n=n+1 WHERE v='k5'");
                same(number(() -> update(other, "UPDATE t SET n=0 WHERE v='k5'")), 1205);
                c.rollback();
                c.setAutoCommit(true);
            }
        });
        run(tag + "result_metadata", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT id, v AS vee, m, at, u FROM t LIMIT 1")) {
                ResultSetMetaData m = r.getMetaData();
                StringBuilder text = new StringBuilder();
                for (int i = 1; i <= m.getColumnCount(); i++) text.append(m.getColumnLabel(i)).append(' ').append(m.getColumnTypeName(i)).append(';');
                same(text, "id BIGINT;vee VARCHAR;m DECIMAL;at DATETIME;u BIGINT UNSIGNED;");
                same(m.getPrecision(3) + "," + m.getScale(3) + "," + m.isAutoIncrement(1), "10,2,true");
            }
        });
        run(tag + "stream", () -> {
            try (Statement s = c.createStatement()) {
                s.setFetchSize(Integer.MIN_VALUE);
                int n = 0;
                try (ResultSet r = s.executeQuery("SELECT id FROM t")) {
                    while (r.next()) n++;
                }
                same(n, 301);
            }
        });
        run(tag + "updatable", () -> {
            try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE);
                 ResultSet r = s.executeQuery("SELECT id, n FROM t WHERE id=11")) {
                r.next();
                r.updateInt("n", 909);
                r.updateRow();
            }
            same(one(c, "SELECT n FROM t WHERE id=11"), 909);
        });
        run(tag + "timeout", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                long began = System.nanoTime();
                number(() -> s.executeQuery("SELECT SLEEP(20) FROM t LIMIT 1"));
                same(System.nanoTime() - began < 10_000_000_000L, true);
            }
        });
        run(tag + "database_metadata", () -> {
            DatabaseMetaData m = c.getMetaData();
            same(m.getDatabaseProductName(), "MySQL");
            same(m.getDatabaseMajorVersion() >= 8, true);
            boolean found = false;
            try (ResultSet r = m.getCatalogs()) {
                while (r.next()) found |= r.getString(1).equals(DB);
            }
            same(found, true);
        });
        run(tag + "valid_and_catalog", () -> {
            same(c.isValid(2), true);
            c.setCatalog(DB);
            same(c.getCatalog(), DB);
        });
        run(tag + "large_packets", () -> {
            byte[] big = new byte[17_000_000];
            Arrays.fill(big, (byte) 7);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO t (v, b) VALUES ('big', ?)")) {
                p.setBytes(1, big);
                p.executeUpdate();
            }
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT b FROM t WHERE v='big'")) {
                r.next();
                same(Arrays.equals(r.getBytes(1), big), true);
            }
            update(c, "DELETE FROM t WHERE v='big'");
        });
        c.close();
    }

    /** Two branches as a transaction manager of Java drives them: one is committed by a later connection, one is taken back. */
    static void xa() throws Exception {
        MysqlXADataSource source = new MysqlXADataSource();
        source.setUrl("jdbc:mysql://" + host + ":" + port + "/" + DB + "?allowPublicKeyRetrieval=true&sslMode=DISABLED");
        source.setUser(user);
        source.setPassword(password);
        Xid kept = new MysqlXid(new byte[] {1, 0, (byte) 0xff}, new byte[] {7}, 42);
        Xid undone = new MysqlXid(new byte[] {2}, new byte[] {8}, 42);
        XAConnection first = source.getXAConnection();
        update(first.getConnection(), "CREATE TABLE xa_t (id INT PRIMARY KEY)");
        for (Xid xid : new Xid[] {kept, undone}) {
            XAResource resource = first.getXAResource();
            resource.start(xid, XAResource.TMNOFLAGS);
            update(first.getConnection(), "INSERT INTO xa_t VALUES (" + (xid == kept ? 1 : 2) + ")");
            resource.end(xid, XAResource.TMSUCCESS);
            same(resource.prepare(xid), XAResource.XA_OK);
        }
        first.close();
        XAConnection second = source.getXAConnection();
        XAResource resource = second.getXAResource();
        Set<String> found = new TreeSet<>();
        for (Xid xid : resource.recover(XAResource.TMSTARTRSCAN | XAResource.TMENDRSCAN)) {
            found.add(xid.getFormatId() + Arrays.toString(xid.getGlobalTransactionId()) + Arrays.toString(xid.getBranchQualifier()));
        }
        same(found, "[42[1, 0, -1][7], 42[2][8]]");
        same(one(second.getConnection(), "SELECT COUNT(*) FROM xa_t"), 0);
        resource.commit(kept, false);
        resource.rollback(undone);
        same(one(second.getConnection(), "SELECT GROUP_CONCAT(id) FROM xa_t"), 1);
        Xid quick = new MysqlXid(new byte[] {3}, new byte[] {8}, 42);
        resource.start(quick, XAResource.TMNOFLAGS);
        update(second.getConnection(), "INSERT INTO xa_t VALUES (3)");
        resource.end(quick, XAResource.TMSUCCESS);
        resource.commit(quick, true);
        try {
            resource.commit(quick, false);
            throw new AssertionError("a branch was committed twice");
        } catch (XAException e) {
            same(e.errorCode, XAException.XAER_NOTA);
        }
        same(one(second.getConnection(), "SELECT GROUP_CONCAT(id) FROM xa_t"), "1,3");
        second.close();
    }

    public static void main(String[] arguments) {
        host = arguments[0];
        port = arguments[1];
        user = arguments[2];
        password = arguments.length > 3 ? arguments[3] : "";
        run("suite", () -> suite("", ""));
        run("server_prepared_suite", () -> suite("server_prepared.", "&useServerPrepStmts=true&cachePrepStmts=true"
            + "&rewriteBatchedStatements=true&sessionVariables=sql_mode='TRADITIONAL'&connectionTimeZone=UTC&characterEncoding=UTF-8"));
        run("multi_statements", () -> {
            try (Connection c = open(DB, "&allowMultiQueries=true"); Statement s = c.createStatement()) {
                s.execute("SELECT 1; SELECT 2; UPDATE t SET n = n WHERE id = 1; SELECT 3");
                int sets = 1;
                while (s.getMoreResults() || s.getUpdateCount() != -1) sets++;
                same(sets, 4);
            }
        });
        run("compress", () -> {
            try (Connection c = open("", "&useCompression=true")) {
                same(String.valueOf(one(c, "SELECT REPEAT('a', 200000)")).length(), 200000);
                try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SHOW STATUS LIKE 'Compression'")) {
                    r.next();
                    same(r.getString(2), "ON");
                }
                try (PreparedStatement p = c.prepareStatement("SELECT LENGTH(?)")) {
                    p.setString(1, "b".repeat(300000));
                    ResultSet r = p.executeQuery();
                    r.next();
                    same(r.getInt(1), 300000);
                }
            }
        });
        run("xa", () -> xa());
        System.out.printf("passed/failed/total: %d/%d/%d%n", passed, failed, passed + failed);
        System.exit(failed > 0 ? 1 : 0);
    }
}
