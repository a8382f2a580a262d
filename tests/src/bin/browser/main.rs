//! The console in a real browser: Chromium without a screen, driven by chromedriver.
//!
//! 1. Who is logged out sees a form and nothing else; a wrong password says so.
//! 2. Each page loads, in a wide window and on a phone, without an error or a breach of the page's policy.
//! 3. Numbers move; the tree of waits shows who holds up whom; KILL is asked for, and works.
//! 4. Logging out leaves nothing behind.
//!
//! `--screenshots DIRECTORY` keeps pictures, after the load has run for a while.

mod load;

use load::Load;
use mysql::prelude::Queryable;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tests::server::console_address;
use tests::webdriver::Driver;
use tests::{Report, Server, ServerOptions};

type Outcome<T = ()> = Result<T, String>;

/// The pages, and what shows that one is there.
const PAGES: &[(&str, &str)] = &[
    ("now", "document.querySelectorAll('.plot polyline').length > 3"),
    ("statements", "document.querySelectorAll('tbody tr.open').length > 3"),
    ("sessions", "document.querySelectorAll('tbody tr').length > 3"),
    ("tables", "document.querySelectorAll('tbody tr.open').length >= 4"),
    ("engine", "document.querySelectorAll('.threads tr').length > 4"),
    ("profile", "document.querySelector('button.main')"),
    ("settings", "document.querySelectorAll('tbody tr').length > 1"),
];

