//! Partitioning expressions: which expressions PARTITION BY allows, and the partition function as an expression over a
//! row.
//!
//! 1. [`partition_expr`] checks the syntax of an expression and prints it, like other expressions of definitions
//!    (`row_expr`).
//! 2. [`check_partitioning`] binds it to the table's columns and checks its type, and that it depends on nothing but
//!    the row.
//! 3. [`bind_partition`] makes one expression of the partition function: the number of the row's partition, or NULL if
//!    no partition holds the row.

use crate::ast::{self, BinaryOp, UnaryOp};
use crate::error::{Error, Result};
use crate::row_expr::{RowExprUse, bind_row_expr, row_expr};
use expr::{Class, CompareAs, Expr, ExprKind, Function, PartitionCall, class};
use std::sync::Arc;
use types::partition::{PartitionBy, PartitionError, PartitionFunction, PartitionProblem, Partitioning, may_partition};
use types::schema::{RowExpr, TableDef};
use types::{ColumnType, TypeKind, Value};

/// Functions that a partitioning expression may call.
const ALLOWED: [&str; 23] = [
    "abs",
    "ceil",
    "ceiling",
    "datediff",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "floor",
    "hour",
    "microsecond",
    "minute",
    "mod",
    "month",
    "quarter",
    "second",
    "time_to_sec",
    "to_days",
    "to_seconds",
    "unix_timestamp",
    "weekday",
    "year",
    "yearweek",
];

/// The expression of HASH, RANGE or LIST, as the catalog keeps it.
pub fn partition_expr(expr: &ast::Expr<'_>) -> Result<RowExpr> {
    check_written(expr)?;
    let kept = row_expr(expr, &RowExprUse::Partition)?;
    if kept.columns.is_empty() { Err(PartitionError::NotOfRow.into()) } else { Ok(kept) }
}

/// 1564
fn check_written(expr: &ast::Expr<'_>) -> Result<()> {
    use ast::Expr as E;
    match expr {
        E::Literal(_) | E::Lifted { .. } | E::Column(_) => Ok(()),
        E::Unary { op: UnaryOp::Plus | UnaryOp::Negate, arg } => check_written(arg),
        E::Binary { op, left, right } => {
            use BinaryOp::{Add, IntDivide, Modulo, Multiply, Subtract};
            if !matches!(op, Add | Subtract | Multiply | IntDivide | Modulo) {
                return Err(PartitionError::Function.into());
            }
            check_written(left)?;
            check_written(right)
        }
        E::Extract { arg, .. } => check_written(arg),
        E::Call(call) if ALLOWED.iter().any(|name| call.name.name.eq_ignore_ascii_case(name)) => {
            call.args.iter().try_for_each(check_written)
        }
        _ => Err(PartitionError::Function.into()),
    }
}

/// Checks the partitioning of a whole table.
pub fn check_partitioning(def: &Arc<TableDef>) -> Result<()> {
    let Some(partitioning) = def.partitioning.as_deref() else { return Ok(()) };
    check_function(partitioning, def)?;
    if let Some(sub) = &partitioning.sub {
        check_function(sub, def)?;
    }
    function(def).map(drop)
}

fn check_function(partitioning: &Partitioning, def: &Arc<TableDef>) -> Result<()> {
    let Some(columns) = partitioning.columns_in(def) else { return Err(PartitionError::FieldMissing.into()) };
    if let Some(expr) = partitioning.by.expr() {
        let bound = bind_row_expr(&expr.text, def)?;
        if let ExprKind::Column { column, .. } = bound.kind
            && class(&bound.ty) != Class::Integer
        {
            return Err(PartitionError::FieldType { name: def.columns[column].name.clone() }.into());
        }
        check_zones(&bound)?;
        if class(&bound.ty) != Class::Integer {
            return Err(PartitionError::WrongType.into());
        }
        if bound.ty.unsigned && partitioning.has_negative() {
            return Err(PartitionError::OutOfDomain.into());
        }
        return Ok(());
    }
    for column in columns.iter().map(|&column| &def.columns[column]) {
        let is_lob = matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. });
        let is_key = matches!(partitioning.by, PartitionBy::Key { .. });
        if is_lob {
            return Err(PartitionError::BlobField.into());
        }
        if column.ty.is_vector() || !is_key && !may_partition(&column.ty.kind) {
            return Err(PartitionError::FieldType { name: column.name.clone() }.into());
        }
    }
    Ok(())
}

/// Which part of a moment a function of times reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Date,
    Time,
    Both,
    Any,
    /// It depends on a variable.
    More,
}

/// The unit of EXTRACT.
fn unit_of(arg: &Expr) -> Option<String> {
    match &arg.kind {
        ExprKind::Literal(Value::Bytes(unit)) => Some(String::from_utf8_lossy(unit).into_owned()),
        _ => None,
    }
}

