//! Writers that follow the server that can be written, and know what was acknowledged.

use super::{Outcome, text};
use mysql::prelude::Queryable;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const WRITERS: u64 = 3;

/// Threads that write until they are stopped.
pub struct Writers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Outcome<u64>>>,
}

impl Writers {
    /// `ports` are of the two servers; the first is written first.
    pub fn start(ports: [u16; 2]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = |writer: u64| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || write(writer, ports, &stop))
        };
        Self { threads: (0..WRITERS).map(thread).collect(), stop }
    }

    /// Gives the number of each writer's last transaction that was acknowledged.
    ///
    /// # Errors
    /// A writer met an error that a move does not explain.
    pub fn stop(self) -> Outcome<Vec<u64>> {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a writer panicked".to_owned()))).collect()
    }
}

/// Has the server each acknowledged transaction, and not one twice?
///
/// # Errors
/// It has not.
pub fn check(client: &mut mysql::Conn, acknowledged: &[u64]) -> Outcome {
    for (writer, last) in acknowledged.iter().enumerate() {
        let n: Option<u64> = client.query_first(format!("SELECT n FROM shop.done WHERE writer = {writer}")).map_err(text)?;
        // The last one may have been committed without its answer having come.
        if !n.is_some_and(|n| n == *last || n == last + 1) || *last < 10 {
            return Err(format!("writer {writer}: {n:?} transactions, and {last} were acknowledged"));
        }
    }
    Ok(())
}

fn write(writer: u64, ports: [u16; 2], stop: &AtomicBool) -> Outcome<u64> {
    let (mut at, mut done, mut state) = (0, 0, writer.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut client = connect(ports[at])?;
    while !stop.load(Ordering::SeqCst) {
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let statements = change(&mut random);
        match transaction(&mut client, writer, done + 1, &statements) {
            Ok(()) => done += 1,
            Err(error) => match kind(&error) {
                // A deadlock, a lock waited for in vain, a key that is there, a parent that is gone.
                Kind::Refused => client.query_drop("ROLLBACK").map_err(text)?,
                Kind::Elsewhere => {
                    std::thread::sleep(Duration::from_millis(5));
                    at = 1 - at;
                    client = connect(ports[at])?;
                    // A transaction whose answer was lost is not done again.
                    let n: Option<u64> =
                        client.query_first(format!("SELECT n FROM shop.done WHERE writer = {writer}")).unwrap_or_default();
                    done = done.max(n.unwrap_or(0));
                }
                Kind::Unexpected => return Err(format!("{statements:?}: {error}")),
            },
        }
    }
    Ok(done)
}

/// What an error tells a writer.
enum Kind {
    /// The transaction is to be given up.
    Refused,
    /// The other server is the one that is written, or will be: this one is read-only, has no such tables yet, or has closed the connection.
    Elsewhere,
    Unexpected,
}

fn kind(error: &mysql::Error) -> Kind {
    match error {
        mysql::Error::MySqlError(error) => match error.code {
            1205 | 1213 | 1062 | 1452 | 1451 => Kind::Refused,
            1290 | 1792 | 1049 | 1146 | 1927 | 3169 => Kind::Elsewhere,
            _ => Kind::Unexpected,
        },
        mysql::Error::IoError(_) | mysql::Error::CodecError(_) => Kind::Elsewhere,
        _ => Kind::Unexpected,
    }
}

fn connect(port: u16) -> Outcome<mysql::Conn> {
    let options =
        mysql::OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(port).user(Some("root")).prefer_socket(false);
    mysql::Conn::new(options).map_err(text)
}

fn transaction(client: &mut mysql::Conn, writer: u64, number: u64, statements: &[String]) -> Result<(), mysql::Error> {
    client.query_drop("BEGIN")?;
    client.query_drop(format!("INSERT INTO shop.done VALUES ({writer}, {number}) ON DUPLICATE KEY UPDATE n = {number}"))?;
    for statement in statements {
        client.query_drop(statement)?;
    }
    client.query_drop("COMMIT")
}

/// A transaction of an application.
fn change(random: &mut impl FnMut() -> u64) -> Vec<String> {
    let (a, b) = (random() % 200 + 1, random() % 200 + 1);
    let (customer, order, n) = (random() % 2500 + 1, random() % 25_000 + 1, random() % 1000);
    match random() % 12 {
        // Unique values that two rows exchange.
        0 | 1 => vec![
            format!(
                "SET @a = (SELECT seat FROM shop.seats WHERE id = {a} FOR UPDATE), @b = (SELECT seat FROM shop.seats WHERE id = {b} FOR UPDATE)"
            ),
            format!("UPDATE shop.seats SET seat = NULL WHERE id = {a}"),
            format!("UPDATE shop.seats SET seat = @a WHERE id = {b}"),
            format!("UPDATE shop.seats SET seat = IF({a} = {b}, @a, @b) WHERE id = {a}"),
        ],
        2 => vec![format!("INSERT INTO shop.customers (name, email) VALUES ('New {n}', 'n{}@ex.org')", random())],
        3 => vec![format!("DELETE FROM shop.customers WHERE id = {customer}")],
        // The key changes, and with it the orders'.
        4 => vec![format!("UPDATE shop.customers SET id = id + 100000 WHERE id = {customer}")],
        5 | 6 => vec![
            format!(
                "INSERT INTO shop.orders (customer, total, details) SELECT MIN(id), {n}, '[{n}]' FROM shop.customers WHERE id >= {customer}"
            ),
            "INSERT INTO shop.items VALUES (LAST_INSERT_ID(), 1, 'one'), (LAST_INSERT_ID(), 2, 'two')".to_owned(),
        ],
        7 | 8 => {
            vec![format!("UPDATE shop.orders SET state = 1 + {n} % 3, total = total + 0.01, small = {n} / 7 WHERE id = {order}")]
        }
        9 => vec![format!("DELETE FROM shop.orders WHERE id = {order}")],
        10 => vec![
            format!("REPLACE INTO shop.words VALUES (CONCAT('w', LEFT(SHA2({order}, 256), 32)), {n} / 8, {n})"),
            format!("UPDATE shop.sizes SET n = n + 1 WHERE size = ELT(1 + {n} % 3, 's', 'm', 'l')"),
        ],
        _ => vec![
            format!(
                "REPLACE INTO shop.files VALUES (UNHEX(LEFT(SHA2({}, 256), 32)), REPEAT(UNHEX('fe00'), {n} * 20), REPEAT('ß', {n}))",
                n % 60
            ),
            format!("DELETE FROM shop.files WHERE hash = UNHEX(LEFT(SHA2({}, 256), 32))", random() % 60),
        ],
    }
}