fn main() -> ExitCode {
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-browser-{}", std::process::id()));
    let mut arguments = std::env::args_os().skip(1);
    let pictures = match arguments.next() {
        Some(flag) if flag == "--screenshots" => arguments.next().map(PathBuf::from),
        _ => None,
    };
    if let Err(why) = run(&directory, pictures.as_deref(), &mut report) {
        report.fail("browser", why);
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

fn run(directory: &Path, pictures: Option<&Path>, report: &mut Report) -> Outcome {
    let mut options = ServerOptions { buffer_pool: "64M".into(), durability: "full".into(), ..ServerOptions::new(directory) };
    options.extra = ["--console", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let server = Server::start(&options)?;
    let mut sql = server.connect().map_err(|error| error.to_string())?;
    for statement in ["CREATE USER operator@localhost IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO operator@localhost"] {
        sql.query_drop(statement).map_err(|error| error.to_string())?;
    }
    let load = Load::start(&server)?;
    let url = format!("http://{}/", console_address(&server)?);
    let driver = Driver::start(directory)?;
    driver.resize(1280, 860)?;
    driver.open(&url)?;
    report.case("who is logged out sees a form", || logged_out(&driver));
    report.case("a wrong password", || {
        log_in(&driver, "wrong")?;
        driver.wait("document.querySelector('[role=alert]').textContent.includes('Access denied')")
    });
    driver.messages()?; // The browser notes the refusals.
    log_in(&driver, "secret")?;
    driver.wait("document.querySelector('nav')")?;
    for (page, shows) in PAGES {
        report.case(&format!("page {page}"), || {
            open(&driver, page)?;
            driver.wait(shows)?;
            quiet(&driver)
        });
    }
    report.case("numbers move", || numbers_move(&driver));
    report.case("a statement with its plan", || statement(&driver));
    report.case("a measured index", || measured(&driver, &server));
    report.case("a flame graph", || profile(&driver));
    report.case("a table", || {
        open(&driver, "tables")?;
        driver.click("tbody tr.open td")?;
        driver.wait("document.body.innerText.includes('CREATE TABLE')")?;
        quiet(&driver)
    });
    report.case("the tree of waits, and KILL", || waits(&driver, &server));
    report.case("light and dark", || colors(&driver));
    report.case("on a phone nothing is cut off", || phone(&driver));
    if let Some(pictures) = pictures {
        report.case("screenshots", || keep(&driver, &server, pictures));
    }
    report.case("logging out leaves nothing", || log_out(&driver, &url));
    load.end()?;
    drop((driver, sql));
    server.stop()
}

fn logged_out(driver: &Driver) -> Outcome {
    driver.wait("document.querySelector('form.login')")?;
    for page in PAGES.iter().map(|(page, _)| page) {
        open(driver, page)?;
        driver.wait("document.querySelector('form.login') && !document.querySelector('nav')")?;
    }
    Ok(())
}

fn log_in(driver: &Driver, password: &str) -> Outcome {
    driver.fill("input[name=user]", "operator")?;
    driver.fill("input[name=password]", password)?;
    driver.click("button.main")
}

fn open(driver: &Driver, page: &str) -> Outcome {
    driver.run(&format!("location.hash = '#/{page}'")).map(drop)
}

/// No script has failed, and the policy of the page was not breached.
fn quiet(driver: &Driver) -> Outcome {
    let messages = driver.messages()?;
    let note = driver.run("const note = document.querySelector('.note:not([hidden])'); return note && note.textContent")?;
    match (messages.is_empty(), &note) {
        (true, Value::Null) => Ok(()),
        _ => Err(format!("{messages:?} {note}")),
    }
}

fn numbers_move(driver: &Driver) -> Outcome {
    open(driver, "now")?;
    let tile = "document.querySelector('[data-tile=\"queries/s\"]')";
    driver.wait(&format!("{tile} && parseFloat({tile}.textContent) > 0"))?;
    let first = driver.run(&format!("return {tile}.textContent"))?;
    driver.wait(&format!("{tile}.textContent !== {first}"))
}

fn statement(driver: &Driver) -> Outcome {
    open(driver, "statements")?;
    driver.fill("input[type=search]", "`city` , COUNT")?;
    driver.wait("document.querySelectorAll('tbody tr.open').length == 1")?;
    driver.click("tbody tr.open td")?;
    driver.wait("document.querySelectorAll('.step').length > 2")?;
    // Its phases, its slowest executions, its plans.
    driver.wait("document.querySelectorAll('.phases tr').length == 6")?;
    driver.wait(
        "document.querySelectorAll('.executions details').length > 0 && document.querySelectorAll('.plans details').length > 0",
    )?;
    driver.click(".executions summary")?;
    driver.wait("document.querySelector('.executions details[open] pre').innerText.includes('COUNT')")?;
    // Its own curve, from two readings on.
    driver.wait("document.querySelector('.plot polyline')")?;
    driver.run("[...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('Run it')).click()")?;
    driver.click("dialog button[value=yes]")?;
    driver.wait("document.querySelector('.tree').innerText.includes('ms')")?;
    quiet(driver)
}

/// Two bars for each statement: without the index and with it.
fn measured(driver: &Driver, server: &Server) -> Outcome {
    load::parcels(server)?;
    open(driver, "advice")?;
    driver.wait("[...document.querySelectorAll('.page button')].some((one) => one.textContent === 'Again')")?;
    driver.run("[...document.querySelectorAll('.page button')].find((one) => one.textContent === 'Again').click()")?;
    let card =
        "[...document.querySelectorAll('[data-kind=missing_index]')].find((one) => one.innerText.includes('shop.parcels'))";
    driver.wait(card)?;
    driver.wait(&format!("{card}.querySelectorAll('.pair .bar').length >= 2"))?;
    driver.wait(&format!("{card}.innerText.includes('controller=parcels') && {card}.innerText.includes('APPLY ADVICE')"))?;
    quiet(driver)
}

/// A click on a function shows its part, and one on the uppermost bar the whole again.
fn profile(driver: &Driver) -> Outcome {
    open(driver, "profile")?;
    driver.wait("document.querySelector('.page select')")?;
    driver.run("document.querySelector('.page select').value = '2'; document.querySelector('.page button.main').click()")?;
    driver.wait("document.querySelectorAll('.flame').length > 10")?;
    driver.wait("[...document.querySelectorAll('.flame title')].some((title) => title.textContent.startsWith('SELECT'))")?;
    let count = || driver.run("return document.querySelectorAll('.flame').length");
    let whole = count()?;
    driver.run("document.querySelectorAll('.flame')[3].dispatchEvent(new MouseEvent('click'))")?;
    driver.wait(&format!("document.querySelectorAll('.flame').length != {whole}"))?;
    driver.run("document.querySelectorAll('.flame')[0].dispatchEvent(new MouseEvent('click'))")?;
    driver.wait(&format!("document.querySelectorAll('.flame').length == {whole}"))?;
    quiet(driver)
}

fn waits(driver: &Driver, server: &Server) -> Outcome {
    let holder = load::holder(server)?;
    let holding = holder.connection_id();
    let (waiting, thread) = load::spawn(server, "UPDATE stock SET pieces = 7 WHERE product = 499")?;
    open(driver, "sessions")?;
    let below = format!("document.querySelector('.waits li[data-session=\"{holding}\"] li[data-session=\"{waiting}\"]')");
    driver.wait(&below)?;
    driver.click(&format!(".waits li[data-session=\"{holding}\"] > .row [data-kill=connection]"))?;
    driver.click("dialog button[value=yes]")?;
    // The other one gets the row.
    if !thread.join().map_err(|_| "the session panicked")? {
        return Err("the waiting session failed".to_owned());
    }
    driver.wait("!document.querySelector('.waits')")?;
    quiet(driver)
}

fn colors(driver: &Driver) -> Outcome {
    let color = || driver.run("return getComputedStyle(document.body).backgroundColor");
    let before = color()?;
    driver.click("header button[title='Light or dark']")?;
    let after = color()?;
    driver.click("header button[title='Light or dark']")?;
    if before != after && color()? == before { Ok(()) } else { Err(format!("{before} {after}")) }
}

fn phone(driver: &Driver) -> Outcome {
    driver.resize(390, 844)?;
    for (page, shows) in PAGES {
        open(driver, page)?;
        driver.wait(shows)?;
        let width = driver.run("return document.documentElement.scrollWidth")?;
        if width.as_u64().is_none_or(|width| width > 390) {
            return Err(format!("{page} is {width} wide"));
        }
    }
    driver.resize(1280, 860)?;
    quiet(driver)
}

fn log_out(driver: &Driver, url: &str) -> Outcome {
    driver.run("[...document.querySelectorAll('header button')].find((one) => one.textContent === 'Log out').click()")?;
    driver.wait("document.querySelector('form.login')")?;
    driver.open(url)?;
    driver.wait("document.querySelector('form.login') && !document.querySelector('nav')")?;
    let status = "return fetch('/api/session').then((answer) => answer.status)";
    let status = driver.run(status)?;
    if status == 401 { Ok(()) } else { Err(format!("{status}")) }
}

/// Pictures of each page, after the curves have got some length.
fn keep(driver: &Driver, server: &Server, directory: &Path) -> Outcome {
    std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    open(driver, "now")?;
    std::thread::sleep(Duration::from_secs(150));
    let _holder = load::holder(server)?;
    let waiting = [
        "UPDATE stock SET pieces = 7 WHERE product = 499",
        "DELETE FROM stock WHERE product = 499",
        "UPDATE customers SET city = 'Wels' WHERE id = 1",
    ];
    let waiters: Vec<_> = waiting.into_iter().map(|statement| load::spawn(server, statement)).collect::<Result<_, _>>()?;
    let keep = |name: &str| {
        let picture = driver.screenshot()?;
        std::fs::write(directory.join(format!("{name}.png.base64")), picture).map_err(|error| error.to_string())
    };
    for (page, shows) in PAGES {
        open(driver, page)?;
        driver.wait(shows)?;
        std::thread::sleep(Duration::from_secs(7));
        keep(page)?;
    }
    open(driver, "statements")?;
    driver.wait(PAGES[1].1)?;
    // The dearest one.
    driver.click("tbody tr.open td")?;
    driver.wait("document.querySelectorAll('.step').length > 2")?;
    std::thread::sleep(Duration::from_secs(60));
    keep("statement")?;
    driver.run("document.documentElement.dataset.colors = 'dark'")?;
    open(driver, "now")?;
    driver.wait(PAGES[0].1)?;
    std::thread::sleep(Duration::from_secs(5));
    keep("now-dark")?;
    driver.resize(390, 844)?;
    std::thread::sleep(Duration::from_secs(3));
    keep("now-phone")?;
    driver.resize(1280, 860)?;
    drop(waiters);
    Ok(())
}
