//! Unsigned integers of 576 bits: just what exact decimals need, on words, least significant first.
//!
//! Division is Knuth's algorithm D (The Art of Computer Programming, vol. 2, 4.3.1) on 32-bit digits: rare, so simple.

use std::cmp::Ordering;

/// Words of the widest number: the product of two magnitudes, or a numerator scaled for division.
pub(crate) const WIDE_WORDS: usize = 9;

/// A number of so many digits always fits.
pub(crate) const WIDE_DIGITS: u32 = 173;

/// Words of a factor.
const FACTOR_WORDS: usize = 5;

/// 576 bits, least significant word first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide(pub [u64; WIDE_WORDS]);

/// Largest power of ten in a u64.
pub(crate) const POW10_U64: [u64; 20] = {
    let mut table = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

/// Powers of ten that fit u128: 10^0 to 10^38.
pub(crate) const POW10_U128: [u128; 39] = {
    let mut table = [1u128; 39];
    let mut i = 1;
    while i < 39 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

impl Wide {
    pub(crate) const ZERO: Self = Self([0; WIDE_WORDS]);

    pub(crate) fn from_u128(value: u128) -> Self {
        let mut words = [0; WIDE_WORDS];
        words[0] = value as u64;
        words[1] = (value >> 64) as u64;
        Self(words)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    fn bits(&self) -> u32 {
        match self.0.iter().rposition(|&w| w != 0) {
            None => 0,
            Some(i) => i as u32 * 64 + 64 - self.0[i].leading_zeros(),
        }
    }

    /// Number of decimal digits; zero has none.
    pub(crate) fn digits(&self) -> u32 {
        let bits = self.bits();
        if bits == 0 {
            return 0;
        }
        // floor(bits-1 * log10(2)) is at most one too small.
        let guess = ((u64::from(bits) - 1) * 30_103 / 100_000) as u32;
        if self.cmp_magnitude(&Self::pow10(guess)) == Ordering::Less { guess } else { self.digits_above(guess) }
    }

    fn digits_above(&self, guess: u32) -> u32 {
        let mut digits = guess + 1;
        while digits < WIDE_DIGITS && self.cmp_magnitude(&Self::pow10(digits)) != Ordering::Less {
            digits += 1;
        }
        digits
    }

    /// 10^exponent, exponent at most [`WIDE_DIGITS`].
    pub(crate) fn pow10(exponent: u32) -> Self {
        if exponent < 39 {
            return Self::from_u128(POW10_U128[exponent as usize]);
        }
        let mut value = Self::from_u128(POW10_U128[38]);
        value.mul_pow10(exponent - 38);
        value
    }

    pub(crate) fn cmp_magnitude(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    /// Adds; the caller knows that the sum fits.
    pub(crate) fn add(&mut self, other: &Self) {
        let mut carry = false;
        for (a, &b) in self.0.iter_mut().zip(&other.0) {
            let (sum, c1) = a.overflowing_add(b);
            let (sum, c2) = sum.overflowing_add(u64::from(carry));
            *a = sum;
            carry = c1 || c2;
        }
        debug_assert!(!carry, "sum over 576 bits");
    }

    /// Subtracts a number that is not larger.
    pub(crate) fn sub(&mut self, other: &Self) {
        let mut borrow = false;
        for (a, &b) in self.0.iter_mut().zip(&other.0) {
            let (difference, b1) = a.overflowing_sub(b);
            let (difference, b2) = difference.overflowing_sub(u64::from(borrow));
            *a = difference;
            borrow = b1 || b2;
        }
        debug_assert!(!borrow, "difference below zero");
    }

    /// Multiplies by one word and adds another; returns the overflow.
    pub(crate) fn mul_add_u64(&mut self, factor: u64, addend: u64) -> u64 {
        let mut carry = u128::from(addend);
        for word in &mut self.0 {
            let product = u128::from(*word) * u128::from(factor) + carry;
            *word = product as u64;
            carry = product >> 64;
        }
        carry as u64
    }

    /// Multiplies by 10^exponent; returns whether it fitted.
    pub(crate) fn mul_pow10(&mut self, mut exponent: u32) -> bool {
        let mut fits = true;
        while exponent > 0 {
            let step = exponent.min(19);
            fits &= self.mul_add_u64(POW10_U64[step as usize], 0) == 0;
            exponent -= step;
        }
        fits
    }

    /// The product of two numbers of 81 digits at most.
    pub(crate) fn mul(&self, other: &Self) -> Self {
        let mut words = [0u64; 2 * FACTOR_WORDS];
        for i in 0..FACTOR_WORDS {
            let mut carry = 0u128;
            for j in 0..FACTOR_WORDS {
                let sum = u128::from(self.0[i]) * u128::from(other.0[j]) + u128::from(words[i + j]) + carry;
                words[i + j] = sum as u64;
                carry = sum >> 64;
            }
            words[i + FACTOR_WORDS] = carry as u64;
        }
        debug_assert_eq!(words[WIDE_WORDS], 0, "product over 576 bits");
        Self(*words.first_chunk().expect("a product has more words"))
    }

    /// Divides in place by one word that is not zero; returns the remainder.
    pub(crate) fn div_rem_u64(&mut self, divisor: u64) -> u64 {
        let mut remainder = 0u128;
        for word in self.0.iter_mut().rev() {
            let value = remainder << 64 | u128::from(*word);
            *word = (value / u128::from(divisor)) as u64;
            remainder = value % u128::from(divisor);
        }
        remainder as u64
    }

    /// Divides by 10^exponent, truncating; returns the last digit cut off (0 to 9), which decides rounding half up.
    pub(crate) fn div_pow10(&mut self, mut exponent: u32) -> u64 {
        let mut last = 0;
        while exponent > 0 {
            let step = exponent.min(19);
            let remainder = self.div_rem_u64(POW10_U64[step as usize]);
            last = remainder / POW10_U64[step as usize - 1];
            exponent -= step;
        }
        last
    }

    /// Quotient and remainder; the divisor is not zero.
    pub(crate) fn div_rem(&self, divisor: &Self) -> (Self, Self) {
        if self.cmp_magnitude(divisor) == Ordering::Less {
            return (Self::ZERO, *self);
        }
        if divisor.0[1..].iter().all(|&w| w == 0) {
            let mut quotient = *self;
            let remainder = quotient.div_rem_u64(divisor.0[0]);
            return (quotient, Self::from_u128(u128::from(remainder)));
        }
        knuth_divide(self, divisor)
    }
}

const DIGITS: usize = WIDE_WORDS * 2;

fn to_digits(value: &Wide) -> [u32; DIGITS] {
    let mut digits = [0; DIGITS];
    for (i, &word) in value.0.iter().enumerate() {
        digits[2 * i] = word as u32;
        digits[2 * i + 1] = (word >> 32) as u32;
    }
    digits
}

fn from_digits(digits: &[u32; DIGITS]) -> Wide {
    let mut words = [0; WIDE_WORDS];
    for (i, word) in words.iter_mut().enumerate() {
        *word = u64::from(digits[2 * i]) | u64::from(digits[2 * i + 1]) << 32;
    }
    Wide(words)
}

/// Algorithm D; the divisor has at least two 32-bit digits and is not larger than the numerator.
fn knuth_divide(numerator: &Wide, divisor: &Wide) -> (Wide, Wide) {
    let v = to_digits(divisor);
    let n = v.iter().rposition(|&d| d != 0).expect("divisor is not zero") + 1;
    let shift = v[n - 1].leading_zeros();
    let mut normal = [0u32; DIGITS];
    for i in (0..n).rev() {
        let low = if i > 0 { u64::from(v[i - 1]) } else { 0 };
        normal[i] = (((u64::from(v[i]) << 32 | low) << shift) >> 32) as u32;
    }
    let u = to_digits(numerator);
    let m = u.iter().rposition(|&d| d != 0).expect("numerator is at least the divisor") + 1;
    let mut rest = [0u32; DIGITS + 1];
    rest[m] = ((u64::from(u[m - 1]) << shift) >> 32) as u32;
    for i in (0..m).rev() {
        let low = if i > 0 { u64::from(u[i - 1]) } else { 0 };
        rest[i] = (((u64::from(u[i]) << 32 | low) << shift) >> 32) as u32;
    }
    let mut quotient = [0u32; DIGITS];
    for j in (0..=m - n).rev() {
        let estimate = estimate_digit(&rest[j..], &normal, n);
        quotient[j] = subtract_multiple(&mut rest[j..], &normal, n, estimate);
    }
    let mut remainder = [0u32; DIGITS];
    for i in 0..n {
        let high = u64::from(rest[i + 1]);
        remainder[i] = ((high << 32 | u64::from(rest[i])) >> shift) as u32;
    }
    (from_digits(&quotient), from_digits(&remainder))
}

fn estimate_digit(rest: &[u32], divisor: &[u32; DIGITS], n: usize) -> u64 {
    let top = u64::from(rest[n]) << 32 | u64::from(rest[n - 1]);
    let mut digit = top / u64::from(divisor[n - 1]);
    let mut remainder = top % u64::from(divisor[n - 1]);
    while digit > u64::from(u32::MAX) || digit * u64::from(divisor[n - 2]) > (remainder << 32 | u64::from(rest[n - 2])) {
        digit -= 1;
        remainder += u64::from(divisor[n - 1]);
        if remainder > u64::from(u32::MAX) {
            break;
        }
    }
    digit
}

/// `rest -= digit * divisor`, one too large an estimate repaired; returns the true digit.
fn subtract_multiple(rest: &mut [u32], divisor: &[u32; DIGITS], n: usize, mut digit: u64) -> u32 {
    let mut borrow = 0i64;
    let mut carry = 0u64;
    for i in 0..n {
        let product = digit * u64::from(divisor[i]) + carry;
        carry = product >> 32;
        let difference = i64::from(rest[i]) - borrow - (product & 0xffff_ffff) as i64;
        rest[i] = difference as u32;
        borrow = i64::from(difference < 0);
    }
    let difference = i64::from(rest[n]) - borrow - carry as i64;
    rest[n] = difference as u32;
    if difference < 0 {
        digit -= 1;
        let mut carry = 0u64;
        for i in 0..n {
            let sum = u64::from(rest[i]) + u64::from(divisor[i]) + carry;
            rest[i] = sum as u32;
            carry = sum >> 32;
        }
        rest[n] = rest[n].wrapping_add(carry as u32);
    }
    digit as u32
}
