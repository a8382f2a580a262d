//! Waiting: the futures that a statement awaits when a step pauses. All of them end early when the session is killed.

use crate::clock::Slice;
use crate::context::{ExecContext, Host, LocalFuture};
use crate::pause::{Pause, engine_error};
use crate::shared::Shared;
use expr::{Error, Result, SessionVars};
use os::time::Instant;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use sync::waits::{self, Cause, Kind};

/// Waits for what a step asked for; the step is called again afterwards.
pub(crate) async fn resolve(pause: Pause, shared: &Shared<'_>, clock: &mut Slice) -> Result<()> {
    match pause {
        Pause::Stall(txn::Stall::Lock(cell)) => {
            let _timed = LockWait::begin(shared.session);
            until_deadline(shared, clock.deadline(), txn::Stall::Lock(cell)).await?;
        }
        Pause::Stall(stall) => until_deadline(shared, clock.deadline(), stall).await?,
        Pause::Spill(wait) => until_killed(shared.session, wait).await?,
        Pause::Share(_) => {}
        Pause::Evaluation(expr::Pause::Yield) => yield_now().await,
        Pause::Evaluation(expr::Pause::Error(error)) => return Err(*error),
        Pause::Evaluation(expr::Pause::Subquery(_)) => return Err(Error::NotSupported("a subquery here".into())),
        Pause::Evaluation(expr::Pause::Search) => return Err(Error::NotSupported("MATCH ... AGAINST here".into())),
        Pause::Evaluation(expr::Pause::Sleep(duration)) => {
            let left = clock.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                // The sleep of the row before was cut.
                return Err(Error::QueryTimeout);
            }
            let cut = left.is_some_and(|left| left < duration);
            if cut {
                clock.note_cut();
            }
            let duration = if cut { left.unwrap_or(duration) } else { duration };
            let sleep = waits::named(Cause::of(Kind::Sleep), shared.host.sleep(duration));
            let interrupted = until_killed(shared.session, sleep).await.is_err() || cut;
            shared.restart_row();
            shared.rare().waits.record(shared.session, Some(interrupted.into()));
        }
        Pause::Evaluation(expr::Pause::GetLock { name, timeout }) => {
            let wait = shared.host.get_lock(shared.session.connection_id, &name, timeout);
            let wait = waits::named(Cause::of(Kind::UserLock), wait);
            match until_killed(shared.session, wait).await {
                Ok(Ok(taken)) => {
                    shared.restart_row();
                    shared.rare().waits.record(shared.session, Some(taken.into()));
                }
                Ok(Err(error)) => return Err(error),
                // Killed: NULL, and the statement ends at its next row.
                Err(_) => shared.rare().waits.record(shared.session, None),
            }
        }
        Pause::Evaluation(expr::Pause::Replication(awaited)) => {
            let wait = waits::named(Cause::of(Kind::Replication), shared.host.replication(*awaited));
            let outcome = until_deadline(shared, clock.deadline(), wait).await??;
            shared.restart_row();
            shared.rare().waits.record(shared.session, outcome);
        }
    }
    shared.restart_waits();
    clock.resumed();
    Ok(())
}

/// Measures a wait for a row that another transaction holds.
pub(crate) struct LockWait<'a> {
    session: &'a SessionVars,
    began: Instant,
}

impl<'a> LockWait<'a> {
    pub(crate) fn begin(session: &'a SessionVars) -> Self {
        Self { session, began: Instant::now() }
    }
}

impl Drop for LockWait<'_> {
    fn drop(&mut self) {
        let sum = &self.session.work.lock_wait_us;
        sum.set(sum.get() + self.began.elapsed().as_micros() as u64);
    }
}

/// Awaits a future, or the session's end.
pub(crate) async fn until_killed<F: Future>(session: &SessionVars, future: F) -> Result<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if let Err(killed) = session.check_killed() {
            return Poll::Ready(Err(killed));
        }
        future.as_mut().poll(cx).map(Ok)
    })
    .await
}

/// As [`until_killed`], and no longer than the statement may take: 3024.
async fn until_deadline<F: Future>(shared: &Shared<'_>, deadline: Option<Instant>, future: F) -> Result<F::Output> {
    let Some(deadline) = deadline else { return until_killed(shared.session, future).await };
    let mut timer = shared.host.sleep(deadline.saturating_duration_since(Instant::now()));
    let mut future = pin!(until_killed(shared.session, future));
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Pending => timer.as_mut().poll(cx).map(|()| Err(Error::QueryTimeout)),
        done => done,
    })
    .await
}

/// Lets the thread's other sessions run once.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        waits::pending(Cause::of(Kind::Ready));
        Poll::Pending
    })
    .await;
}

/// Calls an engine operation until it answers.
macro_rules! engine {
    ($session:expr, $call:expr) => {
        loop {
            match $call {
                Ok(answer) => break Ok(answer),
                Err(txn::Interrupt::Stall(stall)) => {
                    let _timed = matches!(stall, txn::Stall::Lock(_)).then(|| $crate::wait::LockWait::begin($session));
                    if let Err(killed) = $crate::wait::until_killed($session, stall).await {
                        break Err(killed);
                    }
                }
                Err(txn::Interrupt::Error(error)) => break Err($crate::pause::engine_error(error)),
            }
        }
    };
}
pub(crate) use engine;

/// Undoes a statement's changes. It cannot be interrupted: a killed statement is undone too.
pub(crate) async fn roll_back_statement(cx: &mut ExecContext<'_>, savepoint: txn::Savepoint) -> Result<()> {
    if os::mutated("half-statement") {
        return Ok(());
    }
    roll_back_to(cx.worker, cx.txn, savepoint).await
}

/// Undoes what was changed since a savepoint, likewise.
pub(crate) async fn roll_back_to(worker: &txn::Worker, txn: &mut txn::Txn, savepoint: txn::Savepoint) -> Result<()> {
    loop {
        match txn.rollback_to(worker, savepoint) {
            Ok(()) => return Ok(()),
            Err(txn::Interrupt::Stall(stall)) => stall.await,
            Err(txn::Interrupt::Error(error)) => return Err(engine_error(error)),
        }
    }
}

/// A host for statements that run where no server is: nothing to sleep with, no locks, no virtual tables.
#[derive(Debug, Default)]
pub struct NoHost;

impl expr::Host for NoHost {
    fn release_lock(&self, _connection: u32, _name: &str) -> Option<bool> {
        None
    }

    fn release_all_locks(&self, _connection: u32) -> u64 {
        0
    }

    fn lock_holder(&self, _name: &str) -> Option<u32> {
        None
    }
}

impl Host for NoHost {
    fn sleep(&self, _duration: std::time::Duration) -> LocalFuture<'_, ()> {
        Box::pin(async {})
    }

    fn get_lock(&self, _connection: u32, _name: &str, _timeout: Option<std::time::Duration>) -> LocalFuture<'_, Result<bool>> {
        Box::pin(async { Err(Error::NotSupported("GET_LOCK here".into())) })
    }

    fn virtual_rows(
        &self,
        _table: &types::schema::TableDef,
        _equal: &[(usize, Vec<u8>)],
    ) -> Option<Box<dyn crate::context::VirtualRows + '_>> {
        None
    }
}
