//! Calls of built-in functions: names, argument counts, arguments.

use super::Binder;
use super::adopt::{adopt_for_now, adopt_moment, adopt_number};
use super::compare::{self, Coercibility, Derivation};
use super::operand::{bits_as_number, choice_as_number, enum_as_number, moved_date_as_number, number_argument, numeric_operand};
use crate::ast;
use crate::error::{DefinitionError, Error, Result};
use crate::param::ParamKind;
use expr::function::is_of_days;
use expr::function::row::Parameters;
use expr::function::rules::{Problem, Typing};
use expr::typing::{self, is_bits_literal};
use expr::{ArithmeticOp, Class, CompareOp, Expr, ExprKind, Function as F, class};
use smallvec::SmallVec;
use types::convert::{Severity, StoreContext, Warnings};
use types::temporal::IntervalUnit;
use types::{CollationId, ColumnType, TypeKind, Value};

/// Is there a built-in function of this name?
pub(crate) fn is_function(name: &str) -> bool {
    F::by_name(name).is_some()
}

impl Typing for Binder<'_> {
    fn literal_collation(&self) -> CollationId {
        self.literal_collation()
    }

    fn constant_text(&self, expr: &Expr) -> Option<Vec<u8>> {
        self.context.constant_text(expr)
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::TooBigPrecision { function, precision, max } => {
                DefinitionError::TooBigPrecision { column: function.to_owned(), precision, max }.into()
            }
            Problem::WrongArguments { function } => Error::WrongArguments(function.to_owned()),
        }
    }
}

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &ast::Call<'_>) -> Result<Expr> {
        let name = call.name.name;
        if let Some(database) = call.name.database {
            return match self.context.stored_function(self.rights, database, name)? {
                Some(function) => self.stored_call(function, call.args),
                None => Err(Error::UnknownFunction(format!("{database}.{name}"))),
            };
        }
        if call.apart {
            let Some(database) = self.context.database() else { return Err(Error::NoDatabase) };
            return Err(Error::FunctionApart(format!("{database}.{name}")));
        }
        let Some((function, fewest, most)) = F::by_name(name) else {
            return match self
                .context
                .database()
                .map(|database| self.context.stored_function(self.rights, database, name))
                .transpose()?
            {
                Some(Some(function)) => self.stored_call(function, call.args),
                _ => Err(self.unknown_function(name)),
            };
        };
        if call.args.len() < fewest || call.args.len() > most {
            return Err(Error::WrongParamCount(name.to_owned()));
        }
        let row = function.row();
        let mut args = Vec::with_capacity(call.args.len());
        let mut derivations: SmallVec<[Derivation; 4]> = SmallVec::new();
        let mut first = Derivation::IGNORABLE;
        for (n, arg) in call.args.iter().enumerate() {
            let in_any_value = self.in_any_value;
            self.in_any_value |= function == F::ANY_VALUE;
            let bound = self.value(arg);
            self.in_any_value = in_any_value;
            args.push(bound?);
            if n == 0 {
                first = self.derivation;
            }
            if row.collated.holds(n) {
                derivations.push(self.derivation);
            }
        }
        let derivation = if row.compares {
            compare::compared(&derivations, &name.to_lowercase())?
        } else {
            compare::joined(&derivations, &name.to_lowercase())?
        };
        let derivation = match function {
            // The format determines the coercibility; the collation is the connection's.
            F::DATE_FORMAT | F::TIME_FORMAT | F::FROM_UNIXTIME if args.len() == 2 => {
                Derivation { collation: self.literal_collation(), ..self.derivation }
            }
            _ => derivation,
        };
        // The result of a choosing function has the collation of the chosen arguments alone.
        let is_made = |arg: &Expr| !row.chooses || matches!(arg.kind, ExprKind::Literal(_));
        let of_text = args.iter_mut().enumerate().filter(|(n, arg)| row.texts.holds(*n) && is_made(arg));
        if function != F::FIND_IN_SET {
            self.bytes_as_text(of_text.map(|(_, arg)| arg), derivation)?;
        }
        if matches!(function, F::REGEXP_LIKE | F::REGEXP_INSTR | F::REGEXP_SUBSTR | F::REGEXP_REPLACE) {
            refuse_bytes_beside_text(&args[0], &args[1], &name.to_lowercase())?;
        }
        if function == F::REGEXP_REPLACE {
            refuse_replacement(&args, [derivations[0].level, derivations[1].level])?;
        }
        if function == F::STRCMP {
            self.refuse_no_dates(&args[0], &args[1])?;
        }
        if row.compares {
            share_collation(function, &mut args, derivation);
        }
        if function == F::MOD {
            let right = numeric_operand(args.remove(1));
            return Ok(self.arithmetic(ArithmeticOp::Modulo, numeric_operand(args.remove(0)), right));
        }
        if let (F::CHAR, Some(charset)) = (function, call.using) {
            let bytes = self.finish_call(function, args, derivation, first)?;
            let text = self.in_charset(bytes, charset)?;
            self.derivation.level = Coercibility::Coercible;
            return Ok(text);
        }
        self.finish_call(function, args, derivation, first)
    }

    #[cold]
    fn unknown_function(&self, name: &str) -> Error {
        let upper = name.to_ascii_uppercase();
        if expr::function::is_not_supported(&upper) {
            return Error::NotSupported(upper);
        }
        match self.context.database() {
            Some(database) => Error::UnknownFunction(format!("{database}.{name}")),
            None => Error::NoDatabase,
        }
    }

    /// Finds the type of a call whose arguments are bound.
    fn finish_call(&mut self, function: F, mut args: Vec<Expr>, derivation: Derivation, first: Derivation) -> Result<Expr> {
        let row = function.row();
        if !expr::function::takes_vectors(function) {
            no_vectors(&args, || row.name.to_ascii_lowercase())?;
        }
        match function {
            F::ISNULL => {
                let arg = args.remove(0);
                return Ok(self.boolean(ExprKind::IsNull { arg: Box::new(arg), negated: false }, false));
            }
            F::NULLIF => {
                let mut nulled = self.null_if(args, derivation)?;
                if class(&nulled.ty) == Class::String {
                    nulled.ty.collation = first.collation;
                }
                self.derivation = first;
                return Ok(nulled);
            }
            F::COERCIBILITY => {
                let level = match first.level {
                    Coercibility::Explicit => 0,
                    Coercibility::Implicit => 2,
                    Coercibility::SystemConstant => 3,
                    Coercibility::Coercible => 4,
                    Coercibility::Numeric => 5,
                    Coercibility::Ignorable => 6,
                    Coercibility::None => 7,
                };
                self.derivation = Derivation::NUMERIC;
                let number = super::literal::integer(level);
                return Ok(Expr { ty: ColumnType { display_width: Some(10), ..number.ty.clone() }, ..number });
            }
            // The value may come from any row of the group; `group` removes the call.
            F::ANY_VALUE if self.scope.aggregates.is_some() && !self.scope.in_aggregate => {
                self.derivation = first;
                return Ok(super::group::any_value_of(args.remove(0)));
            }
            F::ANY_VALUE => {
                self.derivation = first;
                return Ok(args.remove(0));
            }
            F::NAME_CONST if !args.iter().all(super::compare::is_constant) || args[0].nullable => {
                return Err(Error::WrongArguments("NAME_CONST".to_owned()));
            }
            F::NAME_CONST => return Ok(args.remove(1)),
            F::IF => super::operand::document_as_number(&mut args[0]),
            // Strings and numbers are compared as numbers.
            F::FIELD if args.iter().any(|arg| matches!(class(&arg.ty), Class::Integer | Class::Decimal | Class::Double)) => {
                args = args
                    .into_iter()
                    .map(|arg| if class(&arg.ty) == Class::String { numeric_operand(arg) } else { arg })
                    .collect();
            }
            _ => {}
        }
        self.adopt_args(function, &mut args);
        if row.is_numeric {
            let convert = if function == F::BIT_COUNT { numeric_operand } else { number_argument };
            args = args.into_iter().map(convert).collect();
        }
        // Functions that convert numbers to times: hexadecimal literals and ENUM values count as numbers.
        for (_, arg) in args.iter_mut().enumerate().filter(|(n, _)| row.numbers.holds(*n)) {
            if is_bits_literal(arg) {
                *arg = numeric_operand(arg.clone());
            }
        }
        // If all arguments are NULL, the result has no character set.
        let no_text = derivation.level == Coercibility::Ignorable && (0..args.len()).any(|n| row.collated.holds(n));
        let collation = if no_text { CollationId::BINARY } else { self.string_collation(derivation) };
        let ty = row.type_of(self, &args, collation)?;
        if row.is_numeric && class(&ty) == Class::Double {
            args.iter_mut().for_each(|arg| self.average_as_double(arg));
        }
        for (_, arg) in args.iter_mut().enumerate().filter(|(n, _)| row.numbers.holds(*n) || row.integers.holds(*n)) {
            as_number_of_text(arg);
        }
        if function == F::WEIGHT_STRING {
            member_as_number(&mut args);
        }
        let nullable = row.is_nullable(&args, self.mode.strict);
        self.derivation = match class(&ty) {
            Class::Json => Derivation { collation: CollationId::UTF8MB4_BIN, level: Coercibility::Implicit },
            Class::String => {
                let level = match function {
                    _ if row.is_system_constant => Coercibility::SystemConstant,
                    F::DATE_FORMAT | F::TIME_FORMAT => derivation.level,
                    _ if matches!(derivation.level, Coercibility::Explicit | Coercibility::None) => derivation.level,
                    _ if no_text && ty.collation == CollationId::BINARY => Coercibility::Ignorable,
                    _ if derivation.level == Coercibility::SystemConstant => Coercibility::SystemConstant,
                    _ if derivation.level <= Coercibility::Implicit => Coercibility::Implicit,
                    _ => Coercibility::Coercible,
                };
                Derivation { collation: ty.collation, level }
            }
            Class::Null => Derivation::IGNORABLE,
            _ => Derivation::NUMERIC,
        };
        let definer = if function == F::CURRENT_USER { self.context.definer(self.rights) } else { None };
        let kind = match definer {
            Some(account) => ExprKind::Literal(Value::Bytes(account.into_bytes().into())),
            None => ExprKind::Call { function, args },
        };
        Ok(Expr { kind, ty, nullable })
    }

    /// `a SOUNDS LIKE b`
    pub(super) fn sounds_like(&mut self, left: &ast::Expr<'_>, right: &ast::Expr<'_>) -> Result<Expr> {
        let mut side = |arg| -> Result<(Expr, Derivation)> {
            let arg = self.value(arg)?;
            let derivation = self.derivation;
            Ok((self.finish_call(F::SOUNDEX, vec![arg], derivation, derivation)?, self.derivation))
        };
        let ((left, a), (right, b)) = (side(left)?, side(right)?);
        let derivation = a.combine(b, "sounds like")?;
        self.comparison(CompareOp::Equal, left, right, derivation)
    }

    /// `value MEMBER OF(array)`
    pub(super) fn member_of(&mut self, value: &ast::Expr<'_>, array: &ast::Expr<'_>) -> Result<Expr> {
        let mut args = vec![self.value(value)?, self.value(array)?];
        self.adopt_args(F::JSON_MEMBER_OF, &mut args);
        let nullable = args.iter().any(|a| a.nullable);
        Ok(self.boolean(ExprKind::Call { function: F::JSON_MEMBER_OF, args }, nullable))
    }

    /// JSON_VALUE. Arguments: document, path, then for ON EMPTY and for ON ERROR the action (0 NULL, 1 an error, 2 the
    /// default) and the default.
    pub(super) fn json_value(&mut self, call: &ast::JsonValue<'_>) -> Result<Expr> {
        let mut document = self.value(&call.arg)?;
        adopt_for_now(self.context, &mut document, &self.text());
        let path = self.literal(&ast::Literal::String(ast::StringLiteral { bytes: call.path, charset: None }))?;
        let target = call.target.unwrap_or(ast::CastTarget::Char { length: Some(512), charset: None, binary: false });
        let mut ty = self.cast_type(&target, &document)?;
        if call.target.is_none() {
            ty.collation = CollationId::by_name("utf8mb4_0900_bin").unwrap_or(CollationId::UTF8MB4_BIN);
        }
        let mut args = vec![document, path];
        for on in [call.on_empty, call.on_error] {
            let null = Expr::literal(Value::Null, ColumnType::new(TypeKind::Null));
            let (mode, value) = match on {
                ast::JsonOn::Null => (0, null),
                ast::JsonOn::Error => (1, null),
                ast::JsonOn::Default(value) => {
                    let value = self.value(value)?;
                    let nullable = value.nullable;
                    (2, Expr { kind: ExprKind::Cast(Box::new(value)), ty: ty.clone(), nullable })
                }
            };
            args.push(super::literal::integer(mode));
            args.push(value);
        }
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Coercible },
            Class::Json => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        Ok(Expr { kind: ExprKind::Call { function: F::JSON_VALUE, args }, ty, nullable: true })
    }

    /// Gives parameters among the arguments types: numbers for numeric functions; for choosing functions the type of
    /// the others; else strings.
    pub(super) fn adopt_args(&self, function: F, args: &mut [Expr]) {
        let text = self.text();
        match function.row().parameters {
            Parameters::Choice(first) => self.adopt_choice(args[first..].iter_mut(), &text),
            Parameters::Time => args.iter_mut().for_each(|arg| self.adopt_time(arg)),
            Parameters::Rounded => {
                for (arg, wanted) in args.iter_mut().zip([ParamKind::Decimal, ParamKind::Int]) {
                    adopt_number(self.context, arg, wanted);
                }
            }
            Parameters::Double => args.iter_mut().for_each(|arg| adopt_number(self.context, arg, ParamKind::Double)),
            Parameters::Text => args.iter_mut().for_each(|arg| adopt_for_now(self.context, arg, &text)),
        }
    }

    pub(super) fn text(&self) -> ColumnType {
        typing::string(16_383, self.literal_collation())
    }

    fn null_if(&mut self, mut args: Vec<Expr>, derivation: Derivation) -> Result<Expr> {
        let (second, mut first) = (args.pop().expect("two arguments"), args.pop().expect("two arguments"));
        self.adopt_choice([&mut first, &mut second.clone()].into_iter(), &self.text());
        self.refuse_no_dates(&first, &second)?;
        convert_to_column(&mut first, &second);
        let equal = self.comparison(CompareOp::Equal, first.clone(), second, derivation)?;
        let mut ty = first.ty.clone();
        ty.unsigned |= ty.kind == TypeKind::Year;
        let null = Expr::literal(Value::Null, ColumnType::new(TypeKind::Null));
        Ok(Expr { kind: ExprKind::Case { whens: vec![(equal, null)], otherwise: Some(Box::new(first)) }, ty, nullable: true })
    }

    pub(super) fn concat(&mut self, left: &ast::Expr<'_>, right: &ast::Expr<'_>) -> Result<Expr> {
        let mut left = self.value(left)?;
        let derivation = self.derivation;
        let mut right = self.value(right)?;
        let derivation = compare::joined(&[derivation, self.derivation], "concat")?;
        self.bytes_as_text([&mut left, &mut right].into_iter(), derivation)?;
        self.finish_call(F::CONCAT, vec![left, right], derivation, derivation)
    }

    pub(super) fn date_arithmetic(&mut self, date: &ast::DateArithmetic<'_>) -> Result<Expr> {
        let mut value = self.value(&date.date)?;
        let mut amount = self.value(&date.amount)?;
        adopt_moment(self.context, &mut value, is_of_days(date.unit));
        if date.unit.name().contains('_') {
            adopt_for_now(self.context, &mut amount, &self.text());
        } else {
            adopt_number(self.context, &mut amount, ParamKind::Int);
        }
        let amount = interval_amount(amount, date.unit);
        let args = vec![value, amount, self.unit(date.unit)];
        let function = if date.subtract { F::DATE_SUB } else { F::DATE_ADD };
        let ty = function.row().type_of(self, &args, self.literal_collation())?;
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Coercible },
            _ => Derivation::NUMERIC,
        };
        Ok(Expr { kind: ExprKind::Call { function, args }, ty, nullable: true })
    }

    fn unit(&self, unit: IntervalUnit) -> Expr {
        let name = unit.name();
        let value = Value::Bytes(std::borrow::Cow::Borrowed(name.as_bytes()));
        Expr::literal(value, typing::string(name.len() as u64, CollationId::UTF8MB4_BIN))
    }

    pub(super) fn extract(&mut self, unit: IntervalUnit, arg: &ast::Expr<'_>) -> Result<Expr> {
        let mut arg = self.value(arg)?;
        adopt_for_now(self.context, &mut arg, &ColumnType::new(TypeKind::DateTime { fsp: 6 }));
        self.derivation = Derivation::NUMERIC;
        let args = vec![self.unit(unit), arg];
        Ok(Expr { kind: ExprKind::Call { function: F::EXTRACT, args }, ty: typing::bigint(false), nullable: true })
    }

    pub(super) fn unit_call(
        &mut self,
        function: ast::UnitFunction,
        unit: IntervalUnit,
        args: &[ast::Expr<'_>; 2],
    ) -> Result<Expr> {
        let mut first = self.value(&args[0])?;
        let mut second = self.value(&args[1])?;
        if function == ast::UnitFunction::TimestampAdd {
            adopt_moment(self.context, &mut second, is_of_days(unit));
            adopt_number(self.context, &mut first, ParamKind::Int);
            first = interval_amount(first, unit);
        }
        let function = match function {
            ast::UnitFunction::TimestampAdd => F::TIMESTAMPADD,
            ast::UnitFunction::TimestampDiff => F::TIMESTAMPDIFF,
        };
        let args = vec![self.unit(unit), first, second];
        let ty = function.row().type_of(self, &args, self.literal_collation())?;
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Coercible },
            _ => Derivation::NUMERIC,
        };
        Ok(Expr { kind: ExprKind::Call { function, args }, ty, nullable: true })
    }

    pub(super) fn trim(&mut self, side: ast::TrimSide, what: Option<&ast::Expr<'_>>, text: &ast::Expr<'_>) -> Result<Expr> {
        let text = self.value(text)?;
        let derivation = self.derivation;
        let mut args = vec![text];
        if let Some(what) = what {
            args.push(self.value(what)?);
        }
        self.bytes_as_text(args.iter_mut(), derivation)?;
        let function = match side {
            ast::TrimSide::Both => F::TRIM,
            ast::TrimSide::Leading => F::LTRIM,
            ast::TrimSide::Trailing => F::RTRIM,
        };
        self.finish_call(function, args, derivation, derivation)
    }
}

