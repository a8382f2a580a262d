//! For each row of the left input, runs the right one, whose keys and filters read the left sources.

use super::{Operator, Piece};
use crate::pause::Step;
use crate::run::Run;
use crate::source::SourceState;
use expr::Expr;
use sql::plan::JoinKind;

pub(crate) struct NestedLoop<'p> {
    left: Operator<'p>,
    right: Operator<'p>,
    kind: JoinKind,
    on: Option<&'p Expr>,
    /// The right input's sources: they become NULL rows if nothing matched.
    right_sources: Vec<usize>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The next left row must be read.
    Left,
    /// There is a left row; `matched`: a right row has matched it.
    Right { matched: bool },
    /// There is a right row that has not been checked yet.
    Judge { matched: bool },
}

impl<'p> NestedLoop<'p> {
    pub fn new(left: Operator<'p>, right: Operator<'p>, kind: JoinKind, on: Option<&'p Expr>, right_sources: Vec<usize>) -> Self {
        Self { left, right, kind, on, right_sources, state: State::Left }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.left
    }

    /// The next piece of the left input.
    pub fn begin_part(&mut self, piece: Piece) {
        self.state = State::Left;
        self.left.begin_part(piece);
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Left => {
                    if !self.left.next(run)? {
                        return Ok(false);
                    }
                    self.right.rewind(run);
                    self.state = State::Right { matched: false };
                }
                State::Right { matched } => {
                    if self.right.next(run)? {
                        self.state = State::Judge { matched };
                        continue;
                    }
                    self.state = State::Left;
                    if matches!(self.kind, JoinKind::Left | JoinKind::Anti) && !matched {
                        self.right_sources.iter().for_each(|s| run.sources[*s].state = SourceState::Null);
                        return Ok(true);
                    }
                }
                State::Judge { matched } => {
                    let keep = run.passes(self.on)?;
                    self.state = State::Right { matched: matched || keep };
                    match self.kind {
                        _ if !keep => {}
                        JoinKind::Inner | JoinKind::Left => return Ok(true),
                        // One partner is enough.
                        JoinKind::Semi => {
                            self.state = State::Left;
                            return Ok(true);
                        }
                        JoinKind::Anti => self.state = State::Left,
                    }
                }
            }
        }
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.state = State::Left;
        self.left.rewind(run);
    }
}
