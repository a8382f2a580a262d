//! FROM: tables become sources, joins become a tree, names are resolved to columns.

use super::compare::{Coercibility, Derivation};
use super::{AliasRule, Binder, LevelKind, Scope};
use crate::ast::{ColumnName, Join, JoinCondition, JoinKind, ObjectName, TableName, TableRef};
use crate::error::{Clause, Error, Result};
use crate::partition::{lies_in, named_partitions};
use crate::plan::{Action, Derived, Part, Rights};
use crate::planner::JoinTree;
use expr::{Class, CompareOp, Expr, ExprKind, class};
use std::sync::Arc;
use types::schema::{IndexKind, TableDef};

/// A table of the statement, or something that is read like a table.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The definition; a made-up one with the columns if it is not a stored table.
    pub table: Arc<TableDef>,
    pub alias: String,
    /// An outer join may make its columns NULL.
    pub nullable: bool,
    /// USE INDEX, IGNORE INDEX and FORCE INDEX: the indexes that may be used; `None` for all.
    pub indexes: Option<Vec<usize>>,
    /// FORCE INDEX: a full scan is used only if none of these indexes is usable.
    pub forced: bool,
    /// PARTITION (p0, p1): the numbers of the partitions.
    pub partitions: Option<Vec<usize>>,
    /// AS OF TIMESTAMP: the seconds since 1970 of the moment whose rows are read.
    pub past: Option<Expr>,
    pub kind: SourceKind,
    /// Derived tables only: the query into which predicates may be pushed.
    pub pushable: Option<Box<super::push::Pushable>>,
    /// The coercibility of the columns of a query. Empty for a table, whose columns are all `Implicit`.
    pub derivations: Vec<Derivation>,
    /// A view that was merged into the block.
    pub view: Option<Box<super::view::BoundView>>,
    /// A merged query only: the sources that it reads, in the order of its tree.
    pub leaves: Vec<usize>,
    /// A materialized plain query only: its columns that read no table.
    pub constants: Vec<usize>,
    /// A materialized query only: the dependencies between its columns.
    pub inside: Option<Box<super::depend::Inside>>,
    /// The privileges with which it is read.
    pub rights: Rights,
}

/// Where the rows of a source come from.
#[derive(Clone, Debug)]
pub(crate) enum SourceKind {
    Table,
    /// A materialized derived table or common table expression: an estimate of its rows, the columns of other sources
    /// that it reads, and the columns of its own that are unique together.
    Derived {
        plan: Derived,
        rows: f64,
        reads: Vec<(usize, usize)>,
        key: Option<Vec<usize>>,
    },
    /// A derived table that was merged into the block: its columns are expressions over other sources.
    Merged(Vec<Expr>),
    /// The rows of the previous round of a recursive common table expression.
    Work(usize),
    /// The arguments of a subquery.
    Arguments,
}

impl Source {
    pub fn new(table: Arc<TableDef>, alias: &str, kind: SourceKind) -> Self {
        let (indexes, partitions, pushable, derivations, view) = (None, None, None, Vec::new(), None);
        let (leaves, rights, alias) = (Vec::new(), Rights::default(), alias.to_owned());
        Self {
            table,
            alias,
            nullable: false,
            indexes,
            forced: false,
            partitions,
            past: None,
            kind,
            pushable,
            derivations,
            view,
            leaves,
            constants: Vec::new(),
            inside: None,
            rights,
        }
    }

    /// A query that is read like a table; its columns have the coercibilities of its select list.
    pub fn of_query(table: Arc<TableDef>, alias: &str, kind: SourceKind, derivations: Vec<Derivation>) -> Self {
        Self { derivations, ..Self::new(table, alias, kind) }
    }

    /// The columns of other sources that must be available before it is read.
    pub fn reads(&self) -> &[(usize, usize)] {
        match &self.kind {
            SourceKind::Derived { reads, .. } => reads,
            _ => &[],
        }
    }
}

/// A column of USING or NATURAL: one name for a column of each side.
#[derive(Clone, Debug)]
pub(crate) struct JoinedColumn {
    /// The column that the name resolves to.
    pub source: usize,
    pub column: usize,
    /// All columns that it joins.
    pub members: Vec<(usize, usize)>,
}

