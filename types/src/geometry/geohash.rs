//! Geohashes: a place as a text of 5 bits a character, which halve longitude and latitude in turns.

/// The longest text.
pub const LENGTH_MAX: usize = 100;

const DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// An interval that shrinks around a number.
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    fn take(&mut self, upper: bool) {
        if upper { self.low = self.middle() } else { self.high = self.middle() }
    }

    /// The number in the middle with the fewest digits that tell it from the ends.
    fn shortest(&self) -> f64 {
        const DIGITS_MAX: i32 = 15;
        let mut half = (self.high - self.low) / 2.0;
        if half == 0.0 {
            return self.middle();
        }
        let mut digits = 0;
        while half <= 0.1 && digits <= DIGITS_MAX {
            digits += 1;
            half *= 10.0;
        }
        loop {
            let power = 10f64.powi(digits);
            let rounded = (self.middle() * power).round_ties_even() / power;
            digits += 1;
            if self.low < rounded && rounded < self.high || digits > DIGITS_MAX {
                // No negative zero.
                return rounded + 0.0;
            }
        }
    }
}

fn start() -> [Interval; 2] {
    [Interval { low: -180.0, high: 180.0 }, Interval { low: -90.0, high: 90.0 }]
}

/// The text of a place in degrees, of at most `length` characters; it ends early where the place is met exactly.
pub fn encode(longitude: f64, latitude: f64, length: usize) -> String {
    let mut intervals = start();
    let wanted = [longitude, latitude];
    let mut out = String::with_capacity(length);
    let mut bit = 0;
    while out.len() < length {
        let mut digit = 0;
        for _ in 0..5 {
            let axis = bit % 2;
            let upper = wanted[axis] >= intervals[axis].middle();
            intervals[axis].take(upper);
            digit = digit << 1 | usize::from(upper);
            bit += 1;
        }
        out.push(char::from(DIGITS[digit]));
    }
    out
}

/// Longitude and latitude; `None`: the text is no geohash.
pub fn decode(text: &[u8]) -> Option<(f64, f64)> {
    if text.is_empty() {
        return None;
    }
    let mut intervals = start();
    let mut bit = 0;
    for character in text {
        let digit = DIGITS.iter().position(|digit| *digit == character.to_ascii_lowercase())?;
        for shift in (0..5).rev() {
            intervals[bit % 2].take(digit >> shift & 1 == 1);
            bit += 1;
        }
    }
    Some((intervals[0].shortest(), intervals[1].shortest()))
}
