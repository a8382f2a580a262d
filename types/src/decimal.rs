//! DECIMAL: exact numbers, with MySQL's scale and rounding rules.
//!
//! A column has up to 65 digits. What is computed has more: MySQL keeps the digits before the point and those behind it in groups of nine,
//! nine groups in all, one at least before the point. Digits that need a tenth group behind the point are cut off, not rounded; before the point they are an overflow.
//!
//! A decimal is sign, magnitude and scale: value = ±magnitude / 10^scale. Sums, products and comparisons whose parts fit 128 bits
//! are done in u128; the rest in 576-bit words.
//!
//! D1: the digits before the point and those behind it fill at most [`GROUPS_MAX`] groups (so the magnitude has 81 digits, and fits 270 bits).
//! D2: zero is never negative.
//! D3: equality, order and hash are those of the number: `1.0 == 1.00`.

use crate::wide::{POW10_U64, POW10_U128, WIDE_DIGITS, Wide};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Digits of the widest DECIMAL.
pub const DIGITS_MAX: u32 = 65;
/// Digits of a group.
const GROUP: u32 = 9;
/// Groups of the longest number, those before the point and those behind it together.
const GROUPS_MAX: u32 = 9;
/// Digits of the longest number that is computed.
pub const COMPUTED_DIGITS_MAX: u32 = GROUP * GROUPS_MAX;
/// Largest scale a column or a multiplication result may have.
pub const SCALE_MAX: u8 = 30;
/// `@@div_precision_increment`'s default.
pub const DIV_PRECISION_INCREMENT: u8 = 4;

/// Exact decimal; 40 bytes, `Copy`.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    low: [u64; 4],
    high: u16,
    scale: u8,
    negative: bool,
}

const _: () = assert!(size_of::<Decimal>() == 40);

/// The result has more than 81 digits before the point: error 1690, or the nearest storable value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalOverflow;

/// The result of [`Decimal::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    pub value: Decimal,
    /// Bytes read, leading white space included; the rest is not part of the number. 0: no number at all.
    pub consumed: usize,
    /// Digits of the fraction were cut off.
    pub truncated: bool,
    /// Too many digits before the point; `value` is the largest of that sign.
    pub overflow: bool,
}

/// The digits after the point that MySQL computes for a quotient, from those of both operands: whole groups of nine.
pub fn quotient_scale(dividend: u8, divisor: u8, increment: u8) -> u8 {
    let groups = |digits: u8| digits.div_ceil(GROUP as u8) * GROUP as u8;
    let (of_dividend, of_divisor) = (groups(dividend), groups(divisor));
    let more = increment.saturating_sub((of_dividend - dividend) + (of_divisor - divisor));
    groups(of_dividend + of_divisor + more)
}

impl Decimal {
    pub const ZERO: Self = Self { low: [0; 4], high: 0, scale: 0, negative: false };

    /// `magnitude / 10^scale`, optionally negated. The scale is at most 81.
    #[inline]
    pub fn from_parts(magnitude: u128, scale: u8, negative: bool) -> Self {
        debug_assert!(u32::from(scale) <= COMPUTED_DIGITS_MAX);
        Self { low: [magnitude as u64, (magnitude >> 64) as u64, 0, 0], high: 0, scale, negative: negative && magnitude != 0 }
    }

    pub fn from_i64(value: i64) -> Self {
        Self::from_parts(u128::from(value.unsigned_abs()), 0, value < 0)
    }

    pub fn from_u64(value: u64) -> Self {
        Self::from_parts(u128::from(value), 0, false)
    }

    pub fn from_i128(value: i128) -> Self {
        Self::from_parts(value.unsigned_abs(), 0, value < 0)
    }

    /// The decimal that prints like the double's shortest text. Infinite and NaN overflow.
    pub fn from_f64(value: f64) -> Result<Self, DecimalOverflow> {
        if !value.is_finite() {
            return Err(DecimalOverflow);
        }
        let mut buffer = ryu::Buffer::new();
        let parsed = Self::parse(buffer.format_finite(value).as_bytes());
        if parsed.overflow { Err(DecimalOverflow) } else { Ok(parsed.value) }
    }

