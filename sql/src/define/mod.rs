//! Binds the definitions of tables: turns the syntax of tables, columns, keys and partitions into a request for a
//! definition (`types::definition`).
//!
//! This module handles types, character sets, defaults, comments and unsupported clauses. The crate `table` checks
//! everything that needs the existing tables: names, key lengths, duplicate columns, the key of the AUTO_INCREMENT
//! column.

mod column_type;
mod partition;

#[cfg(test)]
mod tests;

pub use column_type::column_type;
pub use partition::partitioning;

use crate::ast::{
    AlterAction as Ast, AlterAlgorithm, AlterHow, AlterLock, AlterTable, CheckDefinition, ColumnDefinition,
    ColumnPosition as AstPosition, CreateTable, DataType, DefaultClause, Expr, ForeignKey, KeyDefinition, KeyKind, KeyPart,
    Literal, Reference, ReferenceAction as AstReferenceAction, TableOptions, TypeName, UnaryOp,
};
use crate::{CommentOf, DefinitionError, Error, KeyPartProblem, Result, RowExprProblem, RowExprUse, charsets};
use conditions::Condition;
use types::convert::{self, Problem, Severity, StoreContext, Warnings};
use types::definition::{
    Algorithm, AlterAction, ColumnPosition, Lock, NewCheck, NewForeignKey, NewIndex, NewIndexColumn, NewIndexKind, NewTable,
};
use types::fulltext::{FullTextDef, Parser};
use types::schema::{ColumnDef, ColumnDefault, GeneratedDef, IndexKind, ReferenceAction, RowExpr, TableDef};
use types::vector::Metric;
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

/// The parts of the session that binding a definition uses.
pub trait DefineContext {
    /// Is sql_mode strict?
    fn is_strict(&self) -> bool;

    /// How literals of definitions are checked: strictly, whatever sql_mode says.
    fn literals(&self) -> StoreContext<'_>;

    /// Warns of something that was changed or cut.
    fn warn(&self, severity: Severity, condition: Condition);

    /// How a new FULLTEXT index cuts texts, by the server's settings.
    fn full_text(&self, is_ngram: bool) -> FullTextDef {
        let standard = FullTextDef::default();
        if is_ngram { FullTextDef { parser: Parser::Ngram { size: 2 }, ..standard } } else { standard }
    }

    /// The value and type of a constant expression; `None`: it is not known without rows.
    fn constant(&self, expr: &Expr<'_>) -> Result<Option<(Value<'static>, ColumnType)>>;
}

/// Binds the definitions of one session.
pub struct Definer<'a> {
    context: &'a dyn DefineContext,
}

impl<'a> Definer<'a> {
    pub fn new(context: &'a dyn DefineContext) -> Self {
        Self { context }
    }

    /// CREATE TABLE with a column list.
    pub fn table(&self, create: &CreateTable<'_>, database: &str, database_collation: CollationId) -> Result<NewTable> {
        check_engine(&create.options)?;
        if create.temporary && create.options.encryption.is_some() {
            return Err(Condition::CannotUseEncryptionClause.into());
        }
        check_encryption(&create.options)?;
        let collation = collation_of(create.options.charset, create.options.collation, database_collation)?;
        let comment = self.comment(CommentOf::Table, create.name.name, create.options.comment)?;
        let mut columns = Vec::with_capacity(create.columns.len());
        let mut indexes = Vec::new();
        for definition in create.columns {
            columns.push(self.column(definition, collation)?);
            column_keys(definition, &mut indexes);
        }
        let of_columns = indexes.len();
        for key in create.keys {
            indexes.push(self.index(key)?);
        }
        let mut foreign_keys = Vec::with_capacity(create.foreign_keys.len());
        for key in create.foreign_keys {
            foreign_keys.push(foreign_key(key, database, of_columns)?);
        }
        let mut checks: Vec<NewCheck> = Vec::with_capacity(create.checks.len());
        for check in create.checks {
            checks.push(new_check(check, &checks, create.name.name)?);
        }
        let mut new = NewTable {
            database: database.to_owned(),
            name: create.name.name.to_owned(),
            columns,
            indexes,
            foreign_keys,
            checks,
            collation,
            comment,
            auto_increment: create.options.auto_increment,
            partitioning: None,
        };
        spell_key_columns(&mut new);
        Ok(new)
    }

