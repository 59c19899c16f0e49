//! Bitwise operators on 32 bits, as in JavaScript: a number is truncated to its whole part and
//! reduced modulo 2^32. `1 << 33` is `2`, and `-1 >>> 0` is `4294967295`.

use document::ValueRef;
use evaluation::Evaluated;

use crate::{
    number::{integer_value, to_f64, to_i64},
    plan::Binary,
};

const RANGE: f64 = 4_294_967_296.0;

/// Returns the 32 bits of a number; `None` for other types.
fn bits_of(value: &Evaluated<'_>) -> Option<u32> {
    let value: ValueRef<'_> = value.value()?;
    if let Some(whole) = to_i64(value) {
        return u32::try_from(whole.rem_euclid(1 << 32)).ok();
    }
    let cut = to_f64(value)?.trunc();
    cut.is_finite().then(|| cut.rem_euclid(RANGE) as u32)
}

/// Returns the bits as a signed integer.
fn from_bits<'a>(bits: u32) -> Evaluated<'a> {
    integer_value(i64::from(bits.cast_signed()))
}

/// Applies a bitwise operator; undefined unless both operands are numbers.
pub(super) fn apply_bitwise<'a>(
    operator: Binary,
    a: &Evaluated<'_>,
    b: &Evaluated<'_>,
) -> Evaluated<'a> {
    let (Some(a), Some(b)) = (bits_of(a), bits_of(b)) else { return Evaluated::Missing };
    match operator {
        Binary::BitAnd => from_bits(a & b),
        Binary::BitOr => from_bits(a | b),
        Binary::BitXor => from_bits(a ^ b),
        Binary::ShiftLeft => from_bits(a.wrapping_shl(b)),
        Binary::ShiftRight => integer_value(i64::from(a.cast_signed().wrapping_shr(b))),
        _ => integer_value(i64::from(a.wrapping_shr(b))),
    }
}

/// `~`: inverts the 32 bits of a number.
pub(super) fn negate_bits<'a>(value: &Evaluated<'_>) -> Evaluated<'a> {
    bits_of(value).map_or(Evaluated::Missing, |bits| from_bits(!bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::operators::tests::{got, shown};

    #[test]
    fn numbers_are_cut_to_32_bits() {
        use Binary as B;
        for (operator, a, b, want) in [
            (B::BitAnd, "6", "3", "2"),
            (B::BitOr, "6", "3", "7"),
            (B::BitXor, "6", "3", "5"),
            (B::BitAnd, "4294967295", "-1", "-1"),
            (B::BitOr, "4294967296", "1", "1"),
            (B::BitOr, "2.9", "0", "2"),
            (B::BitOr, "-2.9", "0", "-2"),
            (B::BitOr, "1e300", "0", "0"),
            (B::ShiftLeft, "1", "31", "-2147483648"),
            (B::ShiftLeft, "1", "32", "1"),
            (B::ShiftRight, "-8", "1", "-4"),
            (B::ShiftRightZero, "-8", "1", "2147483644"),
            (B::BitOr, "\"1\"", "1", "undefined"),
            (B::BitOr, "1", "undefined", "undefined"),
            (B::BitOr, "null", "1", "undefined"),
        ] {
            assert_eq!(
                shown(&apply_bitwise(operator, &got(a), &got(b))),
                want,
                "{operator:?} {a} {b}"
            );
        }
        for (value, want) in [("0", "-1"), ("-1", "0"), ("2.5", "-3"), ("true", "undefined")] {
            assert_eq!(shown(&negate_bits(&got(value))), want);
        }
    }
}
