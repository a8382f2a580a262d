//! CAST and CONVERT: their result types.

use super::Binder;
use super::adopt::{adopt_for_now, adopt_number};
use super::compare::{Coercibility, Derivation};
use super::function::no_vectors;
use super::operand::{cast_to, choice_as_number, enum_as_number, is_dated, moved_date_as_number, padded};
use crate::ast;
use crate::error::{Error, Result};
use crate::param::ParamKind;
use expr::{Class, Expr, ExprKind, Function, class, typing};
use types::{CollationId, ColumnType, TypeKind};

impl Binder<'_> {
    pub(super) fn cast(&mut self, arg: &ast::Expr<'_>, target: &ast::CastTarget<'_>) -> Result<Expr> {
        let mut arg = self.value(arg)?;
        if !matches!(target, ast::CastTarget::Binary { .. }) {
            no_vectors([&arg], || cast_name(target).to_owned())?;
        }
        if *target == ast::CastTarget::Year {
            enum_as_number(&mut arg);
            self.derivation = Derivation::NUMERIC;
            let kind = ExprKind::Call { function: Function::TO_YEAR, args: vec![arg] };
            return Ok(Expr { kind, ty: ColumnType::unsigned(TypeKind::Year), nullable: true });
        }
        if matches!(target, ast::CastTarget::Char { .. } | ast::CastTarget::Binary { .. }) {
            adopt_for_now(self.context, &mut arg, &self.text());
        }
        let ty = self.cast_type(target, &arg)?;
        if class(&ty) == Class::Integer {
            adopt_number(self.context, &mut arg, ParamKind::Int);
            if matches!(&arg.kind, ExprKind::Call { function: Function::GREATEST | Function::LEAST, args } if args.iter().any(is_dated))
            {
                moved_date_as_number(&mut arg);
            }
        }
        if matches!(class(&ty), Class::Double | Class::Decimal) {
            moved_date_as_number(&mut arg);
            choice_as_number(&mut arg);
        }
        if class(&ty) == Class::Double {
            self.average_as_double(&mut arg);
        }
        if matches!(class(&ty), Class::Integer | Class::Double | Class::Decimal) {
            enum_as_number(&mut arg);
        }
        self.derivation = match class(&ty) {
            Class::String | Class::Json => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        // A cast to a number gives NULL only for NULL. A cast to a date gives NULL for an invalid date; a cast to a
        // string may give NULL.
        let nullable = arg.nullable || typing::is_temporal(&ty) || matches!(class(&ty), Class::String | Class::Json);
        let cast = Expr { kind: ExprKind::Cast(Box::new(arg)), ty, nullable };
        Ok(match target {
            ast::CastTarget::Binary { length: Some(length) } => padded(cast, *length),
            _ => cast,
        })
    }

    /// Binds `CAST(x AS type ARRAY)`: a call whose second argument is there for its type.
    pub(super) fn cast_array(&mut self, arg: &ast::Expr<'_>, target: &ast::CastTarget<'_>) -> Result<Expr> {
        let arg = self.value(arg)?;
        let element = element_type(target)?;
        self.derivation = Derivation { collation: arg.ty.collation, level: Coercibility::Implicit };
        let args = vec![arg, Expr::literal(types::Value::Null, element)];
        Ok(Expr {
            kind: ExprKind::Call { function: Function::CAST_ARRAY, args },
            ty: ColumnType::new(TypeKind::Json),
            nullable: true,
        })
    }

    /// Binds CAST(timestamp AT TIME ZONE 'UTC' AS DATETIME).
    pub(super) fn at_time_zone(&mut self, arg: &ast::Expr<'_>, target: &ast::CastTarget<'_>) -> Result<Expr> {
        // A literal is in the time zone of the session.
        let is_literal = matches!(arg, ast::Expr::Literal(ast::Literal::Timestamp(_)));
        let arg = self.value(arg)?;
        let ty = self.cast_type(target, &arg)?;
        self.derivation = Derivation::NUMERIC;
        if !is_literal && !matches!(arg.ty.kind, TypeKind::Timestamp { .. } | TypeKind::Null) {
            return Err(Error::NoTimestampWithTimeZone);
        }
        let kind = ExprKind::Call { function: Function::TO_UTC, args: vec![arg] };
        let moved = Expr { kind, ty: ColumnType::new(TypeKind::DateTime { fsp: 6 }), nullable: true };
        Ok(Expr { kind: ExprKind::Cast(Box::new(moved)), ty, nullable: true })
    }

    pub(super) fn cast_type(&self, target: &ast::CastTarget<'_>, arg: &Expr) -> Result<ColumnType> {
        use ast::CastTarget as T;
        Ok(match target {
            T::Signed => typing::bigint(false),
            T::Unsigned => typing::bigint(true),
            T::Decimal { precision, scale } => typing::decimal((*precision).into(), (*scale).into()),
            T::Float => ColumnType::new(TypeKind::Float),
            T::Double => typing::double(),
            T::Char { length, charset, binary } => {
                let collation = match charset {
                    None => self.literal_collation(),
                    Some(charset) => {
                        CollationId::of_charset(charset).ok_or_else(|| Error::UnknownCharset((*charset).to_owned()))?
                    }
                };
                let collation = if *binary {
                    CollationId::by_name(&format!("{}_bin", collation.charset())).unwrap_or(collation)
                } else {
                    collation
                };
                let bytes = u64::from(length.unwrap_or(0)) * typing::bytes_per_char(collation);
                if bytes > u32::MAX.into() {
                    return Err(Error::OutOfRange { kind: "char(n)", expression: "cast_as_char".to_owned() });
                }
                typing::string(length.map_or_else(|| typing::text_length(arg), u64::from), collation)
            }
            T::Binary { length } => {
                // Each character becomes up to four bytes.
                let bytes = typing::string_length(&arg.ty) * typing::bytes_per_char(arg.ty.collation);
                typing::string(length.map_or(bytes, u64::from), CollationId::BINARY)
            }
            T::Date => ColumnType::new(TypeKind::Date),
            T::Time { fsp } => ColumnType::new(TypeKind::Time { fsp: *fsp }),
            T::DateTime { fsp } => ColumnType::new(TypeKind::DateTime { fsp: *fsp }),
            T::Year => ColumnType::unsigned(TypeKind::Year),
            T::Json => ColumnType::new(TypeKind::Json),
            T::Geometry(kind) => ColumnType::geometry(*kind),
        })
    }

    pub(super) fn convert_using(&mut self, arg: &ast::Expr<'_>, charset: &str) -> Result<Expr> {
        let arg = self.value(arg)?;
        no_vectors([&arg], || "convert".to_owned())?;
        self.in_charset(arg, charset)
    }

    /// CONVERT(arg USING charset): a string with the default collation of the character set.
    pub(super) fn in_charset(&mut self, arg: Expr, charset: &str) -> Result<Expr> {
        let collation = CollationId::of_charset(charset).ok_or_else(|| Error::UnknownCharset(charset.to_owned()))?;
        // The characters become bytes; one character may have several.
        let widest = if collation == CollationId::BINARY { typing::bytes_per_char(arg.ty.collation) } else { 1 };
        let ty = typing::string(typing::text_length(&arg).saturating_mul(widest), collation);
        self.derivation = Derivation { collation, level: Coercibility::Implicit };
        let converted = cast_to(arg, ty);
        Ok(Expr { nullable: converted.nullable || self.mode.strict, ..converted })
    }
}

