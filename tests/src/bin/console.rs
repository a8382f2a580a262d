//! The console over real HTTP.
//!
//! 1. Without a login nothing of the server can be seen; a wrong password, an account without PROCESS and a locked one are refused.
//! 2. With a login every page answers with the truth: numbers move, KILL works, plans come, a REVOKE ends the login.
//! 3. Changes need the token of the page and the page's own origin.
//! 4. Malformed, oversized and slow requests get clear errors and hold up nobody.
//! 5. `/metrics`: who may read what, in both formats.
//! 6. A taken port does not stop the server, and curves survive a restart.
//!
//! E1: whatever is waited for is asked for again and again, for a minute at most; no time is measured.

use mysql::Conn;
use mysql::prelude::Queryable;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tests::http::{Answer, Browser};
use tests::server::console_address;
use tests::{Report, Server, ServerOptions};

type Outcome<T = ()> = Result<T, String>;

const PATIENCE: Duration = Duration::from_secs(60);

/// Pages that need a login, as a GET.
const PAGES: &[&str] = &[
    "session",
    "now",
    "history?span=hour",
    "history?span=week",
    "statements",
    "sessions",
    "locks",
    "tables",
    "table?schema=shop&name=orders",
    "advice",
    "engine",
    "profile?seconds=1",
    "settings",
    "settings?show=changed",
];

