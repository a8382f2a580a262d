//! The result types of calls of built-in functions, and whether the result may be NULL.

use super::Binder;
use super::operand::is_bits_literal;
use super::typing::{self, Class, class};
use crate::ast;
use crate::error::{Error, Result};
use expr::{Expr, ExprKind, Function as F};
use std::borrow::Cow;
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

impl Binder<'_> {
    pub(super) fn call_nullable(&self, function: F, args: &[Expr]) -> bool {
        let any = args.iter().any(|a| a.nullable);
        match function {
            F::ConcatWs => self.mode.strict || args[0].nullable,
            function if is_text_of_texts(function) => self.mode.strict || any,
            F::Coalesce | F::IfNull => args.iter().all(|a| a.nullable),
            F::If => args[1].nullable || args[2].nullable,
            F::Degrees
            | F::Radians
            | F::Length
            | F::CharLength
            | F::BitLength
            | F::MemberNumber
            | F::Locate
            | F::Instr
            | F::Ascii
            | F::Ord
            | F::Crc32
            | F::MakeSet
            | F::UncompressedLength
            | F::IsIpv4
            | F::IsIpv4Compat
            | F::IsIpv4Mapped
            | F::IsIpv6
            | F::PeriodAdd
            | F::PeriodDiff
            | F::GtidSubset
            | F::RegexpInstr
            | F::Abs
            | F::Ceiling
            | F::Floor
            | F::Round
            | F::Truncate
            | F::Sign
            | F::Greatest
            | F::Least
            | F::BitCount
            | F::FindInSet
            | F::RegexpLike
            | F::JsonOverlaps
            | F::JsonSchemaValid
            | F::StrCmp => any,
            F::Field
            | F::Pi
            | F::Rand
            | F::Interval
            | F::Now
            | F::SysDate
            | F::CurDate
            | F::CurTime
            | F::UtcDate
            | F::UtcTime
            | F::UtcTimestamp
            | F::Version
            | F::ConnectionId
            | F::RowCount
            | F::FoundRows
            | F::Sleep
            | F::UuidShort
            | F::IcuVersion => false,
            F::LastInsertId | F::UnixTimestamp => any,
            _ => true,
        }
    }

    pub(super) fn call_type(&self, function: F, args: &[Expr], collation: CollationId) -> Result<ColumnType> {
        let connection = self.literal_collation();
        let text = |length: u64| typing::string(length, connection);
        let length = |n: usize| typing::text_length(&args[n]);
        let bytes = |n: usize| length(n).saturating_mul(typing::bytes_per_char(args[n].ty.collation));
        let known;
        let args = match function {
            F::Time | F::Timestamp | F::TimeDiff | F::AddTime | F::SubTime | F::ConvertTz | F::UnixTimestamp => {
                known = self.with_known_texts(args);
                &*known
            }
            _ => args,
        };
        let ty = match function {
            function if let Some(length) = length_of_call(function, args, collation) => typing::string(length, collation),
            // Strings that do not depend on the arguments' characters.
            F::Char => typing::string(args.len() as u64 * 4, CollationId::BINARY),
            F::Hex => text(match class(&args[0].ty) {
                Class::Null | Class::Integer | Class::Decimal | Class::Double => 16,
                Class::String => length(0) * typing::bytes_per_char(args[0].ty.collation) * 2,
                Class::Json => length(0) * 8,
                Class::Date | Class::Time | Class::DateTime => length(0) * 2,
            }),
            F::Unhex => typing::string(bytes(0).div_ceil(2), CollationId::BINARY),
            F::FromBase64 => typing::string(bytes(0) * 3 / 4, CollationId::BINARY),
            F::ToBase64 => text(typing::capped(base64_length(bytes(0)), connection)),
            F::Md5 => text(32),
            F::Sha1 => text(40),
            F::Sha2 => text(match constant_length(args.get(1)) {
                Some(bits @ (224 | 384 | 512)) => bits / 4,
                Some(_) => 64,
                None => 128,
            }),
            F::Uuid => ColumnType { collation: CollationId::of_charset("utf8mb3").unwrap_or(connection), ..text(36) },
            F::Bin | F::Oct | F::Conv => text(65),
            F::Format => text(length(0) + length(0) / 3 + 32),
            F::Charset | F::Collation | F::Database => system_text(64),
            F::User | F::CurrentUser | F::SessionUser | F::SystemUser => system_text(288),
            F::Version => system_text(60),
            F::InetNtoa => text(31),
            F::DayName | F::MonthName => text(9),
            F::DateFormat | F::TimeFormat => text(constant_length_of_format(args.get(1)).unwrap_or(length(1) * 10)),
            F::JsonUnquote => typing::string(length(0), CollationId::UTF8MB4_BIN),
            F::JsonType => ColumnType { collation: CollationId::UTF8MB4_BIN, ..text(17) },
            F::JsonPretty => ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(LobSize::Long)) },
            F::JsonQuote => {
                ColumnType { collation: CollationId::UTF8MB4_BIN, ..typing::string(length(0) * 6 + 2, CollationId::UTF8MB4_BIN) }
            }
            F::JsonExtract
            | F::JsonObject
            | F::JsonArray
            | F::JsonKeys
            | F::JsonArrayAppend
            | F::JsonArrayInsert
            | F::JsonInsert
            | F::JsonMerge
            | F::JsonMergePatch
            | F::JsonMergePreserve
            | F::JsonRemove
            | F::JsonReplace
            | F::JsonSearch
            | F::JsonSet
            | F::JsonSchemaReport => ColumnType::new(TypeKind::Json),
            F::AesEncrypt => {
                typing::string((length(0) * typing::bytes_per_char(args[0].ty.collation) / 16 + 1) * 16, CollationId::BINARY)
            }
            F::AesDecrypt => typing::string(length(0), CollationId::BINARY),
            F::Compress => typing::string(compressed_length(bytes(0)), CollationId::BINARY),
            F::Uncompress | F::LoadFile => ColumnType::new(TypeKind::Blob(LobSize::Long)),
            F::RandomBytes => typing::string(1024, CollationId::BINARY),
            F::StatementDigest => text(64),
            F::StatementDigestText => ColumnType { collation: connection, ..ColumnType::new(TypeKind::Text(LobSize::Long)) },
            F::BinToUuid => text(36),
            F::UuidToBin => typing::string(16, CollationId::BINARY),
            F::UuidShort => typing::bigint(true),
            F::Inet6Aton => typing::string(16, CollationId::BINARY),
            F::Inet6Ntoa => text(39),
            F::GtidSubtract => text(typing::capped(u64::MAX, connection)),
            F::Soundex => typing::string(length(0).max(4), collation),
            F::LikePattern => typing::stored(&args[0].ty),
            F::WeightString => {
                let weights = bytes(0).saturating_mul(weight_bytes(args[0].ty.collation));
                typing::string(weights.max(8), CollationId::BINARY)
            }
            F::GetFormat => text(17),
            F::NameConst => args[1].ty.clone(),
            F::FormatBytes => system_text(11),
            F::FormatPicoTime => system_text(11),
            F::PsCurrentThreadId | F::PsThreadId => typing::bigint(true),
            F::CurrentRole | F::RolesGraphml => ColumnType {
                collation: CollationId::of_charset("utf8mb3").unwrap_or(connection),
                ..ColumnType::new(TypeKind::Text(LobSize::Long))
            },
            F::IcuVersion => system_text(60),
            // The argument's type.
            F::Abs => match typing::numeric(&args[0]) {
                ty if class(&ty) == Class::Decimal => ColumnType { unsigned: typing::is_unsigned(&args[0].ty), ..ty },
                ty => ty,
            },
            F::Ceiling | F::Floor => match class(&args[0].ty) {
                Class::Decimal => {
                    let (precision, scale) = typing::decimal_shape(&args[0]);
                    if precision - scale < 18 { typing::bigint(false) } else { typing::decimal(precision - scale + 1, 0) }
                }
                _ => match typing::numeric(&args[0]) {
                    ty if class(&ty) == Class::Double => typing::double(),
                    ty => ty,
                },
            },
            F::Round => rounded(args, 1),
            F::Truncate => rounded(args, 0),
            F::If => typing::unify(args[1..].iter(), collation),
            F::IfNull | F::Coalesce => typing::unify(args.iter(), collation),
            F::Greatest | F::Least => extreme_type(args, collation),
            // Doubles.
            F::Sqrt | F::Pow | F::Exp | F::Ln | F::Log | F::Log2 | F::Log10 => typing::double(),
            F::Sin | F::Cos | F::Tan | F::Asin | F::Acos | F::Atan | F::Cot => typing::double(),
            F::Degrees | F::Radians | F::Rand => typing::double(),
            F::Pi => typing::pi(),
            // Dates.
            F::Now | F::SysDate | F::UtcTimestamp => ColumnType::new(TypeKind::DateTime { fsp: precision(function, args)? }),
            F::CurTime | F::UtcTime => ColumnType::new(TypeKind::Time { fsp: precision(function, args)? }),
            F::CurDate | F::UtcDate | F::Date | F::FromDays | F::LastDay | F::MakeDate => ColumnType::new(TypeKind::Date),
            F::Time => ColumnType::new(TypeKind::Time { fsp: typing::time_fsp_of(&args[0]) }),
            F::Timestamp => {
                let second = args.get(1).map_or(0, typing::time_fsp_of);
                ColumnType::new(TypeKind::DateTime { fsp: typing::datetime_fsp_of(&args[0]).max(second) })
            }
            F::TimeDiff => {
                ColumnType::new(TypeKind::Time { fsp: typing::time_fsp_of(&args[0]).max(typing::time_fsp_of(&args[1])) })
            }
            F::AddTime | F::SubTime => added_time(args, connection),
            F::SecToTime if class(&args[0].ty) == Class::String && !super::operand::is_bits_literal(&args[0]) => {
                ColumnType::new(TypeKind::Time { fsp: 6 })
            }
            F::SecToTime => ColumnType::new(TypeKind::Time { fsp: typing::time_fsp_of(&args[0]) }),
            F::MakeTime => ColumnType::new(TypeKind::Time { fsp: typing::fsp(&args[2].ty) }),
            F::FromUnixTime if args.len() == 1 => ColumnType::new(TypeKind::DateTime { fsp: typing::fsp(&args[0].ty) }),
            F::FromUnixTime => text(constant_length_of_format(args.get(1)).unwrap_or(length(1) * 10)),
            F::ConvertTz => ColumnType::new(TypeKind::DateTime { fsp: typing::datetime_fsp_of(&args[0]) }),
            F::StrToDate => str_to_date(args),
            F::UnixTimestamp => match args.first() {
                Some(arg) if typing::datetime_fsp_of(arg) > 0 => {
                    let fsp = u32::from(typing::datetime_fsp_of(arg));
                    typing::decimal(11 + fsp, fsp)
                }
                _ => typing::bigint(false),
            },
            F::Year => ColumnType::unsigned(TypeKind::Year),
            F::ToYear => ColumnType::unsigned(TypeKind::Year),
            F::Crc32 | F::InetAton | F::IsUsedLock | F::ConnectionId | F::LastInsertId => typing::bigint(true),
            F::RegexpLike
            | F::JsonOverlaps
            | F::JsonMemberOf
            | F::GetLock
            | F::ReleaseLock
            | F::JsonSchemaValid
            | F::IsUuid
            | F::IsIpv4
            | F::IsIpv4Compat
            | F::IsIpv4Mapped
            | F::IsIpv6
            | F::Benchmark
            | F::IsFreeLock => typing::boolean(),
            _ => typing::bigint(false),
        };
        Ok(ty)
    }
}

