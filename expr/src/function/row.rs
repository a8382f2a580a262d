//! A built-in function as one row: names, rules of type and NULL, the parts that arguments play, implementation.
//!
//! The rows of an area stand at the head of its file. [`functions!`](super::functions) makes a table and a constant for each row, as
//! [`Function::ABS`](crate::Function::ABS). A row without a type or an implementation does not compile.

use super::rules::{Lengths, Problem, Rule, Typing};
use crate::eval::{Env, Evaluated};
use crate::tree::Expr;
use types::{CollationId, ColumnType};

/// Any number of arguments.
pub const ANY: usize = usize::MAX;

/// A name in capitals, with the fewest and the most arguments.
pub type Name = (&'static str, usize, usize);

/// Computes a call: the environment, the call's expression, its arguments.
pub type Implementation = for<'a> fn(&Env<'a>, &'a Expr, &'a [Expr]) -> Evaluated<'a>;

/// How the type of a call is found.
#[derive(Clone, Copy)]
pub enum TypeOf {
    Rule(Rule),
    /// A string in the collation of the call, of at most so many characters.
    Text(fn(&Lengths<'_>) -> u64),
}

/// When a call may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// Always.
    Always,
    /// Never, whatever the arguments are.
    Never,
    /// If an argument may be.
    AnyArgument,
    /// If all arguments may be.
    AllArguments,
    /// If one of the arguments from this one on may be.
    From(usize),
    /// If an argument may be, and in strict mode: the characters may not exist in the character set.
    Converted,
    /// If the first argument may be, and in strict mode.
    FirstConverted,
}

/// What type parameters get that stand as arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameters {
    Text,
    Double,
    /// A decimal, and an integer as the second argument.
    Rounded,
    Time,
    /// The type of the others from this argument on.
    Choice(usize),
}

/// A set of arguments by number: a bit for each of the first seven, and one for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places(u8);

impl Places {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(u8::MAX);

    /// The arguments before this one.
    pub const fn before(number: u32) -> Self {
        Self((1 << number) - 1)
    }

    /// This argument and all behind it.
    pub const fn from(number: u32) -> Self {
        Self(!Self::before(number).0)
    }

    /// The arguments from the first number on, before the second.
    pub const fn range(first: u32, end: u32) -> Self {
        Self(Self::from(first).0 & Self::before(end).0)
    }

    /// All but one.
    pub const fn but(number: u32) -> Self {
        Self(!(1 << number))
    }

    /// One argument.
    pub const fn only(number: u32) -> Self {
        Self(1 << number)
    }

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn holds(self, number: usize) -> bool {
        let bit = if number < 7 { number } else { 7 };
        self.0 >> bit & 1 == 1
    }
}

/// What is known of a function besides its implementation.
#[derive(Clone, Copy)]
pub struct Row {
    /// The name in messages, in capitals.
    pub name: &'static str,
    /// The names that a call may use. None: the grammar makes the calls.
    pub names: &'static [Name],
    pub ty: TypeOf,
    pub null: Null,
    pub parameters: Parameters,
    /// Arguments whose characters get into the result or a comparison.
    pub texts: Places,
    /// Arguments that take part in the collation of the result or of a comparison. A function that edits one string takes that
    /// string's.
    pub collated: Places,
    /// Arguments that are integers: positions, lengths, counts, bits.
    pub integers: Places,
    /// Arguments that are numbers, also as hexadecimal literals, and become a time or a place in a list.
    pub numbers: Places,
    /// A function of numbers with a number as its result.
    pub is_numeric: bool,
    /// It compares its strings, by a collation that they must have in common.
    pub compares: bool,
    /// The result is one of the arguments.
    pub chooses: bool,
    /// The result has the coercibility of USER().
    pub is_system_constant: bool,
    /// Another value each time it is computed, or an effect.
    pub is_volatile: bool,
    /// The digits of the integer result, if they are fewer than a BIGINT has.
    pub digits: Option<u32>,
    /// The most characters of the result, where its type has the size of a column.
    pub length: Option<fn(&[Expr]) -> u64>,
    /// The note in `docs/COMPATIBILITY.md` after its name.
    pub note: Option<&'static str>,
}

/// The names of a row, which has no type yet.
pub struct Named {
    name: &'static str,
    names: &'static [Name],
}

/// A function that is called by name. The first name is that of messages.
pub const fn named(names: &'static [Name]) -> Named {
    Named { name: names[0].0, names }
}

/// A function whose calls the grammar makes, and its name in messages.
pub const fn of_grammar(name: &'static str) -> Named {
    Named { name, names: &[] }
}

impl Named {
    /// The type of the result.
    pub const fn typed(self, rule: Rule) -> Row {
        self.row(TypeOf::Rule(rule))
    }