    /// One column.
    pub fn column(&self, definition: &ColumnDefinition<'_>, table_collation: CollationId) -> Result<ColumnDef> {
        // As in MySQL, a reference written beside the column is parsed and ignored.
        let ty = match self.as_lob(definition, table_collation)? {
            Some(ty) => ty,
            None => column_type(definition.name, &definition.data_type, table_collation)?,
        };
        let nullable = definition.nullable.unwrap_or(true) && !definition.primary_key && !definition.auto_increment;
        if definition.nullable == Some(true) && definition.primary_key {
            return Err(DefinitionError::PrimaryNullable.into());
        }
        let default = self.default(definition.name, &definition.default, &ty, nullable)?;
        if let Some(fsp) = definition.on_update_now
            && fsp_of(&ty) != Some(fsp)
        {
            return Err(Condition::InvalidOnUpdate { column: definition.name.into() }.into());
        }
        Ok(ColumnDef {
            name: definition.name.to_owned(),
            ty,
            nullable,
            default,
            auto_increment: definition.auto_increment,
            on_update_now: definition.on_update_now.is_some(),
            comment: self.comment(CommentOf::Column, definition.name, definition.comment)?,
            invisible: definition.invisible,
            hidden: false,
            generated: generated(definition)?,
            element: None,
            missing: None,
        })
    }

    /// Without strict mode, a VARCHAR or VARBINARY longer than a row becomes a TEXT or BLOB.
    fn as_lob(&self, definition: &ColumnDefinition<'_>, table_collation: CollationId) -> Result<Option<ColumnType>> {
        const ROW_BYTES_MAX: u64 = 65535;
        let has_default =
            !matches!(definition.default, DefaultClause::None | DefaultClause::Literal(Expr::Literal(Literal::Null)));
        let (length, from, to) = match definition.data_type.name {
            TypeName::VarChar(length) => (length, "VARCHAR", "TEXT"),
            TypeName::VarBinary(length) => (length, "VARBINARY", "BLOB"),
            _ => return Ok(None),
        };
        if self.context.is_strict() || has_default || length > u32::MAX.into() {
            return Ok(None);
        }
        let is_text = from == "VARCHAR";
        let name = if is_text { TypeName::Text(Some(length)) } else { TypeName::Blob(Some(length)) };
        let ty = column_type(definition.name, &DataType { name, ..definition.data_type }, table_collation)?;
        let bytes_max = ty.collation.info().map_or(4, |info| u64::from(info.char_bytes_max));
        if length * bytes_max <= ROW_BYTES_MAX {
            return Ok(None);
        }
        self.context
            .warn(Severity::Note, Condition::AutoConvert { column: definition.name.into(), from: from.into(), to: to.into() });
        Ok(Some(ty))
    }

    /// Checks the length of a comment. A longer one is truncated, or refused in strict mode.
    fn comment(&self, of: CommentOf, name: &str, comment: Option<&[u8]>) -> Result<String> {
        let mut comment = text(comment);
        let max = if of == CommentOf::Table { 2048 } else { 1024 };
        if let Some((end, _)) = comment.char_indices().nth(max) {
            let error = too_long(of, name, max);
            if self.context.is_strict() {
                return Err(error.into());
            }
            self.context.warn(Severity::Warning, error);
            comment.truncate(end);
        }
        Ok(comment)
    }

