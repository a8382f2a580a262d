//! mysql_async at work, against a running server.
//!
//! usage: client_mysql_async HOST PORT USER PASSWORD [SOCKET]

use mysql_async::prelude::*;
use mysql_async::{
    ChangeUserOpts, Compression, Conn, Error, IsolationLevel, Opts, OptsBuilder, Pool, Row, TxOpts, Value, params,
};
use std::fmt::Debug;
use std::process::ExitCode;
use tests::Report;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const DATABASE: &str = "client_mysql_async";

struct To {
    host: String,
    port: u16,
    user: String,
    password: String,
    socket: String,
}

impl To {
    fn options(&self, database: Option<&str>) -> OptsBuilder {
        OptsBuilder::default()
            .ip_or_hostname(self.host.clone())
            .tcp_port(self.port)
            .user(Some(self.user.clone()))
            .pass(Some(self.password.clone()))
            .db_name(database)
            .prefer_socket(false)
            .max_allowed_packet(Some(64 << 20))
    }
}

fn same<T: PartialEq + Debug>(got: T, want: T) -> Outcome {
    if got == want { Ok(()) } else { Err(format!("got {got:?}, want {want:?}").into()) }
}

fn number<T>(result: mysql_async::Result<T>) -> u16 {
    match result {
        Err(Error::Server(e)) => e.code,
        _ => 0,
    }
}

fn put(report: &mut Report, name: &str, outcome: Outcome) {
    match outcome {
        Ok(()) => report.ok(format!("mysql_async.{name}")),
        Err(why) => report.fail(format!("mysql_async.{name}"), why),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, user, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: client_mysql_async HOST PORT USER PASSWORD [SOCKET]");
        return ExitCode::FAILURE;
    };
    let text = |n: usize| rest.get(n).cloned().unwrap_or_default();
    let port = port.parse().unwrap_or(3306);
    let to = To { host: host.clone(), port, user: user.clone(), password: text(0), socket: text(1) };
    let mut report = Report::new();
    let outcome = session(&to, &mut report).await;
    put(&mut report, "session", outcome);
    report.finish()
}

async fn session(to: &To, report: &mut Report) -> Outcome {
    let mut boot = Conn::new(to.options(None)).await?;
    boot.query_drop(format!("DROP DATABASE IF EXISTS {DATABASE}")).await?;
    boot.query_drop(format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")).await?;
    boot.disconnect().await?;
    let pool = Pool::new(to.options(Some(DATABASE)));
    let mut conn = pool.get_conn().await?;
    put(report, "create", create(&mut conn).await);
    put(report, "every_type", every_type(&mut conn).await);
    put(report, "batch", batch(&mut conn).await);
    put(report, "transactions", transactions(&mut conn).await);
    put(report, "multi_statements", multi_statements(&mut conn).await);
    put(report, "errors", errors(&mut conn).await);
    put(report, "large_packets", large_packets(&mut conn).await);
    put(report, "reset_ping_change_user", reset(&mut conn).await);
    drop(conn);
    put(report, "concurrent_increments", concurrent(&pool).await);
    put(report, "deadlock", deadlock(&pool).await);
    put(report, "dropped_transaction_rolls_back", dropped(&pool).await);
    put(report, "compress", compress(to).await);
    if !to.socket.is_empty() {
        put(report, "unix_socket", unix_socket(to).await);
    }
    pool.disconnect().await?;
    Ok(())
}

async fn create(conn: &mut Conn) -> Outcome {
    conn.query_drop(
        "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(100) UNIQUE, n INT, u BIGINT UNSIGNED, x DOUBLE, f FLOAT,
         m DECIMAL(10,2), b LONGBLOB, at DATETIME(6), ti TIME(3), z INT)",
    )
    .await?;
    Ok(())
}