/// WEIGHT_STRING of an ENUM or SET value is that of its number, unless it is AS BINARY.
fn member_as_number(args: &mut [Expr]) {
    let is_bytes = args.get(1).is_some_and(|kind| matches!(&kind.kind, ExprKind::Literal(Value::Bytes(kind)) if **kind == *b"B"));
    if args.len() < 4 && !is_bytes && matches!(args[0].ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) {
        enum_as_number(&mut args[0]);
        if args[0].ty.kind == TypeKind::BigInt {
            args[0].ty = typing::bigint(false);
        }
    }
}

/// NULLIF with a TIME or YEAR column converts a literal to the column's type, if it is a value of that type.
fn convert_to_column(literal: &mut Expr, column: &Expr) {
    if matches!(column.kind, ExprKind::Column { .. }) && column.ty.kind == TypeKind::BigInt {
        return convert_to_integer(literal, column.ty.unsigned);
    }
    if !matches!(column.kind, ExprKind::Column { .. }) || !matches!(column.ty.kind, TypeKind::Time { .. } | TypeKind::Year) {
        return;
    }
    let ExprKind::Literal(value) = &literal.kind else { return };
    if matches!(value, Value::Null | Value::Time(_)) {
        return;
    }
    let mut warnings = Warnings::new();
    let stored = types::convert::store(value, &literal.ty, &column.ty, &StoreContext::strict(), &mut warnings);
    if let Ok(stored) = stored.map(Value::into_owned)
        && !warnings.iter().any(|(severity, _)| *severity == Severity::Warning)
    {
        *literal = Expr::literal(stored, column.ty.clone());
    }
}

