//! Which statements the samples of a profile belong to: while one is taken, a statement during which a sample came says
//! at its end when it ran, as which task of which worker (`profile` joins both).

use crate::digests::{Statistics, digest_of};
use std::collections::HashMap;
use std::sync::Arc;
use sync::Mutex;
use sync::atomic::AtomicBool;

/// Samples and labels of one profile.
pub const SAMPLES_MAX: usize = 200_000;

/// The statement of samples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    pub database: Option<String>,
    pub digest: String,
    pub text: String,
}

/// A statement that a session has run.
pub struct Label {
    pub worker: usize,
    pub task: u32,
    pub began: u64,
    pub ended: u64,
    pub statement: Arc<Statement>,
}

/// The profiles of a server.
#[derive(Default)]
pub struct Profiler {
    pub is_running: AtomicBool,
    pub labels: Mutex<Labels>,
}

/// The labels of a profile that runs.
#[derive(Default)]
pub struct Labels {
    pub all: Vec<Label>,
    /// By the digest's text: most labels are of few statements.
    known: HashMap<(Option<String>, String), Arc<Statement>>,
}

impl Profiler {
    /// A statement has ended during which a sample was taken.
    #[cold]
    pub fn label(&self, worker: usize, task: u32, (began, ended): (u64, u64), statistics: &Statistics) {
        let Some(text) = statistics.text() else { return };
        let mut labels = self.labels.lock();
        if labels.all.len() >= SAMPLES_MAX {
            return;
        }
        let key = (statistics.database().map(str::to_owned), text.to_owned());
        let made = |key: &(Option<String>, String)| {
            Arc::new(Statement { database: key.0.clone(), digest: digest_of(&key.1), text: key.1.clone() })
        };
        let statement = match labels.known.get(&key) {
            Some(known) => Arc::clone(known),
            None => {
                let statement = made(&key);
                labels.known.insert(key, Arc::clone(&statement));
                statement
            }
        };
        labels.all.push(Label { worker, task, began, ended, statement });
    }
}
