//! What is moved: tables with keys and columns of many kinds, and all that stands beside tables.

use super::{Outcome, text};
use mysql::prelude::Queryable;

const DEFINITIONS: &[&str] = &[
    "CREATE DATABASE shop CHARACTER SET utf8mb4",
    "USE shop",
    "CREATE TABLE customers (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, email VARCHAR(80) CHARACTER SET latin1, \
     spent DECIMAL(12,2) NOT NULL DEFAULT 0, UNIQUE KEY (email))",
    "CREATE TABLE orders (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, customer INT, total DECIMAL(10,2) NOT NULL, \
     state ENUM('new', 'paid', 'sent') NOT NULL DEFAULT 'new', tags SET('a', 'b', 'c'), details JSON, placed DATETIME(6), seen TIMESTAMP NULL, \
     day DATE, span TIME(3), year YEAR, bits BIT(12), ratio DOUBLE, small FLOAT, doubled DECIMAL(11,2) AS (total * 2) VIRTUAL, \
     kept DECIMAL(11,2) AS (total + 1) STORED, note TEXT, KEY (customer), \
     CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE items (order_id BIGINT UNSIGNED NOT NULL, line SMALLINT NOT NULL, what VARCHAR(20), PRIMARY KEY (order_id, line), \
     CONSTRAINT of_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)",
    "CREATE TABLE words (word VARCHAR(40) COLLATE utf8mb4_0900_ai_ci, place DECIMAL(10,3), n INT NOT NULL, PRIMARY KEY (word, place))",
    "CREATE TABLE files (hash BINARY(16) PRIMARY KEY, body LONGBLOB, body_text LONGTEXT)",
    "CREATE TABLE sizes (size ENUM('s', 'm', 'l'), n INT NOT NULL, PRIMARY KEY (size))",
    "CREATE TABLE seats (id INT PRIMARY KEY, seat INT, UNIQUE KEY (seat))",
    "CREATE TABLE quiet (id INT PRIMARY KEY, v VARCHAR(40), at DATETIME NOT NULL)",
    "CREATE TABLE noted (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(60))",
    "CREATE TABLE done (writer INT PRIMARY KEY, n BIGINT NOT NULL)",
    "CREATE TRIGGER paid AFTER UPDATE ON orders FOR EACH ROW INSERT INTO noted (what) VALUES (CONCAT(OLD.state, ' ', NEW.state))",
    "CREATE FUNCTION twice (n INT) RETURNS INT DETERMINISTIC RETURN n * 2",
    "CREATE PROCEDURE greet (OUT said VARCHAR(20)) SET said = 'grüß dich'",
    "CREATE VIEW z_names AS SELECT id, name, twice(id) AS double_id FROM customers",
    "CREATE VIEW a_names AS SELECT name FROM z_names WHERE id < 10",
    "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO DELETE FROM noted WHERE id < 0",
    "CREATE ROLE clerk",
    "GRANT SELECT, UPDATE ON shop.* TO clerk",
    "CREATE USER mover@'%' IDENTIFIED BY 'it''s a \\\\ secret'",
    "GRANT clerk TO mover@'%'",
    "GRANT EXECUTE ON shop.* TO mover@'%'",
];

/// Makes it, with rows.
pub fn make(client: &mut mysql::Conn, rows: u64) -> Outcome {
    let mut run = |statement: &str| client.query_drop(statement).map_err(|error| format!("{statement}: {error}"));
    DEFINITIONS.iter().try_for_each(|statement| run(statement))?;
    run("SET cte_max_recursion_depth = 10000000")?;
    let numbers = |most: u64| format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most})");
    let fill = |into: &str, most: u64, values: &str| format!("INSERT INTO {into} {} SELECT {values} FROM n", numbers(most));
    run(&fill("customers (name, email)", rows / 10, "CONCAT('Zoë ', i), CONCAT('z', i, '@ex.org')"))?;
    let order = format!(
        "1 + i % {}, i / 7, 1 + i % 3, 1 + i % 7, JSON_OBJECT('n', i, 'deep', JSON_ARRAY(i, NULL, 'é')), '2026-01-01' + INTERVAL i * 1001 MICROSECOND, \
         IF(i % 9, '2026-02-03 04:05:06', NULL), '2026-01-01' + INTERVAL i % 900 DAY, SEC_TO_TIME(i / 10), 1950 + i % 100, i % 4096, i / 3, i / 7, \
         IF(i % 5, CONCAT('order ', i), NULL)",
        rows / 10
    );
    let columns = "orders (customer, total, state, tags, details, placed, seen, day, span, year, bits, ratio, small, note)";
    run(&fill(columns, rows, &order))?;
    run(
        "INSERT INTO items SELECT id, l, CONCAT(id, '.', l) FROM orders, (SELECT 1 AS l UNION ALL SELECT 2) AS two WHERE id % 3 = 0",
    )?;
    run(&fill("words", rows / 4, "CONCAT(CHAR(97 + i % 26), LEFT(SHA2(i, 256), 32)), i / 8, i"))?;
    run(&fill("files", 40, "UNHEX(LEFT(SHA2(i, 256), 32)), REPEAT(UNHEX('00ff27225c'), i * 1000), REPEAT('ü', i * 100)"))?;
    run("INSERT INTO sizes VALUES ('l', 1), ('s', 2), ('m', 3)")?;
    run(&fill("seats", 200, "i, i"))?;
    run(&fill("quiet", 12_000, "i, CONCAT('row ', i), '2026-01-01'"))?;
    // A date that strict sessions refuse.
    run("SET sql_mode = ''")?;
    run("UPDATE quiet SET at = '0000-00-00 00:00:00' WHERE id = 5")?;
    run("SET sql_mode = DEFAULT")?;
    // The statistics that the size of slices goes by.
    client.query_drop("ANALYZE TABLE orders, words, quiet, customers").map_err(text)
}

/// Is all that is no row at the target?
pub fn is_moved(client: &mut mysql::Conn) -> Outcome {
    let mut one = |query: &str| -> Outcome<String> {
        let value: Option<Option<String>> = client.query_first(query).map_err(|error| format!("{query}: {error}"))?;
        Ok(value.flatten().unwrap_or_default())
    };
    for (query, expected) in [
        ("SELECT MAX(LEFT(name, 4)) FROM shop.a_names", "Zoë "),
        ("SELECT shop.twice(21)", "42"),
        ("SELECT status FROM information_schema.events WHERE event_schema = 'shop'", "REPLICA_SIDE_DISABLED"),
        ("SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'shop'", "1"),
        ("SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema = 'shop'", "2"),
        ("SELECT at FROM shop.quiet WHERE id = 5", "0000-00-00 00:00:00"),
    ] {
        let value = one(query)?;
        if value != expected {
            return Err(format!("{query}: '{value}' and not '{expected}'"));
        }
    }
    client.query_drop("CALL shop.greet(@said)").map_err(text)?;
    let said: Option<String> = client.query_first("SELECT @said").map_err(text)?;
    let grants: Vec<String> = client.query("SHOW GRANTS FOR mover@'%' USING clerk").map_err(text)?;
    if said.as_deref() == Some("grüß dich") && grants.iter().any(|grant| grant.contains("EXECUTE") && grant.contains("UPDATE"))
    {
        Ok(())
    } else {
        Err(format!("{said:?} {grants:?}"))
    }
}
