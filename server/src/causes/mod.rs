//! Finds statements that an earlier result of their connection causes: an application reads a list, and then asks for each of its rows
//! alone (N+1).
//!
//! ```text
//! result      from its second row on, key-like values of its first rows are noted       (`Causes::note`)
//! execution   its parameters are remembered as hashes                                   (`Causes::ask`)
//! end         the parameters of a repeated statement are looked up; then a result with values takes the place of the
//!             oldest one, or of its own statement's                                     (`Causes::end`)
//! ```
//!
//! K1: a session without results of several rows with key-like values has no sketch and pays one comparison for a statement: a point
//!     select notes nothing.
//! K2: a sketch has a fixed size: [`RESULTS`] results of [`COLUMNS`] columns with [`ROWS`] values each, as hashes of 32 bits.
//! K3: an execution counts as caused when at least [`DISTINCT_MIN`] different values of one column of one execution's result were
//!     parameters of the same statement since, in the order of the rows, and nearly all of the statement's executions since had such a
//!     value. Equal numbers by chance, requests for random rows of a small table, and loops over other keys do not look so.
//! K4: results whose values nobody asks for are forgotten after [`IDLE_MAX`] statements, so that looking them up ends.

#[cfg(test)]
mod tests;

use crate::digests::Statistics;
use std::rc::Rc;
use types::Value;

const RESULTS: usize = 3;
const COLUMNS: usize = 3;
const ROWS: usize = 128;
/// Statements that are known to repeat.
const REPEATED: usize = 4;
/// Parameters of a statement that are looked up. One with more is no question for one row.
const ASKED_MAX: usize = 4;
/// See K3.
const DISTINCT_MIN: u32 = 8;
/// Of so many executions one may have another parameter.
const MISSES_PART: u32 = 8;
/// See K4.
const IDLE_MAX: u32 = 64;
/// Bytes of a text that may be a key.
const TEXT_BYTES_MAX: usize = 40;
/// No value has it.
const NO_HASH: u32 = 0;

/// The values of one result.
#[derive(Clone)]
struct Keys {
    of: Option<Rc<Statistics>>,
    /// Differs from that of each other result of the session; 0: empty.
    number: u32,
    /// The places of the columns in the result, for those that are used.
    places: [u16; COLUMNS],
    columns: usize,
    rows: usize,
    values: [[u32; ROWS]; COLUMNS],
}

impl Keys {
    const EMPTY: Self =
        Self { of: None, number: 0, places: [0; COLUMNS], columns: 0, rows: 0, values: [[NO_HASH; ROWS]; COLUMNS] };

    fn empty(&mut self) {
        self.of = None;
        (self.number, self.columns, self.rows) = (0, 0, 0);
        self.values.iter_mut().for_each(|values| values.fill(NO_HASH));
    }
}

/// A statement that repeats, with the values that were its parameters, by result and column.
#[derive(Clone, Copy)]
struct Repeated {
    /// The address of its statistics, which is only compared.
    of: usize,
    numbers: [u32; RESULTS],
    hits: [[u128; COLUMNS]; RESULTS],
    /// How many of the hits came after all rows that were hit before.
    ascents: [[u8; COLUMNS]; RESULTS],
    misses: [u32; RESULTS],
    /// The column that causes it, once K3 holds.
    caused: [Option<u8>; RESULTS],
}

impl Repeated {
    const NONE: Self = Self {
        of: 0,
        numbers: [0; RESULTS],
        hits: [[0; COLUMNS]; RESULTS],
        ascents: [[0; COLUMNS]; RESULTS],
        misses: [0; RESULTS],
        caused: [None; RESULTS],
    };

    /// Begins anew for a result that has taken the place of another one.
    fn follow(&mut self, result: usize, number: u32) {
        if self.numbers[result] != number {
            self.numbers[result] = number;
            (self.hits[result], self.ascents[result]) = ([0; COLUMNS], [0; COLUMNS]);
            (self.misses[result], self.caused[result]) = (0, None);
        }
    }

    /// A parameter was the value of a row. Does it follow the rows before, or repeat one of them?
    fn hit(&mut self, result: usize, column: usize, row: usize) -> bool {
        let hits = &mut self.hits[result][column];
        if *hits & 1 << row != 0 {
            return true;
        }
        let follows = *hits >> row == 0;
        *hits |= 1 << row;
        self.ascents[result][column] += u8::from(follows);
        follows
    }

    /// K3
    fn is_loop(&self, result: usize, column: usize) -> bool {
        let (hits, ascents) = (self.hits[result][column].count_ones(), u32::from(self.ascents[result][column]));
        hits >= DISTINCT_MIN && ascents * 4 >= hits * 3 && self.misses[result] * MISSES_PART <= hits
    }
}

/// The sketch of a session.
pub struct Causes {
    results: [Keys; RESULTS],
    /// The running statement's result.
    next: Keys,
    /// The place of the oldest result, and the number that was given last.
    oldest: usize,
    last_number: u32,
    repeated: [Repeated; REPEATED],
    next_repeated: usize,
    asked: [u32; ASKED_MAX],
    asked_count: usize,
    idle: u32,
}

impl Causes {
    /// Is a row of a result one whose values are noted? The first is not: see K1.
    #[inline]
    pub fn takes_row(row: u32) -> bool {
        row.wrapping_sub(1) < ROWS as u32
    }