fn main() -> ExitCode {
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-console-{}", std::process::id()));
    if let Err(why) = run(&directory, &mut report) {
        report.fail("console", why);
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

fn run(directory: &Path, report: &mut Report) -> Outcome {
    let mut options = ServerOptions { buffer_pool: "32M".into(), ..ServerOptions::new(directory) };
    options.extra = ["--console", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let server = Server::start(&options)?;
    let address = console_address(&server)?;
    let mut sql = connect(&server)?;
    prepare(&mut sql)?;
    let nobody = Browser::new(&address);
    report.case("without a login nothing is seen", || logged_out(&nobody));
    report.case("who may log in", || logins(&nobody, &mut sql));
    let mut admin = nobody.clone();
    log_in(&mut admin, "admin", "right")?;
    report.case("every page answers", || pages(&admin));
    report.case("numbers move", || numbers_move(&admin, &mut sql));
    report.case("statements and their plans", || statements(&admin, &mut sql));
    report.case("lists are cut, ordered and searched by the server", || lists(&admin));
    report.case("changes need the token and the page's origin", || forgery(&admin, &server));
    report.case("KILL", || kill(&admin, &server));
    report.case("who waits for whom", || locks(&admin, &server));
    report.case("REVOKE and DROP end logins", || revoked(&nobody, &mut sql));
    report.case("logging out", || log_out(&nobody));
    report.case("bad requests get clear errors", || bad_requests(&admin));
    report.case("slow browsers hold up nobody", || slow(&admin, &server));
    report.case("metrics", || metrics(&nobody, &admin, &mut sql));
    report.case("a taken port does not stop the server", || taken(directory, &address));
    report.case("curves survive a restart", || {
        wait_for("a point of the hour", || Ok(points(&admin, "history?span=hour")? > 0))?;
        let before = points(&admin, "history?span=hour")?;
        drop(sql);
        server.stop()?;
        let server = Server::start(&options)?;
        let mut again = Browser::new(&console_address(&server)?);
        log_in(&mut again, "admin", "right")?;
        let after = points(&again, "history?span=hour")?;
        server.stop()?;
        same(true, after >= before)
    });
    Ok(())
}

fn connect(server: &Server) -> Outcome<Conn> {
    server.connect().map_err(|error| error.to_string())
}

fn execute(sql: &mut Conn, statement: &str) -> Outcome {
    sql.query_drop(statement).map_err(|error| format!("{statement}: {error}"))
}

fn prepare(sql: &mut Conn) -> Outcome {
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, customer INT, note VARCHAR(50), KEY (customer))",
        "INSERT INTO shop.orders (customer, note) VALUES (1, 'secret note'), (2, 'b'), (3, 'c')",
        "CREATE USER admin@localhost IDENTIFIED BY 'right'",
        "GRANT ALL ON *.* TO admin@localhost WITH GRANT OPTION",
        "CREATE USER old@localhost IDENTIFIED WITH mysql_native_password BY 'native'",
        "GRANT PROCESS ON *.* TO old@localhost",
        "CREATE USER plain@localhost IDENTIFIED BY 'right'",
        "GRANT SELECT ON *.* TO plain@localhost",
        "CREATE USER locked@localhost IDENTIFIED BY 'right' ACCOUNT LOCK",
        "GRANT PROCESS ON *.* TO locked@localhost",
        "CREATE USER elsewhere@'10.1.2.3' IDENTIFIED BY 'right'",
        "GRANT PROCESS ON *.* TO elsewhere@'10.1.2.3'",
    ] {
        execute(sql, statement)?;
    }
    Ok(())
}

fn log_in(browser: &mut Browser, user: &str, password: &str) -> Outcome {
    status(200, &browser.log_in(user, password)?)
}

fn status(expected: u16, answer: &Answer) -> Outcome {
    if answer.status == expected { Ok(()) } else { Err(format!("{} instead of {expected}: {}", answer.status, answer.body)) }
}

fn same<T: PartialEq + std::fmt::Debug>(expected: T, found: T) -> Outcome {
    if expected == found { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

fn holds(what: &str, is_so: bool) -> Outcome {
    if is_so { Ok(()) } else { Err(what.to_owned()) }
}

/// E1
fn wait_for(what: &str, mut is_there: impl FnMut() -> Outcome<bool>) -> Outcome {
    let until = Instant::now() + PATIENCE;
    while !is_there()? {
        if Instant::now() > until {
            return Err(format!("{what} did not come"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn logged_out(nobody: &Browser) -> Outcome {
    for page in PAGES {
        let answer = nobody.get(&format!("/api/{page}"))?;
        status(401, &answer).map_err(|why| format!("{page}: {why}"))?;
        same(r#"{"error":"log in first"}"#, answer.body.as_str())?;
    }
    for page in ["kill", "analyze", "dismiss", "logout"] {
        status(401, &nobody.post(&format!("/api/{page}"), "{}")?)?;
    }
    let forged = Browser { cookie: nobody_cookie(&nobody.address), ..nobody.clone() };
    status(401, &forged.get("/api/session")?)?;
    let page = nobody.get("/")?;
    status(200, &page)?;
    for (name, part) in [
        ("content-security-policy", "frame-ancestors 'none'"),
        ("content-security-policy", "default-src 'none'"),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
    ] {
        holds(name, page.header(name).is_some_and(|value| value.contains(part)))?;
    }
    holds("the page names nothing of the server", !page.body.contains("8.4") && !page.body.contains("orders"))?;
    status(200, &nobody.get("/assets/app.js")?)?;
    same("ok\n", nobody.get("/healthz")?.body.as_str())?;
    same("ready\n", nobody.get("/readyz")?.body.as_str())
}

/// A cookie of the right name with a token that nobody was given.
fn nobody_cookie(address: &str) -> String {
    let port = address.rsplit(':').next().unwrap_or_default();
    format!("heddle_{port}={}", "ab".repeat(32))
}

fn logins(nobody: &Browser, sql: &mut Conn) -> Outcome {
    let check = |user: &str, password: &str, expected: u16, part: &str| {
        let answer = nobody.clone().log_in(user, password)?;
        status(expected, &answer).map_err(|why| format!("{user}: {why}"))?;
        holds(&format!("{user}: {}", answer.body), answer.body.contains(part))
    };
    check("admin", "wrong", 401, "Access denied for user 'admin'@'localhost'")?;
    check("nobody", "right", 401, "Access denied for user 'nobody'@'localhost'")?;
    check("admin", "", 401, "using password: NO")?;
    check("plain", "right", 403, "PROCESS")?;
    check("locked", "right", 401, "locked")?;
    check("elsewhere", "right", 401, "Access denied")?;
    check("old", "native", 200, "old@localhost")?;
    check("old", "wrong", 401, "Access denied")?;
    check(&"x".repeat(300), "right", 401, "Access denied")?;
    for body in ["", "{}", "[]", "{\"user\":1,\"password\":2}", "{\"user\":\"admin\"", "\u{0}"] {
        status(400, &nobody.post_with("/api/login", body, "")?)?;
    }
    // Failures are counted as those of any client: three of them lock this account.
    execute(sql, "CREATE USER guessed@localhost IDENTIFIED BY 'right' FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED")?;
    execute(sql, "GRANT PROCESS ON *.* TO guessed@localhost")?;
    for _ in 0..2 {
        check("guessed", "wrong", 401, "Access denied")?;
    }
    check("guessed", "wrong", 401, "blocked")?;
    check("guessed", "right", 401, "blocked")?;
    let answer = nobody.clone().log_in("admin", "right")?;
    let cookie = answer.header("set-cookie").unwrap_or_default().to_owned();
    let has = |part: &str| cookie.contains(part);
    holds(&cookie, has("; HttpOnly") && has("; SameSite=Strict") && has("; Path=/") && !has("Secure"))
}

fn pages(admin: &Browser) -> Outcome {
    for page in PAGES {
        let answer = admin.get(&format!("/api/{page}"))?;
        status(200, &answer).map_err(|why| format!("{page}: {why}"))?;
        let made = answer.json()?;
        // Parts of a page may have the server's error in their place: not for this account.
        holds(&format!("{page}: {}", answer.body), !answer.body.contains("\"error\""))?;
        holds(page, made.is_object())?;
        same(Some("no-store"), answer.header("cache-control"))?;
    }
    let settings = admin.get("/api/settings?find=innodb_buffer_pool_size")?.json()?;
    same(&Value::from("33554432"), &settings["rows"][0]["value"])?;
    same(&Value::from(true), &settings["rows"][0]["changed"])?;
    let table = admin.get("/api/table?schema=shop&name=orders")?.json()?;
    holds("definition", table["definition"].as_str().is_some_and(|text| text.contains("CREATE TABLE `orders`")))?;
    same(2, table["indexes"].as_array().map_or(0, Vec::len))?;
    let tables = admin.get("/api/tables?find=orders")?.json()?;
    same(&Value::from("shop"), &tables["rows"][0]["schema"])?;
    let engine = admin.get("/api/engine")?.json()?;
    holds("threads", engine["threads"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == "worker-0")))?;
    status(404, &admin.get("/api/nothing")?)?;
    status(404, &admin.get("/nothing")?)
}

fn points(browser: &Browser, page: &str) -> Outcome<usize> {
    let answer = browser.get(&format!("/api/{page}"))?;
    status(200, &answer)?;
    Ok(answer.json()?["points"].as_array().map_or(0, Vec::len))
}

fn numbers_move(admin: &Browser, sql: &mut Conn) -> Outcome {
    let questions = || -> Outcome<u64> {
        let metrics = admin.get("/metrics")?;
        status(200, &metrics)?;
        let line = metrics.body.lines().find(|line| line.starts_with("mysql_global_status_questions "));
        line.and_then(|line| line.split(' ').nth(1)?.parse().ok()).ok_or_else(|| "no questions".to_owned())
    };
    let before = questions()?;
    for _ in 0..100 {
        execute(sql, "SELECT COUNT(*) FROM shop.orders")?;
    }
    holds("questions", questions()? >= before + 100)?;
    wait_for("a point with queries", || {
        execute(sql, "SELECT 1")?;
        let now = admin.get("/api/now")?.json()?;
        let place = now["names"].as_array().and_then(|names| names.iter().position(|name| name == "queries"));
        let place = place.ok_or("there is a curve of queries")? + 1;
        let points = now["points"].as_array().cloned().unwrap_or_default();
        Ok(points.iter().any(|point| point[place].as_f64().is_some_and(|rate| rate > 0.0)))
    })
}

fn statements(admin: &Browser, sql: &mut Conn) -> Outcome {
    for n in 0..5 {
        execute(sql, &format!("SELECT note FROM shop.orders WHERE customer = {n} OR id = {n}"))?;
    }
    let found = admin.get("/api/statements?find=%60note%60+FROM&order=count")?.json()?;
    let row = &found["rows"][0];
    same(&Value::from(5), &row["count"])?;
    let digest = row["digest"].as_str().ok_or("it has a digest")?;
    let one = admin.get(&format!("/api/statement?digest={digest}&schema={}", row["schema"].as_str().unwrap_or_default()))?;
    status(200, &one)?;
    let one = one.json()?;
    holds("sample", one["row"]["QUERY_SAMPLE_TEXT"].as_str().is_some_and(|text| text.starts_with("SELECT note")))?;
    holds(&one["plan"].to_string(), one["plan"]["text"].as_str().is_some_and(|text| text.contains("->")))?;
    let phases: u64 =
        ["decode", "parse", "plan", "execute", "encode", "commit"].iter().filter_map(|name| one["phases"][name].as_u64()).sum();
    same(true, phases > 0 && Some(phases) <= one["row"]["SUM_CPU_TIME"].as_u64())?;
    same(Some(4), one["kept"].as_array().map(Vec::len))?;
    let text = one["kept"][0]["text"].as_str().unwrap_or_default();
    holds(text, text.starts_with("SELECT note FROM shop.orders WHERE customer = "))?;
    same(Some(5), one["plans"][0]["count"].as_u64())?;
    let body = |text: &str| serde_json::json!({ "schema": "shop", "text": text }).to_string();
    let analyzed = admin.post("/api/analyze", &body("SELECT note FROM orders WHERE customer = 2"))?;
    status(200, &analyzed)?;
    holds(&analyzed.body, analyzed.body.contains("actual time"))?;
    status(400, &admin.post("/api/analyze", &body("DELETE FROM orders"))?)?;
    // A second statement in the text is no statement, and one that writes is refused.
    let twice = admin.post("/api/analyze", &body("SELECT 1; DELETE FROM orders"))?;
    holds(&twice.body, twice.json()?["plan"]["error"].is_string())?;
    execute(sql, "CREATE FUNCTION shop.wipe() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM shop.orders; RETURN 1; END")?;
    let writes = admin.post("/api/analyze", &body("SELECT wipe()"))?;
    holds(&writes.body, writes.status == 200)?;
    same(Some(3), sql.query_first("SELECT COUNT(*) FROM shop.orders").map_err(|error| error.to_string())?)?;
    status(400, &admin.get("/api/statement?digest=00")?)
}

fn lists(admin: &Browser) -> Outcome {
    let all = admin.get("/api/settings")?.json()?;
    let total = all["total"].as_u64().unwrap_or(0);
    holds("there are hundreds", total > 300)?;
    let second = admin.get("/api/settings?limit=10&offset=10")?.json()?;
    same(&all["rows"][10], &second["rows"][0])?;
    same(10, second["rows"].as_array().map_or(0, Vec::len))?;
    for (target, part) in [
        ("statements?limit=1000", "limit"),
        ("statements?offset=-1", "offset"),
        ("statements?order=SLEEP(1)", "order"),
        ("sessions?show=1", "show"),
        ("tables?limit=x", "limit"),
        ("history?span=year", "span"),
        ("table?schema=shop", "name"),
        ("now?after=soon", "after"),
    ] {
        let answer = admin.get(&format!("/api/{target}"))?;
        status(400, &answer).map_err(|why| format!("{target}: {why}"))?;
        holds(&answer.body, answer.body.contains(&format!("'{part}'")))?;
    }
    // What looks like SQL is a text.
    for target in ["statements?find=%27+OR+1%3D1+--+", "tables?find=%5C%27%60%22", "sessions?find=%00", "settings?find=%25"] {
        let answer = admin.get(&format!("/api/{target}"))?;
        status(200, &answer).map_err(|why| format!("{target}: {why}"))?;
        same(&Value::from(0), &answer.json()?["total"])?;
    }
    let missing = admin.get("/api/table?schema=shop%60&name=x%27%3B--")?;
    status(200, &missing)?;
    same(0, missing.json()?["indexes"].as_array().map_or(1, Vec::len))
}

fn forgery(admin: &Browser, server: &Server) -> Outcome {
    let mut victim = connect(server)?;
    let body = format!("{{\"id\":{},\"what\":\"connection\"}}", victim.connection_id());
    for headers in [
        String::new(),
        "X-CSRF-Token: \r\n".to_owned(),
        format!("X-CSRF-Token: {}\r\n", "0".repeat(64)),
        format!("X-CSRF-Token: {}\r\nOrigin: http://example.com\r\n", admin.csrf),
        format!("X-CSRF-Token: {}\r\nOrigin: null\r\n", admin.csrf),
        format!("X-CSRF-Token: {}\r\nSec-Fetch-Site: cross-site\r\n", admin.csrf),
    ] {
        let answer = admin.post_with("/api/kill", &body, &headers)?;
        status(403, &answer).map_err(|why| format!("{headers}: {why}"))?;
    }
    // A form of another site cannot send JSON.
    let token = format!("X-CSRF-Token: {}\r\n", admin.csrf);
    let form = format!(
        "POST /api/kill HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n{token}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}",
        admin.address,
        admin.cookie,
        body.len()
    );
    status(400, &admin.exchange(&form)?)?;
    status(
        403,
        &admin.post_with("/api/login", "{\"user\":\"admin\",\"password\":\"right\"}", "Origin: http://example.com\r\n")?,
    )?;
    // A name of another site that points here.
    let rebound = format!("GET /api/session HTTP/1.1\r\nHost: example.com\r\nCookie: {}\r\n\r\n", admin.cookie);
    status(421, &admin.exchange(&rebound)?)?;
    status(421, &admin.exchange("GET /metrics HTTP/1.1\r\nHost: example.com:3380\r\n\r\n")?)?;
    same(Some(1), victim.query_first("SELECT 1").map_err(|error| error.to_string())?)
}

fn kill(admin: &Browser, server: &Server) -> Outcome {
    let mut victim = connect(server)?;
    let id = victim.connection_id();
    let sleeper = std::thread::spawn(move || {
        let slept: Result<Option<u8>, _> = victim.query_first("SELECT SLEEP(600)");
        (victim, slept.is_err() || slept.is_ok_and(|woken| woken == Some(1)))
    });
    wait_for("the sleeping session", || {
        let found = admin.get("/api/sessions?find=SLEEP(600)")?.json()?;
        Ok(found["rows"].as_array().is_some_and(|rows| rows.iter().any(|row| row["id"] == id)))
    })?;
    status(200, &admin.post("/api/kill", &format!("{{\"id\":{id},\"what\":\"query\"}}"))?)?;
    let (mut victim, was_woken) = sleeper.join().map_err(|_| "the session panicked")?;
    holds("KILL QUERY ends the statement", was_woken)?;
    same(Some(1), victim.query_first("SELECT 1").map_err(|error| error.to_string())?)?;
    status(200, &admin.post("/api/kill", &format!("{{\"id\":{id},\"what\":\"connection\"}}"))?)?;
    wait_for("the end of the session", || Ok(victim.query_drop("SELECT 1").is_err()))?;
    let missing = admin.post("/api/kill", "{\"id\":4000000000,\"what\":\"query\"}")?;
    status(422, &missing)?;
    holds(&missing.body, missing.body.contains("Unknown thread id"))?;
    for body in ["{}", "{\"id\":-1,\"what\":\"query\"}", "{\"id\":\"1\",\"what\":\"query\"}", "{\"id\":1,\"what\":\"all\"}"] {
        status(400, &admin.post("/api/kill", body)?)?;
    }
    Ok(())
}

fn locks(admin: &Browser, server: &Server) -> Outcome {
    let (mut holder, mut waiter) = (connect(server)?, connect(server)?);
    execute(&mut holder, "BEGIN")?;
    execute(&mut holder, "UPDATE shop.orders SET note = 'x' WHERE id = 1")?;
    let (holding, waiting) = (holder.connection_id(), waiter.connection_id());
    let thread = std::thread::spawn(move || waiter.query_drop("UPDATE shop.orders SET note = 'y' WHERE id = 1"));
    wait_for("the wait", || {
        let found = admin.get("/api/locks")?.json()?;
        let is_it = |row: &Value| row["waiting"] == waiting && row["blocking"] == holding && row["object"] == "shop.orders";
        Ok(found["rows"].as_array().is_some_and(|rows| rows.iter().any(is_it)))
    })?;
    status(200, &admin.post("/api/kill", &format!("{{\"id\":{holding},\"what\":\"connection\"}}"))?)?;
    thread.join().map_err(|_| "the session panicked")?.map_err(|error| error.to_string())
}

fn revoked(nobody: &Browser, sql: &mut Conn) -> Outcome {
    execute(sql, "CREATE USER brief@localhost IDENTIFIED BY 'right'")?;
    execute(sql, "GRANT PROCESS ON *.* TO brief@localhost")?;
    let mut brief = nobody.clone();
    log_in(&mut brief, "brief", "right")?;
    status(200, &brief.get("/api/now")?)?;
    // What this account may not read is an error of the page, in the server's words.
    let statements = brief.get("/api/statements")?;
    status(422, &statements)?;
    holds(&statements.body, statements.body.contains("SELECT command denied"))?;
    execute(sql, "REVOKE PROCESS ON *.* FROM brief@localhost")?;
    wait_for("the end of the login", || Ok(brief.get("/api/now")?.status == 401))?;
    status(401, &brief.get("/api/sessions")?)
}

fn log_out(nobody: &Browser) -> Outcome {
    let mut browser = nobody.clone();
    log_in(&mut browser, "admin", "right")?;
    let left = browser.post("/api/logout", "{}")?;
    status(200, &left)?;
    holds("the cookie is removed", left.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")))?;
    status(401, &browser.get("/api/session")?)
}

fn bad_requests(admin: &Browser) -> Outcome {
    let host = format!("Host: {}\r\n", admin.address);
    status(414, &admin.get(&format!("/api/now?x={}", "y".repeat(3000)))?)?;
    status(400, &admin.get("/api/now?after=%zz")?)?;
    status(400, &admin.get("/api/now?a=%ff")?)?;
    status(400, &admin.get(&format!("/api/now?{}", "a&".repeat(100)))?)?;
    status(405, &admin.exchange(&format!("DELETE /api/session HTTP/1.1\r\n{host}\r\n"))?)?;
    status(405, &admin.exchange(&format!("OPTIONS * HTTP/1.1\r\n{host}\r\n"))?)?;
    status(404, &admin.post("/nothing", "{}")?)?;
    status(413, &admin.post("/api/kill", &"x".repeat(100_000))?)?;
    status(431, &admin.exchange(&format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "x".repeat(100_000)))?)?;
    status(431, &admin.exchange(&format!("GET / HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(200)))?)?;
    for garbage in ["\u{0}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"] {
        status(400, &admin.exchange(garbage)?).map_err(|why| format!("{garbage:?}: {why}"))?;
    }
    for path in ["/../Cargo.toml", "/assets/../index.html", "/assets/%2e%2e/x", "//", "/api/", "/api/login"] {
        status(404, &admin.get(path)?).map_err(|why| format!("{path}: {why}"))?;
    }
    let head = admin.exchange(&format!("HEAD / HTTP/1.1\r\n{host}Connection: close\r\n\r\n"));
    // The client here waits for the body that the length announces.
    holds("HEAD has no body", head.is_err_and(|why| why.starts_with("closed")))?;
    status(200, &admin.get("/api/session")?)
}

fn slow(admin: &Browser, server: &Server) -> Outcome {
    let mut held = Vec::new();
    for part in [
        "",
        "GET /api/now HT",
        "GET /api/now HTTP/1.1\r\nHost: localhost\r\nX:",
        "POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{",
    ] {
        for _ in 0..5 {
            let mut stream = admin.connect()?;
            stream.write_all(part.as_bytes()).map_err(|error| error.to_string())?;
            held.push(stream);
        }
    }
    // Answers that nobody reads.
    for _ in 0..3 {
        let mut stream = admin.connect()?;
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", admin.address);
        let _ = stream.write_all(request.repeat(200).as_bytes());
        held.push(stream);
    }
    let mut sql = connect(server)?;
    for _ in 0..100 {
        execute(&mut sql, "SELECT COUNT(*) FROM shop.orders")?;
    }
    for _ in 0..10 {
        status(200, &admin.get("/api/now")?)?;
    }
    drop(held);
    Ok(())
}

fn metrics(nobody: &Browser, admin: &Browser, sql: &mut Conn) -> Outcome {
    use std::fmt::Write;
    execute(sql, "SELECT customer FROM shop.orders WHERE id = 1")?;
    let open = nobody.get("/metrics")?;
    status(200, &open)?;
    same(Some("text/plain; version=0.0.4; charset=utf-8"), open.header("content-type"))?;
    for name in [
        "mysql_up 1",
        "mysql_global_status_threads_connected ",
        "mysql_global_status_commands_total{command=\"select\"} ",
        "mysql_global_status_buffer_pool_pages{state=\"data\"} ",
        "mysql_global_variables_max_connections ",
        "heddle_statement_duration_seconds_bucket{le=\"+Inf\"} ",
        "heddle_statement_duration_seconds_count ",
        "process_cpu_seconds_total ",
    ] {
        holds(name, open.body.contains(name))?;
    }
    for word in ["orders", "elsewhere", "shop", "customer"] {
        holds(&format!("{word} is told to nobody"), !open.body.contains(word))?;
    }
    let encoded = |text: &str| {
        // base64, for the few letters of the test.
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        text.as_bytes().chunks(3).fold(String::new(), |mut out, chunk| {
            let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for at in 0..4 {
                if at <= chunk.len() {
                    out.push(char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]))
                } else {
                    out.push('=')
                }
            }
            out
        })
    };
    let mut basic = String::new();
    let _ = write!(basic, "Authorization: Basic {}\r\n", encoded("admin:right"));
    let named = nobody.get_with("/metrics", &basic)?;
    status(200, &named)?;
    for name in [
        "mysql_info_schema_table_rows{schema=\"shop\",table=\"orders\"} 3",
        "mysql_perf_schema_events_statements_total{schema=\"NONE\",digest=\"",
        "mysql_info_schema_processlist_threads{command=\"sleep\",state=\"\"} ",
    ] {
        holds(name, named.body.contains(name))?;
    }
    holds("the cookie of the page will do", admin.get("/metrics")?.body.contains("orders"))?;
    let wrong = nobody.get_with("/metrics", &format!("Authorization: Basic {}\r\n", encoded("admin:wrong")))?;
    status(401, &wrong)?;
    holds("it asks for a password", wrong.header("www-authenticate").is_some_and(|value| value.starts_with("Basic")))?;
    let advice = nobody.get_with("/advice", &basic)?;
    status(200, &advice)?;
    holds("advice is a list of findings", advice.body.starts_with("{\"findings\":["))?;
    status(401, &nobody.get("/advice")?)?;
    let open_metrics = nobody.get_with("/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n")?;
    holds("OpenMetrics ends", open_metrics.body.ends_with("# EOF\n"))?;
    holds("OpenMetrics has counters", open_metrics.body.contains("# TYPE mysql_global_status_commands counter\n"))
}

fn taken(directory: &Path, address: &str) -> Outcome {
    let mut options = ServerOptions { buffer_pool: "32M".into(), ..ServerOptions::new(directory.join("second")) };
    options.extra = vec!["--console".to_owned(), address.to_owned()];
    let server = Server::start(&options)?;
    let mut sql = connect(&server)?;
    same(Some(1), sql.query_first("SELECT 1").map_err(|error| error.to_string())?)?;
    let log = std::fs::read_to_string(&server.log).map_err(|error| error.to_string())?;
    holds("it says why", log.contains(&format!("another program uses {address}")))?;
    drop(sql);
    server.stop()
}
