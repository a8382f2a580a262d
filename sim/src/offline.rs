//! What `heddle check` says of a directory that no server uses.

use os::sim::scheduler::{fail, note};
use std::path::Path;
use table::offline::Event;

/// Ends the run if the directory is damaged.
pub fn check(directory: &Path) {
    let tell = |event: Event<'_>| {
        if let Event::Problem(what) = event {
            note(format_args!("{what}"));
        }
    };
    match table::offline::check(directory, 1, &tell) {
        Ok(summary) if summary.problems == 0 => {}
        Ok(summary) => fail(&format!("the directory is not sound: {summary:?}")),
        Err(error) => fail(&format!("the directory cannot be checked: {error:?}")),
    }
}