    fn default(&self, name: &str, clause: &DefaultClause<'_>, ty: &ColumnType, nullable: bool) -> Result<ColumnDefault> {
        let invalid = || DefinitionError::InvalidDefault(name.to_owned()).into();
        let literal = match clause {
            DefaultClause::None => return Ok(ColumnDefault::None),
            DefaultClause::Now(fsp) => {
                return if fsp_of(ty) == Some(*fsp) { Ok(ColumnDefault::CurrentTimestamp) } else { Err(invalid()) };
            }
            DefaultClause::Expression(expr) => {
                let usage = RowExprUse::Default(name.to_owned());
                return Ok(ColumnDefault::Expression(crate::row_expr(expr, &usage)?));
            }
            DefaultClause::Literal(expr) => expr,
        };
        if let Expr::Literal(Literal::Null) = literal {
            return if nullable { Ok(ColumnDefault::Literal(None)) } else { Err(invalid()) };
        }
        if matches!(
            ty.kind,
            TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. }
        ) {
            let error = Condition::BlobCantHaveDefault { column: name.into() };
            let is_empty = matches!(literal, Expr::Literal(Literal::String(text)) if text.bytes.is_empty());
            if !is_empty
                || matches!(ty.kind, TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. })
                || self.context.is_strict()
            {
                return Err(error.into());
            }
            self.context.warn(Severity::Warning, error);
            return Ok(ColumnDefault::None);
        }
        let (value, from) = literal_value(literal).ok_or_else(invalid)?;
        // Members are named, not numbered.
        if matches!(ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) && !matches!(value, types::Value::Bytes(_)) {
            return Err(invalid());
        }
        let context = self.context.literals();
        let mut warnings = Warnings::new();
        let stored = convert::store(&value, &from, ty, &context, &mut warnings);
        let stored = stored
            .map_err(|problem| if keeps_its_error(&problem, ty) { problem.condition(name, 1).into() } else { invalid() })?;
        for (severity, problem) in warnings.drain() {
            self.context.warn(severity, problem.condition(name, 1));
        }
        Ok(ColumnDefault::Literal(Some(default_text(&stored, ty))))
    }

    /// A key of CREATE TABLE, ALTER TABLE or CREATE INDEX.
    pub fn index(&self, key: &KeyDefinition<'_>) -> Result<NewIndex> {
        let kind = match key.kind {
            KeyKind::Primary => NewIndexKind::Primary,
            KeyKind::Unique => NewIndexKind::Unique,
            KeyKind::Index => NewIndexKind::Secondary,
            KeyKind::FullText if is_functional(key) => return Err(key_part_error(KeyPartProblem::FullText)),
            KeyKind::Spatial if is_functional(key) => return Err(key_part_error(KeyPartProblem::Spatial)),
            KeyKind::Vector if is_functional(key) => {
                return Err(Error::NotSupported("a VECTOR index over an expression".to_owned()));
            }
            KeyKind::Vector => NewIndexKind::Vector { metric: metric(key)? },
            KeyKind::FullText => NewIndexKind::FullText,
            KeyKind::Spatial => spatial(key)?,
        };
        let full_text = if key.kind == KeyKind::FullText { Some(self.full_text(key)?) } else { None };
        let columns = key
            .parts
            .iter()
            .map(|part| match part {
                KeyPart::Column { name, prefix, descending } => {
                    Ok(NewIndexColumn { prefix: *prefix, descending: *descending, ..NewIndexColumn::whole(*name) })
                }
                KeyPart::Expr { expr: Expr::CastArray { .. }, ordered: true, .. } => {
                    Err(Error::WrongUsage("multi-valued index", "explicit index order"))
                }
                KeyPart::Expr { expr, descending, .. } => {
                    let expr = functional_part(key, expr)?;
                    Ok(NewIndexColumn { descending: *descending, expr: Some(expr), ..NewIndexColumn::whole("") })
                }
            })
            .collect::<Result<_>>()?;
        Ok(NewIndex {
            name: key.name.unwrap_or_default().to_owned(),
            kind,
            columns,
            comment: self.comment(CommentOf::Index, index_name(key), key.comment)?,
            using_btree: key.using_btree,
            invisible: key.invisible,
            generated: false,
            full_text,
        })
    }

    /// What is special about FULLTEXT.
    fn full_text(&self, key: &KeyDefinition<'_>) -> Result<Box<FullTextDef>> {
        if key.parts.iter().any(|part| matches!(part, KeyPart::Column { descending: true, .. })) {
            let (first, second) = ("spatial/fulltext/hash index".into(), "explicit index order".into());
            return Err(Condition::WrongUsage { first, second }.into());
        }
        match key.parser {
            None => Ok(Box::new(self.context.full_text(false))),
            Some(name) if name.eq_ignore_ascii_case("ngram") => Ok(Box::new(self.context.full_text(true))),
            Some(name) => Err(Condition::FunctionNotDefined { name: name.into() }.into()),
        }
    }

    /// ALTER TABLE: its actions and table options.
    pub fn alter(&self, alter: &AlterTable<'_>, def: &TableDef) -> Result<Vec<AlterAction>> {
        // New columns have the collation that the table gets.
        let mut new = TableDef::clone(def);
        if let Some(Ast::ConvertCharset { charset, collation }) =
            alter.actions.iter().find(|a| matches!(a, Ast::ConvertCharset { .. }))
        {
            new.collation = collation_of(*charset, *collation, def.collation)?;
        } else if alter.options.charset.is_some() || alter.options.collation.is_some() {
            new.collation = collation_of(alter.options.charset, alter.options.collation, def.collation)?;
        }
        let mut actions = Vec::with_capacity(alter.actions.len());
        for action in alter.actions {
            self.alter_action(action, &new, &mut actions)?;
        }
        self.alter_options(&alter.options, def, &mut actions)?;
        Ok(actions)
    }

    fn alter_action(&self, action: &Ast<'_>, def: &TableDef, actions: &mut Vec<AlterAction>) -> Result<()> {
        match action {
            Ast::AddColumn { column, position } => {
                let new = self.column(column, def.collation)?;
                actions.push(AlterAction::AddColumn { column: new, position: place(*position) });
                let mut indexes = Vec::new();
                column_keys(column, &mut indexes);
                actions.extend(indexes.into_iter().map(|index| AlterAction::AddIndex { index }));
                self.add_checks(column.checks, def, actions)?;
            }
            Ast::DropColumn(name) => actions.push(AlterAction::DropColumn { name: (*name).to_owned() }),
            Ast::ModifyColumn { column, position } => {
                self.change_column(column.name, column, *position, def, actions)?;
            }
            Ast::ChangeColumn { old, column, position } => self.change_column(old, column, *position, def, actions)?,
            Ast::RenameColumn { old, new } => {
                actions.push(AlterAction::RenameColumn { name: (*old).to_owned(), to: (*new).to_owned() });
            }
            Ast::SetDefault { column, default } => {
                let index = def.column_index(column).ok_or_else(|| {
                    Error::from(DefinitionError::NoSuchColumn { column: (*column).to_owned(), table: def.name.clone() })
                })?;
                let present = &def.columns[index];
                if present.generated.is_some() && default.is_some() {
                    return Err(wrong_usage("DEFAULT"));
                }
                let default = match default {
                    Some(clause) => self.default(column, clause, &present.ty, present.nullable)?,
                    None if present.auto_increment || present.generated.is_some() => ColumnDefault::None,
                    None => ColumnDefault::Dropped,
                };
                actions.push(AlterAction::SetDefault { name: (*column).to_owned(), default });
            }
            Ast::AddKey(key) => actions.push(AlterAction::AddIndex { index: self.index(key)? }),
            Ast::DropKey(name) => actions.push(AlterAction::DropIndex { name: (*name).to_owned() }),
            Ast::DropPrimaryKey => actions.push(AlterAction::DropPrimaryKey),
            Ast::RenameKey { old, new } => {
                actions.push(AlterAction::RenameIndex { name: (*old).to_owned(), to: (*new).to_owned() });
            }
            Ast::RenameTable(name) => actions.push(AlterAction::RenameTable {
                database: name.database.unwrap_or(&def.database).to_owned(),
                name: name.name.to_owned(),
            }),
            Ast::ConvertCharset { charset, collation } => {
                let collation = collation_of(*charset, *collation, def.collation)?;
                self.convert_columns(def, collation, actions);
                actions.push(AlterAction::SetCollation(collation));
            }
            Ast::Keys { .. } | Ast::Nothing => {}
            Ast::Rebuild => actions.push(AlterAction::Rebuild),
            Ast::SetVisible { column, visible } => {
                actions.push(AlterAction::SetVisible { name: (*column).to_owned(), visible: *visible });
            }
            Ast::AlterKey { name, visible } => {
                actions.push(AlterAction::SetIndexVisible { name: (*name).to_owned(), visible: *visible });
            }
            Ast::AddForeignKey(key) => {
                actions.push(AlterAction::AddForeignKey { key: foreign_key(key, &def.database, 0)? });
            }
            Ast::AddCheck(check) => self.add_checks(std::slice::from_ref(*check), def, actions)?,
            Ast::DropCheck(name) => actions.push(AlterAction::DropCheck { name: (*name).to_owned() }),
            Ast::AlterCheck { name, enforced, constraint } => {
                actions.push(AlterAction::EnforceCheck { name: (*name).to_owned(), enforced: *enforced, constraint: *constraint })
            }
            Ast::DropForeignKey(name) => actions.push(AlterAction::DropForeignKey { name: (*name).to_owned() }),
            Ast::DropConstraint(name) => actions.push(AlterAction::DropConstraint { name: (*name).to_owned() }),
            Ast::Partition(action) => {
                actions.push(AlterAction::Partition(partition::change(self.context, action, def)?));
            }
            Ast::Unsupported(what) => return Err(Error::NotSupported((*what).to_owned())),
        }
        Ok(())
    }

    fn change_column(
        &self,
        old: &str,
        column: &ColumnDefinition<'_>,
        position: AstPosition<'_>,
        def: &TableDef,
        actions: &mut Vec<AlterAction>,
    ) -> Result<()> {
        let mut new = self.column(column, def.collation)?;
        // A column of the primary key stays NOT NULL.
        let in_primary = def.column_index(old).is_some_and(|index| {
            def.indexes[0].kind == IndexKind::Primary && def.indexes[0].columns.iter().any(|part| part.column == index)
        });
        if in_primary {
            new.nullable = false;
            if new.default == ColumnDefault::Literal(None) {
                new.default = ColumnDefault::None;
            }
        }
        let position = match position {
            AstPosition::Last => ColumnPosition::Default,
            other => place(other),
        };
        actions.push(AlterAction::ChangeColumn { name: old.to_owned(), column: new, position });
        let mut indexes = Vec::new();
        column_keys(column, &mut indexes);
        actions.extend(indexes.into_iter().map(|index| AlterAction::AddIndex { index }));
        self.add_checks(column.checks, def, actions)
    }

    fn add_checks(&self, checks: &[CheckDefinition<'_>], def: &TableDef, actions: &mut Vec<AlterAction>) -> Result<()> {
        for check in checks {
            let check = new_check(check, &[], &def.name)?;
            actions.push(AlterAction::AddCheck { check });
        }
        Ok(())
    }

    /// CONVERT TO CHARACTER SET gives every text column the new collation.
    fn convert_columns(&self, def: &TableDef, collation: CollationId, actions: &mut Vec<AlterAction>) {
        // A hidden column follows the columns of its expression.
        for (_, column) in def.named_columns() {
            let is_text = matches!(
                column.ty.kind,
                TypeKind::Char { .. }
                    | TypeKind::VarChar { .. }
                    | TypeKind::Text(_)
                    | TypeKind::Enum { .. }
                    | TypeKind::Set { .. }
            );
            if is_text && column.ty.collation != collation {
                let mut new = column.clone();
                new.ty.kind = widened(&column.ty, collation);
                new.ty.collation = collation;
                actions.push(AlterAction::ChangeColumn {
                    name: column.name.clone(),
                    column: new,
                    position: ColumnPosition::Default,
                });
            }
        }
    }

    fn alter_options(&self, options: &TableOptions<'_>, def: &TableDef, actions: &mut Vec<AlterAction>) -> Result<()> {
        check_engine(options)?;
        check_encryption(options)?;
        if options.engine.is_some() && actions.is_empty() {
            actions.push(AlterAction::Rebuild);
        }
        if options.charset.is_some() || options.collation.is_some() {
            actions.push(AlterAction::SetCollation(collation_of(options.charset, options.collation, def.collation)?));
        }
        if options.comment.is_some() {
            actions.push(AlterAction::SetComment(self.comment(CommentOf::Table, &def.name, options.comment)?));
        }
        actions.extend(options.auto_increment.map(AlterAction::SetAutoIncrement));
        Ok(())
    }
}

