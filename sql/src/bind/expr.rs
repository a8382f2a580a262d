//! Expressions: from syntax to typed nodes.

use super::adopt::{adopt, adopt_for_now, adopt_number, adopt_operands};
use super::compare::{self, Coercibility, Derivation};
use super::function::no_vectors;
use super::moments::{compare_leniently, is_text_beside_date, keep_dates, number_as_moment, written_text};
use super::operand::{
    bits_as_number, cast_to, choice_as_number, document_as_number, documents_as_texts, documents_as_values, enum_as_number,
    moved_date_as_number, negated_literal, number_argument, numeric_operand, truth_as_document,
};
use super::{Binder, from::dotted};
use crate::ast;
use crate::error::{DefinitionError, Error, Result, RowExprProblem};
use crate::param::{ParamKind, ParamUse};
use crate::plan::BindContext;
use crate::row_expr::RowExprUse;
use expr::{ArithmeticOp, Class, CompareAs, CompareOp, Expr, ExprKind, Function, UnaryOp, class, typing};
use std::borrow::Cow;
use types::{CollationId, ColumnType, TypeKind, Value};

/// Work of evaluating one node, in bytes of a plain copy (`types::work`).
const NODE_UNITS: usize = 256;

impl Binder<'_> {
    /// Binds an expression and sets `self.derivation`.
    pub(super) fn expr(&mut self, expr: &ast::Expr<'_>) -> Result<Expr> {
        use ast::Expr as E;
        types::work::spend(NODE_UNITS)?;
        match expr {
            E::Literal(literal) => self.literal(literal),
            E::Lifted { index, literal } => self.lifted(*index, literal),
            E::Param(index) => Ok(self.param(*index as usize)),
            E::Column(name) => self.name(name),
            E::Local { slot, .. } => Ok(self.local(*slot as usize)),
            E::And(items) => self.logic(items, ExprKind::And),
            E::Or(items) => self.logic(items, ExprKind::Or),
            E::Not(arg) => self.not(arg),
            E::Binary { op, left, right } => self.binary(*op, left, right),
            E::Unary { op, arg } => self.unary(*op, arg),
            E::IsNull { arg, negated } => self.is_null(arg, *negated),
            E::IsTruth { arg, truth, negated } => self.is_truth(arg, *truth, *negated),
            E::In { arg, list, negated } => self.in_list(arg, list, *negated),
            E::Between(between) => self.between(between),
            E::Like(like) => self.like(like),
            E::Regexp { arg, pattern, negated } => self.regexp(arg, pattern, *negated),
            E::Case(case) => self.case(case),
            E::Cast { arg, target } => self.cast(arg, target),
            E::ConvertUsing { arg, charset } => self.convert_using(arg, charset),
            E::Collate { arg, collation } => self.collate(arg, collation),
            E::CastArray { .. } => Err(Error::misplaced_array()),
            E::BinaryCast(arg) => self.cast(arg, &ast::CastTarget::Binary { length: None }),
            E::DateArithmetic(date) => self.date_arithmetic(date),
            E::Call(call) => self.call(call),
            E::Extract { unit, arg } => self.extract(*unit, arg),
            E::UnitCall { function, unit, args } => self.unit_call(*function, *unit, args),
            E::Trim { side, what, text } => self.trim(*side, *what, text),
            E::Aggregate(call) => self.aggregate(call),
            E::UserVariable(name) => Ok(self.user_variable(name)),
            E::AssignVariable { name, value } => self.assign_variable(name, value),
            E::SystemVariable { scope, name } => self.system_variable(*scope, name),
            E::InsertValue(column) => self.insert_value_of(column),
            E::JsonArrow { column, path, unquote } => self.json_arrow(column, path, *unquote),
            E::Default(Some(column)) => self.default_of(column),
            E::Row(items) => self.row(items),
            E::MemberOf { arg, array } => self.member_of(arg, array),
            E::JsonValue(call) => self.json_value(call),
            E::AtTimeZone { arg, target } => self.at_time_zone(arg, target),
            E::Subquery(query) => match bare_value(query) {
                Some(value) => {
                    if let (true, ast::QueryBody::Select(select)) = (self.notes.is_some(), &query.body) {
                        super::query::names_without_spaces(select.items)?;
                    }
                    let around = std::mem::replace(&mut self.scope.in_bare_subquery, true);
                    let value = self.expr(value);
                    self.scope.in_bare_subquery = around;
                    value.map_err(|error| match error {
                        Error::NoSuchTable { table, column, clause, .. } => {
                            Error::NoSuchTable { table, column, clause, nested: true }
                        }
                        error => error,
                    })
                }
                None => self.scalar_subquery(query),
            },
            E::Exists(query) => self.exists(query, false),
            E::InSubquery { arg, query, negated } => self.in_subquery(arg, query, *negated),
            E::Quantified { op, all, left, query } => match compare_op(*op) {
                Some(op) => self.quantified(op, *all, left, query),
                None => rare(expr),
            },
            E::Match(call) => self.match_against(call),
            E::Window(call) => self.window_call(call),
            E::Grouping(args) => self.grouping_call(args),
            _ => rare(expr),
        }
    }

    /// Binds a condition: one value, not a row.
    pub(super) fn predicate(&mut self, expr: &ast::Expr<'_>) -> Result<Expr> {
        let mut bound = self.value(expr)?;
        moved_date_as_number(&mut bound);
        choice_as_number(&mut bound);
        Ok(bound)
    }

    /// Binds an expression that must be one value, not a row.
    pub(super) fn value(&mut self, expr: &ast::Expr<'_>) -> Result<Expr> {
        let bound = self.expr(expr)?;
        single(&bound)?;
        Ok(bound)
    }

    pub(super) fn values(&mut self, exprs: &[ast::Expr<'_>]) -> Result<Vec<Expr>> {
        exprs.iter().map(|e| self.value(e)).collect()
    }

    fn lifted(&mut self, index: u32, literal: &ast::Literal<'_>) -> Result<Expr> {
        let bound = self.literal(literal)?;
        let index = self.params + index as usize;
        Ok(Expr { kind: ExprKind::Param(index), nullable: false, ty: bound.ty })
    }

    fn param(&mut self, index: usize) -> Expr {
        let collation = self.literal_collation();
        let mut ty = self.context.param_type(index).unwrap_or_else(|| ColumnType::new(TypeKind::Null));
        self.context.note_param(index, ParamUse::Of(ParamKind::of_type(&ty)));
        self.derivation = match class(&ty) {
            Class::String => {
                ty.collation = collation;
                Derivation { collation, level: Coercibility::Coercible }
            }
            Class::Null => Derivation { collation, level: Coercibility::Coercible },
            _ => Derivation::NUMERIC,
        };
        Expr { kind: ExprKind::Param(index), ty, nullable: true }
    }

    /// A variable of the enclosing stored program, which is a parameter of the plan.
    fn local(&mut self, slot: usize) -> Expr {
        let ty = self.context.local_type(slot);
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        Expr { kind: ExprKind::Param(slot), ty, nullable: true }
    }

    fn logic(&mut self, items: &[ast::Expr<'_>], make: fn(Vec<Expr>) -> ExprKind) -> Result<Expr> {
        let mut bound = Vec::with_capacity(items.len());
        for item in items {
            bound.push(self.predicate(item)?);
        }
        let nullable = bound.iter().any(|e| e.nullable);
        Ok(self.boolean(make(bound), nullable))
    }

    pub(super) fn boolean(&mut self, kind: ExprKind, nullable: bool) -> Expr {
        self.derivation = Derivation::NUMERIC;
        Expr { kind, ty: typing::boolean(), nullable }
    }

    fn not(&mut self, arg: &ast::Expr<'_>) -> Result<Expr> {
        let arg = self.predicate(arg)?;
        let nullable = arg.nullable;
        Ok(self.boolean(ExprKind::Not(Box::new(arg)), nullable))
    }

    fn binary(&mut self, op: ast::BinaryOp, left: &ast::Expr<'_>, right: &ast::Expr<'_>) -> Result<Expr> {
        use ast::BinaryOp as B;
        let op = match op {
            B::Equal => return self.compare(CompareOp::Equal, left, right),
            B::NotEqual => return self.compare(CompareOp::NotEqual, left, right),
            B::Less => return self.compare(CompareOp::Less, left, right),
            B::LessOrEqual => return self.compare(CompareOp::LessOrEqual, left, right),
            B::Greater => return self.compare(CompareOp::Greater, left, right),
            B::GreaterOrEqual => return self.compare(CompareOp::GreaterOrEqual, left, right),
            B::NullSafeEqual => return self.compare(CompareOp::NullSafeEqual, left, right),
            B::Xor => {
                let (left, right) = (self.predicate(left)?, self.predicate(right)?);
                let nullable = left.nullable || right.nullable;
                return Ok(self.boolean(ExprKind::Xor(Box::new(left), Box::new(right)), nullable));
            }
            B::Concat => return self.concat(left, right),
            B::SoundsLike => return self.sounds_like(left, right),
            B::Add => ArithmeticOp::Add,
            B::Subtract => ArithmeticOp::Subtract,
            B::Multiply => ArithmeticOp::Multiply,
            B::Divide => ArithmeticOp::Divide,
            B::IntDivide => ArithmeticOp::IntDivide,
            B::Modulo => ArithmeticOp::Modulo,
            B::BitAnd => ArithmeticOp::BitAnd,
            B::BitOr => ArithmeticOp::BitOr,
            B::BitXor => ArithmeticOp::BitXor,
            B::ShiftLeft => ArithmeticOp::ShiftLeft,
            B::ShiftRight => ArithmeticOp::ShiftRight,
        };
        let (left, right) = (self.value(left)?, self.value(right)?);
        no_vectors([&left, &right], || op.sign().to_owned())?;
        if typing::is_bit_operation(op, &left, &right) {
            let right =
                if matches!(op, ArithmeticOp::ShiftLeft | ArithmeticOp::ShiftRight) { numeric_operand(right) } else { right };
            return Ok(self.arithmetic(op, left, right));
        }
        // The scale of a quotient depends on the scale of the dividend's own value.
        let is_own_dividend = op == ArithmeticOp::Divide && matches!(left.kind, ExprKind::UserVariable(_));
        let left = if is_own_dividend { left } else { numeric_operand(left) };
        Ok(self.arithmetic(op, left, numeric_operand(right)))
    }

    pub(super) fn arithmetic(&mut self, op: ArithmeticOp, mut left: Expr, mut right: Expr) -> Expr {
        adopt_operands(self.context, &mut left, &mut right);
        let ty = if typing::is_bit_operation(op, &left, &right) {
            typing::bit_string(if left.ty.kind == TypeKind::Null { &right } else { &left })
        } else {
            typing::arithmetic(op, &left, &right, self.mode.no_unsigned_subtraction, self.context.div_precision_increment())
        };
        if class(&ty) == Class::Double {
            [&mut left, &mut right].into_iter().for_each(|side| self.average_as_double(side));
        }
        let divides = matches!(op, ArithmeticOp::Divide | ArithmeticOp::IntDivide | ArithmeticOp::Modulo);
        let nullable = divides || left.nullable || right.nullable;
        self.derivation = Derivation::NUMERIC;
        Expr { kind: ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(right) }, ty, nullable }
    }

    fn unary(&mut self, op: ast::UnaryOp, arg: &ast::Expr<'_>) -> Result<Expr> {
        if op == ast::UnaryOp::Not {
            return self.not(arg);
        }
        let mut arg = self.value(arg)?;
        if op == ast::UnaryOp::Plus {
            return Ok(arg);
        }
        no_vectors([&arg], || if op == ast::UnaryOp::BitNot { "~" } else { "-" }.to_owned())?;
        if op == ast::UnaryOp::Negate {
            adopt_number(self.context, &mut arg, ParamKind::Double);
        }
        let arg = match op {
            ast::UnaryOp::BitNot if typing::is_bit_string(&arg) => arg,
            ast::UnaryOp::BitNot => numeric_operand(arg),
            _ => number_argument(arg),
        };
        self.derivation = Derivation::NUMERIC;
        if op == ast::UnaryOp::BitNot {
            let nullable = arg.nullable;
            let ty = if typing::is_bit_string(&arg) { typing::bit_string(&arg) } else { typing::bigint(true) };
            let kind = ExprKind::Unary { op: UnaryOp::BitNot, arg: Box::new(arg) };
            return Ok(Expr { kind, ty, nullable });
        }
        if let Some(literal) = negated_literal(&arg) {
            return Ok(literal);
        }
        let arg = self.wide_if_negative(arg);
        let (ty, nullable) = (typing::negate(&arg), arg.nullable);
        Ok(Expr { kind: ExprKind::Unary { op: UnaryOp::Negate, arg: Box::new(arg) }, ty, nullable })
    }

    /// The negation of a constant negative integer is a DECIMAL.
    fn wide_if_negative(&self, arg: Expr) -> Expr {
        let is_negative = class(&arg.ty) == Class::Integer
            && expr::is_fixed(&arg)
            && self.context.constant_text(&arg).is_some_and(|text| text.starts_with(b"-"));
        if is_negative { cast_to(arg, typing::decimal(20, 0)) } else { arg }
    }

    fn compare(&mut self, op: CompareOp, left: &ast::Expr<'_>, right: &ast::Expr<'_>) -> Result<Expr> {
        let mut bound_left = self.expr(left)?;
        let left_derivation = self.derivation;
        let left_parts = std::mem::take(&mut self.row_parts);
        let mut bound_right = self.expr(right)?;
        let derivation = left_derivation.combine(self.derivation, op.sign())?;
        if matches!(bound_left.kind, ExprKind::Row(_)) || matches!(bound_right.kind, ExprKind::Row(_)) {
            let right_parts = std::mem::take(&mut self.row_parts);
            return self.row_comparison(op, bound_left, bound_right, (&left_parts, &right_parts));
        }
        self.refuse_no_date(written_text(left), &bound_right)?;
        self.refuse_no_date(written_text(right), &bound_left)?;
        self.refuse_no_dates(&bound_left, &bound_right)?;
        self.settle(&mut bound_left, left, &bound_right)?;
        self.settle(&mut bound_right, right, &bound_left)?;
        self.comparison(op, bound_left, bound_right, derivation)
    }

    /// Keeps a lifted literal as a literal: a number compared with a date or time, or a string compared with a time or
    /// year. How these are compared depends on the value, so the plan is for this text alone.
    fn settle(&mut self, bound: &mut Expr, written: &ast::Expr<'_>, other: &Expr) -> Result<()> {
        let decides = match class(&other.ty) {
            Class::Date | Class::DateTime => matches!(class(&bound.ty), Class::Integer | Class::Decimal | Class::Double),
            Class::Time => class(&bound.ty) != Class::Null,
            _ if other.ty.kind == TypeKind::Year => matches!(class(&bound.ty), Class::String | Class::Decimal | Class::Double),
            _ => false,
        };
        if decides && let ast::Expr::Lifted { literal, .. } = written {
            *bound = self.literal(literal)?;
            self.context.note_literal();
        }
        Ok(())
    }

    /// Builds a comparison of bound operands.
    pub(super) fn comparison(&mut self, op: CompareOp, mut left: Expr, mut right: Expr, derivation: Derivation) -> Result<Expr> {
        if matches!(left.kind, ExprKind::Row(_)) || matches!(right.kind, ExprKind::Row(_)) {
            return self.row_comparison(op, left, right, (&[], &[]));
        }
        let is_ordered = !matches!(op, CompareOp::Equal | CompareOp::NotEqual | CompareOp::NullSafeEqual);
        if is_ordered && (left.ty.is_geometry() || right.ty.is_geometry()) {
            return Err(Error::WrongArguments(op.sign().to_owned()));
        }
        // A vector is equal to vectors only, and has no order.
        let is_given = |expr: &Expr| expr.ty.kind == TypeKind::Null || expr.ty.is_binary_string();
        let is_comparable = |expr: &Expr| expr.ty.is_vector() || matches!(expr.kind, ExprKind::Param(_)) && is_given(expr);
        if is_ordered || !is_comparable(&left) || !is_comparable(&right) {
            no_vectors([&left, &right], || op.sign().to_owned())?;
        }
        compare::keep_as_column(&mut left, &right);
        compare::keep_as_column(&mut right, &left);
        prepare_operands(self.context, &mut left, &mut right);
        compare::convert_year(&mut left, &right);
        compare::convert_year(&mut right, &left);
        compare::year_as_date(&mut left, &mut right);
        compare::convert_moment(&mut left, &right);
        compare::convert_moment(&mut right, &left);
        let by = compare::compare_as(&left, &right, derivation.collation);
        match by {
            CompareAs::String(_) => self.bytes_as_text([&mut left, &mut right].into_iter(), derivation)?,
            CompareAs::Json => [&mut left, &mut right].into_iter().for_each(truth_as_document),
            _ => {}
        }
        let nullable = op != CompareOp::NullSafeEqual && (left.nullable || right.nullable);
        Ok(self.boolean(ExprKind::Compare { op, by, left: Box::new(left), right: Box::new(right) }, nullable))
    }

    /// The collation derivation of a bound expression, as far as the node shows it.
    pub(super) fn derivation_of(&self, expr: &Expr) -> Derivation {
        match (&expr.kind, class(&expr.ty)) {
            (_, Class::Null) => Derivation::IGNORABLE,
            (ExprKind::Call { function, .. }, Class::String) if !function.row().collated.holds(0) => {
                Derivation { collation: expr.ty.collation, level: Coercibility::Coercible }
            }
            (ExprKind::Literal(_) | ExprKind::Param(_), Class::String) => {
                Derivation { collation: expr.ty.collation, level: Coercibility::Coercible }
            }
            (ExprKind::Call { .. } | ExprKind::Case { .. } | ExprKind::Cast(_), Class::String) if !compare::reads_rows(expr) => {
                Derivation { collation: expr.ty.collation, level: Coercibility::Coercible }
            }
            (_, Class::String | Class::Json) => Derivation { collation: expr.ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        }
    }

    fn is_null(&mut self, arg: &ast::Expr<'_>, negated: bool) -> Result<Expr> {
        let arg = self.value(arg)?;
        Ok(self.boolean(ExprKind::IsNull { arg: Box::new(arg), negated }, false))
    }

    fn is_truth(&mut self, arg: &ast::Expr<'_>, truth: bool, negated: bool) -> Result<Expr> {
        let arg = self.predicate(arg)?;
        Ok(self.boolean(ExprKind::IsTruth { arg: Box::new(arg), truth, negated }, false))
    }

    fn in_list(&mut self, arg: &ast::Expr<'_>, list: &[ast::Expr<'_>], negated: bool) -> Result<Expr> {
        let mut arg = self.expr(arg)?;
        let mut derivations = vec![self.derivation];
        let arg_parts = std::mem::take(&mut self.row_parts);
        let mut members = Vec::with_capacity(list.len());
        let mut member_parts = Vec::new();
        for member in list {
            let mut bound = self.expr(member)?;
            derivations.push(self.derivation);
            if list.len() == 1 {
                self.refuse_no_date(written_text(member), &arg)?;
                self.refuse_no_dates(&arg, &bound)?;
            }
            self.settle(&mut bound, member, &arg)?;
            if list.len() == 1 {
                compare::keep_as_column(&mut bound, &arg);
            }
            if matches!(bound.kind, ExprKind::Row(_)) {
                member_parts.push(std::mem::take(&mut self.row_parts));
            }
            members.push(bound);
        }
        if matches!(arg.kind, ExprKind::Row(_)) {
            return self.row_in((arg, &arg_parts), members, &member_parts, negated);
        }
        if class(&arg.ty) == Class::String && members.iter().any(|m| matches!(class(&m.ty), Class::Date | Class::DateTime)) {
            // In a list with dates it matters which strings are dates.
            for (member, written) in members.iter_mut().zip(list) {
                if let ast::Expr::Lifted { literal, .. } = written {
                    *member = self.literal(literal)?;
                    self.context.note_literal();
                }
            }
        }
        let is_text = |m: &Expr| matches!(class(&m.ty), Class::String | Class::Null) && compare::is_constant(m);
        if arg.ty.kind == TypeKind::Year && members.len() > 1 && members.iter().all(is_text) {
            // Several strings are compared with a YEAR as strings.
            arg = cast_to(arg, typing::string(4, self.literal_collation()));
        }
        let is_year = arg.ty.kind == TypeKind::Year && matches!(arg.kind, ExprKind::Column { .. }) && members.len() > 1;
        let differs = self.prepare_members(&mut arg, &mut members)?;
        match members.as_mut_slice() {
            [only] => {
                compare::convert_year(only, &arg);
                compare::convert_moment(only, &arg);
            }
            // Only a single number is an abbreviated year.
            several if is_year && arg.ty.kind == TypeKind::Year && several.iter().any(|m| class(&m.ty) != Class::Integer) => {
                arg = cast_to(arg, typing::bigint(true))
            }
            several if class(&arg.ty) == Class::DateTime && several.iter().all(|m| matches!(m.kind, ExprKind::Literal(_))) => {
                several.iter_mut().for_each(number_as_moment);
            }
            _ => {}
        }
        if keep_dates(&arg, &mut members) {
            self.common_derivation(&mut arg, &mut members, &derivations, " IN ")?;
            let nullable = arg.nullable || members.iter().any(|m| m.nullable);
            let kind = ExprKind::In { arg: Box::new(arg), list: members, by: CompareAs::Temporal, negated };
            return Ok(self.boolean(kind, nullable));
        }
        if super::moments::compares_times(&arg, &members) {
            self.common_derivation(&mut arg, &mut members, &derivations, " IN ")?;
            let nullable = arg.nullable || members.iter().any(|m| m.nullable);
            let kind = ExprKind::In { arg: Box::new(arg), list: members, by: CompareAs::Time, negated };
            return Ok(self.boolean(kind, nullable));
        }
        let operation = if members.len() > 1 { " IN " } else { "=" };
        let derivation = self.common_derivation(&mut arg, &mut members, &derivations, operation)?;
        let by = members.iter().map(|m| compare::compare_as(&arg, m, derivation.collation));
        let Some(by) = by.reduce(wider) else { return Err(Error::WrongArguments("IN".to_owned())) };
        let nullable = arg.nullable || members.iter().any(|m| m.nullable);
        // One way of comparing serves all members, unless their types need several.
        let mixed = differs
            || members.iter().any(|m| {
                let own = compare::compare_as(&arg, m, derivation.collation);
                own != by && class(&m.ty) != Class::Null && is_mixed(own, by)
            });
        if mixed && by != CompareAs::Json {
            return self.in_as_or(arg, members, derivation, negated);
        }
        if by == CompareAs::Json {
            members.iter_mut().chain([&mut arg]).for_each(truth_as_document);
        }
        Ok(self.boolean(ExprKind::In { arg: Box::new(arg), list: members, by, negated }, nullable))
    }

    /// Converts the members of a list and the argument for their comparison. Returns true if the argument needs several
    /// forms, as an ENUM does beside numbers and strings; then it stays unchanged.
    fn prepare_members(&self, arg: &mut Expr, members: &mut [Expr]) -> Result<bool> {
        let mut form: Option<Expr> = None;
        let mut differs = false;
        for member in members {
            single(member)?;
            if matches!(arg.kind, ExprKind::Param(_)) {
                // The first member with a type gives the parameter its type.
                prepare_operands(self.context, arg, member);
                continue;
            }
            let mut own = arg.clone();
            prepare_operands(self.context, &mut own, member);
            if class(&member.ty) != Class::Null {
                differs |= *form.get_or_insert_with(|| own.clone()) != own;
            }
        }
        if let (false, Some(form)) = (differs, form) {
            *arg = form;
        }
        Ok(differs)
    }

    /// `x IN (1, 'a')` as an OR: each member is compared in its own way.
    fn in_as_or(&mut self, arg: Expr, members: Vec<Expr>, derivation: Derivation, negated: bool) -> Result<Expr> {
        let mut parts = Vec::with_capacity(members.len());
        for member in members {
            let mut equal = self.comparison(CompareOp::Equal, arg.clone(), member, derivation)?;
            compare_leniently(&mut equal);
            parts.push(equal);
        }
        let nullable = parts.iter().any(|p| p.nullable);
        let any = self.boolean(ExprKind::Or(parts), nullable);
        Ok(if negated { self.boolean(ExprKind::Not(Box::new(any)), nullable) } else { any })
    }

    fn between(&mut self, between: &ast::Between<'_>) -> Result<Expr> {
        let mut arg = self.value(&between.arg)?;
        let mut derivations = vec![self.derivation];
        let mut bounds = Vec::with_capacity(2);
        for written in [&between.low, &between.high] {
            let mut bound = self.value(written)?;
            derivations.push(self.derivation);
            self.settle(&mut bound, written, &arg)?;
            compare::keep_as_column(&mut bound, &arg);
            prepare_operands(self.context, &mut arg, &mut bound);
            compare::convert_year(&mut bound, &arg);
            bounds.push(bound);
        }
        no_vectors(bounds.iter().chain([&arg]), || "between".to_owned())?;
        for bound in &bounds {
            self.settle(&mut arg, &between.arg, bound)?;
        }
        documents_as_values(&mut arg, &mut bounds);
        // NULL counts as a string.
        let is_text = |e: &Expr| is_text_like(e) || class(&e.ty) == Class::Null;
        let derivation = if is_text(&arg) && bounds.iter().all(is_text) {
            self.text_derivation(&mut arg, &mut bounds, &derivations, "between")?
        } else {
            compare::joined(&derivations, "between").unwrap_or(Derivation::NUMERIC)
        };
        let (high, low) = (bounds.pop().expect("two bounds"), bounds.pop().expect("two bounds"));
        let by_low = compare::compare_as(&arg, &low, derivation.collation);
        let by_high = compare::compare_as(&arg, &high, derivation.collation);
        let negated = between.negated;
        let nullable = arg.nullable || low.nullable || high.nullable;
        // If one bound is a date and the other a number, all are compared as numbers. So are strings beside a number.
        let is_date = matches!(class(&arg.ty), Class::Date | Class::DateTime);
        let are_numbers = is_date && is_number(by_low) != is_number(by_high) || is_text_beside_number(&[&arg, &low, &high]);
        let together = match by_low != by_high {
            true if are_numbers => Some(CompareAs::Double),
            true if is_text_beside_date(&[&arg, &low, &high]) => Some(CompareAs::Temporal),
            _ => None,
        };
        if let Some(by) = together {
            let operand = |expr| Box::new(if by == CompareAs::Double { bits_as_number(expr) } else { expr });
            let kind = ExprKind::Between { arg: operand(arg), low: operand(low), high: operand(high), by, negated };
            return Ok(self.boolean(kind, nullable));
        }
        if by_low != by_high && class(&low.ty) != Class::Null && class(&high.ty) != Class::Null && is_mixed(by_low, by_high) {
            let at_least = self.comparison(CompareOp::GreaterOrEqual, arg.clone(), low, derivation)?;
            let at_most = self.comparison(CompareOp::LessOrEqual, arg, high, derivation)?;
            let both = self.boolean(ExprKind::And(vec![at_least, at_most]), nullable);
            return Ok(if negated { self.boolean(ExprKind::Not(Box::new(both)), nullable) } else { both });
        }
        let by = wider(by_low, by_high);
        let kind = ExprKind::Between { arg: Box::new(arg), low: Box::new(low), high: Box::new(high), by, negated };
        Ok(self.boolean(kind, nullable))
    }

    /// The collation derivation of an operand and everything that it is compared with. A conflict is an error only if
    /// strings are compared.
    fn common_derivation(
        &self,
        operand: &mut Expr,
        others: &mut [Expr],
        derivations: &[Derivation],
        operation: &str,
    ) -> Result<Derivation> {
        if is_text_like(operand) && others.iter().any(is_text_like) {
            return self.text_derivation(operand, others, derivations, operation);
        }
        Ok(compare::joined(derivations, operation).unwrap_or(Derivation::NUMERIC))
    }

    fn text_derivation(
        &self,
        operand: &mut Expr,
        others: &mut [Expr],
        derivations: &[Derivation],
        operation: &str,
    ) -> Result<Derivation> {
        let together = compare::compared(derivations, operation)?;
        self.bytes_as_text(others.iter_mut().chain([operand]), together)?;
        Ok(together)
    }

    fn like(&mut self, like: &ast::Like<'_>) -> Result<Expr> {
        let mut arg = self.value(&like.arg)?;
        let arg_derivation = self.derivation;
        let mut pattern = self.value(&like.pattern)?;
        no_vectors([&arg, &pattern], || "like".to_owned())?;
        let derivation = arg_derivation.combine(self.derivation, "like")?;
        self.bytes_as_text([&mut arg, &mut pattern].into_iter(), derivation)?;
        let (escape, computed) = self.escape(like.escape.as_ref())?;
        let text = typing::string(255, self.literal_collation());
        adopt_for_now(self.context, &mut arg, &text);
        adopt_for_now(self.context, &mut pattern, &text);
        let nullable = arg.nullable || pattern.nullable;
        if let Some(escape) = computed {
            let (ty, nullable) = (pattern.ty.clone(), pattern.nullable);
            pattern =
                Expr { kind: ExprKind::Call { function: Function::LIKE_PATTERN, args: vec![pattern, escape] }, ty, nullable };
        }
        let collation = match derivation.level {
            // Numbers converted to strings.
            Coercibility::Numeric | Coercibility::Ignorable => self.literal_collation(),
            _ => derivation.collation,
        };
        let kind = ExprKind::Like { arg: Box::new(arg), pattern: Box::new(pattern), escape, collation, negated: like.negated };
        Ok(self.boolean(kind, nullable))
    }

    /// The escape character of LIKE: a backslash by default, none for the empty string. One of several bytes, and one
    /// that is known only at execution, is returned as an expression; the pattern is then rewritten with backslashes.
    fn escape(&mut self, escape: Option<&ast::Expr<'_>>) -> Result<(Option<u8>, Option<Expr>)> {
        match escape {
            None => return Ok((if self.mode.no_backslash_escapes { None } else { Some(b'\\') }, None)),
            Some(ast::Expr::Literal(ast::Literal::String(literal)))
                if literal.bytes.is_empty() && self.mode.no_backslash_escapes =>
            {
                return Err(Error::WrongArguments("ESCAPE".to_owned()));
            }
            Some(ast::Expr::Literal(ast::Literal::String(literal))) if literal.charset.is_none() => match literal.bytes {
                [] => return Ok((None, None)),
                [one] => return Ok((Some(*one), None)),
                bytes if types::collation::char_count(bytes) == 1 => {}
                _ => return Err(Error::WrongArguments("ESCAPE".to_owned())),
            },
            Some(_) => {}
        }
        let Some(written) = escape else { return Ok((None, None)) };
        let mut bound = self.value(written)?;
        if compare::reads_rows(&bound) {
            return Err(Error::WrongArguments("ESCAPE".to_owned()));
        }
        adopt_for_now(self.context, &mut bound, &typing::string(1, self.literal_collation()));
        Ok((Some(b'\\'), Some(bound)))
    }

    fn regexp(&mut self, arg: &ast::Expr<'_>, pattern: &ast::Expr<'_>, negated: bool) -> Result<Expr> {
        let arg = self.value(arg)?;
        let arg_derivation = self.derivation;
        let pattern = self.value(pattern)?;
        arg_derivation.combine(self.derivation, "regexp_like")?;
        let nullable = arg.nullable || pattern.nullable;
        super::function::refuse_bytes_beside_text(&arg, &pattern, "regexp_like")?;
        let matches = self.boolean(ExprKind::Call { function: Function::REGEXP_LIKE, args: vec![arg, pattern] }, nullable);
        Ok(if negated { self.boolean(ExprKind::Not(Box::new(matches)), nullable) } else { matches })
    }

    fn case(&mut self, case: &ast::Case<'_>) -> Result<Expr> {
        let operand = case.operand.as_ref().map(|o| self.value(o)).transpose()?;
        let mut of_conditions = vec![self.derivation];
        let mut of_values = Vec::with_capacity(case.whens.len() + 1);
        let mut conditions = Vec::with_capacity(case.whens.len());
        let mut values = Vec::with_capacity(case.whens.len());
        for (condition, value) in case.whens {
            conditions.push(self.value(condition)?);
            of_conditions.push(self.derivation);
            values.push(self.value(value)?);
            of_values.push(self.derivation);
        }
        if let Some(mut operand) = operand {
            let together = self.common_derivation(&mut operand, &mut conditions, &of_conditions, "case")?;
            for condition in &mut conditions {
                let mut when = std::mem::replace(condition, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
                let mut operand = operand.clone();
                documents_as_texts(&mut operand, &mut when);
                *condition = self.comparison(CompareOp::Equal, operand, when, together)?;
                compare_times(condition);
                compare_leniently(condition);
            }
        } else {
            conditions.iter_mut().for_each(document_as_number);
        }
        let mut whens: Vec<(Expr, Expr)> = conditions.into_iter().zip(values).collect();
        let mut otherwise = case.otherwise.as_ref().map(|o| self.value(o)).transpose()?;
        if otherwise.is_some() {
            of_values.push(self.derivation);
        }
        let derivation = compare::joined(&of_values, "case")?;
        self.adopt_choice(whens.iter_mut().map(|(_, value)| value).chain(otherwise.as_mut()), &self.text());
        let results = whens.iter().map(|(_, value)| value).chain(otherwise.as_ref());
        let ty = typing::unify(results.clone(), self.string_collation(derivation));
        let nullable = otherwise.is_none() || results.into_iter().any(|e| e.nullable);
        self.derivation = match derivation.level {
            // A number converted to a string is a string in its own right.
            Coercibility::Numeric if class(&ty) == Class::String => {
                Derivation { collation: ty.collation, level: Coercibility::Coercible }
            }
            _ => derivation,
        };
        Ok(Expr { kind: ExprKind::Case { whens, otherwise: otherwise.map(Box::new) }, ty, nullable })
    }

    /// The collation of a string made from operands with this derivation. Numbers get the connection's collation.
    pub(super) fn string_collation(&self, derivation: Derivation) -> CollationId {
        match derivation.level {
            Coercibility::Numeric | Coercibility::Ignorable => self.literal_collation(),
            _ => derivation.collation,
        }
    }

    fn collate(&mut self, arg: &ast::Expr<'_>, name: &str) -> Result<Expr> {
        let collation = CollationId::by_name(name).ok_or_else(|| Error::UnknownCollation(name.to_owned()))?;
        let mut arg = self.value(arg)?;
        if class(&arg.ty) == Class::String {
            let charset = arg.ty.collation.charset();
            if charset != collation.charset() {
                return Err(Error::CollationMismatch { collation: collation.name().to_owned(), charset: charset.to_owned() });
            }
            arg.ty.collation = collation;
        } else if class(&arg.ty) == Class::Null || matches!(arg.ty.kind, TypeKind::Bit { .. }) {
            return Err(Error::CollationMismatch { collation: collation.name().to_owned(), charset: "binary".to_owned() });
        } else {
            let ty = typing::string(typing::string_length(&arg.ty), collation);
            let nullable = arg.nullable;
            arg = Expr { kind: ExprKind::Cast(Box::new(arg)), ty, nullable };
        }
        self.derivation = Derivation { collation, level: Coercibility::Explicit };
        Ok(arg)
    }

    fn user_variable(&mut self, name: &str) -> Expr {
        let collation = self.literal_collation();
        let is_loaded = self.loaded.iter().any(|loaded| loaded.eq_ignore_ascii_case(name));
        let is_assigned = self.assigned.iter().any(|assigned| assigned.eq_ignore_ascii_case(name));
        let ty = if is_loaded { None } else { self.context.user_variable_type(name) };
        // Strings without a length limit.
        let text = |size, collation| ColumnType { collation, ..ColumnType::new(TypeKind::Text(size)) };
        let ty = match ty {
            Some(ty) if ty.collation == CollationId::BINARY && class(&ty) == Class::String => {
                ColumnType::new(TypeKind::Blob(types::LobSize::Long))
            }
            Some(ty) if class(&ty) == Class::String => text(types::LobSize::Long, ty.collation),
            Some(ty) => ty,
            None if is_loaded || is_assigned => text(types::LobSize::Long, collation),
            None => ColumnType { collation, ..ColumnType::new(typing::UNSET) },
        };
        self.derivation = match class(&ty) {
            Class::String | Class::Json => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        Expr { kind: ExprKind::UserVariable(name.to_lowercase()), ty, nullable: true }
    }

    /// `@name := value`. A variable holds a BIGINT, a DECIMAL, a DOUBLE or a string; other values become strings.
    fn assign_variable(&mut self, name: &str, value: &ast::Expr<'_>) -> Result<Expr> {
        let value = self.value(value)?;
        let ty = match class(&value.ty) {
            Class::Integer => typing::bigint(typing::is_unsigned(&value.ty)),
            Class::Decimal => value.ty.clone(),
            Class::Double => typing::double(),
            Class::Null => typing::string(0, CollationId::BINARY),
            Class::Json => {
                ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(types::LobSize::Long)) }
            }
            Class::String => typing::string(typing::string_length(&value.ty), value.ty.collation),
            _ => typing::string(typing::string_length(&value.ty), self.literal_collation()),
        };
        self.derivation = match class(&ty) {
            Class::String | Class::Json => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        self.assigned.push(name.to_owned());
        let nullable = value.nullable;
        let kind = ExprKind::AssignVariable { name: name.to_lowercase(), value: Box::new(value) };
        Ok(Expr { kind, ty, nullable })
    }

    fn system_variable(&mut self, scope: ast::VariableScope, name: &str) -> Result<Expr> {
        let global = scope == ast::VariableScope::Global;
        let found = self.context.system_variable(global, name);
        let (value, ty) = found.ok_or_else(|| Error::UnknownSystemVariable(name.to_owned()))?;
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::SystemConstant },
            _ => Derivation::NUMERIC,
        };
        Ok(Expr { nullable: value == Value::Null, kind: ExprKind::Literal(value), ty })
    }

    fn insert_value_of(&mut self, name: &ast::ColumnName<'_>) -> Result<Expr> {
        if self.scope.insert_row.is_none() {
            // Outside of INSERT it is NULL, but the column must exist.
            self.name(name)?;
            self.derivation = Derivation::IGNORABLE;
            return Ok(Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
        }
        let source = self.scope.visible[0];
        let is_target = name.table.is_none_or(|table| table == self.sources[source].alias);
        let column = self.sources[source].table.column_index(name.name).filter(|_| is_target);
        let column = column.ok_or_else(|| Error::UnknownColumn { name: dotted(name), clause: self.scope.clause })?;
        let (_, column) = self.target_column(source, column, "INSERT")?;
        self.insert_value(column)
    }

    fn json_arrow(&mut self, column: &ast::ColumnName<'_>, path: &[u8], unquote: bool) -> Result<Expr> {
        let column = self.name(column)?;
        let path = self.literal(&ast::Literal::String(ast::StringLiteral { bytes: path, charset: None }))?;
        let kind = ExprKind::Call { function: Function::JSON_EXTRACT, args: vec![column, path] };
        let extract = Expr { kind, ty: ColumnType::new(TypeKind::Json), nullable: true };
        self.derivation = Derivation { collation: CollationId::UTF8MB4_BIN, level: Coercibility::Implicit };
        if !unquote {
            return Ok(extract);
        }
        let ty = ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(types::LobSize::Long)) };
        Ok(Expr { kind: ExprKind::Call { function: Function::JSON_UNQUOTE, args: vec![extract] }, ty, nullable: true })
    }

    /// `DEFAULT(col)`
    fn default_of(&mut self, name: &ast::ColumnName<'_>) -> Result<Expr> {
        use types::schema::ColumnDefault;
        let found = self.find_column(name)?;
        let (source, column) = found.ok_or_else(|| Error::UnknownColumn { name: dotted(name), clause: self.scope.clause })?;
        self.need_column(source, column)?;
        self.note_column(name.name, source, column);
        let (source, column) = self.stored_column(source, column).unwrap_or((source, column));
        let def = &self.sources[source].table.columns[column];
        self.derivation = self.column_derivation(source, column);
        let ty = def.ty.clone();
        match &def.default {
            ColumnDefault::Dropped => Err(Error::NoDefault(def.name.clone())),
            ColumnDefault::None if !def.nullable => Err(Error::NoDefault(def.name.clone())),
            ColumnDefault::None | ColumnDefault::Literal(None) => Ok(Expr::literal(Value::Null, ty)),
            ColumnDefault::Literal(Some(text)) => {
                let bytes = Value::Bytes(Cow::Owned(text.as_bytes().to_vec()));
                let literal = Expr::literal(bytes, typing::string(text.len() as u64, CollationId::UTF8MB4_BIN));
                if class(&ty) == Class::String {
                    return Ok(Expr { ty, ..literal });
                }
                Ok(Expr { kind: ExprKind::Cast(Box::new(literal)), ty, nullable: false })
            }
            ColumnDefault::Expression(_) => {
                let usage = RowExprUse::Default(def.name.clone());
                Err(DefinitionError::RowExpr { usage, problem: RowExprProblem::DefaultFunction }.into())
            }
            ColumnDefault::CurrentTimestamp => Err(Error::NotSupported("DEFAULT(column) of a current timestamp".to_owned())),
        }
    }
}

