//! Statements with their values, and their short forms for messages.

use super::client::{Answer, Parameter};
use super::model::{Column, Privilege};
use super::values;

/// A statement with its values.
pub struct Statement {
    /// With `?` for each value.
    pub text: String,
    values: Vec<(Column, Option<Vec<u8>>)>,
}

/// The column of a plain number, which belongs to no column.
const PLAIN: Column = 0;

impl Statement {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), values: Vec::new() }
    }

    pub fn number(mut self, number: i64) -> Self {
        self.values.push((PLAIN, Some(number.to_string().into_bytes())));
        self
    }

    pub fn value(mut self, column: Column, value: Vec<u8>) -> Self {
        self.values.push((column, Some(value)));
        self
    }

    /// As one text.
    pub fn plain(&self) -> String {
        let mut pieces = self.text.split('?');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (piece, (column, value)) in pieces.zip(&self.values) {
            text += &value.as_ref().map_or("NULL".into(), |value| values::literal(*column, value));
            text += piece;
        }
        text
    }

    pub fn parameters(&self) -> Vec<Parameter> {
        let parameter = |(column, value): &(Column, Option<Vec<u8>>)| match value {
            None => Parameter::Null,
            Some(value) if values::kind(*column) == values::Kind::Number => {
                Parameter::Number(String::from_utf8_lossy(value).parse().unwrap_or_default())
            }
            Some(value) => Parameter::Text(value.clone()),
        };
        self.values.iter().map(parameter).collect()
    }
}

pub fn table_name(table: usize) -> String {
    format!("t{table}")
}

/// Shortens a statement for messages.
pub fn brief(text: &str) -> String {
    let mut out = text.replace("........", "");
    if out.len() > 300 {
        out.truncate(out.char_indices().nth(300).map_or(out.len(), |(at, _)| at));
        out += "..";
    }
    out
}

pub fn brief_answer(answer: &Answer) -> String {
    match answer {
        Answer::Done { affected } => format!("ok, {affected} affected"),
        Answer::Rows { rows, .. } => format!("{} rows", rows.len()),
        Answer::Refused { number, message } => format!("error {number}: {message}"),
    }
}

/// The table of a statement, the privileges that it needs there, and further privileges that it may need.
pub fn needs(text: &str) -> (usize, &'static [Privilege], &'static [Privilege]) {
    use Privilege::{Delete, Insert, Select, Update};
    let word = |word: &str| word.strip_prefix('t').and_then(|number| number.parse().ok());
    let table = text.split(' ').find_map(word).unwrap_or(0);
    let (needs, may): (&[Privilege], &[Privilege]) = match text.split(' ').next().unwrap_or_default() {
        "INSERT" if text.contains(" ON DUPLICATE KEY ") => (&[Insert, Update], &[Select]),
        "INSERT" => (&[Insert], &[]),
        "REPLACE" => (&[Insert, Delete], &[]),
        "UPDATE" => (&[Update, Select], &[]),
        "DELETE" => (&[Delete, Select], &[]),
        _ => (&[Select], &[]),
    };
    (table, needs, may)
}

/// The key of the row in which triggers count a session's rows.
pub fn count_key(table: usize, owner: usize) -> i64 {
    (table * 100 + owner) as i64
}