/// A column of a source.
type Place = (usize, usize);

/// Where the names of one side of a join begin in the scope.
#[derive(Clone, Copy)]
struct Side {
    /// Index in the visible sources.
    visible: usize,
    /// Index in the columns of `*`.
    star: usize,
}

impl Binder<'_> {
    /// Registers the tables of a FROM clause and makes their names visible.
    pub(super) fn bind_from(&mut self, tables: &[TableRef<'_>]) -> Result<Option<JoinTree>> {
        self.scope = Scope::new(Vec::new(), Clause::FieldList);
        self.scope.tables = tables.iter().map(TableRef::tables).sum();
        let mut parts = Vec::new();
        for table in tables {
            parts.push(self.table_ref(table)?);
        }
        if parts.len() > 1 {
            return Ok(Some(JoinTree::Inner { parts, on: Vec::new(), straight: false }));
        }
        Ok(parts.pop())
    }

    fn table_ref(&mut self, table: &TableRef<'_>) -> Result<JoinTree> {
        match table {
            TableRef::Table(table) => self.named_table(table),
            TableRef::Join(join) => self.join(join),
            TableRef::List(tables) => {
                let parts = tables.iter().map(|t| self.table_ref(t)).collect::<Result<_>>()?;
                Ok(JoinTree::Inner { parts, on: Vec::new(), straight: false })
            }
            TableRef::Derived { query, alias, columns, lateral } => self.derived(query, alias, columns, *lateral),
            TableRef::JsonTable(table) => self.json_table(table),
        }
    }

    /// Finds a table in the schema.
    pub(super) fn lookup(&self, name: &ObjectName<'_>, action: Action) -> Result<Arc<TableDef>> {
        let database = name.database.or(self.context.database()).ok_or(Error::NoDatabase)?;
        match self.find_table(database, name) {
            Err(error @ (Error::UnknownDatabase(_) | Error::UnknownTable { .. })) => {
                self.context.missing(self.rights, database, name.name, action)?;
                Err(error)
            }
            found => found,
        }
    }

    fn find_table(&self, database: &str, name: &ObjectName<'_>) -> Result<Arc<TableDef>> {
        let schema = self.context.schema();
        if let Some(table) = schema.table(database, name.name) {
            return Ok(table.clone());
        }
        let Some(found) = schema.databases.get(database).or_else(|| {
            let virtual_name = ["information_schema", "performance_schema", "mysql", "sys"];
            let name = virtual_name.iter().find(|n| n.eq_ignore_ascii_case(database))?;
            schema.databases.get(*name)
        }) else {
            return Err(Error::UnknownDatabase(database.to_owned()));
        };
        // Names of the server's own tables are not case-sensitive.
        let any_case = found.tables.values().find(|t| t.is_virtual && t.name.eq_ignore_ascii_case(name.name));
        any_case.cloned().ok_or_else(|| Error::UnknownTable { database: database.to_owned(), table: name.name.to_owned() })
    }

    /// Registers a table as the next source.
    pub(super) fn add_source(&mut self, table: Arc<TableDef>, alias: &str) -> Result<usize> {
        self.push_source(Source::new(table, alias, SourceKind::Table))
    }

    /// Registers a source and makes its name visible.
    pub(super) fn push_source(&mut self, source: Source) -> Result<usize> {
        let source = Source { rights: self.rights, ..source };
        let same = |s: &Source| s.alias == source.alias && s.table.database == source.table.database;
        if self.scope.visible.iter().chain(&self.scope.hidden).any(|&s| same(&self.sources[s])) {
            return Err(Error::NotUniqueTable(source.alias));
        }
        let number = self.sources.len();
        let shown = source.table.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
        self.scope.star.extend(shown.map(|(column, _)| (number, column)));
        self.sources.push(source);
        self.scope.visible.push(number);
        Ok(number)
    }

    fn side(&self) -> Side {
        Side { visible: self.scope.visible.len(), star: self.scope.star.len() }
    }

    fn named_table(&mut self, table: &TableName<'_>) -> Result<JoinTree> {
        let past = table.as_of.as_ref().map(|moment| self.past_moment(moment)).transpose()?;
        if table.name.database.is_none()
            && past.is_none()
            && let Some(tree) = self.common_table(table.name.name, table.alias)?
        {
            return Ok(tree);
        }
        let changed = self.changes_from.filter(|_| self.levels.is_empty());
        let def = self.lookup(&table.name, changed.unwrap_or(Action::Select))?;
        match changed {
            None => self.context.need(self.rights, &def, Action::Select, Part::Any)?,
            Some(Action::Select) => self.context.touches(self.rights, &def)?,
            // A missing privilege on a view is reported before errors in its query.
            Some(Action::Delete) if def.view.is_some() => self.context.need(self.rights, &def, Action::Delete, Part::Table)?,
            Some(action) if def.view.is_some() => self.context.need(self.rights, &def, action, Part::Any)?,
            Some(_) => {}
        }
        if def.id.is_temporary() && self.notes.is_some() {
            return Err(Error::ViewOfTemporary(def.name.clone()));
        }
        self.note_named(&def, table.alias.unwrap_or(table.name.name), false);
        if past.is_some() {
            self.check_past(&def, changed.is_some())?;
        }
        if def.view.is_some() {
            if let Some(name) = table.hints.iter().flat_map(|hint| hint.indexes).next() {
                let view = table.alias.unwrap_or(table.name.name);
                return Err(Error::UnknownKey { key: (*name).to_owned(), table: view.to_owned() });
            }
            // As in MySQL, the named partitions of a view are ignored.
            return self.view(def, table.alias.unwrap_or(table.name.name));
        }
        let alias = table.alias.unwrap_or(if def.is_virtual { &def.name } else { table.name.name }).to_owned();
        let source = self.add_source(def, &alias)?;
        self.sources[source].indexes = self.hinted_indexes(source, table)?;
        self.sources[source].past = past;
        self.sources[source].forced = table.hints.iter().any(|hint| hint.kind == crate::ast::IndexHintKind::Force);
        if table.partitions.is_empty() {
            return Ok(JoinTree::Table(source));
        }
        let def = self.sources[source].table.clone();
        let numbers = named_partitions(&def, table.partitions)?;
        let on = vec![lies_in(&def, source, &numbers)?];
        self.sources[source].partitions = Some(numbers);
        Ok(JoinTree::Inner { parts: vec![JoinTree::Table(source)], on, straight: false })
    }

    /// Binds the moment of AS OF TIMESTAMP, which reads no row.
    fn past_moment(&mut self, moment: &crate::ast::Expr<'_>) -> Result<Expr> {
        let scope = std::mem::replace(&mut self.scope, Scope::new(Vec::new(), Clause::From));
        let levels = std::mem::take(&mut self.levels);
        let bound = self.value(moment);
        (self.scope, self.levels) = (scope, levels);
        let bound = bound?;
        if bound.any(&|part| matches!(part.kind, ExprKind::Subquery(_))) {
            return Err(Error::WrongUsage("AS OF TIMESTAMP", "subquery"));
        }
        Ok(bound)
    }

    /// Only the rows of stored tables have a past, and only queries read it. `is_changed`: the statement changes tables of this FROM.
    fn check_past(&self, def: &TableDef, is_changed: bool) -> Result<()> {
        let other = match () {
            () if is_changed => "UPDATE or DELETE",
            () if self.notes.is_some() || def.view.is_some() => "VIEW",
            () if def.id.is_temporary() => "TEMPORARY",
            () if def.is_virtual => "the server's own tables",
            () => return Ok(()),
        };
        Err(Error::WrongUsage("AS OF TIMESTAMP", other))
    }

    fn hinted_indexes(&self, source: usize, table: &TableName<'_>) -> Result<Option<Vec<usize>>> {
        use crate::ast::IndexHintKind as Kind;
        if table.hints.is_empty() {
            return Ok(None);
        }
        let has = |kind| table.hints.iter().any(|hint| hint.kind == kind);
        if has(Kind::Use) && has(Kind::Force) {
            return Err(Error::WrongUsage("USE INDEX", "FORCE INDEX"));
        }
        let def = &self.sources[source].table;
        let sees_all = self.context.switches().use_invisible_indexes;
        let mut used: Option<Vec<usize>> = None;
        let mut ignored = Vec::new();
        for hint in table.hints {
            for name in hint.indexes {
                let index = def
                    .index_by_name(name)
                    .filter(|index| sees_all || !def.indexes[*index].invisible)
                    .ok_or_else(|| Error::UnknownKey { key: (*name).to_owned(), table: self.sources[source].alias.clone() })?;
                match hint.kind {
                    Kind::Ignore => ignored.push(index),
                    Kind::Use | Kind::Force => used.get_or_insert_with(Vec::new).push(index),
                }
            }
            if hint.indexes.is_empty() && hint.kind == Kind::Use {
                used.get_or_insert_with(Vec::new);
            }
        }
        let mut allowed = used.unwrap_or_else(|| (0..def.indexes.len()).collect());
        allowed.retain(|index| !ignored.contains(index));
        Ok(Some(allowed))
    }

    fn join(&mut self, join: &Join<'_>) -> Result<JoinTree> {
        let (first_source, first) = (self.sources.len(), self.side());
        let left = self.join_side(&join.left, join.kind == JoinKind::Right)?;
        let (middle_source, middle) = (self.sources.len(), self.side());
        // The right side of a RIGHT JOIN is bound first: it does not see the left one.
        let hidden = self.scope.hidden.len();
        if join.kind == JoinKind::Right {
            let left = self.scope.visible.split_off(first.visible);
            self.scope.hidden.extend(left);
        }
        let right = self.join_side(&join.right, join.kind == JoinKind::Left)?;
        let left_side = self.scope.hidden.split_off(hidden);
        self.scope.visible.splice(first.visible..first.visible, left_side);
        let end = self.side();
        let on = match join.condition {
            JoinCondition::None => Vec::new(),
            JoinCondition::On(expr) => {
                let around: Vec<usize> = self.scope.visible.drain(..first.visible).collect();
                let on = self.in_clause(Clause::On, |b| b.predicate(expr));
                self.scope.visible.splice(0..0, around);
                conjuncts(on?)
            }
            JoinCondition::Using(names) => self.using(join, names, first, middle)?,
            JoinCondition::Natural => {
                let names = self.common_columns(join.kind, first.star, middle.star);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.using(join, &names, first, middle)?
            }
        };
        if join.kind == JoinKind::Right && matches!(join.condition, JoinCondition::None | JoinCondition::On(_)) {
            self.scope.right_joins.push([first.star, middle.star, end.star]);
        }
        let nullable = match join.kind {
            JoinKind::Inner | JoinKind::Straight => 0..0,
            JoinKind::Left => middle_source..self.sources.len(),
            JoinKind::Right => first_source..middle_source,
        };
        for source in nullable {
            self.sources[source].nullable = true;
        }
        Ok(match join.kind {
            JoinKind::Inner => JoinTree::Inner { parts: vec![left, right], on, straight: false },
            JoinKind::Straight => JoinTree::Inner { parts: vec![left, right], on, straight: true },
            JoinKind::Left => JoinTree::left(left, right, on),
            JoinKind::Right => JoinTree::left(right, left, on),
        })
    }

    fn join_side(&mut self, side: &TableRef<'_>, on_null_side: bool) -> Result<JoinTree> {
        let outer = self.on_null_side;
        self.on_null_side |= on_null_side;
        let tree = self.table_ref(side);
        self.on_null_side = outer;
        tree
    }

    /// The names of the columns that both sides of a join have. `first` and `middle` are where the columns of the two
    /// sides begin in `*`. The order is that of the first side, which for a RIGHT JOIN is the right one.
    fn common_columns(&self, kind: JoinKind, first: usize, middle: usize) -> Vec<String> {
        let (left, right) = self.scope.star[first..].split_at(middle - first);
        let (one, other) = if kind == JoinKind::Right { (right, left) } else { (left, right) };
        let mut names: Vec<String> = Vec::new();
        for name in one.iter().map(|&place| self.shown_name(place)) {
            let is = |other: &str| other.eq_ignore_ascii_case(name);
            if !names.iter().any(|other| is(other)) && other.iter().any(|&place| is(self.shown_name(place))) {
                names.push(name.to_owned());
            }
        }
        names
    }

    fn shown_name(&self, (source, column): (usize, usize)) -> &str {
        &self.sources[source].table.columns[column].name
    }

    /// Binds the equalities of USING, and merges each pair of columns for names and `*`.
    fn using(&mut self, join: &Join<'_>, names: &[&str], first: Side, middle: Side) -> Result<Vec<Expr>> {
        let mut on = Vec::new();
        // As in MySQL, a nested RIGHT JOIN shows its right side first.
        let within = self.scope.right_joins.iter().position(|range| range[0] >= first.star);
        for [from, middle, to] in within.map_or_else(Vec::new, |at| self.scope.right_joins.split_off(at)) {
            self.scope.star[from..to].rotate_left(middle - from);
        }
        let left_side = self.scope.visible[first.visible..middle.visible].to_vec();
        let right_side = self.scope.visible[middle.visible..].to_vec();
        let mut shown = Vec::with_capacity(names.len());
        for name in names {
            let left = self.side_column(name, &left_side)?;
            let right = self.side_column(name, &right_side)?;
            self.need_column(left.0, left.1)?;
            self.need_column(right.0, right.1)?;
            self.note_joined(join, left, right);
            let (a, b) = (self.column(left.0, left.1), self.column(right.0, right.1));
            let level = |b: &Self, (s, c): (usize, usize)| b.column_derivation(s, c);
            let derivation = level(self, left).combine(level(self, right), "=")?;
            on.push(self.comparison(CompareOp::Equal, a, b, derivation)?);
            let mut members = vec![left, right];
            let mut kept = Vec::new();
            for joined in std::mem::take(&mut self.scope.joined) {
                if joined.members.contains(&left) || joined.members.contains(&right) {
                    members.extend(joined.members);
                } else {
                    kept.push(joined);
                }
            }
            members.sort_unstable();
            members.dedup();
            let (place, other) = if join.kind == JoinKind::Right { (right, left) } else { (left, right) };
            kept.push(JoinedColumn { source: place.0, column: place.1, members });
            self.scope.joined = kept;
            shown.push((place, other));
        }
        self.show_joined(join.kind == JoinKind::Right, &shown, first.star, middle.star);
        Ok(on)
    }

    /// Sets the columns of `*` of a NATURAL or USING join: first the common columns, then the others of the first side,
    /// then those of the second. The first side of a RIGHT JOIN is the right one.
    fn show_joined(&mut self, is_right: bool, shown: &[(Place, Place)], first: usize, middle: usize) {
        if is_right {
            self.scope.star[first..].rotate_left(middle - first);
        }
        let star = &mut self.scope.star;
        let columns = star.split_off(first);
        let is_common = |place: &(usize, usize)| shown.iter().any(|(common, _)| common == place);
        let is_twin = |place: &(usize, usize)| shown.iter().any(|(_, twin)| twin == place);
        star.extend(columns.iter().filter(|place| is_common(place)));
        star.extend(columns.iter().filter(|place| !is_common(place) && !is_twin(place)));
    }

    /// The only column of this name among some sources.
    fn side_column(&self, name: &str, side: &[usize]) -> Result<(usize, usize)> {
        let found = self.one_column(side.iter().copied(), name);
        let found = found.map_err(|()| Error::AmbiguousColumn { name: name.to_owned(), clause: Clause::From })?;
        found.ok_or_else(|| Error::UnknownColumn { name: name.to_owned(), clause: Clause::From })
    }

    /// The column of a bare name among these sources; the columns that NATURAL or USING merged count as one. An error
    /// if there are several.
    fn one_column(&self, sources: impl Iterator<Item = usize>, name: &str) -> std::result::Result<Option<(usize, usize)>, ()> {
        let mut found = None;
        for source in sources {
            let Some(column) = self.sources[source].table.column_index(name) else { continue };
            let joined = self.scope.joined.iter().find(|joined| joined.members.contains(&(source, column)));
            let place = joined.map_or((source, column), |joined| (joined.source, joined.column));
            if found.is_some_and(|other| other != place) {
                return Err(());
            }
            found = Some(place);
        }
        Ok(found)
    }

    /// Checks the privilege to read a column.
    pub(super) fn need_column(&self, source: usize, column: usize) -> Result<()> {
        self.need_of(source, Action::Select, Part::Column(column))
    }

    /// Checks the privilege for an action on a column of a table or view. Other sources need none.
    pub(super) fn need_of(&self, source: usize, action: Action, part: Part<'_>) -> Result<()> {
        match &self.sources[source] {
            Source { kind: SourceKind::Table, table, rights, .. } => self.context.need(*rights, table, action, part),
            Source { table, rights, .. } if !table.database.is_empty() => self.context.need(*rights, table, action, part),
            _ => Ok(()),
        }
    }

    /// Checks the privilege to read the tables that UPDATE or DELETE names but does not change.
    pub(super) fn need_others(&self, targets: &[usize]) -> Result<()> {
        let others = self.scope.visible.iter().filter(|source| !targets.contains(source));
        others.copied().try_for_each(|source| self.need_of(source, Action::Select, Part::Any))
    }

    /// A column as an expression.
    pub(super) fn column(&self, source: usize, column: usize) -> Expr {
        let from = &self.sources[source];
        if let SourceKind::Merged(exprs) = &from.kind {
            let mut expr = exprs[column].clone();
            expr.nullable |= from.nullable;
            return expr;
        }
        let def = &from.table.columns[column];
        Expr { kind: ExprKind::Column { source, column }, ty: def.ty.clone(), nullable: def.nullable || from.nullable }
    }

    pub(super) fn column_derivation(&self, source: usize, column: usize) -> Derivation {
        let from = &self.sources[source];
        if let Some(derivation) = from.derivations.get(column) {
            return *derivation;
        }
        let ty = &from.table.columns[column].ty;
        match class(ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            Class::Json => Derivation { collation: types::CollationId::UTF8MB4_BIN, level: Coercibility::Implicit },
            _ => Derivation::of_no_text(ty),
        }
    }

    /// Resolves a name to an expression.
    pub(super) fn name(&mut self, name: &ColumnName<'_>) -> Result<Expr> {
        match self.find_name(name)? {
            Some(found) => Ok(found),
            None => {
                // Only a user who may read all of a table learns whether a column exists.
                let tables = self.scope.visible.iter().filter(|&&source| matches_table(&self.sources[source], name));
                tables.copied().try_for_each(|source| self.need_of(source, Action::Select, Part::Unknown(name.name)))?;
                Err(self.unknown(name))
            }
        }
    }

    /// Resolves a name in this block or an outer one; `None`: there is none.
    fn find_name(&mut self, name: &ColumnName<'_>) -> Result<Option<Expr>> {
        self.find_name_of(name, false)
    }

    /// Resolves a name for this block or (`within`) for a subquery of it. In the select list it may name an earlier
    /// item.
    fn find_name_of(&mut self, name: &ColumnName<'_>, within: bool) -> Result<Option<Expr>> {
        if let Some(row) = &self.scope.insert_row {
            // A bare name is looked up in the table's own columns first.
            let by_alias = row.alias.is_some() && row.alias.as_deref() == name.table;
            let bare = name.table.is_none() && row.alias.is_some() && self.find_column(name)?.is_none();
            if by_alias || bare {
                let row = row.columns.iter().find(|(n, _)| n.eq_ignore_ascii_case(name.name));
                return match row.map(|(_, column)| *column) {
                    Some(column) => self.insert_value(column).map(Some),
                    None => Ok(None),
                };
            }
        }
        if self.scope.aliases == AliasRule::Having && !self.scope.in_aggregate {
            let found = self.having_name(name)?;
            return if found.is_some() { Ok(found) } else { self.outer_name(name) };
        }
        if let Some((source, column)) = self.find_column(name)? {
            self.scope.found_own = true;
            self.need_column(source, column)?;
            self.derivation = self.column_derivation(source, column);
            self.note_column(name.name, source, column);
            return Ok(Some(self.column(source, column)));
        }
        if let Some(found) = self.query_column(name)? {
            return Ok(Some(found));
        }
        let in_list =
            (within || self.scope.in_bare_subquery) && matches!(self.scope.clause, Clause::FieldList | Clause::InsertList);
        if (self.scope.aliases == AliasRule::AfterColumns || in_list)
            && name.table.is_none()
            && let Some(found) = self.find_alias(name.name)?
        {
            if in_list && super::query::windows_in(&found) {
                return Err(Error::WindowAlias(name.name.to_owned()));
            }
            return Ok(Some(found));
        }
        self.outer_name(name)
    }

    /// Resolves a name in the outer blocks.
    fn outer_name(&mut self, name: &ColumnName<'_>) -> Result<Option<Expr>> {
        self.in_outer_block(|binder, kind| match kind {
            LevelKind::Derived => binder.outer_name(name),
            LevelKind::Subquery => binder.find_name_of(name, true),
            LevelKind::Lateral => binder.find_name(name),
            LevelKind::View => Ok(None),
        })
    }

    /// Looks something up in the next outer block, if there is one. For a subquery, the result becomes an argument.
    pub(super) fn in_outer_block(
        &mut self,
        find: impl FnOnce(&mut Self, LevelKind) -> Result<Option<Expr>>,
    ) -> Result<Option<Expr>> {
        let Some(mut level) = self.levels.pop() else { return Ok(None) };
        std::mem::swap(&mut self.scope, &mut level.scope);
        let found = find(self, level.kind);
        let is_free = self.in_any_value && self.scope.aggregates.is_some() && !self.scope.in_aggregate;
        std::mem::swap(&mut self.scope, &mut level.scope);
        let found = match found {
            Ok(Some(expr)) if level.kind == LevelKind::Subquery => {
                let expr = if is_free { super::group::any_value_of(expr) } else { expr };
                Ok(Some(self.argument(&mut level, expr)))
            }
            found => found,
        };
        self.levels.push(level);
        found
    }

    fn unknown(&self, name: &ColumnName<'_>) -> Error {
        let clause = self.scope.clause;
        // If there is no table at all, the error names the missing table.
        if let Some(table) = name.table
            && self.scope.visible.is_empty()
            && self.levels.iter().all(|level| matches!(level.kind, LevelKind::Derived | LevelKind::View))
            && clause != Clause::TableFunction
        {
            return Error::NoSuchTable { table: table.to_owned(), column: dotted(name), clause, nested: false };
        }
        Error::UnknownColumn { name: dotted(name), clause }
    }

    /// `VALUES(col)`: the value that would have been inserted.
    pub(super) fn insert_value(&mut self, column: usize) -> Result<Expr> {
        // The existing row, even if it is named through a view.
        let source = 0;
        self.derivation = self.column_derivation(source, column);
        let ty = self.sources[source].table.columns[column].ty.clone();
        Ok(Expr { kind: ExprKind::InsertValue { column }, ty, nullable: true })
    }

    /// The select list's item of this name.
    pub(super) fn find_alias(&mut self, name: &str) -> Result<Option<Expr>> {
        let mut found: Option<&super::SelectColumn> = None;
        for entry in self.scope.select.iter().filter(|s| s.name.eq_ignore_ascii_case(name)) {
            // As in MySQL, different columns of one name are ambiguous, and an item that is not a column wins over
            // columns.
            let is_column = match entry.expr.kind {
                ExprKind::Column { .. } => true,
                ExprKind::Slot(slot) => slot < super::aggregate::AGGREGATE_SLOT,
                _ => false,
            };
            if !is_column {
                found = Some(entry);
                break;
            }
            if found.is_some_and(|f| f.expr != entry.expr) {
                return Err(Error::AmbiguousColumn { name: name.to_owned(), clause: self.scope.clause });
            }
            found = Some(entry);
        }
        let Some(found) = found else { return Ok(None) };
        let is_key = self.scope.clause == Clause::GroupBy;
        if (self.scope.windows.is_none() && !is_key || self.scope.in_aggregate) && super::query::windows_in(&found.expr) {
            return Err(Error::WindowAlias(name.to_owned()));
        }
        self.derivation = found.derivation;
        let expr = found.expr.clone();
        self.note_alias(name);
        Ok(Some(expr))
    }

    /// Resolves a name in HAVING, which sees the group keys and the select list.
    fn having_name(&mut self, name: &ColumnName<'_>) -> Result<Option<Expr>> {
        let column = match self.find_column(name) {
            // Several tables have the column, but the select list has one of them.
            Err(error @ Error::AmbiguousColumn { .. }) if name.table.is_none() => {
                return self.find_alias(name.name)?.map(Some).ok_or(error);
            }
            found => found?,
        };
        if let Some((source, column)) = column {
            let expr = self.column(source, column);
            let selected = self.scope.select.iter().any(|s| s.expr == expr);
            if selected || self.scope.group_keys.contains(&expr) {
                self.need_column(source, column)?;
                self.derivation = self.column_derivation(source, column);
                self.note_column(name.name, source, column);
                return Ok(Some(expr));
            }
        }
        if name.table.is_none()
            && let Some(found) = self.find_alias(name.name)?
        {
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// Looks a column up in the visible sources. It is ambiguous if the query of an INSERT has it too.
    pub(super) fn find_column(&self, name: &ColumnName<'_>) -> Result<Option<(usize, usize)>> {
        let found = self.find_visible(name)?;
        let has = |other: &Source| matches_table(other, name) && other.table.column_index(name.name).is_some();
        let query = self.scope.query_row.as_deref();
        if found.is_some() && query.is_some_and(|query| query.visible().any(has)) {
            return Err(Error::AmbiguousColumn { name: dotted(name), clause: self.scope.clause });
        }
        Ok(found)
    }

    /// Looks a column up in the visible sources only.
    pub(super) fn find_visible(&self, name: &ColumnName<'_>) -> Result<Option<(usize, usize)>> {
        let found = self.find_named(name)?;
        Ok(found.or_else(|| self.row_id(name)))
    }

    /// `_rowid`: the integer column that is the primary key, or else the first unique key without NULLs, of the only
    /// table.
    fn row_id(&self, name: &ColumnName<'_>) -> Option<(usize, usize)> {
        let [source] = *self.scope.visible else { return None };
        let from = &self.sources[source];
        if !name.name.eq_ignore_ascii_case("_rowid") || !matches!(from.kind, SourceKind::Table) || !matches_table(from, name) {
            return None;
        }
        let has_no_null = |index: &&types::schema::IndexDef| {
            let is_unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique);
            is_unique && index.columns.iter().all(|part| !from.table.columns[part.column].nullable)
        };
        let index = from.table.indexes.iter().find(has_no_null)?;
        let [part] = index.columns.as_slice() else { return None };
        let is_whole = class(&from.table.columns[part.column].ty) == Class::Integer;
        is_whole.then_some((source, part.column))
    }

    fn find_named(&self, name: &ColumnName<'_>) -> Result<Option<(usize, usize)>> {
        let visible = self.scope.visible.iter().copied();
        let ambiguous = || Error::AmbiguousColumn { name: dotted(name), clause: self.scope.clause };
        if name.table.is_none() {
            return self.one_column(visible, name.name).map_err(|()| ambiguous());
        }
        let mut found = None;
        for source in visible {
            let from = &self.sources[source];
            if !matches_table(from, name) {
                continue;
            }
            let Some(column) = from.table.column_index(name.name) else { continue };
            if found.is_some() {
                return Err(ambiguous());
            }
            found = Some((source, column));
        }
        Ok(found)
    }
}

fn matches_table(source: &Source, name: &ColumnName<'_>) -> bool {
    let Some(table) = name.table else { return true };
    let of_server = source.table.is_virtual && matches!(source.kind, SourceKind::Table);
    let same_table = source.alias == table || (of_server && source.alias.eq_ignore_ascii_case(table));
    let same_database = name.database.is_none_or(|d| source.table.database == d || of_server);
    same_table && same_database
}

/// A name as written, for messages.
pub(super) fn dotted(name: &ColumnName<'_>) -> String {
    match (name.database, name.table) {
        (Some(database), Some(table)) => format!("{database}.{table}.{}", name.name),
        (None, Some(table)) => format!("{table}.{}", name.name),
        _ => name.name.to_owned(),
    }
}

/// Splits a conjunction.
pub(crate) fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr.kind {
        ExprKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        _ => vec![expr],
    }
}