/// The expression of `(SELECT expr)`: a subquery without tables is replaced by its expression.
fn bare_value<'q, 'a>(query: &'q ast::Query<'a>) -> Option<&'q ast::Expr<'a>> {
    let ast::Query { with: None, body: ast::QueryBody::Select(select), order_by: [], limit: None, .. } = query else {
        return None;
    };
    let plain = select.from.is_empty() && select.filter.is_none() && select.group_by.is_empty() && select.having.is_none();
    match select.items {
        [ast::SelectItem::Expr { expr, .. }] if plain && !matches!(expr, ast::Expr::Aggregate(_)) => Some(expr),
        _ => None,
    }
}

/// Expressions that are not supported, or not allowed here.
#[cold]
fn rare(expr: &ast::Expr<'_>) -> Result<Expr> {
    use ast::Expr as E;
    Err(Error::NotSupported(
        match expr {
            E::Default(_) => "DEFAULT here",
            _ => "this expression",
        }
        .to_owned(),
    ))
}

/// Are these strings and numbers, perhaps with times, and nothing else?
fn is_text_beside_number(exprs: &[&Expr]) -> bool {
    let is = |kind: &dyn Fn(Class) -> bool| exprs.iter().filter(|expr| kind(class(&expr.ty))).count();
    let (texts, numbers) = (is(&|c| c == Class::String), is(&|c| matches!(c, Class::Integer | Class::Decimal | Class::Double)));
    texts > 0 && numbers > 0 && texts + numbers + is(&|c| c == Class::Time) == exprs.len()
}