impl Needs {
    fn of(function: Function, args: &[Expr]) -> Self {
        use Function as F;
        match function {
            F::YEAR
            | F::MONTH
            | F::QUARTER
            | F::DAY
            | F::DAYOFWEEK
            | F::DAYOFYEAR
            | F::WEEKDAY
            | F::TO_DAYS
            | F::TO_SECONDS
            | F::DATEDIFF
            | F::YEARWEEK => Self::Date,
            F::HOUR | F::MINUTE | F::SECOND | F::MICROSECOND | F::TIME_TO_SEC => Self::Time,
            F::EXTRACT => match args.first().and_then(unit_of) {
                Some(unit) if unit.starts_with("DAY_") => Self::Both,
                Some(unit) if ["YEAR", "YEAR_MONTH", "QUARTER", "MONTH", "DAY"].contains(&&*unit) => Self::Date,
                Some(unit) if unit == "WEEK" => Self::More,
                _ => Self::Time,
            },
            _ => Self::Any,
        }
    }

    fn fit(self, class: Class) -> bool {
        match self {
            Self::Date => class != Class::Time,
            Self::Time => class != Class::Date,
            Self::Both => class == Class::DateTime,
            Self::Any => true,
            Self::More => false,
        }
    }
}

/// 1486: functions of times take times, and a TIMESTAMP is read in no time zone.
fn check_zones(expr: &Expr) -> Result<()> {
    let wrong = || Err(PartitionError::NotOfRow.into());
    let is_timestamp = |ty: &ColumnType| matches!(ty.kind, TypeKind::Timestamp { .. });
    match &expr.kind {
        ExprKind::Call { function: Function::UNIX_TIMESTAMP, args } => {
            return match args.as_slice() {
                [Expr { kind: ExprKind::Column { .. }, ty, .. }] if is_timestamp(ty) => Ok(()),
                _ => wrong(),
            };
        }
        ExprKind::Call { function, args } => {
            let takes_numbers = matches!(*function, Function::ABS | Function::CEILING | Function::FLOOR);
            let is_time = |arg: &Expr| matches!(class(&arg.ty), Class::Date | Class::DateTime | Class::Time);
            let fits = |arg: &Expr| matches!(arg.kind, ExprKind::Literal(_)) || is_time(arg);
            if !takes_numbers && !args.iter().all(fits) {
                return wrong();
            }
            let needs = Needs::of(*function, args);
            if args.iter().any(|arg| is_time(arg) && !needs.fit(class(&arg.ty))) {
                return wrong();
            }
        }
        ExprKind::Column { .. } if is_timestamp(&expr.ty) => return wrong(),
        _ => {}
    }
    expr.parts().into_iter().try_for_each(check_zones)
}

fn function(def: &TableDef) -> Result<PartitionFunction> {
    let Some(partitioning) = def.partitioning.as_deref() else { return Err(PartitionError::ClauseWithoutPartitions.into()) };
    PartitionFunction::new(partitioning, def).map_err(|problem| {
        Error::Partition(match problem {
            PartitionProblem::Column => PartitionError::FieldMissing,
            PartitionProblem::Value => PartitionError::ValueType,
            PartitionProblem::Order(_) => PartitionError::NotIncreasing,
            PartitionProblem::Twice => PartitionError::Twice,
        })
    })
}

/// The number of a row's partition, over the table as source 0.
pub fn bind_partition(def: &Arc<TableDef>) -> Result<Expr> {
    let function = function(def)?;
    let column = |column: usize| {
        let kind = ExprKind::Column { source: 0, column };
        Expr { kind, ty: def.columns[column].ty.clone(), nullable: def.columns[column].nullable }
    };
    let values = |of: &Partitioning| -> Result<Vec<Expr>> {
        match of.by.expr() {
            Some(expr) => Ok(vec![bind_row_expr(&expr.text, def)?]),
            None => {
                let columns = of.columns_in(def).ok_or(Error::Partition(PartitionError::FieldMissing))?;
                Ok(columns.into_iter().map(column).collect())
            }
        }
    };
    let mut args = values(function.definition())?;
    if let Some(sub) = function.sub() {
        args.extend(values(sub.definition())?);
    }
    let call = PartitionCall { function: Arc::new(function), args };
    Ok(Expr { kind: ExprKind::Partition(Box::new(call)), ty: ColumnType::new(TypeKind::BigInt), nullable: true })
}

/// The numbers of the partitions that PARTITION (p0, p1) names.
pub(crate) fn named_partitions(def: &TableDef, names: &[&str]) -> Result<Vec<usize>> {
    let Some(partitioning) = def.partitioning.as_deref() else { return Err(PartitionError::ClauseWithoutPartitions.into()) };
    let mut numbers = Vec::with_capacity(names.len());
    for name in names {
        let unknown = || PartitionError::Unknown { partition: (*name).to_owned(), table: def.name.clone() };
        numbers.extend(partitioning.numbers(name).ok_or_else(unknown)?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The condition that a row of source `source` lies in one of these partitions.
pub(crate) fn lies_in(def: &Arc<TableDef>, source: usize, numbers: &[usize]) -> Result<Expr> {
    let mut partition = bind_partition(def)?;
    partition.map_sources(&|_| source);
    let number = |number: &usize| Expr::literal(Value::Int(*number as i64), ColumnType::new(TypeKind::BigInt));
    let list = numbers.iter().map(number).collect();
    let kind = ExprKind::In { arg: Box::new(partition), list, by: CompareAs::Integer, negated: false };
    Ok(Expr { kind, ty: ColumnType::new(TypeKind::BigInt), nullable: true })
}
