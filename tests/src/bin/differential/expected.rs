//! Differences that are known and meant to be, with the reason; `docs/COMPATIBILITY.md` tells users of each.

/// A known difference: statements that hold all the words, and differ in the way that the signature begins.
struct Expected {
    words: &'static [&'static str],
    signature: &'static str,
    why: &'static str,
}

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
    Expected { words: &["WITH ROLLUP"], signature: "rows", why: "literals and ZEROFILL in the row of all groups" },
    Expected { words: &["AS YEAR"], signature: "rows", why: "CAST(0 AS YEAR) prints 0000, as a YEAR column does" },
    Expected { words: &[], signature: "error 6527 of peer alone", why: "MySQL 9 raises 6527 where a date overflows; 8.4 warns" },
];

/// Why a difference is expected, if it is.
pub fn reason(statement: &str, signature: &str) -> Option<&'static str> {
    let upper = statement.to_ascii_uppercase();
    EXPECTED.iter().find(|e| signature.starts_with(e.signature) && e.words.iter().all(|word| upper.contains(word))).map(|e| e.why)
}
