//! Doubles in C's hexadecimal notation: a sign, `0x`, digits with a point, and a power of two.
//!
//! ```text
//! -0x1.8p1    -3.0
//! +0x10       16.0
//! ```

/// The value overflows, or underflows with a loss of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutOfRange;

/// Significant bits of a double.
const DIGITS: i64 = 53;
/// The greatest exponent of a double.
const MAX_EXPONENT: i64 = 1023;
/// The least exponent of a normal double.
const MIN_EXPONENT: i64 = -1022;

/// Parses a hexadecimal double, rounding half to even; `None` for other text.
pub(super) fn parse(text: &str) -> Option<Result<f64, OutOfRange>> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let body = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X"))?;
    let (digits, power) = match body.split_once(['p', 'P']) {
        Some((digits, power)) => (digits, Some(power)),
        None => (body, None),
    };
    let power = power.map_or(Some(0), parse_power)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // The leading digits, and whether any of the dropped ones is not 0.
    let (mut leading, mut dropped, mut sticky) = (0_u128, 0_i64, false);
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = digit.to_digit(16)?;
        if leading >> 120 == 0 {
            leading = leading << 4 | u128::from(digit);
        } else {
            dropped += 4;
            sticky |= digit != 0;
        }
    }
    let places = i64::try_from(fraction.len()).ok()?.checked_mul(4)?;
    let exponent = power.saturating_add(dropped).saturating_sub(places);
    // An additional lowest bit represents the dropped digits, for rounding of halves.
    let double = to_double(leading << 1 | u128::from(sticky), exponent.saturating_sub(1));
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    Some(double.map(|double| double * sign))
}

/// Parses the exponent: decimal digits with an optional sign. Exponents far out of range are
/// clamped.
fn parse_power(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let far = i64::MAX / 4;
    let power = digits.parse::<i64>().map_or(far, |power| power.min(far));
    Some(if text.starts_with('-') { -power } else { power })
}

/// Returns the double nearest to `digits * 2^exponent`.
fn to_double(digits: u128, exponent: i64) -> Result<f64, OutOfRange> {
    if digits == 0 {
        return Ok(0.0);
    }
    let bits = i64::from(u128::BITS - digits.leading_zeros());
    let highest = exponent.saturating_add(bits - 1);
    if MAX_EXPONENT < highest {
        return Err(OutOfRange);
    }
    let kept = if highest < MIN_EXPONENT { DIGITS - (MIN_EXPONENT - highest) } else { DIGITS };
    let excess = u32::try_from((bits - kept).max(0)).unwrap_or(u32::MAX);
    if u128::BITS <= excess {
        return Err(OutOfRange);
    }
    let (mut rounded, rest) = (digits >> excess, digits & ((1 << excess) - 1));
    if highest < MIN_EXPONENT && rest != 0 {
        return Err(OutOfRange);
    }
    let half = if excess == 0 { 0 } else { 1_u128 << (excess - 1) };
    if rest > half || (0 < excess && rest == half && rounded & 1 == 1) {
        rounded += 1;
    }
    let power = exponent + i64::from(excess);
    // In two steps, since each factor must be in the range of doubles.
    let double = rounded as f64 * power_of_two(power / 2) * power_of_two(power - power / 2);
    if double.is_infinite() { Err(OutOfRange) } else { Ok(double) }
}

/// Returns a power of two that is a normal double.
fn power_of_two(power: i64) -> f64 {
    let biased = u64::try_from((power + MAX_EXPONENT).clamp(1, 2 * MAX_EXPONENT)).unwrap_or(1);
    f64::from_bits(biased << (DIGITS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_the_nearest_double() {
        for (text, want) in [
            ("-0x1p1", Some(Ok(-2.0))),
            ("0X.8P1", Some(Ok(1.0))),
            ("+0x10", Some(Ok(16.0))),
            ("0X1.", Some(Ok(1.0))),
            ("-0x0", Some(Ok(-0.0))),
            ("0X0p99999999999999999999", Some(Ok(0.0))),
            ("-0x1.00000000000008p0", Some(Ok(-1.0))),
            ("-0x1.000000000000081p0", Some(Ok(-1.000_000_000_000_000_2))),
            ("-0x1.00000000000018p0", Some(Ok(-1.000_000_000_000_000_4))),
            ("+0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", Some(Ok(2.338_402_619_729_444_7e49))),
            (
                "0X.0000000000000000000000000000000000000000000000000000001p300",
                Some(Ok(1.208_925_819_614_629_2e24)),
            ),
            ("+0x1p-1074", Some(Ok(5e-324))),
            ("-0x1p-1030", Some(Ok(-8.691_694_759_794e-311))),
            ("+0x1p1023", Some(Ok(8.988_465_674_311_58e307))),
            ("+0x1p-1075", Some(Err(OutOfRange))),
            ("+0x1.8p-1074", Some(Err(OutOfRange))),
            ("+0x1p1024", Some(Err(OutOfRange))),
            ("+0x1.fffffffffffff8p1023", Some(Err(OutOfRange))),
            ("0X1p-99999999999999999999", Some(Err(OutOfRange))),
            ("0X", None),
            ("+0x.p1", None),
            ("+0x1p", None),
            ("+0x1p+", None),
            ("0X1g", None),
            ("0X1p1.5", None),
            ("10", None),
        ] {
            let got = parse(text);
            assert_eq!(
                got.map(|it| it.map(f64::to_bits)),
                want.map(|it| it.map(f64::to_bits)),
                "{text}"
            );
        }
    }
}
