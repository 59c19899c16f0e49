//! Decimal128 (IEEE 754-2008, binary integer encoding): its encoding, parsing and rounding.
//! Operations are exact on big integers and rounded once, half to even.
//!
//! The bits, from the highest: the sign, 14 bits of exponent (biased by 6176), 113 bits of
//! coefficient. If the first two exponent bits are `11`, the exponent is stored two bits lower, for
//! coefficients beyond 113 bits, which are not canonical and read as zero; `1111` followed by `0`
//! is an infinity and followed by `1` a NaN.
//!
//! ```text
//!  127  126 ........ 113  112 ........................... 0
//! sign  biased exponent   coefficient (up to 34 digits)
//! ```

use std::cmp::Ordering;

use num_bigint::BigUint;

/// Rounding mode for an inexact conversion to an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to the even neighbour.
    HalfEven,
    /// Toward zero, which truncates the fraction.
    Down,
    /// To the next integer toward positive infinity.
    Ceil,
    /// To the next integer toward negative infinity.
    Floor,
}

/// A 128-bit decimal, stored as its BSON bits. Values are never normalized: `1.0` and `1.00` have
/// different bits and are written as they were read. Use [`Number`](crate::Number) to compare
/// values: as numbers, `1.0` and `1.00` are equal.
#[derive(Clone, Copy)]
pub struct Decimal128(u128);

/// Bias added to an exponent in the encoding.
const EXPONENT_BIAS: i32 = 6176;
/// Number of bits of the coefficient, which are the lowest; the exponent follows.
const COEFFICIENT_BITS: u32 = 113;
/// Smallest exponent of an integer coefficient.
const MIN_EXPONENT: i64 = -6176;
/// Largest exponent of an integer coefficient.
const MAX_EXPONENT: i64 = 6111;
/// Maximum number of decimal digits of a coefficient.
pub(crate) const DIGITS: i64 = 34;
/// Larger exponents of a text are clamped to this: the result is zero or infinite either way, and
/// the arithmetic stays small.
const MAX_TEXT_EXPONENT: i64 = 20_000;
/// Largest coefficient: 34 decimal digits, all nines.
const MAX_COEFFICIENT: u128 = 9_999_999_999_999_999_999_999_999_999_999_999;

impl Decimal128 {
    /// The number 0 with exponent 0.
    pub const ZERO: Self = Self((EXPONENT_BIAS as u128) << COEFFICIENT_BITS);

    /// A quiet NaN with positive sign.
    pub const NAN: Self = Self(0x1f << 122);

    /// A quiet NaN with a sign. Comparisons ignore the sign, which is kept so that values are
    /// written with the bits they were read with.
    pub(crate) fn signed_nan(negative: bool) -> Self {
        Self(Self::NAN.0 | u128::from(negative) << 127)
    }

    /// Reads BSON's 16 little-endian bytes.
    pub fn from_le_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Returns BSON's 16 little-endian bytes.
    pub fn to_le_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Returns whether the sign bit is set.
    pub fn is_negative(self) -> bool {
        self.0 >> 127 == 1
    }

    /// Returns whether the value is a NaN.
    pub fn is_nan(self) -> bool {
        // 11111 after the sign; the lower bits are a payload, which is ignored.
        (self.0 >> 122) & 0x1f == 0x1f
    }

    /// Returns whether the value is an infinity.
    pub fn is_infinite(self) -> bool {
        (self.0 >> 122) & 0x1f == 0x1e
    }

    /// Returns whether the value is zero of either sign.
    pub fn is_zero(self) -> bool {
        matches!(self.parts(), Some((_, 0, _)))
    }

