//! Compares two answers.
//!
//! These differences are allowed:
//! - A1: the order of rows without ORDER BY;
//! - A2: the last digits of a double, since sums are computed in the order of the rows;
//! - A3: in queries with groups, which of several equal strings stands for its group (`folded`);
//! - A4: an error that a value raises while rows are read (`RUNTIME`), since another plan may not read that row. Queries without tables are
//!   compared strictly;
//! - A5: changes that a temporary table of MySQL makes to a column: the size of an integer, a YEAR or a BLOB, the decimals of a text, and
//!   NULL, which is a text there;
//! - A6: which of several errors of one statement is reported (`RESOLVED`);
//! - A7: a statement that took too long on either server is not compared.

use crate::side::{Answer, Cell, Outcome, Shape};
use mysql::consts::ColumnType;

/// How two answers are compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub ordered: bool,
    /// The numbers of warnings count.
    pub warnings: bool,
    /// Messages of errors and warnings count.
    pub messages: bool,
    /// Equal strings may stand for each other (A3).
    pub folded: bool,
    /// Errors of values count (A4).
    pub strict: bool,
    /// Types and names of columns count.
    pub shapes: bool,
}

/// A difference: its kind, by which shrinking recognizes it, and its description for a reader.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub signature: String,
    pub told: String,
}

impl Difference {
    pub fn new(signature: impl Into<String>, told: impl Into<String>) -> Self {
        Self { signature: signature.into(), told: told.into() }
    }
}

/// Errors that values raise, and errors about duplicate keys.
const RUNTIME: &[u16] = &[
    1048, 1062, 1137, 1139, 1242, 1260, 1264, 1265, 1292, 1301, 1364, 1365, 1366, 1367, 1406, 1411, 1416, 1441, 1525, 1526, 1690,
    3020, 3140, 3141, 3143, 3144, 3146, 3149, 3150, 3152, 3155, 3156, 3157, 3158, 3636, 3685, 3686, 3687, 3688, 3689, 3690, 3691,
    3692, 3693, 3694, 3695, 3696, 3697, 3698, 3699, 3700, 3751, 3752, 3854, 3903, 3904, 3905, 1582, 1411, 3037, 3554, 3592, 1213,
    1205, 3064, 3513, 6527,
];

/// Errors found while a statement is resolved. When a statement has several, the servers may report different ones (A6).
const RESOLVED: &[u16] = &[1054, 1055, 1093, 1140, 1146, 1253, 1267, 1270, 1271, 1525, 3029, 3105, 3146, 3514, 3854, 3995];

/// Warnings that a form is deprecated, which Heddle does not give.
const DEPRECATIONS: &[u16] = &[1287, 1681, 3135, 3719, 3778, 4095, 4096];

/// A query took longer than `max_execution_time`.
const TIMED_OUT: u16 = 3024;

/// The signature of a statement that ended the real MySQL.
pub const PEER_LOST: &str = "the peer is lost";

/// The rules' verdict on two answers, named for the reader.
pub fn difference(names: [&str; 2], left: &Answer, right: &Answer, rules: Rules) -> Option<Difference> {
    let tell = |answer: &Answer| tell(&answer.outcome);
    if [left, right].iter().any(|a| matches!(a.outcome, Outcome::Error { code: TIMED_OUT, .. })) {
        return None; // A7
    }
    let both = || format!("-- {}: {}\n-- {}: {}", names[0], tell(left), names[1], tell(right));
    match (&left.outcome, &right.outcome) {
        (left, Outcome::Lost(_)) if !matches!(left, Outcome::Lost(_)) && names[1] == "peer" => {
            return Some(Difference::new(PEER_LOST, both()));
        }
        (Outcome::Lost(_), _) | (_, Outcome::Lost(_)) => return Some(Difference::new("connection lost", both())),
        (Outcome::Error { code: 1105, message }, _) if message.starts_with("Internal") => {
            return Some(Difference::new("a statement panicked", both()));
        }
        (Outcome::Error { code: a, message: x }, Outcome::Error { code: b, message: y }) => {
            let values = !rules.strict && RUNTIME.contains(a) && RUNTIME.contains(b);
            let several = [a, b].iter().all(|code| RESOLVED.contains(code) || RUNTIME.contains(code));
            if a != b && !values && !several {
                return Some(Difference::new(format!("errors {a} and {b}"), both()));
            }
            return (rules.messages && x != y).then(|| Difference::new("messages", both()));
        }
        (Outcome::Error { code, .. }, _) | (_, Outcome::Error { code, .. }) => {
            if !rules.strict && RUNTIME.contains(code) {
                return None; // A4
            }
            let side = if matches!(left.outcome, Outcome::Error { .. }) { names[0] } else { names[1] };
            return Some(Difference::new(format!("error {code} of {side} alone"), both()));
        }
        (Outcome::Done { affected: a }, Outcome::Done { affected: b }) if a != b => {
            return Some(Difference::new("affected rows", both()));
        }
        (Outcome::Rows { columns: a, rows: x }, Outcome::Rows { columns: b, rows: y }) => {
            if let Some(found) = shapes(a, b, rules) {
                return Some(Difference::new(found, format!("-- {}: {a:?}\n-- {}: {b:?}", names[0], names[1])));
            }
            if !same_rows(a, x, y, rules) {
                return Some(Difference::new("rows", both()));
            }
        }
        (Outcome::Done { .. }, Outcome::Done { .. }) => {}
        _ => return Some(Difference::new("rows and no rows", both())),
    }
    warnings(names, left, right, rules)
}

