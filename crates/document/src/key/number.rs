//! Encodes numbers of all four types in one order: the double that a number truncates to (8 bytes),
//! a marker that says whether it is exact, and the exact decimal digits if it is not.
//!
//! The bits of non-negative doubles compare as the doubles do, so the sign bit is set for positive
//! numbers, and all bits are inverted for negative ones. `EXACT` sorts before `DIGITS`: a number of
//! slightly greater magnitude than its double comes after it.
//!
//! ```text
//!  1      ->  bf f0 .. 00 | 00
//!  0.1    ->  3f b9 99 99 99 99 99 9a | 00          (the double itself)
//!  0.1m   ->  3f b9 99 99 99 99 99 99 | 01 point digits 00  (the decimal, just below it)
//! ```

use crate::{
    decimal::Decimal128,
    number::{Exact, Number},
    value::Value,
};

/// Mark of a number that equals the preceding double.
const EXACT: u8 = 0;
/// Mark of a number whose exact digits follow the double.
const DIGITS: u8 = 1;
/// Added to the position of the decimal point to make it non-negative.
const POINT_BIAS: i32 = 8192;

/// The key of NaN, which sorts below everything.
const NAN: [u8; 9] = [0; 9];

pub(super) fn push_number(number: Number, out: &mut Vec<u8>) {
    if number.is_nan() {
        return out.extend_from_slice(&NAN);
    }
    let start = out.len();
    let negative = match number {
        // Every integer up to here is exact as a double and needs no digits.
        Number::Int(value) if value.unsigned_abs() <= 1 << 53 => {
            push_exact((value as f64).abs(), out);
            value < 0
        }
        // A negative zero is not below zero, so it gets the key of zero.
        Number::Double(value) => {
            push_exact(value.abs(), out);
            value < 0.0
        }
        number => {
            let value = Exact::of(number);
            push_truncated(&value, number.to_f64().abs(), out);
            value.negative
        }
    };
    // A magnitude's highest bit is unused; setting it sorts non-negative numbers above negative
    // ones.
    out[start] |= 0x80;
    // Inverting all bytes, including the terminator of the digits, makes greater magnitudes of
    // negative numbers sort first.
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

/// Appends a magnitude that a double represents exactly, and the mark `EXACT`.
fn push_exact(magnitude: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&magnitude.to_bits().to_be_bytes());
    out.push(EXACT);
}

/// Appends a magnitude as the double it truncates to, followed by its digits unless the double is
/// exact. `nearest` is the nearest double, which may be greater. Digits have no leading or trailing
/// zeros, so that equal numbers of any type and exponent have equal bytes.
fn push_truncated(value: &Exact, nearest: f64, out: &mut Vec<u8>) {
    // A decimal may be finite but greater than all doubles; it is encoded above the greatest of
    // them.
    let nearest = if nearest.is_infinite() && !value.infinite { f64::MAX } else { nearest };
    let magnitude = |double: f64| Exact { negative: false, ..Exact::of(Number::Double(double)) };
    let own = Exact { negative: false, digits: value.digits.clone(), ..*value };
    let below = match magnitude(nearest).compare(&own) {
        std::cmp::Ordering::Equal => return push_exact(nearest, out),
        std::cmp::Ordering::Less => nearest,
        // The bits of the next smaller double are one less.
        std::cmp::Ordering::Greater => f64::from_bits(nearest.to_bits().saturating_sub(1)),
    };
    out.extend_from_slice(&below.to_bits().to_be_bytes());
    out.push(DIGITS);
    let point = u16::try_from(value.point + POINT_BIAS).unwrap_or(u16::MAX);
    out.extend_from_slice(&point.to_be_bytes());
    // Two digits per byte, plus one: 0 is the terminator and sorts a missing digit first.
    for pair in value.digits.chunks(2) {
        let high = pair.first().copied().unwrap_or(0);
        let low = pair.get(1).copied().unwrap_or(0);
        out.push(high * 10 + low + 1);
    }
    out.push(0);
}

/// Decodes the number at the start of `bytes`; returns it and the bytes after it. The key does not
/// hold the type: the result is a double if that is exact, else a decimal, and compares as equal to
/// the encoded number.
pub(super) fn decode_number(bytes: &[u8]) -> Option<(Value, &[u8])> {
    if let Some(rest) = bytes.strip_prefix(&NAN) {
        return Some((Value::Double(f64::NAN), rest));
    }
    let negative = bytes.first()? & 0x80 == 0;
    let turn = if negative { 0xff } else { 0 };
    let mut bits = [0; 8];
    for (bit, byte) in bits.iter_mut().zip(bytes.get(..8)?) {
        *bit = byte ^ turn;
    }
    bits[0] &= 0x7f;
    let double = f64::from_bits(u64::from_be_bytes(bits));
    let double = if negative { -double } else { double };
    match bytes.get(8)? ^ turn {
        EXACT => Some((Value::Double(double), bytes.get(9..)?)),
        DIGITS => decode_digits(bytes.get(9..)?, turn, negative),
        _ => None,
    }
}

/// Decodes the digits of a number as a decimal. `turn` is `0xff` for negative numbers, whose bytes
/// are inverted, and 0 for others. The result is exact for encoded integers and decimals, which
/// have at most 34 digits.
fn decode_digits(bytes: &[u8], turn: u8, negative: bool) -> Option<(Value, &[u8])> {
    let point = u16::from_be_bytes([bytes.first()? ^ turn, bytes.get(1)? ^ turn]);
    let end = bytes.get(2..)?.iter().position(|byte| byte ^ turn == 0)?;
    let mut text = String::new();
    for byte in bytes.get(2..2 + end)? {
        let pair = (byte ^ turn).checked_sub(1)?;
        text.push(char::from(b'0' + pair / 10));
        text.push(char::from(b'0' + pair % 10));
    }
    // The last byte holds two digits even if only one was encoded.
    let significant = text.trim_end_matches('0');
    let exponent = i32::from(point) - POINT_BIAS - i32::try_from(significant.len()).ok()?;
    let sign = if negative { "-" } else { "" };
    let value = Decimal128::parse(&format!("{sign}{significant}E{exponent}"))?;
    Some((Value::Decimal128(value), bytes.get(end + 3..)?))
}
