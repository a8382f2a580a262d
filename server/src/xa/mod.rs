//! Branches of distributed transactions: XA START to XA COMMIT (manual, section 15.3.8).
//!
//! ```text
//! session    XA START, statements, XA END          a branch in the session's transaction      (this file)
//!            XA PREPARE                            the catalog keeps the changes; the engine's transaction goes to the worker
//! worker     XA COMMIT, XA ROLLBACK of any session the worker that has the transaction ends it (`prepared`)
//! start      the changes of each prepared branch are made again, before clients can connect  (`prepared`)
//! ```
//!
//! B1: see `branch`.
//! B2: XA PREPARE answers when the changes are durable in the catalog. From then on the branch ends only by XA COMMIT or XA ROLLBACK.
//! B3: a branch that is being ended is neither shown nor ended by another session; if ending it fails, it is prepared again.

mod prepared;

pub use prepared::restore;

use crate::branch::{Branch, BranchId, BranchState, Entry, fail};
use crate::error::Result;
use crate::session::State;
use crate::show::{Columns, ResultSet, number, result};
use conditions::Condition;
use sql::ast::{Xa, Xid};
use std::rc::Rc;
use std::time::Duration;

impl State<'_> {
    /// 1399 for a statement that ends a transaction by its own words, or begins one.
    #[inline]
    pub fn refuse_in_branch(&self) -> Result<()> {
        match &self.execution.transaction.branch {
            Some(branch) => Err(branch.refusal()),
            None => Ok(()),
        }
    }

    /// Runs a statement about a branch. `None`: it has no rows.
    pub async fn run_xa(&mut self, xa: &Xa<'_>) -> Result<Option<ResultSet>> {
        match xa {
            Xa::Start { resumes: true, .. } | Xa::End { suspends: true, .. } => return Err(Condition::XaerInval.into()),
            Xa::Start { xid, .. } => self.start_branch(xid)?,
            Xa::End { xid, .. } => self.end_branch(xid)?,
            Xa::Prepare(xid) => self.prepare_branch(xid).await?,
            Xa::Commit { xid, one_phase } => self.commit_branch(xid, *one_phase).await?,
            Xa::Rollback(xid) => self.roll_back_branch(xid).await?,
            Xa::Recover { converts } => return self.prepared_branches(*converts).map(Some),
        }
        self.note_transaction();
        Ok(None)
    }

    fn start_branch(&mut self, xid: &Xid<'_>) -> Result<()> {
        self.refuse_in_branch()?;
        let transaction = &mut self.execution.transaction;
        if transaction.is_open() || !transaction.locks().is_empty() {
            return Err(Condition::XaerOutside.into());
        }
        let entry = Entry::new(&self.worker.shared.branches, BranchId::from(xid))?;
        let worker = Rc::clone(&self.worker);
        transaction.begin(&worker, &self.session.settings, None, false);
        transaction.branch = Some(Box::new(Branch { state: BranchState::Active, entry }));
        Ok(())
    }

    fn end_branch(&mut self, xid: &Xid<'_>) -> Result<()> {
        let Some(branch) = &mut self.execution.transaction.branch else { return Err(fail("NON-EXISTING")) };
        if branch.state == BranchState::Idle {
            return Err(branch.refusal());
        }
        if branch.entry.id != BranchId::from(xid) {
            return Err(Condition::XaerNota.into());
        }
        if branch.state == BranchState::RollbackOnly {
            return Err(Condition::XaRbdeadlock.into());
        }
        branch.state = BranchState::Idle;
        Ok(())
    }

    /// B2
    async fn prepare_branch(&mut self, xid: &Xid<'_>) -> Result<()> {
        match &self.execution.transaction.branch {
            None => return Err(fail("NON-EXISTING")),
            Some(branch) if branch.state != BranchState::Idle => return Err(branch.refusal()),
            Some(branch) if branch.entry.id != BranchId::from(xid) => return Err(Condition::XaerNota.into()),
            Some(_) => {}
        }
        let worker = Rc::clone(&self.worker);
        let number = worker.shared.branches.next_number();
        let transaction = &mut self.execution.transaction;
        let txn = transaction.ensure(&worker, &self.session.settings, true);
        txn.forget_snapshot(&worker.engine);
        let id = BranchId::from(xid);
        prepared::keep(&worker, number, &id, transaction).await?;
        if let (Some(prepared), Some(branch)) = (transaction.detach(&worker), transaction.branch.take()) {
            worker.prepared.borrow_mut().insert(number, prepared);
            branch.entry.hand_on(worker.index, number);
        }
        Ok(())
    }

    async fn commit_branch(&mut self, xid: &Xid<'_>, one_phase: bool) -> Result<()> {
        let id = BranchId::from(xid);
        match &self.execution.transaction.branch {
            Some(branch) if branch.entry.id == id && branch.state == BranchState::Idle && one_phase => {
                self.commit_named().await?;
                self.execution.transaction.branch = None;
                Ok(())
            }
            Some(branch) => Err(branch.refusal()),
            None => self.end_prepared(id, true).await,
        }
    }

    async fn roll_back_branch(&mut self, xid: &Xid<'_>) -> Result<()> {
        let id = BranchId::from(xid);
        match &self.execution.transaction.branch {
            Some(branch) if branch.entry.id == id && branch.state != BranchState::Active => {
                let worker = Rc::clone(&self.worker);
                self.execution.transaction.rollback(&worker).await;
                self.execution.transaction.branch = None;
                Ok(())
            }
            Some(branch) => Err(branch.refusal()),
            None => self.end_prepared(id, false).await,
        }
    }

    /// Has the worker that holds a prepared branch end it. B3
    async fn end_prepared(&mut self, id: BranchId, commits: bool) -> Result<()> {
        if self.execution.transaction.is_open() {
            return Err(fail("NON-EXISTING"));
        }
        self.refuse_protected()?;
        let Some((worker, number)) = self.worker.shared.branches.begin_end(&id) else {
            return Err(Condition::XaerNota.into());
        };
        prepared::end_at(&self.worker.shared, worker, number, id, commits).await
    }

    fn prepared_branches(&self, converts: bool) -> Result<ResultSet> {
        if !self.session.access.has_dynamic("XA_RECOVER_ADMIN") {
            return Err(Condition::XaerRmerr.into());
        }
        let columns = Columns::default().number("formatID").number("gtrid_length").number("bqual_length").text("data", 260);
        let mut made = result(columns);
        for id in self.worker.shared.branches.prepared() {
            let data = [&id.gtrid[..], &id.bqual[..]].concat();
            let data = if converts { hexadecimal(&data).into_bytes() } else { data };
            made.rows.push(vec![
                number(id.format),
                number(id.gtrid.len() as u64),
                number(id.bqual.len() as u64),
                types::Value::Bytes(data.into()),
            ]);
        }
        Ok(made)
    }
}

/// `0x` and two digits for each byte.
fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold("0x".to_owned(), |mut all, byte| {
        let _ = write!(all, "{byte:02X}");
        all
    })
}

/// Between two attempts to undo a prepared branch.
const RETRY: Duration = Duration::from_secs(1);
