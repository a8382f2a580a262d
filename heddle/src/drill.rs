//! `heddle drill`: is the newest backup one that can be restored? Restores it into a directory of its own, lets recovery apply the log,
//! checks every page, tree, row and index, and says how old the backup is and how long all that took.
//!
//! A backup that was never restored is a hope. The numbers are for people, and with `--metrics` for Prometheus' collector of text files.

use crate::cli::DrillFlags;
use crate::say::say;
use crate::{backups, check};
use backup::shelf::show_time;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The machine has other work.
const POOL_BYTES: u64 = 256 << 20;

/// What a drill found out.
struct Outcome {
    /// The last moment that the restored directory has, in microseconds since 1970.
    time_us: u64,
    restore: Duration,
    recovery: Duration,
    check: Duration,
}

impl Outcome {
    /// Commits of so many seconds would be lost, if the server were lost now.
    fn age_seconds(&self) -> f64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.saturating_sub(Duration::from_micros(self.time_us)).as_secs_f64()
    }
}

/// Runs a drill. The directory is removed afterwards; after a failure it stays.
pub fn run(flags: &DrillFlags) -> Result<(), String> {
    let scratch = match &flags.scratch {
        Some(directory) => directory.clone(),
        None => std::env::temp_dir().join(format!("heddle-drill-{}", std::process::id())),
    };
    let outcome = drill(flags, &scratch);
    if let Some(path) = &flags.metrics {
        write_metrics(path, outcome.as_ref().ok())?;
    }
    let outcome = outcome.map_err(|why| format!("the drill failed: {why} (what was restored is in {})", scratch.display()))?;
    std::fs::remove_dir_all(&scratch).map_err(|e| format!("cannot remove {}: {e}", scratch.display()))?;
    let seconds = |took: Duration| format!("{:.1} s", took.as_secs_f64());
    say(&format!(
        "the drill passed: as it was at {}, {:.0} s ago; restored in {}, recovered in {}, checked in {}\n",
        show_time(outcome.time_us),
        outcome.age_seconds(),
        seconds(outcome.restore),
        seconds(outcome.recovery),
        seconds(outcome.check)
    ));
    Ok(())
}

fn drill(flags: &DrillFlags, scratch: &Path) -> Result<Outcome, String> {
    let began = Instant::now();
    let restored = backups::restore_into(&flags.from, scratch, None, flags.key_file.as_deref(), &AtomicBool::new(false))?;
    let restore = began.elapsed();
    let recovery = recover(scratch)?;
    let began = Instant::now();
    check::run(scratch, None)?;
    Ok(Outcome { time_us: restored.time_us, restore, recovery, check: began.elapsed() })
}

/// Opens the directory as a server does, and stops in good order.
pub fn recover(data_dir: &Path) -> Result<Duration, String> {
    let began = Instant::now();
    let config = txn::Config {
        data_dir: data_dir.to_owned(),
        buffer_pool_bytes: POOL_BYTES,
        undo_memory_bytes: POOL_BYTES / 4,
        workers: 1,
        durability: txn::Durability::Full,
        recovery_target: Duration::from_secs(60),
    };
    let engine = txn::Engine::open_with(config, false).map_err(|error| format!("it cannot be opened: {error:?}"))?;
    let opened = table::Database::open(engine.clone()).map(drop).map_err(|error| format!("its catalog cannot be read: {error}"));
    let took = began.elapsed();
    let closed = engine.shutdown().map_err(|error| format!("it cannot be closed: {error:?}"));
    opened.and(closed)?;
    Ok(took)
}

/// Prometheus' text format, complete before it gets its name.
fn write_metrics(path: &Path, outcome: Option<&Outcome>) -> Result<(), String> {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, value: f64| {
        text.push_str(&format!(
            "# HELP heddle_drill_{name} {help}\n# TYPE heddle_drill_{name} gauge\nheddle_drill_{name} {value}\n"
        ));
    };
    gauge("success", "1 when the newest backup was restored and checked.", if outcome.is_some() { 1.0 } else { 0.0 });
    if let Some(outcome) = outcome {
        gauge("backup_age_seconds", "Age of the last commit that the backup has.", outcome.age_seconds());
        gauge("restore_seconds", "Time to restore the files.", outcome.restore.as_secs_f64());
        gauge("recovery_seconds", "Time to apply the log.", outcome.recovery.as_secs_f64());
        gauge("check_seconds", "Time to check the directory.", outcome.check.as_secs_f64());
    }
    let cannot = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    let part = path.with_extension("part");
    std::fs::write(&part, text).map_err(cannot)?;
    std::fs::rename(&part, path).map_err(cannot)
}
