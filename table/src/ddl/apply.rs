//! Runs ALTER TABLE (and CREATE INDEX, DROP INDEX), after `alter` has told what it means.
//!
//! | kind | what | cost |
//! |---|---|---|
//! | instant | names, defaults, comments, visibility, AUTO_INCREMENT, longer VARCHARs, more members of ENUM and SET, columns that come with a constant, go or move (`types::row::history`), keys that go, CHECKs that go | one catalog transaction |
//! | index | new secondary and unique indexes, and those that lose a column | one pass over the rows, sorting |
//! | rebuild | everything else: types, generated columns, the primary key, FORCE | all rows are written anew |
//!
//! ```text
//! 1. lock the tables alone (`locks`); check names and rules; make new trees, recorded as orphans
//! 2. begin the watch of the table (`watch`), let its users in again
//! 3. read all rows, fill the trees (`build`); work off the rows that changed meanwhile, until few are left (`online`)
//! 4. lock the tables alone again, in turns; while users are let in between turns, work off what they change
//! 5. work off the rest, in turns where it is much (`online`); check the rows against new foreign keys
//! 6. under the DDL mutex: check names again; one catalog transaction links the new trees and unlinks the old ones; publish
//! ```
//!
//! Users wait during steps 1, 5 and 6 only, for the time of a catalog transaction and of a few hundred rows; and for a turn of `locks` where
//! the definition waits for a long transaction. Rows that get a number of a new AUTO_INCREMENT column are numbered in one go: then
//! step 2 is left out, and so is it where no trees are made.
//!
//! Where rows of some partitions go, steps 2 to 5 are those of `take_out`, and no trees are made.
//!
//! A1: a crash before step 6 is durable leaves the old table, one after it the new table; the other trees are orphans (`catalog`, C1, C2).
//! A2: nobody but this definition changes the table from step 1 to step 6 (`locks`, L1).
//! A3: a snapshot from before step 6 does not read the new trees (`Txn::check_age`, 1412): they do not have its versions.

use super::build::{Build, Copy, Keys, Sieve, Work};
use super::locks::{LockedTables, PAUSE_MIN};
use super::online::Changed;
use super::related::{alter_related, followed_children};
use super::take_out::{TakeOut, TakenOut};
use super::{Algorithm, Lock, checks};
use super::{
    AlterAction, DdlOptions, NewTrees, alter, check_database, check_table_free, define, foreign, missing_table, trees_of,
};
use super::{Altered, NewIndex, validate};
use crate::catalog::{CatalogTxn, StoredTable};
use crate::database::Published;
use crate::mdl::PAUSE;
use crate::watch::{Watch, Watching};
use crate::{Database, Error, Result, Table};
use os::time::Instant;
use std::sync::Arc;
use txn::{TreeRef, Worker};
use types::schema::{IndexKind, TableDef};

impl Database {
    /// CREATE INDEX; builds it from the rows. 1062 when a unique one finds a duplicate.
    pub fn create_index(
        &self,
        worker: &Worker,
        database: &str,
        table: &str,
        index: NewIndex,
        options: &DdlOptions,
    ) -> Result<Altered> {
        self.alter_table(worker, database, table, vec![AlterAction::AddIndex { index }], options)
    }

    /// DROP INDEX; 1091 when it does not exist. `PRIMARY` drops the primary key.
    pub fn drop_index(&self, worker: &Worker, database: &str, table: &str, name: &str, options: &DdlOptions) -> Result<Altered> {
        self.alter_table(worker, database, table, vec![AlterAction::DropIndex { name: name.to_string() }], options)
    }

