//! Keeps the first of rows that are equal in their first slots: SELECT DISTINCT, UNION.

use super::Operator;
use crate::eval::Step;
use crate::hash::ByteSet;
use crate::keys::{self, KeyKind};
use crate::packed;
use crate::run::Run;
use types::ColumnType;

pub(crate) struct Distinct<'p> {
    input: Operator<'p>,
    /// Of the slots that count.
    kinds: Vec<(KeyKind, &'p ColumnType)>,
    seen: ByteSet,
    key: Vec<u8>,
    pending: bool,
    charged: usize,
}

impl<'p> Distinct<'p> {
    pub fn new(input: Operator<'p>, columns: usize, types: Vec<&'p ColumnType>) -> Self {
        let kinds = types.into_iter().take(columns).map(|ty| (KeyKind::of_type(ty), ty)).collect();
        Self { input, kinds, seen: ByteSet::default(), key: Vec::new(), pending: false, charged: 0 }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            if !self.pending {
                if !self.input.next(run)? {
                    return Ok(false);
                }
                self.pending = true;
            }
            self.key.clear();
            let slots = self.input.slots();
            let env = run.env(slots);
            for (index, (kind, ty)) in self.kinds.iter().enumerate() {
                keys::encode(&env, *kind, &packed::get(slots, index), ty, &mut self.key)?;
            }
            let before = self.seen.memory_bytes();
            let new = self.seen.insert(&self.key);
            self.pending = false;
            if new {
                let grown = self.seen.memory_bytes() - before;
                self.charged += grown;
                run.charge(grown)?;
                return Ok(true);
            }
        }
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        run.release(self.charged);
        self.charged = 0;
        self.seen = ByteSet::default();
        self.pending = false;
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        self.input.slots()
    }
}
