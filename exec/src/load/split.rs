//! Cuts rows and fields out of the bytes of a text file, as MySQL does, byte by byte.
//!
//! ```text
//! row with separators   [anything] starting  field terminated field terminated ... field  line end
//! row of fixed widths   [anything] starting  as many bytes as the columns have             line end
//! ```
//! A field that begins with the enclosing byte ends with it, if a separator follows; doubled, it stands for itself. The escape byte
//! removes the meaning of the next byte, or gives it one: `
//! `, `\0`, `\N`.
//!
//! S1: a call that needs more bytes has changed only the row, so it can be repeated.
//! S2: with `last`, a call never asks for more.

use sql::plan::FileFormat;
use types::charset::Charset;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// There is a row.
    Row,
    /// There are no more rows.
    End,
    /// The bytes end within the row.
    More,
    /// A byte is not the start of a character: the field up to this byte.
    Invalid(Vec<u8>),
}

/// The fields of one row, used again for the next.
#[derive(Debug, Default)]
pub struct Row {
    bytes: Vec<u8>,
    fields: Vec<FieldAt>,
    /// The line has more fields than were asked for.
    pub has_more: bool,
}

#[derive(Clone, Copy, Debug)]
struct FieldAt {
    start: usize,
    end: usize,
    is_null: bool,
}

impl Row {
    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The text of a field; `None` is NULL.
    pub fn field(&self, n: usize) -> Option<&[u8]> {
        let field = self.fields[n];
        (!field.is_null).then(|| &self.bytes[field.start..field.end])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
        self.has_more = false;
    }
}

/// The bytes end here, and more of them may come.
struct Short;

/// The reason for a row that is not complete.
enum Stop {
    Short,
    Invalid(Vec<u8>),
}

impl From<Short> for Stop {
    fn from(Short: Short) -> Self {
        Stop::Short
    }
}

/// The separator after the last field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Field,
    Line,
    /// There was no field.
    Nothing,
}

/// The format of the file.
pub struct Splitter {
    format: FileFormat,
    charset: Charset,
    /// The widths of fixed fields; empty with separators.
    widths: Vec<usize>,
    fields: usize,
    /// Bytes with a special meaning.
    special: [bool; 256],
}

impl Splitter {
    /// For rows of `fields` fields; `widths`: their widths in a format of fixed widths.
    pub fn new(format: &FileFormat, charset: Charset, fields: usize, widths: Vec<usize>) -> Self {
        let mut format = format.clone();
        if format.fields_terminated == format.lines_terminated {
            format.lines_terminated = Box::default();
        }
        let mut special = [false; 256];
        let firsts = format.fields_terminated.first().into_iter().chain(format.lines_terminated.first());
        for &byte in firsts.chain(&format.enclosed).chain(&format.escaped) {
            special[usize::from(byte)] = true;
        }
        if charset.char_bytes_max() > 1 {
            special[0x80..].fill(true);
        }
        Self { format, charset, widths, fields, special }
    }

    /// Does the format have a line end?
    pub fn has_line_end(&self) -> bool {
        !self.format.lines_terminated.is_empty()
    }

    /// Cuts the first row, and returns the number of its bytes. `last`: nothing follows the bytes.
    pub fn row(&self, bytes: &[u8], last: bool, row: &mut Row) -> (Split, usize) {
        row.clear();
        let mut cursor = Cursor { bytes, at: 0, last };
        let split = match self.read_row(&mut cursor, row) {
            Ok(true) => Split::Row,
            Ok(false) => Split::End,
            Err(Stop::Short) => Split::More,
            Err(Stop::Invalid(field)) => Split::Invalid(field),
        };
        (split, cursor.at)
    }

    /// Skips a line, without looking at its fields.
    pub fn skip_line(&self, bytes: &[u8], last: bool) -> (Split, usize) {
        let mut cursor = Cursor { bytes, at: 0, last };
        let split = match self.rest_of_line(&mut cursor) {
            Ok(Some(_)) => Split::Row,
            Ok(None) => Split::End,
            Err(Short) => Split::More,
        };
        (split, cursor.at)
    }

    fn read_row(&self, cursor: &mut Cursor<'_>, row: &mut Row) -> Result<bool, Stop> {
        if !self.find_start(cursor)? {
            return Ok(false);
        }
        let behind = if self.format.is_fixed() { self.fixed_fields(cursor, row)? } else { self.separate_fields(cursor, row)? };
        if row.is_empty() && behind != Behind::Line {
            return Ok(false);
        }
        if behind == Behind::Field && self.has_line_end() {
            // Bytes after the last line's fields do not matter if no line end follows.
            row.has_more = self.rest_of_line(cursor)?.unwrap_or(false);
        }
        Ok(true)
    }

