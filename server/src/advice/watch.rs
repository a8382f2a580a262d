//! Verify and revert: an index that APPLY ADVICE made visible is watched until the statements that it should help have run often enough.
//!
//! Counts since the index was applied are compared with those before. The index keeps its promise if an execution of these statements
//! reads fewer rows or takes less time, and the statements that write the table do not lose more than is gained. Otherwise the index
//! becomes invisible again. What happened is a line in `advice.log`.
//!
//! K1: an index is hidden only if APPLY ADVICE had made it visible; nobody else's index is touched.
//! K2: a watch goes on after a restart: the counts begin at 0 then, and the comparison takes what there is.
//! K3: the watch acts with the rights of the account that applied the index. If that account may not change the table any more, the
//!     index stays as it is, and the log says so.

use super::journal::{Action, Baseline, Line};
use super::{line, within};
use crate::session::{Listed, SessionInfo};
use crate::show::advice_gather as gather;
use crate::worker::Worker;
use accounts::{Identity, Name};
use advisor::{Statement, Workload};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(5);
/// Executions of the statements before there is a verdict.
const EXECUTIONS_MIN: u64 = 20;
/// What an execution must at least save: of the rows that it read, or of its time.
const SAVED_MIN: f64 = 0.2;

/// Watches all applied indexes, until none is left. Runs on the first worker.
pub fn start(worker: &Rc<Worker>) {
    if !worker.shared.advice.begin_watch() {
        return;
    }
    let own = Rc::clone(worker);
    worker.core.spawn(async move {
        while !own.is_stopping() && !own.shared.advice.watched().is_empty() {
            own.core.sleep_until(own.core.now() + PERIOD).await;
            for line in own.shared.advice.watched() {
                look(&own, &line).await;
            }
        }
        own.shared.advice.end_watch();
    });
}

/// What happened to some statements since the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Since {
    pub executions: u64,
    /// Microseconds and rows of all these executions, and what they would have been before.
    pub time_us: f64,
    pub expected_us: f64,
    pub rows: f64,
    pub expected_rows: f64,
}

/// What the statements of a baseline have done since.
pub fn since(workload: &Workload<'_>, baseline: &[Baseline]) -> Since {
    let by_name: HashMap<(Option<&str>, &str), &Statement> =
        workload.statements.iter().map(|of| ((of.database.as_deref(), of.digest.as_str()), of)).collect();
    let mut sum = Since::default();
    for before in baseline.iter().filter(|before| before.count > 0) {
        let Some(now) = by_name.get(&(before.database.as_deref(), before.digest.as_str())) else { continue };
        // K2
        let is_anew = now.count < before.count;
        let (count, time, rows) = if is_anew {
            (now.count, now.time_us, now.examined)
        } else {
            (now.count - before.count, now.time_us - before.time_us, now.examined.saturating_sub(before.examined))
        };
        let part = count as f64 / before.count as f64;
        sum.executions += count;
        sum.time_us += time;
        sum.rows += rows as f64;
        sum.expected_us += before.time_us * part;
        sum.expected_rows += before.examined as f64 * part;
    }
    sum
}

/// Is the promise kept? `None`: too early. With one sentence for people.
pub fn verdict(helped: Since, writers: Since) -> Option<(bool, String)> {
    if helped.executions < EXECUTIONS_MIN {
        return None;
    }
    let each = |sum: f64| sum / helped.executions as f64;
    let told = format!(
        "{} executions read {:.0} rows and took {} each, where they had read {:.0} rows and taken {}",
        helped.executions,
        each(helped.rows),
        advisor::duration(each(helped.time_us)),
        each(helped.expected_rows),
        advisor::duration(each(helped.expected_us))
    );
    let is_less = |now: f64, before: f64| now <= before * (1.0 - SAVED_MIN);
    if !is_less(helped.rows, helped.expected_rows) && !is_less(helped.time_us, helped.expected_us) {
        return Some((false, told));
    }
    let (saved, lost) = (helped.expected_us - helped.time_us, writers.time_us - writers.expected_us);
    if writers.executions >= EXECUTIONS_MIN && lost > saved.max(0.0) {
        let writers = format!(
            "; but {} executions that write the table took {} more in all, and {} were saved",
            writers.executions,
            advisor::duration(lost),
            advisor::duration(saved.max(0.0))
        );
        return Some((false, told + &writers));
    }
    Some((true, told))
}