    /// The result is a string made of the arguments, with this many characters at most.
    pub const fn text(self, length: fn(&Lengths<'_>) -> u64) -> Row {
        self.row(TypeOf::Text(length))
    }

    const fn row(self, ty: TypeOf) -> Row {
        Row {
            name: self.name,
            names: self.names,
            ty,
            null: Null::Always,
            parameters: Parameters::Text,
            texts: Places::ALL,
            collated: Places::ALL,
            integers: Places::NONE,
            numbers: Places::NONE,
            is_numeric: false,
            compares: false,
            chooses: false,
            is_system_constant: false,
            is_volatile: false,
            digits: None,
            length: None,
            note: None,
        }
    }
}

impl Row {
    /// May a call with these arguments be NULL?
    pub fn is_nullable(&self, args: &[Expr], is_strict: bool) -> bool {
        let any = |args: &[Expr]| args.iter().any(|arg| arg.nullable);
        match self.null {
            Null::Always => true,
            Null::Never => false,
            Null::AnyArgument => any(args),
            Null::AllArguments => args.iter().all(|arg| arg.nullable),
            Null::From(first) => any(&args[first..]),
            Null::Converted => is_strict || any(args),
            Null::FirstConverted => is_strict || args[0].nullable,
        }
    }

    /// The type of a call with these arguments. `collation` is that of its strings.
    ///
    /// # Errors
    /// A constant argument is not allowed.
    pub fn type_of(&self, typing: &dyn Typing, args: &[Expr], collation: CollationId) -> Result<ColumnType, Problem> {
        match self.ty {
            TypeOf::Rule(rule) => rule(typing, args, collation),
            TypeOf::Text(length) => Ok(crate::typing::string(length(&Lengths::new(args, collation)), collation)),
        }
    }

    pub const fn null(mut self, null: Null) -> Self {
        self.null = null;
        self
    }

    pub const fn parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// The arguments that are texts; they also take part in the collation.
    pub const fn texts(mut self, places: Places) -> Self {
        (self.texts, self.collated) = (places, places);
        self
    }

    /// The arguments that take part in the collation, where others do not that are texts.
    pub const fn collated(mut self, places: Places) -> Self {
        self.collated = places;
        self
    }

    pub const fn integers(mut self, places: Places) -> Self {
        self.integers = places;
        self
    }

    pub const fn numbers(mut self, places: Places) -> Self {
        self.numbers = places;
        self
    }

    pub const fn numeric(mut self) -> Self {
        self.is_numeric = true;
        if matches!(self.parameters, Parameters::Text) {
            self.parameters = Parameters::Double;
        }
        self
    }

    pub const fn compares(mut self) -> Self {
        self.compares = true;
        self
    }

    pub const fn chooses(mut self) -> Self {
        self.chooses = true;
        self
    }

    pub const fn system_constant(mut self) -> Self {
        self.is_system_constant = true;
        self
    }

    pub const fn volatile(mut self) -> Self {
        self.is_volatile = true;
        self
    }

    pub const fn digits(mut self, digits: u32) -> Self {
        self.digits = Some(digits);
        self
    }

    pub const fn note(mut self, note: &'static str) -> Self {
        self.note = Some(note);
        self
    }

    pub const fn length(mut self, length: fn(&[Expr]) -> u64) -> Self {
        self.length = Some(length);
        self
    }
}

/// The functions of one area of [`crate::func::Area`]: `NAME = row => implementation;`. `through` names a function that is applied to every result.
macro_rules! functions {
    ($area:ident; $($rows:tt)+) => {
        crate::function::row::functions!(@table $area [] $($rows)+);
    };
    ($area:ident through $through:path; $($rows:tt)+) => {
        crate::function::row::functions!(@table $area [$through] $($rows)+);
    };
    (@table $area:ident $through:tt $($(#[$about:meta])* $name:ident = $row:expr => $call:expr;)+) => {
        /// The numbers of the area's functions.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are those of the constants")]
        enum Number {
            $($name,)+
        }

        impl crate::func::Function {
            $(
                $(#[$about])*
                #[doc = concat!("`", stringify!($name), "` in `", file!(), "`")]
                pub const $name: Self = Self::new(crate::func::Area::$area, Number::$name as u8);
            )+
        }

        /// The area's rows, by the numbers of its functions.
        pub(crate) static ROWS: &[crate::function::row::Row] = &[$($row,)+];

        /// Their implementations.
        pub(crate) static CALLS: &[crate::function::row::Implementation] = &[
            $(crate::function::row::functions!(@call $call, $through),)+
        ];
    };
    (@call $call:expr, []) => { $call };
    (@call $call:expr, [$through:path]) => {
        |env, node, args| {
            const CALL: crate::function::row::Implementation = $call;
            $through(env, node, CALL(env, node, args))
        }
    };
}
pub(super) use functions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_hold_arguments() {
        let held = |places: Places| (0..10).filter(|n| places.holds(*n)).collect::<Vec<_>>();
        assert_eq!(held(Places::before(2)), [0, 1]);
        assert_eq!(held(Places::from(6)), [6, 7, 8, 9]);
        assert_eq!(held(Places::range(1, 3)), [1, 2]);
        assert_eq!(held(Places::but(1)), [0, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(held(Places::only(0).and(Places::only(3))), [0, 3]);
        assert_eq!((held(Places::NONE).len(), held(Places::ALL).len()), (0, 10));
    }
}
