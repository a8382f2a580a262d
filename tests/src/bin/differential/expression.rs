//! Random expressions over the columns in scope.

use crate::dice::Dice;
use crate::kinds::{Kind, Style};
use crate::piece::Piece;
use crate::query;
use crate::schema::{Column, Schema};
use crate::seq;

/// Small integers for lengths and positions: nothing grows out of hand.
const SMALL: &[&str] = &["0", "1", "2", "3", "4", "5", "8", "12"];

/// What names are known where an expression stands.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// As they are written: `t1.a`.
    pub columns: Vec<Column>,
    /// Of the queries around it.
    pub outer: Vec<Column>,
    /// Subqueries may stand in it.
    pub subqueries: bool,
}

/// How literals are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    Literals,
    /// Some are parameters of a prepared statement.
    Parameters,
    /// Some are user variables.
    Variables,
}

/// Makes expressions, queries and changes of one schema.
pub struct Maker<'a> {
    pub dice: &'a mut Dice,
    pub schema: &'a Schema,
    /// Numbers aliases, so that every one is its own.
    pub alias: usize,
    /// Common table expressions in scope.
    pub common: Vec<(String, Vec<Column>)>,
    /// How many queries there are around.
    pub nesting: usize,
    pub given: Given,
    /// The values of the user variables `@p0`, `@p1`, ...
    pub variables: Vec<&'static str>,
    /// Changes are for a stored program: handlers hear of deprecated forms, and what a statement of a function has changed before it fails stays in
    /// MySQL.
    pub in_program: bool,
}

impl<'a> Maker<'a> {
    pub fn new(dice: &'a mut Dice, schema: &'a Schema) -> Self {
        Self {
            dice,
            schema,
            alias: 0,
            common: Vec::new(),
            nesting: 0,
            given: Given::Literals,
            variables: Vec::new(),
            in_program: false,
        }
    }

    pub fn fresh(&mut self, prefix: &str) -> String {
        self.alias += 1;
        format!("{prefix}{}", self.alias)
    }

    pub fn any_kind(&mut self) -> Kind {
        Kind::any(self.dice, self.schema.style)
    }

    pub fn literal(&mut self, kind: Kind) -> Piece {
        let text = kind.literal(self.dice, self.schema.style);
        let plain =
            matches!(kind, Kind::Int | Kind::Decimal | Kind::Real | Kind::Text | Kind::Date | Kind::DateTime | Kind::Time);
        match self.given {
            Given::Parameters if plain && self.dice.chance(60) => Piece::Given(text),
            Given::Variables if plain && self.dice.chance(60) => {
                self.variables.push(text);
                format!("@p{}", self.variables.len() - 1).into()
            }
            _ => text.into(),
        }
    }

    /// The number for a round of the wild style, or that for a plain one.
    pub fn by_style(&self, wild: usize, plain: usize) -> usize {
        if self.schema.style == Style::Wild { wild } else { plain }
    }

    /// Is the kind one that statements of this style have?
    pub fn is_usual(&self, kind: Kind) -> bool {
        self.schema.style == Style::Wild || !matches!(kind, Kind::Binary | Kind::Json)
    }

    /// Does an argument of an aggregate have another kind than it is asked for?
    pub fn strays(&mut self) -> bool {
        let percent = self.by_style(10, 0);
        self.dice.chance(percent)
    }

    /// An expression that is mostly of the kind, at most so deep.
    pub fn expression(&mut self, scope: &Scope, kind: Kind, depth: usize) -> Piece {
        let stray = self.by_style(6, 0);
        let kind = if self.dice.chance(stray) { self.any_kind() } else { kind };
        if depth == 0 || self.dice.chance(25) {
            return self.leaf(scope, kind);
        }
        let nested = self.by_style(6, 12);
        if scope.subqueries && self.nesting < 3 && self.dice.chance(nested) {
            return query::in_expression(self, scope, kind, depth);
        }
        let template = self.dice.pick(kind.templates(self.schema.style));
        self.fill(scope, template, depth)
    }

    pub fn condition(&mut self, scope: &Scope, depth: usize) -> Piece {
        self.expression(scope, Kind::Bool, depth.max(1))
    }

    fn leaf(&mut self, scope: &Scope, kind: Kind) -> Piece {
        let any = kind == Kind::Bool && self.schema.style == Style::Wild;
        let fits: Vec<&Column> = scope.columns.iter().filter(|c| c.kind == kind || any).collect();
        let column = self.by_style(60, 85);
        if !fits.is_empty() && self.dice.chance(column) {
            return Piece::from(self.dice.choose(&fits).name.clone()).expr();
        }
        let outer: Vec<&Column> = scope.outer.iter().filter(|c| c.kind == kind).collect();
        if !outer.is_empty() && self.dice.chance(40) {
            return Piece::from(self.dice.choose(&outer).name.clone()).expr();
        }
        let other = self.by_style(25, 0);
        if !scope.columns.is_empty() && self.dice.chance(other) {
            return Piece::from(self.dice.choose(&scope.columns).name.clone()).expr();
        }
        self.literal(kind).expr()
    }

    /// A template with its arguments in place.
    fn fill(&mut self, scope: &Scope, template: &'static str, depth: usize) -> Piece {
        let mut pieces = Vec::new();
        let operator = !template.ends_with(')') || template.starts_with(['{', '-', '~', '(']);
        if operator {
            pieces.push(Piece::from("("));
        }
        let mut rest = template;
        while let Some(at) = rest.find('{') {
            pieces.push(Piece::from(&rest[..at]));
            let word = &rest[at + 1..at + 2];
            pieces.push(match word {
                "s" => Piece::from(self.dice.pick(SMALL)),
                _ => {
                    let kind = Kind::of_letter(word).unwrap_or_else(|| self.any_kind());
                    self.expression(scope, kind, depth - 1)
                }
            });
            rest = &rest[at + 3..];
        }
        pieces.push(Piece::from(rest));
        if operator {
            pieces.push(Piece::from(")"));
        }
        Piece::Seq(pieces).expr()
    }

    /// `SELECT` of expressions without a table.
    pub fn bare_select(&mut self) -> Piece {
        let scope = Scope::default();
        let items = (0..self.dice.between(1, 4))
            .map(|n| {
                let kind = self.any_kind();
                let depth = self.dice.between(1, 3);
                seq![self.expression(&scope, kind, depth), format!(" AS c{n}")]
            })
            .collect();
        seq!["SELECT ", Piece::list(", ", 1, items)]
    }
}