/// What is special about SPATIAL.
fn spatial(key: &KeyDefinition<'_>) -> Result<NewIndexKind> {
    if key.parts.len() > 1 {
        return Err(Condition::TooManyKeyParts { max: 1.into() }.into());
    }
    if key.parts.iter().any(|part| matches!(part, KeyPart::Column { descending: true, .. })) {
        let (first, second) = ("spatial/fulltext/hash index".into(), "explicit index order".into());
        return Err(Condition::WrongUsage { first, second }.into());
    }
    Ok(NewIndexKind::Spatial)
}

/// The type whose texts of another character set hold as many characters: TEXT of latin1 becomes MEDIUMTEXT of utf8mb4.
fn widened(ty: &ColumnType, collation: CollationId) -> TypeKind {
    let TypeKind::Text(size) = ty.kind else { return ty.kind.clone() };
    let bytes_per_char = |collation: CollationId| collation.info().map_or(4, |info| u64::from(info.char_bytes_max));
    let (before, after) = (bytes_per_char(ty.collation), bytes_per_char(collation));
    let sizes = [(LobSize::Tiny, (1 << 8) - 1), (LobSize::Regular, (1 << 16) - 1), (LobSize::Medium, (1u64 << 24) - 1)];
    let characters = sizes.iter().find(|(other, _)| *other == size).map_or(u64::MAX, |(_, bytes)| bytes / before);
    let fits =
        sizes.iter().find(|(_, bytes)| characters.saturating_mul(after) <= *bytes).map_or(LobSize::Long, |(size, _)| *size);
    TypeKind::Text(if after > before { fits } else { size })
}

