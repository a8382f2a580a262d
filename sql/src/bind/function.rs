//! Calls of built-in functions: names, argument counts, result types.

use super::Binder;
use super::compare::{Coercibility, Derivation};
use super::expr::{adopt, is_bits_literal, numeric_operand};
use super::typing::{self, Class, class};
use crate::ast;
use crate::error::{Error, Result};
use crate::expr::{ArithmeticOp, CompareOp, Expr, ExprKind};
use crate::func::Function as F;
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

const ANY: usize = usize::MAX;

/// Function, fewest and most arguments. Names in capitals, in order.
static FUNCTIONS: &[(&str, F, usize, usize)] = &[
    ("ABS", F::Abs, 1, 1),
    ("ACOS", F::Acos, 1, 1),
    ("ADDTIME", F::AddTime, 2, 2),
    ("ANY_VALUE", F::AnyValue, 1, 1),
    ("ASCII", F::Ascii, 1, 1),
    ("ASIN", F::Asin, 1, 1),
    ("ATAN", F::Atan, 1, 2),
    ("ATAN2", F::Atan, 2, 2),
    ("BENCHMARK", F::Benchmark, 2, 2),
    ("BIN", F::Bin, 1, 1),
    ("BIT_COUNT", F::BitCount, 1, 1),
    ("BIT_LENGTH", F::BitLength, 1, 1),
    ("CEIL", F::Ceiling, 1, 1),
    ("CEILING", F::Ceiling, 1, 1),
    ("CHAR", F::Char, 1, ANY),
    ("CHARACTER_LENGTH", F::CharLength, 1, 1),
    ("CHARSET", F::Charset, 1, 1),
    ("CHAR_LENGTH", F::CharLength, 1, 1),
    ("COALESCE", F::Coalesce, 1, ANY),
    ("COERCIBILITY", F::Coercibility, 1, 1),
    ("COLLATION", F::Collation, 1, 1),
    ("CONCAT", F::Concat, 1, ANY),
    ("CONCAT_WS", F::ConcatWs, 2, ANY),
    ("CONNECTION_ID", F::ConnectionId, 0, 0),
    ("CONV", F::Conv, 3, 3),
    ("CONVERT_TZ", F::ConvertTz, 3, 3),
    ("COS", F::Cos, 1, 1),
    ("COT", F::Cot, 1, 1),
    ("CRC32", F::Crc32, 1, 1),
    ("CURDATE", F::CurDate, 0, 0),
    ("CURRENT_DATE", F::CurDate, 0, 0),
    ("CURRENT_TIME", F::CurTime, 0, 1),
    ("CURRENT_TIMESTAMP", F::Now, 0, 1),
    ("CURRENT_USER", F::CurrentUser, 0, 0),
    ("CURTIME", F::CurTime, 0, 1),
    ("DATABASE", F::Database, 0, 0),
    ("DATE", F::Date, 1, 1),
    ("DATEDIFF", F::DateDiff, 2, 2),
    ("DATE_FORMAT", F::DateFormat, 2, 2),
    ("DAY", F::Day, 1, 1),
    ("DAYNAME", F::DayName, 1, 1),
    ("DAYOFMONTH", F::Day, 1, 1),
    ("DAYOFWEEK", F::DayOfWeek, 1, 1),
    ("DAYOFYEAR", F::DayOfYear, 1, 1),
    ("DEGREES", F::Degrees, 1, 1),
    ("ELT", F::Elt, 2, ANY),
    ("EXP", F::Exp, 1, 1),
    ("EXPORT_SET", F::ExportSet, 3, 5),
    ("FIELD", F::Field, 2, ANY),
    ("FIND_IN_SET", F::FindInSet, 2, 2),
    ("FLOOR", F::Floor, 1, 1),
    ("FORMAT", F::Format, 2, 3),
    ("FOUND_ROWS", F::FoundRows, 0, 0),
    ("FROM_BASE64", F::FromBase64, 1, 1),
    ("FROM_DAYS", F::FromDays, 1, 1),
    ("FROM_UNIXTIME", F::FromUnixTime, 1, 2),
    ("GET_LOCK", F::GetLock, 2, 2),
    ("GREATEST", F::Greatest, 2, ANY),
    ("HEX", F::Hex, 1, 1),
    ("HOUR", F::Hour, 1, 1),
    ("IF", F::If, 3, 3),
    ("IFNULL", F::IfNull, 2, 2),
    ("INET_ATON", F::InetAton, 1, 1),
    ("INET_NTOA", F::InetNtoa, 1, 1),
    ("INSERT", F::Insert, 4, 4),
    ("INSTR", F::Instr, 2, 2),
    ("INTERVAL", F::Interval, 2, ANY),
    ("ISNULL", F::IsNull, 1, 1),
    ("IS_FREE_LOCK", F::IsFreeLock, 1, 1),
    ("IS_USED_LOCK", F::IsUsedLock, 1, 1),
    ("JSON_ARRAY", F::JsonArray, 0, ANY),
    ("JSON_CONTAINS", F::JsonContains, 2, 3),
    ("JSON_EXTRACT", F::JsonExtract, 2, ANY),
    ("JSON_KEYS", F::JsonKeys, 1, 2),
    ("JSON_LENGTH", F::JsonLength, 1, 2),
    ("JSON_OBJECT", F::JsonObject, 0, ANY),
    ("JSON_TYPE", F::JsonType, 1, 1),
    ("JSON_UNQUOTE", F::JsonUnquote, 1, 1),
    ("JSON_VALID", F::JsonValid, 1, 1),
    ("LAST_DAY", F::LastDay, 1, 1),
    ("LAST_INSERT_ID", F::LastInsertId, 0, 1),
    ("LCASE", F::Lower, 1, 1),
    ("LEAST", F::Least, 2, ANY),
    ("LEFT", F::Left, 2, 2),
    ("LENGTH", F::Length, 1, 1),
    ("LN", F::Ln, 1, 1),
    ("LOCALTIME", F::Now, 0, 1),
    ("LOCALTIMESTAMP", F::Now, 0, 1),
    ("LOCATE", F::Locate, 2, 3),
    ("LOG", F::Log, 1, 2),
    ("LOG10", F::Log10, 1, 1),
    ("LOG2", F::Log2, 1, 1),
    ("LOWER", F::Lower, 1, 1),
    ("LPAD", F::LPad, 3, 3),
    ("LTRIM", F::LTrim, 1, 1),
    ("MAKEDATE", F::MakeDate, 2, 2),
    ("MAKETIME", F::MakeTime, 3, 3),
    ("MAKE_SET", F::MakeSet, 2, ANY),
    ("MD5", F::Md5, 1, 1),
    ("MICROSECOND", F::Microsecond, 1, 1),
    ("MINUTE", F::Minute, 1, 1),
    ("MOD", F::Mod, 2, 2),
    ("MONTH", F::Month, 1, 1),
    ("MONTHNAME", F::MonthName, 1, 1),
    ("NOW", F::Now, 0, 1),
    ("NULLIF", F::NullIf, 2, 2),
    ("OCT", F::Oct, 1, 1),
    ("OCTET_LENGTH", F::Length, 1, 1),
    ("ORD", F::Ord, 1, 1),
    ("PERIOD_ADD", F::PeriodAdd, 2, 2),
    ("PERIOD_DIFF", F::PeriodDiff, 2, 2),
    ("PI", F::Pi, 0, 0),
    ("POW", F::Pow, 2, 2),
    ("POWER", F::Pow, 2, 2),
    ("QUARTER", F::Quarter, 1, 1),
    ("QUOTE", F::Quote, 1, 1),
    ("RADIANS", F::Radians, 1, 1),
    ("RAND", F::Rand, 0, 1),
    ("REGEXP_LIKE", F::RegexpLike, 2, 3),
    ("RELEASE_ALL_LOCKS", F::ReleaseAllLocks, 0, 0),
    ("RELEASE_LOCK", F::ReleaseLock, 1, 1),
    ("REPEAT", F::Repeat, 2, 2),
    ("REPLACE", F::Replace, 3, 3),
    ("REVERSE", F::Reverse, 1, 1),
    ("RIGHT", F::Right, 2, 2),
    ("ROUND", F::Round, 1, 2),
    ("ROW_COUNT", F::RowCount, 0, 0),
    ("RPAD", F::RPad, 3, 3),
    ("RTRIM", F::RTrim, 1, 1),
    ("SCHEMA", F::Database, 0, 0),
    ("SECOND", F::Second, 1, 1),
    ("SEC_TO_TIME", F::SecToTime, 1, 1),
    ("SESSION_USER", F::SessionUser, 0, 0),
    ("SHA", F::Sha1, 1, 1),
    ("SHA1", F::Sha1, 1, 1),
    ("SHA2", F::Sha2, 2, 2),
    ("SIGN", F::Sign, 1, 1),
    ("SIN", F::Sin, 1, 1),
    ("SLEEP", F::Sleep, 1, 1),
    ("SPACE", F::Space, 1, 1),
    ("SQRT", F::Sqrt, 1, 1),
    ("STRCMP", F::StrCmp, 2, 2),
    ("STR_TO_DATE", F::StrToDate, 2, 2),
    ("SUBSTRING", F::Substring, 2, 3),
    ("SUBSTRING_INDEX", F::SubstringIndex, 3, 3),
    ("SUBTIME", F::SubTime, 2, 2),
    ("SYSDATE", F::SysDate, 0, 1),
    ("SYSTEM_USER", F::SystemUser, 0, 0),
    ("TAN", F::Tan, 1, 1),
    ("TIME", F::Time, 1, 1),
    ("TIMEDIFF", F::TimeDiff, 2, 2),
    ("TIMESTAMP", F::Timestamp, 1, 2),
    ("TIME_FORMAT", F::TimeFormat, 2, 2),
    ("TIME_TO_SEC", F::TimeToSec, 1, 1),
    ("TO_BASE64", F::ToBase64, 1, 1),
    ("TO_DAYS", F::ToDays, 1, 1),
    ("TO_SECONDS", F::ToSeconds, 1, 1),
    ("TRUNCATE", F::Truncate, 2, 2),
    ("UCASE", F::Upper, 1, 1),
    ("UNHEX", F::Unhex, 1, 1),
    ("UNIX_TIMESTAMP", F::UnixTimestamp, 0, 1),
    ("UPPER", F::Upper, 1, 1),
    ("USER", F::User, 0, 0),
    ("UTC_DATE", F::UtcDate, 0, 0),
    ("UTC_TIME", F::UtcTime, 0, 1),
    ("UTC_TIMESTAMP", F::UtcTimestamp, 0, 1),
    ("UUID", F::Uuid, 0, 0),
    ("VERSION", F::Version, 0, 0),
    ("WEEK", F::Week, 1, 2),
    ("WEEKDAY", F::Weekday, 1, 1),
    ("WEEKOFYEAR", F::WeekOfYear, 1, 1),
    ("YEAR", F::Year, 1, 1),
    ("YEARWEEK", F::YearWeek, 1, 2),
];

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &ast::Call<'_>) -> Result<Expr> {
        let name = call.name.name;
        if let Some(database) = call.name.database {
            return Err(Error::UnknownFunction(format!("{database}.{name}")));
        }
        if call.apart {
            let Some(database) = self.context.database() else { return Err(Error::NoDatabase) };
            return Err(Error::FunctionApart(format!("{database}.{name}")));
        }
        let upper = name.to_ascii_uppercase();
        let Ok(found) = FUNCTIONS.binary_search_by(|entry| entry.0.cmp(upper.as_str())) else {
            return Err(self.unknown_function(name, &upper));
        };
        let (_, function, fewest, most) = FUNCTIONS[found];
        if call.args.len() < fewest || call.args.len() > most {
            return Err(Error::WrongParamCount(name.to_owned()));
        }
        let mut args = Vec::with_capacity(call.args.len());
        let mut derivation = Derivation::IGNORABLE;
        let mut first = Derivation::IGNORABLE;
        for (n, arg) in call.args.iter().enumerate() {
            args.push(self.value(arg)?);
            if n == 0 {
                first = self.derivation;
            }
            if takes_part_in_collation(function, n) {
                derivation = derivation.combine(self.derivation, &name.to_lowercase())?;
            }
        }
        if upper == "MOD" {
            return Ok(self.arithmetic(ArithmeticOp::Modulo, args[0].clone(), args[1].clone()));
        }
        self.finish_call(function, args, derivation, first, call.using)
    }

    #[cold]
    fn unknown_function(&self, name: &str, upper: &str) -> Error {
        const NOT_YET: &[&str] = &[
            "AES_DECRYPT",
            "AES_ENCRYPT",
            "BIN_TO_UUID",
            "COMPRESS",
            "EXTRACTVALUE",
            "FORMAT_BYTES",
            "GET_FORMAT",
            "INET6_ATON",
            "INET6_NTOA",
            "IS_UUID",
            "JSON_ARRAYAGG",
            "JSON_ARRAY_APPEND",
            "JSON_ARRAY_INSERT",
            "JSON_CONTAINS_PATH",
            "JSON_DEPTH",
            "JSON_INSERT",
            "JSON_MERGE_PATCH",
            "JSON_MERGE_PRESERVE",
            "JSON_OBJECTAGG",
            "JSON_OVERLAPS",
            "JSON_PRETTY",
            "JSON_QUOTE",
            "JSON_REMOVE",
            "JSON_REPLACE",
            "JSON_SCHEMA_VALID",
            "JSON_SEARCH",
            "JSON_SET",
            "JSON_STORAGE_SIZE",
            "JSON_VALUE",
            "LOAD_FILE",
            "NAME_CONST",
            "RANDOM_BYTES",
            "REGEXP_INSTR",
            "REGEXP_REPLACE",
            "REGEXP_SUBSTR",
            "SOUNDEX",
            "UNCOMPRESS",
            "UPDATEXML",
            "UUID_SHORT",
            "UUID_TO_BIN",
            "WEIGHT_STRING",
        ];
        if NOT_YET.contains(&upper) || upper.starts_with("ST_") {
            return Error::NotSupported(upper.to_owned());
        }
        match self.context.database() {
            Some(database) => Error::UnknownFunction(format!("{database}.{name}")),
            None => Error::NoDatabase,
        }
    }

    /// Types a call whose arguments are bound.
    fn finish_call(
        &mut self,
        function: F,
        mut args: Vec<Expr>,
        derivation: Derivation,
        first: Derivation,
        using: Option<&str>,
    ) -> Result<Expr> {
        match function {
            F::IsNull => {
                let arg = args.remove(0);
                return Ok(self.boolean(ExprKind::IsNull { arg: Box::new(arg), negated: false }, false));
            }
            F::NullIf => return self.null_if(args, derivation),
            F::Coercibility => {
                let level = match first.level {
                    Coercibility::Explicit => 0,
                    Coercibility::Implicit => 2,
                    Coercibility::SystemConstant => 3,
                    Coercibility::Coercible => 4,
                    Coercibility::Numeric => 5,
                    Coercibility::Ignorable => 6,
                };
                self.derivation = Derivation::NUMERIC;
                return Ok(super::literal::integer(level));
            }
            F::AnyValue => return Ok(args.remove(0)),
            _ => {}
        }
        self.adopt_args(function, &mut args);
        if is_numeric(function) {
            args = args.into_iter().map(numeric_operand).collect();
        }
        let collation = self.string_collation(derivation);
        let ty = self.call_type(function, &args, collation, using)?;
        let nullable = self.call_nullable(function, &args);
        self.derivation = match class(&ty) {
            Class::String => {
                let level = match function {
                    F::User | F::CurrentUser | F::SessionUser | F::SystemUser | F::Database | F::Version => {
                        Coercibility::SystemConstant
                    }
                    _ if derivation.level == Coercibility::Explicit => Coercibility::Explicit,
                    _ if derivation.level <= Coercibility::Implicit => Coercibility::Implicit,
                    _ => Coercibility::Coercible,
                };
                Derivation { collation: ty.collation, level }
            }
            _ => Derivation::NUMERIC,
        };
        Ok(Expr { kind: ExprKind::Call { function, args }, ty, nullable })
    }

    /// Types for parameters among the arguments: text for text functions, the first typed argument's for the choosing ones.
    fn adopt_args(&self, function: F, args: &mut [Expr]) {
        let known = args.iter().find(|a| a.ty.kind != TypeKind::Null).map(|a| a.ty.clone());
        let ty = if is_numeric(function) {
            typing::double()
        } else {
            match function {
                F::If | F::IfNull | F::Coalesce | F::Greatest | F::Least | F::Field | F::Interval => {
                    known.unwrap_or_else(|| self.text())
                }
                F::Sleep => typing::double(),
                _ => self.text(),
            }
        };
        for arg in args {
            adopt(arg, &ty);
        }
    }

    fn text(&self) -> ColumnType {
        typing::string(16_383, self.context.connection_collation())
    }

    fn null_if(&mut self, mut args: Vec<Expr>, derivation: Derivation) -> Result<Expr> {
        let (second, first) = (args.pop().expect("two arguments"), args.pop().expect("two arguments"));
        let equal = self.comparison(CompareOp::Equal, first.clone(), second, derivation)?;
        let ty = first.ty.clone();
        self.derivation = derivation;
        let null = Expr::literal(Value::Null, ColumnType::new(TypeKind::Null));
        Ok(Expr { kind: ExprKind::Case { whens: vec![(equal, null)], otherwise: Some(Box::new(first)) }, ty, nullable: true })
    }

    pub(super) fn concat(&mut self, left: &ast::Expr<'_>, right: &ast::Expr<'_>) -> Result<Expr> {
        let left = self.value(left)?;
        let derivation = self.derivation;
        let right = self.value(right)?;
        let derivation = derivation.combine(self.derivation, "concat")?;
        self.finish_call(F::Concat, vec![left, right], derivation, derivation, None)
    }

    fn call_nullable(&self, function: F, args: &[Expr]) -> bool {
        let any = args.iter().any(|a| a.nullable);
        match function {
            F::Coalesce | F::IfNull => args.iter().all(|a| a.nullable),
            F::If => args[1].nullable || args[2].nullable,
            F::Degrees
            | F::Radians
            | F::Length
            | F::CharLength
            | F::BitLength
            | F::Upper
            | F::Lower
            | F::Substring
            | F::SubstringIndex
            | F::Trim
            | F::LTrim
            | F::RTrim
            | F::Reverse
            | F::Replace
            | F::Locate
            | F::Instr
            | F::Ascii
            | F::Ord
            | F::Md5
            | F::Sha1
            | F::Crc32
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
            | F::Benchmark => false,
            F::LastInsertId | F::UnixTimestamp => any,
            _ => true,
        }
    }

    fn call_type(&self, function: F, args: &[Expr], collation: CollationId, using: Option<&str>) -> Result<ColumnType> {
        let connection = self.context.connection_collation();
        let text = |length: u64| typing::string(length, connection);
        let length = |n: usize| typing::string_length(&args[n].ty);
        let ty = match function {
            // Strings as long as their arguments.
            F::Concat => typing::string(args.iter().map(|a| typing::string_length(&a.ty)).sum(), collation),
            F::ConcatWs => {
                let parts: u64 = args[1..].iter().map(|a| typing::string_length(&a.ty)).sum();
                typing::string(parts + length(0) * (args.len() as u64 - 2), collation)
            }
            F::Upper | F::Lower | F::Reverse | F::SubstringIndex | F::Trim | F::LTrim | F::RTrim => {
                typing::string(length(0), collation)
            }
            F::Left | F::Right | F::Substring => {
                let mut most = length(0);
                if function == F::Substring {
                    most = constant_length(args.get(1)).filter(|n| *n > 0).map_or(most, |from| most.saturating_sub(from - 1));
                }
                let wanted = constant_length(args.last()).filter(|_| function != F::Substring || args.len() == 3);
                typing::string(wanted.map_or(most, |n| n.min(most)), collation)
            }
            F::LPad | F::RPad | F::Space => {
                typing::string(constant_length(args.get(if function == F::Space { 0 } else { 1 })).unwrap_or(LONG), collation)
            }
            F::Repeat => {
                let count = constant_length(args.get(1));
                typing::string(count.map_or(LONG, |n| n.saturating_mul(length(0)).min(LONG)), collation)
            }
            F::Replace => {
                let (from, to) = (length(1).max(1), length(2));
                typing::string(
                    if to > from { (length(0) / from).saturating_mul(to).max(length(0)).min(LONG) } else { length(0) },
                    collation,
                )
            }
            F::Insert => typing::string(length(0) + length(3), collation),
            F::Elt => typing::string(args[1..].iter().map(|a| typing::string_length(&a.ty)).max().unwrap_or(0), collation),
            F::MakeSet => typing::string(args[1..].iter().map(|a| typing::string_length(&a.ty) + 1).sum(), collation),
            F::ExportSet => typing::string(64 * (length(1).max(length(2)) + args.get(3).map_or(1, |_| length(3))), collation),
            F::Quote => typing::string(length(0) * 2 + 2, collation),
            F::Char => match using {
                Some(charset) => {
                    let collation = CollationId::of_charset(charset).ok_or_else(|| Error::UnknownCharset(charset.to_owned()))?;
                    typing::string(args.len() as u64 * 4, collation)
                }
                None => typing::string(args.len() as u64 * 4, CollationId::BINARY),
            },
            // Strings of their own.
            F::Hex => text(match class(&args[0].ty) {
                Class::String => length(0) * typing::bytes_per_char(args[0].ty.collation) * 2,
                _ => 16,
            }),
            F::Unhex => typing::string(length(0).div_ceil(2), CollationId::BINARY),
            F::FromBase64 => typing::string(length(0) * 3 / 4 + 1, CollationId::BINARY),
            F::ToBase64 => text((length(0) * typing::bytes_per_char(args[0].ty.collation)).div_ceil(3) * 4 * 77 / 76 + 1),
            F::Md5 => text(32),
            F::Sha1 => text(40),
            F::Sha2 => text(match constant_length(args.get(1)) {
                Some(bits @ (224 | 384 | 512)) => bits / 4,
                Some(_) => 64,
                None => 128,
            }),
            F::Uuid => ColumnType { collation: CollationId::of_charset("utf8mb3").unwrap_or(connection), ..text(36) },
            F::Bin | F::Conv => text(64),
            F::Oct => text(22),
            F::Format => text(length(0) + length(0) / 3 + 32),
            F::Charset | F::Collation | F::Database => system_text(64),
            F::User | F::CurrentUser | F::SessionUser | F::SystemUser => system_text(288),
            F::Version => system_text(60),
            F::InetNtoa => text(31),
            F::DayName | F::MonthName => text(9),
            F::DateFormat | F::TimeFormat => text(constant_length_of_format(args.get(1)).unwrap_or(length(1) * 10)),
            F::JsonUnquote => {
                ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(LobSize::Long)) }
            }
            F::JsonType => ColumnType { collation: CollationId::UTF8MB4_0900_AI_CI, ..text(17) },
            F::JsonExtract | F::JsonObject | F::JsonArray | F::JsonKeys => ColumnType::new(TypeKind::Json),
            // The argument's type.
            F::Abs => typing::numeric(&args[0]),
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
            F::Now | F::SysDate | F::UtcTimestamp => ColumnType::new(TypeKind::DateTime { fsp: precision(args)? }),
            F::CurTime | F::UtcTime => ColumnType::new(TypeKind::Time { fsp: precision(args)? }),
            F::CurDate | F::UtcDate | F::Date | F::FromDays | F::LastDay | F::MakeDate => ColumnType::new(TypeKind::Date),
            F::Time => ColumnType::new(TypeKind::Time { fsp: typing::fsp_of(&args[0]) }),
            F::Timestamp => ColumnType::new(TypeKind::DateTime { fsp: args.iter().map(typing::fsp_of).max().unwrap_or(0) }),
            F::TimeDiff => ColumnType::new(TypeKind::Time { fsp: typing::fsp_of(&args[0]).max(typing::fsp_of(&args[1])) }),
            F::AddTime | F::SubTime => added_time(args, connection),
            F::SecToTime => ColumnType::new(TypeKind::Time { fsp: typing::fsp_of(&args[0]) }),
            F::MakeTime => ColumnType::new(TypeKind::Time { fsp: typing::fsp_of(&args[2]) }),
            F::FromUnixTime if args.len() == 1 => ColumnType::new(TypeKind::DateTime { fsp: typing::fsp_of(&args[0]) }),
            F::FromUnixTime => text(constant_length_of_format(args.get(1)).unwrap_or(length(1) * 10)),
            F::ConvertTz => ColumnType::new(TypeKind::DateTime { fsp: typing::fsp_of(&args[0]) }),
            F::StrToDate => str_to_date(args),
            F::UnixTimestamp => match args.first() {
                Some(arg) if typing::fsp_of(arg) > 0 => {
                    let fsp = u32::from(typing::fsp_of(arg));
                    typing::decimal(11 + fsp, fsp)
                }
                _ => typing::bigint(false),
            },
            F::Year => ColumnType::unsigned(TypeKind::Year),
            F::Crc32 | F::InetAton => typing::bigint(true),
            F::ConnectionId | F::LastInsertId => typing::bigint(true),
            F::RegexpLike | F::JsonValid | F::JsonContains => typing::boolean(),
            _ => typing::bigint(false),
        };
        Ok(ty)
    }

    pub(super) fn date_arithmetic(&mut self, date: &ast::DateArithmetic<'_>) -> Result<Expr> {
        let mut value = self.value(&date.date)?;
        let derivation = self.derivation;
        let mut amount = self.value(&date.amount)?;
        adopt(&mut value, &ColumnType::new(TypeKind::DateTime { fsp: 6 }));
        adopt(&mut amount, &self.text());
        let ty = date_add_type(&value, &amount, date.unit, self.string_collation(derivation));
        let unit = self.unit(date.unit);
        let function = if date.subtract { F::DateSub } else { F::DateAdd };
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        Ok(Expr { kind: ExprKind::Call { function, args: vec![value, amount, unit] }, ty, nullable: true })
    }

    fn unit(&self, unit: ast::IntervalUnit) -> Expr {
        let name = unit.name();
        let value = Value::Bytes(std::borrow::Cow::Borrowed(name.as_bytes()));
        Expr::literal(value, typing::string(name.len() as u64, CollationId::UTF8MB4_BIN))
    }

    pub(super) fn extract(&mut self, unit: ast::IntervalUnit, arg: &ast::Expr<'_>) -> Result<Expr> {
        let mut arg = self.value(arg)?;
        adopt(&mut arg, &ColumnType::new(TypeKind::DateTime { fsp: 6 }));
        self.derivation = Derivation::NUMERIC;
        let args = vec![self.unit(unit), arg];
        Ok(Expr { kind: ExprKind::Call { function: F::Extract, args }, ty: typing::bigint(false), nullable: true })
    }

    pub(super) fn unit_call(
        &mut self,
        function: ast::UnitFunction,
        unit: ast::IntervalUnit,
        args: &[ast::Expr<'_>; 2],
    ) -> Result<Expr> {
        let first = self.value(&args[0])?;
        let second = self.value(&args[1])?;
        let (function, ty) = match function {
            ast::UnitFunction::TimestampAdd => {
                let collation = self.context.connection_collation();
                (F::TimestampAdd, date_add_type(&second, &first, unit, collation))
            }
            ast::UnitFunction::TimestampDiff => (F::TimestampDiff, typing::bigint(false)),
        };
        self.derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        };
        let args = vec![self.unit(unit), first, second];
        Ok(Expr { kind: ExprKind::Call { function, args }, ty, nullable: true })
    }

    pub(super) fn trim(&mut self, side: ast::TrimSide, what: Option<&ast::Expr<'_>>, text: &ast::Expr<'_>) -> Result<Expr> {
        let text = self.value(text)?;
        let mut derivation = self.derivation;
        let mut args = vec![text];
        if let Some(what) = what {
            args.push(self.value(what)?);
            derivation = derivation.combine(self.derivation, "trim")?;
        }
        let function = match side {
            ast::TrimSide::Both => F::Trim,
            ast::TrimSide::Leading => F::LTrim,
            ast::TrimSide::Trailing => F::RTrim,
        };
        self.finish_call(function, args, derivation, derivation, None)
    }
}

