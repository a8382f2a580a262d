//! The random values of clause 4.3.2.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Items that are sold.
pub const ITEMS: u32 = 100_000;
/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;
/// Customers of a district.
pub const CUSTOMERS: u32 = 3_000;

/// The constant C of NURand (2.1.6) while loading, for last names; at run time it is another one.
const C_LAST_LOAD: u32 = 123;
/// 2.1.6.1: the difference to the former is 65 to 119, but neither 96 nor 112.
const C_LAST_RUN: u32 = 123 + 88;
const _: () = {
    let delta = C_LAST_RUN - C_LAST_LOAD;
    assert!(65 <= delta && delta <= 119 && delta != 96 && delta != 112);
};
const C_CUSTOMER: u32 = 259;
const C_ITEM: u32 = 7911;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// A source of random values.
pub struct Random(StdRng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// A whole number of `low..=high`.
    pub fn number(&mut self, low: u32, high: u32) -> u32 {
        self.0.random_range(low..=high)
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.number(1, 100) <= percent
    }

    /// A value of `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        self.0.random()
    }

    /// NURand (2.1.6).
    fn skewed(&mut self, a: u32, c: u32, low: u32, high: u32) -> u32 {
        (((self.number(0, a) | self.number(low, high)) + c) % (high - low + 1)) + low
    }

    pub fn customer(&mut self) -> u32 {
        self.skewed(1023, C_CUSTOMER, 1, CUSTOMERS)
    }

    pub fn item(&mut self) -> u32 {
        self.skewed(8191, C_ITEM, 1, ITEMS)
    }

    /// A last name to look for.
    pub fn last_name(&mut self) -> String {
        last_name(self.skewed(255, C_LAST_RUN, 0, 999))
    }

    /// A last name for a customer beyond the first thousand.
    pub fn last_name_to_load(&mut self) -> String {
        last_name(self.skewed(255, C_LAST_LOAD, 0, 999))
    }

    /// Letters and digits, `low` to `high` of them (a-string).
    pub fn text(&mut self, low: u32, high: u32) -> String {
        const OF: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let length = self.number(low, high);
        (0..length).map(|_| char::from(OF[self.0.random_range(0..OF.len())])).collect()
    }

    /// Digits, `length` of them (n-string).
    pub fn digits(&mut self, length: u32) -> String {
        (0..length).map(|_| char::from(b'0' + self.0.random_range(0..10u8))).collect()
    }

    /// A zip code (4.3.2.7).
    pub fn zip(&mut self) -> String {
        self.digits(4) + "11111"
    }

    /// Text of which a tenth says ORIGINAL somewhere (4.3.3.1).
    pub fn data(&mut self) -> String {
        const MARK: &str = "ORIGINAL";
        let mut text = self.text(26, 50);
        if self.percent(10) {
            let at = self.0.random_range(0..=text.len() - MARK.len());
            text.replace_range(at..at + MARK.len(), MARK);
        }
        text
    }

    /// An amount of `low..=high` hundredths, as text with a point.
    pub fn amount(&mut self, low: u32, high: u32) -> String {
        let hundredths = self.number(low, high);
        format!("{}.{:02}", hundredths / 100, hundredths % 100)
    }

    /// `1..=n` in random order.
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (1..=n).collect();
        for at in (1..all.len()).rev() {
            all.swap(at, self.0.random_range(0..=at));
        }
        all
    }
}

/// The last name of a number below a thousand (4.3.2.3).
pub fn last_name(number: u32) -> String {
    [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize]).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_specification_s() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
    }

    #[test]
    fn values_stay_in_their_bounds() {
        let mut random = Random::new(7);
        let mut order = random.permutation(CUSTOMERS);
        order.sort_unstable();
        assert!(order.iter().copied().eq(1..=CUSTOMERS));
        for _ in 0..10_000 {
            assert!((1..=CUSTOMERS).contains(&random.customer()));
            assert!((1..=ITEMS).contains(&random.item()));
            assert!((26..=50).contains(&random.data().len()));
            assert_eq!(random.zip().len(), 9);
        }
        assert_eq!(random.amount(5, 5), "0.05");
    }
}
