//! A server with something to see: a shop, sessions that use it, one that holds a row and others that wait for it.

use mysql::Conn;
use mysql::prelude::Queryable;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tests::Server;

const SESSIONS: usize = 6;
/// A pause between statements, so that the machine has time for the browser.
const PAUSE: Duration = Duration::from_millis(4);

/// Running sessions; they end with it.
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub fn start(server: &Server) -> Result<Self, String> {
        let mut sql = server.connect().map_err(|error| error.to_string())?;
        for statement in [
            "CREATE DATABASE shop",
            "CREATE TABLE shop.customers (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(60), city VARCHAR(40), KEY (city))",
            "CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, customer INT NOT NULL, made DATETIME NOT NULL, \
             total DECIMAL(10,2) NOT NULL, note TEXT, KEY (customer), KEY by_time (made), KEY customer_2 (customer, made))",
            "CREATE TABLE shop.stock (product INT PRIMARY KEY, pieces INT NOT NULL)",
            "CREATE TABLE shop.visits (id BIGINT PRIMARY KEY AUTO_INCREMENT, page VARCHAR(80), at DATETIME(3))",
            "INSERT INTO shop.stock WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 500) SELECT x, 1000000 FROM n",
            "INSERT INTO shop.customers (name, city) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 900) \
             SELECT CONCAT('customer ', x), ELT(1 + x % 5, 'Vienna', 'Linz', 'Graz', 'Salzburg', 'Innsbruck') FROM n",
            "INSERT INTO shop.orders (customer, made, total, note) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 990) \
             SELECT 1 + x * 7 % 900, NOW() - INTERVAL x MINUTE, x * 1.1, REPEAT('note ', 20) FROM n",
            "INSERT INTO shop.orders (customer, made, total, note) SELECT customer, made, total, note FROM shop.orders",
            "INSERT INTO shop.orders (customer, made, total, note) SELECT customer, made, total, note FROM shop.orders",
        ] {
            sql.query_drop(statement).map_err(|error| format!("{statement}: {error}"))?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for number in 0..SESSIONS {
            let mut sql = server.address.connect_to("shop").map_err(|error| error.to_string())?;
            let stop = Arc::clone(&stop);
            threads.push(std::thread::spawn(move || {
                let mut turn = number * 1000;
                // Relaxed: nothing else is read because of it.
                while !stop.load(Ordering::Relaxed) {
                    turn += 1;
                    if sql.query_drop(statement(turn)).is_err() {
                        return; // It was killed.
                    }
                    std::thread::sleep(PAUSE);
                }
            }));
        }
        Ok(Self { stop, threads })
    }

    pub fn end(self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a session panicked".to_owned()))
    }
}

fn statement(turn: usize) -> String {
    let key = 1 + turn * 7919 % 900;
    match turn % 16 {
        0 => format!("UPDATE stock SET pieces = pieces - 1 WHERE product = {}", 1 + turn % 20),
        1 => format!("INSERT INTO orders (customer, made, total, note) VALUES ({key}, NOW(), {}.50, 'new')", turn % 100),
        2 => format!("INSERT INTO visits (page, at) VALUES ('/product/{key}', NOW(3))"),
        3 => {
            "SELECT c.city, COUNT(*), SUM(o.total) FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.city".to_owned()
        }
        4 => format!("SELECT COUNT(*) FROM orders WHERE note LIKE '%{key}%'"),
        5 => format!("DELETE FROM visits WHERE id = {key}"),
        6..=9 => format!("SELECT id, made, total FROM orders WHERE customer = {key} ORDER BY made DESC LIMIT 10"),
        _ => format!("SELECT name, city FROM customers WHERE id = {key}"),
    }
}

/// A statement without an index, whose index was measured.
pub fn parcels(server: &Server) -> Result<(), String> {
    let mut sql = server.address.connect_to("shop").map_err(|error| error.to_string())?;
    let mut run = |statement: &str| sql.query_drop(statement).map_err(|error| format!("{statement}: {error}"));
    run("CREATE TABLE parcels (id INT PRIMARY KEY AUTO_INCREMENT, code INT NOT NULL, note VARCHAR(60))")?;
    run(
        "INSERT INTO parcels (code, note) SELECT a.product * 31 + b.product, 'parcel' FROM stock a, stock b WHERE b.product <= 20",
    )?;
    for code in 0..40 {
        run(&format!("SELECT note FROM parcels WHERE code = {} /*controller='parcels'*/", code * 31))?;
    }
    let found = "SELECT id FROM sys.advice WHERE kind = 'missing_index' AND table_name = 'parcels'";
    let id: Option<String> = sql.query_first(found).map_err(|error| error.to_string())?;
    let id = id.ok_or("there is no finding about the table")?;
    sql.query_drop(format!("MEASURE ADVICE '{id}'")).map_err(|error| error.to_string())
}

/// A session that has changed a row and does nothing more.
pub fn holder(server: &Server) -> Result<Conn, String> {
    let mut sql = server.address.connect_to("shop").map_err(|error| error.to_string())?;
    for statement in ["BEGIN", "UPDATE stock SET pieces = 0 WHERE product = 499", "UPDATE customers SET name = 'x' WHERE id = 1"]
    {
        sql.query_drop(statement).map_err(|error| format!("{statement}: {error}"))?;
    }
    Ok(sql)
}

/// A session that runs one statement on a thread; whether it succeeded.
pub fn spawn(server: &Server, statement: &'static str) -> Result<(u32, JoinHandle<bool>), String> {
    let mut sql = server.address.connect_to("shop").map_err(|error| error.to_string())?;
    let id = sql.connection_id();
    Ok((id, std::thread::spawn(move || sql.query_drop(statement).is_ok())))
}
