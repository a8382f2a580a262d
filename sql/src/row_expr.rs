//! Expressions over one row of a table that are part of its definition: generated columns, expression defaults, CHECK
//! constraints.
//!
//! 1. [`row_expr`] checks the written expression (no nondeterministic function, variable or subquery) and prints it as
//!    MySQL does: names in backticks, every bracket, strings with their character set. The text means the same in every
//!    session.
//! 2. The catalog stores that text.
//! 3. [`bind_row_expr`] parses it and binds it to the table's columns as source 0, once for each plan that writes the
//!    table.
//!
//! Conditions: MySQL makes AND, OR, XOR and IS TRUE compare an operand that is not a condition with 0, and pushes NOT into
//! the operand that it negates. The printed text does the same. The parser bounds the depth.

use crate::ast::{self, BinaryOp, CastTarget, Expr, IntervalUnit, Literal, TrimSide, UnaryOp, UnitFunction};
use crate::bind::is_function;
use crate::error::{DefinitionError, Error, Result, RowExprProblem};
use crate::plan::BindContext;
use conditions::Condition;
use std::fmt::Write;
use std::sync::Arc;
use types::schema::{ColumnDefault, RowExpr, Schema, TableDef};
use types::{CollationId, ColumnType, SqlMode, Value};

/// The use of an expression, with the name of the column or constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowExprUse {
    Generated(String),
    Default(String),
    Check(String),
    /// A functional key part, by the name of the index.
    Index(String),
    /// PARTITION BY
    Partition,
}

/// The stored form of an expression of a definition.
pub fn row_expr(expr: &Expr<'_>, usage: &RowExprUse) -> Result<RowExpr> {
    if matches!(usage, RowExprUse::Check(_)) && !is_condition(expr) {
        return Err(problem(usage, RowExprProblem::NotBoolean));
    }
    let mut printer =
        Printer { usage: Usage::Row(usage), out: String::new(), columns: Vec::new(), common: Vec::new(), read: Vec::new() };
    match (expr, usage) {
        (Expr::CastArray { arg, target }, RowExprUse::Index(_)) => printer.cast_array(arg, target)?,
        _ => printer.expr(expr)?,
    }
    Ok(RowExpr { text: printer.out, columns: printer.columns })
}

/// Parses and binds a stored expression over a row of `table`, which is source 0.
pub fn bind_row_expr(text: &str, table: &Arc<TableDef>) -> Result<expr::Expr> {
    let context = DefinitionContext { schema: Schema::default() };
    let arena = crate::Arena::new();
    let parsed = crate::parse_expression(&arena, text.as_bytes(), &context.sql_mode())?;
    crate::bind::bind_over_row(&parsed, table, &context)
}

/// Checks the expressions of a whole table: the columns that they read, and their types.
pub fn check_row_exprs(def: &Arc<TableDef>) -> Result<()> {
    for (n, column) in def.columns.iter().enumerate() {
        if let Some(generated) = &column.generated {
            check_one(def, n, &generated.expr, computed_use(def, n))?;
        }
        if let ColumnDefault::Expression(expr) = &column.default {
            check_one(def, n, expr, RowExprUse::Default(column.name.clone()))?;
        }
    }
    crate::partition::check_partitioning(def)?;
    def.checks.iter().try_for_each(|check| check_one(def, usize::MAX, &check.expr, RowExprUse::Check(check.name.clone())))
}

/// The use of a generated column's expression; a hidden column belongs to an index.
fn computed_use(def: &TableDef, column: usize) -> RowExprUse {
    let index = def.indexes.iter().filter(|_| def.columns[column].hidden).find(|i| i.columns.iter().any(|p| p.column == column));
    match index {
        Some(index) => RowExprUse::Index(index.name.clone()),
        None => RowExprUse::Generated(def.columns[column].name.clone()),
    }
}

/// The expression of column `n`, or of a CHECK.
fn check_one(def: &Arc<TableDef>, n: usize, expr: &RowExpr, usage: RowExprUse) -> Result<()> {
    check_columns(def, n, expr, &usage)?;
    bind_row_expr(&expr.text, def).map(drop)
}