    /// ALTER TABLE.
    pub fn alter_table(
        &self,
        worker: &Worker,
        database: &str,
        table: &str,
        actions: Vec<AlterAction>,
        options: &DdlOptions,
    ) -> Result<Altered> {
        let names = (database.to_string(), table.to_string());
        let related = |published: &Published| alter_related(published, &names, &actions);
        let (mut locked, ddl) = self.lock_tables(worker, related, options)?;
        drop(ddl);
        let is_target = |table: &&Arc<Table>| (&table.def().database, &table.def().name) == (&names.0, &names.1);
        let old = locked.tables.iter().find(is_target).cloned().ok_or_else(|| missing_table(&names))?;
        let mut plan = alter::plan(old.def(), actions.clone(), options)?;
        options.check_expressions(&plan.def)?;
        plan.check_how(old.def(), options)?;
        let is_renamed = (&plan.def.database, &plan.def.name) != (&old.def().database, &old.def().name);
        let checks = options.foreign_key_checks;
        let renamed = std::mem::take(&mut plan.renamed);
        let check = |published: &Published, def: &TableDef| {
            if is_renamed {
                check_database(published, &def.database)?;
                check_table_free(published, &def.database, &def.name)?;
                foreign::check_waiting(published, def, checks)?;
            }
            checks::check_names(published, def)?;
            foreign::check_altered(published, old.def(), def, &renamed, checks)
        };
        check(&self.published(), &plan.def)?;

        let mut taken = None;
        if plan.takes_out(old.def()) {
            let (table, partitions) = (&old, &plan.leaves_out[..]);
            taken = TakeOut { worker, table, partitions, options }.run(&mut locked)?;
        }
        if taken.is_none() && !plan.leaves_out.is_empty() {
            plan.write_anew();
        }
        let copies = plan.copies;
        let kept = if copies { vec![None; plan.def.indexes.len()] } else { plan.kept.clone() };
        let mut def = plan.def.clone();
        let needs_blobs = define::needs_blob_tree(&def);
        let old_blob_tree = old.blob_tree.filter(|_| !copies);
        let made: Vec<usize> = (0..kept.len()).filter(|k| kept[*k].is_none()).collect();
        let count = made.len() + usize::from(needs_blobs && old_blob_tree.is_none());
        let mut trees = NewTrees::create(self, worker, count)?;
        let blob_tree = trees.assign(&mut def, &kept).or(old_blob_tree);
        let stored = StoredTable { def: Arc::new(def), blob_tree };
        let counters = if copies { self.new_counters(old.next_auto_increment()) } else { old.counters.clone() };
        let new = Table::open(&stored, counters.clone(), old.mdl.clone(), 0);
        let mut altered = Altered::default();
        if copies || !made.is_empty() {
            let made = if copies { None } else { Some(made) };
            altered = self.make_trees(worker, &mut locked, (&old, &new), &plan, made, options)?;
        }
        if checks {
            for key in stored.def.foreign_keys.iter().filter(|key| plan.added_keys.contains(&key.name)) {
                validate::check_rows(worker, &new, key, &self.published(), options)?;
            }
        }
        let has_auto = stored.def.columns.iter().any(|c| c.auto_increment);
        let counted = || counters.next_auto().max(old.next_auto_increment().unwrap_or(0));
        let requested = plan.auto_increment;
        let next_auto = (has_auto && (copies || requested.is_some())).then(|| requested.unwrap_or_else(counted));

        let mut ddl = self.lock_ddl();
        check(&self.published(), &stored.def)?;
        let children = followed_children(&locked, &old, &stored.def, &renamed);
        let new_trees: Vec<TreeRef> = trees_of(&new).collect();
        let dropped: Vec<TreeRef> = trees_of(&old).filter(|tree| !new_trees.contains(tree)).collect();
        let (mut catalog, taken_rows) = match taken {
            Some(TakenOut { catalog, rows }) => (catalog, Some(rows)),
            None => (CatalogTxn::begin(worker), None),
        };
        catalog.put_table(&stored)?;
        for (child, _) in &children {
            catalog.put_table(child)?;
        }
        if let Some(next) = next_auto {
            catalog.put_auto_increment(stored.def.id, next)?;
        }
        for tree in &dropped {
            catalog.put_orphan(*tree)?;
        }
        trees.link(&mut catalog)?;
        catalog.commit();
        if let Some(next) = next_auto {
            counters.restart_at(next);
        }
        if let Some(rows) = taken_rows {
            counters.add_rows(worker.index(), -(rows as i64));
        }
        trees.adopt();
        self.publish(&mut ddl, |next| {
            next.put_table(match taken_rows {
                // The trees are the same, without rows of dropped partitions that an old snapshot still sees.
                Some(_) => Table::open(&stored, counters, old.mdl.clone(), next.now),
                None => old.successor(&stored, counters, next.now),
            });
            for table in locked.tables.iter().filter(|table| table.id() != old.id()) {
                match children.iter().find(|(child, _)| child.def.id == table.id()) {
                    Some((child, _)) => {
                        next.put_table(table.successor(child, table.counters.clone(), 0));
                    }
                    // F2
                    None => next.reopen(table),
                }
            }
        });
        ddl.orphans.extend(dropped);
        Ok(altered)
    }

