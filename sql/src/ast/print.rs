//! Prints syntax trees as text. Expressions and queries are printed in a canonical form with every bracket, for
//! messages and for the parser's tests. Other statements are printed field by field.

use super::*;
use std::fmt::{Display, Formatter, Result, Write};

/// Writes a list with commas between.
fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

fn quoted(f: &mut Formatter<'_>, bytes: &[u8]) -> Result {
    write!(f, "'{}'", String::from_utf8_lossy(bytes).escape_debug())
}

impl Display for ObjectName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(database) = self.database {
            write!(f, "{database}.")?;
        }
        f.write_str(self.name)
    }
}

impl Display for ColumnName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(database) = self.database {
            write!(f, "{database}.")?;
        }
        if let Some(table) = self.table {
            write!(f, "{table}.")?;
        }
        f.write_str(self.name)
    }
}

impl Display for Literal<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Bool(truth) => f.write_str(if *truth { "TRUE" } else { "FALSE" }),
            Self::Int(value) => write!(f, "{value}"),
            Self::Decimal(digits) | Self::Double(digits) => f.write_str(digits),
            Self::String(literal) => {
                if let Some(charset) = literal.charset {
                    write!(f, "_{charset}")?;
                }
                quoted(f, literal.bytes)
            }
            Self::Bits(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
            }
            Self::Date(text) => {
                f.write_str("DATE")?;
                quoted(f, text)
            }
            Self::Time(text) => {
                f.write_str("TIME")?;
                quoted(f, text)
            }
            Self::Timestamp(text) => {
                f.write_str("TIMESTAMP")?;
                quoted(f, text)
            }
        }
    }
}

impl BinaryOp {
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::NullSafeEqual => "<=>",
            Self::Xor => "XOR",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::IntDivide => "DIV",
            Self::Modulo => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Concat => "||",
            Self::SoundsLike => "SOUNDS LIKE",
        }
    }
}

/// `NOT ` if it was written.
fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