/// What REPEAT and its like may grow to when their count is not known.
const LONG: u64 = 16_777_216;

fn system_text(length: u64) -> ColumnType {
    let collation = CollationId::of_charset("utf8mb3").unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
    ColumnType { collation, ..ColumnType::new(TypeKind::VarChar { length: length as u32 }) }
}

/// Do this argument's characters get into the result (or a comparison)?
fn takes_part_in_collation(function: F, argument: usize) -> bool {
    match function {
        F::Left | F::Right | F::Substring | F::Repeat | F::Round => argument == 0,
        F::LPad | F::RPad => argument != 1,
        F::If | F::Elt | F::MakeSet | F::Interval => argument > 0,
        F::SubstringIndex => argument < 2,
        F::Locate => argument < 2,
        F::Insert => argument == 0 || argument == 3,
        F::DateFormat | F::TimeFormat | F::StrToDate | F::ConvertTz | F::Coercibility | F::Charset | F::Collation => false,
        F::GetLock | F::AddTime | F::SubTime | F::TimeDiff | F::DateDiff | F::Conv | F::Sha2 => false,
        _ => true,
    }
}

fn is_numeric(function: F) -> bool {
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
        ExprKind::Literal(Value::Int(n)) => Some(n.max(0) as u64),
        ExprKind::Literal(Value::UInt(n)) => Some(n),
        _ => None,
    }
}