/// The name of a cast in messages.
fn cast_name(target: &ast::CastTarget<'_>) -> &'static str {
    use ast::CastTarget as T;
    match target {
        T::Signed => "cast_as_signed",
        T::Unsigned => "cast_as_unsigned",
        T::Decimal { .. } => "cast_as_decimal",
        T::Float | T::Double => "cast_as_real",
        T::Char { .. } => "cast_as_char",
        T::Binary { .. } => "cast_as_binary",
        T::Date => "cast_as_date",
        T::Time { .. } => "cast_as_time",
        T::DateTime { .. } => "cast_as_datetime",
        T::Year => "cast_as_year",
        T::Json => "cast_as_json",
        T::Geometry(kind) => kind.lower_name(),
    }
}

/// Longer strings are no elements.
const ELEMENT_LENGTH_MAX: u32 = 512;

/// The elements of `CAST(x AS type ARRAY)`.
///
/// # Errors
/// 1235: there are no arrays of the type.
fn element_type(target: &ast::CastTarget<'_>) -> Result<ColumnType> {
    use ast::CastTarget as T;
    let refused = |what: &str| {
        let what = format!("CAST-ing data to array of {what}");
        Err(conditions::Condition::NotSupportedByMysql { what: what.into() }.into())
    };
    let kind = match *target {
        T::Signed => TypeKind::BigInt,
        T::Unsigned => return Ok(ColumnType::unsigned(TypeKind::BigInt)),
        T::Decimal { precision, scale } => TypeKind::Decimal { precision, scale },
        T::Date => TypeKind::Date,
        T::Time { fsp } => TypeKind::Time { fsp },
        T::DateTime { fsp } => TypeKind::DateTime { fsp },
        T::Char { length: Some(length @ 1..=ELEMENT_LENGTH_MAX), .. } => TypeKind::VarChar { length },
        T::Binary { length: Some(length @ 1..=ELEMENT_LENGTH_MAX) } => TypeKind::VarBinary { length },
        T::Char { .. } | T::Binary { .. } => return refused("char/binary BLOBs"),
        T::Float => return refused("FLOAT"),
        T::Double => return refused("DOUBLE"),
        T::Year => return refused("YEAR"),
        T::Json => return refused("JSON"),
        T::Geometry(_) => return refused("GEOMETRY"),
    };
    let collation = match kind {
        TypeKind::VarChar { .. } => CollationId::by_name("utf8mb4_0900_as_cs").unwrap_or(CollationId::UTF8MB4_BIN),
        TypeKind::VarBinary { .. } => CollationId::BINARY,
        _ => return Ok(ColumnType::new(kind)),
    };
    Ok(ColumnType { collation, ..ColumnType::new(kind) })
}
