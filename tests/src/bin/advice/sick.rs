//! Pathologies, each on a table or as an account of its own.

use crate::{ROWS, text};
use mysql::prelude::Queryable;
use mysql::{Conn, Result};
use std::sync::Barrier;
use std::time::Duration;
use tests::Server;

/// Executions of a statement that is wrong.
const TIMES: u32 = 25;
const HOT_SESSIONS: usize = 4;
const HOT_TIMES: u32 = 40;
const DEADLOCKS: u32 = 6;

/// Tables with `ROWS` rows: their columns beside `id`, and the values of row n.
const LARGE: &[(&str, &str, &str)] = &[
    ("by_code", "code INT NOT NULL, filler VARCHAR(60) NOT NULL", "n * 7 % 6000, REPEAT('x', 50)"),
    (
        "in_groups",
        "grp INT NOT NULL, amount INT NOT NULL, a VARCHAR(60) NOT NULL, b VARCHAR(60) NOT NULL, KEY (grp)",
        "n % 40, n, REPEAT('a', 50), 'b'",
    ),
    ("scored", "score INT NOT NULL, filler VARCHAR(60) NOT NULL", "n * 13 % 10007, REPEAT('x', 50)"),
    ("counted", "filler VARCHAR(60) NOT NULL", "REPEAT('x', 50)"),
    ("phones", "phone VARCHAR(20) NOT NULL, filler VARCHAR(60) NOT NULL, KEY (phone)", "CONCAT('0', n), REPEAT('x', 50)"),
    (
        "dated",
        "made DATETIME NOT NULL, filler VARCHAR(60) NOT NULL, KEY (made)",
        "'2026-01-01' + INTERVAL n * 10 MINUTE, REPEAT('x', 50)",
    ),
    ("paged", "title VARCHAR(60) NOT NULL, filler VARCHAR(60) NOT NULL", "CONCAT('title ', n), REPEAT('x', 50)"),
    ("flipped", "code INT NOT NULL, filler VARCHAR(60) NOT NULL, KEY (code)", "n * 7 % 6000, REPEAT('x', 50)"),
    ("authors", "name VARCHAR(40) NOT NULL", "CONCAT('Name ', n)"),
    ("books", "author INT NOT NULL, title VARCHAR(40) NOT NULL, KEY (author)", "1 + n * 31 % 9001, CONCAT('Title ', n)"),
];

pub fn load(conn: &mut Conn) -> Result<()> {
    conn.query_drop("CREATE DATABASE sick")?;
    conn.query_drop("USE sick")?;
    conn.query_drop("SET cte_max_recursion_depth = 1000000")?;
    for (name, columns, values) in LARGE {
        conn.query_drop(format!("CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY, {columns})"))?;
        conn.query_drop(format!(
            "INSERT INTO {name} WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {ROWS}) SELECT n, {values} FROM n"
        ))?;
        conn.query_drop(format!("ANALYZE TABLE {name}"))?;
    }
    for statement in [
        "CREATE TABLE one_by_one (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL)",
        "CREATE TABLE committed (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL)",
        "CREATE TABLE hot (id INT PRIMARY KEY, n INT NOT NULL)",
        "INSERT INTO hot VALUES (1, 0), (2, 0)",
        "CREATE TABLE crossed (id INT PRIMARY KEY, n INT NOT NULL)",
        "INSERT INTO crossed VALUES (1, 0), (2, 0)",
        "CREATE TABLE held (id INT PRIMARY KEY, n INT NOT NULL)",
        "INSERT INTO held VALUES (1, 0)",
        "CREATE TABLE twice (id INT PRIMARY KEY, a INT, KEY first (a), KEY second (a))",
        "CREATE TABLE longer (id INT PRIMARY KEY, a INT, b INT, KEY short (a), KEY wide (a, b))",
        "CREATE TABLE runs_out (id SMALLINT AUTO_INCREMENT PRIMARY KEY, n INT) AUTO_INCREMENT = 30000",
        "INSERT INTO runs_out (n) VALUES (1)",
        "CREATE TABLE without_key (a INT, b INT)",
        "CREATE TABLE articles (id INT AUTO_INCREMENT PRIMARY KEY, title VARCHAR(60) NOT NULL, body MEDIUMTEXT NOT NULL)",
        "INSERT INTO articles WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400) \
         SELECT n, CONCAT('Article ', n), REPEAT('long text ', 700) FROM n",
        "ANALYZE TABLE articles",
        "CREATE USER chatty, short_lived",
        "GRANT SELECT ON sound.* TO chatty, short_lived",
    ] {
        conn.query_drop(statement)?;
    }
    Ok(())
}