    /// The largest (or most negative) value of DECIMAL(precision, scale).
    pub fn max_value(precision: u8, scale: u8, negative: bool) -> Self {
        let mut magnitude = Wide::pow10(u32::from(precision).min(DIGITS_MAX));
        magnitude.sub(&Wide::from_u128(1));
        Self::from_wide_exact(&magnitude, scale, negative)
    }

    /// Reads `[space][+-]digits[.digits][e[+-]digits]` from the front of a text. Never fails: see [`Parsed`].
    pub fn parse(text: &[u8]) -> Parsed {
        Parser { text, at: 0 }.parse()
    }

    /// Reads a text that is nothing but a number.
    pub fn parse_exact(text: &str) -> Option<Self> {
        let parsed = Self::parse(text.as_bytes());
        (parsed.consumed == text.len() && parsed.consumed > 0 && !parsed.overflow).then_some(parsed.value)
    }

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    pub fn is_zero(&self) -> bool {
        self.low == [0; 4] && self.high == 0
    }

    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Digits before the point, leading zeros not counted.
    pub fn integer_digits(&self) -> u32 {
        self.digits().saturating_sub(u32::from(self.scale))
    }

    /// Digits in all: at least the scale, at least one.
    pub fn precision(&self) -> u32 {
        self.digits().max(u32::from(self.scale)).max(1)
    }

    /// Digits of the magnitude; zero has none.
    fn digits(&self) -> u32 {
        match self {
            Self { low: [small, 0, 0, 0], high: 0, .. } => small.checked_ilog10().map_or(0, |log| log + 1),
            _ => self.wide().digits(),
        }
    }

    #[must_use]
    pub fn negate(mut self) -> Self {
        self.negative = !self.negative && !self.is_zero();
        self
    }

    #[must_use]
    pub fn abs(mut self) -> Self {
        self.negative = false;
        self
    }

