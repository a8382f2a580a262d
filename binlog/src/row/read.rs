//! Rows of another server's binary log as values of a table here: the way back of `row`.
//!
//! R3: a table of the stream fits one here if it has the same columns, in number, type and character set. MySQL may convert between some
//!     types (`replica_type_conversions`); here a column that differs is refused by name, before a row of the event is read.
//! R4: an image is checked as it is read: nothing in it reserves memory beyond the event's own bytes.

use super::{DIGITS_OF_GROUP, Form, GROUP_BYTES, WireColumn, WireTable};
use crate::read::{BadEvent, Rest, TableMap, is_character};
use std::borrow::Cow;
use types::charset::Charset;
use types::json::Json;
use types::row::{enum_value, set_names};
use types::{CollationId, Date, DateTime, Decimal, Time, TypeKind, Value};

type Result<T> = std::result::Result<T, BadEvent>;

/// Why a table of the stream does not fit the one here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The stream has so many columns, the table here so many.
    Columns(usize, usize),
    /// The column at this position, and its name here.
    Column(usize, String),
}

/// One image of a row: by column of the definition here, its value; `None`: the image does not have the column.
pub type Image = Vec<Option<Value<'static>>>;

impl WireTable {
    /// Does the table of the stream fit this one? R3
    ///
    /// # Errors
    /// Where it does not.
    pub fn fits(&self, map: &TableMap) -> std::result::Result<(), Misfit> {
        if map.columns.len() != self.columns.len() {
            return Err(Misfit::Columns(map.columns.len(), self.columns.len()));
        }
        let (mut texts, mut numbers) = (0, 0);
        for (at, ((kind, meta), wire)) in map.columns.iter().zip(&self.columns).enumerate() {
            let column = &self.def.columns[wire.column];
            let mut fits = *kind == wire.kind && *meta == wire.meta;
            if is_character(*kind, *meta) {
                if let Some(collation) = map.collations.get(texts) {
                    fits &= Charset::of(CollationId(*collation)) == wire.charset;
                }
                texts += 1;
            }
            if super::is_numeric(*kind) {
                if let Some(unsigned) = map.unsigned.get(numbers) {
                    fits &= *unsigned == (column.ty.unsigned || column.ty.kind == TypeKind::Year);
                }
                numbers += 1;
            }
            if !fits {
                return Err(Misfit::Column(at, column.name.clone()));
            }
        }
        Ok(())
    }

    /// Reads the image at the front of `images`, which has the columns `shown`, and moves behind it.
    ///
    /// # Errors
    /// Bytes that are no image of this table. R4
    pub fn read_image(&self, images: &mut &[u8], shown: &[bool]) -> Result<Image> {
        if shown.len() != self.columns.len() {
            return Err(BadEvent("rows have another number of columns than their table"));
        }
        let mut rest = Rest(images);
        let nulls = rest.take(shown.iter().filter(|shown| **shown).count().div_ceil(8))?;
        let mut image: Image = vec![None; self.def.columns.len()];
        let visible = self.columns.iter().zip(shown).filter(|(_, shown)| **shown).map(|(column, _)| column);
        for (at, wire) in visible.enumerate() {
            let is_null = nulls[at / 8] >> (at % 8) & 1 == 1;
            image[wire.column] = Some(if is_null { Value::Null } else { wire.read(&mut rest, self)? });
        }
        *images = rest.0;
        Ok(image)
    }
}

fn wrong<T>(value: Option<T>) -> Result<T> {
    value.ok_or(BadEvent("a value is not one of its column's type"))
}