/// A transaction that is open while its client does nothing.
pub fn idle(server: &Server) -> Result<Conn> {
    let mut conn = server.address.connect_to("sick")?;
    conn.query_drop("START TRANSACTION")?;
    conn.query_drop("UPDATE held SET n = 1 WHERE id = 1")?;
    Ok(conn)
}

/// Findings that come with a seeded one: without its index the flipped statement reads the whole table.
pub fn may_be((kind, of): &(String, String)) -> bool {
    (kind.as_str(), of.as_str()) == ("missing_index", "sick.flipped")
}

/// Runs all pathologies; the kinds and tables, or accounts, of the findings that they must give.
pub fn seed(server: &Server) -> std::result::Result<Vec<(String, String)>, String> {
    let mut conn = server.address.connect_to("sick").map_err(text)?;
    n_plus_one(&mut conn).map_err(text)?;
    statements(&mut conn).map_err(text)?;
    flip(&mut conn).map_err(text)?;
    rows(&mut conn).map_err(text)?;
    chatter(server).map_err(text)?;
    hot(server)?;
    crossed(server)?;
    let expected = [
        ("n_plus_one", "sick.authors"),
        ("missing_index", "sick.by_code"),
        ("covering_index", "sick.in_groups"),
        ("order_without_index", "sick.scored"),
        ("repeated_count", "sick.counted"),
        ("implicit_cast", "sick.phones"),
        ("function_on_column", "sick.dated"),
        ("deep_offset", "sick.paged"),
        ("plan_flip", "sick.flipped"),
        ("needless_join", "sick.authors"),
        ("dear_columns", "sick.articles"),
        ("insert_row_by_row", "sick.one_by_one"),
        ("commit_row_by_row", "sick.committed"),
        ("hot_row", "sick.hot"),
        ("deadlock", "sick.crossed"),
        ("duplicate_index", "sick.twice"),
        ("redundant_index", "sick.longer"),
        ("auto_increment", "sick.runs_out"),
        ("no_primary_key", "sick.without_key"),
        ("chatter", "chatty"),
        ("reconnect", "short_lived"),
        ("idle_transaction", "root"),
    ];
    Ok(expected.map(|(kind, of)| (kind.to_owned(), of.to_owned())).into())
}

/// A list, and then a question for each of its rows.
pub fn n_plus_one(conn: &mut Conn) -> Result<()> {
    for page in 0..3 {
        let books: Vec<(u32, u32)> =
            conn.exec("SELECT id, author FROM sick.books WHERE id BETWEEN ? AND ?", (page * 1000 + 1, page * 1000 + 40))?;
        for (_, author) in books {
            conn.exec_drop("SELECT id, name FROM sick.authors WHERE id = ?", (author,))?;
        }
    }
    Ok(())
}

