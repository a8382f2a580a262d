//! Reserved words, found by a hash table that the compiler builds.
//!
//! Words that MySQL does not reserve are no keywords here: the parser compares their text where its grammar asks for them
//! ([`crate::parser`]), so that they stay usable as names everywhere.

macro_rules! keywords {
    ($($variant:ident $text:literal)*) => {
        /// A reserved word of MySQL 8.4.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Keyword { $($variant,)* }

        const WORDS: &[(&str, Keyword)] = &[$(($text, Keyword::$variant),)*];
    };
}

keywords! {
    Accessible "ACCESSIBLE" Add "ADD" All "ALL" Alter "ALTER" Analyze "ANALYZE" And "AND" As "AS" Asc "ASC"
    Asensitive "ASENSITIVE" Before "BEFORE" Between "BETWEEN" BigInt "BIGINT" Binary "BINARY" Blob "BLOB" Both "BOTH" By "BY"
    Call "CALL" Cascade "CASCADE" Case "CASE" Change "CHANGE" Char "CHAR" Character "CHARACTER" Check "CHECK"
    Collate "COLLATE" Column "COLUMN" Condition "CONDITION" Constraint "CONSTRAINT" Continue "CONTINUE" Convert "CONVERT"
    Create "CREATE" Cross "CROSS" Cube "CUBE" CumeDist "CUME_DIST" CurrentDate "CURRENT_DATE" CurrentTime "CURRENT_TIME"
    CurrentTimestamp "CURRENT_TIMESTAMP" CurrentUser "CURRENT_USER" Cursor "CURSOR" Database "DATABASE"
    Databases "DATABASES" DayHour "DAY_HOUR" DayMicrosecond "DAY_MICROSECOND" DayMinute "DAY_MINUTE" DaySecond "DAY_SECOND"
    Dec "DEC" Decimal "DECIMAL" Declare "DECLARE" Default "DEFAULT" Delayed "DELAYED" Delete "DELETE" DenseRank "DENSE_RANK"
    Desc "DESC" Describe "DESCRIBE" Deterministic "DETERMINISTIC" Distinct "DISTINCT" DistinctRow "DISTINCTROW" Div "DIV"
    Double "DOUBLE" Drop "DROP" Dual "DUAL" Each "EACH" Else "ELSE" ElseIf "ELSEIF" Empty "EMPTY" Enclosed "ENCLOSED"
    Escaped "ESCAPED" Except "EXCEPT" Exists "EXISTS" Exit "EXIT" Explain "EXPLAIN" False "FALSE" Fetch "FETCH"
    FirstValue "FIRST_VALUE" Float "FLOAT" Float4 "FLOAT4" Float8 "FLOAT8" For "FOR" Force "FORCE" Foreign "FOREIGN"
    From "FROM" FullText "FULLTEXT" Function "FUNCTION" Generated "GENERATED" Get "GET" Grant "GRANT" Group "GROUP"
    Grouping "GROUPING" Groups "GROUPS" Having "HAVING" HighPriority "HIGH_PRIORITY" HourMicrosecond "HOUR_MICROSECOND"
    HourMinute "HOUR_MINUTE" HourSecond "HOUR_SECOND" If "IF" Ignore "IGNORE" In "IN" Index "INDEX" Infile "INFILE"
    Inner "INNER" InOut "INOUT" Insensitive "INSENSITIVE" Insert "INSERT" Int "INT" Int1 "INT1" Int2 "INT2" Int3 "INT3"
    Int4 "INT4" Int8 "INT8" Integer "INTEGER" Intersect "INTERSECT" Interval "INTERVAL" Into "INTO"
    IoAfterGtids "IO_AFTER_GTIDS" IoBeforeGtids "IO_BEFORE_GTIDS" Is "IS" Iterate "ITERATE" Join "JOIN"
    JsonTable "JSON_TABLE" Key "KEY" Keys "KEYS" Kill "KILL" Lag "LAG" LastValue "LAST_VALUE" Lateral "LATERAL" Lead "LEAD"
    Leading "LEADING" Leave "LEAVE" Left "LEFT" Like "LIKE" Limit "LIMIT" Linear "LINEAR" Lines "LINES" Load "LOAD"
    LocalTime "LOCALTIME" LocalTimestamp "LOCALTIMESTAMP" Lock "LOCK" Long "LONG" LongBlob "LONGBLOB" LongText "LONGTEXT"
    Loop "LOOP" LowPriority "LOW_PRIORITY" Manual "MANUAL" Match "MATCH" MaxValue "MAXVALUE" MediumBlob "MEDIUMBLOB"
    MediumInt "MEDIUMINT" MediumText "MEDIUMTEXT" MiddleInt "MIDDLEINT" MinuteMicrosecond "MINUTE_MICROSECOND"
    MinuteSecond "MINUTE_SECOND" Mod "MOD" Modifies "MODIFIES" Natural "NATURAL" Not "NOT"
    NoWriteToBinlog "NO_WRITE_TO_BINLOG" NthValue "NTH_VALUE" Ntile "NTILE" Null "NULL" Numeric "NUMERIC" Of "OF" On "ON"
    Optimize "OPTIMIZE" OptimizerCosts "OPTIMIZER_COSTS" Option "OPTION" Optionally "OPTIONALLY" Or "OR" Order "ORDER"
    Out "OUT" Outer "OUTER" OutFile "OUTFILE" Over "OVER" Parallel "PARALLEL" Partition "PARTITION"
    PercentRank "PERCENT_RANK" Precision "PRECISION" Primary "PRIMARY" Procedure "PROCEDURE" Purge "PURGE"
    Qualify "QUALIFY" Range "RANGE" Rank "RANK" Read "READ" Reads "READS" ReadWrite "READ_WRITE" Real "REAL"
    Recursive "RECURSIVE" References "REFERENCES" Regexp "REGEXP" Release "RELEASE" Rename "RENAME" Repeat "REPEAT"
    Replace "REPLACE" Require "REQUIRE" Resignal "RESIGNAL" Restrict "RESTRICT" Return "RETURN" Revoke "REVOKE"
    Right "RIGHT" RLike "RLIKE" Row "ROW" Rows "ROWS" RowNumber "ROW_NUMBER" Schema "SCHEMA" Schemas "SCHEMAS"
    SecondMicrosecond "SECOND_MICROSECOND" Select "SELECT" Sensitive "SENSITIVE" Separator "SEPARATOR" Set "SET"
    Show "SHOW" Signal "SIGNAL" SmallInt "SMALLINT" Spatial "SPATIAL" Specific "SPECIFIC" Sql "SQL"
    SqlException "SQLEXCEPTION" SqlState "SQLSTATE" SqlWarning "SQLWARNING" SqlBigResult "SQL_BIG_RESULT"
    SqlCalcFoundRows "SQL_CALC_FOUND_ROWS" SqlSmallResult "SQL_SMALL_RESULT" Ssl "SSL" Starting "STARTING"
    Stored "STORED" StraightJoin "STRAIGHT_JOIN" System "SYSTEM" Table "TABLE" TableSample "TABLESAMPLE"
    Terminated "TERMINATED" Then "THEN" TinyBlob "TINYBLOB" TinyInt "TINYINT" TinyText "TINYTEXT" To "TO"
    Trailing "TRAILING" Trigger "TRIGGER" True "TRUE" Undo "UNDO" Union "UNION" Unique "UNIQUE" Unlock "UNLOCK"
    Unsigned "UNSIGNED" Update "UPDATE" Usage "USAGE" Use "USE" Using "USING" UtcDate "UTC_DATE" UtcTime "UTC_TIME"
    UtcTimestamp "UTC_TIMESTAMP" Values "VALUES" VarBinary "VARBINARY" VarChar "VARCHAR" VarCharacter "VARCHARACTER"
    Varying "VARYING" Virtual "VIRTUAL" When "WHEN" Where "WHERE" While "WHILE" Window "WINDOW" With "WITH" Write "WRITE"
    Xor "XOR" YearMonth "YEAR_MONTH" ZeroFill "ZEROFILL"
}

