//! Prepared branches: kept in the catalog, held by a worker, ended by it, made again at the next start.
//!
//! R1: a prepared transaction holds its row locks (they are the marks of its records) and shares of the metadata locks of its tables. After a
//!     start it has both again before the first client connects. Locks on ranges and rows that it only read are not kept, as in InnoDB.

use super::RETRY;
use crate::branch::{BranchId, Entry, PreparedTxn};
use crate::error::{Error, Result};
use crate::session::Transaction;
use crate::shared::Shared;
use crate::worker::{Message, Worker};
use reactor::one_shot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use sync::waits::Kind;
use table::{PreparedReader, PreparedWriter, TableUse, remove_prepared_part};
use txn::{Durability, Interrupt, Isolation, Txn};
use types::schema::TableId;

/// Steps between two turns of the event loop.
const STEPS_PER_TURN: u32 = 256;

/// What the catalog keeps of a branch beside its changes.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    id: BranchId,
    /// The tables, and whether it writes them.
    tables: Vec<(u64, bool)>,
    /// For the binary log.
    note: Option<Vec<u8>>,
}

/// Repeats a call of the engine until it answers.
async fn until_done<T>(mut call: impl FnMut() -> txn::Result<T>) -> std::result::Result<T, txn::Error> {
    loop {
        match call() {
            Ok(value) => return Ok(value),
            Err(Interrupt::Stall(stall)) => stall.await,
            Err(Interrupt::Error(error)) => return Err(error),
        }
    }
}

/// Writes the changes of a session's transaction into the catalog; durable when it returns.
///
/// # Errors
/// I/O, a full disk; nothing is kept then.
pub async fn keep(worker: &Rc<Worker>, number: u64, id: &BranchId, transaction: &mut Transaction<'_>) -> Result<()> {
    let tables = transaction.tables_in_use();
    let head = Head { id: id.clone(), tables, note: transaction.note().map(<[u8]>::to_vec) };
    let head = serde_json::to_vec(&head).map_err(|error| Error::Internal(error.to_string()))?;
    let Some(prepared) = transaction.txn() else { return Err(Error::Internal("a branch without a transaction".to_owned())) };
    let mut writer = PreparedWriter::new(number, head, prepared);
    let mut store = worker.engine.begin(Isolation::ReadCommitted);
    let mut steps = 0;
    loop {
        match until_done(|| writer.step(&worker.engine, prepared, &mut store)).await {
            Ok(false) => {}
            Ok(true) => break,
            Err(error) => {
                undo(worker, store).await;
                return Err(exec::engine_error(error).into());
            }
        }
        steps += 1;
        if steps % STEPS_PER_TURN == 0 {
            worker.core.behind_others().await;
        }
    }
    if let Some(stall) = store.commit_as(&worker.engine, Durability::Full) {
        stall.await;
    }
    Ok(())
}

/// Rolls a transaction back, for as long as it takes.
async fn undo(worker: &Rc<Worker>, txn: Txn) {
    let mut txn = ManuallyDrop::new(txn);
    while let Err(error) = until_done(|| txn.rollback(&worker.engine)).await {
        if worker.is_stopping() {
            return;
        }
        tracing::error!("a transaction cannot be rolled back yet ({error}): its rows stay locked meanwhile");
        worker.core.sleep_until(worker.core.now() + RETRY).await;
    }
}

/// Ends a branch at the worker that has it, and waits for that.
///
/// # Errors
/// I/O; the branch is prepared as before then.
pub async fn end_at(shared: &Arc<Shared>, at: usize, number: u64, id: BranchId, commits: bool) -> Result<()> {
    let (reply, wait) = one_shot();
    let wait = wait.named(Kind::Workers);
    shared.workers[at].send(Message::Call(Box::new(move |worker| {
        let own = Rc::clone(worker);
        worker.core.spawn(async move { reply.send(end(&own, number, &id, commits).await) });
    })));
    match wait.await {
        Some(ended) => ended.map_err(|error| exec::engine_error(error).into()),
        None => Err(Error::Internal("the server stops; the branch is still prepared".to_owned())),
    }
}

