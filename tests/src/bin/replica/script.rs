//! What runs at the source: Heddle and MySQL do the same with it.

use super::{Outcome, all};

/// All types, definitions, triggers, foreign keys, tables without keys, generated columns, partitions.
const SCRIPT: &[&str] = &[
    "CREATE DATABASE ty",
    "USE ty",
    "CREATE TABLE nums (id INT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d BIGINT UNSIGNED, e FLOAT, f DOUBLE, \
     g DECIMAL(30, 10), h BIT(11), i YEAR, j BOOL)",
    "INSERT INTO nums VALUES (1, -128, 65535, -8388608, 18446744073709551615, 1.5, 1e300, -12345678901234567890.0123456789, \
     b'10101010101', 2026, 1), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "CREATE TABLE strs (id INT PRIMARY KEY, a CHAR(10), b VARCHAR(300) CHARACTER SET latin1, c BINARY(5), d VARBINARY(20), e TINYTEXT, \
     f MEDIUMTEXT, g LONGBLOB, h ENUM('a', 'b', 'ü'), i SET('x', 'y', 'z'), j JSON, k VARCHAR(10) CHARACTER SET utf16)",
    "INSERT INTO strs VALUES (1, 'ab  ', 'é', 0x610000, 0x00ff00, 't', REPEAT('m', 70000), REPEAT(0xff, 100000), 'ü', 'x,z', \
     '{\"a\": [1, 2.5, \"x\", null, true, 18446744073709551615], \"long\": \"yyyyyyyyyyyyyyyyyyyy\"}', 'äö'), \
     (2, '', '', '', '', '', '', '', NULL, '', '[]', '')",
    "UPDATE strs SET f = CONCAT(f, 'end'), i = 'y' WHERE id = 1",
    "CREATE TABLE tims (id INT PRIMARY KEY, a DATE, b TIME, c TIME(6), d DATETIME, e DATETIME(3), f TIMESTAMP NULL, \
     g TIMESTAMP(6) NULL)",
    "SET time_zone = '+05:30'",
    "INSERT INTO tims VALUES (1, '2026-11-28', '-838:59:59', '-00:00:00.000001', '9999-12-31 23:59:59', '2026-01-01 00:00:00.123', \
     '2026-06-15 12:00:00', '2026-06-15 12:00:00.654321'), (2, '1000-01-01', '838:59:59', '01:02:03.5', NULL, NULL, NULL, NULL)",
    "SET time_zone = SYSTEM",
    "CREATE TABLE nokey (a INT, b VARCHAR(20), c LONGTEXT)",
    "INSERT INTO nokey VALUES (1, 'x', REPEAT('l', 50000)), (1, 'x', REPEAT('l', 50000)), (2, NULL, NULL), (3, 'z', 'short')",
    "UPDATE nokey SET b = 'y' WHERE a = 3",
    "DELETE FROM nokey WHERE a = 2",
    "CREATE TABLE uniq (a INT NOT NULL, b INT, UNIQUE KEY (a))",
    "INSERT INTO uniq VALUES (1, 1), (2, 2)",
    "UPDATE uniq SET a = a + 10",
    "DELETE FROM uniq WHERE a = 12",
    "CREATE TABLE par (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE chi (id INT PRIMARY KEY AUTO_INCREMENT, p INT, FOREIGN KEY (p) REFERENCES par (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE logt (id INT PRIMARY KEY AUTO_INCREMENT, t VARCHAR(50))",
    "CREATE TRIGGER tr AFTER DELETE ON par FOR EACH ROW INSERT INTO logt (t) VALUES (CONCAT('gone ', OLD.id))",
    "CREATE TRIGGER tc AFTER INSERT ON chi FOR EACH ROW INSERT INTO logt (t) VALUES (CONCAT('child ', NEW.id))",
    "INSERT INTO par VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO chi (p) VALUES (1), (1), (2), (3)",
    "UPDATE par SET id = 20 WHERE id = 2",
    "DELETE FROM par WHERE id = 1",
    "CREATE TABLE gen (id INT PRIMARY KEY, a INT, v INT GENERATED ALWAYS AS (a * 2) VIRTUAL, s INT GENERATED ALWAYS AS (a + 1) STORED, \
     KEY (v))",
    "INSERT INTO gen (id, a) VALUES (1, 5), (2, 6)",
    "UPDATE gen SET a = 9 WHERE id = 1",
    "CREATE TABLE func (id INT PRIMARY KEY, a INT, t VARCHAR(50), doc JSON, big LONGTEXT, KEY double_a ((a * 2)), UNIQUE KEY upper_t ((UPPER(t))), \
     KEY tags ((CAST(doc->'$.tags' AS CHAR(20) ARRAY))))",
    "INSERT INTO func VALUES (1, 5, 'one', '{\"tags\": [\"x\", \"y\"]}', REPEAT('b', 40000)), (2, 6, 'two', '{\"tags\": []}', NULL), (3, NULL, NULL, NULL, 'c')",
    "UPDATE func SET a = a + 1 WHERE id = 1",
    "UPDATE func SET t = CONCAT(t, '!'), doc = '{\"tags\": [\"z\", \"x\"]}' WHERE id <= 2",
    "UPDATE func SET id = 30, t = 'three' WHERE id = 3",
    "ALTER TABLE func ADD COLUMN later INT DEFAULT 4",
    "INSERT INTO func (id, a, t) VALUES (4, 7, 'four'), (5, 8, 'five')",
    "DELETE FROM func WHERE id = 4",
    "CREATE TABLE vec (id INT PRIMARY KEY, e VECTOR(3))",
    "INSERT INTO vec VALUES (1, STRING_TO_VECTOR('[1, 2, 3]')), (2, NULL)",
    "UPDATE vec SET e = STRING_TO_VECTOR('[-1.5, 0, 1e10]') WHERE id = 2",
    "CREATE VIEW vw AS SELECT id FROM par",
    "CREATE PROCEDURE pp() INSERT INTO logt (t) VALUES ('from a procedure')",
    "CALL pp()",
    "ALTER TABLE nums ADD COLUMN k INT DEFAULT 7, DROP COLUMN j",
    "INSERT INTO nums (id) VALUES (3)",
    "CREATE INDEX ia ON nums (a)",
    "RENAME TABLE logt TO logt2",
    "RENAME TABLE logt2 TO logt",
    "TRUNCATE TABLE uniq",
    "INSERT INTO uniq VALUES (5, 5)",
    "CREATE TABLE part (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 4",
    "INSERT INTO part VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
    "UPDATE part SET v = v * 2",
    "DELETE FROM part WHERE id = 3",
    "DROP TABLE IF EXISTS nothere",
    "CREATE TABLE IF NOT EXISTS par (id INT)",
    "BEGIN",
    "INSERT INTO par VALUES (50, 1)",
    "SAVEPOINT a",
    "INSERT INTO par VALUES (51, 1)",
    "ROLLBACK TO a",
    "COMMIT",
    "BEGIN",
    "INSERT INTO par VALUES (60, 1)",
    "DELETE FROM par WHERE id = 60",
    "COMMIT",
    "CREATE USER other@'%' IDENTIFIED BY 'secret'",
    "GRANT SELECT ON ty.* TO other@'%'",
    "SET SESSION foreign_key_checks = 0",
    "CREATE TABLE early (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES late (id))",
    "INSERT INTO early VALUES (1, 7)",
    "SET SESSION foreign_key_checks = 1",
    "CREATE TABLE late (id INT PRIMARY KEY)",
    "INSERT INTO late VALUES (7)",
];