impl WireColumn {
    fn read(&self, rest: &mut Rest<'_>, table: &WireTable) -> Result<Value<'static>> {
        let ty = &table.def.columns[self.column].ty;
        Ok(match self.form {
            Form::Int(bytes) => {
                let bits = rest.number(usize::from(bytes))?;
                if ty.unsigned {
                    Value::UInt(bits)
                } else {
                    let shift = 64 - 8 * u32::from(bytes);
                    Value::Int((bits << shift) as i64 >> shift)
                }
            }
            Form::Float => Value::Double(f64::from(f32::from_bits(rest.number(4)? as u32))),
            Form::Double => Value::Double(f64::from_bits(rest.number(8)?)),
            Form::Decimal { precision, scale } => Value::Decimal(read_decimal(rest, precision, scale)?),
            Form::Date => {
                let bits = rest.number(3)?;
                let date = Date { year: (bits >> 9) as u16, month: (bits >> 5 & 15) as u8, day: (bits & 31) as u8 };
                Value::Date(wrong((date.year <= 9999 && date.month <= 12).then_some(date))?)
            }
            Form::Time(fsp) => Value::Time(read_time(rest, fsp)?),
            Form::DateTime(fsp) => {
                let whole = wrong(rest.big(5)?.checked_sub(0x80_0000_0000))?;
                let micros = u64::from(read_fraction(rest, fsp)?);
                Value::DateTime(wrong(DateTime::unpack(whole << 24 | micros))?)
            }
            Form::Timestamp(fsp) => {
                let (seconds, micros) = (rest.big(4)? as i64, i64::from(read_fraction(rest, fsp)?));
                match seconds * 1_000_000 + micros {
                    0 => Value::DateTime(DateTime::ZERO),
                    micros => Value::DateTime(wrong(DateTime::from_utc_micros(micros))?),
                }
            }
            Form::Year => match rest.byte()? {
                0 => Value::Int(0),
                year => Value::Int(1900 + i64::from(year)),
            },
            Form::Bits(bytes) => {
                let bits = rest.number(usize::from(bytes))?;
                let value = match &ty.kind {
                    TypeKind::Enum { .. } => enum_value(ty, bits),
                    _ => set_names(ty, bits).map(Value::Bytes),
                };
                wrong(value)?.into_owned()
            }
            Form::Bit(bytes) => Value::UInt(rest.big(usize::from(bytes))?),
            Form::Text(length_bytes) => {
                let length = rest.number(usize::from(length_bytes))? as usize;
                self.decoded(rest.take(length)?)?
            }
            Form::Padded(length_bytes, pad) => {
                let length = rest.number(usize::from(length_bytes))? as usize;
                let bytes = rest.take(length)?;
                match ty.kind {
                    // BINARY is stored with its zero bytes.
                    TypeKind::Binary { length } if pad == 0 => {
                        let mut whole = bytes.to_vec();
                        whole.resize(wrong(usize::try_from(length).ok())?.max(bytes.len()), 0);
                        Value::Bytes(Cow::Owned(whole))
                    }
                    _ => self.decoded(bytes)?,
                }
            }
            Form::Json => {
                let length = rest.number(4)? as usize;
                let document = rest.take(length)?;
                let document = if document.is_empty() { Json::Null } else { wrong(crate::json::read(document))? };
                Value::Bytes(Cow::Owned(document.to_binary()))
            }
        })
    }

    fn decoded(&self, bytes: &[u8]) -> Result<Value<'static>> {
        Ok(Value::Bytes(Cow::Owned(wrong(self.charset.decode(bytes))?.into_owned())))
    }
}

fn read_fraction(rest: &mut Rest<'_>, fsp: u8) -> Result<u32> {
    let micros = match fsp {
        0 => 0,
        1 | 2 => rest.big(1)? * 10_000,
        3 | 4 => rest.big(2)? * 100,
        _ => rest.big(3)?,
    };
    wrong((micros < 1_000_000).then_some(micros as u32))
}

/// A TIME: see `put_time`.
fn read_time(rest: &mut Rest<'_>, fsp: u8) -> Result<Time> {
    if fsp > 4 {
        return time_of_packed(rest.big(6)? as i64 - 0x8000_0000_0000);
    }
    let whole = rest.big(3)? as i64 - 0x80_0000;
    let fraction = match fsp {
        0 => 0,
        1 | 2 => i64::from(rest.byte()? as i8) * 10_000,
        _ => i64::from(rest.big(2)? as u16 as i16) * 100,
    };
    // The whole part of a negative time was rounded down.
    let whole = if whole < 0 && fraction != 0 { whole + 1 } else { whole };
    time_of_packed((whole << 24) + fraction)
}

/// The inverse of `packed_time`.
pub(crate) fn time_of_packed(packed: i64) -> Result<Time> {
    let size = packed.unsigned_abs();
    let (whole, micros) = (size >> 24, size & 0xff_ffff);
    let (hours, minutes, seconds) = (whole >> 12, whole >> 6 & 63, whole & 63);
    let fits = hours <= 838 && minutes < 60 && seconds < 60 && micros < 1_000_000;
    let micros = (((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros) as i64;
    wrong(fits.then_some(Time { micros: if packed < 0 { -micros } else { micros } }))
}

/// A DECIMAL: see `put_decimal`.
pub(crate) fn read_decimal(rest: &mut Rest<'_>, precision: u8, scale: u8) -> Result<Decimal> {
    let (whole, scale) = (usize::from(wrong(precision.checked_sub(scale))?), usize::from(scale));
    let bytes_of = |digits: usize| digits / DIGITS_OF_GROUP * 4 + GROUP_BYTES[digits % DIGITS_OF_GROUP];
    let mut bytes = rest.take(bytes_of(whole) + bytes_of(scale))?.to_vec();
    let first = wrong(bytes.first_mut())?;
    let is_negative = *first & 0x80 == 0;
    *first ^= 0x80;
    if is_negative {
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let mut left = Rest(&bytes);
    let mut text = String::with_capacity(usize::from(precision) + 3);
    if is_negative {
        text.push('-');
    }
    text.push('0');
    let mut group = |text: &mut String, digits: usize| -> Result<()> {
        if digits == 0 {
            return Ok(());
        }
        let number = format!("{:0digits$}", left.big(GROUP_BYTES[digits])?);
        wrong((number.len() == digits).then(|| text.push_str(&number)))
    };
    group(&mut text, whole % DIGITS_OF_GROUP)?;
    for _ in 0..whole / DIGITS_OF_GROUP {
        group(&mut text, DIGITS_OF_GROUP)?;
    }
    if scale > 0 {
        text.push('.');
    }
    for _ in 0..scale / DIGITS_OF_GROUP {
        group(&mut text, DIGITS_OF_GROUP)?;
    }
    group(&mut text, scale % DIGITS_OF_GROUP)?;
    wrong(Decimal::parse_exact(&text))
}

#[cfg(test)]
mod tests;
