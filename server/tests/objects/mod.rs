//! What a written line belongs to: told by the source file of the innermost function of ours that wrote it.

use crate::stepping::{Place, frames};
use std::collections::BTreeSet;

/// What the session and its thread have to themselves: connection, plan, scratch, the statement's own values.
pub const SESSION: &str = "session";

/// What a worker tells the others between statements, at most every 10 ms and only when it has changed. One instruction at a time each
/// statement takes as long.
pub const BUSY: &str = "number of busy sessions";

/// A store through `sync::RacyWords`: the only way in which pages and undo memory are written.
const STORE: &str = "RacyWords::";

/// File, function (a part of its name, or `STORE`; any where empty), object. The first that fits one of a line's writers has the line.
const OBJECTS: &[(&str, &str, &str)] = &[
    ("txn/src/engine.rs", "clock", "commit clock"),
    ("txn/src/purge.rs", "", "purge queue and bell"),
    ("txn/src/locks.rs", "", "lock table"),
    ("txn/src/ranges.rs", "", "locked ranges"),
    ("storage/src/space.rs", "", "space map"),
    ("table/src/counters.rs", "", "own estimates of rows"),
    ("table/src/mdl.rs", "", "own share of the metadata lock"),
    ("txn/src/horizon.rs", "", "own snapshots"),
    ("txn/src/status.rs", "", "own statuses"),
    ("txn/src/undo/", "", "own undo memory"),
    ("storage/src/wal/record.rs", "", "own log buffer"),
    ("storage/src/wal/mod.rs", "append", "own log buffer"),
    ("storage/src/wal/mod.rs", "drop", "own log buffer"),
    ("storage/src/wal/mod.rs", "undo", "own log buffer"),
    ("storage/src/wal/mod.rs", "flush", "own log buffer"),
    ("storage/src/page/", STORE, "page"),
    ("storage/src/buffer/", "", "frame of the page"),
    ("sync/src/latch.rs", "", "frame of the page"),
    ("txn/src/engine.rs", "_writer", "own open writers"),
    ("server/src/counters.rs", "", "own counters"),
    ("reactor/src/event_loop.rs", "end_period", BUSY),
];

/// The crates under test, in whose files a line's writer is looked for.
const CRATES: [&str; 10] = ["sync", "os", "types", "storage", "txn", "table", "protocol", "reactor", "exec", "server"];

/// The object that a line belongs to, by those who wrote it.
pub fn object_of(places: &BTreeSet<Place>) -> &'static str {
    let writers: Vec<(String, String)> = places.iter().filter_map(writer).collect();
    let fits = |(file, function, _): &&(&str, &str, &str)| {
        writers.iter().any(|(own_file, own_function)| own_file.starts_with(file) && own_function.contains(function))
    };
    OBJECTS.iter().find(fits).map_or(SESSION, |(_, _, object)| object)
}

/// The functions behind a line, for a reader.
pub fn writers_of(places: &BTreeSet<Place>) -> String {
    let told: BTreeSet<String> =
        places.iter().filter_map(writer).map(|(file, function)| format!("{function} in {file}")).collect();
    told.into_iter().collect::<Vec<_>>().join("; ")
}

/// File and name of the innermost function of ours that says something: behind the stores of `RacyWords` it is the one that calls them.
fn writer(place: &Place) -> Option<(String, String)> {
    let mut is_store = false;
    for frame in frames(place) {
        let Some(file) = own_file(&frame.file) else { continue };
        match file.as_str() {
            "sync/src/atomic.rs" | "sync/src/lock.rs" => {}
            "sync/src/racy.rs"
                if ["store", "write_bytes", "move_words", "fill_from"].iter().any(|f| frame.function.contains(f)) =>
            {
                is_store = true;
            }
            _ => return Some((file, if is_store { format!("{STORE}{}", frame.function) } else { frame.function })),
        }
    }
    None
}

/// `crate/src/...` of a file of ours.
fn own_file(path: &str) -> Option<String> {
    if path.contains("/.cargo/") || path.contains("/library/") {
        return None;
    }
    let at = CRATES.iter().filter_map(|krate| path.rfind(&format!("{krate}/src/"))).min()?;
    (at == 0 || path.as_bytes()[at - 1] == b'/').then(|| path[at..].to_string())
}