pub fn run(client: &mut mysql::Conn) -> Outcome {
    all(client, SCRIPT)
}

/// Images that have a part of their rows.
pub const PARTIAL: &[&str] = &[
    "SET binlog_row_image = minimal",
    "UPDATE ty.nums SET a = 5 WHERE id = 1",
    "UPDATE ty.strs SET a = 'q' WHERE id = 2",
    "DELETE FROM ty.strs WHERE id = 1",
    "INSERT INTO ty.strs (id, a) VALUES (9, 'min')",
    "INSERT INTO ty.nums (id) VALUES (9)",
    "INSERT INTO ty.chi (p) VALUES (50)",
    "UPDATE ty.par SET id = 500 WHERE id = 50",
    "UPDATE ty.nokey SET b = 'zz'",
    "INSERT INTO ty.gen (id, a) VALUES (77, 1)",
    "UPDATE ty.gen SET a = 3 WHERE id = 77",
    "SET binlog_row_image = noblob",
    "UPDATE ty.strs SET a = 'nb', g = 'blob' WHERE id = 9",
    "UPDATE ty.strs SET a = 'n2' WHERE id = 9",
    "SET binlog_row_image = full",
];

/// The tables of the writers.
pub const WRITTEN: &[&str] = &[
    "CREATE DATABASE b",
    "CREATE TABLE b.parent (id INT PRIMARY KEY AUTO_INCREMENT, n INT, v VARCHAR(300), big LONGTEXT, KEY (n))",
    "CREATE TABLE b.child (id INT PRIMARY KEY AUTO_INCREMENT, parent INT, v VARCHAR(300), big LONGTEXT,
        FOREIGN KEY (parent) REFERENCES b.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE b.noted (id INT PRIMARY KEY AUTO_INCREMENT, n INT, v VARCHAR(300), big LONGTEXT)",
    "CREATE TABLE b.loose (n INT, v VARCHAR(300))",
    "CREATE TRIGGER b.parent_deleted AFTER DELETE ON b.parent FOR EACH ROW INSERT INTO b.noted (n, v) VALUES (OLD.id, 'deleted')",
    "CREATE TRIGGER b.child_written AFTER INSERT ON b.child FOR EACH ROW INSERT INTO b.noted (n, v) VALUES (NEW.id, 'child')",
];