/// NULLIF with a BIGINT column: converts a string to the integer that it begins with, a date to its number.
fn convert_to_integer(literal: &mut Expr, unsigned: bool) {
    if expr::typing::is_bits_literal(literal) {
        *literal = super::operand::numeric_operand(literal.clone());
        return;
    }
    let number = match &literal.kind {
        ExprKind::Literal(Value::Bytes(bytes)) => leading_number(bytes),
        ExprKind::Literal(Value::Double(x)) => Some(*x),
        ExprKind::Literal(Value::Date(date)) => {
            Some(f64::from(u32::from(date.year) * 10_000 + u32::from(date.month) * 100 + u32::from(date.day)))
        }
        _ => return,
    };
    // Beyond this a double does not represent every integer.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let fits = |n: f64| n.fract() == 0.0 && n.abs() <= EXACT_MAX && !(unsigned && n < 0.0);
    let Some(number) = number.filter(|n| fits(*n)) else { return };
    *literal = Expr::literal(Value::Int(number as i64), typing::bigint(unsigned));
}

/// The number at the beginning of a string; 0 if there is none.
fn leading_number(bytes: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?.trim_start();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    (0..=end).rev().find_map(|end| text[..end].parse().ok()).or(Some(0.0))
}

/// The amount of an INTERVAL: hexadecimal literals and ENUM values are numbers for units of one number, else strings.
fn interval_amount(amount: Expr, unit: IntervalUnit) -> Expr {
    if unit.is_compound() {
        return amount;
    }
    let mut amount = bits_as_number(amount);
    as_number_of_text(&mut amount);
    amount
}

