//! Differences that are known and meant to be, with the reason; `docs/COMPATIBILITY.md` tells users of each.

use crate::compare::Difference;

/// A known difference.
struct Expected {
    /// How the signature begins.
    signature: &'static str,
    /// Of each group one word stands in the statement, in capitals.
    words: &'static [&'static [&'static str]],
    /// The description of both answers contains one of these.
    told: &'static [&'static str],
    why: &'static str,
}

/// What the answers alone tell: nothing has to be made small for it.
const EXPECTED: &[Expected] = &[
    Expected {
        signature: "error 1235 of heddle alone",
        words: &[],
        told: &[],
        why: "what Heddle does not have is refused by name",
    },
    Expected {
        signature: "error 1305 of peer alone",
        words: &[&["MD5(", "SHA1("]],
        told: &["MD5 does not exist", "SHA1 does not exist"],
        why: "MySQL 9 has no MD5 and SHA1; 8.4, which Heddle follows, has",
    },
    Expected {
        signature: "error 1030 of peer alone",
        words: &[&["WITH RECURSIVE"]],
        told: &["Wrong index given"],
        why: "MySQL looks for an index of a common table expression that it has not made",
    },
    Expected {
        signature: "error 1210 of peer alone",
        words: &[&["JSON_TABLE("]],
        told: &["Incorrect arguments to JSON_TABLE"],
        why: "MySQL refuses a column of a derived table that it merges as the document of JSON_TABLE",
    },
    Expected {
        signature: "error 6527 of peer alone",
        words: &[],
        told: &[],
        why: "MySQL 9 raises 6527 where a date overflows; 8.4 warns",
    },
];