fn chain(f: &mut Formatter<'_>, items: &[Expr<'_>], word: &str) -> Result {
    f.write_char('(')?;
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            write!(f, " {word} ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_char(')')
}

impl Display for Expr<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Literal(literal) => write!(f, "{literal}"),
            Self::Lifted { literal, .. } => write!(f, "{literal}"),
            Self::Param(_) => f.write_char('?'),
            Self::Column(name) => write!(f, "{name}"),
            Self::Local { name, .. } => f.write_str(name),
            Self::UserVariable(name) => write!(f, "@{name}"),
            Self::SystemVariable { scope, name } => match scope {
                VariableScope::Global => write!(f, "@@global.{name}"),
                VariableScope::Session => write!(f, "@@session.{name}"),
                _ => write!(f, "@@{name}"),
            },
            Self::AssignVariable { name, value } => write!(f, "(@{name} := {value})"),
            Self::Unary { op, arg } => {
                f.write_char(match op {
                    UnaryOp::Plus => '+',
                    UnaryOp::Negate => '-',
                    UnaryOp::BitNot => '~',
                    UnaryOp::Not => '!',
                })?;
                write!(f, "{arg}")
            }
            Self::Binary { op, left, right } => write!(f, "({left} {} {right})", op.sign()),
            Self::And(items) => chain(f, items, "AND"),
            Self::Or(items) => chain(f, items, "OR"),
            Self::Not(arg) => write!(f, "(NOT {arg})"),
            Self::IsNull { arg, negated } => write!(f, "({arg} IS {}NULL)", not(*negated)),
            Self::IsTruth { arg, truth, negated } => {
                write!(f, "({arg} IS {}{})", not(*negated), if *truth { "TRUE" } else { "FALSE" })
            }
            Self::In { arg, list: members, negated } => {
                write!(f, "({arg} {}IN (", not(*negated))?;
                list(f, members)?;
                f.write_str("))")
            }
            Self::InSubquery { arg, query, negated } => write!(f, "({arg} {}IN ({query}))", not(*negated)),
            Self::Between(b) => write!(f, "({} {}BETWEEN {} AND {})", b.arg, not(b.negated), b.low, b.high),
            Self::Like(l) => {
                write!(f, "({} {}LIKE {}", l.arg, not(l.negated), l.pattern)?;
                if let Some(escape) = &l.escape {
                    write!(f, " ESCAPE {escape}")?;
                }
                f.write_char(')')
            }
            Self::Regexp { arg, pattern, negated } => write!(f, "({arg} {}REGEXP {pattern})", not(*negated)),
            Self::Case(case) => print_case(f, case),
            Self::Cast { arg, target } => write!(f, "CAST({arg} AS {target:?})"),
            Self::ConvertUsing { arg, charset } => write!(f, "CONVERT({arg} USING {charset})"),
            Self::Collate { arg, collation } => write!(f, "({arg} COLLATE {collation})"),
            Self::DateArithmetic(d) => {
                let sign = if d.subtract { '-' } else { '+' };
                write!(f, "({} {sign} INTERVAL {} {})", d.date, d.amount, d.unit.name())
            }
            Self::Call(call) => {
                write!(f, "{}(", call.name)?;
                list(f, call.args)?;
                if let Some(charset) = call.using {
                    write!(f, " USING {charset}")?;
                }
                f.write_char(')')
            }
            Self::Extract { unit, arg } => write!(f, "EXTRACT({} FROM {arg})", unit.name()),
            Self::UnitCall { function, unit, args } => {
                write!(f, "{function:?}({}, {}, {})", unit.name(), args[0], args[1])
            }
            Self::Trim { side, what, text } => match what {
                Some(what) => write!(f, "TRIM({side:?} {what} FROM {text})"),
                None => write!(f, "TRIM({side:?} FROM {text})"),
            },
            Self::Aggregate(call) => print_aggregate(f, call),
            Self::Window(call) => {
                match call.function {
                    WindowFunction::Aggregate(call) => print_aggregate(f, call)?,
                    WindowFunction::Named { name, args } => {
                        write!(f, "{name}(")?;
                        list(f, args)?;
                        f.write_char(')')?;
                    }
                }
                write!(f, " OVER {}", call.window)
            }
            Self::Grouping(args) => {
                f.write_str("GROUPING(")?;
                list(f, args)?;
                f.write_char(')')
            }
            Self::Subquery(query) => write!(f, "({query})"),
            Self::Exists(query) => write!(f, "EXISTS ({query})"),
            Self::Quantified { op, all, left, query } => {
                write!(f, "({left} {} {} ({query}))", op.sign(), if *all { "ALL" } else { "ANY" })
            }
            Self::Row(items) => {
                f.write_str("ROW(")?;
                list(f, items)?;
                f.write_char(')')
            }
            Self::Default(None) => f.write_str("DEFAULT"),
            Self::Default(Some(column)) => write!(f, "DEFAULT({column})"),
            Self::InsertValue(column) => write!(f, "VALUES({column})"),
            Self::CastArray { arg, target } => write!(f, "CAST({arg} AS {target:?} ARRAY)"),
            Self::BinaryCast(arg) => write!(f, "(BINARY {arg})"),
            Self::JsonArrow { column, path, unquote } => {
                write!(f, "({column}{}", if *unquote { "->>" } else { "->" })?;
                quoted(f, path)?;
                f.write_char(')')
            }
            Self::JsonValue(call) => {
                write!(f, "JSON_VALUE({}, ", call.arg)?;
                quoted(f, call.path)?;
                f.write_char(')')
            }
            Self::AtTimeZone { arg, .. } => write!(f, "CAST({arg} AT TIME ZONE '+00:00' AS DATETIME)"),
            Self::MemberOf { arg, array } => write!(f, "({arg} MEMBER OF ({array}))"),
            Self::Match(call) => {
                f.write_str("MATCH (")?;
                list(f, call.columns)?;
                write!(f, ") AGAINST ({}{})", call.against, call.mode.text().to_uppercase())
            }
        }
    }
}