/// Binds a CHECK. `before`: the constraints written before it, from which its name in messages follows.
fn new_check(check: &CheckDefinition<'_>, before: &[NewCheck], table: &str) -> Result<NewCheck> {
    let unnamed = before.iter().filter(|check| check.name.is_none()).count();
    let name = check.name.map_or_else(|| format!("{table}_chk_{}", unnamed + 1), str::to_owned);
    let usage = RowExprUse::Check(name);
    let expr = crate::row_expr(&check.expr, &usage)?;
    if let Some(column) = check.column
        && expr.columns.iter().any(|other| !other.eq_ignore_ascii_case(column))
    {
        let problem = RowExprProblem::OtherColumn;
        return Err(DefinitionError::RowExpr { usage, problem }.into());
    }
    Ok(NewCheck { name: check.name.map(str::to_owned), expr, enforced: check.enforced })
}

/// GENERATED ALWAYS AS; refuses clauses that a generated column cannot have.
fn generated(definition: &ColumnDefinition<'_>) -> Result<Option<GeneratedDef>> {
    let Some(expr) = definition.generated else { return Ok(None) };
    if definition.default != DefaultClause::None {
        return Err(wrong_usage("DEFAULT"));
    }
    if definition.auto_increment {
        return Err(wrong_usage("AUTO_INCREMENT"));
    }
    if definition.on_update_now.is_some() {
        return Err(wrong_usage("ON UPDATE"));
    }
    let expr = crate::row_expr(expr, &RowExprUse::Generated(definition.name.to_owned()))?;
    Ok(Some(GeneratedDef { expr, stored: definition.stored }))
}

