//! The branches of distributed transactions: their identifiers and states, and the transactions of the prepared ones.
//!
//! `xa` runs the statements. B1: an identifier is in [`Branches`] from XA START until its transaction has ended, and belongs to one
//! session or to one worker.

use crate::error::{Error, Result};
use conditions::Condition;
use serde::{Deserialize, Serialize};
use sql::ast::{Statement, Xid};
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use sync::Mutex;
use table::{ShareGuard, Table};
use txn::Txn;

/// The identifier of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BranchId {
    pub gtrid: Vec<u8>,
    pub bqual: Vec<u8>,
    pub format: u64,
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
    pub fn note_number(&self, number: u64) {
        let mut known = self.0.lock();
        known.last_number = known.last_number.max(number);
    }

    /// A number for the catalog that no prepared branch has.
    pub fn next_number(&self) -> u64 {
        let mut known = self.0.lock();
        known.last_number += 1;
        known.last_number
    }

    /// The worker that has a prepared branch, and its number; from now on it is being ended (B3 of `xa`). `None`: it is not prepared.
    pub fn begin_end(&self, id: &BranchId) -> Option<(usize, u64)> {
        let mut known = self.0.lock();
        match known.places.get_mut(id) {
            Some(place @ &mut Place::Prepared { worker, number }) => {
                *place = Place::Ending;
                Some((worker, number))
            }
            _ => None,
        }
    }

    /// The branch has ended.
    pub fn forget(&self, id: &BranchId) {
        self.0.lock().places.remove(id);
    }

    /// The branch could not be ended.
    pub fn put_back(&self, id: &BranchId, worker: usize, number: u64) {
        self.0.lock().places.insert(id.clone(), Place::Prepared { worker, number });
    }

    /// The prepared branches, in the order of XA PREPARE.
    pub fn prepared(&self) -> Vec<BranchId> {
        let known = self.0.lock();
        let number = |place: &Place| if let Place::Prepared { number, .. } = place { Some(*number) } else { None };
        let mut all: Vec<(u64, &BranchId)> = known.places.iter().filter_map(|(id, place)| Some((number(place)?, id))).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

/// An identifier that a session uses; it is free again when this is dropped.
pub struct Entry {
    branches: Arc<Branches>,
    pub id: BranchId,
    is_handed_on: bool,
}

impl Entry {
    /// # Errors
    /// 1440: somebody has it.
    pub fn new(branches: &Arc<Branches>, id: BranchId) -> Result<Self> {
        let mut known = branches.0.lock();
        if known.places.contains_key(&id) {
            return Err(Condition::XaerDupid.into());
        }
        known.places.insert(id.clone(), Place::Session);
        Ok(Self { branches: Arc::clone(branches), id, is_handed_on: false })
    }

    /// The branch belongs to a worker from now on.
    pub fn hand_on(mut self, worker: usize, number: u64) {
        self.is_handed_on = true;
        self.branches.0.lock().places.insert(self.id.clone(), Place::Prepared { worker, number });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.is_handed_on {
            self.branches.0.lock().places.remove(&self.id);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchState {
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
    pub state: BranchState,
    pub entry: Entry,
}

impl Branch {
    /// The transaction was rolled back by another way than XA ROLLBACK.
    pub fn note_rolled_back(&mut self) {
        self.state = BranchState::RollbackOnly;
    }

    /// 1399 with its state.
    pub fn refusal(&self) -> Error {
        fail(self.state.name())
    }

    /// May a plan run? Not over tables of the session alone, and over no tables after XA END.
    ///
    /// # Errors
    /// 1399, 4091
    #[cold]
    pub fn check_plan(&self, tables: &[Arc<Table>]) -> Result<()> {
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
pub fn fail(state: &'static str) -> Error {
    Condition::XaerRmfail { state: state.into() }.into()
}

/// The transaction of a prepared branch, at the worker that has it.
pub struct PreparedTxn {
    /// Dropping an open transaction is a bug, except when the server stops: the next start makes it again.
    pub txn: ManuallyDrop<Txn>,
    /// Goes into the log with the commit, for the binary log.
    pub note: Option<Rc<[u8]>>,
    /// Of the metadata locks.
    pub shares: Vec<ShareGuard>,
    /// The tables that it writes.
    pub written: Vec<Arc<Table>>,
}