impl Binder<'_> {
    /// The arguments; strings computed from literals alone are replaced by their values.
    fn with_known_texts<'e>(&self, args: &'e [Expr]) -> Cow<'e, [Expr]> {
        let is_computed = |e: &Expr| {
            let is_text = matches!(class(&e.ty), Class::String | Class::Json) && !matches!(e.kind, ExprKind::Literal(_));
            is_text && expr::is_fixed(e)
        };
        if !args.iter().any(is_computed) {
            return Cow::Borrowed(args);
        }
        let known = |e: &Expr| match is_computed(e) {
            true => match self.context.constant_text(e) {
                // Of JSON constants, only numbers can be times.
                Some(text) if class(&e.ty) == Class::Json && !text.first().is_some_and(u8::is_ascii_digit) => e.clone(),
                Some(text) => Expr::literal(Value::Bytes(text.into()), typing::string(0, CollationId::UTF8MB4_BIN)),
                None => e.clone(),
            },
            false => e.clone(),
        };
        Cow::Owned(args.iter().map(known).collect())
    }
}

/// The length of REPEAT and the like if their count is not known.
const LONG: u64 = 16_777_216;

/// Functions that build a string from strings. In strict mode each may be NULL, because its characters may not exist in
/// its character set.
fn is_text_of_texts(function: F) -> bool {
    use F::*;
    matches!(
        function,
        Upper
            | Lower
            | Concat
            | Trim
            | LTrim
            | RTrim
            | Hex
            | LPad
            | RPad
            | Repeat
            | Left
            | Right
            | Substring
            | SubstringIndex
            | Reverse
            | Replace
            | Insert
            | Format
            | Quote
            | Char
            | ToBase64
            | Soundex
            | ExportSet
            | Compress
            | RandomBytes
    )
}

