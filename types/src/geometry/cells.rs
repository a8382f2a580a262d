//! Cells of the plane, by which an index finds the boxes that meet another one.
//!
//! ```text
//! coordinate -> step      32 bits, in the order of the numbers: even steps up to 1, from there 2^20 steps from each power of two to the next
//! two steps  -> code      their bits in turns (Z-order), so a square of 2^k by 2^k steps is one interval of codes: a cell of size k
//! box        -> cells     the smallest even size of which two by two cells hold it: at most four
//! ```
//!
//! C1: a coordinate's step is computed without rounding, so each machine finds the same, and a number that is not smaller has no smaller step.
//! C2: two boxes that meet have cells that hold one another. So [`search`] asks for the entries within cells of the box, and for those of the
//!     cells around them: every box that meets is among the found ones. Others are too, so what is found is looked at again.
//! C3: a key is the code of the cell's lower corner (8 bytes, big endian), then its size (1 byte).

use super::Envelope;

/// The bytes of a cell in a key.
pub const KEY_BYTES: usize = 9;
/// Sizes of cells are multiples of this: fewer sizes to look for, at most four times as large a side.
const SIZE_STEP: u32 = 2;
const SIZE_MAX: u32 = 32;
/// The most intervals of one search.
const INTERVALS_MAX: usize = 48;
const FRACTION_BITS: u32 = 20;
const MANTISSA_BITS: u32 = 52;

/// The step of a coordinate. C1
fn step_of(number: f64) -> u32 {
    let magnitude = number.abs();
    let steps = if magnitude < 1.0 {
        (magnitude * f64::from(1u32 << FRACTION_BITS)) as u32
    } else {
        // Exponent and the first bits of the mantissa are the steps since 1.
        const ONE: u64 = 1023 << MANTISSA_BITS;
        let since_one = (magnitude.to_bits() - ONE) >> (MANTISSA_BITS - FRACTION_BITS);
        (since_one as u32) + (1 << FRACTION_BITS)
    };
    const MIDDLE: u32 = 1 << 31;
    if number < 0.0 { MIDDLE - 1 - steps } else { MIDDLE + steps }
}

/// Spreads 32 bits over the even bits of 64.
fn spread(steps: u32) -> u64 {
    let mut bits = u64::from(steps);
    bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
    bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
    (bits | bits << 1) & 0x5555_5555_5555_5555
}

/// A square of 2^size by 2^size steps, by its lower corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    x: u32,
    y: u32,
    size: u32,
}

impl Cell {
    fn of(x: u32, y: u32, size: u32) -> Self {
        let cut = |step: u32| if size >= SIZE_MAX { 0 } else { step >> size << size };
        Self { x: cut(x), y: cut(y), size }
    }

    fn code(self) -> u64 {
        spread(self.x) << 1 | spread(self.y)
    }

    /// C3
    pub fn key(self) -> [u8; KEY_BYTES] {
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&self.code().to_be_bytes());
        key[8] = self.size as u8;
        key
    }

    /// Its last step on an axis that begins here.
    fn end(self, start: u32) -> u32 {
        if self.size >= SIZE_MAX { u32::MAX } else { start + ((1u32 << self.size) - 1) }
    }

    /// The code of its last place.
    fn last_code(self) -> u64 {
        if self.size >= SIZE_MAX { u64::MAX } else { self.code() + ((1u64 << (2 * self.size)) - 1) }
    }

    fn quarters(self) -> [Self; 4] {
        let size = self.size - 1;
        let half = 1u32 << size;
        let at = |x, y| Self { x, y, size };
        [at(self.x, self.y), at(self.x, self.y + half), at(self.x + half, self.y), at(self.x + half, self.y + half)]
    }
}

/// A box in steps.
#[derive(Clone, Copy)]
struct Steps {
    low: (u32, u32),
    high: (u32, u32),
}

impl Steps {
    fn of(envelope: &Envelope) -> Self {
        Self { low: (step_of(envelope.min.x), step_of(envelope.min.y)), high: (step_of(envelope.max.x), step_of(envelope.max.y)) }
    }

    /// The smallest size of which two by two cells hold it.
    fn size(&self) -> u32 {
        let fits = |size: u32| {
            let cells = |low: u32, high: u32| if size >= SIZE_MAX { 0 } else { (high >> size) - (low >> size) };
            cells(self.low.0, self.high.0) <= 1 && cells(self.low.1, self.high.1) <= 1
        };
        (0..=SIZE_MAX).step_by(SIZE_STEP as usize).find(|size| fits(*size)).unwrap_or(SIZE_MAX)
    }

    fn cells(&self, size: u32) -> Vec<Cell> {
        let (low, high) = (self.low, self.high);
        let mut cells =
            [(low.0, low.1), (low.0, high.1), (high.0, low.1), (high.0, high.1)].map(|(x, y)| Cell::of(x, y, size)).to_vec();
        cells.sort_by_key(|cell| cell.code());
        cells.dedup();
        cells
    }

    fn meets(&self, cell: Cell) -> bool {
        self.low.0 <= cell.end(cell.x) && cell.x <= self.high.0 && self.low.1 <= cell.end(cell.y) && cell.y <= self.high.1
    }

