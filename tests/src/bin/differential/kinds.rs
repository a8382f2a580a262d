//! Kinds of expressions, and what there is of each: one table for literals and templates.

use crate::dice::Dice;
use crate::{plain, templates, values};

/// What the statements of a round are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Style {
    /// Every form over every type, and values at their edges.
    Wild,
    /// What applications ask (`plain`).
    Plain,
}

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
const WILD: [Entry; 10] = [
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

/// The same for plain statements.
const PLAIN: [Entry; 10] = [
    Entry { kind: Kind::Int, letter: "i", literals: plain::INT_LITERALS, templates: plain::INTS },
    Entry { kind: Kind::Decimal, letter: "n", literals: plain::DECIMAL_LITERALS, templates: plain::DECIMALS },
    Entry { kind: Kind::Real, letter: "r", literals: plain::REAL_LITERALS, templates: plain::REALS },
    Entry { kind: Kind::Text, letter: "t", literals: plain::TEXT_LITERALS, templates: plain::TEXTS },
    Entry { kind: Kind::Binary, letter: "b", literals: plain::BINARY_LITERALS, templates: plain::BINARIES },
    Entry { kind: Kind::Date, letter: "d", literals: plain::DATE_LITERALS, templates: plain::DATES },
    Entry { kind: Kind::Time, letter: "h", literals: plain::TIME_LITERALS, templates: plain::TIMES },
    Entry { kind: Kind::DateTime, letter: "m", literals: plain::DATETIME_LITERALS, templates: plain::DATETIMES },
    Entry { kind: Kind::Json, letter: "j", literals: plain::JSON_LITERALS, templates: plain::JSONS },
    Entry { kind: Kind::Bool, letter: "p", literals: plain::BOOL_LITERALS, templates: plain::BOOLS },
];

impl Kind {
    fn entry(self, style: Style) -> &'static Entry {
        match style {
            Style::Wild => &WILD[self as usize],
            Style::Plain => &PLAIN[self as usize],
        }
    }

    pub fn any(dice: &mut Dice, style: Style) -> Self {
        match style {
            Style::Wild => dice.choose(&WILD).kind,
            Style::Plain => dice.pick(plain::KINDS),
        }
    }

    /// The kind that a template's letter asks for; `None` is anything.
    pub fn of_letter(letter: &str) -> Option<Self> {
        WILD.iter().find(|entry| entry.letter == letter).map(|entry| entry.kind)
    }

    /// The templates whose result is of the kind.
    pub fn templates(self, style: Style) -> &'static [&'static str] {
        self.entry(style).templates
    }

    /// A literal, small numbers and NULL more often than the others.
    pub fn literal(self, dice: &mut Dice, style: Style) -> &'static str {
        match dice.below(20) {
            0 => "NULL",
            1..=6 if self == Kind::Int => ["0", "1", "2", "3", "-1", "10"][dice.below(6)],
            _ => dice.pick(self.entry(style).literals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PLAIN, WILD};

    #[test]
    fn entries_stand_in_the_order_of_the_kinds() {
        for (place, (wild, plain)) in WILD.iter().zip(&PLAIN).enumerate() {
            assert_eq!((wild.kind as usize, plain.kind as usize), (place, place));
            assert_eq!(wild.letter, plain.letter);
        }
    }
}