async fn look(worker: &Rc<Worker>, applied: &Line) {
    let Some(_busy) = worker.shared.advice.begin(&applied.id) else { return };
    if worker.shared.advice.last(&applied.id).is_none_or(|last| last.action != Action::Applied) {
        return;
    }
    let Some(definer) = account(&applied.by) else { return };
    let Some(access) = worker.definer(&definer) else {
        return tell(
            worker,
            applied,
            Action::Kept,
            format!("the account {} is gone: the index is not watched any more", applied.by),
        )
        .await;
    };
    let identity = Identity::definer(&definer, access.roles.clone());
    let name = applied.clone();
    let done = within(worker, identity, "watching advice", async move |state| {
        let worker = Rc::clone(&state.worker);
        let schema = state.visible_schema();
        let there =
            schema.table(&name.database, &name.table).and_then(|def| def.indexes.iter().find(|index| index.name == name.index));
        let Some(index) = there else {
            tell(&worker, &name, Action::Reverted, "the index is not there any more".to_owned()).await;
            return Ok(());
        };
        if index.invisible {
            tell(&worker, &name, Action::Hidden, "somebody made the index invisible".to_owned()).await;
            return Ok(());
        }
        let gathered = gather(state).await;
        let workload = crate::show::advice_workload(&worker.shared, &schema, &gathered);
        let (helped, writers) = (since(&workload, &name.helps), since(&workload, &name.writers));
        match verdict(helped, writers) {
            None => {}
            Some((true, told)) => tell(&worker, &name, Action::Kept, told).await,
            Some((false, told)) => {
                super::alter(
                    state,
                    &name.database,
                    &name.table,
                    &format!("ALTER INDEX {} INVISIBLE", advisor::quoted(&name.index)),
                )
                .await?;
                tell(&worker, &name, Action::Hidden, told).await;
            }
        }
        Ok(())
    });
    if let Some(Err(error)) = done.await {
        let why = error.describe().message;
        // K3
        tell(worker, applied, Action::Kept, format!("the index could not be hidden, and is not watched any more: {why}")).await;
    }
}

async fn tell(worker: &Worker, applied: &Line, action: Action, note: String) {
    tracing::info!(
        id = applied.id,
        table = format!("{}.{}", applied.database, applied.table),
        "advice {}: {note}",
        action.name()
    );
    let next = line(&applied.id, action, &applied.by, (&applied.database, &applied.table, &applied.index), note);
    super::write(worker, next).await;
}

/// The account of `user@host`.
fn account(text: &str) -> Option<Name> {
    text.contains('@').then(|| Name::from_plain(text))
}

/// The session in whose name something works.
pub fn listed(worker: &Rc<Worker>, identity: &Identity, what: &'static str) -> (Rc<SessionInfo>, Listed) {
    let id = worker.shared.next_connection_id();
    let info = Rc::new(SessionInfo::new(id, identity.host.clone(), &worker.core));
    info.user.borrow_mut().clone_from(&identity.user);
    info.stopping.set(worker.is_stopping());
    info.begin("Query", worker.core.now());
    info.state.set(what);
    info.set_statement(what.as_bytes());
    let listed = Listed::new(worker, &info);
    (info, listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(executions: u64, time: [f64; 2], rows: [f64; 2]) -> Since {
        let each = executions as f64;
        Since {
            executions,
            time_us: time[1] * each,
            expected_us: time[0] * each,
            rows: rows[1] * each,
            expected_rows: rows[0] * each,
        }
    }

    #[test]
    fn an_index_is_kept_if_it_saves_rows_or_time_and_writers_do_not_lose_more() {
        let none = Since::default();
        let kept = |helped, writers| verdict(helped, writers).map(|(kept, _)| kept);
        assert_eq!(kept(sums(19, [1000.0, 10.0], [9000.0, 1.0]), none), None);
        assert_eq!(kept(sums(20, [1000.0, 10.0], [9000.0, 1.0]), none), Some(true));
        // Time that a busy machine adds does not hide the rows that are saved.
        assert_eq!(kept(sums(50, [1000.0, 990.0], [9000.0, 1.0]), none), Some(true));
        assert_eq!(kept(sums(50, [1000.0, 995.0], [9000.0, 8800.0]), none), Some(false));
        assert_eq!(kept(sums(50, [1000.0, 700.0], [9000.0, 9000.0]), none), Some(true));
        assert_eq!(kept(sums(20, [100.0, 10.0], [900.0, 1.0]), sums(1000, [10.0, 11.0], [1.0, 1.0])), Some(true));
        assert_eq!(kept(sums(20, [100.0, 10.0], [900.0, 1.0]), sums(1000, [10.0, 30.0], [1.0, 1.0])), Some(false));
    }
}