    fn covers(&self, cell: Cell) -> bool {
        self.low.0 <= cell.x && cell.end(cell.x) <= self.high.0 && self.low.1 <= cell.y && cell.end(cell.y) <= self.high.1
    }
}

/// The cells of a box, in the order of their keys.
pub fn of_box(envelope: &Envelope) -> Vec<Cell> {
    let steps = Steps::of(envelope);
    steps.cells(steps.size())
}

/// An interval of keys: from `low` to before `high`; `None`: to the end.
pub type Interval = (Vec<u8>, Option<Vec<u8>>);

/// The intervals of keys that hold an entry of each box that meets this one, in order, without overlaps. C2
pub fn search(envelope: &Envelope) -> Vec<Interval> {
    let steps = Steps::of(envelope);
    let size = steps.size();
    // Single cells: those around.
    let mut singles: Vec<Cell> = Vec::new();
    let mut around = size + SIZE_STEP;
    while around <= SIZE_MAX {
        singles.extend(steps.cells(around));
        around += SIZE_STEP;
    }
    // Cells with all that is in them: split where they are partly outside, the largest first.
    let mut whole: Vec<Cell> = Vec::new();
    let mut partly: std::collections::VecDeque<Cell> = steps.cells(size).into();
    while let Some(cell) = partly.pop_front() {
        if cell.size == 0 || steps.covers(cell) || whole.len() + partly.len() >= INTERVALS_MAX {
            whole.push(cell);
            continue;
        }
        if cell.size.is_multiple_of(SIZE_STEP) {
            singles.push(cell);
        }
        partly.extend(cell.quarters().into_iter().filter(|quarter| steps.meets(*quarter)));
    }
    let mut intervals: Vec<Interval> = Vec::with_capacity(singles.len() + whole.len());
    for cell in singles {
        let low = cell.key().to_vec();
        let high = crate::key::prefix_successor(&low);
        intervals.push((low, high));
    }
    for cell in whole {
        let high = cell.last_code().checked_add(1).map(|code| code.to_be_bytes().to_vec());
        intervals.push((cell.code().to_be_bytes().to_vec(), high));
    }
    merged(intervals)
}

fn merged(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort();
    let mut out: Vec<Interval> = Vec::with_capacity(intervals.len());
    for (low, high) in intervals {
        match out.last_mut() {
            Some((_, None)) => return out,
            Some((_, Some(end))) if *end >= low => {
                let is_longer = high.as_ref().is_none_or(|high| high > end);
                if is_longer {
                    out.last_mut().expect("just seen").1 = high;
                }
            }
            _ => out.push((low, high)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Point;
    use super::*;

    fn envelope(a: (f64, f64), b: (f64, f64)) -> Envelope {
        Envelope { min: Point::new(a.0.min(b.0), a.1.min(b.1)), max: Point::new(a.0.max(b.0), a.1.max(b.1)) }
    }

    #[test]
    fn steps_are_in_the_order_of_numbers() {
        let numbers =
            [-f64::MAX, -1e300, -180.0, -2.0, -1.0, -0.5, -1e-3, 0.0, 1e-3, 0.5, 0.999_999_9, 1.0, 1.5, 2.0, 1e9, f64::MAX];
        assert!(numbers.windows(2).all(|pair| step_of(pair[0]) <= step_of(pair[1])));
        assert!(step_of(-1e-300) <= step_of(0.0) && step_of(-0.0) == step_of(0.0));
        assert_eq!((step_of(1.0) - step_of(0.5), step_of(2.0) - step_of(1.0)), (1 << 19, 1 << 20));
    }

    #[test]
    fn a_search_finds_every_box_that_meets() {
        // A generator of numbers that are the same in each run.
        let mut state = 42u64;
        let mut dice = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from((state >> 33) as u32) / f64::from(1u32 << 31)
        };
        let mut some = |spread: f64| {
            let (x, y) = ((dice() - 0.5) * spread, (dice() - 0.5) * spread);
            let sides = [0.0, 1e-6, 0.01, 1.0, spread / 3.0];
            let mut side = || sides[(dice() * 5.0) as usize % 5] * dice();
            envelope((x, y), (x + side(), y + side()))
        };
        let (mut met, mut others, mut found_others) = (0, 0, 0);
        for spread in [0.001, 2.0, 360.0, 1e7] {
            let boxes: Vec<Envelope> = (0..300).map(|_| some(spread)).collect();
            for _ in 0..60 {
                let wanted = some(spread);
                let intervals = search(&wanted);
                assert!(intervals.len() < 2 * INTERVALS_MAX + 4 * 16);
                assert!(intervals.windows(2).all(|pair| pair[0].1.as_ref().is_some_and(|end| *end < pair[1].0)));
                let holds = |key: &[u8]| {
                    intervals.iter().any(|(low, high)| key >= &low[..] && high.as_ref().is_none_or(|high| key < &high[..]))
                };
                for one in &boxes {
                    let is_found = of_box(one).iter().any(|cell| holds(&cell.key()));
                    if one.meets(&wanted) {
                        met += 1;
                        assert!(is_found, "{one:?} meets {wanted:?}");
                    } else {
                        others += 1;
                        found_others += usize::from(is_found);
                    }
                }
            }
        }
        assert!(met > 1000 && others > 1000);
        // Most of the others are left out.
        assert!(found_others * 3 < others, "{found_others} of {others}");
    }
}
