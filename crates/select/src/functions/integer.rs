//! Arithmetic and bitwise functions of 64-bit integers. Arguments must be integers in range;
//! overflow is undefined.

use evaluation::{Error, Evaluated};

use super::{Call, Function, UNDEFINED, row};
use crate::number::integer_value;

pub(super) const FUNCTIONS: &[Function] = &[
    row("INTADD", 2..=2, |call| on_two_integers(call, i64::checked_add)),
    row("INTBITAND", 2..=2, |call| on_two_integers(call, |a, b| Some(a & b))),
    row("INTBITLEFTSHIFT", 2..=2, |call| shift_by(call, i64::checked_shl)),
    row("INTBITNOT", 1..=1, bit_not),
    row("INTBITOR", 2..=2, |call| on_two_integers(call, |a, b| Some(a | b))),
    row("INTBITRIGHTSHIFT", 2..=2, |call| shift_by(call, i64::checked_shr)),
    row("INTBITXOR", 2..=2, |call| on_two_integers(call, |a, b| Some(a ^ b))),
    row("INTDIV", 2..=2, |call| on_two_integers(call, i64::checked_div)),
    row("INTMOD", 2..=2, |call| on_two_integers(call, i64::checked_rem)),
    row("INTMUL", 2..=2, |call| on_two_integers(call, i64::checked_mul)),
    row("INTSUB", 2..=2, |call| on_two_integers(call, i64::checked_sub)),
];

/// Applies a function to two integers; undefined on overflow or division by zero.
fn on_two_integers<'a>(
    call: &Call<'_, 'a>,
    function: fn(i64, i64) -> Option<i64>,
) -> Result<Evaluated<'a>, Error> {
    let (Some(a), Some(b)) = (call.integer_at(0), call.integer_at(1)) else { return UNDEFINED };
    Ok(function(a, b).map_or(Evaluated::Missing, integer_value))
}

/// Shifts by 0 to 63 bits, and is undefined for other counts. Bits shifted out are lost; a shift to
/// the right keeps the sign.
fn shift_by<'a>(
    call: &Call<'_, 'a>,
    function: fn(i64, u32) -> Option<i64>,
) -> Result<Evaluated<'a>, Error> {
    let (Some(value), Some(bits)) = (call.integer_at(0), call.integer_at(1)) else {
        return UNDEFINED;
    };
    let shifted = u32::try_from(bits).ok().and_then(|bits| function(value, bits));
    Ok(shifted.map_or(Evaluated::Missing, integer_value))
}

fn bit_not<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(call.integer_at(0).map_or(Evaluated::Missing, |value| integer_value(!value)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn integers_are_exact_and_overflow_is_undefined() {
        check(&[
            ("INTADD(20,10)", "30"),
            ("INTADD(9007199254740993,0)", "9007199254740993"),
            ("INTADD(9223372036854775807,1)", "undefined"),
            ("INTADD(1,0.5)", "undefined"),
            ("INTADD(1,2.0)", "3"),
            ("INTADD(1,'2')", "undefined"),
            ("INTADD(1,undefined)", "undefined"),
            ("INTSUB(20,30)", "-10"),
            ("INTSUB(-9223372036854775808,1)", "undefined"),
            ("INTMUL(5,-2)", "-10"),
            ("INTMUL(9223372036854775807,2)", "undefined"),
            ("INTDIV(10,-2)", "-5"),
            ("INTDIV(7,2)", "3"),
            ("INTDIV(-7,2)", "-3"),
            ("INTDIV(10,0)", "undefined"),
            ("INTDIV(10,0.1)", "undefined"),
            ("INTDIV(-9223372036854775808,-1)", "undefined"),
            ("INTMOD(12,5)", "2"),
            ("INTMOD(-12,5)", "-2"),
            ("INTMOD(12,0)", "undefined"),
            ("INTBITAND(15,25)", "9"),
            ("INTBITOR(56,100)", "124"),
            ("INTBITXOR(56,100)", "92"),
            ("INTBITNOT(65)", "-66"),
            ("INTBITNOT(0.5)", "undefined"),
            ("INTBITLEFTSHIFT(16,4)", "256"),
            ("INTBITLEFTSHIFT(1,63)", "-9223372036854775808"),
            ("INTBITLEFTSHIFT(1,64)", "undefined"),
            ("INTBITLEFTSHIFT(1,-1)", "undefined"),
            ("INTBITLEFTSHIFT(16,0.4)", "undefined"),
            ("INTBITRIGHTSHIFT(16,4)", "1"),
            ("INTBITRIGHTSHIFT(-16,2)", "-4"),
        ]);
    }
}