    /// Returns sign, coefficient and exponent of a finite value, or `None` for NaN and infinities.
    /// A non-canonical coefficient reads as zero.
    pub fn parts(self) -> Option<(bool, u128, i32)> {
        if (self.0 >> 123) & 0xf == 0xf {
            return None;
        }
        // Here the exponent is stored two bits lower, and the coefficient is not canonical. The
        // value reads as a zero, which keeps its exponent.
        let large = (self.0 >> 125) & 3 == 3;
        let shift = if large { 111 } else { COEFFICIENT_BITS };
        let exponent = i32::try_from((self.0 >> shift) & 0x3fff).unwrap_or(0) - EXPONENT_BIAS;
        let coefficient = self.0 & ((1 << COEFFICIENT_BITS) - 1);
        let canonical = !large && coefficient <= MAX_COEFFICIENT;
        Some((self.is_negative(), if canonical { coefficient } else { 0 }, exponent))
    }

    /// Builds a finite value from its parts; returns `None` if they are out of range. The exponent
    /// is unbiased and applies to the coefficient as an integer.
    fn from_parts(negative: bool, coefficient: u128, exponent: i32) -> Option<Self> {
        let biased = u128::try_from(exponent.checked_add(EXPONENT_BIAS)?).ok()?;
        let fits = biased <= 0x2fff && coefficient <= MAX_COEFFICIENT;
        fits.then(|| Self(u128::from(negative) << 127 | biased << COEFFICIENT_BITS | coefficient))
    }