/// The maximum length in characters of a call that builds a string from its arguments.
pub(super) fn length_of_call(function: F, args: &[Expr], collation: CollationId) -> Option<u64> {
    // If the result is binary, an argument counts with the bytes of its characters.
    let bytes = |arg: &Expr| typing::text_length(arg).saturating_mul(typing::bytes_per_char(arg.ty.collation));
    let length = |arg: &Expr| if collation == CollationId::BINARY { bytes(arg) } else { typing::text_length(arg) };
    let lengths: Vec<u64> = args.iter().map(length).collect();
    let first = lengths.first().copied().unwrap_or(0);
    let capped = |length: u64| typing::capped(length, collation);
    // The limit is in bytes if the number of characters is known.
    let repeated = |count: Option<&Expr>, most: u64| constant_length(count).map_or(LONG, |n| capped(n.saturating_mul(most)));
    Some(match function {
        F::Concat => capped(lengths.iter().sum()),
        F::ConcatWs => capped(lengths[1..].iter().sum::<u64>() + first * (args.len() as u64).saturating_sub(2)),
        F::Upper | F::Lower | F::Reverse | F::SubstringIndex | F::Trim | F::LTrim | F::RTrim | F::RegexpSubstr => first,
        F::Left | F::Right => constant_length(args.get(1)).map_or(first, |n| n.min(first)),
        F::Substring => {
            let most = match constant_integer(args.get(1)) {
                Some(from) if from < 0 && from.unsigned_abs() > first => 0,
                Some(from) if from < 0 => from.unsigned_abs(),
                Some(from) => first.saturating_sub(from.unsigned_abs().saturating_sub(1)),
                None => first,
            };
            constant_length(args.get(2)).map_or(most, |n| n.min(most))
        }
        F::LPad | F::RPad => repeated(args.get(1), 1),
        F::Space => repeated(args.first(), 1),
        F::Repeat => repeated(args.get(1), first),
        // MySQL's rule, whatever is replaced.
        F::Replace => capped(first.saturating_mul(lengths[2].saturating_sub(1).max(1))),
        F::Insert => capped(first + lengths[3]),
        F::Elt => lengths[1..].iter().copied().max().unwrap_or(0),
        F::MakeSet => lengths[1..].iter().sum::<u64>() + (args.len() as u64).saturating_sub(2),
        F::ExportSet => 64 * lengths[1].max(lengths[2]) + 63 * lengths.get(3).copied().unwrap_or(1),
        F::Quote => capped(first * 2 + 2),
        F::RegexpReplace => capped(LONG),
        _ => return None,
    })
}