    /// Steps 2 to 5: fills the indexes `made` of the new table, or all its trees. With LOCK=EXCLUSIVE, or if it numbers
    /// rows, users stay out.
    fn make_trees(
        &self,
        worker: &Worker,
        locked: &mut LockedTables,
        (old, new): (&Arc<Table>, &Table),
        plan: &alter::AlterPlan,
        made: Option<Vec<usize>>,
        options: &DdlOptions,
    ) -> Result<Altered> {
        if plan.empties(old.def()) {
            // No row is to be read, and nobody was let in.
            return Ok(Altered::default());
        }
        let is_alone = plan.numbers_rows(old.def()) || options.lock == Lock::Exclusive;
        // A row that gets a number may get another key.
        let same_keys = plan.keeps_clustered_keys(old.def()) && !plan.numbers_rows(old.def());
        let needs_map = made.is_none() && !is_alone && !same_keys;
        // Dropped after the last use of the map: a tree that is not adopted is an orphan.
        let map = NewTrees::create(self, worker, usize::from(needs_map))?;
        let watch = (!is_alone).then(|| {
            let indexes = made.iter().flatten().copied();
            Watch::new(self.engine().worker_slots(), new.def(), &plan.sources, indexes)
        });
        let work = match made {
            Some(indexes) => Work::Indexes(indexes),
            None => {
                let keys = match map.first() {
                    Some(tree) => Keys::Mapped(tree),
                    None if same_keys => Keys::Same,
                    None => Keys::Unneeded,
                };
                let mut copy = Copy::new(worker, old, new, &plan.sources, options, keys)?;
                if !plan.leaves_out.is_empty() {
                    copy = copy.sifting(Sieve::LeaveOut, old, &plan.leaves_out, options)?;
                }
                Work::Copy(Box::new(copy))
            }
        };
        let mut build = Build { worker, old, new, options, work, watch: watch.clone(), changed: Changed::default() };
        let Some(watch) = watch else {
            build.fill()?;
            return Ok(build.altered());
        };
        let _watching = Watching::begin(old, &watch);
        locked.let_in();
        build.fill()?;
        build.catch_up()?;
        let (mut pause, mut left) = (PAUSE, usize::MAX);
        loop {
            let deadline = Instant::now() + options.lock_wait_timeout;
            locked.lock_again(worker, deadline, options, || build.catch_up())?;
            if build.finish()? {
                return Ok(build.altered());
            }
            locked.let_in();
            let before = std::mem::replace(&mut left, build.go_on_for(pause)?);
            if left >= before {
                // Users change more in a pause than is worked off in a turn.
                pause = (pause / 2).max(PAUSE_MIN);
            }
        }
    }
}

impl alter::AlterPlan {
    /// Do rows of some partitions go, and the others stay as they are?
    fn takes_out(&self, old: &TableDef) -> bool {
        let keeps_trees = !self.copies && self.kept.iter().all(Option::is_some);
        keeps_trees && !self.leaves_out.is_empty() && !self.empties(old)
    }

    /// Do the rows of all partitions go?
    fn empties(&self, old: &TableDef) -> bool {
        let all = old.partitioning.as_ref().map(|of| of.partitions.len() * of.sub_count());
        all.is_some_and(|all| self.leaves_out.len() == all)
    }

    fn write_anew(&mut self) {
        self.copies = true;
        self.def.forget_older_rows();
    }

    /// Do rows get the numbers of an AUTO_INCREMENT column that did not count them before?
    fn numbers_rows(&self, old: &TableDef) -> bool {
        let was_counted = |source: &Option<usize>| source.is_some_and(|source| old.columns[source].auto_increment);
        let mut columns = self.def.columns.iter().zip(&self.sources);
        self.copies && columns.any(|(column, source)| column.auto_increment && !was_counted(source))
    }

    /// 1845, 1846: can it be done as ALGORITHM = and LOCK = say?
    fn check_how(&self, old: &TableDef, options: &DdlOptions) -> Result<()> {
        let makes_trees = self.copies || !self.leaves_out.is_empty() || self.kept.iter().any(Option::is_none);
        if options.algorithm == Algorithm::Instant && makes_trees {
            return Err(Error::NotInstant { retypes: self.retypes });
        }
        if options.lock != Lock::None {
            return Ok(());
        }
        let needs_lock = |why| Err(Error::NeedsLock { why });
        if options.algorithm == Algorithm::Copy && makes_trees {
            return needs_lock("COPY algorithm requires a lock");
        }
        if self.numbers_rows(old) {
            return needs_lock("Adding an auto-increment column requires a lock");
        }
        if !self.added_keys.is_empty() && options.foreign_key_checks {
            return needs_lock("Adding foreign keys needs foreign_key_checks=OFF");
        }
        Ok(())
    }

    /// Has each row the clustered key that it had?
    fn keeps_clustered_keys(&self, old: &TableDef) -> bool {
        let (before, after) = (old.primary(), self.def.primary());
        let is_same = |(part, other): (&types::schema::IndexColumn, &types::schema::IndexColumn)| {
            let (from, to) = (&old.columns[part.column], &self.def.columns[other.column]);
            self.sources[other.column] == Some(part.column)
                && (part.prefix, part.descending) == (other.prefix, other.descending)
                && from.nullable == to.nullable
                && from.ty == to.ty
        };
        let is_hidden = before.kind == IndexKind::HiddenRowId;
        before.kind == after.kind
            && before.columns.len() == after.columns.len()
            && (is_hidden || before.columns.iter().zip(&after.columns).all(is_same))
    }
}
