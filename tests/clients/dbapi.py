#!/usr/bin/env python3
"""Python drivers at work: pymysql, mysqlclient, connector (mysql-connector-python).

usage: dbapi.py DRIVER HOST PORT USER PASSWORD SOCKET

One line per case, `ok NAME` or `FAIL NAME: why`. The account must be able to create databases.
"""
import datetime as dt
import decimal
import os
import sys
import threading
import time

DRIVER, HOST, PORT, USER, PASSWORD, SOCKET = (sys.argv[1:] + [""])[:6]
DB = "client_" + DRIVER
MAX_PACKET = 64 << 20
passed = failed = 0


def connect(db=DB, password=None, **more):
    password = PASSWORD if password is None else password
    where = {"host": HOST, "port": int(PORT)}
    if "unix_socket" in more:
        where = {"unix_socket": more.pop("unix_socket")}
    if DRIVER == "pymysql":
        import pymysql
        return pymysql.connect(**where, user=USER, password=password, database=db, charset="utf8mb4",
                               max_allowed_packet=MAX_PACKET, **more)
    if DRIVER == "mysqlclient":
        import MySQLdb
        return MySQLdb.connect(**where, user=USER, password=password, database=db or "", charset="utf8mb4", **more)
    import mysql.connector
    return mysql.connector.connect(**where, user=USER, password=password, database=db, use_pure=True, **more)


def rows(conn, sql, args=None):
    cursor = conn.cursor()
    cursor.execute(sql, args) if args is not None else cursor.execute(sql)
    found = [tuple(r) for r in cursor.fetchall()]
    cursor.close()
    return found


def run(conn, sql, args=None):
    """Executes and gives the number of affected rows."""
    cursor = conn.cursor()
    cursor.execute(sql, args) if args is not None else cursor.execute(sql)
    count = cursor.rowcount
    cursor.close()
    return count


def errno(what):
    try:
        what()
    except Exception as e:  # the drivers have no common base class
        number = e.args[0] if e.args and isinstance(e.args[0], int) else getattr(e, "errno", None)
        return number
    return 0


def same(got, want):
    assert got == want, f"got {str(got)[:200]!r}, want {str(want)[:200]!r}"


def case(name, body):
    global passed, failed
    try:
        body()
    except Exception as e:  # every failure is a result
        failed += 1
        print(f"FAIL {DRIVER}.{name}: {type(e).__name__} {e}"[:500].replace("\n", " "), flush=True)
    else:
        passed += 1
        print(f"ok   {DRIVER}.{name}", flush=True)


ROW = {
    "i8": -128, "u8": 255, "i16": -32768, "u16": 65535, "i24": -8388608, "i32": -2147483648, "u32": 4294967295,
    "i64": -9223372036854775808, "u64": 18446744073709551615, "de": decimal.Decimal("-12345678.91"), "fl": 0.25, "f": 1.5,
    "ch": "abc", "v": "naïve 日本 😀 it's \\ \"q\" % \n \t \0 end", "t": "x" * 70000, "bi": bytes([1, 2, 0, 255]),
    "vb": b"\x00'\\\"\xff", "b": bytes(range(256)) * 4, "da": dt.date(2024, 2, 29),
    "ti": dt.timedelta(hours=26, minutes=3, seconds=4), "dt": dt.datetime(2024, 2, 29, 23, 59, 58),
    "d6": dt.datetime(2024, 2, 29, 23, 59, 58, 123456), "ts": dt.datetime(2024, 2, 29, 23, 59, 58), "n": None, "e": "y", "bo": 1,
    "y": 2024,
}
COLUMNS = ", ".join(f"`{c}`" for c in ROW)
PLACES = ", ".join(["%s"] * len(ROW))
TABLE = """CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, i8 TINYINT, u8 TINYINT UNSIGNED, i16 SMALLINT,
    u16 SMALLINT UNSIGNED, i24 MEDIUMINT, i32 INT, u32 INT UNSIGNED, i64 BIGINT, u64 BIGINT UNSIGNED, de DECIMAL(12,2), fl FLOAT,
    f DOUBLE, ch CHAR(10), v VARCHAR(100), t MEDIUMTEXT, bi BINARY(4), vb VARBINARY(20), b LONGBLOB, da DATE, ti TIME,
    dt DATETIME, d6 DATETIME(6), ts TIMESTAMP NULL, n INT NULL, e ENUM('x','y'), bo BOOLEAN, y YEAR, UNIQUE KEY uv (v), KEY ki (i32))
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"""