/// The maximum length of a call that makes a string of its own, where its type has the size of a column.
pub(super) fn own_length(function: F, args: &[Expr]) -> Option<u64> {
    let length = args.first().map_or(0, typing::text_length);
    let bytes = length.saturating_mul(args.first().map_or(1, |arg| typing::bytes_per_char(arg.ty.collation)));
    Some(match function {
        F::Hex => bytes.saturating_mul(2),
        F::Unhex => bytes.div_ceil(2),
        F::FromBase64 => (bytes.saturating_mul(3) / 4).min(LONG),
        F::ToBase64 => base64_length(bytes).min(LONG / 4),
        F::AesEncrypt => ((bytes / 16 + 1) * 16).min(LONG),
        F::Compress => compressed_length(bytes).min(LONG),
        F::Format => length + length / 3 + 32,
        F::JsonQuote => length.saturating_mul(6).saturating_add(2),
        F::JsonUnquote | F::AesDecrypt | F::Soundex => length,
        F::Uncompress | F::LoadFile | F::JsonPretty | F::StatementDigestText | F::CurrentRole => LONG,
        F::GtidSubtract => LONG / 4,
        _ => return None,
    })
}

fn base64_length(bytes: u64) -> u64 {
    let digits = bytes.div_ceil(3).saturating_mul(4);
    digits + digits.saturating_sub(1) / 76
}

