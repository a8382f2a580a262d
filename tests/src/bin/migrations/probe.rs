//! A session beside the load: every 20 ms it reads a row, changes one, or asks for the definition, and notes how long that took.

use crate::{Outcome, said};
use mysql::Conn;
use mysql::prelude::Queryable;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tests::Address;

const PAUSE: Duration = Duration::from_millis(20);
/// What it does in turn, with how long the slowest took.
const NAMES: [&str; 3] = ["read", "write", "definition"];

/// The slowest of each kind.
pub struct Worst([Duration; NAMES.len()]);

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, took) in NAMES.iter().zip(&self.0) {
            write!(f, "{name} {:.0} ms; ", took.as_secs_f64() * 1000.0)?;
        }
        Ok(())
    }
}

pub struct Probe {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Outcome<Worst>>,
}

impl Probe {
    pub fn start(at: &Address, rows: u64) -> Outcome<Self> {
        let mut connection = said(at.connect_to("sbtest"))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut worst = Worst([Duration::ZERO; NAMES.len()]);
            for number in 0.. {
                // Relaxed: only the flag itself matters.
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                let kind = number % NAMES.len();
                let began = Instant::now();
                ask(&mut connection, kind, 1 + number as u64 * 7919 % rows)?;
                worst.0[kind] = worst.0[kind].max(began.elapsed());
                std::thread::sleep(PAUSE);
            }
            Ok(worst)
        });
        Ok(Self { stop, thread })
    }

    pub fn finish(self) -> Outcome<Worst> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the probe panicked".to_owned())?
    }
}

fn ask(connection: &mut Conn, kind: usize, id: u64) -> Outcome {
    said(connection.query_drop(match kind {
        0 => format!("SELECT c FROM sbtest1 WHERE id = {id}"),
        1 => format!("UPDATE sbtest1 SET pad = REVERSE(pad) WHERE id = {id}"),
        _ => "SHOW CREATE TABLE sbtest1".to_owned(),
    }))
}