def check_row(got):
    for name, value in zip(ROW, got):
        assert value == ROW[name], f"{name}: {str(value)[:80]!r} is not {str(ROW[name])[:80]!r}"


class Cases:
    """The cases, in order; they share one connection and one table."""

    def __init__(self):
        boot = connect(None)
        run(boot, f"DROP DATABASE IF EXISTS {DB}")
        run(boot, f"CREATE DATABASE {DB} CHARACTER SET utf8mb4")
        boot.close()
        self.c = connect()

    def create(self):
        run(self.c, TABLE)

    def insert(self):
        cursor = self.c.cursor()
        cursor.execute(f"INSERT INTO t ({COLUMNS}) VALUES ({PLACES})", list(ROW.values()))
        same((cursor.lastrowid, cursor.rowcount), (1, 1))
        self.c.commit()

    def types_come_back(self):
        check_row(rows(self.c, f"SELECT {COLUMNS} FROM t WHERE id = %s", (1,))[0])

    def metadata(self):
        cursor = self.c.cursor()
        cursor.execute("SELECT id, v AS vee, de, d6, b, f FROM t WHERE 1 = 0")
        same([d[0] for d in cursor.description], ["id", "vee", "de", "d6", "b", "f"])
        same([d[1] for d in cursor.description], [3, 253, 246, 12, 252, 5])
        same(list(cursor.fetchall()), [])
        cursor.close()

    def executemany(self):
        cursor = self.c.cursor()
        cursor.executemany("INSERT INTO t (v, i32) VALUES (%s, %s)", [(f"k{i}", i) for i in range(500)])
        same(cursor.rowcount, 500)
        self.c.commit()
        same(rows(self.c, "SELECT COUNT(*), SUM(i32) FROM t WHERE v LIKE 'k%'"), [(500, 124750)])

    def rollback(self):
        run(self.c, "UPDATE t SET i32 = -1")
        self.c.rollback()
        same(rows(self.c, "SELECT COUNT(*) FROM t WHERE i32 = -1"), [(0,)])

    def savepoint(self):
        run(self.c, "SAVEPOINT `s1`")
        run(self.c, "DELETE FROM t WHERE v = 'k1'")
        run(self.c, "ROLLBACK TO SAVEPOINT `s1`")
        run(self.c, "RELEASE SAVEPOINT `s1`")
        self.c.commit()
        same(rows(self.c, "SELECT COUNT(*) FROM t WHERE v = 'k1'"), [(1,)])

    def snapshot(self):
        other = connect()
        self.c.commit()
        before = rows(self.c, "SELECT COUNT(*) FROM t")[0][0]
        run(other, "INSERT INTO t (v) VALUES ('other')")
        other.commit()
        same(rows(self.c, "SELECT COUNT(*) FROM t")[0][0], before)
        self.c.commit()
        same(rows(self.c, "SELECT COUNT(*) FROM t")[0][0], before + 1)
        self.c.commit()
        other.close()

    def affected_rows(self):
        same(run(self.c, "UPDATE t SET i32 = 7 WHERE v = 'k7'"), 0)
        same(run(self.c, "UPDATE t SET i32 = 70 WHERE v = 'k7'"), 1)
        same(run(self.c, "INSERT INTO t (id, v) VALUES (1, 'zz') ON DUPLICATE KEY UPDATE v = 'zz'"), 2)
        same(run(self.c, "DELETE FROM t WHERE v IN ('k1', 'k2', 'nosuch')"), 2)
        self.c.rollback()

    def errors(self):
        numbers = {
            "INSERT INTO t (v) VALUES ('k1')": 1062, "SELEC 1": 1064, "SELECT * FROM nosuch": 1146, "SELECT nosuch FROM t": 1054,
            "INSERT INTO t (i8) VALUES (1000)": 1264, "USE nosuchdb": 1049, "INSERT INTO t (ch) VALUES ('much too long')": 1406,
            "CREATE TABLE t (a INT)": 1050, "INSERT INTO t (id) VALUES (1, 2)": 1136,
        }
        for sql, number in numbers.items():
            same((sql, errno(lambda: run(self.c, sql))), (sql, number))
        same(errno(lambda: connect("nosuchdb")), 1049)
        self.c.rollback()

    def denied(self):
        same(errno(lambda: connect(password="wrong")), 1045)

    def read_only(self):
        run(self.c, "START TRANSACTION READ ONLY")
        same(rows(self.c, "SELECT COUNT(*) > 0 FROM t"), [(1,)])
        same(errno(lambda: run(self.c, "DELETE FROM t WHERE id = 1")), 1792)
        self.c.rollback()

    def lock_timeout(self):
        other = connect()
        run(other, "SET innodb_lock_wait_timeout = 1")
        run(self.c, "UPDATE t SET i32 = i32 + 1 WHERE v = 'k5'")
        began = time.time()
        same(errno(lambda: run(other, "UPDATE t SET i32 = 0 WHERE v = 'k5'")), 1205)
        assert 0.5 < time.time() - began < 5, f"waited {time.time() - began:.1f} s"
        self.c.rollback()
        other.rollback()
        other.close()

    def deadlock(self):
        a, b = connect(), connect()
        run(a, "UPDATE t SET i32 = i32 + 1 WHERE v = 'k10'")
        run(b, "UPDATE t SET i32 = i32 + 1 WHERE v = 'k11'")
        seen = {}

        def first():
            seen["a"] = errno(lambda: run(a, "UPDATE t SET i32 = i32 + 1 WHERE v = 'k11'"))

        thread = threading.Thread(target=first)
        thread.start()
        time.sleep(0.3)
        seen["b"] = errno(lambda: run(b, "UPDATE t SET i32 = i32 + 1 WHERE v = 'k10'"))
        (b if seen["b"] == 1213 else a).rollback()
        thread.join(20)
        same(sorted(seen.values()), [0, 1213])
        for conn in (a, b):
            conn.rollback()
            conn.close()

    def waits_for_commit(self):
        other = connect()
        run(self.c, "UPDATE t SET i32 = 1000 WHERE v = 'k20'")
        done = []
        thread = threading.Thread(target=lambda: done.append(run(other, "UPDATE t SET i32 = i32 + 1 WHERE v = 'k20'")))
        thread.start()
        time.sleep(0.2)
        same(done, [])
        self.c.commit()
        thread.join(10)
        other.commit()
        same((done, rows(self.c, "SELECT i32 FROM t WHERE v = 'k20'")), ([1], [(1001,)]))
        self.c.commit()
        other.close()

    def warnings(self):
        run(self.c, "SET sql_mode = ''")
        run(self.c, "INSERT INTO t (i8) VALUES (1000)")
        same([w[1] for w in rows(self.c, "SHOW WARNINGS")], [1264])
        self.c.rollback()
        run(self.c, "SET sql_mode = DEFAULT")

    def multi_statements(self):
        more = {}
        if DRIVER == "pymysql":
            from pymysql.constants import CLIENT
            more = {"client_flag": CLIENT.MULTI_STATEMENTS}
        if DRIVER == "connector":
            return
        conn = connect(**more)
        cursor = conn.cursor()
        cursor.execute("SELECT 1; SELECT 2, 3; DO 0; SELECT 4")
        same([tuple(r) for r in cursor.fetchall()], [(1,)])
        assert cursor.nextset()
        same([tuple(r) for r in cursor.fetchall()], [(2, 3)])
        assert cursor.nextset() and cursor.nextset()
        same([tuple(r) for r in cursor.fetchall()], [(4,)])
        assert not cursor.nextset()
        cursor.close()
        conn.close()

    def multi_statements_stop_at_an_error(self):
        if DRIVER != "pymysql":
            return
        from pymysql.constants import CLIENT
        conn = connect(client_flag=CLIENT.MULTI_STATEMENTS, autocommit=True)
        cursor = conn.cursor()
        cursor.execute("SELECT 1; SELEC 2; INSERT INTO t (v) VALUES ('never')")
        same(errno(cursor.nextset), 1064)
        conn.close()
        same(rows(self.c, "SELECT COUNT(*) FROM t WHERE v = 'never'"), [(0,)])
        self.c.commit()

    def large_values(self):
        blob = os.urandom(3_000_000)
        run(self.c, "INSERT INTO t (v, b) VALUES ('big', %s)", (blob,))
        assert rows(self.c, "SELECT b FROM t WHERE v = 'big'")[0][0] == blob, "the blob differs"
        self.c.commit()

    def packets_over_16_mib(self):
        same(rows(self.c, "SELECT LENGTH(REPEAT('x', 17000000))"), [(17000000,)])
        same(len(rows(self.c, "SELECT REPEAT('x', 17000000)")[0][0]), 17000000)
        for size in ((1 << 24) - 2, (1 << 24) - 1, 1 << 24):
            same(len(rows(self.c, f"SELECT REPEAT('x', {size})")[0][0]), size)
        blob = b"\x01\x02\x03\x04" * (17 << 18)
        run(self.c, "INSERT INTO t (v, b) VALUES ('huge', %s)", (blob,))
        assert rows(self.c, "SELECT b FROM t WHERE v = 'huge'")[0][0] == blob, "the blob differs"
        run(self.c, "DELETE FROM t WHERE v = 'huge'")
        self.c.commit()

    def stream(self):
        kind = None
        if DRIVER == "pymysql":
            from pymysql.cursors import SSCursor as kind
        elif DRIVER == "mysqlclient":
            from MySQLdb.cursors import SSCursor as kind
        cursor = self.c.cursor(kind) if kind else self.c.cursor()
        cursor.execute("SELECT a.id FROM t a JOIN t b ON a.id >= 0 AND b.id >= 0 LIMIT 100000")
        same(len(cursor.fetchmany(10)), 10)
        same(len(list(cursor.fetchall())), 99990)
        cursor.close()
        self.c.commit()

    def kill_query(self):
        victim = connect()
        number = rows(victim, "SELECT CONNECTION_ID()")[0][0]
        seen = []
        thread = threading.Thread(target=lambda: seen.append(errno(lambda: rows(victim, "SELECT SLEEP(20) FROM t LIMIT 3"))))
        began = time.time()
        thread.start()
        time.sleep(0.5)
        run(self.c, f"KILL QUERY {number}")
        thread.join(15)
        assert time.time() - began < 10, "the query went on"
        assert seen in ([1317], [0]), seen
        same(rows(victim, "SELECT 1"), [(1,)])
        run(self.c, f"KILL {number}")
        time.sleep(0.2)
        assert errno(lambda: rows(victim, "SELECT 1")) != 0, "the connection lives"

    def lost_connection_rolls_back(self):
        other = connect()
        run(other, "UPDATE t SET i32 = -77 WHERE v = 'k30'")
        number = rows(other, "SELECT CONNECTION_ID()")[0][0]
        run(self.c, f"KILL CONNECTION {number}")
        same(run(self.c, "UPDATE t SET i32 = 31 WHERE v = 'k30'"), 1)
        self.c.commit()

    def ping_and_reset(self):
        if DRIVER == "connector":
            self.c.ping(reconnect=False)
            run(self.c, "SET @left = 1")
            self.c.cmd_reset_connection()
            same(rows(self.c, "SELECT @left"), [(None,)])
            self.c.cmd_change_user(USER, PASSWORD, DB)
        elif DRIVER == "mysqlclient":
            self.c.ping()
            run(self.c, "SET @left = 1")
            self.c.change_user(USER, PASSWORD, DB)
            same(rows(self.c, "SELECT @left"), [(None,)])
            self.c.autocommit(False)
        else:
            self.c.ping(reconnect=False)
        same(rows(self.c, "SELECT DATABASE()"), [(DB,)])

    def select_db(self):
        other = connect(None)
        same(rows(other, "SELECT DATABASE()"), [(None,)])
        if DRIVER == "connector":
            other.database = DB
        else:
            other.select_db(DB)
        same(rows(other, "SELECT DATABASE()"), [(DB,)])
        other.close()

    def statistics(self):
        if DRIVER == "mysqlclient":
            assert "Uptime" in self.c.stat(), self.c.stat()

    def unix_socket(self):
        if SOCKET:
            conn = connect(unix_socket=SOCKET)
            same(rows(conn, "SELECT 1"), [(1,)])
            conn.close()

    def autocommit(self):
        other = connect()
        other.autocommit(True) if DRIVER != "connector" else setattr(other, "autocommit", True)
        run(other, "UPDATE t SET i32 = 4040 WHERE v = 'k40'")
        self.c.commit()
        same(rows(self.c, "SELECT i32 FROM t WHERE v = 'k40'"), [(4040,)])
        self.c.commit()
        other.close()

    def null_and_empty(self):
        run(self.c, "INSERT INTO t (v, t, n) VALUES (%s, %s, %s)", ("", "", None))
        same(rows(self.c, "SELECT v, t, n, b FROM t WHERE v = ''"), [("", "", None, None)])
        self.c.rollback()

    def dictionary_cursor(self):
        cursor = self.dictionary()
        cursor.execute("SELECT id, v AS name FROM t WHERE v = %s", ("k3",))
        row = cursor.fetchone()
        same(sorted(row), ["id", "name"])
        same(row["name"], "k3")
        cursor.fetchall()
        cursor.close()

    def dictionary(self):
        if DRIVER == "pymysql":
            from pymysql.cursors import DictCursor
            return self.c.cursor(DictCursor)
        if DRIVER == "mysqlclient":
            from MySQLdb.cursors import DictCursor
            return self.c.cursor(DictCursor)
        return self.c.cursor(dictionary=True)

    def prepared(self):
        if DRIVER != "connector":
            return
        cursor = self.c.cursor(prepared=True)
        values = ["prepared" if c == "v" else v for c, v in ROW.items()]
        cursor.execute(f"INSERT INTO t ({COLUMNS}) VALUES ({PLACES})", values)
        cursor.execute(f"SELECT {COLUMNS} FROM t WHERE v = %s", ("prepared",))
        got = dict(zip(ROW, cursor.fetchone()))
        for name in ("i8", "u8", "i16", "i32", "u32", "i64", "u64", "de", "f", "da", "ti", "dt", "d6", "n", "e"):
            same((name, got[name]), (name, ROW[name]))
        cursor.fetchall()
        for i in (3, 4, 5):
            cursor.execute("SELECT v FROM t WHERE v = %s", (f"k{i}",))
            same([tuple(r) for r in cursor.fetchall()], [(f"k{i}",)])
        cursor.close()
        self.c.rollback()

    def compressed(self):
        if DRIVER == "pymysql":
            return
        conn = connect(compress=True)
        same([tuple(r) for r in rows(conn, "SHOW STATUS LIKE 'Compression'")], [("Compression", "ON")])
        same([tuple(r) for r in rows(self.c, "SHOW STATUS LIKE 'Compression'")], [("Compression", "OFF")])
        same(rows(conn, "SELECT 1")[0][0], 1)
        same(len(rows(conn, "SELECT REPEAT('a', 200000)")[0][0]), 200000)
        run(conn, "INSERT INTO t (v, t) VALUES ('packed', %s)", ("b" * 200000,))
        same(rows(conn, "SELECT LENGTH(t) FROM t WHERE v = 'packed'"), [(200000,)])
        noise = "".join(f"{(i * 2654435761) % 4294967296:08x}" for i in range(400000))  # over 3 MB that hardly compress
        same(rows(conn, f"SELECT '{noise}'")[0][0] == noise, True)
        same(errno(lambda: run(conn, "SELEC 1")), 1064)
        conn.rollback()
        conn.close()

    def many_connections(self):
        conns = [connect() for _ in range(100)]
        same([rows(c, f"SELECT {i}")[0][0] for i, c in enumerate(conns)], list(range(100)))
        for conn in conns:
            conn.close()

    def show_and_describe(self):
        self.c.commit()
        same(rows(self.c, "SHOW TABLES"), [("t",)])
        assert "CREATE TABLE `t`" in rows(self.c, "SHOW CREATE TABLE t")[0][1]
        text = [tuple(x.decode() if isinstance(x, bytes) else x for x in r) for r in rows(self.c, "DESCRIBE t")]
        same(text[0], ("id", "int", "NO", "PRI", None, "auto_increment"))
        names = {r[0] for r in rows(self.c, "SHOW VARIABLES LIKE 'max_allowed%'")}
        same(names, {"max_allowed_packet"})
        assert any(r[0] == "Uptime" for r in rows(self.c, "SHOW STATUS")), "no Uptime"
        assert rows(self.c, "SHOW PROCESSLIST"), "no process"

    def drop(self):
        run(self.c, "DROP TABLE t")
        run(self.c, f"DROP DATABASE {DB}")
        self.c.close()


def main():
    try:
        cases = Cases()
    except Exception as e:  # nothing else can run
        print(f"FAIL {DRIVER}.connect: {type(e).__name__} {e}"[:500])
        sys.exit(1)
    for name in [n for n in vars(Cases) if not n.startswith("_") and n != "dictionary"]:
        case(name, getattr(cases, name))
    print(f"passed/failed/total: {passed}/{failed}/{passed + failed}")
    sys.exit(failed > 0)


main()