fn compressed_length(bytes: u64) -> u64 {
    bytes + (bytes >> 12) + (bytes >> 14) + 18
}

/// The bytes of the collation weights of a character.
fn weight_bytes(collation: CollationId) -> u64 {
    let name = collation.name();
    match name.contains("_0900_") && !name.ends_with("_bin") {
        true => 16,
        false if name.contains("_unicode_") => 8,
        false => 1,
    }
}

fn system_text(length: u64) -> ColumnType {
    let collation = CollationId::of_charset("utf8mb3").unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
    ColumnType { collation, ..ColumnType::new(TypeKind::VarChar { length: length as u32 }) }
}

/// Does this argument take part in the collation of the result or of a comparison? A function that edits one string
/// takes that string's.
pub(super) fn takes_part_in_collation(function: F, argument: usize) -> bool {
    match function {
        F::LPad | F::RPad | F::Insert | F::Replace | F::SubstringIndex | F::Instr | F::Field => argument == 0,
        F::Locate => argument == 1,
        F::RegexpReplace => argument < 2,
        _ => becomes_text(function, argument),
    }
}

/// Do characters of this argument get into the result or a comparison?
pub(super) fn becomes_text(function: F, argument: usize) -> bool {
    match function {
        F::Left | F::Right | F::Substring | F::Repeat | F::Round => argument == 0,
        F::LPad | F::RPad => argument != 1,
        F::ExportSet => (1..4).contains(&argument),
        F::If | F::Elt | F::MakeSet => argument > 0,
        F::Interval | F::JsonSearch | F::JsonOverlaps | F::JsonContains | F::JsonContainsPath | F::JsonExtract => false,
        F::JsonMergePatch | F::JsonMergePreserve | F::JsonMerge | F::JsonRemove | F::JsonKeys | F::JsonLength => false,
        F::SubstringIndex => argument < 2,
        F::Locate => argument < 2,
        F::Insert => argument == 0 || argument == 3,
        F::DateFormat | F::TimeFormat | F::StrToDate | F::ConvertTz | F::Coercibility | F::Charset | F::Collation => false,
        F::WeightString | F::LikePattern | F::AesEncrypt | F::AesDecrypt | F::NameConst | F::GetFormat => false,
        F::RegexpLike | F::RegexpInstr | F::RegexpSubstr => argument < 2,
        F::RegexpReplace => argument < 3,
        F::JsonArray | F::JsonObject | F::JsonInsert | F::JsonReplace | F::JsonSet => false,
        F::JsonArrayAppend | F::JsonArrayInsert => false,
        // Strings that do not depend on the arguments' characters.
        F::Hex | F::Unhex | F::ToBase64 | F::FromBase64 | F::Format | F::Bin | F::Oct | F::Char | F::Space => false,
        F::DayName | F::MonthName | F::InetNtoa | F::Inet6Ntoa | F::Inet6Aton | F::BinToUuid | F::UuidToBin => false,
        F::JsonQuote | F::JsonUnquote | F::JsonType | F::JsonPretty | F::Compress | F::Uncompress => false,
        F::FormatBytes | F::FormatPicoTime => false,
        F::GetLock | F::AddTime | F::SubTime | F::TimeDiff | F::DateDiff | F::Conv | F::Sha2 => false,
        _ => true,
    }
}

/// Is this argument of a string function an integer: a position, a length, a count, bits?
pub(super) fn is_integer(function: F, argument: usize) -> bool {
    match function {
        F::Space | F::Elt | F::MakeSet | F::InetNtoa | F::RandomBytes | F::Sleep | F::FormatBytes => argument == 0,
        F::Left | F::Right | F::Substring | F::LPad | F::RPad | F::Repeat => {
            argument > 0 && !matches!((function, argument), (F::LPad | F::RPad, 2))
        }
        F::Insert => matches!(argument, 1 | 2),
        F::Locate | F::SubstringIndex => argument == 2,
        F::ExportSet => matches!(argument, 0 | 4),
        F::Format => argument < 2,
        F::Sha2 | F::Week | F::YearWeek | F::GetLock => argument == 1,
        F::Conv => argument > 0,
        F::Char | F::PeriodAdd | F::PeriodDiff => true,
        F::RegexpInstr | F::RegexpSubstr => matches!(argument, 2..5) && !(function == F::RegexpSubstr && argument == 4),
        F::RegexpReplace => matches!(argument, 3 | 4),
        _ => false,
    }
}