/// The distance of a VECTOR index.
fn metric(key: &KeyDefinition<'_>) -> Result<Metric> {
    match key.distance.map(|name| (name, Metric::named(name.as_bytes()))) {
        None => Ok(Metric::Euclidean),
        Some((_, Some(metric @ (Metric::Euclidean | Metric::Cosine)))) => Ok(metric),
        Some((name, _)) => Err(Error::NotSupported(format!("a VECTOR index with DISTANCE={name}"))),
    }
}

/// The expression of a functional key part.
fn functional_part(key: &KeyDefinition<'_>, expr: &Expr<'_>) -> Result<RowExpr> {
    let usage = RowExprUse::Index(key.name.unwrap_or("functional_index").to_owned());
    match (key.kind, expr) {
        (KeyKind::Primary, _) => Err(key_part_error(KeyPartProblem::Primary)),
        (_, Expr::Column(_)) => Err(key_part_error(KeyPartProblem::Column)),
        _ => crate::row_expr(expr, &usage),
    }
}

/// The name that messages give an index.
fn index_name<'k>(key: &KeyDefinition<'k>) -> &'k str {
    match (key.name, key.parts.first()) {
        (Some(name), _) => name,
        (None, Some(KeyPart::Column { name, .. })) => name,
        _ => "functional_index",
    }
}

fn is_functional(key: &KeyDefinition<'_>) -> bool {
    key.parts.iter().any(|part| matches!(part, KeyPart::Expr { .. }))
}

fn key_part_error(problem: KeyPartProblem) -> Error {
    DefinitionError::KeyPart(problem).into()
}

/// 1221
fn wrong_usage(what: &'static str) -> Error {
    Error::WrongUsage(what, "generated column")
}

/// ALGORITHM = and LOCK =, as `table` has them.
pub fn how(how: AlterHow) -> Result<(Algorithm, Lock)> {
    let algorithm = match how.algorithm {
        AlterAlgorithm::Default => Algorithm::Default,
        AlterAlgorithm::Instant => Algorithm::Instant,
        AlterAlgorithm::InPlace => Algorithm::InPlace,
        AlterAlgorithm::Copy => Algorithm::Copy,
    };
    let lock = match how.lock {
        AlterLock::Default => Lock::Default,
        AlterLock::None => Lock::None,
        AlterLock::Shared => Lock::Shared,
        AlterLock::Exclusive => Lock::Exclusive,
    };
    match (algorithm, lock) {
        (Algorithm::Instant, lock) if lock != Lock::Default => {
            Err(Error::WrongUsage("ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE"))
        }
        _ => Ok((algorithm, lock)),
    }
}

