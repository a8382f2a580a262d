//! Statements as a well-made application sends them.

use crate::{ROWS, text};
use mysql::prelude::Queryable;
use mysql::{Conn, Result};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};
use tests::Server;

const USERS: u32 = 1500;
const SESSIONS: u64 = 3;

pub fn load(conn: &mut Conn) -> Result<()> {
    conn.query_drop("SET cte_max_recursion_depth = 1000000")?;
    for statement in [
        "CREATE DATABASE sound",
        "USE sound",
        "CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40) NOT NULL)",
        "CREATE TABLE users (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, email VARCHAR(60) NOT NULL UNIQUE, name VARCHAR(40) NOT NULL, \
         country CHAR(2) NOT NULL, born DATE NOT NULL, KEY (country), FOREIGN KEY (country) REFERENCES countries (code))",
        "CREATE TABLE orders (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, user INT UNSIGNED NOT NULL, status TINYINT NOT NULL, \
         total DECIMAL(10,2) NOT NULL, made DATETIME NOT NULL, note VARCHAR(200), KEY (user, made), KEY (made), \
         FOREIGN KEY (user) REFERENCES users (id))",
        "CREATE TABLE log (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, at DATETIME NOT NULL, what VARCHAR(40) NOT NULL)",
        "INSERT INTO countries WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 49) \
         SELECT CONCAT(CHAR(65 + n DIV 10), CHAR(65 + n % 10)), CONCAT('Country ', n) FROM n",
    ] {
        conn.query_drop(statement)?;
    }
    conn.query_drop(format!(
        "INSERT INTO users (email, name, country, born) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {USERS}) \
         SELECT CONCAT('user', n, '@example.com'), CONCAT('Name ', n), CONCAT(CHAR(65 + n % 5), CHAR(65 + n % 10)), \
         '1970-01-01' + INTERVAL n DAY FROM n"
    ))?;
    conn.query_drop(format!(
        "INSERT INTO orders (user, status, total, made, note) WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ROWS}) \
         SELECT 1 + n * 7 % {USERS}, n % 4, n % 1000 / 10, '2026-01-01' + INTERVAL n MINUTE, REPEAT('note ', n % 20) FROM n"
    ))?;
    conn.query_drop("ANALYZE TABLE countries, users, orders")
}

/// Runs them at load for a time.
pub fn run(server: &Server, time: Duration) -> std::result::Result<(), String> {
    let until = Instant::now() + time;
    let session = |seed| {
        let mut conn = server.address.connect_to("sound").map_err(text)?;
        let mut rng = StdRng::seed_from_u64(seed);
        while Instant::now() < until {
            page(&mut conn, &mut rng).map_err(text)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..SESSIONS).map(|seed| scope.spawn(move || session(seed))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a session panicked".to_owned())?)
    })
}

/// What some pages of the application ask.
fn page(conn: &mut Conn, rng: &mut StdRng) -> Result<()> {
    let user = rng.random_range(1..=USERS);
    let order = rng.random_range(1..=ROWS);
    let minute = rng.random_range(1..ROWS);
    // By keys, as text and prepared.
    conn.query_drop(format!("SELECT * FROM users WHERE id = {user}"))?;
    conn.query_drop(format!("SELECT id, name FROM users WHERE email = 'user{user}@example.com'"))?;
    conn.exec_drop("SELECT * FROM orders WHERE id = ?", (order,))?;
    // A list, and all that belongs to it with one statement.
    let list: Vec<(u32, u32)> = conn.exec("SELECT id, user FROM orders ORDER BY made DESC LIMIT ?", (20,))?;
    let ids: Vec<String> = list.iter().map(|(_, user)| user.to_string()).collect();
    conn.query_drop(format!("SELECT id, name FROM users WHERE id IN ({})", ids.join(", ")))?;
    conn.exec_drop(
        "SELECT o.id, o.total, u.name FROM orders o JOIN users u ON u.id = o.user WHERE o.user = ? ORDER BY o.made LIMIT 10",
        (user,),
    )?;
    // Pages by key, a range, a beginning of a text.
    conn.exec_drop("SELECT id, made, total FROM orders WHERE id > ? ORDER BY id LIMIT 50", (order,))?;
    conn.query_drop(format!(
        "SELECT * FROM orders WHERE made BETWEEN '2026-01-01' + INTERVAL {minute} MINUTE AND '2026-01-01' + INTERVAL {} MINUTE",
        minute + 30
    ))?;
    conn.query_drop(format!("SELECT name FROM users WHERE email LIKE 'user{user}%'"))?;
    // Small tables are read whole.
    conn.query_drop("SELECT code, name FROM countries ORDER BY name")?;
    conn.query_drop("SELECT * FROM countries WHERE name = 'Country 7'")?;
    // Sums over few rows, an outer join whose rows are shown, EXISTS.
    conn.exec_drop("SELECT COUNT(*), SUM(total) FROM orders WHERE user = ?", (user,))?;
    conn.exec_drop("SELECT u.name, o.total FROM users u LEFT JOIN orders o ON o.user = u.id WHERE u.id = ?", (user,))?;
    conn.exec_drop("SELECT u.name, c.name FROM users u JOIN countries c ON c.code = u.country WHERE u.id = ?", (user,))?;
    conn.exec_drop("SELECT name FROM users WHERE id = ? AND EXISTS (SELECT 1 FROM orders WHERE user = users.id)", (user,))?;
    // Unrelated rows after a list.
    for _ in 0..3 {
        conn.exec_drop("SELECT name, born FROM users WHERE id = ?", (rng.random_range(1..=USERS),))?;
    }
    // A transaction that changes several rows, many rows with one statement, and one row of its own.
    conn.query_drop("START TRANSACTION")?;
    conn.exec_drop("SELECT total FROM orders WHERE id = ? FOR UPDATE", (order,))?;
    conn.exec_drop("UPDATE orders SET status = 3, note = 'changed' WHERE id = ?", (order,))?;
    conn.query_drop("INSERT INTO log (at, what) VALUES (NOW(), 'order'), (NOW(), 'stock'), (NOW(), 'mail')")?;
    conn.query_drop("COMMIT")?;
    conn.exec_drop("UPDATE users SET name = ? WHERE id = ?", (format!("Name {order}"), user))?;
    // A report that reads everything and says so.
    if rng.random_ratio(1, 40) {
        conn.query_drop("SELECT status, COUNT(*), SUM(total) FROM orders GROUP BY status")?;
    }
    Ok(())
}