const SLOTS: usize = 1024;
const LENGTH_MAX: usize = 19;
/// Index into `WORDS` plus one; 0 is free. Collisions go to the next slot.
const TABLE: [u16; SLOTS] = build();

/// Mixes the length and four letters, case folded.
const fn hash(word: &[u8]) -> usize {
    let n = word.len();
    let a = (word[0] | 0x20) as usize;
    let b = (word[n - 1] | 0x20) as usize;
    let c = (word[n / 2] | 0x20) as usize;
    let d = (word[n / 3] | 0x20) as usize;
    (a.wrapping_mul(0x9E5) ^ b.wrapping_mul(0x3B1) ^ c.wrapping_mul(0x6D) ^ d.wrapping_mul(0x1F3) ^ n.wrapping_mul(0x2F1)) % SLOTS
}

const fn build() -> [u16; SLOTS] {
    let mut table = [0u16; SLOTS];
    let mut i = 0;
    while i < WORDS.len() {
        let word = WORDS[i].0.as_bytes();
        assert!(word.len() <= LENGTH_MAX);
        let mut slot = hash(word);
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = i as u16 + 1;
        i += 1;
    }
    table
}

impl Keyword {
    /// The keyword that this word is, in any case.
    pub fn find(word: &[u8]) -> Option<Self> {
        if word.len() < 2 || word.len() > LENGTH_MAX {
            return None;
        }
        let mut slot = hash(word);
        loop {
            let entry = TABLE[slot];
            if entry == 0 {
                return None;
            }
            let (text, keyword) = WORDS[entry as usize - 1];
            if text.as_bytes().eq_ignore_ascii_case(word) {
                return Some(keyword);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_word_and_nothing_else() {
        for (text, keyword) in WORDS {
            assert_eq!(Keyword::find(text.to_lowercase().as_bytes()), Some(*keyword));
        }
        for word in ["engine", "x", "count", "selecta", "", "offset", "value"] {
            assert_eq!(Keyword::find(word.as_bytes()), None, "{word}");
        }
    }
}
