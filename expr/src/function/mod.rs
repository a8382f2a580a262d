//! The built-in functions, by area. [`call`] finds the area; each area's file computes.
//!
//! F1: a function that gets a NULL argument answers NULL, unless MySQL's manual says otherwise.
//! F2: no function takes longer than its input, its output and the work that it asks for (rounds of a cipher, steps of a pattern) make
//!     necessary, and what takes long is counted (`types::work`), so that others run meanwhile and a KILL ends it.

mod cipher;
mod control;
mod date;
mod date_format;
mod encode;
mod extreme;
mod forms;
pub use forms::pico_time;
pub use time_names::{LOCALE_NAMES, TimeNames};
mod identifier;
mod information;
mod json;
mod locale;
mod math;
mod regexp;
mod regexp_syntax;
mod str_to_date;
mod string;
mod time_names;

pub use date::interval;
pub(crate) use date::{month_and_day, moved_time_as_text};
pub use json::{binary_json, deep_json, json_value, null_member_name, read_document, scalar_of};
pub(crate) use json::{document_of, document_of_expr, parse_document};
pub use regexp::Patterns;
pub(crate) use string::{char_count, char_offset, wide_characters};

use crate::eval::{Env, Evaluated};
use crate::func::Function;
use crate::tree::Expr;

/// The outcome of a call, unless it was stopped, which it does not tell.
#[inline]
fn finished(outcome: Evaluated<'_>) -> Evaluated<'_> {
    types::work::finish()?;
    outcome
}

/// Computes a call.
pub(crate) fn call<'a>(env: &Env<'a>, function: Function, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    use Function as F;
    match function {
        F::Concat
        | F::ConcatWs
        | F::Length
        | F::CharLength
        | F::BitLength
        | F::MemberNumber
        | F::Upper
        | F::Lower
        | F::Substring
        | F::SubstringIndex
        | F::Left
        | F::Right
        | F::Trim
        | F::LTrim
        | F::RTrim
        | F::LPad
        | F::RPad
        | F::Repeat
        | F::Reverse
        | F::Replace
        | F::Locate
        | F::Instr
        | F::Position
        | F::Space
        | F::Ascii
        | F::Ord
        | F::Char
        | F::Insert
        | F::Field
        | F::FindInSet
        | F::Elt
        | F::StrCmp
        | F::Quote
        | F::MakeSet
        | F::ExportSet => string::call(env, function, node, args),
        F::Hex
        | F::Unhex
        | F::Format
        | F::Md5
        | F::Sha1
        | F::Sha2
        | F::Crc32
        | F::ToBase64
        | F::FromBase64
        | F::Bin
        | F::Oct
        | F::Conv
        | F::Uuid
        | F::InetAton
        | F::InetNtoa => encode::call(env, function, args),
        F::Mod => crate::arithmetic::eval(env, node, crate::tree::ArithmeticOp::Modulo, &args[0], &args[1]),
        F::Abs
        | F::Ceiling
        | F::Floor
        | F::Round
        | F::Truncate
        | F::Sign
        | F::Sqrt
        | F::Pow
        | F::Exp
        | F::Ln
        | F::Log
        | F::Log2
        | F::Log10
        | F::Sin
        | F::Cos
        | F::Tan
        | F::Asin
        | F::Acos
        | F::Atan
        | F::Cot
        | F::Degrees
        | F::Radians
        | F::Pi
        | F::Rand
        | F::Greatest
        | F::Least
        | F::BitCount
        | F::Interval => math::call(env, function, node, args),
        F::If | F::IfNull | F::NullIf | F::Coalesce | F::IsNull | F::AnyValue => control::call(env, function, node, args),
        F::Now
        | F::SysDate
        | F::CurDate
        | F::CurTime
        | F::UtcDate
        | F::UtcTime
        | F::UtcTimestamp
        | F::Date
        | F::Time
        | F::Timestamp
        | F::Year
        | F::Month
        | F::Day
        | F::DayOfWeek
        | F::DayOfYear
        | F::DayName
        | F::MonthName
        | F::Weekday
        | F::Week
        | F::YearWeek
        | F::WeekOfYear
        | F::Quarter
        | F::Hour
        | F::Minute
        | F::Second
        | F::Microsecond
        | F::DateDiff
        | F::TimeDiff
        | F::DateAdd
        | F::DateSub
        | F::AddTime
        | F::SubTime
        | F::TimestampDiff
        | F::TimestampAdd
        | F::UnixTimestamp
        | F::FromUnixTime
        | F::ToDays
        | F::FromDays
        | F::ToSeconds
        | F::TimeToSec
        | F::SecToTime
        | F::LastDay
        | F::MakeDate
        | F::MakeTime
        | F::DateFormat
        | F::TimeFormat
        | F::StrToDate
        | F::Extract
        | F::PeriodAdd
        | F::PeriodDiff
        | F::ConvertTz
        | F::ToUtc
        | F::ToYear => date::call(env, function, node, args),
        F::Charset
        | F::Collation
        | F::Coercibility
        | F::Database
        | F::User
        | F::CurrentUser
        | F::SessionUser
        | F::SystemUser
        | F::Version
        | F::ConnectionId
        | F::LastInsertId
        | F::RowCount
        | F::FoundRows
        | F::Sleep
        | F::Benchmark
        | F::GetLock
        | F::ReleaseLock
        | F::IsFreeLock
        | F::IsUsedLock
        | F::ReleaseAllLocks
        | F::LoadFile
        | F::NameConst
        | F::PasswordStrength
        | F::PsCurrentThreadId
        | F::PsThreadId
        | F::CurrentRole
        | F::IcuVersion
        | F::RolesGraphml => information::call(env, function, args),
        F::JsonExtract
        | F::JsonUnquote
        | F::JsonValid
        | F::JsonObject
        | F::JsonArray
        | F::JsonLength
        | F::JsonType
        | F::JsonContains
        | F::JsonKeys
        | F::JsonArrayAppend
        | F::JsonArrayInsert
        | F::JsonContainsPath
        | F::JsonDepth
        | F::JsonInsert
        | F::JsonMerge
        | F::JsonMergePatch
        | F::JsonMergePreserve
        | F::JsonMemberOf
        | F::JsonOverlaps
        | F::JsonPretty
        | F::JsonQuote
        | F::JsonRemove
        | F::JsonReplace
        | F::JsonSchemaReport
        | F::JsonSchemaValid
        | F::JsonSearch
        | F::JsonSet
        | F::JsonStorageFree
        | F::JsonStorageSize
        | F::JsonValue => finished(json::call(env, function, node, args)),
        F::RegexpLike | F::RegexpInstr | F::RegexpReplace | F::RegexpSubstr => regexp::call(env, function, args),
        F::AesDecrypt | F::AesEncrypt | F::Compress | F::Uncompress | F::UncompressedLength | F::RandomBytes => {
            cipher::call(env, function, args)
        }
        F::BinToUuid
        | F::UuidToBin
        | F::UuidShort
        | F::IsUuid
        | F::Inet6Aton
        | F::Inet6Ntoa
        | F::IsIpv4
        | F::IsIpv4Compat
        | F::IsIpv4Mapped
        | F::IsIpv6
        | F::GtidSubset
        | F::GtidSubtract => identifier::call(env, function, args),
        F::Soundex
        | F::WeightString
        | F::LikePattern
        | F::FormatBytes
        | F::FormatPicoTime
        | F::GetFormat
        | F::StatementDigest
        | F::StatementDigestText => forms::call(env, function, args),
    }
}
