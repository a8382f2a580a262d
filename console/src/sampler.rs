//! Reads the counters again and again, and makes the curves.
//!
//! Every five seconds while nobody looks; every second while a page shows them, for the last five minutes at that pace.

use crate::history::{History, Span};
use crate::series::{Point, Reading};
use crate::{Config, Server};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const FAST: Duration = Duration::from_secs(1);
/// How long after the last look the fast pace goes on.
const LOOKED: Duration = Duration::from_secs(15);
const RECENT_MAX: usize = 300;
const HISTORY_FILE: &str = "console-history";

/// The last reading, and the curves.
pub struct Sampler {
    server: Arc<dyn Server>,
    config: Config,
    last: RefCell<Option<Rc<Reading>>>,
    recent: RefCell<VecDeque<(u64, Point)>>,
    history: RefCell<History>,
    looked: Cell<Option<Instant>>,
    wake: tokio::sync::Notify,
}

pub fn now_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Sampler {
    pub fn new(server: Arc<dyn Server>, config: &Config) -> Self {
        let history = History::open(&config.data_dir.join(HISTORY_FILE));
        Self {
            server,
            config: config.clone(),
            last: RefCell::default(),
            recent: RefCell::default(),
            history: RefCell::new(history),
            looked: Cell::default(),
            wake: tokio::sync::Notify::new(),
        }
    }

    /// Samples until the task is dropped.
    pub async fn run(&self) {
        let mut of_hour: Option<Rc<Reading>> = None;
        let mut of_week: Option<Rc<Reading>> = None;
        let mut written = [now_seconds() / Span::Hour.step(), now_seconds() / Span::Week.step()];
        loop {
            let reading = self.read().await;
            let now = now_seconds();
            for ((span, before), written) in Span::ALL.into_iter().zip([&mut of_hour, &mut of_week]).zip(&mut written) {
                let Some(start) = before.clone() else {
                    *before = Some(Rc::clone(&reading));
                    continue;
                };
                let slot = now / span.step();
                if slot != *written {
                    *written = slot;
                    self.history.borrow_mut().put(span, slot * span.step(), reading.since(&start));
                    *before = Some(Rc::clone(&reading));
                }
            }
            let until_next = Duration::from_secs(Span::Hour.step() - now % Span::Hour.step());
            let pause = if self.is_watched() { FAST } else { until_next };
            // A page that begins to look ends a long pause.
            let _ = tokio::time::timeout(pause, self.wake.notified()).await;
        }
    }

    /// Takes a reading, and a point of the recent curves.
    async fn read(&self) -> Rc<Reading> {
        let reading = Rc::new(Reading::new(self.server.figures().await, &self.config.data_dir));
        let before = self.last.replace(Some(Rc::clone(&reading)));
        if let Some(before) = before {
            let mut recent = self.recent.borrow_mut();
            recent.push_back((now_seconds(), reading.since(&before)));
            if recent.len() > RECENT_MAX {
                recent.pop_front();
            }
        }
        reading
    }

    fn is_watched(&self) -> bool {
        self.looked.get().is_some_and(|at| at.elapsed() < LOOKED)
    }

    /// A page looks at the curves.
    pub fn look(&self) {
        let was_watched = self.is_watched();
        self.looked.set(Some(Instant::now()));
        if !was_watched {
            self.wake.notify_one();
        }
    }

    /// The points after a time, in seconds of the epoch.
    pub fn recent(&self, after: u64) -> Vec<(u64, Point)> {
        self.recent.borrow().iter().filter(|(time, _)| *time > after).copied().collect()
    }

    pub fn points(&self, span: Span) -> Vec<(u64, Point)> {
        self.history.borrow().points(span, now_seconds())
    }

    /// The counters, read now.
    pub async fn fresh(&self) -> crate::Figures {
        self.server.figures().await
    }

    /// The counters as they were read last.
    pub fn last(&self) -> Option<Rc<Reading>> {
        self.last.borrow().clone()
    }
}