/// The statements of one change, of twelve kinds.
pub fn change(kind: u64, n: u64, bytes: u64) -> Vec<String> {
    match kind {
        0..=1 => vec![format!("INSERT INTO b.parent (n, v, big) VALUES ({n}, 'p{n}é', REPEAT('b', {bytes}))")],
        2 => {
            vec![format!("INSERT INTO b.loose VALUES ({n}, 'same'), ({n}, 'same')"), format!("DELETE FROM b.loose WHERE n = {n}")]
        }
        3 => vec![format!("UPDATE b.parent SET v = CONCAT(v, 'x') WHERE n = {n} AND LENGTH(v) < 250")],
        4 => vec![format!("UPDATE b.parent SET big = CONCAT(big, 'y'), n = n + 1 WHERE n = {n}")],
        5 => vec![format!("DELETE FROM b.parent WHERE n = {n}")],
        6 => {
            vec![format!("INSERT INTO b.child (parent, v, big) SELECT id, 'c', REPEAT('c', {bytes}) FROM b.parent WHERE n = {n}")]
        }
        7 => vec![format!("UPDATE b.parent SET id = id + 1000000 WHERE n = {n} AND id < 1000000")],
        8 => vec![
            "START TRANSACTION".into(),
            format!("INSERT INTO b.parent (n, v, big) VALUES ({n}, 'kept', REPEAT('k', {bytes}))"),
            "SAVEPOINT a".into(),
            format!("DELETE FROM b.parent WHERE n <= {n}"),
            format!("INSERT INTO b.parent (n, v) VALUES ({n}, 'undone')"),
            "ROLLBACK TO a".into(),
            format!("INSERT INTO b.noted (n, v) VALUES ({n}, 'after')"),
            "COMMIT".into(),
        ],
        9 => match n {
            0 => vec!["ALTER TABLE b.noted ADD COLUMN more INT DEFAULT 1".into(), "ALTER TABLE b.noted DROP COLUMN more".into()],
            1 => vec!["CREATE INDEX byn ON b.noted (n)".into(), "DROP INDEX byn ON b.noted".into()],
            2 => vec!["TRUNCATE TABLE b.loose".into()],
            _ => vec!["START TRANSACTION".into(), format!("DELETE FROM b.parent WHERE n = {n}"), "ROLLBACK".into()],
        },
        10 => vec![
            "START TRANSACTION".into(),
            format!("UPDATE b.noted SET n = n + 1 WHERE id % 10 = {}", n % 10),
            format!("DELETE FROM b.noted WHERE n % 17 = {}", n % 17),
            "COMMIT".into(),
        ],
        _ => vec![format!("INSERT INTO b.noted (n, v, big) VALUES ({n}, 'n', REPEAT('ö', {}))", bytes / 2)],
    }
}

/// What foreign keys do to other rows: chains, trees, several keys of one table, several columns.
pub const FOLLOWED: &[&str] = &[
    "CREATE DATABASE IF NOT EXISTS ty",
    "USE ty",
    "CREATE TABLE f1 (id INT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, UNIQUE KEY (code))",
    "CREATE TABLE f2 (id INT PRIMARY KEY, f1 INT, code VARCHAR(20) COLLATE utf8mb4_0900_ai_ci, note LONGTEXT, \
     FOREIGN KEY (f1) REFERENCES f1 (id) ON DELETE CASCADE ON UPDATE CASCADE, \
     FOREIGN KEY (code) REFERENCES f1 (code) ON DELETE SET NULL ON UPDATE CASCADE)",
    "CREATE TABLE f3 (a INT, b INT, f2 INT, PRIMARY KEY (a, b), FOREIGN KEY (f2) REFERENCES f2 (id) ON DELETE CASCADE ON UPDATE SET NULL)",
    "CREATE TABLE f4 (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT, KEY (a, b), \
     FOREIGN KEY (a, b) REFERENCES f3 (a, b) ON DELETE SET NULL ON UPDATE CASCADE)",
    "CREATE TABLE tree (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES tree (id) ON DELETE CASCADE)",
    "CREATE TABLE fired (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(20))",
    "CREATE TRIGGER on_f1 AFTER DELETE ON f1 FOR EACH ROW INSERT INTO fired (what) VALUES (OLD.code)",
    "INSERT INTO f1 VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four')",
    "INSERT INTO f2 VALUES (1, 1, 'two', REPEAT('x', 50000)), (2, 1, 'three', NULL), (3, 2, 'one', 'n'), (4, 3, NULL, REPEAT('y', 30000)), (5, NULL, 'four', NULL)",
    "INSERT INTO f3 VALUES (1, 1, 1), (1, 2, 2), (2, 1, 3), (2, 2, 4), (3, 1, NULL)",
    "INSERT INTO f4 (a, b) VALUES (1, 1), (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (NULL, 1)",
    "INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 1), (4, 2), (5, 4), (6, 5), (7, NULL), (8, 7)",
    "UPDATE f1 SET id = 10, code = 'ten' WHERE id = 1",
    "UPDATE f1 SET code = 'TWO' WHERE id = 2",
    "UPDATE f2 SET id = id + 20 WHERE id IN (2, 3)",
    "UPDATE f3 SET a = a + 5 WHERE a = 2",
    "DELETE FROM f1 WHERE id = 10",
    "BEGIN",
    "DELETE FROM tree WHERE id = 2",
    "DELETE FROM f1 WHERE code IN ('two', 'four')",
    "COMMIT",
    "DELETE FROM tree WHERE id = 7",
];
