//! The built-in functions: their names, how many arguments they take, and the type they return.
//!
//! `bind` looks a name up here; `exec::function` computes. One enum keeps both honest: a function without an
//! implementation does not compile.

/// Scalar functions and the operators that are functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    // strings
    Concat, ConcatWs, Length, CharLength, BitLength, Upper, Lower, Substring, SubstringIndex, Left, Right, Trim, LTrim, RTrim,
    LPad, RPad, Repeat, Reverse, Replace, Locate, Instr, Position, Space, Hex, Unhex, Ascii, Ord, Char, Insert, Field, FindInSet, Elt,
    StrCmp, Quote, Format, Md5, Sha1, Sha2, Crc32, ToBase64, FromBase64, Bin, Oct, Conv, MakeSet, ExportSet, Charset, Collation, Coercibility,
    Uuid,
    // numbers
    Abs, Ceiling, Floor, Round, Truncate, Mod, Sign, Sqrt, Pow, Exp, Ln, Log, Log2, Log10, Sin, Cos, Tan, Asin, Acos, Atan, Cot,
    Degrees, Radians, Pi, Rand, Greatest, Least, BitCount,
    // control flow
    If, IfNull, NullIf, Coalesce, IsNull,
    // dates
    Now, SysDate, CurDate, CurTime, UtcDate, UtcTime, UtcTimestamp, Date, Time, Timestamp, Year, Month, Day, DayOfWeek, DayOfYear, DayName, MonthName,
    Weekday, Week, YearWeek, WeekOfYear, Quarter, Hour, Minute, Second, Microsecond, DateDiff, TimeDiff, DateAdd, DateSub, AddTime, SubTime,
    TimestampDiff, TimestampAdd, UnixTimestamp, FromUnixTime, ToDays, FromDays, ToSeconds, TimeToSec, SecToTime, LastDay, MakeDate, MakeTime,
    DateFormat, TimeFormat, StrToDate, Extract, PeriodAdd, PeriodDiff, ConvertTz,
    // session and information
    Database, User, CurrentUser, SessionUser, SystemUser, Version, ConnectionId, LastInsertId, RowCount, FoundRows, Sleep, Benchmark,
    GetLock, ReleaseLock, IsFreeLock, IsUsedLock, ReleaseAllLocks,
    // json (text for now)
    JsonExtract, JsonUnquote, JsonValid, JsonObject, JsonArray, JsonLength, JsonType, JsonContains, JsonKeys,
    // other
    RegexpLike, InetAton, InetNtoa, Interval, AnyValue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateFunction {
    Count, Sum, Avg, Min, Max, GroupConcat, BitAnd, BitOr, BitXor, StdDevPop, StdDevSamp, VarPop, VarSamp, AnyValue,
}