fn print_case(f: &mut Formatter<'_>, case: &Case<'_>) -> Result {
    f.write_str("CASE")?;
    if let Some(operand) = &case.operand {
        write!(f, " {operand}")?;
    }
    for (condition, value) in case.whens {
        write!(f, " WHEN {condition} THEN {value}")?;
    }
    if let Some(value) = &case.otherwise {
        write!(f, " ELSE {value}")?;
    }
    f.write_str(" END")
}

fn print_aggregate(f: &mut Formatter<'_>, call: &AggregateCall<'_>) -> Result {
    write!(f, "{}(", call.function.name())?;
    if call.distinct {
        f.write_str("DISTINCT ")?;
    }
    if call.args.is_empty() {
        f.write_char('*')?;
    }
    list(f, call.args)?;
    if !call.order_by.is_empty() {
        f.write_str(" ORDER BY ")?;
        list(f, call.order_by)?;
    }
    if let Some(separator) = call.separator {
        f.write_str(" SEPARATOR ")?;
        quoted(f, separator)?;
    }
    f.write_char(')')
}

impl Display for OrderItem<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", self.expr, if self.descending { " DESC" } else { "" })
    }
}

impl Display for WindowSpec<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('(')?;
        f.write_str(self.name.unwrap_or(""))?;
        if !self.partition_by.is_empty() {
            f.write_str(" PARTITION BY ")?;
            list(f, self.partition_by)?;
        }
        if !self.order_by.is_empty() {
            f.write_str(" ORDER BY ")?;
            list(f, self.order_by)?;
        }
        if let Some(frame) = self.frame {
            let bound = |b: &FrameBound<'_>| match b {
                FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
                FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
                FrameBound::CurrentRow => "CURRENT ROW".to_owned(),
                FrameBound::Preceding(n, _) => format!("{n} PRECEDING"),
                FrameBound::Following(n, _) => format!("{n} FOLLOWING"),
            };
            let unit = if frame.range { "RANGE" } else { "ROWS" };
            write!(f, " {unit} BETWEEN {} AND {}", bound(&frame.start), bound(&frame.end))?;
        }
        f.write_char(')')
    }
}

impl Display for Query<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(with) = self.with {
            f.write_str(if with.recursive { "WITH RECURSIVE " } else { "WITH " })?;
            for (n, table) in with.tables.iter().enumerate() {
                write!(f, "{}{}", if n > 0 { ", " } else { "" }, table.name)?;
                if !table.columns.is_empty() {
                    write!(f, " ({})", table.columns.join(", "))?;
                }
                write!(f, " AS ({})", table.query)?;
            }
            f.write_char(' ')?;
        }
        write!(f, "{}", self.body)?;
        print_tail(f, self.order_by, self.limit)?;
        for clause in self.locking {
            write!(f, " FOR {:?}", clause.locking)?;
            if !clause.of.is_empty() {
                f.write_str(" OF ")?;
                list(f, clause.of)?;
            }
            if clause.wait != crate::plan::LockWait::Wait {
                write!(f, " {:?}", clause.wait)?;
            }
        }
        match self.into {
            Some(SelectInto::Variables(targets)) => {
                f.write_str(" INTO ")?;
                for (n, target) in targets.iter().enumerate() {
                    let separator = if n == 0 { "" } else { ", " };
                    match target {
                        IntoTarget::User(name) => write!(f, "{separator}@{name}")?,
                        IntoTarget::Local(slot) => write!(f, "{separator}#{slot}")?,
                    }
                }
                Ok(())
            }
            Some(SelectInto::OutFile(file)) => {
                f.write_str(" INTO OUTFILE ")?;
                quoted(f, file.path)
            }
            Some(SelectInto::DumpFile(path)) => {
                f.write_str(" INTO DUMPFILE ")?;
                quoted(f, path)
            }
            None => Ok(()),
        }
    }
}