    #[inline]
    pub fn add(&self, other: &Self) -> Result<Self, DecimalOverflow> {
        if let Some((a, b, scale)) = self.aligned_i128(other)
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(Self::from_parts(sum.unsigned_abs(), scale, sum < 0));
        }
        self.add_wide(other)
    }

    pub fn subtract(&self, other: &Self) -> Result<Self, DecimalOverflow> {
        self.add(&other.negate())
    }

    /// The product. Its scale is the sum of both. If its digits need too many groups, groups after the point are first dropped from the
    /// factors, as in MySQL.
    pub fn multiply(&self, other: &Self) -> Result<Self, DecimalOverflow> {
        let negative = self.negative != other.negative;
        let scale = u32::from(self.scale) + u32::from(other.scale);
        if let (Some(a), Some(b)) = (self.word(), other.word())
            && scale <= u32::from(SCALE_MAX)
        {
            return Ok(Self::from_parts(u128::from(a) * u128::from(b), scale as u8, negative));
        }
        let (mine, others) = (u32::from(self.scale).div_ceil(GROUP), u32::from(other.scale).div_ceil(GROUP));
        let whole = (self.integer_digits() + other.integer_digits()).div_ceil(GROUP).max(1);
        let room = GROUPS_MAX.checked_sub(whole).ok_or(DecimalOverflow)?;
        let excess = (mine + others).saturating_sub(room);
        // The factor with more groups loses the larger half.
        let (less, more) = (excess / 2, excess - excess / 2);
        let (cut_mine, cut_others) = if mine <= others { (less, more) } else { (more, less) };
        let (a, b) = (self.without_groups(cut_mine), other.without_groups(cut_others));
        let scale = u32::from(a.scale) + u32::from(b.scale);
        Self::from_wide(&a.wide().mul(&b.wide()), scale, negative)
    }

    /// Without the last groups behind the point.
    fn without_groups(&self, count: u32) -> Self {
        if count == 0 {
            return *self;
        }
        let groups = u32::from(self.scale).div_ceil(GROUP).saturating_sub(count);
        self.cut((groups * GROUP) as u8, Cut::Truncate)
    }

    /// `/`: the quotient with `increment` more digits after the point than the dividend has (30 at most), rounded half away from zero.
    /// `None` when the divisor is zero.
    pub fn divide(&self, other: &Self, increment: u8) -> Option<Result<Self, DecimalOverflow>> {
        let scale = self.scale.saturating_add(increment).min(SCALE_MAX.max(self.scale));
        // MySQL computes groups of nine digits: there may be no digit after the last one to round by.
        let cut = if quotient_scale(self.scale, other.scale, increment) == scale { Cut::Truncate } else { Cut::Round };
        self.quotient(other, scale, cut)
    }

    /// AVG: the quotient with all digits that MySQL computes, in groups of nine, which are more than `/` shows; further
    /// digits are truncated.
    pub fn divide_in_groups(&self, other: &Self, increment: u8) -> Option<Result<Self, DecimalOverflow>> {
        let scale = quotient_scale(self.scale, other.scale, increment).min(SCALE_MAX.max(self.scale));
        self.quotient(other, scale, Cut::Truncate)
    }

    fn quotient(&self, other: &Self, scale: u8, cut: Cut) -> Option<Result<Self, DecimalOverflow>> {
        if other.is_zero() {
            return None;
        }
        // Without a digit after the point there is none to round by: the quotient is truncated.
        if scale == 0 && other.scale == 0 {
            return self.integer_divide(other);
        }
        let negative = self.negative != other.negative;
        let shift = u32::from(scale - self.scale) + u32::from(other.scale);
        if let (Some(n), Some(d), Some(factor)) = (self.small(), other.small(), POW10_U128.get(shift as usize))
            && let Some(n) = n.checked_mul(*factor)
        {
            let quotient = n / d + u128::from(cut == Cut::Round && n % d >= d - n % d);
            return Some(Self::from_wide(&Wide::from_u128(quotient), u32::from(scale), negative));
        }
        // Digits that do not fit are beyond the groups that are kept.
        let mut numerator = self.wide();
        let room = WIDE_DIGITS - numerator.digits();
        numerator.mul_pow10(shift.min(room));
        let (mut quotient, mut rest) = numerator.div_rem(&other.wide());
        let scale = u32::from(scale).saturating_sub(shift.saturating_sub(room));
        // If groups are about to be dropped, there is nothing to round by.
        let double = rest;
        rest.add(&double);
        if cut == Cut::Round && scale_kept(&quotient, scale) == Ok(scale) && rest.cmp_magnitude(&other.wide()) != Ordering::Less {
            quotient.add(&Wide::from_u128(1));
        }
        Some(Self::from_wide(&quotient, scale, negative))
    }

    /// `MOD`: the remainder has the dividend's sign and the larger scale. `None` when the divisor is zero.
    pub fn modulo(&self, other: &Self) -> Option<Result<Self, DecimalOverflow>> {
        if other.is_zero() {
            return None;
        }
        if let Some((a, b, scale)) = self.aligned_i128(other) {
            let rest = a % b;
            return Some(Self::from_wide(&Wide::from_u128(rest.unsigned_abs()), u32::from(scale), rest < 0));
        }
        let (a, b, scale) = self.aligned_wide(other);
        Some(Self::from_wide(&a.div_rem(&b).1, scale, self.negative))
    }

    /// `DIV`: the integer part of the quotient, `None` when the divisor is zero.
    pub fn integer_divide(&self, other: &Self) -> Option<Result<Self, DecimalOverflow>> {
        if other.is_zero() {
            return None;
        }
        let (a, b, _) = self.aligned_wide(other);
        Some(Self::from_wide(&a.div_rem(&b).0, 0, self.negative != other.negative))
    }

    /// The same number with exactly `scale` digits after the point, rounded half away from zero. Overflows where the groups of its digits are too many.
    pub fn rescale(&self, scale: u8) -> Result<Self, DecimalOverflow> {
        match scale.cmp(&self.scale) {
            Ordering::Equal => Ok(*self),
            Ordering::Less => Ok(self.cut(scale, Cut::Round)),
            Ordering::Greater => self.widen(scale),
        }
    }

    /// Like [`Self::rescale`], digits that do not fit cut off.
    pub fn truncate_scale(&self, scale: u8) -> Result<Self, DecimalOverflow> {
        if scale < self.scale { Ok(self.cut(scale, Cut::Truncate)) } else { self.rescale(scale) }
    }

    /// `ROUND(x, digits)`; negative `digits` round before the point. The scale is `max(digits, 0)` if that is less than
    /// now.
    pub fn round(&self, digits: i64) -> Result<Self, DecimalOverflow> {
        self.round_as(digits, Cut::Round)
    }

    /// `TRUNCATE(x, digits)`
    pub fn truncate(&self, digits: i64) -> Result<Self, DecimalOverflow> {
        self.round_as(digits, Cut::Truncate)
    }

    pub fn floor(&self) -> Result<Self, DecimalOverflow> {
        self.to_integer_toward(self.negative)
    }

    pub fn ceiling(&self) -> Result<Self, DecimalOverflow> {
        self.to_integer_toward(!self.negative)
    }

    /// Whether digits after the point are all zero.
    pub fn is_integer(&self) -> bool {
        self.cut(0, Cut::Truncate) == *self
    }

    /// Whether the number, as it is, is in the range of DECIMAL(precision, scale) before the point.
    pub fn fits(&self, precision: u8, scale: u8) -> bool {
        self.integer_digits() <= u32::from(precision.saturating_sub(scale))
    }

    /// Rounded half away from zero; `Err` holds the nearest bound.
    pub fn to_i64(&self) -> Result<i64, i64> {
        let rounded = self.cut(0, Cut::Round);
        let bound = if self.negative { i64::MIN } else { i64::MAX };
        let magnitude = rounded.small().ok_or(bound)?;
        let value = i128::try_from(magnitude).map_err(|_| bound)?;
        i64::try_from(if self.negative { -value } else { value }).map_err(|_| bound)
    }

    /// Rounded half away from zero; `Err` holds the nearest bound.
    pub fn to_u64(&self) -> Result<u64, u64> {
        let rounded = self.cut(0, Cut::Round);
        if rounded.negative {
            return Err(0);
        }
        rounded.small().and_then(|m| u64::try_from(m).ok()).ok_or(u64::MAX)
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        if let Some(magnitude) = self.small()
            && magnitude < 1 << 53
            && self.scale <= 22
        {
            // Both are exact doubles, so one rounding happens: the division's.
            let value = magnitude as f64 / POW10_F64[usize::from(self.scale)];
            return if self.negative { -value } else { value };
        }
        self.to_string().parse().expect("the text of a decimal is the text of a double")
    }

    /// Appends the text: sign, at least one digit before the point, exactly `scale` digits after it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut digits = [0u8; 96];
        let mut at = digits.len();
        let mut rest = self.wide();
        let mut small = self.small().and_then(|m| u64::try_from(m).ok());
        let mut written = 0u32;
        // Peel off 19 digits at a time.
        loop {
            let (mut chunk, last) = match small.take() {
                Some(value) => (value, true),
                None => {
                    let chunk = rest.div_rem_u64(POW10_U64[19]);
                    (chunk, rest.is_zero())
                }
            };
            let chunk_end = written + 19;
            while chunk > 0 || (!last && written < chunk_end) {
                at -= 1;
                digits[at] = b'0' + (chunk % 10) as u8;
                chunk /= 10;
                written += 1;
            }
            if last {
                break;
            }
        }
        let scale = usize::from(self.scale);
        let digits = &digits[at..];
        if self.negative {
            out.push(b'-');
        }
        if digits.len() > scale {
            out.extend_from_slice(&digits[..digits.len() - scale]);
        } else {
            out.push(b'0');
        }
        if scale > 0 {
            out.push(b'.');
            out.extend(std::iter::repeat_n(b'0', scale.saturating_sub(digits.len())));
            out.extend_from_slice(&digits[digits.len().saturating_sub(scale)..]);
        }
    }

    /// Bytes of [`Self::encode_ordered`] for so many digits: 1 to 34.
    pub fn ordered_bytes(precision: u8) -> usize {
        ORDERED_BYTES[usize::from(precision).min(COMPUTED_DIGITS_MAX as usize)]
    }

    /// Appends the number as DECIMAL(precision, scale): big-endian, offset by half the range, so that `memcmp` orders it.
    /// The number fits the type (the caller has converted it); one that does not is clamped.
    pub fn encode_ordered(&self, precision: u8, scale: u8, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + Self::ordered_bytes(precision), 0);
        self.write_ordered(precision, scale, &mut out[start..]);
    }

    /// [`Self::encode_ordered`] into exactly `ordered_bytes(precision)` bytes.
    pub(crate) fn write_ordered(&self, precision: u8, scale: u8, target: &mut [u8]) {
        if target.len() <= 8
            && let Some(value) = self.scaled_i128(scale)
            && value.unsigned_abs() < POW10_U128[usize::from(precision)]
        {
            let bits = (value as i64 as u64) ^ 1 << (8 * target.len() - 1);
            target.copy_from_slice(&bits.to_be_bytes()[8 - target.len()..]);
            return;
        }
        let mut value = self.rescale(scale).unwrap_or(Self::max_value(precision, scale, self.negative));
        if !value.fits(precision, scale) {
            value = Self::max_value(precision, scale, self.negative);
        }
        let words = [value.low[0], value.low[1], value.low[2], value.low[3], u64::from(value.high)];
        let mut buffer = [0u8; ORDERED_BUFFER];
        let mut carry = value.negative;
        for (i, &word) in words.iter().enumerate() {
            let mut word = word;
            if value.negative {
                // Two's complement of the magnitude.
                (word, carry) = (!word).overflowing_add(u64::from(carry));
            }
            let end = ORDERED_BUFFER - 8 * i;
            buffer[end - 8..end].copy_from_slice(&word.to_be_bytes());
        }
        let start = ORDERED_BUFFER - target.len();
        buffer[start] ^= 0x80;
        target.copy_from_slice(&buffer[start..]);
    }

    /// The number times 10^scale, if it is a whole one that fits.
    #[inline]
    pub fn at_scale(&self, scale: u8) -> Option<i128> {
        self.scaled_i128(scale)
    }

    /// The digits as one number, which [`Self::from_parts`] takes back with the scale, if they fit 63 bits.
    #[inline]
    pub fn digits_i64(&self) -> Option<i64> {
        let digits = i64::try_from(self.word()?).ok()?;
        Some(if self.negative { -digits } else { digits })
    }

    /// Decodes the output of [`Self::encode_ordered`]; `None` if the bytes are no such output.
    pub fn decode_ordered(bytes: &[u8], precision: u8, scale: u8) -> Option<Self> {
        if bytes.len() != Self::ordered_bytes(precision) {
            return None;
        }
        if bytes.len() <= 8 {
            let bits = bytes.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            let shift = 64 - 8 * bytes.len() as u32;
            let value = ((bits << shift) ^ 1 << 63) as i64 >> shift;
            let magnitude = u128::from(value.unsigned_abs());
            return (magnitude < POW10_U128[usize::from(precision)]).then(|| Self::from_parts(magnitude, scale, value < 0));
        }
        let negative = bytes[0] & 0x80 == 0;
        let mut buffer = if negative { [0xff; ORDERED_BUFFER] } else { [0; ORDERED_BUFFER] };
        buffer[ORDERED_BUFFER - bytes.len()..].copy_from_slice(bytes);
        buffer[ORDERED_BUFFER - bytes.len()] ^= 0x80;
        let mut words = [0u64; 5];
        let mut carry = negative;
        for (i, word) in words.iter_mut().enumerate() {
            let end = ORDERED_BUFFER - 8 * i;
            let chunk = buffer[end - 8..end].try_into().expect("8 bytes");
            *word = u64::from_be_bytes(chunk);
            if negative {
                (*word, carry) = (!*word).overflowing_add(u64::from(carry));
            }
        }
        let [low @ .., high] = words;
        let value = Self { low, high: u16::try_from(high).ok()?, scale, negative };
        (value.wide().digits() <= u32::from(precision)).then(|| value.normal_zero())
    }

    // Private parts.

    fn wide(&self) -> Wide {
        let [a, b, c, d] = self.low;
        Wide([a, b, c, d, u64::from(self.high), 0, 0, 0, 0])
    }

    /// The magnitude if it fits 64 bits.
    #[inline]
    fn word(&self) -> Option<u64> {
        (self.low[1..] == [0; 3] && self.high == 0).then_some(self.low[0])
    }

    /// The magnitude if it fits 128 bits.
    #[inline]
    fn small(&self) -> Option<u128> {
        (self.low[2..] == [0; 2] && self.high == 0).then(|| u128::from(self.low[0]) | u128::from(self.low[1]) << 64)
    }

    fn normal_zero(mut self) -> Self {
        self.negative &= !self.is_zero();
        self
    }

    /// D1 holds for the magnitude already.
    fn from_wide_exact(magnitude: &Wide, scale: u8, negative: bool) -> Self {
        debug_assert!(magnitude.digits() <= COMPUTED_DIGITS_MAX);
        let [a, b, c, d, high, ..] = magnitude.0;
        Self { low: [a, b, c, d], high: high as u16, scale, negative }.normal_zero()
    }

    /// Establishes D1: cuts groups of the fraction until all fit.
    fn from_wide(magnitude: &Wide, scale: u32, negative: bool) -> Result<Self, DecimalOverflow> {
        let kept = scale_kept(magnitude, scale)?;
        let mut magnitude = *magnitude;
        magnitude.div_pow10(scale - kept);
        Ok(Self::from_wide_exact(&magnitude, kept as u8, negative))
    }

    /// Both as signed integers of the larger scale, if that is quick.
    #[inline]
    fn aligned_i128(&self, other: &Self) -> Option<(i128, i128, u8)> {
        let scale = self.scale.max(other.scale);
        Some((self.scaled_i128(scale)?, other.scaled_i128(scale)?, scale))
    }

    #[inline]
    fn scaled_i128(&self, scale: u8) -> Option<i128> {
        let by = usize::from(scale.checked_sub(self.scale)?);
        let magnitude = match (self.word(), POW10_U64.get(by)) {
            _ if by == 0 => self.small()?,
            (Some(word), Some(factor)) => u128::from(word) * u128::from(*factor),
            _ => self.small()?.checked_mul(*POW10_U128.get(by)?)?,
        };
        let magnitude = i128::try_from(magnitude).ok()?;
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// Both magnitudes at the larger scale; at most 81 + 81 digits.
    fn aligned_wide(&self, other: &Self) -> (Wide, Wide, u32) {
        let scale = self.scale.max(other.scale);
        let (mut a, mut b) = (self.wide(), other.wide());
        a.mul_pow10(u32::from(scale - self.scale));
        b.mul_pow10(u32::from(scale - other.scale));
        (a, b, u32::from(scale))
    }

    #[cold]
    fn add_wide(&self, other: &Self) -> Result<Self, DecimalOverflow> {
        // Groups behind the point that do not fit are left out of both.
        let mut whole = self.integer_digits().max(other.integer_digits()).div_ceil(GROUP).max(1);
        // A sum may need one more before it, which is judged by the first groups alone.
        if self.negative == other.negative && self.group(whole - 1) + other.group(whole - 1) >= POW10_U64[GROUP as usize] - 1 {
            whole += 1;
        }
        let scale = (GROUPS_MAX.checked_sub(whole).ok_or(DecimalOverflow)? * GROUP) as u8;
        let (left, right) = (self.cut(scale, Cut::Truncate), other.cut(scale, Cut::Truncate));
        let (mut a, mut b, scale) = left.aligned_wide(&right);
        if self.negative == other.negative {
            a.add(&b);
            return Self::from_wide(&a, scale, self.negative);
        }
        if a.cmp_magnitude(&b) == Ordering::Less {
            b.sub(&a);
            return Self::from_wide(&b, scale, other.negative);
        }
        a.sub(&b);
        Self::from_wide(&a, scale, self.negative)
    }

    /// The group before the point that has so many groups behind it, with all digits above it.
    fn group(&self, index: u32) -> u64 {
        let mut magnitude = self.wide();
        magnitude.div_pow10(u32::from(self.scale) + index * GROUP);
        magnitude.0[0]
    }

    fn widen(&self, scale: u8) -> Result<Self, DecimalOverflow> {
        if u32::from(scale) > COMPUTED_DIGITS_MAX {
            return Err(DecimalOverflow);
        }
        let by = u32::from(scale - self.scale);
        if let Some(small) = self.small()
            && let Some(factor) = POW10_U128.get(by as usize)
            && let Some(magnitude) = small.checked_mul(*factor)
        {
            return Ok(Self::from_parts(magnitude, scale, self.negative));
        }
        let mut magnitude = self.wide();
        magnitude.mul_pow10(by);
        if scale_kept(&magnitude, u32::from(scale)) != Ok(u32::from(scale)) {
            return Err(DecimalOverflow);
        }
        Ok(Self::from_wide_exact(&magnitude, scale, self.negative))
    }

    /// Fewer digits after the point: `scale` is not larger than now. Where rounding up adds a digit, one was cut.
    fn cut(&self, scale: u8, cut: Cut) -> Self {
        let by = u32::from(self.scale.saturating_sub(scale));
        if by == 0 {
            return *self;
        }
        let mut magnitude = self.wide();
        let last = magnitude.div_pow10(by);
        if cut == Cut::Round && last >= 5 {
            magnitude.add(&Wide::from_u128(1));
        }
        Self::from_wide_exact(&magnitude, scale, self.negative)
    }

    fn round_as(&self, digits: i64, cut: Cut) -> Result<Self, DecimalOverflow> {
        if digits >= i64::from(self.scale) {
            return Ok(*self);
        }
        if digits >= 0 {
            return Ok(self.cut(digits as u8, cut));
        }
        let by = u32::try_from(digits.unsigned_abs()).unwrap_or(u32::MAX).min(COMPUTED_DIGITS_MAX + 1) + u32::from(self.scale);
        if by > 2 * COMPUTED_DIGITS_MAX {
            return Ok(Self::ZERO);
        }
        let mut magnitude = self.wide();
        let last = magnitude.div_pow10(by);
        if cut == Cut::Round && last >= 5 {
            magnitude.add(&Wide::from_u128(1));
        }
        if !magnitude.is_zero() {
            magnitude.mul_pow10(by - u32::from(self.scale));
        }
        Self::from_wide(&magnitude, 0, self.negative)
    }

    fn to_integer_toward(self, away_from_zero: bool) -> Result<Self, DecimalOverflow> {
        let whole = self.cut(0, Cut::Truncate);
        if !away_from_zero || whole == self {
            return Ok(whole);
        }
        let one = Self::from_parts(1, 0, self.negative);
        whole.add(&one)
    }
}