/// Checks the columns that such an expression reads.
pub(crate) fn check_columns(def: &TableDef, n: usize, expr: &RowExpr, usage: &RowExprUse) -> Result<()> {
    for name in &expr.columns {
        let Some(at) = def.column_index(name) else {
            return Err(problem(usage, RowExprProblem::UnknownColumn(name.clone())));
        };
        let column = &def.columns[at];
        if column.auto_increment {
            return Err(problem(usage, RowExprProblem::AutoIncrement));
        }
        let whose = match usage {
            RowExprUse::Generated(_) | RowExprUse::Index(_) => "GENERATED COLUMN",
            RowExprUse::Check(_) => "CHECK CONSTRAINT",
            RowExprUse::Default(_) | RowExprUse::Partition => "",
        };
        if column.ty.is_vector() && !whose.is_empty() {
            let (argument, function) = (column.name.as_str().into(), whose.into());
            return Err(Condition::IncorrectType { argument, function }.into());
        }
        let is_computed = match usage {
            RowExprUse::Generated(_) | RowExprUse::Index(_) => column.generated.is_some(),
            _ => column.generated.is_some() || matches!(column.default, ColumnDefault::Expression(_)),
        };
        if at >= n && is_computed {
            return Err(problem(usage, RowExprProblem::NotPrior));
        }
    }
    Ok(())
}

/// The context in which expressions of definitions are bound, the same for every session.
struct DefinitionContext {
    schema: Schema,
}

impl BindContext for DefinitionContext {
    fn database(&self) -> Option<&str> {
        None
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn system_variable(&self, _global: bool, _name: &str) -> Option<(Value<'static>, ColumnType)> {
        None
    }

    fn row_count(&self, _table: &TableDef) -> u64 {
        0
    }

    fn sql_mode(&self) -> SqlMode {
        SqlMode { strict: true, error_for_division_by_zero: true, ..SqlMode::NONE }
    }

    fn connection_collation(&self) -> CollationId {
        CollationId::UTF8MB4_0900_AI_CI
    }
}

fn problem(usage: &RowExprUse, problem: RowExprProblem) -> Error {
    DefinitionError::RowExpr { usage: usage.clone(), problem }.into()
}

/// Names that MySQL prints for others.
const SYNONYMS: [(&str, &str); 21] = [
    ("adddate", "date_add"),
    ("atan2", "atan"),
    ("ceil", "ceiling"),
    ("character_length", "char_length"),
    ("current_date", "curdate"),
    ("current_time", "curtime"),
    ("current_timestamp", "now"),
    ("day", "dayofmonth"),
    ("lcase", "lower"),
    ("localtime", "now"),
    ("localtimestamp", "now"),
    ("mid", "substr"),
    ("octet_length", "length"),
    ("power", "pow"),
    ("schema", "database"),
    ("session_user", "user"),
    ("substring", "substr"),
    ("system_user", "user"),
    ("ucase", "upper"),
    ("rlike", "regexp_like"),
    ("position", "locate"),
];

/// Functions that no definition may call: their value is the session's, or they wait.
const NOWHERE: [&str; 19] = [
    "benchmark",
    "found_rows",
    "get_lock",
    "icu_version",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "master_pos_wait",
    "name_const",
    "release_all_locks",
    "release_lock",
    "row_count",
    "sleep",
    "source_pos_wait",
    "validate_password_strength",
    "values",
    "version",
    "wait_for_executed_gtid_set",
];

/// Functions that may return different values for the same row: allowed in defaults only.
const CHANGING: [&str; 19] = [
    "connection_id",
    "curdate",
    "current_role",
    "current_user",
    "curtime",
    "database",
    "now",
    "ps_current_thread_id",
    "rand",
    "random_bytes",
    "roles_graphml",
    "statement_digest",
    "sysdate",
    "unix_timestamp",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
];

/// Functions whose values are conditions.
const CONDITIONS: [&str; 16] = [
    "find_in_set",
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "is_uuid",
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_schema_valid",
    "json_valid",
    "regexp_like",
    "st_contains",
    "st_equals",
    "st_isvalid",
];

/// Is the value a truth value already?
fn is_condition(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Literal(Literal::Bool(_))
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Not(_)
        | Expr::IsNull { .. }
        | Expr::IsTruth { .. }
        | Expr::In { .. }
        | Expr::Between(_)
        | Expr::Like(_)
        | Expr::Regexp { .. }
        | Expr::InSubquery { .. }
        | Expr::Exists(_)
        | Expr::Quantified { .. }
        | Expr::MemberOf { .. }
        | Expr::Unary { op: UnaryOp::Not, .. } => true,
        Expr::Lifted { literal, .. } => matches!(literal, Literal::Bool(_)),
        Expr::Binary { op, .. } => comparison_sign(*op).is_some() || matches!(op, BinaryOp::Xor | BinaryOp::SoundsLike),
        Expr::Call(call) => CONDITIONS.iter().any(|name| call.name.name.eq_ignore_ascii_case(name)),
        _ => false,
    }
}

fn comparison_sign(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Equal => "=",
        BinaryOp::NotEqual => "<>",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::NullSafeEqual => "<=>",
        _ => return None,
    })
}

