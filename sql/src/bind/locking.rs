//! FOR UPDATE and FOR SHARE: which tables of a block are locked.
//!
//! Without OF, a clause covers all tables of its block. With OF it covers the named tables, by their names in FROM; a
//! view or derived table that was merged into the block stands for the tables that it reads. No table may be in two
//! clauses.

use super::Binder;
use crate::ast::{LockClause, ObjectName};
use crate::error::{Error, Result};
use crate::plan::{Action, Locking, Part, TableLock};

impl Binder<'_> {
    /// Notes the locks of the locking clauses of the block whose FROM was bound last.
    ///
    /// # Errors
    /// 3568: FROM has no table of this name. 3569: a table in two clauses. 1142: FOR UPDATE without a privilege to
    /// change or lock.
    pub(super) fn table_locks(&mut self, clauses: &[LockClause<'_>]) -> Result<()> {
        let mut locked = Vec::new();
        for clause in clauses {
            let find = |name: &ObjectName<'_>| self.source_to_lock(name).ok_or_else(|| Error::UnresolvedLock(quoted(name)));
            let sources = match clause.of {
                [] => self.scope.visible.clone(),
                names => names.iter().map(find).collect::<Result<_>>()?,
            };
            for source in sources {
                if locked.contains(&source) {
                    return Err(Error::LockedTwice(self.sources[source].alias.clone()));
                }
                if self.sources[source].past.is_some() {
                    return Err(Error::WrongUsage("AS OF TIMESTAMP", "FOR UPDATE or FOR SHARE"));
                }
                locked.push(source);
                if clause.locking == Locking::Update {
                    let read = &self.sources[source];
                    self.context.need(read.rights, &read.table, Action::Lock, Part::Any)?;
                }
                // An outermost clause without OF is part of the plan, and covers everything that it reads.
                if !clause.of.is_empty() || !self.levels.is_empty() {
                    self.note_lock(clause, source);
                }
            }
        }
        Ok(())
    }

    fn note_lock(&mut self, clause: &LockClause<'_>, source: usize) {
        let leaves = &self.sources[source].leaves;
        let sources = if leaves.is_empty() { std::slice::from_ref(&source) } else { leaves };
        let lock = |source: &usize| TableLock { source: *source, locking: clause.locking, wait: clause.wait };
        self.locks.extend(sources.iter().map(lock));
    }

    fn source_to_lock(&self, name: &ObjectName<'_>) -> Option<usize> {
        let database = name.database.or(self.context.database());
        let is_named = |source: &&usize| {
            let source = &self.sources[**source];
            let has_alias = source.alias == name.name;
            has_alias && (name.database.is_none() || database == Some(source.table.database.as_str()))
        };
        self.scope.visible.iter().find(is_named).copied()
    }
}

fn quoted(name: &ObjectName<'_>) -> String {
    match name.database {
        Some(database) => format!("`{database}`.`{}`", name.name),
        None => format!("`{}`", name.name),
    }
}