async fn end(worker: &Rc<Worker>, number: u64, id: &BranchId, commits: bool) -> std::result::Result<(), txn::Error> {
    let found = worker.prepared.borrow_mut().remove(&number);
    let Some(mut prepared) = found else { return Err(txn::Error::Storage("the branch is not there".to_owned())) };
    let branches = &worker.shared.branches;
    if commits {
        let mark = prepared.txn.savepoint();
        if let Err(error) = remove_parts(worker, number, &mut prepared.txn).await {
            let undone = until_done(|| prepared.txn.rollback_to(&worker.engine, mark)).await;
            if let Err(error) = undone {
                tracing::error!("XA COMMIT has failed, and the branch waits for the next start ({error})");
                std::mem::forget(prepared);
                return Err(error);
            }
            worker.prepared.borrow_mut().insert(number, prepared);
            branches.put_back(id, worker.index, number);
            return Err(error);
        }
        if let Some(note) = &prepared.note {
            prepared.txn.note(&worker.engine, note);
        }
        let stall = prepared.txn.commit(&worker.engine);
        drop(prepared.shares);
        branches.forget(id);
        if let Some(stall) = stall {
            stall.await;
        }
        return Ok(());
    }
    let changes = prepared.txn.changes();
    undo(worker, ManuallyDrop::into_inner(prepared.txn)).await;
    prepared.written.iter().for_each(|table| table.note_rolled_back(&worker.engine, changes));
    drop(prepared.shares);
    // What stays of it would be made again at the next start.
    let mut store = worker.engine.begin(Isolation::ReadCommitted);
    let removed = remove_parts(worker, number, &mut store).await;
    match &removed {
        Ok(()) => {
            if let Some(stall) = store.commit_as(&worker.engine, Durability::Full) {
                stall.await;
            }
        }
        // P2: it is undone now, and prepared again at the next start.
        Err(_) => undo(worker, store).await,
    }
    branches.forget(id);
    removed
}

async fn remove_parts(worker: &Rc<Worker>, number: u64, txn: &mut Txn) -> std::result::Result<(), txn::Error> {
    let mut part = 0;
    while until_done(|| remove_prepared_part(&worker.engine, txn, number, part)).await? {
        part += 1;
        if part % STEPS_PER_TURN == 0 {
            worker.core.behind_others().await;
        }
    }
    Ok(())
}

/// Makes the prepared branches of the catalog again, on this worker. R1
///
/// # Errors
/// What the log shall say: the server cannot serve without them.
pub async fn restore(worker: &Rc<Worker>, kept: BTreeMap<u64, u32>) -> std::result::Result<(), String> {
    for (number, parts) in kept {
        let failed = |error: txn::Error| format!("a prepared transaction (number {number}) cannot be made again: {error}");
        let mut txn = ManuallyDrop::new(worker.engine.begin(Isolation::ReadCommitted));
        let mut reader = PreparedReader::new(number, parts);
        let head = until_done(|| reader.head(&worker.engine, &mut txn)).await.map_err(failed)?;
        let head: Head = serde_json::from_slice(&head).map_err(|error| failed(txn::Error::Storage(error.to_string())))?;
        let (mut shares, mut written) = (Vec::new(), Vec::new());
        for (table, writes) in head.tables {
            let used = if writes { TableUse::Writes } else { TableUse::Reads };
            // A table that was only read may be gone: nothing holds it between two starts.
            if let Some(table) = worker.shared.database.table(TableId(table))
                && table.mdl().acquire_shared(worker.index, used).is_ok()
            {
                shares.push(table.mdl().guard_shared(worker.index, used));
                written.extend(writes.then_some(table));
            }
        }
        while !until_done(|| reader.step(&worker.engine, &mut txn)).await.map_err(failed)? {}
        let entry =
            Entry::new(&worker.shared.branches, head.id).map_err(|_| format!("prepared transaction {number} is there twice"))?;
        worker.shared.branches.note_number(number);
        worker.prepared.borrow_mut().insert(number, PreparedTxn { txn, note: head.note.map(Into::into), shares, written });
        entry.hand_on(worker.index, number);
        tracing::info!("a prepared transaction (number {number}) waits for XA COMMIT or XA ROLLBACK; XA RECOVER names it");
    }
    Ok(())
}
