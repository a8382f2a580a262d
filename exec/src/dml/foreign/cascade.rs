//! The actions of foreign keys on the children of a row that was deleted or got another key, and on their children.
//!
//! Depth first, on an explicit stack: a frame is a changed row, the next of its child keys, and the position of the scan of that key's
//! children. A child is written before its own children are read.
//!
//! S1: the stack has at most `LEVELS_MAX` frames; a row one level deeper is error 3008.
//! S2: below a row that a key changed (not deleted), further rows of the same table cannot be changed: InnoDB
//!     treats this circle as RESTRICT, because it cannot know that the circle ends.

use super::super::writer::Writer;
use super::{Changes, Checker};
use crate::dml::common::duplicate_key;
use crate::dml::foreign::plan::ChildKey;
use crate::source::{RowSlot, Source, SourceState};
use crate::wait::{self, engine};
use expr::{Error, Result};
use smallvec::SmallVec;
use table::{RowBuf, RowCursor, RowRead, WriteRow, is_representable};
use txn::{LockMode, ReadMode, WaitPolicy};
use types::schema::ReferenceAction;
use types::{TypeKind, Value};

/// MySQL's limit, which includes the statement's own row.
const LEVELS_MAX: usize = 15;

/// A changed row whose children are being changed.
#[derive(Default)]
pub(super) struct Frame {
    node: usize,
    /// The row before the change.
    row: RowBuf,
    deleted: bool,
    /// Its new values, unless it was deleted.
    changes: Vec<(usize, Value<'static>)>,
    /// The next of the node's child keys.
    next: usize,
    /// Is a scan for children of the previous key under way?
    scans: bool,
    cursor: RowCursor,
    child: RowSlot,
}

/// The next step for the frame on top.
enum Next {
    /// All of its keys are done.
    Up,
    /// The scan gave a child, in the frame's `child`.
    Child,
    /// Look again.
    Again,
}

impl Checker<'_> {
    /// Applies the keys' actions after a row of the statement's own table was written. `changes`: its new values; `None`: it was deleted.
    pub(super) async fn cascade(
        &mut self,
        writer: &mut Writer<'_, '_>,
        old: &RowBuf,
        changes: Option<&[(usize, Value<'_>)]>,
        counts: &mut Changes,
    ) -> Result<()> {
        let mut stack = Vec::new();
        let first = self.frame(self.node, old, changes);
        stack.push(first);
        let outcome = self.walk(writer, &mut stack, counts).await;
        self.spare.append(&mut stack);
        outcome
    }

    fn frame(&mut self, node: usize, row: &RowBuf, changes: Option<&[(usize, Value<'_>)]>) -> Frame {
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.node = node;
        frame.row.copy_from(row);
        frame.deleted = changes.is_none();
        frame.changes.clear();
        let changes = changes.unwrap_or_default().iter();
        frame.changes.extend(changes.map(|(column, value)| (*column, value.clone().into_owned())));
        (frame.next, frame.scans) = (0, false);
        frame
    }

    async fn walk(&mut self, writer: &mut Writer<'_, '_>, stack: &mut Vec<Frame>, counts: &mut Changes) -> Result<()> {
        loop {
            if let Err(pause) = self.clock.tick(writer.shared.session) {
                wait::resolve(pause, writer.shared, &mut self.clock).await?;
            }
            let next = if stack.last().is_some_and(|top| top.scans) {
                self.next_child(writer, stack).await?
            } else {
                self.next_key(writer, stack).await?
            };
            match next {
                Next::Again => {}
                Next::Child => {
                    if let Some(below) = self.write_child(writer, stack, counts).await? {
                        stack.push(below);
                    }
                }
                Next::Up => {
                    self.spare.extend(stack.pop());
                    if stack.is_empty() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Starts with the next child key of the top frame.
    async fn next_key(&mut self, writer: &mut Writer<'_, '_>, stack: &mut [Frame]) -> Result<Next> {
        let levels = stack.len();
        let (top, above) = stack.split_last_mut().expect("called with a frame");
        let node = self.keys.node(top.node);
        let Some(child) = node.children.get(top.next) else { return Ok(Next::Up) };
        top.next += 1;
        if !top.deleted && !child.is_moved(&top.changes) {
            return Ok(Next::Again);
        }
        let row = top.row.row(&node.table);
        let values = child.reference.parent_columns.iter().map(|column| row.get(*column));
        let values = values.collect::<types::Result<SmallVec<[Value<'_>; 4]>>>();
        let values = values.map_err(|error| Error::Storage(format!("{error:?}")))?;
        let below = self.keys.node(child.node);
        if !child.reference.encode_child_range(&below.table, &values, &mut self.lookup.range) {
            return Ok(Next::Again);
        }
        let action = child.action(top.deleted);
        // S2
        let changes_row = !(top.deleted && action == ReferenceAction::Cascade);
        let is_circle = changes_row && (above.iter().chain([&*top])).any(|frame| frame.node == child.node && !frame.deleted);
        if action.changes_child() && !is_circle && levels < LEVELS_MAX {
            let mode =
                if writer.txn.locks_gaps() { ReadMode::Lock(LockMode::Exclusive, WaitPolicy::Wait) } else { ReadMode::Latest };
            top.cursor.open(&below.table, child.reference.index, &self.lookup.range, false, mode, false);
            // The actions for one row may change the following rows, so rows are read one at a time.
            top.cursor.set_batch(1);
            top.scans = true;
            return Ok(Next::Again);
        }
        let Writer { worker, txn, shared } = writer;
        let (index, lookup) = (child.reference.index, &mut self.lookup);
        if !engine!(shared.session, below.table.lock_first(worker, txn, index, LockMode::Share, lookup))? {
            return Ok(Next::Again);
        }
        if action.changes_child() && !is_circle {
            Err(Error::CascadeTooDeep { levels: LEVELS_MAX })
        } else {
            Err(Error::RowIsReferenced { constraint: below.constraint(child.key) })
        }
    }

    /// The next child of the top frame's scan, locked and read current.
    async fn next_child(&mut self, writer: &mut Writer<'_, '_>, stack: &mut [Frame]) -> Result<Next> {
        let top = stack.last_mut().expect("called with a frame");
        let child = &self.keys.node(top.node).children[top.next - 1];
        let below = self.keys.node(child.node);
        let Writer { worker, txn, shared } = writer;
        let Frame { cursor, child: row, .. } = top;
        if !engine!(shared.session, cursor.next(&below.table, worker, txn, row))? {
            top.scans = false;
            return Ok(Next::Again);
        }
        let (mode, policy) = (LockMode::Exclusive, WaitPolicy::Wait);
        if !txn.locks_gaps() && !engine!(shared.session, cursor.lock_current(&below.table, worker, txn, mode, policy, row))? {
            return Ok(Next::Again);
        }
        engine!(shared.session, below.table.load_externals(worker, txn, RowRead::Latest, &below.wanted, row))?;
        Ok(Next::Child)
    }

    /// Deletes or changes the current child of the top frame. Returns a frame for the child's own children, if it may have any.
    async fn write_child(
        &mut self,
        writer: &mut Writer<'_, '_>,
        stack: &mut [Frame],
        counts: &mut Changes,
    ) -> Result<Option<Frame>> {
        let keys = self.keys;
        let top = stack.last_mut().expect("called with a frame");
        let node = keys.node(top.node);
        let child = &node.children[top.next - 1];
        let below = keys.node(child.node);
        let action = child.action(top.deleted);
        let changed_since = || Error::Storage("a locked child row was changed".into());
        if top.deleted && action == ReferenceAction::Cascade {
            let Writer { worker, txn, shared } = writer;
            let outcome = engine!(shared.session, below.table.delete_row(worker, txn, &top.child, &mut self.progress))?;
            if outcome != WriteRow::Done {
                return Err(changed_since());
            }
            counts.cascade(child.node, -1);
            return Ok((!below.children.is_empty()).then(|| self.frame(child.node, &top.child, None)));
        }
        let mut changes = new_values(child, action, top, &below.table)
            .ok_or_else(|| Error::RowIsReferenced { constraint: below.constraint(child.key) })?;
        if changes.is_empty() {
            return Ok(None);
        }
        if let Some(rules) = &below.rules {
            let row = std::mem::take(&mut top.child);
            let source = Source { table: Some(&*below.table), state: SourceState::Stored, row, ..Source::default() };
            let judged = rules.changed(writer.shared, &source, &mut changes, 1);
            top.child = source.row;
            judged?;
        }
        let mut progress = std::mem::take(&mut self.progress);
        let outcome = self.write_update(writer, below, Some(child.key), &top.child, &changes, &mut progress).await;
        self.progress = progress;
        match outcome? {
            WriteRow::Done => {}
            WriteRow::Duplicate { index } => {
                let top = stack.last().expect("called with a frame");
                let record = duplicate_key(&node.table, child.reference.parent_index, &top.row, &top.changes)?;
                let (table, def) = (node.table.def().name.clone(), below.table.def());
                let (child, key) = (def.name.clone(), def.indexes[index].name.clone());
                return Err(Error::ForeignDuplicate { table, record, child, key });
            }
            WriteRow::Changed | WriteRow::Paused { .. } => return Err(changed_since()),
        }
        let goes_on = below.children.iter().any(|key| key.is_moved(&changes));
        Ok(goes_on.then(|| self.frame(child.node, &top.child, Some(&changes))))
    }
}

impl ChildKey {
    fn action(&self, deleted: bool) -> ReferenceAction {
        if deleted { self.on_delete } else { self.on_update }
    }
}

/// The values that a key assigns to a child of the row in `frame`; `None`: the child cannot hold them.
fn new_values(
    child: &ChildKey,
    action: ReferenceAction,
    frame: &Frame,
    table: &table::Table,
) -> Option<Vec<(usize, Value<'static>)>> {
    let row = frame.child.row(table);
    let mut changes = Vec::with_capacity(child.reference.columns.len());
    for (column, parent_column) in child.reference.columns.iter().zip(&child.reference.parent_columns) {
        let new = match action {
            ReferenceAction::SetNull => Value::Null,
            _ => match frame.changes.iter().find(|(changed, _)| changed == parent_column) {
                Some((_, value)) => value.clone(),
                None => continue,
            },
        };
        let definition = &table.def().columns[*column];
        if new.is_null() && !definition.nullable || !is_representable(&new, &definition.ty) || !fits(&new, &definition.ty) {
            return None;
        }
        if !row.get(*column).is_ok_and(|old| old == new) {
            changes.push((*column, new));
        }
    }
    Some(changes)
}

/// A string is not cut to fit.
fn fits(value: &Value<'_>, ty: &types::ColumnType) -> bool {
    let Value::Bytes(bytes) = value else { return true };
    match ty.kind {
        TypeKind::Char { length } | TypeKind::VarChar { length } => {
            String::from_utf8_lossy(bytes).chars().count() <= length as usize
        }
        TypeKind::Binary { length } => bytes.len() == length as usize,
        TypeKind::VarBinary { length } => bytes.len() <= length as usize,
        _ => true,
    }
}