/// Looked for in what has been made as small as it gets: the words may stand in the tables and rows, which have nothing else.
const EXPECTED_SMALL: &[Expected] = &[
    Expected {
        signature: "rows",
        words: &[&["18446744073709551615' AS JSON", "JSON_ARRAY(18446744073709551615", "18446744073709551615"], &["JSON"]],
        told: &[],
        why: "MySQL takes documents beyond the signed integers for negative numbers",
    },
    Expected {
        signature: "affected rows",
        words: &[&["18446744073709551615' AS JSON"]],
        told: &[],
        why: "MySQL takes documents beyond the signed integers for negative numbers",
    },
    Expected {
        signature: "types MYSQL_TYPE_STRING and MYSQL_TYPE_ENUM",
        words: &[&["ENUM("], &[" OVER ("]],
        told: &[],
        why: "MySQL's wire has the type ENUM where a window function gives one out",
    },
    Expected {
        signature: "types MYSQL_TYPE_VAR_STRING and MYSQL_TYPE_ENUM",
        words: &[&["ENUM("], &["IF(", "IFNULL(", "COALESCE(", "CASE "]],
        told: &[],
        why: "MySQL's wire has the type ENUM where one and NULL are chosen among",
    },
    Expected {
        signature: "rows",
        words: &[&["ENUM(", "SET("], &["MIN(", "MAX("], &[") AS X"]],
        told: &[],
        why: "MIN and MAX of an ENUM or SET are texts outside of their query, in MySQL members with a number",
    },
    Expected {
        signature: "rows",
        words: &[&["BIT("], &["IF(", "CASE "]],
        told: &[],
        why: "IF and CASE of a BIT and a number show the bytes of the BIT in MySQL",
    },
    Expected {
        signature: "rows",
        words: &[&["ADDTIME(", "SUBTIME("], &["838:59:59", "9999"]],
        told: &[],
        why: "MySQL 9 has NULL where a TIME overflows; 8.4 cuts it to 838:59:59",
    },
    Expected {
        signature: "rows",
        words: &[&["GREATEST(", "LEAST("], &["DATETIME", "TIMESTAMP", "NOW("]],
        told: &[],
        why: "GREATEST and LEAST of a DATETIME and what is none: MySQL may answer 0",
    },
    Expected {
        signature: "rows",
        words: &[&["FROM_DAYS("]],
        told: &[],
        why: "MySQL 9 has dates of the year 0; the days before 366 are the zero date",
    },
    Expected { signature: "rows", words: &[&["WEIGHT_STRING("]], told: &[], why: "WEIGHT_STRING of numbers and dates is NULL" },
    Expected {
        signature: "affected rows",
        words: &[&["WEIGHT_STRING("]],
        told: &[],
        why: "WEIGHT_STRING of numbers and dates is NULL",
    },
    Expected {
        signature: "rows",
        words: &[&[" IN ("], &["'1.5'"]],
        told: &[],
        why: "MySQL takes a literal integer for equal to a text of a fraction, in a list of texts",
    },
    Expected {
        signature: "rows",
        words: &[&["FIELD(", "INTERVAL(", ") IN (("], &[" JOIN "]],
        told: &[],
        why: "MySQL takes FIELD, INTERVAL and lists of rows of a column for conditions that an outer join's row of NULLs never meets",
    },
    Expected {
        signature: "rows",
        words: &[
            &["LEFT JOIN (SELECT", "LEFT JOIN LATERAL (SELECT"],
            &["DAYNAME(", "MONTHNAME(", "SEC_TO_TIME(", "MAKETIME(", "MAKEDATE(", "FROM_UNIXTIME("],
            &[" WHERE "],
        ],
        told: &[],
        why: "MySQL takes a constant of a derived table for itself where an outer join's row has NULL",
    },
    Expected {
        signature: "rows",
        words: &[&["LEFT JOIN LATERAL (SELECT", "LEFT JOIN (SELECT", "RIGHT JOIN"], &[" ON 0"], &["AS X"], &[" WHERE X"]],
        told: &["-- heddle: 0 rows"],
        why: "MySQL takes a constant of a derived table for itself where an outer join's row has NULL",
    },
    Expected {
        signature: "names of columns",
        words: &[&["AS C"], &["FROM (SELECT"], &[" JOIN ", ", T"]],
        told: &[],
        why: "MySQL names a column that is selected twice of a derived table of constants by its second name",
    },
    Expected {
        signature: "error 1690 of heddle alone",
        words: &[&[" * "]],
        told: &["DECIMAL value"],
        why: "a product of DECIMAL has 65 digits at most",
    },
    Expected {
        signature: "rows",
        words: &[&[" * "], &["0.000000000000000000000000000001"]],
        told: &[],
        why: "a product of DECIMAL loses its digits in MySQL where both numbers have many",
    },
    Expected {
        signature: "error 3854",
        words: &[&["X'", "UNHEX(", "BINARY", "BLOB", "INET6_ATON(", "CHAR(", "COMPRESS(", "AES_", "FROM_BASE64("]],
        told: &[],
        why: "bytes that are no text are found when a text is made of them, or before",
    },
    Expected {
        signature: "error 3854 of peer alone",
        words: &[&["😀"]],
        told: &[],
        why: "numbers beside texts are of latin1 in MySQL",
    },
    Expected {
        signature: "rows",
        words: &[&["X'", "B'"], &["IF(", "CASE ", "COALESCE(", "FROM (", "WITH "]],
        told: &[],
        why: "a hexadecimal literal that IF or CASE chooses, or that comes of a query, is bytes; in MySQL it is a number beside one",
    },
    Expected {
        signature: "rows",
        words: &[&["-- PREPARED: "], &["COUNT(DISTINCT ?"]],
        told: &[],
        why: "MySQL counts the NULL of a parameter",
    },
    Expected {
        signature: "rows",
        words: &[&["JSON_", "AS JSON"], &["COALESCE(", "IFNULL("]],
        told: &[],
        why: "a document of a computed decimal has the digits of the decimal's type",
    },
    Expected {
        signature: "rows",
        words: &[&["FLOAT"], &["UNION"]],
        told: &[],
        why: "a FLOAT beside a literal text is cut to its 12 characters, in MySQL rounded",
    },
    Expected {
        signature: "rows",
        words: &[&["TIME'", " TIME", "TIME("], &["DATE(", "AS DATE)", "DAY", "WEEK", "MONTH", "YEAR", "QUARTER("]],
        told: &[],
        why: "MySQL 9 adds a TIME to the present moment where it wants its date; 8.4 adds it to midnight",
    },
    Expected {
        signature: "error 1055 of peer alone",
        words: &[&["GROUP BY"], &["INTERVAL(", ") IN ((", ") = (", ") < (", ") <=> (", ") >= (", ") <> ("]],
        told: &[],
        why: "MySQL does not see that two rows of values are the same",
    },
    Expected { signature: "rows", words: &[&["WITH ROLLUP"]], told: &[], why: "literals and ZEROFILL in the row of all groups" },
    Expected {
        signature: "rows",
        words: &[&["YEAR"], &["TIME'", "TIME(", "STR_TO_DATE("], &[" < ", " > ", " = ", "<=", ">=", "<>"]],
        told: &[],
        why: "MySQL takes the present year for a constant TIME beside a YEAR",
    },
    Expected {
        signature: "error 1690 of peer alone",
        words: &[&["1E100", "E38", "E308"]],
        told: &["BIGINT value"],
        why: "a DOUBLE beyond the integers is cut where one is wanted",
    },
    Expected {
        signature: "error 3064 of peer alone",
        words: &[&["JSON_UNQUOTE(", "JSON_QUOTE("]],
        told: &[],
        why: "MySQL computes constants that no row asks for",
    },
    Expected {
        signature: "decimals of a column",
        words: &[&["NULL"], &["INTERSECT", "EXCEPT", "UNION", "GREATEST(", "LEAST("]],
        told: &[],
        why: "a column of NULLs is a text with any number of decimals in MySQL",
    },
    Expected {
        signature: "rows",
        words: &[&["ORDER BY"], &["JSON_ARRAY", "JSON_OBJECT", "JSON_KEYS", "JSON_MERGE", "JSON_SET", "JSON_INSERT"]],
        told: &[],
        why: "MySQL orders arrays and objects by nothing that is told",
    },
];

/// Why a difference is expected, if it is.
pub fn reason(statement: &str, difference: &Difference) -> Option<&'static str> {
    found(EXPECTED, statement, difference)
}

/// The same of a difference that is as small as it gets, with its tables and rows.
pub fn reason_of_script(script: &str, difference: &Difference) -> Option<&'static str> {
    found(EXPECTED_SMALL, script, difference)
}

fn found(among: &[Expected], text: &str, difference: &Difference) -> Option<&'static str> {
    let upper = text.to_uppercase();
    let holds = |e: &&Expected| {
        difference.signature.starts_with(e.signature)
            && e.words.iter().all(|group| group.iter().any(|word| upper.contains(word)))
            && (e.told.is_empty() || e.told.iter().any(|part| difference.told.contains(part)))
    };
    among.iter().find(holds).map(|e| e.why)
}
