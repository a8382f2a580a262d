//! Another session of the same worker: it reads one row by its key, again and again, and notes what each answer cost the worker meanwhile.

use crate::meter::Meter;
use mysql::prelude::Queryable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tests::Address;

/// Between two of its statements.
const PAUSE: Duration = Duration::from_micros(500);

/// One answer.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// What the worker computed between the question and the answer, for whomever.
    pub worker_us: u64,
    pub wall_us: u64,
}

/// The session, on a thread of its own.
pub struct Bystander {
    stop: Arc<AtomicBool>,
    answers: Arc<Mutex<Vec<Answer>>>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Bystander {
    pub fn start(address: &Address, database: &str, meter: &Meter) -> Result<Self, String> {
        let mut conn = address.connect_to(database).map_err(|e| e.to_string())?;
        let statement = conn.prep("SELECT v FROM point WHERE id = ?").map_err(|e| e.to_string())?;
        let (stop, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (stops, notes, meter) = (Arc::clone(&stop), Arc::clone(&answers), meter.clone());
        let thread = std::thread::spawn(move || {
            while !stops.load(Ordering::Relaxed) {
                let (began, before) = (Instant::now(), meter.worker_us());
                let found: Option<i64> = conn.exec_first(&statement, (7,)).map_err(|e| format!("the bystander: {e}"))?;
                let answer =
                    Answer { worker_us: meter.worker_us().saturating_sub(before), wall_us: began.elapsed().as_micros() as u64 };
                if found != Some(-7) {
                    return Err(format!("the bystander read {found:?}"));
                }
                notes.lock().map_err(|e| e.to_string())?.push(answer);
                std::thread::sleep(PAUSE);
            }
            Ok(())
        });
        Ok(Self { stop, answers, thread: Some(thread) })
    }

    /// The answers since the last call.
    pub fn take(&self) -> Vec<Answer> {
        self.answers.lock().map(|mut answers| std::mem::take(&mut *answers)).unwrap_or_default()
    }

    /// Ends it; an error if it did not get its rows.
    pub fn stop(mut self) -> Result<(), String> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take() {
            Some(thread) => thread.join().map_err(|_| "the bystander panicked".to_string())?,
            None => Ok(()),
        }
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