/// A FOREIGN KEY of a table in `database`; `indexes_before`: the number of the table's indexes written before it.
fn foreign_key(key: &ForeignKey<'_>, database: &str, indexes_before: usize) -> Result<NewForeignKey> {
    let Reference { table, columns, on_delete, on_update } = key.references;
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    if columns.len() != key.columns.len() {
        return Err(Condition::WrongFkDef { name: key.name.unwrap_or("foreign key without name").into() }.into());
    }
    let action = |action: Option<AstReferenceAction>| match action {
        None | Some(AstReferenceAction::NoAction) => ReferenceAction::NoAction,
        Some(AstReferenceAction::Restrict) => ReferenceAction::Restrict,
        Some(AstReferenceAction::Cascade) => ReferenceAction::Cascade,
        Some(AstReferenceAction::SetNull) => ReferenceAction::SetNull,
        Some(AstReferenceAction::SetDefault) => ReferenceAction::SetDefault,
    };
    Ok(NewForeignKey {
        name: key.name.map(str::to_owned),
        index_name: key.index_name.map(str::to_owned),
        columns: names(key.columns),
        parent_database: table.database.unwrap_or(database).to_owned(),
        parent_table: table.name.to_owned(),
        parent_columns: names(columns),
        on_delete: action(on_delete),
        on_update: action(on_update),
        indexes_before: indexes_before + key.keys_before,
    })
}

/// Tables are not encrypted: there are no keys to do it with.
fn check_encryption(options: &TableOptions<'_>) -> Result<()> {
    match options.encryption {
        None => Ok(()),
        Some(no) if no.eq_ignore_ascii_case(b"N") => Ok(()),
        Some(yes) if yes.eq_ignore_ascii_case(b"Y") => Err(no_master_key()),
        Some(_) => Err(Condition::InvalidEncryptionOption.into()),
    }
}

/// As MySQL answers without a keyring.
pub fn no_master_key() -> Error {
    Condition::CannotFindKeyInKeyring.into()
}

