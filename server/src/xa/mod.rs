//! Branches of distributed transactions: XA START to XA COMMIT (manual, section 15.3.8).
//!
//! ```text
//! session    XA START, statements, XA END          a branch in the session's transaction      (this file)
//!            XA PREPARE                            the catalog keeps the changes; the engine's transaction goes to the worker
//! worker     XA COMMIT, XA ROLLBACK of any session the worker that has the transaction ends it (`prepared`)
//! start      the changes of each prepared branch are made again, before clients can connect  (`prepared`)
//! ```
//!
//! B1: an identifier is in `Branches` from XA START until its transaction has ended, and belongs to one session or to one worker.
//! B2: XA PREPARE answers when the changes are durable in the catalog. From then on the branch ends only by XA COMMIT or XA ROLLBACK.
//! B3: a branch that is being ended is neither shown nor ended by another session; if ending it fails, it is prepared again.

mod prepared;

pub use prepared::{Prepared, restore};

use crate::error::{Error, Result};
use crate::session::State;
use crate::shared::Shared;
use crate::show::{Columns, ResultSet, number, result};
use conditions::Condition;
use serde::{Deserialize, Serialize};
use sql::ast::{Statement, Xa, Xid};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use sync::Mutex;

/// The identifier of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BranchId {
    gtrid: Vec<u8>,
    bqual: Vec<u8>,
    format: u64,
}

impl From<&Xid<'_>> for BranchId {
    fn from(xid: &Xid<'_>) -> Self {
        Self { gtrid: xid.gtrid.to_vec(), bqual: xid.bqual.to_vec(), format: xid.format }
    }
}

/// Where the transaction of a branch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Session,
    /// With its number in the catalog.
    Prepared {
        worker: usize,
        number: u64,
    },
    /// B3
    Ending,
}

/// The branches of the server. B1
#[derive(Debug, Default)]
pub struct Branches(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    places: HashMap<BranchId, Place>,
    /// The largest number in the catalog so far.
    last_number: u64,
}

impl Branches {
    /// A prepared branch of the catalog has this number.
    fn note_number(&self, number: u64) {
        let mut known = self.0.lock();
        known.last_number = known.last_number.max(number);
    }
}

/// An identifier that a session uses; it is free again when this is dropped.
struct Entry {
    shared: Arc<Shared>,
    id: BranchId,
    is_handed_on: bool,
}

impl Entry {
    fn new(shared: &Arc<Shared>, id: BranchId) -> Result<Self> {
        let mut known = shared.branches.0.lock();
        if known.places.contains_key(&id) {
            return Err(Condition::XaerDupid.into());
        }
        known.places.insert(id.clone(), Place::Session);
        Ok(Self { shared: Arc::clone(shared), id, is_handed_on: false })
    }

    /// The branch belongs to a worker from now on.
    fn hand_on(mut self, worker: usize, number: u64) {
        self.is_handed_on = true;
        self.shared.branches.0.lock().places.insert(self.id.clone(), Place::Prepared { worker, number });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.is_handed_on {
            self.shared.branches.0.lock().places.remove(&self.id);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BranchState {
    Active,
    Idle,
    /// The server has rolled it back, because of a deadlock.
    RollbackOnly,
}

impl BranchState {
    fn name(self) -> &'static str {
        match self {
            Self::Active => "ACTIVE",
            Self::Idle => "IDLE",
            Self::RollbackOnly => "ROLLBACK ONLY",
        }
    }
}

/// The branch of a session.
pub struct Branch {
    state: BranchState,
    entry: Entry,
}

impl Branch {
    /// The transaction was rolled back by another way than XA ROLLBACK.
    pub fn note_rolled_back(&mut self) {
        self.state = BranchState::RollbackOnly;
    }

    fn refusal(&self) -> Error {
        fail(self.state.name())
    }

    /// May a plan run? Not over tables of the session alone, and over no tables after XA END.
    ///
    /// # Errors
    /// 1399, 4091
    #[cold]
    pub fn check_plan(&self, tables: &[Arc<table::Table>]) -> Result<()> {
        if tables.is_empty() {
            Ok(())
        } else if self.state != BranchState::Active {
            Err(self.refusal())
        } else if tables.iter().any(|table| table.id().is_temporary()) {
            Err(Condition::XaTempTable.into())
        } else {
            Ok(())
        }
    }

    /// May a statement run that has no plan?
    ///
    /// # Errors
    /// 1399, 4091
    #[cold]
    pub fn check_statement(&self, statement: &Statement<'_>) -> Result<()> {
        use Statement as S;
        match statement {
            S::Xa(_)
            | S::Set(_)
            | S::Use(_)
            | S::Kill { .. }
            | S::Do(_)
            | S::Prepare { .. }
            | S::Execute { .. }
            | S::Deallocate { .. } => Ok(()),
            S::Begin { .. } | S::Commit(_) | S::Rollback(_) => Err(self.refusal()),
            S::CreateTable(create) if create.temporary => Err(Condition::XaTempTable.into()),
            S::DropTable { temporary: true, .. } => Err(Condition::XaTempTable.into()),
            _ if statement.info().implicit_commit => Err(self.refusal()),
            _ if self.state != BranchState::Active => Err(self.refusal()),
            _ => Ok(()),
        }
    }
}

/// 1399
fn fail(state: &'static str) -> Error {
    Condition::XaerRmfail { state: state.into() }.into()
}

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
        let entry = Entry::new(&self.worker.shared, BranchId::from(xid))?;
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
        let number = {
            let mut known = worker.shared.branches.0.lock();
            known.last_number += 1;
            known.last_number
        };
        let transaction = &mut self.execution.transaction;
        let txn = transaction.ensure(&worker, &self.session.settings, true);
        txn.forget_snapshot(&worker.engine);
        let id = BranchId::from(xid);
        prepared::keep(&worker, number, &id, transaction).await?;
        let Some(branch) = transaction.branch.take() else { return Err(fail("NON-EXISTING")) };
        let detached = transaction.detach();
        worker.prepared.borrow_mut().insert(number, Prepared::of_session(detached));
        branch.entry.hand_on(worker.index, number);
        Ok(())
    }

    async fn commit_branch(&mut self, xid: &Xid<'_>, one_phase: bool) -> Result<()> {
        let id = BranchId::from(xid);
        match &self.execution.transaction.branch {
            Some(branch) if branch.entry.id == id && branch.state == BranchState::Idle && one_phase => {
                let worker = Rc::clone(&self.worker);
                self.execution.transaction.commit(&worker).await;
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
        let (worker, number) = {
            let mut known = self.worker.shared.branches.0.lock();
            match known.places.get_mut(&id) {
                Some(place @ &mut Place::Prepared { worker, number }) => {
                    *place = Place::Ending;
                    (worker, number)
                }
                _ => return Err(Condition::XaerNota.into()),
            }
        };
        prepared::end_at(&self.worker.shared, worker, number, id, commits).await
    }

    fn prepared_branches(&self, converts: bool) -> Result<ResultSet> {
        if !self.session.access.has_dynamic("XA_RECOVER_ADMIN") {
            return Err(Condition::XaerRmerr.into());
        }
        let columns = Columns::default().number("formatID").number("gtrid_length").number("bqual_length").text("data", 260);
        let mut made = result(columns);
        let known = self.worker.shared.branches.0.lock();
        let mut all: Vec<(u64, &BranchId)> = known
            .places
            .iter()
            .filter_map(|(id, place)| match place {
                Place::Prepared { number, .. } => Some((*number, id)),
                _ => None,
            })
            .collect();
        all.sort_by_key(|(number, _)| *number);
        for (_, id) in all {
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