/// Is it a string, or a date that is compared with strings as a string?
fn is_text_like(expr: &Expr) -> bool {
    matches!(class(&expr.ty), Class::String | Class::Date | Class::DateTime | Class::Time)
}

fn single(expr: &Expr) -> Result<()> {
    if matches!(expr.kind, ExprKind::Row(_)) { Err(Error::OperandColumns(1)) } else { Ok(()) }
}

/// CASE compares a TIME with a string as times; `=` compares them as strings.
fn compare_times(condition: &mut Expr) {
    if let ExprKind::Compare { by, left, right, .. } = &mut condition.kind
        && let (Class::Time, Class::String) | (Class::String, Class::Time) = (class(&left.ty), class(&right.ty))
    {
        *by = CompareAs::Time;
    }
}

/// The comparison of an operator; `None` for other operators.
fn compare_op(op: ast::BinaryOp) -> Option<CompareOp> {
    use ast::BinaryOp as B;
    Some(match op {
        B::Equal => CompareOp::Equal,
        B::NotEqual => CompareOp::NotEqual,
        B::Less => CompareOp::Less,
        B::LessOrEqual => CompareOp::LessOrEqual,
        B::Greater => CompareOp::Greater,
        B::GreaterOrEqual => CompareOp::GreaterOrEqual,
        B::NullSafeEqual => CompareOp::NullSafeEqual,
        _ => return None,
    })
}