fn print_tail(f: &mut Formatter<'_>, order_by: &[OrderItem<'_>], limit: Option<Limit<'_>>) -> Result {
    if !order_by.is_empty() {
        f.write_str(" ORDER BY ")?;
        list(f, order_by)?;
    }
    match limit {
        Some(Limit { offset: Some(offset), count }) => write!(f, " LIMIT {count} OFFSET {offset}"),
        Some(Limit { offset: None, count }) => write!(f, " LIMIT {count}"),
        None => Ok(()),
    }
}

impl Display for QueryBody<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Select(select) => write!(f, "{select}"),
            Self::Query(query) => write!(f, "({query})"),
            Self::SetOperation { first, rest } => {
                write!(f, "[{first}")?;
                for operand in *rest {
                    write!(f, " {:?}{} {}", operand.op, if operand.all { " ALL" } else { "" }, operand.body)?;
                }
                f.write_char(']')
            }
            Self::Values(rows) => {
                f.write_str("VALUES ")?;
                print_rows(f, rows)
            }
            Self::Table(name) => write!(f, "TABLE {name}"),
        }
    }
}

fn print_rows(f: &mut Formatter<'_>, rows: &[&[Expr<'_>]]) -> Result {
    for (n, row) in rows.iter().enumerate() {
        f.write_str(if n > 0 { ", (" } else { "(" })?;
        list(f, row)?;
        f.write_char(')')?;
    }
    Ok(())
}

impl Display for Select<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("SELECT ")?;
        if self.distinct {
            f.write_str("DISTINCT ")?;
        }
        list(f, self.items)?;
        if !self.from.is_empty() {
            f.write_str(" FROM ")?;
            list(f, self.from)?;
        }
        if let Some(filter) = self.filter {
            write!(f, " WHERE {filter}")?;
        }
        if !self.group_by.is_empty() {
            f.write_str(" GROUP BY ")?;
            list(f, self.group_by)?;
            if self.with_rollup {
                f.write_str(" WITH ROLLUP")?;
            }
        }
        if let Some(having) = self.having {
            write!(f, " HAVING {having}")?;
        }
        for (n, (name, spec)) in self.windows.iter().enumerate() {
            write!(f, "{} {name} AS {spec}", if n > 0 { "," } else { " WINDOW" })?;
        }
        Ok(())
    }
}

impl Display for SelectItem<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::All => f.write_char('*'),
            Self::TableAll(name) => write!(f, "{name}.*"),
            Self::Expr { expr, alias: Some(alias), .. } => write!(f, "{expr} AS {alias}"),
            Self::Expr { expr, .. } => write!(f, "{expr}"),
        }
    }
}

impl Display for TableRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Table(table) => {
                write!(f, "{}", table.name)?;
                if !table.partitions.is_empty() {
                    write!(f, " PARTITION ({})", table.partitions.join(", "))?;
                }
                if let Some(alias) = table.alias {
                    write!(f, " AS {alias}")?;
                }
                for hint in table.hints {
                    write!(f, " {:?} INDEX ({})", hint.kind, hint.indexes.join(", "))?;
                }
                Ok(())
            }
            Self::Derived { query, alias, columns, lateral } => {
                write!(f, "{}({query}) AS {alias}", if *lateral { "LATERAL " } else { "" })?;
                if !columns.is_empty() {
                    write!(f, " ({})", columns.join(", "))?;
                }
                Ok(())
            }
            Self::Join(join) => {
                let natural = if join.condition == JoinCondition::Natural { "NATURAL " } else { "" };
                write!(f, "({} {natural}{:?} JOIN {}", join.left, join.kind, join.right)?;
                match join.condition {
                    JoinCondition::On(expr) => write!(f, " ON {expr}")?,
                    JoinCondition::Using(names) => write!(f, " USING ({})", names.join(", "))?,
                    JoinCondition::None | JoinCondition::Natural => {}
                }
                f.write_char(')')
            }
            Self::JsonTable(table) => {
                write!(f, "JSON_TABLE({}, ", table.document)?;
                quoted(f, table.path)?;
                print_json_columns(f, table.columns)?;
                write!(f, ") AS {}", table.alias)
            }
            Self::List(tables) => {
                f.write_char('(')?;
                list(f, tables)?;
                f.write_char(')')
            }
        }
    }
}