fn shapes(a: &[Shape], b: &[Shape], rules: Rules) -> Option<String> {
    if a.len() != b.len() {
        return Some("number of columns".into());
    }
    if !rules.shapes {
        return None;
    }
    a.iter().zip(b).find_map(|(x, y)| {
        if x.name != y.name {
            Some("names of columns".into())
        } else if family(x.kind) != family(y.kind) {
            Some(format!("types {:?} and {:?}", x.kind, y.kind))
        } else if family(x.kind) == Family::Integer && x.unsigned != y.unsigned {
            Some("unsigned".into())
        } else if has_decimals(x.kind) && x.decimals != y.decimals {
            Some("decimals of a column".into())
        } else {
            None
        }
    })
}

/// Types that a temporary table of MySQL's may exchange for each other (A5).
#[derive(PartialEq)]
enum Family {
    Integer,
    Text,
    Other(ColumnType),
}

fn family(kind: ColumnType) -> Family {
    use ColumnType as C;
    match kind {
        C::MYSQL_TYPE_TINY | C::MYSQL_TYPE_SHORT | C::MYSQL_TYPE_INT24 | C::MYSQL_TYPE_LONG | C::MYSQL_TYPE_LONGLONG => {
            Family::Integer
        }
        C::MYSQL_TYPE_YEAR => Family::Integer,
        C::MYSQL_TYPE_NULL
        | C::MYSQL_TYPE_STRING
        | C::MYSQL_TYPE_VAR_STRING
        | C::MYSQL_TYPE_TINY_BLOB
        | C::MYSQL_TYPE_BLOB
        | C::MYSQL_TYPE_MEDIUM_BLOB
        | C::MYSQL_TYPE_LONG_BLOB => Family::Text,
        other => Family::Other(other),
    }
}

fn has_decimals(kind: ColumnType) -> bool {
    use ColumnType as C;
    matches!(kind, C::MYSQL_TYPE_NEWDECIMAL | C::MYSQL_TYPE_TIME | C::MYSQL_TYPE_DATETIME | C::MYSQL_TYPE_TIMESTAMP)
}

fn warnings(names: [&str; 2], left: &Answer, right: &Answer, rules: Rules) -> Option<Difference> {
    if !rules.warnings {
        return None;
    }
    let list = |answer: &Answer| -> Vec<String> {
        let mut all: Vec<String> = answer
            .warnings
            .iter()
            .filter(|(code, _)| !DEPRECATIONS.contains(code))
            .map(|(code, message)| if rules.messages { format!("{code} {message}") } else { code.to_string() })
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let (a, b) = (list(left), list(right));
    let told = |answer: &Answer| -> String {
        answer.warnings.iter().take(6).map(|(code, message)| format!("{code} {message}")).collect::<Vec<_>>().join("; ")
    };
    (a != b).then(|| {
        Difference::new(
            format!("warnings [{}] and [{}]", a.join(" "), b.join(" ")),
            format!("-- {} warns: {}\n-- {} warns: {}", names[0], told(left), names[1], told(right)),
        )
    })
}

/// Are these rows the same rows?
pub fn same_rows(columns: &[Shape], left: &[Vec<Cell>], right: &[Vec<Cell>], rules: Rules) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let exact = |x: &Vec<Cell>, y: &Vec<Cell>| row_equal(columns, x, y, false);
    if rules.ordered && left.iter().zip(right).all(|(x, y)| exact(x, y)) {
        return true;
    }
    let folded = |rows: &[Vec<Cell>], fold_text: bool| -> Vec<Vec<Cell>> {
        let fold = |cell: &Cell| cell.as_ref().map(|text| if fold_text { self::fold(text) } else { text.clone() });
        let mut rows: Vec<Vec<Cell>> = rows.iter().map(|row| row.iter().map(fold).collect()).collect();
        if !rules.ordered {
            rows.sort_by_key(|row| sort_key(columns, row)); // A1
        }
        rows
    };
    let equal = |fold_text: bool| {
        let (a, b) = (folded(left, fold_text), folded(right, fold_text));
        a.iter().zip(&b).all(|(x, y)| row_equal(columns, x, y, true))
    };
    equal(false) || (rules.folded && equal(true))
}

