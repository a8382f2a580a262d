//! The services that execution needs from the server: sleeping, named locks, the rows of virtual tables.

use crate::show::Gathered;
use crate::user_lock::Attempt;
use crate::worker::{Message, Worker};
use accounts::Access;
use binlog::gtid::{Gtid, GtidSet};
use conditions::Condition;
use exec::{LocalFuture, VirtualRows};
use expr::{Awaited, Until};
use os::time::Instant;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use types::Value;
use types::schema::{Schema, TableDef};

/// The server as one statement sees it.
pub struct ServerHost<'a> {
    pub worker: &'a Worker,
    pub schema: Option<&'a Schema>,
    /// Rows collected from all workers, if the plan needs them.
    pub gathered: Option<&'a Gathered>,
    /// The privileges that decide what the account may see.
    pub access: Option<&'a Access>,
}

impl<'a> ServerHost<'a> {
    pub fn new(worker: &'a Worker) -> Self {
        Self { worker, schema: None, gathered: None, access: None }
    }
}

impl expr::Host for ServerHost<'_> {
    fn release_lock(&self, connection_id: u32, name: &str) -> Option<bool> {
        self.worker.shared.user_locks.release(connection_id, name)
    }

    fn release_all_locks(&self, connection_id: u32) -> u64 {
        self.worker.shared.user_locks.release_all(connection_id)
    }

    fn lock_holder(&self, name: &str) -> Option<u32> {
        self.worker.shared.user_locks.holder(name)
    }
}

impl exec::Host for ServerHost<'_> {
    fn sleep(&self, duration: Duration) -> LocalFuture<'_, ()> {
        let core = &self.worker.core;
        Box::pin(core.sleep_until(core.now() + duration))
    }

    fn get_lock(&self, connection_id: u32, name: &str, timeout: Option<Duration>) -> LocalFuture<'_, expr::Result<bool>> {
        let name = name.to_owned();
        Box::pin(async move {
            let core = &self.worker.core;
            let locks = &self.worker.shared.user_locks;
            let deadline = timeout.map(|timeout| core.now() + timeout);
            let _given_up = GiveUp { worker: self.worker, connection_id, name: &name };
            std::future::poll_fn(|cx| match locks.attempt(connection_id, &name, cx.waker()) {
                Attempt::Taken => Poll::Ready(Ok(true)),
                Attempt::Deadlock => Poll::Ready(Err(expr::Error::UserLockDeadlock)),
                Attempt::Waiting => match deadline {
                    Some(deadline) if core.now() >= deadline => Poll::Ready(Ok(false)),
                    Some(deadline) => {
                        core.wake_at(deadline);
                        Poll::Pending
                    }
                    None => Poll::Pending,
                },
            })
            .await
        })
    }

    fn replication(&self, awaited: Awaited) -> LocalFuture<'_, expr::Result<Option<i64>>> {
        Box::pin(async move {
            let deadline = awaited.timeout.map(|timeout| self.worker.core.now() + timeout);
            match awaited.until {
                Until::Executed { set, own } => self.executed(&set, own.as_deref(), deadline).await,
                Until::Applied { file, position } => self.applied(&file, position, deadline).await,
            }
        })
    }

    fn temporary(&self) -> Option<&exec::Temporary> {
        Some(&self.worker.shared.temporary)
    }

    fn helpers(&self) -> usize {
        if self.worker.is_stopping() { 0 } else { self.worker.others().count() }
    }

    fn offer(&self, number: usize, help: Box<dyn exec::Help>) {
        let Some(remote) = self.worker.others().nth(number) else { return };
        remote.send(Message::Call(Box::new(move |worker| {
            let own = Rc::clone(worker);
            worker.core.spawn(async move {
                let idle = || -> LocalFuture<'_, ()> { Box::pin(own.core.when_idle()) };
                help.run(&own.engine, &idle).await;
            });
        })));
    }

    fn virtual_rows(&self, table: &TableDef, equal: &[(usize, Vec<u8>)]) -> Option<Box<dyn VirtualRows + '_>> {
        let wanted = crate::show::Wanted::new(table, equal);
        let source = crate::show::Source {
            worker: self.worker,
            schema: self.schema?,
            gathered: self.gathered,
            access: self.access,
            wanted,
        };
        Some(Box::new(Rows(crate::show::virtual_rows(&source, table)?.into_iter())))
    }

    fn change_settings(&self, table: &TableDef, row: &[Value<'static>], changes: &[(usize, Value<'_>)]) -> expr::Result<()> {
        self.worker.shared.instruments.change(table, row, changes);
        Ok(())
    }
}