/// The longest text that a constant DATE_FORMAT format gives.
fn constant_length_of_format(arg: Option<&Expr>) -> Option<u64> {
    let ExprKind::Literal(Value::Bytes(format)) = &arg?.kind else { return None };
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match (byte, if *byte == b'%' { bytes.next() } else { None }) {
            (b'%', Some(b'M' | b'W')) => 64,
            (b'%', Some(b'a' | b'b')) => 32,
            (b'%', Some(b'Y' | b'X' | b'x')) => 4,
            (b'%', Some(b'D' | b'T')) => 8,
            (b'%', Some(b'r')) => 11,
            (b'%', Some(b'f')) => 6,
            (b'%', Some(b'j')) => 3,
            (b'%', Some(_)) => 2,
            _ => 1,
        };
    }
    Some(length)
}

/// The constant precision of NOW(n).
fn precision(args: &[Expr]) -> Result<u8> {
    match args.first() {
        None => Ok(0),
        Some(arg) => match constant_length(Some(arg)) {
            Some(n) if n <= 6 => Ok(n as u8),
            Some(n) => Err(crate::error::DefinitionError::TooBigPrecision {
                column: "now".to_owned(),
                precision: u32::try_from(n).unwrap_or(u32::MAX),
                max: 6,
            }
            .into()),
            None => Err(Error::WrongArguments("now".to_owned())),
        },
    }
}