/// Converts expressions that are strings but have another value as numbers: ENUM and SET values, IF and CASE, dates
/// moved by an interval.
fn as_number_of_text(arg: &mut Expr) {
    enum_as_number(arg);
    choice_as_number(arg);
    moved_date_as_number(arg);
}

/// Makes a call compare its string arguments by their common collation.
fn share_collation(function: F, args: &mut [Expr], together: Derivation) {
    if together.collation == CollationId::BINARY || together.level >= Coercibility::Numeric {
        return;
    }
    for (n, arg) in args.iter_mut().enumerate() {
        let is_text = class(&arg.ty) == Class::String && arg.ty.collation != CollationId::BINARY;
        if is_text && function.row().collated.holds(n) {
            arg.ty.collation = together.collation;
        }
    }
}

/// 3995: one of text and pattern is a character string, the other VARBINARY. BINARY, BLOB and BIT are allowed beside
/// character strings.
pub(super) fn refuse_bytes_beside_text(text: &Expr, pattern: &Expr, function: &str) -> Result<()> {
    let is_binary = |arg: &Expr| arg.ty.collation == CollationId::BINARY;
    let is_refused = |arg: &Expr| matches!(arg.ty.kind, TypeKind::VarBinary { .. });
    let are_texts = [text, pattern].iter().all(|arg| class(&arg.ty) == Class::String);
    if !are_texts || is_binary(text) == is_binary(pattern) || !(is_refused(text) || is_refused(pattern)) {
        return Ok(());
    }
    Err(together(text.ty.collation, pattern.ty.collation, function))
}