    /// Notes the value of a column of a row that `takes_row`.
    #[inline(never)]
    pub fn note(causes: &mut Option<Box<Self>>, row: u32, column: u16, value: &Value<'_>) {
        let Some(hash) = hash_of(value) else { return };
        let row = row as usize - 1;
        let next = &mut causes.get_or_insert_with(Self::new).next;
        let known = next.places[..next.columns].iter().position(|place| *place == column);
        let place = match known {
            Some(place) => place,
            None if next.columns < COLUMNS && row < ROWS => {
                next.places[next.columns] = column;
                next.columns += 1;
                next.columns - 1
            }
            None => return,
        };
        if row < ROWS {
            next.values[place][row] = hash;
            next.rows = next.rows.max(row + 1);
        }
    }

    fn new() -> Box<Self> {
        Box::new(Self {
            results: [Keys::EMPTY; RESULTS],
            next: Keys::EMPTY,
            oldest: 0,
            last_number: 0,
            repeated: [Repeated::NONE; REPEATED],
            next_repeated: 0,
            asked: [NO_HASH; ASKED_MAX],
            asked_count: 0,
            idle: 0,
        })
    }

    /// A query with these parameters begins.
    #[inline(never)]
    pub fn ask(&mut self, params: &[Value<'_>]) {
        self.asked_count = 0;
        if params.len() > ASKED_MAX || self.results.iter().all(|result| result.number == 0) {
            return;
        }
        for hash in params.iter().filter_map(hash_of) {
            self.asked[self.asked_count] = hash;
            self.asked_count += 1;
        }
    }

    /// The statement of these statistics ends.
    #[inline(never)]
    pub fn end(&mut self, of: &Rc<Statistics>, failed: bool) {
        let is_caused = self.asked_count > 0 && !failed && self.look_up(of);
        self.asked_count = 0;
        if self.next.columns == 0 {
            return;
        }
        // The results of a loop's statement would push out the list that the loop is about.
        if failed || is_caused { self.next.empty() } else { self.publish(of) }
    }

    /// Was a parameter a value of an earlier result?
    fn look_up(&mut self, of: &Rc<Statistics>) -> bool {
        let address = Rc::as_ptr(of).addr();
        let Some(repeated) = self.repeated.iter_mut().find(|repeated| repeated.of == address) else {
            self.repeated[self.next_repeated] = Repeated { of: address, ..Repeated::NONE };
            self.next_repeated = (self.next_repeated + 1) % REPEATED;
            return false;
        };
        let mut is_hit = false;
        for (place, result) in self.results.iter().enumerate() {
            // A statement that continues after the last row of its own result is no loop.
            let Some(by) = result.of.as_ref().filter(|by| result.number != 0 && !Rc::ptr_eq(by, of)) else { continue };
            repeated.follow(place, result.number);
            let (mut is_known, mut follows) = (false, [false; COLUMNS]);
            for (column, follows) in follows[..result.columns].iter_mut().enumerate() {
                for asked in &self.asked[..self.asked_count] {
                    let Some(row) = find(&result.values[column], *asked) else { continue };
                    is_known = true;
                    *follows |= repeated.hit(place, column, row);
                }
            }
            if !is_known {
                repeated.misses[place] += 1;
                continue;
            }
            is_hit = true;
            if let Some(column) = repeated.caused[place].map(usize::from) {
                if follows[column] {
                    of.note_caused(1, by, result.places[column].into());
                }
                break;
            }
            let is_loop = |column: &usize| repeated.is_loop(place, *column);
            let best = (0..result.columns).filter(is_loop).max_by_key(|column| repeated.hits[place][*column].count_ones());
            if let Some(column) = best {
                repeated.caused[place] = Some(column as u8);
                of.note_caused(repeated.hits[place][column].count_ones().into(), by, result.places[column].into());
                break;
            }
        }
        self.idle = if is_hit { 0 } else { self.idle + 1 };
        if self.idle > IDLE_MAX {
            self.forget();
        }
        is_hit
    }

    /// K4
    #[cold]
    fn forget(&mut self) {
        self.results.iter_mut().for_each(Keys::empty);
        self.idle = 0;
    }

    /// The running statement's result takes the place of the last one of the same statement, or of the oldest.
    fn publish(&mut self, of: &Rc<Statistics>) {
        let own = self.results.iter().position(|result| result.of.as_ref().is_some_and(|known| Rc::ptr_eq(known, of)));
        let place = own.unwrap_or(self.oldest);
        if own.is_none() {
            self.oldest = (self.oldest + 1) % RESULTS;
        }
        self.last_number = self.last_number.wrapping_add(1).max(1);
        self.next.of = Some(Rc::clone(of));
        self.next.number = self.last_number;
        std::mem::swap(&mut self.next, &mut self.results[place]);
        self.next.empty();
        self.idle = 0;
    }
}

/// The row of a value. Written without an early exit, so that it is computed for many rows at a time.
fn find(values: &[u32; ROWS], wanted: u32) -> Option<usize> {
    let is_there = values.iter().fold(false, |found, value| found | (*value == wanted));
    if is_there { values.iter().position(|value| *value == wanted) } else { None }
}

/// The hash of a value that may be a key: an integer above 1, or a short text.
fn hash_of(value: &Value<'_>) -> Option<u32> {
    let wide = match value {
        Value::Int(number) if *number > 1 => *number as u64,
        Value::UInt(number) if *number > 1 => *number,
        Value::Bytes(text) if (1..=TEXT_BYTES_MAX).contains(&text.len()) => match number_of(text) {
            Some(number) => number,
            // FNV-1a, 64 bits.
            None => text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)),
        },
        _ => return None,
    };
    // Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4).
    let hash = (wide.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
    Some(if hash == NO_HASH { 1 } else { hash })
}

/// A text of digits as its number: some drivers quote numbers.
fn number_of(text: &[u8]) -> Option<u64> {
    let is_number = text.len() < 19 && text.iter().all(u8::is_ascii_digit) && text[0] != b'0';
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}
