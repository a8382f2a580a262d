//! `heddle check`: verifies a data directory, and prints the result for people.

use crate::say::say;
use crate::size;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use table::offline::{Event, PAGE_BYTES, Summary, check};

/// Checks the directory; the error is one line for the person who asked.
pub fn run(dir: &Path, threads: Option<usize>) -> Result<(), String> {
    let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    // Problems go to standard error as they are found, the rest to standard output.
    let out = Mutex::new(());
    let tell = |event: Event<'_>| {
        let _whole_lines = out.lock();
        match line(&event, dir) {
            (text, true) => drop(writeln!(std::io::stderr(), "{text}")),
            (text, false) => say(&format!("{text}\n")),
        }
    };
    let summary = check(dir, threads, &tell).map_err(|error| match error {
        table::Error::Engine(error) => error.to_string(),
        other => other.to_string(),
    })?;
    match summary {
        Summary { problems: 0, tables, rows } => {
            say(&format!("no damage found: {tables} tables, {rows} rows\n"));
            Ok(())
        }
        Summary { problems, .. } => Err(format!("{} is damaged: {problems} problems", dir.display())),
    }
}

/// The line of an event, and whether it is about a problem.
fn line(event: &Event<'_>, dir: &Path) -> (String, bool) {
    let text = match event {
        Event::Opened { pages, clean } => {
            let bytes = u64::from(*pages) * PAGE_BYTES as u64;
            let how = if *clean { "stopped in good order" } else { "not stopped in good order" };
            format!("checking {}: {pages} pages ({}), {how}", dir.display(), size::text(bytes))
        }
        Event::Progress { done, pages } => format!("  {done} of {pages} pages"),
        Event::PagesChecked { counts, took } => {
            let repairable = match counts.repairable {
                0 => String::new(),
                n => format!(", {n} torn (the next start restores them)"),
            };
            let (damaged, seconds) = (counts.problems.len(), took.as_secs_f64());
            format!("pages: {} sound, {} unused, {damaged} damaged{repairable} ({seconds:.2} s)", counts.sound, counts.unused)
        }
        Event::LogChecked { counts, took } => {
            let verdict = if counts.damage.is_some() { "DAMAGED" } else { "ok" };
            let (bytes, seconds) = (size::text(counts.bytes), took.as_secs_f64());
            format!(
                "log: {verdict}, {bytes} since the checkpoint in {} groups of changes ({seconds:.2} s)",
                counts.places.len() - 1
            )
        }
        Event::NotClean => {
            "the log has changes that the pages have not: start the server once and stop it, then check again for \
                            what lies beyond single pages"
                .to_owned()
        }
        Event::TableChecked { name, rows, indexes, problems, took } => {
            let verdict = if *problems == 0 { "ok" } else { "DAMAGED" };
            format!("table {name}: {verdict}, {rows} rows, {indexes} indexes ({:.2} s)", took.as_secs_f64())
        }
        Event::Orphans(trees) => format!("{trees} trees were dropped and are not freed yet: the next start goes on with them"),
        Event::LostPages(pages) => format!("{pages} pages are in use and belong to no table: lost space, no lost data"),
        Event::Problem(what) => return (format!("DAMAGE: {what}"), true),
    };
    (text, false)
}