/// Of `scale` digits behind the point those that fit: as many groups as those before the point leave.
fn scale_kept(magnitude: &Wide, scale: u32) -> Result<u32, DecimalOverflow> {
    let whole = magnitude.digits().saturating_sub(scale).div_ceil(GROUP).max(1);
    let room = GROUPS_MAX.checked_sub(whole).ok_or(DecimalOverflow)?;
    Ok(scale.min(room * GROUP))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Half away from zero.
    Round,
    Truncate,
}

const POW10_F64: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];

/// Bytes of the five words that a magnitude has.
const ORDERED_BUFFER: usize = 40;

/// For each precision the bytes that hold ±(10^precision - 1) in two's complement.
const ORDERED_BYTES: [usize; COMPUTED_DIGITS_MAX as usize + 1] = {
    let mut table = [1; COMPUTED_DIGITS_MAX as usize + 1];
    let mut precision = 1;
    while precision < table.len() {
        // log2(10) = 3.321928..., and one bit for the sign.
        table[precision] = (precision * 3_321_929 / 1_000_000 + 1 + 1).div_ceil(8);
        precision += 1;
    }
    table
};

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.negative != other.negative {
            return if self.negative { Ordering::Less } else { Ordering::Greater };
        }
        if let Some((a, b, _)) = self.aligned_i128(other) {
            return a.cmp(&b);
        }
        let (a, b, _) = self.aligned_wide(other);
        if self.negative { b.cmp_magnitude(&a) } else { a.cmp_magnitude(&b) }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // D3: hash without trailing zeros of the fraction.
        let mut magnitude = self.wide();
        let mut scale = self.scale;
        while scale > 0 {
            let mut shorter = magnitude;
            if shorter.div_rem_u64(10) != 0 {
                break;
            }
            magnitude = shorter;
            scale -= 1;
        }
        magnitude.0[..5].hash(state);
        (scale, self.negative).hash(state);
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = Vec::with_capacity(72);
        self.write(&mut text);
        f.write_str(std::str::from_utf8(&text).map_err(|_| std::fmt::Error)?)
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn digits(&mut self) -> std::ops::Range<usize> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        start..self.at
    }

    fn sign(&mut self) -> bool {
        match self.peek() {
            Some(b'-') => {
                self.at += 1;
                true
            }
            Some(b'+') => {
                self.at += 1;
                false
            }
            _ => false,
        }
    }

    fn parse(mut self) -> Parsed {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace() || b == 0x0b) {
            self.at += 1;
        }
        let negative = self.sign();
        let whole = self.digits();
        let mut fraction = self.at..self.at;
        if self.peek() == Some(b'.') {
            self.at += 1;
            fraction = self.digits();
        }
        if whole.is_empty() && fraction.is_empty() {
            return Parsed { value: Decimal::ZERO, consumed: 0, truncated: false, overflow: false };
        }
        let exponent = self.exponent();
        let (whole, fraction) = (&self.text[whole], &self.text[fraction]);
        assemble(whole, fraction, exponent, negative, self.at)
    }

    /// `e[+-]digits`, or nothing if no digit follows.
    fn exponent(&mut self) -> i64 {
        let start = self.at;
        if !matches!(self.peek(), Some(b'e' | b'E')) {
            return 0;
        }
        self.at += 1;
        let negative = self.sign();
        let digits = self.digits();
        if digits.is_empty() {
            self.at = start;
            return 0;
        }
        let value = self.text[digits].iter().fold(0i64, |v, b| (v * 10 + i64::from(b - b'0')).min(1_000_000));
        if negative { -value } else { value }
    }
}