/// Converts both sides of a comparison to the forms in which they are compared: parameters get types, constants the
/// type of the other side, ENUM and SET their numbers beside a number.
pub(super) fn prepare_operands(context: &dyn BindContext, left: &mut Expr, right: &mut Expr) {
    adopt(context, left, &right.ty);
    adopt(context, right, &left.ty);
    compare::convert_constants(left, right);
    let (left_class, right_class) = (class(&left.ty), class(&right.ty));
    for (side, other) in [(left, right_class), (right, left_class)] {
        match other {
            Class::Integer | Class::Decimal | Class::Double => {
                enum_as_number(side);
                moved_date_as_number(side);
                choice_as_number(side);
            }
            Class::Date | Class::DateTime | Class::Time => enum_as_number(side),
            Class::String | Class::Json | Class::Null => {}
        }
    }
}

/// The more general of two ways of comparing, which serves both.
fn wider(a: CompareAs, b: CompareAs) -> CompareAs {
    use CompareAs as C;
    match (a, b) {
        (C::Json, _) | (_, C::Json) => C::Json,
        (C::Double, _) | (_, C::Double) => C::Double,
        (C::String(c), _) | (_, C::String(c)) => C::String(c),
        (C::Decimal, C::Integer) | (C::Integer, C::Decimal) => C::Decimal,
        (C::Temporal, _) | (_, C::Temporal) => C::Temporal,
        (C::Time, _) | (_, C::Time) => C::Time,
        _ => a,
    }
}

/// Two ways of comparing that no single one can stand for.
fn is_number(by: CompareAs) -> bool {
    use CompareAs as C;
    matches!(by, C::Integer | C::Decimal | C::Double)
}

fn is_mixed(a: CompareAs, b: CompareAs) -> bool {
    use CompareAs as C;
    // Integers and decimals compare as decimals; doubles as doubles, where exactness may be lost.
    !(is_number(a) && is_number(b)) || a == C::Double || b == C::Double
}
