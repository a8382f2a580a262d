//! SHOW SERVER PROFILE, with real samples of a busy server.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Worker, database, digest, its text, the stack, samples.
type Line = (u64, Option<String>, Option<String>, Option<String>, String, u64);

#[test]
fn a_profile_names_statements_and_functions() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE p").unwrap();
    conn.query_drop("CREATE TABLE p.t (id INT PRIMARY KEY, c VARCHAR(100))").unwrap();
    conn.query_drop("SET SESSION cte_max_recursion_depth = 1000000").unwrap();
    conn.query_drop("INSERT INTO p.t WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 20000) SELECT a, REPEAT('x', 90) FROM n")
        .unwrap();
    let is_over = AtomicBool::new(false);
    let profile: Vec<Line> = std::thread::scope(|scope| {
        let busy = server.connect_to("p");
        scope.spawn(|| {
            let mut busy = busy;
            while !is_over.load(Ordering::Relaxed) {
                busy.query_drop("SELECT COUNT(*) FROM t WHERE c LIKE '%y%y%'").unwrap();
            }
        });
        // Another one is refused while the first runs.
        let mut second = server.connect();
        let refused = scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            second.query_drop("SHOW SERVER PROFILE FOR 1 SECOND").unwrap_err().to_string()
        });
        let profile = conn.query("SHOW SERVER PROFILE FOR 2 SECONDS AT 250 HERTZ").unwrap();
        is_over.store(true, Ordering::Relaxed);
        let refused = refused.join().unwrap();
        assert!(refused.contains("one at a time"), "{refused}");
        profile
    });
    let of = |wanted: &str| -> u64 {
        let is_wanted = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(wanted));
        profile.iter().filter(|line| is_wanted(&line.3)).map(|line| line.5).sum()
    };
    let all: u64 = profile.iter().map(|line| line.5).sum();
    let scans = of("`c` LIKE ?");
    // A worker without work polls for a while, which takes its time, too.
    assert!(all >= 50 && scans * 5 > all, "{scans} of {all}: {profile:#?}");
    let line = profile.iter().filter(|line| line.3.is_some()).max_by_key(|line| line.5).unwrap();
    assert_eq!((line.1.as_deref(), line.2.as_ref().map(String::len)), (Some("p"), Some(64)));
    let whole = profile
        .iter()
        .filter(|line| line.4.contains("server::session") && line.4.contains("exec::"))
        .map(|line| line.5)
        .sum::<u64>();
    assert!(whole * 2 > scans, "stacks reach from the operators to the session: {whole} of {all}: {}", line.4);
    // It can be killed, and another one runs after it.
    let mut killed = server.connect();
    let id = killed.connection_id();
    let waiting = std::thread::spawn(move || killed.query_drop("SHOW SERVER PROFILE FOR 60 SECONDS").unwrap_err());
    let end = Instant::now() + Duration::from_secs(30);
    while one::<u64>(
        &mut conn,
        &format!("SELECT COUNT(*) FROM performance_schema.processlist WHERE ID = {id} AND INFO LIKE 'SHOW SERVER%'"),
    ) == 0
    {
        assert!(Instant::now() < end);
    }
    conn.query_drop(format!("KILL QUERY {id}")).unwrap();
    assert_eq!(number(&waiting.join().unwrap()), 1317);
    conn.query_drop("SHOW SERVER PROFILE FOR 1 SECOND AT 10 HZ").unwrap();
    // Only for those who see all sessions.
    conn.query_drop("CREATE USER nobody").unwrap();
    let mut nobody = server.try_connect("nobody", None).unwrap();
    fails(&mut nobody, "SHOW SERVER PROFILE", 1227);
    fails(&mut nobody, "SHOW SERVER PROFILE FOR x", 1064);
}