/// Builds the number from its digits; digits are taken from the most significant one until no group is left.
fn assemble(whole: &[u8], fraction: &[u8], exponent: i64, negative: bool, consumed: usize) -> Parsed {
    let skip = whole.iter().take_while(|&&b| b == b'0').count();
    let whole = &whole[skip..];
    // The value is 0.d1d2d3... * 10^point.
    let mut point = whole.len() as i64 + exponent;
    let mut digits = whole.iter().chain(fraction).map(|b| b - b'0').peekable();
    if whole.is_empty() {
        while digits.next_if_eq(&0).is_some() {
            point -= 1;
        }
    }
    let total = digits.clone().count() as i64;
    let overflowed =
        Parsed { value: Decimal::max_value(DIGITS_MAX as u8, 0, negative), consumed, truncated: false, overflow: true };
    if total > 0 && point > i64::from(COMPUTED_DIGITS_MAX) {
        return overflowed;
    }
    if total == 0 {
        // Zero, whatever the exponent.
        point = 0;
    }
    let group = i64::from(GROUP);
    let scale_max = i64::from(COMPUTED_DIGITS_MAX) - (point.max(1) + group - 1) / group * group;
    let wanted_scale = if total == 0 { fraction.len() as i64 - exponent } else { total - point };
    let scale = wanted_scale.clamp(0, scale_max);
    let take = (point + scale).clamp(0, total);
    let truncated_digits = total > take;
    let mut magnitude = Wide::ZERO;
    let (mut chunk, mut chunk_digits) = (0u64, 0usize);
    let mut taken = 0;
    while taken < take {
        let Some(digit) = digits.next() else { break };
        chunk = chunk * 10 + u64::from(digit);
        chunk_digits += 1;
        taken += 1;
        if chunk_digits == 19 {
            magnitude.mul_add_u64(POW10_U64[19], chunk);
            (chunk, chunk_digits) = (0, 0);
        }
    }
    magnitude.mul_add_u64(POW10_U64[chunk_digits], chunk);
    // Trailing zeros that the exponent adds.
    magnitude.mul_pow10((point + scale - take).clamp(0, 130) as u32);
    match Decimal::from_wide(&magnitude, scale as u32, negative) {
        Ok(value) => Parsed { value, consumed, truncated: truncated_digits, overflow: false },
        Err(DecimalOverflow) => overflowed,
    }
}

#[cfg(test)]
mod tests;