fn check_engine(options: &TableOptions<'_>) -> Result<()> {
    match options.engine {
        // One engine serves them all; the names that dumps and ORMs write are accepted.
        None => Ok(()),
        Some(name) if ["innodb", "heddle"].iter().any(|known| name.eq_ignore_ascii_case(known)) => Ok(()),
        Some(name) if ["myisam", "memory", "heap", "aria", "rocksdb"].iter().any(|known| name.eq_ignore_ascii_case(known)) => {
            Ok(())
        }
        Some(name) => Err(DefinitionError::UnknownEngine(name.to_owned()).into()),
    }
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// PRIMARY KEY and UNIQUE written beside a column.
fn column_keys(definition: &ColumnDefinition<'_>, indexes: &mut Vec<NewIndex>) {
    let mut add = |kind| {
        indexes.push(NewIndex {
            name: String::new(),
            kind,
            columns: vec![NewIndexColumn::whole(definition.name)],
            comment: String::new(),
            using_btree: false,
            invisible: false,
            generated: false,
            full_text: None,
        });
    };
    if definition.primary_key {
        add(NewIndexKind::Primary);
    }
    if definition.unique {
        add(NewIndexKind::Unique);
    }
}

/// Key parts name columns in any case; the definition spells them as the columns are.
fn spell_key_columns(new: &mut NewTable) {
    let columns = &new.columns;
    for part in new.indexes.iter_mut().flat_map(|index| &mut index.columns) {
        if let Some(column) = columns.iter().find(|column| column.name.eq_ignore_ascii_case(&part.name)) {
            part.name.clone_from(&column.name);
        }
    }
}

fn place(position: AstPosition<'_>) -> ColumnPosition {
    match position {
        AstPosition::Last => ColumnPosition::Default,
        AstPosition::First => ColumnPosition::First,
        AstPosition::After(name) => ColumnPosition::After(name.to_owned()),
    }
}

fn fsp_of(ty: &ColumnType) -> Option<u8> {
    match ty.kind {
        TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => Some(fsp),
        _ => None,
    }
}

/// Is the problem with a default value reported itself, instead of "invalid default"? Only for a DECIMAL, with a string
/// that begins with a number.
fn keeps_its_error(problem: &Problem, ty: &ColumnType) -> bool {
    let begins_with_digit = |text: &str| text.trim_start_matches(['+', '-', '.', ' ']).starts_with(|c: char| c.is_ascii_digit());
    matches!(problem, Problem::Incorrect { text, .. } if matches!(ty.kind, TypeKind::Decimal { .. }) && begins_with_digit(text))
}

/// The value and type of a default literal.
fn literal_value(expr: &Expr<'_>) -> Option<(Value<'static>, ColumnType)> {
    let string = || ColumnType::new(TypeKind::VarChar { length: 65535 });
    match expr {
        Expr::Unary { op: UnaryOp::Negate, arg } => {
            let (value, ty) = literal_value(arg)?;
            let negated = match value {
                Value::Int(value) => Value::Int(value.checked_neg()?),
                Value::UInt(value) => Value::Int(0i64.checked_sub_unsigned(value)?),
                Value::Decimal(value) => Value::Decimal(value.negate()),
                Value::Double(value) => Value::Double(-value),
                _ => return None,
            };
            Some((negated, ColumnType { unsigned: false, ..ty }))
        }
        Expr::Unary { op: UnaryOp::Plus, arg } => literal_value(arg),
        Expr::Literal(literal) => Some(match literal {
            Literal::Null => (Value::Null, ColumnType::new(TypeKind::Null)),
            Literal::Bool(on) => (Value::Int(i64::from(*on)), ColumnType::new(TypeKind::BigInt)),
            Literal::Int(number) => match i64::try_from(*number) {
                Ok(number) => (Value::Int(number), ColumnType::new(TypeKind::BigInt)),
                Err(_) => (Value::UInt(*number), ColumnType::unsigned(TypeKind::BigInt)),
            },
            Literal::Decimal(text) => {
                let decimal = types::Decimal::parse(text.as_bytes()).value;
                (Value::Decimal(decimal), ColumnType::new(TypeKind::Decimal { precision: 65, scale: 30 }))
            }
            Literal::Double(text) => (Value::Double(text.parse().ok()?), ColumnType::new(TypeKind::Double)),
            Literal::String(text) => (Value::Bytes(text.bytes.to_vec().into()), string()),
            Literal::Bits(bytes) => {
                (Value::Bytes(bytes.to_vec().into()), ColumnType::new(TypeKind::VarBinary { length: bytes.len() as u32 }))
            }
            // MySQL takes the text of a date as a default, but no literal of one.
            Literal::Date(_) | Literal::Time(_) | Literal::Timestamp(_) => return None,
        }),
        _ => None,
    }
}

/// A checked default as the catalog keeps it.
fn default_text(value: &Value<'_>, ty: &ColumnType) -> String {
    if let (TypeKind::Binary { .. } | TypeKind::VarBinary { .. } | TypeKind::Blob(_), Value::Bytes(bytes)) = (&ty.kind, value) {
        return bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    }
    if let (TypeKind::Bit { .. }, Value::UInt(bits)) = (&ty.kind, value) {
        return bits.to_string();
    }
    let mut out = Vec::new();
    convert::write_text(value, ty, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The collation of CHARACTER SET and COLLATE clauses; `default` if neither is written.
pub fn collation_of(set: Option<&str>, collation: Option<&str>, default: CollationId) -> Result<CollationId> {
    let set = match set {
        Some(name) if name.eq_ignore_ascii_case("default") => None,
        Some(name) => Some(charsets::charset(name).ok_or_else(|| Error::UnknownCharset(name.to_owned()))?),
        None => None,
    };
    let Some(collation) = collation else {
        return Ok(set.map_or(default, |set| CollationId(charsets::default_collation(set).id)));
    };
    let found = charsets::collation(collation).ok_or_else(|| Error::UnknownCollation(collation.to_owned()))?;
    match set {
        Some(set) if set.name != found.charset => {
            Err(Error::CollationMismatch { collation: found.name.to_owned(), charset: set.name.to_owned() })
        }
        _ => Ok(CollationId(found.id)),
    }
}

fn too_long(of: CommentOf, name: &str, max: usize) -> Condition {
    let (name, max) = (name.into(), max.into());
    match of {
        CommentOf::Column => Condition::TooLongFieldComment { name, max },
        CommentOf::Table => Condition::TooLongTableComment { name, max },
        CommentOf::Index => Condition::TooLongIndexComment { name, max },
        CommentOf::Partition => Condition::TooLongTablePartitionComment { name, max },
    }
}