    /// Skips bytes up to the prefix of a line; `false`: no prefix follows.
    fn find_start(&self, cursor: &mut Cursor<'_>) -> Result<bool, Short> {
        let Some((&first, rest)) = self.format.lines_starting.split_first() else { return Ok(true) };
        loop {
            match cursor.next()? {
                None => return Ok(false),
                Some(byte) if byte == first && cursor.accept(rest)? => return Ok(true),
                Some(_) => {}
            }
        }
    }

    fn separate_fields(&self, cursor: &mut Cursor<'_>, row: &mut Row) -> Result<Behind, Stop> {
        let mut behind = Behind::Field;
        while behind == Behind::Field && row.len() < self.fields {
            behind = self.field(cursor, row)?;
        }
        Ok(behind)
    }

    fn field(&self, cursor: &mut Cursor<'_>, row: &mut Row) -> Result<Behind, Stop> {
        let start = row.bytes.len();
        let Some(first) = cursor.next()? else { return Ok(Behind::Nothing) };
        let quote = self.format.enclosed.filter(|quote| *quote == first);
        match quote {
            // The byte belongs to the field if the field does not end with it.
            Some(quote) => row.bytes.push(quote),
            None => cursor.at -= 1,
        }
        let mut has_null = false;
        loop {
            cursor.copy_plain(&self.special, &mut row.bytes);
            let Some(byte) = cursor.next()? else {
                self.end_field(row, start, false, has_null);
                return Ok(Behind::Line);
            };
            if Some(byte) == self.format.escaped {
                // If the same byte also encloses fields, it escapes only itself.
                let next = cursor.next()?;
                match next {
                    None => {
                        row.bytes.push(byte);
                        self.end_field(row, start, false, has_null);
                        return Ok(Behind::Line);
                    }
                    Some(next) if self.format.enclosed != Some(byte) || next == byte => {
                        if !self.is_lead(next) {
                            has_null |= next == b'N';
                            row.bytes.push(unescape(next));
                            continue;
                        }
                        cursor.at -= 1;
                        self.character(cursor, row, start)?;
                        continue;
                    }
                    Some(_) => cursor.at -= 1,
                }
            }
            if quote.is_none() && cursor.completes(byte, &self.format.lines_terminated)? {
                self.end_field(row, start, false, has_null);
                return Ok(Behind::Line);
            }
            if quote == Some(byte) {
                let next = cursor.next()?;
                match next {
                    Some(next) if next == byte => {
                        row.bytes.push(byte);
                        continue;
                    }
                    None => {
                        self.end_field(row, start, true, has_null);
                        return Ok(Behind::Line);
                    }
                    Some(next) if cursor.completes(next, &self.format.lines_terminated)? => {
                        self.end_field(row, start, true, has_null);
                        return Ok(Behind::Line);
                    }
                    Some(next) if cursor.completes(next, &self.format.fields_terminated)? => {
                        self.end_field(row, start, true, has_null);
                        return Ok(Behind::Field);
                    }
                    // The field goes on.
                    Some(_) => cursor.at -= 1,
                }
            } else if quote.is_none() && cursor.completes(byte, &self.format.fields_terminated)? {
                self.end_field(row, start, false, has_null);
                return Ok(Behind::Field);
            }
            cursor.at -= 1;
            self.character(cursor, row, start)?;
        }
    }

    /// Takes one character; of an invalid one only the first byte.
    fn character(&self, cursor: &mut Cursor<'_>, row: &mut Row, start: usize) -> Result<(), Stop> {
        let rest = &cursor.bytes[cursor.at..];
        if matches!(self.charset, Charset::MultiByte(_)) && rest[0] >= 0x80 {
            if rest.len() < self.charset.char_bytes_max() && !cursor.last {
                return Err(Stop::Short);
            }
            let length = self.charset.first_char_bytes(rest);
            row.bytes.extend_from_slice(&rest[..length]);
            cursor.at += length;
            return Ok(());
        }
        let length = match self.character_length(rest[0]) {
            0 => return Err(Stop::Invalid(row.bytes[start..].to_vec())),
            length => length,
        };
        if rest.len() < length {
            if !cursor.last {
                return Err(Stop::Short);
            }
            // A character that the end of the file cuts is not taken.
            cursor.at = cursor.bytes.len();
            return Ok(());
        }
        let taken = if std::str::from_utf8(&rest[..length]).is_ok() { length } else { 1 };
        row.bytes.extend_from_slice(&rest[..taken]);
        cursor.at += taken;
        Ok(())
    }

