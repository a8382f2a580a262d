//! Random expressions over the columns in scope.

use crate::dice::Dice;
use crate::kinds::Kind;
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
}

impl<'a> Maker<'a> {
    pub fn new(dice: &'a mut Dice, schema: &'a Schema) -> Self {
        Self { dice, schema, alias: 0, common: Vec::new(), nesting: 0 }
    }

    pub fn fresh(&mut self, prefix: &str) -> String {
        self.alias += 1;
        format!("{prefix}{}", self.alias)
    }

    pub fn any_kind(&mut self) -> Kind {
        Kind::any(self.dice)
    }

    /// An expression that is mostly of the kind, at most so deep.
    pub fn expression(&mut self, scope: &Scope, kind: Kind, depth: usize) -> Piece {
        let kind = if self.dice.chance(6) { self.any_kind() } else { kind };
        if depth == 0 || self.dice.chance(25) {
            return self.leaf(scope, kind);
        }
        if scope.subqueries && self.nesting < 3 && self.dice.chance(6) {
            return query::in_expression(self, scope, kind, depth);
        }
        let template = self.dice.pick(kind.templates());
        self.fill(scope, template, depth)
    }

    pub fn condition(&mut self, scope: &Scope, depth: usize) -> Piece {
        self.expression(scope, Kind::Bool, depth.max(1))
    }

    fn leaf(&mut self, scope: &Scope, kind: Kind) -> Piece {
        let fits: Vec<&Column> = scope.columns.iter().filter(|c| c.kind == kind || kind == Kind::Bool).collect();
        if !fits.is_empty() && self.dice.chance(60) {
            return Piece::from(self.dice.choose(&fits).name.clone()).expr();
        }
        let outer: Vec<&Column> = scope.outer.iter().filter(|c| c.kind == kind).collect();
        if !outer.is_empty() && self.dice.chance(40) {
            return Piece::from(self.dice.choose(&outer).name.clone()).expr();
        }
        if !scope.columns.is_empty() && self.dice.chance(25) {
            return Piece::from(self.dice.choose(&scope.columns).name.clone()).expr();
        }
        Piece::from(kind.literal(self.dice)).expr()
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
