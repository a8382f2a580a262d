//! The services that execution needs from the server: sleeping, named locks, the rows of virtual tables.

use crate::show::Gathered;
use crate::user_lock::Attempt;
use crate::worker::{Message, Worker};
use accounts::Access;
use exec::{LocalFuture, VirtualRows};
use std::rc::Rc;
use std::task::Poll;
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