async fn every_type(conn: &mut Conn) -> Outcome {
    let at = Value::Date(2024, 2, 29, 23, 59, 58, 123_456);
    let time = Value::Time(true, 1, 2, 3, 4, 500_000);
    conn.exec_drop(
        "INSERT INTO t (v,n,u,x,f,m,b,at,ti,z) VALUES (?,?,?,?,?,?,?,?,?,?)",
        ("日本😀'", -5, u64::MAX, 1.25, 0.5_f32, "3.50", vec![7u8; 300_000], at.clone(), time.clone(), None::<i32>),
    )
    .await?;
    same((conn.last_insert_id(), conn.affected_rows()), (Some(1), 1))?;
    let row: Option<Row> = conn.exec_first("SELECT v,n,u,x,f,m,at,ti,z,b FROM t WHERE id=:id", params! {"id" => 1}).await?;
    let values = row.ok_or("no row")?.unwrap();
    let blob = values[9].clone();
    let want = vec![
        Value::from("日本😀'"),
        Value::Int(-5),
        Value::UInt(u64::MAX),
        Value::Double(1.25),
        Value::Float(0.5),
        Value::from("3.50"),
        at,
        time,
        Value::NULL,
    ];
    same(&values[..9], &want[..])?;
    same(blob, Value::Bytes(vec![7; 300_000]))
}

async fn batch(conn: &mut Conn) -> Outcome {
    let rows = (0..100).map(|i| params! {"v" => format!("k{i}"), "n" => i});
    conn.exec_batch("INSERT INTO t (v,n) VALUES (:v,:n)", rows).await?;
    let sum: Option<(i64, String)> = conn.query_first("SELECT COUNT(*), CAST(SUM(n) AS CHAR) FROM t WHERE n >= 0").await?;
    same(sum, Some((100, "4950".into())))
}

async fn transactions(conn: &mut Conn) -> Outcome {
    let mut options = TxOpts::default();
    options.with_isolation_level(IsolationLevel::ReadCommitted).with_consistent_snapshot(false);
    let mut tx = conn.start_transaction(options).await?;
    tx.query_drop("DELETE FROM t").await?;
    tx.rollback().await?;
    let count: Option<i64> = conn.query_first("SELECT COUNT(*) FROM t").await?;
    same(count, Some(101))?;
    let mut options = TxOpts::default();
    options.with_readonly(true).with_consistent_snapshot(true);
    let mut tx = conn.start_transaction(options).await?;
    same(number(tx.query_drop("DELETE FROM t").await), 1792)?;
    tx.commit().await?;
    Ok(())
}

async fn multi_statements(conn: &mut Conn) -> Outcome {
    let mut result = conn.query_iter("SELECT 1; SELECT 2; SELECT 3").await?;
    let mut sets = 0;
    while !result.is_empty() {
        let _: Vec<Row> = result.collect().await?;
        sets += 1;
    }
    drop(result);
    same(sets, 3)?;
    // Whatever ends a text is no statement.
    same(conn.query_first("SELECT 7;; ; ").await?, Some(7))?;
    same(number(conn.query_drop(" ; ").await), 1065)
}

async fn errors(conn: &mut Conn) -> Outcome {
    same(number(conn.query_drop("INSERT INTO t (v) VALUES ('k1')").await), 1062)?;
    same(number(conn.query_drop("SELEC 1").await), 1064)?;
    same(number(conn.exec_drop("SELECT * FROM nosuch WHERE a=?", (1,)).await), 1146)?;
    same(number(conn.exec_drop("SELECT nosuch FROM t WHERE id=?", (1,)).await), 1054)?;
    same(number(conn.exec_drop("INSERT INTO t (n) VALUES (?)", (99_999_999_999_i64,)).await), 1264)?;
    same(number(conn.exec_drop("INSERT INTO t (v) VALUES (?)", ("k1",)).await), 1062)
}

async fn large_packets(conn: &mut Conn) -> Outcome {
    let big = vec![9u8; 17_000_000];
    conn.exec_drop("INSERT INTO t (v,b) VALUES ('big',?)", (big.clone(),)).await?;
    let back: Option<Vec<u8>> = conn.exec_first("SELECT b FROM t WHERE v=?", ("big",)).await?;
    if back != Some(big) {
        return Err("the value differs".into());
    }
    conn.query_drop("DELETE FROM t WHERE v='big'").await?;
    Ok(())
}

