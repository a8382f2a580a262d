//! Statements as trees that know how they can be made smaller.
//!
//! A generator builds a statement of pieces; a found difference is shrunk by trying the edits that the pieces offer, one after another
//! (`shrunk`). The edits need not keep a statement valid: both servers refuse an invalid one alike, so the difference is gone and the edit with it.

use std::borrow::Cow;

/// A part of a statement.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(Cow<'static, str>),
    Seq(Vec<Piece>),
    /// May be left out.
    Maybe(Box<Piece>),
    /// Items with something between them; at least `least` of them stay.
    List {
        between: &'static str,
        least: usize,
        items: Vec<Piece>,
    },
    /// An expression: any expression in it, or a small literal, may take its place.
    Expr(Box<Piece>),
    /// Written only where index hints are asked for.
    Hint(String),
    /// A literal that is a parameter where the statement is prepared with parameters.
    Given(&'static str),
}

/// How a statement is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Hinted,
    Parameters,
}

/// What may stand for any expression.
const LEAVES: [&str; 4] = ["NULL", "1", "'a'", "0"];

impl From<&'static str> for Piece {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

/// Pieces one after another.
#[macro_export]
macro_rules! seq {
    ($($part:expr),* $(,)?) => {
        $crate::piece::Piece::Seq(vec![$($crate::piece::Piece::from($part)),*])
    };
}

impl Piece {
    pub fn empty() -> Self {
        Self::Seq(Vec::new())
    }

    pub fn maybe(self) -> Self {
        Self::Maybe(Box::new(self))
    }

    pub fn expr(self) -> Self {
        Self::Expr(Box::new(self))
    }

    pub fn list(between: &'static str, least: usize, items: Vec<Piece>) -> Self {
        Self::List { between, least, items }
    }

    /// The statement's text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Form::Plain);
        out
    }

    /// The same with its index hints.
    pub fn text_with_hints(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Form::Hinted);
        out
    }

    /// The same with a question mark for each given literal, and these.
    pub fn text_with_parameters(&self) -> (String, Vec<&'static str>) {
        let (mut out, mut given) = (String::new(), Vec::new());
        self.write(&mut out, Form::Parameters);
        self.given(&mut given);
        (out, given)
    }

    fn given(&self, out: &mut Vec<&'static str>) {
        match self {
            Self::Text(_) | Self::Hint(_) => {}
            Self::Seq(pieces) | Self::List { items: pieces, .. } => pieces.iter().for_each(|p| p.given(out)),
            Self::Maybe(piece) | Self::Expr(piece) => piece.given(out),
            Self::Given(text) => out.push(text),
        }
    }

    fn write(&self, out: &mut String, form: Form) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Seq(pieces) => pieces.iter().for_each(|p| p.write(out, form)),
            Self::Maybe(piece) | Self::Expr(piece) => piece.write(out, form),
            Self::List { between, items, .. } => {
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push_str(between);
                    }
                    item.write(out, form);
                }
            }
            Self::Hint(text) => {
                if form == Form::Hinted {
                    out.push_str(text);
                }
            }
            Self::Given(text) => out.push_str(if form == Form::Parameters { "?" } else { text }),
        }
    }

    /// The piece with its `n`th edit, counted in the order of the text, or `None` when there are fewer.
    pub fn edited(&self, mut n: usize) -> Option<Self> {
        let mut copy = self.clone();
        copy.edit(&mut n).then_some(copy)
    }

    fn edit(&mut self, n: &mut usize) -> bool {
        match self {
            Self::Text(_) | Self::Hint(_) | Self::Given(_) => false,
            Self::Seq(pieces) => pieces.iter_mut().any(|p| p.edit(n)),
            Self::Maybe(piece) => {
                if turn(n) {
                    *self = Self::empty();
                    return true;
                }
                piece.edit(n)
            }
            Self::List { least, items, .. } => cut(items, *least, n) || items.iter_mut().any(|p| p.edit(n)),
            Self::Expr(piece) => {
                let text = piece.text();
                for leaf in LEAVES.iter().filter(|leaf| leaf.len() < text.len()) {
                    if turn(n) {
                        **piece = Self::from(*leaf);
                        return true;
                    }
                }
                let mut inner = Vec::new();
                piece.expressions(&mut inner);
                if *n < inner.len() {
                    let chosen = inner[*n].clone();
                    *self = chosen;
                    return true;
                }
                *n -= inner.len();
                piece.edit(n)
            }
        }
    }

    /// The outermost expressions in a piece.
    fn expressions<'a>(&'a self, out: &mut Vec<&'a Piece>) {
        match self {
            Self::Text(_) | Self::Hint(_) | Self::Given(_) => {}
            Self::Seq(pieces) | Self::List { items: pieces, .. } => pieces.iter().for_each(|p| p.expressions(out)),
            Self::Maybe(piece) => piece.expressions(out),
            Self::Expr(_) => out.push(self),
        }
    }
}

/// True when it is this edit's turn; else counts it.
fn turn(n: &mut usize) -> bool {
    if *n == 0 {
        return true;
    }
    *n -= 1;
    false
}

/// Leaves out half of a list, or one item.
fn cut(items: &mut Vec<Piece>, least: usize, n: &mut usize) -> bool {
    let half = items.len() / 2;
    if half >= 2 && items.len() - half >= least {
        if turn(n) {
            items.drain(..half);
            return true;
        }
        if turn(n) {
            items.truncate(items.len() - half);
            return true;
        }
    }
    if items.len() > least {
        for at in 0..items.len() {
            if turn(n) {
                items.remove(at);
                return true;
            }
        }
    }
    false
}

/// The smallest piece found by taking edits for which `persists` holds, in at most `tries` questions.
pub fn shrunk(piece: &Piece, tries: &mut usize, mut persists: impl FnMut(&Piece) -> bool) -> Piece {
    let mut best = piece.clone();
    loop {
        let mut at = 0;
        let mut taken = false;
        while let Some(candidate) = best.edited(at) {
            if *tries == 0 {
                return best;
            }
            *tries -= 1;
            if persists(&candidate) {
                best = candidate;
                taken = true;
            } else {
                at += 1;
            }
        }
        if !taken {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_shrinks_to_what_matters() {
        let call = seq!["ABS(", seq!["t.a + ", Piece::from("BAD").expr()].expr(), ")"].expr();
        let items = vec![Piece::from("x").expr(), call, Piece::from("long_name").expr()];
        let query = seq!["SELECT ", Piece::list(", ", 1, items), seq![" FROM t"].maybe()];
        assert_eq!(query.text(), "SELECT x, ABS(t.a + BAD), long_name FROM t");
        let mut tries = 100;
        let small = shrunk(&query, &mut tries, |p| p.text().contains("BAD"));
        assert_eq!(small.text(), "SELECT BAD");
    }

    #[test]
    fn given_literals_are_parameters_on_request() {
        let query = seq!["SELECT ", Piece::Given("1").expr(), " + ", Piece::Given("'a'")];
        assert_eq!(query.text(), "SELECT 1 + 'a'");
        assert_eq!(query.text_with_parameters(), ("SELECT ? + ?".to_owned(), vec!["1", "'a'"]));
    }

    #[test]
    fn hints_are_written_on_request() {
        let from = seq!["t", Piece::Hint(" IGNORE INDEX (k)".into())];
        assert_eq!((from.text().as_str(), from.text_with_hints().as_str()), ("t", "t IGNORE INDEX (k)"));
    }
}