/// Doubles are rounded for sorting, so that A2 does not change the order.
fn sort_key(columns: &[Shape], row: &[Cell]) -> Vec<Option<String>> {
    row.iter()
        .zip(columns)
        .map(|(cell, column)| match cell {
            Some(text) if column.is_float() => Some(text.parse::<f64>().map_or(text.clone(), |x| format!("{x:.6e}"))),
            other => other.clone(),
        })
        .collect()
}

fn row_equal(columns: &[Shape], x: &[Cell], y: &[Cell], loose: bool) -> bool {
    x.iter().zip(y).zip(columns).all(|((a, b), column)| a == b || (loose || column.is_float()) && close(a, b))
}

/// A2
fn close(a: &Cell, b: &Cell) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => {
            (a - b).abs() <= a.abs().max(b.abs()) * 1e-11 || (a.abs() < 1e-9 && b.abs() < 1e-9 && a.abs() + b.abs() > 0.0)
        }
        _ => false,
    }
}

/// A text without case, accents, control characters and trailing spaces, which the collations of the test may ignore (A3).
fn fold(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim_end_matches(' ').chars().flat_map(char::to_lowercase) {
        match c {
            // Of no weight.
            c if c.is_control() => {}
            'ä' | 'á' | 'à' => out.push('a'),
            'é' | 'è' => out.push('e'),
            'ß' => out.push_str("ss"),
            c => out.push(c),
        }
    }
    out.split('|').map(|part| part.trim_end_matches(' ')).collect::<Vec<_>>().join("|")
}

/// An outcome in a few lines.
pub fn tell(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Error { code, message } => format!("error {code}: {message}"),
        Outcome::Done { affected } => format!("{affected} rows affected"),
        Outcome::Lost(why) => format!("lost: {why}"),
        Outcome::Rows { rows, .. } => {
            let shown: Vec<String> = rows
                .iter()
                .take(12)
                .map(|row| {
                    row.iter().map(|c| c.as_deref().unwrap_or("NULL").escape_debug().to_string()).collect::<Vec<_>>().join(" | ")
                })
                .collect();
            format!("{} rows: {}", rows.len(), shown.join(" // "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: &[&[&str]]) -> Vec<Vec<Cell>> {
        of.iter().map(|row| row.iter().map(|c| (*c != "-").then(|| (*c).to_owned())).collect()).collect()
    }

    #[test]
    fn rows_are_compared_by_the_rules() {
        let shape = |kind| Shape { name: "c".into(), kind, unsigned: false, binary: false, decimals: 0 };
        let columns = [shape(ColumnType::MYSQL_TYPE_VAR_STRING), shape(ColumnType::MYSQL_TYPE_DOUBLE)];
        let check = |x: &[&[&str]], y: &[&[&str]], rules, expected| {
            assert_eq!(same_rows(&columns, &rows(x), &rows(y), rules), expected, "{x:?} {y:?}");
        };
        let (any, ordered) = (Rules::default(), Rules { ordered: true, ..Rules::default() });
        let folded = Rules { folded: true, ..Rules::default() };
        check(&[&["a", "1"], &["b", "2"]], &[&["b", "2"], &["a", "1"]], any, true);
        check(&[&["a", "1"], &["b", "2"]], &[&["b", "2"], &["a", "1"]], ordered, false);
        check(&[&["a", "0.1"]], &[&["a", "0.10000000000000001"]], any, true);
        check(&[&["a", "0.1"]], &[&["a", "0.2"]], any, false);
        check(&[&["A ", "1"]], &[&["a", "1"]], any, false);
        check(&[&["Ä ", "1"]], &[&["a", "1"]], folded, true);
        check(&[&["-", "1"]], &[&["a", "1"]], folded, false);
    }
}