/// ROUND and TRUNCATE to a constant number of digits; rounding may carry into one more.
fn rounded(args: &[Expr], carry: u32) -> ColumnType {
    let digits = match args.get(1).map(|d| &d.kind) {
        None => Some(0),
        Some(ExprKind::Literal(Value::Int(n))) => Some(*n),
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
        TypeKind::BigInt => typing::bigint(typing::is_unsigned(&args[0].ty)),
        _ => typing::double(),
    }
}

/// GREATEST and LEAST compare: numbers as numbers, anything with a string as strings.
fn extreme_type(args: &[Expr], collation: CollationId) -> ColumnType {
    typing::unify(args.iter(), collation)
}

fn added_time(args: &[Expr], collation: CollationId) -> ColumnType {
    let fsp = typing::fsp_of(&args[0]).max(typing::fsp_of(&args[1]));
    match class(&args[0].ty) {
        Class::Date | Class::DateTime => ColumnType::new(TypeKind::DateTime { fsp }),
        Class::Time => ColumnType::new(TypeKind::Time { fsp }),
        _ => typing::string(29, collation),
    }
}

/// The kind of date that a constant format of STR_TO_DATE makes.
fn str_to_date(args: &[Expr]) -> ColumnType {
    let ExprKind::Literal(Value::Bytes(format)) = &args[1].kind else {
        return ColumnType::new(TypeKind::DateTime { fsp: 6 });
    };
    let specifiers: Vec<u8> = format.windows(2).filter(|w| w[0] == b'%').map(|w| w[1]).collect();
    let has = |set: &[u8]| specifiers.iter().any(|s| set.contains(s));
    let date = has(b"abcdDejmMuUvVwWxXyY");
    let time = has(b"fHhIiklprsST");
    let fsp = if has(b"f") { 6 } else { 0 };
    ColumnType::new(match (date, time) {
        (false, true) => TypeKind::Time { fsp },
        (true, true) => TypeKind::DateTime { fsp },
        _ => TypeKind::Date,
    })
}

fn date_add_type(date: &Expr, amount: &Expr, unit: ast::IntervalUnit, collation: CollationId) -> ColumnType {
    use ast::IntervalUnit as U;
    let date_only = matches!(unit, U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth);
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
        Class::Time if !date_only => ColumnType::new(TypeKind::Time { fsp }),
        Class::Time => ColumnType::new(TypeKind::DateTime { fsp }),
        _ if matches!(date.kind, ExprKind::Param(_)) => ColumnType::new(TypeKind::DateTime { fsp: 6 }),
        _ if is_bits_literal(date) => typing::string(29, collation),
        _ => typing::string(29, collation),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(FUNCTIONS.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