fn together(left: CollationId, right: CollationId, function: &str) -> Error {
    let name = |collation: CollationId| if collation == CollationId::BINARY { "binary" } else { collation.name() };
    Error::CharsetsTogether { left: name(left), right: name(right), function: function.to_owned() }
}

/// The kind of an argument of REGEXP_REPLACE, which restricts the other arguments.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Text,
    Bytes,
    /// BINARY, BLOB and BIT: bytes beside a string literal, else the kind of the other argument.
    Any,
    /// Numbers and dates.
    Neither,
}

fn side(arg: &Expr) -> Side {
    match (arg.ty.kind.clone(), class(&arg.ty)) {
        (TypeKind::VarBinary { .. }, _) => Side::Bytes,
        (TypeKind::Binary { .. } | TypeKind::Blob(_) | TypeKind::Bit { .. }, _) => Side::Any,
        (_, Class::String) => Side::Text,
        _ => Side::Neither,
    }
}

/// 3995 for the third argument of REGEXP_REPLACE: the first two are both characters or both bytes, and it must not be
/// of the other kind.
fn refuse_replacement(args: &[Expr], levels: [Coercibility; 2]) -> Result<()> {
    let sides = [side(&args[0]), side(&args[1])];
    let held = |n: usize| sides[n] == Side::Text && levels[n] <= Coercibility::Implicit;
    let has = |side| sides.contains(&side);
    let first_two = match () {
        () if held(0) || held(1) => Side::Text,
        () if has(Side::Bytes) || has(Side::Text) && has(Side::Any) => Side::Bytes,
        () if has(Side::Text) => Side::Text,
        () => return Ok(()),
    };
    let replacement = side(&args[2]);
    if !matches!((first_two, replacement), (Side::Text, Side::Bytes) | (Side::Bytes, Side::Text)) {
        return Ok(());
    }
    let text = args[..2].iter().find(|arg| side(arg) == Side::Text).map_or(CollationId::BINARY, |arg| arg.ty.collation);
    let left = if first_two == Side::Text { text } else { CollationId::BINARY };
    Err(together(left, args[2].ty.collation, "regexp_replace"))
}

/// 1210: a vector is no argument of this function or operator.
pub(super) fn no_vectors<'e>(args: impl IntoIterator<Item = &'e Expr>, name: impl FnOnce() -> String) -> Result<()> {
    if args.into_iter().any(|arg| arg.ty.is_vector()) { Err(Error::WrongArguments(name())) } else { Ok(()) }
}
