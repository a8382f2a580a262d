//! Differences that are known and meant to be, with the reason; `docs/COMPATIBILITY.md` tells users of each.

/// A known difference: statements that hold all the words, and differ in the way that the signature begins.
struct Expected {
    words: &'static [&'static str],
    signature: &'static str,
    why: &'static str,
}

/// As [`EXPECTED`], where the words may also stand in the tables and rows: only of what has been made as small as it gets.
const EXPECTED_SMALL: &[Expected] = &[
    Expected {
        words: &["18446744073709551615' AS JSON"],
        signature: "rows",
        why: "MySQL takes documents beyond the signed integers for negative numbers",
    },
    Expected {
        words: &["18446744073709551615' AS JSON"],
        signature: "affected rows",
        why: "MySQL takes documents beyond the signed integers for negative numbers",
    },
    Expected {
        words: &["ENUM('A', 'B', 'É', '1', '')", "GROUP BY"],
        signature: "rows",
        why: "the empty text of a wrong ENUM value and a member '' are one group",
    },
    Expected {
        words: &["ENUM(", " OVER ("],
        signature: "types MYSQL_TYPE_STRING and MYSQL_TYPE_ENUM",
        why: "MySQL's wire has the type ENUM where a window function gives one out",
    },
    Expected { words: &["JSON", "BETWEEN"], signature: "rows", why: "BETWEEN and IN compare documents as documents" },
    Expected { words: &["JSON", " IN ("], signature: "rows", why: "BETWEEN and IN compare documents as documents" },
    Expected {
        words: &["BIT(", "IF("],
        signature: "rows",
        why: "IF and CASE of a BIT and a number show the bytes of the BIT in MySQL",
    },
    Expected {
        words: &["BIT(", "CASE "],
        signature: "rows",
        why: "IF and CASE of a BIT and a number show the bytes of the BIT in MySQL",
    },
];

const EXPECTED: &[Expected] = &[
    Expected { words: &[], signature: "error 1235 of heddle alone", why: "what Heddle does not have is refused by name" },
    Expected {
        words: &["SHA1("],
        signature: "error 1305 of peer alone",
        why: "MySQL 9 has no SHA1; 8.4, which Heddle follows, has",
    },
    Expected {
        words: &["MD5("],
        signature: "error 1305 of peer alone",
        why: "MySQL 9 has no MD5; 8.4, which Heddle follows, has",
    },
    Expected {
        words: &["ADDTIME("],
        signature: "rows",
        why: "MySQL 9 has NULL where a TIME overflows; 8.4 cuts it to 838:59:59",
    },
    Expected {
        words: &["SUBTIME("],
        signature: "rows",
        why: "MySQL 9 has NULL where a TIME overflows; 8.4 cuts it to 838:59:59",
    },
    Expected {
        words: &["GREATEST("],
        signature: "rows",
        why: "GREATEST and LEAST of a DATETIME and what is none: MySQL may answer 0",
    },
    Expected {
        words: &["LEAST("],
        signature: "rows",
        why: "GREATEST and LEAST of a DATETIME and what is none: MySQL may answer 0",
    },
    Expected {
        words: &["FROM_DAYS("],
        signature: "rows",
        why: "MySQL 9 has dates of the year 0; the days before 366 are the zero date",
    },
    Expected { words: &["WEIGHT_STRING("], signature: "rows", why: "WEIGHT_STRING of numbers and dates is NULL" },
    Expected { words: &["WEIGHT_STRING("], signature: "affected rows", why: "WEIGHT_STRING of numbers and dates is NULL" },
    Expected {
        words: &["JSON_"],
        signature: "error 3146 of peer alone",
        why: "what is NULL is no wrong document, whatever its type",
    },
    Expected { words: &["WITH ROLLUP"], signature: "rows", why: "literals and ZEROFILL in the row of all groups" },
    Expected {
        words: &[" IN (", "'1.5'"],
        signature: "rows",
        why: "MySQL takes a literal integer for equal to a text of a fraction, in a list of texts",
    },
    Expected {
        words: &["FIELD(", " JOIN "],
        signature: "rows",
        why: "MySQL takes FIELD of a column for a condition that an outer join's row of NULLs never meets",
    },
    Expected { words: &[" * "], signature: "error 1690 of heddle alone", why: "a product of DECIMAL has 65 digits at most" },
    Expected {
        words: &["X'"],
        signature: "error 3854",
        why: "bytes that are no text are found when a text is made of them, or before",
    },
    Expected { words: &["😀"], signature: "error 3854 of peer alone", why: "numbers beside texts are of latin1 in MySQL" },
    Expected {
        words: &["X'", "IF("],
        signature: "rows",
        why: "a hexadecimal literal that IF or CASE chooses is bytes; in MySQL it is a number beside one",
    },
    Expected {
        words: &["JSON_", "COALESCE("],
        signature: "rows",
        why: "a document of a computed decimal has the digits of the decimal's type",
    },
    Expected { words: &[], signature: "error 6527 of peer alone", why: "MySQL 9 raises 6527 where a date overflows; 8.4 warns" },
];

/// Why a difference is expected, if it is.
pub fn reason(statement: &str, signature: &str) -> Option<&'static str> {
    found(EXPECTED, statement, signature)
}

/// The same of a difference that is as small as it gets, with its tables and rows.
pub fn reason_of_script(script: &str, signature: &str) -> Option<&'static str> {
    found(EXPECTED_SMALL, script, signature)
}

fn found(among: &[Expected], text: &str, signature: &str) -> Option<&'static str> {
    let upper = text.to_uppercase();
    among.iter().find(|e| signature.starts_with(e.signature) && e.words.iter().all(|word| upper.contains(word))).map(|e| e.why)
}
