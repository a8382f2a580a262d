//! Values that tell their column, their row and a version.
//!
//! A number is `column * 10^12 + row * 10^4 + version`, a text is the column's letter before the same number.

/// What a value of a column must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    A = 1,
    B = 2,
    /// A text.
    Z = 3,
}

const COLUMN_UNIT: u64 = 1_000_000_000_000;
const ROW_UNIT: u64 = 10_000;

impl Column {
    pub fn letter(self) -> char {
        match self {
            Self::A => 'a',
            Self::B => 'b',
            Self::Z => 'z',
        }
    }

    pub fn number(self, row: u64, version: u64) -> u64 {
        self as u64 * COLUMN_UNIT + row * ROW_UNIT + version % ROW_UNIT
    }

    /// The value as SQL writes it.
    pub fn literal(self, row: u64, version: u64) -> String {
        let number = self.number(row, version);
        if self == Self::Z { format!("'z{number}'") } else { number.to_string() }
    }

    /// Is this a value of this column and row?
    pub fn owns(self, row: u64, value: &mysql::Value) -> bool {
        let number = match value {
            mysql::Value::Int(value) => u64::try_from(*value).ok(),
            mysql::Value::UInt(value) => Some(*value),
            mysql::Value::Bytes(text) => {
                let text = String::from_utf8_lossy(text);
                let digits = if self == Self::Z { text.strip_prefix('z') } else { Some(&*text) };
                digits.and_then(|digits| digits.parse().ok())
            }
            _ => None,
        };
        number.is_some_and(|number| number / COLUMN_UNIT == self as u64 && number % COLUMN_UNIT / ROW_UNIT == row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_to_its_column_and_row_alone() {
        let value = mysql::Value::UInt(Column::A.number(7, 12));
        assert!(Column::A.owns(7, &value));
        assert!(!Column::B.owns(7, &value) && !Column::A.owns(8, &value));
        assert!(Column::Z.owns(3, &mysql::Value::Bytes(format!("z{}", Column::Z.number(3, 1)).into())));
        assert!(!Column::Z.owns(3, &value));
    }
}