impl ServerHost<'_> {
    /// Waits for `poll`, until the deadline at most: `None`.
    async fn until<T>(&self, deadline: Option<Instant>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Option<T> {
        let core = &self.worker.core;
        std::future::poll_fn(|cx| match (poll(cx), deadline) {
            (Poll::Ready(value), _) => Poll::Ready(Some(value)),
            (Poll::Pending, Some(deadline)) if core.now() >= deadline => Poll::Ready(None),
            (Poll::Pending, Some(deadline)) => {
                core.wake_at(deadline);
                Poll::Pending
            }
            (Poll::Pending, None) => Poll::Pending,
        })
        .await
    }

    /// [`Until::Executed`]
    async fn executed(&self, text: &str, own: Option<&str>, deadline: Option<Instant>) -> expr::Result<Option<i64>> {
        const FUNCTION: &str = "WAIT_FOR_EXECUTED_GTID_SET";
        let Some(log) = &self.worker.shared.binlog else {
            return Err(Condition::CantUseWhenGtidModeOff { what: FUNCTION.into() }.into());
        };
        let Some(set) = GtidSet::parse(text) else {
            return Err(Condition::MalformedGtidSetSpecification { value: text.to_owned().into() }.into());
        };
        if let Some(own) = own.and_then(Gtid::parse)
            && set.contains(&own)
            && !log.status().executed.contains(&own)
        {
            return Err(Condition::CantWaitForExecutedGtidSetWhileOwningAGtid { gtid: own.to_string().into() }.into());
        }
        // What others can see is executed, whether it is durable or not.
        self.worker.engine.log_stall().await;
        log.catch_up();
        let Some(status) = self.until(deadline, |cx| log.poll_executed(&set, cx.waker())).await else { return Ok(Some(1)) };
        match &status.failed {
            _ if set.is_subset_of(&status.executed) => Ok(Some(0)),
            Some(why) => {
                let message = format!("the binary log stands still: {why}").into();
                Err(Condition::UnknownError { message }.into())
            }
            None => Err(expr::Error::Interrupted),
        }
    }

    /// [`Until::Applied`]
    async fn applied(&self, file: &str, position: u64, deadline: Option<Instant>) -> expr::Result<Option<i64>> {
        // `binlog.000009` is before `binlog.1000000`.
        let place = |name: &str| name.rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
        let Some(wanted) = place(file) else { return Ok(None) };
        let (mut waited, mut last) = (0, None);
        let reached = self
            .until(deadline, |cx| {
                let mut inner = self.worker.shared.replica.inner.lock();
                if !inner.applier_lives || !inner.wants_applier {
                    return Poll::Ready(None);
                }
                let here = (place(&inner.applied_file).unwrap_or(0), inner.applied_position);
                waited += i64::from(last.replace(here).is_some_and(|last| last != here));
                if here >= (wanted, position) {
                    return Poll::Ready(Some(waited));
                }
                inner.watchers.push(cx.waker().clone());
                Poll::Pending
            })
            .await;
        Ok(reached.unwrap_or(Some(-1)))
    }
}

/// Removes the connection from a lock's waiters, however the wait ends.
struct GiveUp<'a> {
    worker: &'a Worker,
    connection_id: u32,
    name: &'a str,
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        self.worker.shared.user_locks.give_up(self.connection_id, self.name);
    }
}

struct Rows(std::vec::IntoIter<Vec<Value<'static>>>);

impl VirtualRows for Rows {
    fn next_row(&mut self, row: &mut Vec<Value<'static>>) -> bool {
        match self.0.next() {
            Some(next) => {
                *row = next;
                true
            }
            None => false,
        }
    }
}
