//! MATCH (columns) AGAINST (text ...).

use super::compare::{self, Derivation};
use super::from::SourceKind;
use super::{Binder, literal};
use crate::ast;
use crate::error::{Error, Result};
use conditions::Condition;
use expr::search::SearchMode;
use expr::{Expr, ExprKind, Function, typing};
use types::schema::{IndexKind, TableDef};
use types::{ColumnType, TypeKind, Value};

impl Binder<'_> {
    /// The columns must be those of a FULLTEXT index, in any order; the text must not depend on rows.
    pub(super) fn match_against(&mut self, call: &ast::MatchAgainst<'_>) -> Result<Expr> {
        let wrong = |what: &str| Error::WrongArguments(what.to_owned());
        let mut columns = Vec::with_capacity(call.columns.len());
        let mut of = None;
        for name in call.columns {
            let column = self.name(name)?;
            let ExprKind::Column { source, column: number } = column.kind else { return Err(wrong("MATCH")) };
            if of.replace(source).is_some_and(|other| other != source) {
                return Err(wrong("MATCH"));
            }
            columns.push((number, column));
        }
        let missing = || Error::from(Condition::FtMatchingKeyNotFound);
        let from = of.and_then(|source| self.sources.get(source)).ok_or_else(missing)?;
        if from.past.is_some() {
            return Err(Error::WrongUsage("AS OF TIMESTAMP", "MATCH"));
        }
        if !matches!(from.kind, SourceKind::Table) || from.table.is_virtual {
            return Err(missing());
        }
        let table = from.table.clone();
        let sees_all = self.context.switches().use_invisible_indexes;
        let numbers: Vec<usize> = columns.iter().map(|(number, _)| *number).collect();
        let index = find_index(&table, &numbers, sees_all).ok_or_else(missing)?;
        let text = self.value(&call.against)?;
        if compare::reads_rows(&text) || text.any(&|part| matches!(part.kind, ExprKind::Subquery(_))) {
            return Err(wrong("AGAINST"));
        }
        let mode = match call.mode {
            ast::MatchMode::Natural => SearchMode::Natural,
            ast::MatchMode::Boolean => SearchMode::Boolean,
            ast::MatchMode::Expansion => SearchMode::Expansion,
        };
        let mut text = vec![text];
        self.adopt_args(Function::MATCH, &mut text);
        let number = |n: u64| Expr::literal(Value::UInt(n), ColumnType::unsigned(TypeKind::BigInt));
        let mut args = vec![number(table.id.0), number(index as u64), literal::integer(mode.number().unsigned_abs())];
        args.append(&mut text);
        // In the order of the index, in which rows are cut into words.
        let parts = table.indexes[index].columns.iter();
        args.extend(parts.filter_map(|part| columns.iter().find(|(number, _)| *number == part.column)).map(|(_, c)| c.clone()));
        self.derivation = Derivation::NUMERIC;
        Ok(Expr { kind: ExprKind::Call { function: Function::MATCH, args }, ty: typing::double(), nullable: true })
    }
}

/// The full-text index of exactly these columns.
fn find_index(table: &TableDef, columns: &[usize], sees_all: bool) -> Option<usize> {
    table.indexes.iter().position(|index| {
        let is_seen = index.kind == IndexKind::FullText && (sees_all || !index.invisible);
        is_seen
            && index.columns.iter().all(|part| columns.contains(&part.column))
            && columns.iter().all(|column| index.columns.iter().any(|part| part.column == *column))
    })
}