pub(super) fn is_numeric(function: F) -> bool {
    matches!(
        function,
        F::Abs | F::Ceiling | F::Floor | F::Round | F::Truncate | F::Sign | F::Sqrt | F::Pow | F::Exp | F::Ln | F::Log | F::Log2
    ) || matches!(
        function,
        F::Log10 | F::Sin | F::Cos | F::Tan | F::Asin | F::Acos | F::Atan | F::Cot | F::Degrees | F::Radians | F::BitCount
    )
}

fn constant_length(arg: Option<&Expr>) -> Option<u64> {
    match arg?.kind {
        ExprKind::Literal(Value::UInt(n)) => Some(n),
        _ => constant_integer(arg).map(|n| n.max(0).unsigned_abs()),
    }
}

/// The integer value of a literal.
fn constant_integer(arg: Option<&Expr>) -> Option<i64> {
    match &arg?.kind {
        ExprKind::Literal(value) => Some(types::convert::to_i64(value, &mut types::convert::Warnings::new())),
        _ => None,
    }
}

/// The longest string that a constant DATE_FORMAT format produces.
fn constant_length_of_format(arg: Option<&Expr>) -> Option<u64> {
    let ExprKind::Literal(Value::Bytes(format)) = &arg?.kind else { return None };
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match (byte, if *byte == b'%' { bytes.next() } else { None }) {
            (b'%', Some(b'M' | b'W')) => 64,
            (b'%', Some(b'a' | b'b')) => 32,
            (b'%', Some(b'D' | b'Y' | b'X' | b'x')) => 4,
            (b'%', Some(b'T')) => 8,
            // The hour of a TIME may have more than two digits.
            (b'%', Some(b'H' | b'k')) => 7,
            (b'%', Some(b'r')) => 11,
            (b'%', Some(b'f')) => 6,
            (b'%', Some(b'j')) => 3,
            (b'%', Some(b'w' | b'%')) => 1,
            (b'%', Some(_)) => 2,
            _ => 1,
        };
    }
    Some(length)
}

/// The constant precision of NOW(n) and its like.
fn precision(function: F, args: &[Expr]) -> Result<u8> {
    let name = match function {
        F::SysDate => "sysdate",
        F::UtcTimestamp => "utc_timestamp",
        F::CurTime => "curtime",
        F::UtcTime => "utc_time",
        _ => "now",
    };
    match args.first() {
        None => Ok(0),
        Some(arg) => match constant_integer(Some(arg)).and_then(|n| u64::try_from(n).ok()) {
            Some(n) if n <= 6 => Ok(n as u8),
            Some(n) => Err(crate::error::DefinitionError::TooBigPrecision {
                column: name.to_owned(),
                precision: u32::try_from(n).unwrap_or(u32::MAX),
                max: 6,
            }
            .into()),
            None => Err(Error::WrongArguments(name.to_owned())),
        },
    }
}

/// ROUND and TRUNCATE to a constant number of digits. `carry`: rounding may add a digit.
fn rounded(args: &[Expr], carry: u32) -> ColumnType {
    let digits = match args.get(1).map(|d| &d.kind) {
        None | Some(ExprKind::Literal(Value::Null)) => Some(0),
        Some(ExprKind::Literal(Value::UInt(n))) => Some(i64::try_from(*n).unwrap_or(i64::MAX)),
        Some(ExprKind::Literal(value)) => Some(types::convert::to_i64(value, &mut types::convert::Warnings::new())),
        _ => None,
    };
    match typing::numeric(&args[0]).kind {
        TypeKind::Decimal { precision, scale } => {
            let (precision, scale) = (u32::from(precision), u32::from(scale));
            match digits {
                Some(digits) => {
                    let kept = digits.clamp(0, 30) as u32;
                    let kept = kept.min(scale);
                    typing::decimal(precision - scale + kept + if kept < scale { carry } else { 0 }, kept)
                }
                None => typing::decimal(precision, scale),
            }
        }
        TypeKind::BigInt => typing::bigint(typing::numeric(&args[0]).unsigned),
        _ => typing::double(),
    }
}