    /// Parses MongoDB's text form (`1.5`, `1E+3`, `NaN`, `-Infinity`); returns `None` if the text
    /// is not a number. Long or large numbers never fail: more than 34 digits are rounded, and an
    /// exponent out of range gives zero or an infinity.
    pub fn parse(text: &str) -> Option<Self> {
        // At most one sign is stripped: a second one is not a digit and fails below.
        let body = text.strip_prefix(['+', '-']).unwrap_or(text);
        let word = body.eq_ignore_ascii_case("nan")
            || body.eq_ignore_ascii_case("inf")
            || body.eq_ignore_ascii_case("infinity");
        if !word && !is_decimal_text(body) {
            return None;
        }
        let negative = text.starts_with('-');
        if word {
            return Some(if body.starts_with(['n', 'N']) {
                Self::signed_nan(negative)
            } else {
                Self::signed_infinity(negative)
            });
        }
        let (mantissa, exponent) = body.split_once(['e', 'E']).unwrap_or((body, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // All digits as one integer; the point only shifts the exponent.
        let coefficient = BigUint::parse_bytes(format!("{whole}{fraction}").as_bytes(), 10)?;
        // The exponent is known to consist of digits, so parsing fails only if it is beyond an
        // `i64`.
        let exponent = exponent.parse().unwrap_or(if exponent.starts_with('-') {
            -MAX_TEXT_EXPONENT
        } else {
            MAX_TEXT_EXPONENT
        });
        let exponent = exponent.clamp(-MAX_TEXT_EXPONENT, MAX_TEXT_EXPONENT);
        let fraction = i64::try_from(fraction.len()).ok()?;
        Some(Self::rounded(negative, coefficient, exponent - fraction, false))
    }

    /// Converts an integer, which is always exact.
    pub fn from_i64(value: i64) -> Self {
        let sign = u128::from(value < 0) << 127;
        Self(sign | Self::ZERO.0 | u128::from(value.unsigned_abs()))
    }

    /// Converts a double to 15 significant digits including trailing zeros, as MongoDB does: `1.5`
    /// becomes `1.50000000000000`. The zeros are part of a decimal's bits and text, so they are
    /// visible in results.
    pub fn from_f64(value: f64) -> Self {
        if value.is_finite()
            && value != 0.0
            && let Some(exact) = Self::parse(&format!("{value:.14e}"))
        {
            return exact;
        }
        match value {
            v if v.is_nan() => Self::signed_nan(v.is_sign_negative()),
            v if v.is_infinite() => Self::signed_infinity(v < 0.0),
            v if v.is_sign_negative() => Self::ZERO.negate(),
            _ => Self::ZERO,
        }
    }

    /// Converts a double to 15 significant digits without trailing zeros: `1.5` stays `1.5`. Used
    /// where the result should look like the double.
    pub fn from_f64_short(value: f64) -> Self {
        if !value.is_finite() || value == 0.0 {
            return Self::from_f64(value);
        }
        Self::parse(&trim_zeros(&format!("{value:.14e}"))).unwrap_or(Self::NAN)
    }

    /// Converts a double to as many digits as a decimal holds: `0.1` becomes the double's exact
    /// value, `0.1000000000000000055...`, rounded to 34 digits.
    pub fn from_f64_exact(value: f64) -> Self {
        if !value.is_finite() || value == 0.0 {
            return Self::from_f64(value);
        }
        Self::parse(&trim_zeros(&format!("{value:.33e}"))).unwrap_or(Self::NAN)
    }

    /// Converts to the nearest double. It converts through text because the standard library parses
    /// decimal text to the nearest double; multiplying by a power of ten would round twice.
    pub fn to_f64(self) -> f64 {
        match self.parts() {
            Some((negative, coefficient, exponent)) => {
                let magnitude = format!("{coefficient}e{exponent}").parse().unwrap_or(0.0);
                if negative { -magnitude } else { magnitude }
            }
            None if self.is_nan() => f64::NAN.copysign(if self.is_negative() { -1.0 } else { 1.0 }),
            None if self.is_negative() => f64::NEG_INFINITY,
            None => f64::INFINITY,
        }
    }

    /// Rounds to an integer; returns `None` if the result is not an `i64`, also for NaN and
    /// infinities.
    pub fn to_i64(self, rounding: Rounding) -> Option<i64> {
        let (negative, coefficient, exponent) = self.round(rounding).parts()?;
        let magnitude = scale_to_integer(coefficient, exponent)?;
        let magnitude = i128::try_from(magnitude).ok()?;
        i64::try_from(if negative { -magnitude } else { magnitude }).ok()
    }

    /// Rounds to an integral value; returns NaN and infinities unchanged.
    pub fn round(self, rounding: Rounding) -> Self {
        match self.parts() {
            Some((_, _, exponent)) if exponent < 0 => self.at_exponent(0, rounding),
            _ => self,
        }
    }

    /// Rounds half to even to this exponent; returns NaN if the coefficient would have too many
    /// digits.
    pub fn quantize(self, exponent: i32) -> Self {
        self.at_exponent(exponent, Rounding::HalfEven)
    }

    /// Returns the number with another exponent, rounded if digits are lost, or NaN if the
    /// coefficient would have too many digits. NaN and infinities are returned unchanged.
    fn at_exponent(self, exponent: i32, rounding: Rounding) -> Self {
        let Some((negative, coefficient, own)) = self.parts() else { return self };
        let coefficient = BigUint::from(coefficient);
        // A smaller exponent needs more digits and is exact; a greater one drops digits.
        let scaled = if exponent <= own {
            coefficient * power_of_ten(i64::from(own) - i64::from(exponent))
        } else {
            let unit = power_of_ten(i64::from(exponent) - i64::from(own));
            let (whole, rest) = (&coefficient / &unit, &coefficient % &unit);
            // The rounding works on magnitudes, so up for one sign is down for the other.
            let up = match rounding {
                Rounding::Down => false,
                Rounding::Ceil => !negative && rest != BigUint::ZERO,
                Rounding::Floor => negative && rest != BigUint::ZERO,
                Rounding::HalfEven => rounds_up(&whole, &(rest * 2_u8).cmp(&unit), false),
            };
            whole + u8::from(up)
        };
        let fits = u128::try_from(scaled).ok();
        fits.and_then(|value| Self::from_parts(negative, value, exponent)).unwrap_or(Self::NAN)
    }

    /// Rounds `coefficient * 10^exponent` half to even to the nearest value. `sticky` says that the
    /// true magnitude is slightly larger, as after an inexact division, so an exact half counts as
    /// more than a half. If the exponent is below the minimum, digits are dropped until it fits:
    /// small values lose precision before they become zero.
    pub(crate) fn rounded(
        negative: bool,
        coefficient: BigUint,
        exponent: i64,
        sticky: bool,
    ) -> Self {
        let digits = i64::try_from(coefficient.to_string().len()).unwrap_or(i64::MAX);
        let excess = (digits - DIGITS).max(MIN_EXPONENT - exponent).max(0);
        if excess == 0 || coefficient == BigUint::ZERO {
            return Self::fold_exponent(negative, coefficient, exponent);
        }
        // Less than a tenth of the last unit: return zero without computing a huge power of ten.
        if digits + 1 < excess {
            return Self::fold_exponent(negative, BigUint::ZERO, MIN_EXPONENT);
        }
        let unit = power_of_ten(excess);
        let (whole, rest) = (&coefficient / &unit, &coefficient % &unit);
        let up = rounds_up(&whole, &(rest * 2_u8).cmp(&unit), sticky);
        let kept = whole + u8::from(up);
        // Rounding up 99...9 adds a digit, one more than fits.
        if u128::try_from(&kept).is_ok_and(|value| value <= MAX_COEFFICIENT) {
            Self::fold_exponent(negative, kept, exponent + excess)
        } else {
            Self::fold_exponent(negative, kept / 10_u8, exponent + excess + 1)
        }
    }

    /// Brings the exponent of a coefficient of at most 34 digits into range. A zero takes the
    /// nearest valid exponent; a value that is too large is padded with trailing zeros up to 34
    /// digits, and becomes an infinity if that is not enough.
    fn fold_exponent(negative: bool, coefficient: BigUint, exponent: i64) -> Self {
        let mut coefficient = u128::try_from(coefficient).unwrap_or(u128::MAX);
        let mut exponent =
            if coefficient == 0 { exponent.clamp(MIN_EXPONENT, MAX_EXPONENT) } else { exponent };
        // The same number with more zeros and a smaller exponent.
        while MAX_EXPONENT < exponent && coefficient <= MAX_COEFFICIENT / 10 {
            coefficient *= 10;
            exponent -= 1;
        }
        let exponent = i32::try_from(exponent).unwrap_or(i32::MAX);
        let value = Self::from_parts(negative, coefficient, exponent);
        value.unwrap_or_else(|| Self::signed_infinity(negative))
    }

    /// Returns the infinity of this sign.
    pub(crate) fn signed_infinity(negative: bool) -> Self {
        Self(u128::from(negative) << 127 | 0x1e << 122)
    }

    /// Returns the number without its sign.
    pub fn abs(self) -> Self {
        Self(self.0 & (u128::MAX >> 1))
    }

    /// Returns the value with its sign flipped.
    pub fn negate(self) -> Self {
        Self(self.0 ^ (1 << 127))
    }
}

/// Returns ten to a non-negative power.
pub(crate) fn power_of_ten(exponent: i64) -> BigUint {
    BigUint::from(10_u8).pow(u32::try_from(exponent).unwrap_or(0))
}

/// Returns whether half-to-even rounding rounds up. `whole` is the part that is kept and `half` the
/// remainder compared with one half; an exact half is rounded to the even neighbour. `sticky` is
/// set if digits other than 0 were dropped before.
fn rounds_up(whole: &BigUint, half: &Ordering, sticky: bool) -> bool {
    match half {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => sticky || whole.bit(0),
    }
}

/// Removes the trailing zeros of a number's mantissa.
fn trim_zeros(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{mantissa}E{exponent}")
}

/// Returns whether a text is digits with at most one point and an optional exponent.
fn is_decimal_text(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let dots = mantissa.bytes().filter(|byte| *byte == b'.').count();
    let exponent_ok = exponent.is_none_or(|text| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    digits > 0 && dots <= 1 && digits + dots == mantissa.len() && exponent_ok
}

/// Returns `coefficient * 10^exponent` truncated to an integer, or `None` if it does not fit.
/// Callers have rounded before, so only zeros are truncated.
fn scale_to_integer(coefficient: u128, exponent: i32) -> Option<u128> {
    if coefficient == 0 {
        return Some(0);
    }
    let power = 10_u128.checked_pow(exponent.unsigned_abs());
    if exponent < 0 { Some(coefficient / power?) } else { coefficient.checked_mul(power?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in [
            "0",
            "1",
            "-1",
            "50.5",
            "1E+3",
            "0.000001",
            "1E-7",
            "NaN",
            "Infinity",
            "-Infinity",
            "9.999999999999999999999999999999999E+6144",
            "1.10",
            "-0",
            "123456789012345678901234",
        ] {
            assert_eq!(Decimal128::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "abc", "1.2.3", "1E", "--1", "0x1"] {
            assert!(Decimal128::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn bits_are_those_of_bson() {
        let mut bytes = [0; 16];
        bytes[0] = 0xf9;
        bytes[1] = 0x01;
        bytes[14] = 0x3e;
        bytes[15] = 0x30;
        assert_eq!(Decimal128::from_le_bytes(bytes).to_string(), "50.5");
    }

    #[test]
    fn arithmetic_rounds_once_half_to_even() {
        let parse = |text| Decimal128::parse(text).unwrap();
        let third = "0.3333333333333333333333333333333333";
        for (got, want) in [
            (parse("1").divide(parse("3")), third),
            (parse("6").divide(parse("2")), "3"),
            (parse("1").divide(parse("0")), "Infinity"),
            (parse("0").divide(parse("0")), "NaN"),
            (parse("1.20").multiply(parse("3")), "3.60"),
            (parse("2").sqrt(), "1.414213562373095048801688724209698"),
            (parse("4").sqrt(), "2"),
            (parse("1E+34").add(parse("1")), "1.000000000000000000000000000000000E+34"),
            (parse("Infinity").subtract(parse("Infinity")), "NaN"),
            (parse("9.999999999999999999999999999999999E+6144").multiply(parse("10")), "Infinity"),
            (parse("1E-6176").divide(parse("10")), "0E-6176"),
            (parse("2.5").round(Rounding::HalfEven), "2"),
            (parse("-2.5").round(Rounding::Floor), "-3"),
            (parse("1.005").quantize(-2), "1.00"),
            (
                parse("12345678901234567890123456789012345"),
                "1.234567890123456789012345678901234E+34",
            ),
        ] {
            assert_eq!(got.to_string(), want);
        }
    }

    #[test]
    fn integers_and_doubles() {
        let parse = |text| Decimal128::parse(text).unwrap();
        for (text, rounding, want) in [
            ("50.5", Rounding::HalfEven, Some(50)),
            ("51.5", Rounding::HalfEven, Some(52)),
            ("-0.9", Rounding::Down, Some(0)),
            ("-0.9", Rounding::Floor, Some(-1)),
            ("9223372036854775807", Rounding::Down, Some(i64::MAX)),
            ("-9223372036854775808", Rounding::Down, Some(i64::MIN)),
            ("9223372036854775808", Rounding::Down, None),
            ("1E+3", Rounding::Down, Some(1000)),
            ("NaN", Rounding::Down, None),
        ] {
            assert_eq!(parse(text).to_i64(rounding), want, "{text}");
        }
        assert_eq!(Decimal128::from_f64(0.1).to_string(), "0.100000000000000");
        assert_eq!(
            Decimal128::from_f64_exact(0.1).to_string(),
            "0.1000000000000000055511151231257827"
        );
        assert_eq!(Decimal128::from_f64_exact(2f64.powi(63)).to_string(), "9223372036854775808");
        assert_eq!(Decimal128::from_f64(20.0).to_f64(), 20.0);
        assert_eq!(Decimal128::from_i64(-7).to_string(), "-7");
        assert_eq!(parse("0.1").add(parse("0.2")).to_string(), "0.3");
        assert_eq!(parse("7").remainder(parse("-3")).to_string(), "1");
    }
}
