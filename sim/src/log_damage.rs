//! The log is damaged between two lives: what is needed of it and not there must be refused by name, and a refusal changes nothing.
//!
//! | damage | what must happen |
//! |---|---|
//! | a bit or a block of any epoch but the last | refused |
//! | a segment is missing, or short; all are | refused |
//! | bytes before the checkpoint | no matter: all rows are there |
//!
//! After a refusal either the damage is repaired, and everything must be there as if nothing had happened; or the start is forced: what can be read
//! then is not judged, but the engine must live and stop in good order.

use crate::machine::{DIRECTORY, Run, config, known_trees, live, read_all};
use crate::plan::Plan;
use os::sim::disk::CrashKind;
use os::sim::file::{Original, take_away, tamper};
use os::sim::scheduler::{self, count, fail, note};
use os::sim::{Halt, Rng};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::offline::Offline;
use storage::wal::SEGMENT_BYTES;
use sync::Mutex;
use txn::Engine;

/// What must happen at the next start.
enum Outcome {
    Refused(Vec<Original>),
    AllThere,
}

/// `false`: the run is over, what is there now is not judged.
pub fn try_one(run: &Run, rng: &mut Rng) -> bool {
    let kind = if rng.chance(1, 2) { CrashKind::Power } else { CrashKind::Process };
    let most = *rng.pick(&[20_000, 100_000, 400_000]);
    let after = rng.within(1..=most);
    live(run, rng, Some((after, kind)), Default::default());
    if !run.is_founded() {
        return true;
    }
    let Some(places) = places(rng) else { return true };
    let Some(outcome) = damage(&places, rng) else { return true };
    let originals = match outcome {
        Outcome::AllThere => return true,
        Outcome::Refused(originals) => originals,
    };
    let plan = run.plan.clone();
    machine(rng, move || match Engine::open(config(&plan)) {
        Err(why) if why.to_string().contains("the log is damaged") => count("log damage refused", 1),
        Err(why) => fail(&format!("the damage of the log is not named: {why}")),
        Ok(_) => fail("the engine opens a damaged log"),
    });
    if rng.chance(2, 3) {
        originals.into_iter().for_each(Original::put_back);
        return true;
    }
    let run = run.clone();
    machine(rng, move || force(&run));
    false
}

fn machine(rng: &mut Rng, body: impl FnOnce() + Send + 'static) {
    let halt = scheduler::run_machine(Plan::schedule(rng), None, body);
    if halt != Halt::Ended {
        fail(&format!("the machine ends: {halt:?}"));
    }
}

/// Where the epochs of the log begin, and where the last one ends.
fn places(rng: &mut Rng) -> Option<Vec<u64>> {
    let places = Arc::new(Mutex::new(None));
    let found = places.clone();
    machine(rng, move || {
        let offline = Offline::open(Path::new(DIRECTORY)).unwrap_or_else(|e| fail(&format!("the log cannot be checked: {e}")));
        let log = offline.check_log().unwrap_or_else(|e| fail(&format!("the log cannot be read: {e}")));
        if let Some(damage) = log.damage {
            fail(&format!("nobody has damaged the log: {damage}"));
        }
        *found.lock() = Some(log.places);
    });
    let mut places = places.lock();
    places.take()
}

fn segment(number: u64) -> PathBuf {
    Path::new(DIRECTORY).join("redo").join(format!("{number:016x}.log"))
}

/// Damages something. `None`: there was nothing to damage.
fn damage(places: &[u64], rng: &mut Rng) -> Option<Outcome> {
    let (begin, end) = (places.first()?, places.last()?);
    let (first, last) = (begin / SEGMENT_BYTES, end / SEGMENT_BYTES);
    let at = |position: u64| (segment(position / SEGMENT_BYTES), (position % SEGMENT_BYTES) as usize);
    let refused = |original: Option<Original>| original.map(|original| Outcome::Refused(vec![original]));
    // The last epoch may be one that was being written.
    let acknowledged = places.len().saturating_sub(2) as u64;
    let class = rng.below(6);
    note(format_args!("damage {class} of the log from {begin} to {end}"));
    match class {
        0 | 1 if acknowledged > 0 => {
            let (path, at) = at(places[rng.below(acknowledged) as usize]);
            // The head of a block has 44 bytes that its checksum covers.
            let bit = rng.below(44 * 8) as usize;
            refused(tamper(&path, |bytes| match class {
                0 => bytes[at + bit / 8] ^= 1 << (bit % 8),
                _ => bytes[at..at + 4096].fill(0),
            }))
        }
        // After the last one there are spare ones.
        2 => refused(take_away(&segment(rng.within(first..=last)))),
        3 => {
            let bytes = rng.below(SEGMENT_BYTES / 4096) as usize * 4096;
            refused(tamper(&segment(rng.within(first..=last)), |segment| segment.truncate(bytes)))
        }
        4 => Some(Outcome::Refused((first..=last + 20).filter_map(|number| take_away(&segment(number))).collect())),
        5 if *begin > 0 => {
            let (path, at) = at(begin - 1 - rng.below(begin % SEGMENT_BYTES + 1).min(begin - 1));
            tamper(&path, |bytes| bytes[at] ^= 1).map(|_| Outcome::AllThere)
        }
        _ => None,
    }
}

fn force(run: &Run) {
    let Ok(engine) = Engine::open_with(config(&run.plan), true) else { return count("forced starts that fail", 1) };
    count("forced starts", 1);
    if let Some(worker) = engine.spare_worker() {
        // Pages need not fit each other; no answer is wrong but a panic.
        if let Ok(Some(trees)) = known_trees(&worker) {
            drop(read_all(&worker, trees));
        }
    }
    drop(engine.shutdown());
}