/// The type of GREATEST and LEAST: numbers are compared as numbers; if there is a string, all are compared as strings.
fn extreme_type(args: &[Expr], collation: CollationId) -> ColumnType {
    let ty = typing::unify(args.iter(), collation);
    if ty.kind == TypeKind::Json {
        // JSON values are compared as strings here.
        return ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(LobSize::Long)) };
    }
    if matches!(ty.kind, TypeKind::VarChar { .. } | TypeKind::VarBinary { .. }) {
        // Times become strings with the largest number of fraction digits among the arguments.
        let fsp = args.iter().map(|arg| typing::fsp(&arg.ty)).max().unwrap_or(0);
        let length = |arg: &Expr| match arg.ty.kind {
            TypeKind::Time { .. } => typing::string_length(&ColumnType::new(TypeKind::Time { fsp })),
            TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => {
                typing::string_length(&ColumnType::new(TypeKind::DateTime { fsp }))
            }
            _ => 0,
        };
        let of_times = args.iter().map(length).max().unwrap_or(0);
        return typing::string(of_times.max(typing::string_length(&ty)), collation);
    }
    ty
}

fn added_time(args: &[Expr], collation: CollationId) -> ColumnType {
    let fsp = typing::fsp_of(&args[0]).max(typing::time_fsp_of(&args[1]));
    match class(&args[0].ty) {
        Class::Date | Class::DateTime => ColumnType::new(TypeKind::DateTime { fsp }),
        Class::Time => ColumnType::new(TypeKind::Time { fsp }),
        _ => typing::string(29, collation),
    }
}

/// The type of STR_TO_DATE with a constant format.
fn str_to_date(args: &[Expr]) -> ColumnType {
    let ExprKind::Literal(Value::Bytes(format)) = &args[1].kind else {
        return ColumnType::new(TypeKind::DateTime { fsp: 6 });
    };
    let specifiers: Vec<u8> = format.windows(2).filter(|w| w[0] == b'%').map(|w| w[1]).collect();
    let has = |set: &[u8]| specifiers.iter().any(|s| set.contains(s));
    // A format with a day and a time but no year or month gives a TIME: the day counts as 24 hours.
    let date = has(b"abcjmMuUvVwWxXyY");
    let time = has(b"fHhIiklprsST");
    let fsp = if has(b"f") { 6 } else { 0 };
    ColumnType::new(match (date, time) {
        (false, true) => TypeKind::Time { fsp },
        (true, true) => TypeKind::DateTime { fsp },
        _ => TypeKind::Date,
    })
}

/// Is a unit of an interval at least a day?
pub(super) fn is_of_days(unit: ast::IntervalUnit) -> bool {
    use ast::IntervalUnit as U;
    matches!(unit, U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth)
}

pub(super) fn date_add_type(date: &Expr, amount: &Expr, unit: ast::IntervalUnit, collation: CollationId) -> ColumnType {
    use ast::IntervalUnit as U;
    let date_only = is_of_days(unit);
    let has_days = matches!(unit, U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond);
    let amount_fsp = match unit {
        U::Microsecond | U::SecondMicrosecond | U::MinuteMicrosecond | U::HourMicrosecond | U::DayMicrosecond => 6,
        U::Second => match class(&amount.ty) {
            Class::Integer => 0,
            _ => typing::fsp(&amount.ty),
        },
        _ => 0,
    };
    let fsp = typing::fsp(&date.ty).max(amount_fsp);
    match class(&date.ty) {
        Class::Date if date_only => ColumnType::new(TypeKind::Date),
        Class::Date => ColumnType::new(TypeKind::DateTime { fsp: amount_fsp }),
        Class::DateTime => ColumnType::new(TypeKind::DateTime { fsp }),
        Class::Time if !date_only && !has_days => ColumnType::new(TypeKind::Time { fsp }),
        Class::Time => ColumnType::new(TypeKind::DateTime { fsp }),
        _ if matches!(date.kind, ExprKind::Param(_)) => ColumnType::new(TypeKind::DateTime { fsp: 6 }),
        _ if is_bits_literal(date) => typing::string(29, collation),
        _ => typing::string(29, collation),
    }
}