async fn reset(conn: &mut Conn) -> Outcome {
    conn.ping().await?;
    conn.query_drop("SET @left = 1").await?;
    conn.reset().await?;
    let left: Option<Value> = conn.query_first("SELECT @left").await?;
    same(left, Some(Value::NULL))?;
    conn.change_user(ChangeUserOpts::default()).await?;
    let one: Option<i32> = conn.query_first("SELECT 1").await?;
    same(one, Some(1))
}

async fn concurrent(pool: &Pool) -> Outcome {
    pool.get_conn().await?.query_drop("UPDATE t SET n=0 WHERE v='k6'").await?;
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let mut conn = pool.get_conn().await?;
                for _ in 0..50 {
                    conn.exec_drop("UPDATE t SET n=n+1 WHERE v=?", ("k6",)).await?;
                }
                Ok::<(), Error>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let n: Option<i32> = pool.get_conn().await?.query_first("SELECT n FROM t WHERE v='k6'").await?;
    same(n, Some(400))
}

async fn deadlock(pool: &Pool) -> Outcome {
    let (mut a, mut b) = (pool.get_conn().await?, pool.get_conn().await?);
    let mut ta = a.start_transaction(TxOpts::default()).await?;
    let mut tb = b.start_transaction(TxOpts::default()).await?;
    ta.query_drop("UPDATE t SET n=n+1 WHERE v='k10'").await?;
    tb.query_drop("UPDATE t SET n=n+1 WHERE v='k11'").await?;
    let first = async {
        let n = number(ta.query_drop("UPDATE t SET n=n+1 WHERE v='k11'").await);
        ta.rollback().await.map(|()| n)
    };
    let second = async {
        let n = number(tb.query_drop("UPDATE t SET n=n+1 WHERE v='k10'").await);
        tb.rollback().await.map(|()| n)
    };
    let (first, second) = tokio::join!(first, second);
    let mut numbers = [first?, second?];
    numbers.sort_unstable();
    same(numbers, [0, 1213])
}

async fn dropped(pool: &Pool) -> Outcome {
    let mut conn = pool.get_conn().await?;
    let mut tx = conn.start_transaction(TxOpts::default()).await?;
    tx.query_drop("UPDATE t SET n=-1 WHERE v='k20'").await?;
    drop(tx);
    drop(conn);
    let mut conn = pool.get_conn().await?;
    conn.query_drop("UPDATE t SET x=1 WHERE v='k20'").await?;
    let n: Option<i32> = conn.query_first("SELECT n FROM t WHERE v='k20'").await?;
    same(n, Some(20))
}

async fn compress(to: &To) -> Outcome {
    let mut conn = Conn::new(to.options(Some(DATABASE)).compression(Some(Compression::default()))).await?;
    let text: Option<String> = conn.query_first("SELECT REPEAT('a', 200000)").await?;
    same(text.map(|t| t.len()), Some(200_000))?;
    let status: Option<(String, String)> = conn.query_first("SHOW STATUS LIKE 'Compression'").await?;
    same(status.map(|(_, value)| value), Some("ON".to_string()))?;
    let length: Option<u32> = conn.exec_first("SELECT LENGTH(?)", ("b".repeat(300_000),)).await?;
    same(length, Some(300_000))?;
    conn.change_user(ChangeUserOpts::default()).await?;
    let one: Option<i32> = conn.exec_first("SELECT ? + 1", (1,)).await?;
    same(one, Some(2))?;
    conn.disconnect().await?;
    Ok(())
}

async fn unix_socket(to: &To) -> Outcome {
    let options: Opts = to.options(None).socket(Some(to.socket.clone())).prefer_socket(true).into();
    let mut conn = Conn::new(options).await?;
    let one: Option<i32> = conn.exec_first("SELECT ? + 1", (1,)).await?;
    same(one, Some(2))?;
    conn.disconnect().await?;
    Ok(())
}
