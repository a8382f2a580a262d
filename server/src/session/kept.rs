//! What is left to do with the text of a statement that has ended: an entry of the slow log, an execution that is kept, a
//! plan that its digest notes. All of it is rare.

use super::state::State;
use crate::digests::{Execution, Statistics, TEXT_BYTES_MAX, cut};
use crate::error::Error;
use crate::waits::LOCKS;
use std::rc::Rc;

impl State<'_> {
    /// Tells the profile which statement the samples since its beginning belong to, if there are any.
    #[cold]
    pub fn label_samples(&self, statistics: &Statistics, now: u64) {
        if os::profile::taken() != self.session.logged.samples {
            let task = self.worker.core.current_task().get();
            let ran = (self.session.measured.began, now);
            self.worker.shared.profiler.label(self.worker.index, task, ran, statistics);
        }
    }

    /// Describes the plan that the statement ran, for its digest. Returns the plan's hash.
    #[cold]
    pub fn note_plan(&mut self, statistics: &Rc<Statistics>, now: u64, is_kept: bool) -> Option<u64> {
        let plan = self.session.noted_plan.take()?;
        // A plan that serves once is described only with an execution that is kept.
        if !is_kept && plan.counts.count.get() < 2 {
            plan.counts.keep_above.set(statistics.keep_above());
            return None;
        }
        let hash = statistics.note_plan(&sql::explain_tree(plan.prepared.plan()), &plan.counts, now);
        plan.counts.keep_above.set(statistics.keep_above());
        Some(hash)
    }

    /// Keeps the execution that was recorded last. `text`: with the values of its parameters.
    #[cold]
    pub fn keep_execution(&mut self, statistics: &Rc<Statistics>, text: &[u8], error: Option<&Error>) {
        let now = os::ticks();
        let plan = self.note_plan(statistics, now, true);
        let (measured, clock) = (&self.session.measured, &self.info.clock);
        let shown = sql::without_secrets(text, &self.session.settings.mode);
        let shown = String::from_utf8_lossy(&shown);
        let kept = cut(&shown, TEXT_BYTES_MAX);
        let waited = clock.off_so_far();
        let waits = (waited > 0).then(|| {
            let mut waits = Box::default();
            clock.add_statement_to(&mut waits);
            waits
        });
        let execution = Execution {
            is_cut: kept.len() < shown.len(),
            text: kept.as_bytes().into(),
            session: self.info.id,
            user: self.session.identity.user.as_str().into(),
            ended: now,
            time: measured.phases.sum() + waited,
            waited,
            locked: clock.ticks_so_far(LOCKS),
            sent: measured.sent,
            examined: measured.examined,
            affected: measured.affected,
            errno: error.map_or(0, |error| error.describe().number),
            phases: measured.phases,
            waits,
            plan,
        };
        statistics.keep(execution);
    }
}