fn print_json_columns(f: &mut Formatter<'_>, columns: &[JsonColumn<'_>]) -> Result {
    f.write_str(" COLUMNS (")?;
    for (n, column) in columns.iter().enumerate() {
        f.write_str(if n > 0 { ", " } else { "" })?;
        match column {
            JsonColumn::Ordinality(name) => write!(f, "{name} FOR ORDINALITY")?,
            JsonColumn::Value(column) => {
                write!(f, "{} {:?}{} PATH ", column.name, column.ty.name, if column.exists { " EXISTS" } else { "" })?;
                quoted(f, column.path)?;
            }
            JsonColumn::Nested { path, columns } => {
                f.write_str("NESTED PATH ")?;
                quoted(f, path)?;
                print_json_columns(f, columns)?;
            }
        }
    }
    f.write_char(')')
}

impl Display for Assignment<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} = {}", self.column, self.value)
    }
}

impl Display for Insert<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.replace { "REPLACE" } else { "INSERT" })?;
        f.write_str(if self.ignore { " IGNORE INTO " } else { " INTO " })?;
        write!(f, "{}", self.table)?;
        if let Some(columns) = self.columns {
            f.write_str(" (")?;
            list(f, columns)?;
            f.write_char(')')?;
        }
        match self.source {
            InsertSource::Values(rows) => {
                f.write_str(" VALUES ")?;
                print_rows(f, rows)?;
            }
            InsertSource::Set(assignments) => {
                f.write_str(" SET ")?;
                list(f, assignments)?;
            }
            InsertSource::Query(query) => write!(f, " {query}")?,
        }
        if let Some(alias) = self.row_alias {
            write!(f, " AS {}", alias.name)?;
            if !alias.columns.is_empty() {
                write!(f, " ({})", alias.columns.join(", "))?;
            }
        }
        if !self.on_duplicate.is_empty() {
            f.write_str(" ON DUPLICATE KEY UPDATE ")?;
            list(f, self.on_duplicate)?;
        }
        Ok(())
    }
}

impl Display for Update<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.ignore { "UPDATE IGNORE " } else { "UPDATE " })?;
        list(f, self.tables)?;
        f.write_str(" SET ")?;
        list(f, self.assignments)?;
        if let Some(filter) = self.filter {
            write!(f, " WHERE {filter}")?;
        }
        print_tail(f, self.order_by, self.limit)
    }
}

impl Display for Delete<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.ignore { "DELETE IGNORE " } else { "DELETE " })?;
        list(f, self.targets)?;
        f.write_str(if self.targets.is_empty() { "FROM " } else { " FROM " })?;
        list(f, self.from)?;
        if let Some(filter) = self.filter {
            write!(f, " WHERE {filter}")?;
        }
        print_tail(f, self.order_by, self.limit)
    }
}

impl Display for Statement<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Query(query) => write!(f, "{query}"),
            Self::Insert(insert) => write!(f, "{insert}"),
            Self::Update(update) => write!(f, "{update}"),
            Self::Delete(delete) => write!(f, "{delete}"),
            Self::Explain { format, analyze, statement, .. } => {
                write!(f, "EXPLAIN {format:?}{} {statement}", if *analyze { " ANALYZE" } else { "" })
            }
            other => write!(f, "{other:?}"),
        }
    }
}