/// The negated comparison.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterOrEqual,
        BinaryOp::LessOrEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessOrEqual,
        BinaryOp::GreaterOrEqual => BinaryOp::Less,
        _ => return None,
    })
}

/// The purpose for which an expression is printed.
#[derive(Clone, Copy)]
pub(crate) enum Usage<'u> {
    Row(&'u RowExprUse),
    /// The query of a view.
    View(&'u crate::view::Text<'u>),
}

pub(crate) struct Printer<'u> {
    pub usage: Usage<'u>,
    pub out: String,
    /// Of a row: the columns it reads.
    pub columns: Vec<String>,
    /// Of a view: the common tables that may be named here.
    pub common: Vec<String>,
    /// Of a view: those of them that were named, by their places.
    pub read: Vec<usize>,
}

impl Printer<'_> {
    pub fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn problem<T>(&self, what: RowExprProblem) -> Result<T> {
        match self.usage {
            Usage::Row(usage) => Err(problem(usage, what)),
            Usage::View(_) => Err(Error::NotSupported("this expression in a view".to_owned())),
        }
    }

    pub fn list(&mut self, exprs: &[Expr<'_>]) -> Result<()> {
        for (n, expr) in exprs.iter().enumerate() {
            if n > 0 {
                self.put(",");
            }
            self.expr(expr)?;
        }
        Ok(())
    }

    /// `(a op b)`
    fn infix(&mut self, left: &Expr<'_>, sign: &str, right: &Expr<'_>) -> Result<()> {
        self.put("(");
        self.operand(left)?;
        write!(self.out, " {sign} ").expect("a String takes everything");
        self.operand(right)?;
        self.put(")");
        Ok(())
    }

    /// An operand of an operator; a comparison with a subquery is printed without its own brackets.
    fn operand(&mut self, expr: &Expr<'_>) -> Result<()> {
        if !matches!(expr, Expr::InSubquery { .. } | Expr::Quantified { .. }) {
            return self.expr(expr);
        }
        self.put("(");
        self.expr(expr)?;
        self.put(")");
        Ok(())
    }

    /// An operand of AND, OR, XOR or IS TRUE. `negated`: prints its negation.
    pub fn condition(&mut self, expr: &Expr<'_>, negated: bool) -> Result<()> {
        match (negated, is_condition(expr)) {
            (false, true) => self.expr(expr),
            (true, _) => self.negation(expr),
            (false, false) => {
                self.put("(0 <> ");
                self.expr(expr)?;
                self.put(")");
                Ok(())
            }
        }
    }

    fn chain(&mut self, items: &[Expr<'_>], word: &str, negated: bool) -> Result<()> {
        self.put("(");
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                write!(self.out, " {word} ").expect("a String takes everything");
            }
            self.condition(item, negated)?;
        }
        self.put(")");
        Ok(())
    }

    /// NOT expr
    fn negation(&mut self, expr: &Expr<'_>) -> Result<()> {
        match expr {
            Expr::Not(inner) | Expr::Unary { op: UnaryOp::Not, arg: inner } => self.condition(inner, false),
            Expr::InSubquery { arg, query, negated } if self.view().is_some() => self.in_subquery(arg, query, !negated),
            Expr::Exists(query) if self.view().is_some() => {
                self.put("(not ");
                self.exists(query)?;
                self.put(")");
                Ok(())
            }
            Expr::And(items) => self.chain(items, "or", true),
            Expr::Or(items) => self.chain(items, "and", true),
            Expr::Binary { op: BinaryOp::Xor, left, right } => {
                self.put("(");
                self.condition(left, true)?;
                self.put(" xor ");
                self.condition(right, false)?;
                self.put(")");
                Ok(())
            }
            Expr::Binary { op, left, right } if opposite(*op).is_some() => {
                let sign = opposite(*op).and_then(comparison_sign).unwrap_or_default();
                self.infix(left, sign, right)
            }
            Expr::IsNull { arg, negated } => self.is_null(arg, !negated),
            Expr::IsTruth { arg, truth, negated } => self.is_truth(arg, *truth, !negated),
            Expr::In { arg, list, negated } => self.is_in(arg, list, !negated),
            Expr::Between(between) => self.between(between, !between.negated),
            Expr::Like(like) if like.negated => self.like(like),
            Expr::Regexp { arg, pattern, negated: true } => self.regexp(arg, pattern),
            Expr::Like(like) => self.not(|p| p.like(like)),
            Expr::Regexp { arg, pattern, .. } => self.not(|p| p.regexp(arg, pattern)),
            _ if is_condition(expr) => self.not(|p| p.expr(expr)),
            _ => {
                self.put("(0 = ");
                self.expr(expr)?;
                self.put(")");
                Ok(())
            }
        }
    }

    fn not(&mut self, inner: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.put("(not(");
        inner(self)?;
        self.put("))");
        Ok(())
    }

    fn is_null(&mut self, arg: &Expr<'_>, negated: bool) -> Result<()> {
        self.put("(");
        self.expr(arg)?;
        self.put(if negated { " is not null)" } else { " is null)" });
        Ok(())
    }

    fn is_truth(&mut self, arg: &Expr<'_>, truth: bool, negated: bool) -> Result<()> {
        self.put("(");
        self.condition(arg, false)?;
        self.put(if negated { " is not " } else { " is " });
        self.put(if truth { "true)" } else { "false)" });
        Ok(())
    }

    fn is_in(&mut self, arg: &Expr<'_>, list: &[Expr<'_>], negated: bool) -> Result<()> {
        if let [only] = list {
            return self.infix(arg, if negated { "<>" } else { "=" }, only);
        }
        self.put("(");
        self.expr(arg)?;
        self.put(if negated { " not in (" } else { " in (" });
        self.list(list)?;
        self.put("))");
        Ok(())
    }

    fn between(&mut self, between: &ast::Between<'_>, negated: bool) -> Result<()> {
        self.put("(");
        self.expr(&between.arg)?;
        self.put(if negated { " not between " } else { " between " });
        self.expr(&between.low)?;
        self.put(" and ");
        self.expr(&between.high)?;
        self.put(")");
        Ok(())
    }

    /// Without its NOT.
    fn like(&mut self, like: &ast::Like<'_>) -> Result<()> {
        self.put("(");
        self.expr(&like.arg)?;
        self.put(" like ");
        self.expr(&like.pattern)?;
        if let Some(escape) = &like.escape {
            self.put(" escape ");
            self.expr(escape)?;
        }
        self.put(")");
        Ok(())
    }

    fn regexp(&mut self, arg: &Expr<'_>, pattern: &Expr<'_>) -> Result<()> {
        self.put("regexp_like(");
        self.expr(arg)?;
        self.put(",");
        self.expr(pattern)?;
        self.put(")");
        Ok(())
    }

    /// Of a view: how its query is printed.
    pub fn view(&self) -> Option<&crate::view::Text<'_>> {
        match self.usage {
            Usage::Row(_) => None,
            Usage::View(view) => Some(view),
        }
    }

    fn column(&mut self, name: &ast::ColumnName<'_>) {
        if let Usage::View(view) = self.usage {
            return view.column(name, &mut self.out);
        }
        if !self.columns.iter().any(|known| known.eq_ignore_ascii_case(name.name)) {
            self.columns.push(name.name.to_owned());
        }
        self.out.push_str(&types::show_create::quoted_name(name.name));
    }

    pub fn expr(&mut self, expr: &Expr<'_>) -> Result<()> {
        if self.view().is_some() && self.view_expr(expr)? {
            return Ok(());
        }
        match expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Lifted { literal, .. } => self.literal(literal),
            Expr::Column(name) => {
                self.column(name);
                return Ok(());
            }
            Expr::UserVariable(_) | Expr::SystemVariable { .. } | Expr::AssignVariable { .. } => {
                return self.problem(RowExprProblem::Variable);
            }
            Expr::Unary { op: UnaryOp::Plus, arg } => return self.expr(arg),
            Expr::Unary { op: UnaryOp::Not, arg } | Expr::Not(arg) => return self.negation(arg),
            Expr::Unary { op, arg } => {
                self.put(if *op == UnaryOp::BitNot { "~(" } else { "-(" });
                self.expr(arg)?;
                self.put(")");
            }
            Expr::Binary { op, left, right } => return self.binary(*op, left, right),
            Expr::And(items) => return self.chain(items, "and", false),
            Expr::Or(items) => return self.chain(items, "or", false),
            Expr::IsNull { arg, negated } => return self.is_null(arg, *negated),
            Expr::IsTruth { arg, truth, negated } => return self.is_truth(arg, *truth, *negated),
            Expr::In { arg, list, negated } => return self.is_in(arg, list, *negated),
            Expr::Between(between) => return self.between(between, between.negated),
            Expr::Like(like) if like.negated => return self.not(|p| p.like(like)),
            Expr::Like(like) => return self.like(like),
            Expr::Regexp { arg, pattern, negated: true } => return self.not(|p| p.regexp(arg, pattern)),
            Expr::Regexp { arg, pattern, .. } => return self.regexp(arg, pattern),
            Expr::Case(case) => return self.case(case),
            Expr::Cast { arg, target } => return self.cast(arg, target),
            Expr::CastArray { .. } => return Err(Error::misplaced_array()),
            Expr::BinaryCast(arg) => return self.cast(arg, &CastTarget::Binary { length: None }),
            Expr::ConvertUsing { arg, charset } => {
                self.put("convert(");
                self.expr(arg)?;
                write!(self.out, " using {})", charset.to_ascii_lowercase()).expect("a String takes everything");
            }
            Expr::Collate { arg, collation } => {
                self.put("(");
                self.expr(arg)?;
                write!(self.out, " collate {})", collation.to_ascii_lowercase()).expect("a String takes everything");
            }
            Expr::DateArithmetic(d) => return self.interval(&d.date, if d.subtract { '-' } else { '+' }, &d.amount, d.unit),
            Expr::Call(call) => return self.call(call),
            Expr::Extract { unit, arg } => {
                write!(self.out, "extract({} from ", unit.name().to_ascii_lowercase()).expect("a String takes everything");
                self.expr(arg)?;
                self.put(")");
            }
            Expr::UnitCall { function: UnitFunction::TimestampAdd, unit, args } => {
                return self.interval(&args[1], '+', &args[0], *unit);
            }
            Expr::UnitCall { function: UnitFunction::TimestampDiff, unit, args } => {
                write!(self.out, "timestampdiff({},", unit.name()).expect("a String takes everything");
                self.list(&args[..])?;
                self.put(")");
            }
            Expr::Trim { side, what, text } => {
                self.put("trim(");
                match (side, what) {
                    (TrimSide::Both, None) => {}
                    (TrimSide::Both, _) => self.put("both "),
                    (TrimSide::Leading, _) => self.put("leading "),
                    (TrimSide::Trailing, _) => self.put("trailing "),
                }
                if let Some(what) = what {
                    self.expr(what)?;
                }
                if what.is_some() || *side != TrimSide::Both {
                    self.put(" from ");
                }
                self.expr(text)?;
                self.put(")");
            }
            Expr::JsonArrow { column, path, unquote } => {
                self.put(if *unquote { "json_unquote(json_extract(" } else { "json_extract(" });
                self.column(column);
                self.put(",");
                self.text(path, None);
                self.put(if *unquote { "))" } else { ")" });
            }
            Expr::MemberOf { arg, array } => {
                self.expr(arg)?;
                self.put(" member of (");
                self.expr(array)?;
                self.put(")");
            }
            Expr::JsonValue(call) => return self.json_value(call),
            Expr::Window(call) => return Err(call.misplaced()),
            Expr::Aggregate(_) | Expr::Grouping(_) => return Err(Error::InvalidGroupUse),
            Expr::Row(_) => return self.problem(RowExprProblem::RowValue),
            Expr::Default(_) if matches!(self.usage, Usage::Row(RowExprUse::Default(_) | RowExprUse::Index(_))) => {
                return self.problem(RowExprProblem::DefaultFunction);
            }
            Expr::Default(Some(column)) => {
                self.put("default(");
                self.column(column);
                self.put(")");
            }
            Expr::InsertValue(_) => return self.problem(RowExprProblem::Function("values".to_owned())),
            Expr::Default(None)
            | Expr::Param(_)
            | Expr::Local { .. }
            | Expr::InSubquery { .. }
            | Expr::Subquery(_)
            | Expr::Exists(_)
            | Expr::Quantified { .. }
            | Expr::AtTimeZone { .. }
            | Expr::Match(_) => return self.problem(RowExprProblem::Unnamed),
        }
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr<'_>, right: &Expr<'_>) -> Result<()> {
        if let Some(sign) = comparison_sign(op) {
            return self.infix(left, sign, right);
        }
        let sign = match op {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::IntDivide => "DIV",
            BinaryOp::Modulo => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Xor => {
                self.put("(");
                self.condition(left, false)?;
                self.put(" xor ");
                self.condition(right, false)?;
                self.put(")");
                return Ok(());
            }
            BinaryOp::Concat => {
                self.put("concat(");
                self.expr(left)?;
                self.put(",");
                self.expr(right)?;
                self.put(")");
                return Ok(());
            }
            BinaryOp::SoundsLike => {
                self.put("(soundex(");
                self.expr(left)?;
                self.put(") = soundex(");
                self.expr(right)?;
                self.put("))");
                return Ok(());
            }
            _ => return self.problem(RowExprProblem::Unnamed),
        };
        self.infix(left, sign, right)
    }

    fn case(&mut self, case: &ast::Case<'_>) -> Result<()> {
        self.put("(case");
        if let Some(operand) = &case.operand {
            self.put(" ");
            self.expr(operand)?;
        }
        for (when, then) in case.whens {
            self.put(" when ");
            self.expr(when)?;
            self.put(" then ");
            self.expr(then)?;
        }
        if let Some(otherwise) = &case.otherwise {
            self.put(" else ");
            self.expr(otherwise)?;
        }
        self.put(" end)");
        Ok(())
    }

    fn cast(&mut self, arg: &Expr<'_>, target: &CastTarget<'_>) -> Result<()> {
        self.put("cast(");
        self.expr(arg)?;
        self.put(" as ");
        self.target(target);
        self.put(")");
        Ok(())
    }

    /// A multi-valued key part, whose type is named in words of its own.
    fn cast_array(&mut self, arg: &Expr<'_>, target: &CastTarget<'_>) -> Result<()> {
        self.put("cast(");
        self.expr(arg)?;
        self.put(" as ");
        match *target {
            CastTarget::Char { charset: Some(_), .. } | CastTarget::Char { binary: true, .. } => {
                return Err(Condition::NotSupportedByMysql { what: "specifying charset for multi-valued index".into() }.into());
            }
            CastTarget::Char { length: Some(length), .. } => self.put(&format!("char({length})")),
            _ => self.returned(target),
        }
        self.put(" array)");
        Ok(())
    }

    fn target(&mut self, target: &CastTarget<'_>) {
        let length = |length: Option<u32>| length.map_or(String::new(), |n| format!("({n})"));
        let fraction = |name: &str, fsp: u8| if fsp == 0 { name.to_owned() } else { format!("{name}({fsp})") };
        let text = match *target {
            CastTarget::Signed => "signed".to_owned(),
            CastTarget::Unsigned => "unsigned".to_owned(),
            CastTarget::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            CastTarget::Float => "float".to_owned(),
            CastTarget::Double => "double".to_owned(),
            CastTarget::Char { length: n, charset, .. } => {
                format!("char{} charset {}", length(n), charset.unwrap_or(self.charset()).to_ascii_lowercase())
            }
            CastTarget::Binary { length: n } => format!("char{} charset binary", length(n)),
            CastTarget::Date => "date".to_owned(),
            CastTarget::Time { fsp } => fraction("time", fsp),
            CastTarget::DateTime { fsp } => fraction("datetime", fsp),
            CastTarget::Year => "year".to_owned(),
            CastTarget::Json => "json".to_owned(),
            CastTarget::Geometry(kind) => kind.lower_name().to_owned(),
        };
        self.put(&text);
    }

    /// A type of RETURNING, which CAST would name in other words.
    fn returned(&mut self, target: &CastTarget<'_>) {
        const CHARS_MAX: u32 = (1 << 30) - 1;
        let text = match *target {
            CastTarget::Char { length: Some(length), charset: Some(charset), .. } if charset.eq_ignore_ascii_case("binary") => {
                format!("binary({length})")
            }
            CastTarget::Char { length, charset, .. } => {
                let charset = charset.map_or(String::new(), |name| format!(" character set {}", name.to_ascii_lowercase()));
                format!("char({}){charset}", length.unwrap_or(CHARS_MAX))
            }
            CastTarget::Binary { length: Some(length) } => format!("binary({length})"),
            CastTarget::Decimal { precision, scale } => format!("decimal({precision}, {scale})"),
            _ => return self.target(target),
        };
        self.put(&text);
    }

    fn interval(&mut self, date: &Expr<'_>, sign: char, amount: &Expr<'_>, unit: IntervalUnit) -> Result<()> {
        self.put("(");
        self.expr(date)?;
        write!(self.out, " {sign} interval ").expect("a String takes everything");
        self.expr(amount)?;
        write!(self.out, " {})", unit.name().to_ascii_lowercase()).expect("a String takes everything");
        Ok(())
    }

    fn json_value(&mut self, call: &ast::JsonValue<'_>) -> Result<()> {
        let returns = |on: &ast::JsonOn<'_>| matches!(on, ast::JsonOn::Null);
        if !returns(&call.on_empty) || !returns(&call.on_error) {
            return self.problem(RowExprProblem::Unnamed);
        }
        self.put("json_value(");
        self.expr(&call.arg)?;
        self.put(", ");
        self.text(call.path, None);
        self.put(" returning ");
        match &call.target {
            Some(target) => self.returned(target),
            None => self.put("char(512)"),
        }
        self.put(")");
        Ok(())
    }

    /// `WEIGHT_STRING(x AS CHAR(n))`, or AS BINARY(n).
    fn weight_string(&mut self, arg: &Expr<'_>, is_binary: bool, length: u64) -> Result<()> {
        self.put(if is_binary { "weight_string(cast(" } else { "weight_string(" });
        self.expr(arg)?;
        write!(self.out, " as char({length})").expect("a String takes everything");
        self.put(if is_binary { " charset binary))" } else { ")" });
        Ok(())
    }

    fn call(&mut self, call: &ast::Call<'_>) -> Result<()> {
        let written = call.name.name.to_ascii_lowercase();
        let name = SYNONYMS.iter().find(|(other, _)| *other == written).map_or(written.as_str(), |(_, name)| name);
        let is_stored = call.name.database.is_some() || !is_function(&written);
        if let ("weight_string", [arg, Expr::Literal(Literal::String(kind)), Expr::Literal(Literal::Int(length))]) =
            (written.as_str(), call.args)
        {
            return self.weight_string(arg, kind.bytes == b"B", *length);
        }
        if let (true, Some(view)) = (is_stored, self.view()) {
            let database = call.name.database.or(view.database).filter(|database| Some(*database) != view.omitted);
            if let Some(database) = database.map(types::show_create::quoted_name) {
                self.put(&database);
                self.put(".");
            }
            self.put(&types::show_create::quoted_name(call.name.name));
            self.put("(");
            self.list(call.args)?;
            self.put(")");
            return Ok(());
        }
        if is_stored {
            return self.problem(RowExprProblem::Function(format!("`{written}`")));
        }
        if name == "name_const" && self.view().is_none() {
            return self.problem(RowExprProblem::Unnamed);
        }
        let is_default = matches!(self.usage, Usage::Row(RowExprUse::Default(_)));
        // As MySQL 8.4 has it, a CHECK may read the clock by this one.
        let is_excused = name == "sysdate" && matches!(self.usage, Usage::Row(RowExprUse::Check(_)))
            // Of a TIMESTAMP it is the row's alone (`partition`).
            || name == "unix_timestamp" && matches!(self.usage, Usage::Row(RowExprUse::Partition));
        if self.view().is_some() {
            // A query may call everything.
        } else if NOWHERE.contains(&name)
            || CHANGING.contains(&name) && !is_default && !is_excused
            || name == "uuid_short" && !is_default
        {
            let shown = if matches!(name, "version" | "icu_version") { format!("{name}()") } else { name.to_owned() };
            return self.problem(RowExprProblem::Function(shown));
        }
        match (name, call.args) {
            ("mod", [left, right]) => return self.infix(left, "%", right),
            ("isnull", [arg]) => return self.is_null(arg, false),
            ("date", [arg]) => return self.cast(arg, &CastTarget::Date),
            ("time", [arg]) => return self.cast(arg, &CastTarget::Time { fsp: 0 }),
            ("timestamp", [arg]) => return self.cast(arg, &CastTarget::DateTime { fsp: 0 }),
            _ => {}
        }
        let (name, more) = match (name, call.args.len()) {
            ("bin", 1) => ("conv", ",10,2"),
            ("oct", 1) => ("conv", ",10,8"),
            ("round", 1) => ("round", ",0"),
            ("weekofyear", 1) => ("week", ",3"),
            (name, _) => (name, ""),
        };
        self.put(name);
        self.put("(");
        self.list(call.args)?;
        self.put(more);
        let own = if self.view().is_some() { "" } else { "utf8mb4" };
        if let Some(charset) = call.using.filter(|charset| !charset.eq_ignore_ascii_case(own)) {
            write!(self.out, " using {}", charset.to_ascii_lowercase()).expect("a String takes everything");
        }
        self.put(")");
        Ok(())
    }

    fn literal(&mut self, literal: &Literal<'_>) {
        match literal {
            Literal::Null => self.put("NULL"),
            Literal::Bool(true) => self.put("true"),
            Literal::Bool(false) => self.put("false"),
            Literal::Int(number) => write!(self.out, "{number}").expect("a String takes everything"),
            Literal::Decimal(digits) | Literal::Double(digits) => self.put(digits),
            Literal::String(string) => self.text(string.bytes, string.charset),
            Literal::Bits(bytes) => self.bits(bytes),
            Literal::Date(text) => self.temporal("DATE", text),
            Literal::Time(text) => self.temporal("TIME", text),
            Literal::Timestamp(text) => self.temporal("TIMESTAMP", text),
        }
    }

    fn temporal(&mut self, word: &str, text: &[u8]) {
        write!(self.out, "{word}'{}'", String::from_utf8_lossy(text)).expect("a String takes everything");
    }

    fn bits(&mut self, bytes: &[u8]) {
        self.put("0x");
        bytes.iter().for_each(|byte| write!(self.out, "{byte:02x}").expect("a String takes everything"));
    }

    /// Of texts that name no character set.
    fn charset(&self) -> &'static str {
        self.view().map_or("utf8mb4", |view| view.collation.charset())
    }

    pub fn text(&mut self, bytes: &[u8], charset: Option<&str>) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.bits(bytes);
        };
        match (self.view(), charset) {
            (None, charset) => write!(self.out, "_{}", charset.unwrap_or("utf8mb4")).expect("a String takes everything"),
            (Some(_), Some(charset)) => write!(self.out, "_{charset}").expect("a String takes everything"),
            (Some(_), None) => {}
        }
        self.put("'");
        for char in text.chars() {
            match char {
                '\'' => self.put("\\'"),
                '\\' => self.put("\\\\"),
                '\0' => self.put("\\0"),
                '\n' => self.put("\\n"),
                '\r' => self.put("\\r"),
                '\x1a' => self.put("\\Z"),
                char => self.out.push(char),
            }
        }
        self.put("'");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(written: &str) -> std::result::Result<String, Error> {
        let arena = crate::Arena::new();
        let parsed = crate::parse_expression(&arena, written.as_bytes(), &types::SqlMode::DEFAULT).expect("parses");
        row_expr(&parsed, &RowExprUse::Generated("g".into())).map(|expr| expr.text)
    }

    #[test]
    fn texts_are_mysqls() {
        let cases = [
            ("a+b*2-a/b", "((`a` + (`b` * 2)) - (`a` / `b`))"),
            ("not (a and b)", "((0 = `a`) or (0 = `b`))"),
            ("not (a xor b)", "((0 = `a`) xor (0 <> `b`))"),
            ("not (a <=> 1)", "(not((`a` <=> 1)))"),
            ("a and b and (a or b) or a", "(((0 <> `a`) and (0 <> `b`) and ((0 <> `a`) or (0 <> `b`))) or (0 <> `a`))"),
            ("a is not false", "((0 <> `a`) is not false)"),
            ("a not like 'q|%' escape '|'", "(not((`a` like _utf8mb4'q|%' escape _utf8mb4'|')))"),
            ("a not in (7,8) and a in (1)", "((`a` not in (7,8)) and (`a` = 1))"),
            ("-a < ~b", "(-(`a`) < ~(`b`))"),
            ("b div 2 % 3", "((`b` DIV 2) % 3)"),
            ("concat(c, '-', ucase(c))", "concat(`c`,_utf8mb4'-',upper(`c`))"),
            ("j->>'$.a'", "json_unquote(json_extract(`j`,_utf8mb4'$.a'))"),
            ("date_add('2020-01-01', interval length(x) day)", "(_utf8mb4'2020-01-01' + interval length(`x`) day)"),
            ("timestampdiff(day, w, now)", "timestampdiff(DAY,`w`,`now`)"),
            (
                "if(x='q', substring(x from 1 for 2), trim(both 'x' from x))",
                "if((`x` = _utf8mb4'q'),substr(`x`,1,2),trim(both _utf8mb4'x' from `x`))",
            ),
            ("cast(b as binary(3))", "cast(`b` as char(3) charset binary)"),
            ("convert(b, char)", "cast(`b` as char charset utf8mb4)"),
            ("case when a=1 then 2 else 3 end", "(case when (`a` = 1) then 2 else 3 end)"),
            ("'a''b\\n' collate utf8mb4_bin", "(_utf8mb4'a\\'b\\n' collate utf8mb4_bin)"),
            ("x'4142'", "0x4142"),
            ("extract(year from w)", "extract(year from `w`)"),
        ];
        for (written, expected) in cases {
            assert_eq!(text(written).as_deref(), Ok(expected), "{written}");
            // The stored text parses to itself.
            assert_eq!(text(expected).as_deref(), Ok(expected), "{written}");
        }
    }

    #[test]
    fn what_changes_is_refused() {
        let problem_of = |written: &str| match text(written) {
            Err(Error::Definition(DefinitionError::RowExpr { problem, .. })) => Some(problem),
            _ => None,
        };
        assert_eq!(problem_of("rand()"), Some(RowExprProblem::Function("rand".into())));
        assert_eq!(problem_of("current_timestamp"), Some(RowExprProblem::Function("now".into())));
        assert_eq!(problem_of("nothing(1)"), Some(RowExprProblem::Function("`nothing`".into())));
        assert_eq!(problem_of("@x + 1"), Some(RowExprProblem::Variable));
        assert_eq!(problem_of("(select 1)"), Some(RowExprProblem::Unnamed));
        assert_eq!(problem_of("(1, 2)"), Some(RowExprProblem::RowValue));
        assert_eq!(problem_of("a + 1"), None);
    }
}