fn statements(conn: &mut Conn) -> Result<()> {
    for n in 1..=TIMES {
        conn.query_drop(format!("SELECT * FROM by_code WHERE code = {}", n * 7))?;
        conn.query_drop(format!("SELECT id, score FROM scored ORDER BY score DESC LIMIT {}", 5 + n % 5))?;
        conn.query_drop("SELECT COUNT(*) FROM counted")?;
        conn.query_drop(format!("SELECT * FROM phones WHERE phone = {n}"))?;
        conn.query_drop(format!("SELECT * FROM dated WHERE DATE(made) = '2026-02-{:02}'", 1 + n % 28))?;
        conn.query_drop(format!("SELECT id, title FROM paged ORDER BY id LIMIT 10 OFFSET {}", 8000 + n * 10))?;
        conn.query_drop(format!("SELECT b.title FROM books b LEFT JOIN authors a ON a.id = b.author WHERE b.id = {n}"))?;
        conn.query_drop(format!("SELECT id, title, body FROM articles WHERE id BETWEEN {n} AND {}", n + 49))?;
    }
    (0..80).try_for_each(|n| conn.exec_drop("SELECT SUM(amount) FROM in_groups WHERE grp = ?", (n % 40,)))
}

/// The index of a statement's plan is taken away.
fn flip(conn: &mut Conn) -> Result<()> {
    let ask = |conn: &mut Conn| (1..=TIMES).try_for_each(|n| conn.query_drop(format!("SELECT * FROM flipped WHERE code = {n}")));
    ask(conn)?;
    conn.query_drop("ALTER TABLE flipped ALTER INDEX code INVISIBLE")?;
    ask(conn)
}

/// Rows one by one: in one transaction, and each in its own.
fn rows(conn: &mut Conn) -> Result<()> {
    conn.query_drop("START TRANSACTION")?;
    (0..300).try_for_each(|n| conn.query_drop(format!("INSERT INTO one_by_one (n) VALUES ({n})")))?;
    conn.query_drop("COMMIT")?;
    (0..300).try_for_each(|n| conn.exec_drop("INSERT INTO committed (n) VALUES (?)", (n,)))
}

fn chatter(server: &Server) -> Result<()> {
    let account = |name: &str| server.address.options().user(Some(name.to_owned())).pass(Some("")).db_name(Some("sound"));
    let mut conn = Conn::new(account("chatty"))?;
    for n in 1..=300 {
        conn.query_drop("SET autocommit = 1")?;
        conn.query_drop(format!("SELECT name FROM users WHERE id = {n}"))?;
        conn.query_drop("SHOW WARNINGS")?;
    }
    for n in 1..=250 {
        let mut conn = Conn::new(account("short_lived"))?;
        conn.query_drop(format!("SELECT name FROM users WHERE id = {n}"))?;
    }
    Ok(())
}

fn together(sessions: usize, run: impl Fn(usize) -> std::result::Result<(), String> + Sync) -> std::result::Result<(), String> {
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..sessions).map(|session| scope.spawn(move || run(session))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a session panicked".to_owned())?)
    })
}

/// All sessions change one row and hold it for a while.
fn hot(server: &Server) -> std::result::Result<(), String> {
    together(HOT_SESSIONS, |_| {
        let mut conn = server.address.connect_to("sick").map_err(text)?;
        for _ in 0..HOT_TIMES {
            conn.query_drop("START TRANSACTION").map_err(text)?;
            conn.query_drop("UPDATE hot SET n = n + 1 WHERE id = 1").map_err(text)?;
            std::thread::sleep(Duration::from_millis(2));
            conn.query_drop("COMMIT").map_err(text)?;
        }
        Ok(())
    })
}

/// Two sessions lock two rows in opposite orders.
fn crossed(server: &Server) -> std::result::Result<(), String> {
    let barrier = Barrier::new(2);
    together(2, |session| {
        let mut conn = server.address.connect_to("sick").map_err(text)?;
        let (first, second) = if session == 0 { (1, 2) } else { (2, 1) };
        for _ in 0..DEADLOCKS {
            conn.query_drop("START TRANSACTION").map_err(text)?;
            let held = conn.query_drop(format!("UPDATE crossed SET n = n + 1 WHERE id = {first}"));
            barrier.wait();
            // One of the two fails, which is what this is about.
            let _ = conn.query_drop(format!("UPDATE crossed SET n = n + 1 WHERE id = {second}"));
            conn.query_drop("ROLLBACK").map_err(text)?;
            barrier.wait();
            held.map_err(text)?;
        }
        Ok(())
    })
}
