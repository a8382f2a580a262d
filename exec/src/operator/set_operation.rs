//! INTERSECT and EXCEPT: the right input's rows are counted in a hash table, then each left row is looked up.

use super::Operator;
use crate::eval::Step;
use crate::hash::ByteMap;
use crate::keys::{self, KeyKind};
use crate::packed;
use crate::run::Run;
use types::ColumnType;

pub(crate) struct SetOperation<'p> {
    left: Operator<'p>,
    right: Operator<'p>,
    except: bool,
    all: bool,
    kinds: Vec<(KeyKind, &'p ColumnType)>,
    rows: ByteMap,
    /// How often each row is still there on the right.
    counts: Vec<u64>,
    key: Vec<u8>,
    built: bool,
    pending: bool,
    charged: usize,
}

impl<'p> SetOperation<'p> {
    pub fn new(left: Operator<'p>, right: Operator<'p>, except: bool, all: bool, types: Vec<&'p ColumnType>) -> Self {
        let kinds = types.into_iter().map(|ty| (KeyKind::of_type(ty), ty)).collect();
        Self {
            left,
            right,
            except,
            all,
            kinds,
            rows: ByteMap::default(),
            counts: Vec::new(),
            key: Vec::new(),
            built: false,
            pending: false,
            charged: 0,
        }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        while !self.built {
            if !self.pending && !self.right.next(run)? {
                self.built = true;
                break;
            }
            self.pending = true;
            encode(run, &self.kinds, self.right.slots(), &mut self.key)?;
            self.pending = false;
            match self.rows.insert(&self.key) {
                (_, true) => self.counts.push(1),
                (number, false) => self.counts[number] += 1,
            }
            self.charge(run)?;
        }
        loop {
            if !self.pending && !self.left.next(run)? {
                return Ok(false);
            }
            self.pending = true;
            encode(run, &self.kinds, self.left.slots(), &mut self.key)?;
            self.pending = false;
            let keep = self.judge();
            self.charge(run)?;
            if keep {
                return Ok(true);
            }
        }
    }

    /// Does the left row whose key is there belong to the result?
    fn judge(&mut self) -> bool {
        let found = self.rows.find(&self.key);
        let there = found.filter(|number| self.counts[*number] > 0);
        match (self.except, self.all) {
            (true, true) => match there {
                Some(number) => {
                    self.counts[number] -= 1;
                    false
                }
                None => true,
            },
            (true, false) => match found {
                Some(_) => false,
                None => {
                    // Once.
                    self.rows.insert(&self.key);
                    self.counts.push(1);
                    true
                }
            },
            (false, all) => match there {
                Some(number) => {
                    self.counts[number] = if all { self.counts[number] - 1 } else { 0 };
                    true
                }
                None => false,
            },
        }
    }

    fn charge(&mut self, run: &mut Run<'p>) -> Step<()> {
        let bytes = self.rows.memory_bytes() + self.counts.capacity() * 8;
        if bytes > self.charged {
            let grown = bytes - self.charged;
            self.charged = bytes;
            run.charge(grown)?;
        }
        Ok(())
    }

    pub fn slots(&self) -> &[u8] {
        self.left.slots()
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.rows.clear();
        self.counts.clear();
        self.built = false;
        self.pending = false;
        self.left.rewind(run);
        self.right.rewind(run);
    }
}

fn encode(run: &Run<'_>, kinds: &[(KeyKind, &ColumnType)], slots: &[u8], key: &mut Vec<u8>) -> Step<()> {
    key.clear();
    let env = run.env(slots);
    for (index, (kind, ty)) in kinds.iter().enumerate() {
        keys::encode(&env, *kind, &packed::get(slots, index), ty, key)?;
    }
    Ok(())
}