    /// The length of a character by its first byte; 0: no character starts with this byte.
    fn character_length(&self, first: u8) -> usize {
        match (self.charset, first) {
            (_, 0..=0x7f) => 1,
            (set, _) if set.char_bytes_max() == 1 => 1,
            // The second byte may tell that there are more; `character` looks at it.
            (Charset::MultiByte(_), _) => 2,
            (_, 0xc2..=0xdf) => 2,
            (_, 0xe0..=0xef) => 3,
            (Charset::Utf8mb4, 0xf0..=0xf4) => 4,
            _ => 0,
        }
    }

    /// Does a character of several bytes start with this byte?
    fn is_lead(&self, byte: u8) -> bool {
        self.character_length(byte) != 1
    }

    fn end_field(&self, row: &mut Row, start: usize, enclosed: bool, has_null: bool) {
        let end = row.bytes.len();
        let start = if enclosed { start + 1 } else { start };
        let text = &row.bytes[start..end];
        let is_word = !enclosed && self.format.enclosed.is_some() && text == b"NULL";
        let is_null = is_word || has_null && text.len() == 1;
        row.fields.push(FieldAt { start, end, is_null });
    }

    /// The fields of a row without separators.
    fn fixed_fields(&self, cursor: &mut Cursor<'_>, row: &mut Row) -> Result<Behind, Stop> {
        let whole: usize = self.widths.iter().sum();
        let mut behind = Behind::Field;
        while row.bytes.len() < whole {
            let Some(byte) = cursor.next()? else {
                behind = if row.bytes.is_empty() { Behind::Nothing } else { Behind::Line };
                break;
            };
            if Some(byte) == self.format.escaped {
                row.bytes.push(cursor.next()?.map_or(byte, unescape));
            } else if cursor.completes(byte, &self.format.lines_terminated)? {
                behind = Behind::Line;
                break;
            } else {
                row.bytes.push(byte);
            }
        }
        let mut start = 0;
        for width in &self.widths {
            if start == row.bytes.len() {
                break;
            }
            let end = (start + width).min(row.bytes.len());
            row.fields.push(FieldAt { start, end, is_null: false });
            start = end;
        }
        Ok(behind)
    }

    /// Moves past the end of the line, and returns whether anything stood before it; `None`: the file ends first.
    fn rest_of_line(&self, cursor: &mut Cursor<'_>) -> Result<Option<bool>, Short> {
        let mut any = false;
        loop {
            let Some(byte) = cursor.next()? else { return Ok(None) };
            for _ in 1..self.character_length(byte) {
                cursor.next()?;
            }
            if Some(byte) == self.format.escaped {
                cursor.next()?;
            } else if cursor.completes(byte, &self.format.lines_terminated)? {
                return Ok(Some(any));
            }
            any = true;
        }
    }
}

/// The meaning of an escaped byte.
fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        other => other,
    }
}

/// A place in the bytes.
struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Nothing follows the bytes.
    last: bool,
}

impl Cursor<'_> {
    /// `None`: the file has ended.
    fn next(&mut self) -> Result<Option<u8>, Short> {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(Some(*byte))
            }
            None if self.last => Ok(None),
            None => Err(Short),
        }
    }

    /// Takes these bytes, if they are next.
    fn accept(&mut self, wanted: &[u8]) -> Result<bool, Short> {
        let rest = &self.bytes[self.at..];
        let common = rest.len().min(wanted.len());
        if rest[..common] != wanted[..common] {
            return Ok(false);
        }
        if common < wanted.len() {
            return if self.last { Ok(false) } else { Err(Short) };
        }
        self.at += common;
        Ok(true)
    }

    /// Takes the rest of this separator, if the last byte was its first and the rest follows.
    fn completes(&mut self, byte: u8, separator: &[u8]) -> Result<bool, Short> {
        match separator.split_first() {
            Some((&first, rest)) if first == byte => self.accept(rest),
            _ => Ok(false),
        }
    }

    /// Copies bytes without a special meaning.
    fn copy_plain(&mut self, special: &[bool; 256], out: &mut Vec<u8>) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| special[usize::from(*byte)]).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..length]);
        self.at += length;
    }
}

#[cfg(test)]
mod tests;
