//! Reserved words, found in a hash table that is built at compile time.
//!
//! A word that MySQL does not reserve is not a keyword here: it stays usable as a name everywhere. The parser compares its
//! text where the grammar asks for it ([`crate::parser`]).

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

/// All of them, in alphabetical order.
pub fn reserved_words() -> impl Iterator<Item = &'static str> {
    WORDS.iter().map(|(word, _)| *word)
}

const SLOTS: usize = 1024;
const LENGTH_MIN: usize = 2;
const LENGTH_MAX: usize = 19;
/// Index into `WORDS` plus one; 0 is free. Collisions go to the next slot.
static TABLE: [u16; SLOTS] = build();
static PACKED: [Packed; WORDS.len()] = pack_words();

/// A word's first and last (up to eight) bytes, case folded, and its length: the whole word up to 16 bytes.
///
/// Folding sets bit 5 of each byte. Among the bytes of names, this makes only the two cases of a letter equal.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Packed {
    head: u64,
    tail: u64,
    length: u8,
}

const FOLD: u64 = 0x2020_2020_2020_2020;

/// Packs a word of `LENGTH_MIN` to `LENGTH_MAX` bytes.
#[inline]
const fn pack(word: &[u8]) -> Packed {
    let (head, tail) = match (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
            (Some(head), Some(tail)) => (u32::from_le_bytes(*head) as u64, u32::from_le_bytes(*tail) as u64),
            _ => (word[0] as u64 | (word[1] as u64) << 8, word[word.len() - 1] as u64),
        },
    };
    Packed { head: head | FOLD, tail: tail | FOLD, length: word.len() as u8 }
}

const fn slot_of(packed: Packed) -> usize {
    let mixed = (packed.head ^ packed.tail.rotate_left(27) ^ packed.length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 54) as usize
}

const fn pack_words() -> [Packed; WORDS.len()] {
    let mut packed = [Packed { head: 0, tail: 0, length: 0 }; WORDS.len()];
    let mut i = 0;
    while i < WORDS.len() {
        packed[i] = pack(WORDS[i].0.as_bytes());
        i += 1;
    }
    packed
}

const fn build() -> [u16; SLOTS] {
    let mut table = [0u16; SLOTS];
    let mut i = 0;
    while i < WORDS.len() {
        let word = WORDS[i].0.as_bytes();
        assert!(word.len() >= LENGTH_MIN && word.len() <= LENGTH_MAX);
        let mut slot = slot_of(pack(word));
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = i as u16 + 1;
        i += 1;
    }
    table
}

impl Keyword {
    /// Its letters, in capitals.
    pub fn text(self) -> &'static str {
        WORDS[self as usize].0
    }

    /// Finds the keyword of this spelling in any case. The word must consist of bytes of names.
    pub fn find(word: &[u8]) -> Option<Self> {
        if word.len() < LENGTH_MIN || word.len() > LENGTH_MAX {
            return None;
        }
        let packed = pack(word);
        let mut slot = slot_of(packed);
        loop {
            let entry = (TABLE[slot] as usize).checked_sub(1)?;
            if PACKED[entry] == packed {
                let (text, keyword) = WORDS[entry];
                // Longer words have bytes in the middle that are not packed.
                if word.len() <= 16 || text.as_bytes().eq_ignore_ascii_case(word) {
                    return Some(keyword);
                }
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
