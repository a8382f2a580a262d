//! Kinds of expressions, and what there is of each: one table for literals and templates.

use crate::dice::Dice;
use crate::{templates, values};

/// What an expression or column roughly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Decimal,
    Real,
    Text,
    Binary,
    Date,
    Time,
    DateTime,
    Json,
    Bool,
}

struct Entry {
    kind: Kind,
    /// What stands for it in a template.
    letter: &'static str,
    literals: &'static [&'static str],
    templates: &'static [&'static str],
}

/// In the order of the kinds.
const ENTRIES: [Entry; 10] = [
    Entry { kind: Kind::Int, letter: "i", literals: values::INTS, templates: templates::INTS },
    Entry { kind: Kind::Decimal, letter: "n", literals: values::DECIMALS, templates: templates::DECIMALS },
    Entry { kind: Kind::Real, letter: "r", literals: values::REALS, templates: templates::REALS },
    Entry { kind: Kind::Text, letter: "t", literals: values::TEXTS, templates: templates::TEXTS },
    Entry { kind: Kind::Binary, letter: "b", literals: values::BINARIES, templates: templates::BINARIES },
    Entry { kind: Kind::Date, letter: "d", literals: values::DATES, templates: templates::DATES },
    Entry { kind: Kind::Time, letter: "h", literals: values::TIMES, templates: templates::TIMES },
    Entry { kind: Kind::DateTime, letter: "m", literals: values::DATETIMES, templates: templates::DATETIMES },
    Entry { kind: Kind::Json, letter: "j", literals: values::JSONS, templates: templates::JSONS },
    Entry { kind: Kind::Bool, letter: "p", literals: values::BOOLS, templates: templates::BOOLS },
];

impl Kind {
    fn entry(self) -> &'static Entry {
        &ENTRIES[self as usize]
    }

    pub fn any(dice: &mut Dice) -> Self {
        dice.choose(&ENTRIES).kind
    }

    /// The kind that a template's letter asks for; `None` is anything.
    pub fn of_letter(letter: &str) -> Option<Self> {
        ENTRIES.iter().find(|entry| entry.letter == letter).map(|entry| entry.kind)
    }

    /// The templates whose result is of the kind.
    pub fn templates(self) -> &'static [&'static str] {
        self.entry().templates
    }

    /// A literal, small numbers and NULL more often than the others.
    pub fn literal(self, dice: &mut Dice) -> &'static str {
        match dice.below(20) {
            0 => "NULL",
            1..=6 if self == Kind::Int => ["0", "1", "2", "3", "-1", "10"][dice.below(6)],
            _ => dice.pick(self.entry().literals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ENTRIES;

    #[test]
    fn entries_stand_in_the_order_of_the_kinds() {
        for (place, entry) in ENTRIES.iter().enumerate() {
            assert_eq!(entry.kind as usize, place);
        }
    }
}
