//! Logarithms and powers of e of decimals, to about 15 digits: in doubles within their range, else
//! from digits and exponent separately.

use std::f64::consts::{LN_10, LOG10_E};

use document::{Decimal128, Rounding};

use super::rounding::at_least_to;

/// Maximum digits of a decimal.
pub(super) const DIGITS: i32 = 34;

/// Returns whether a double represents the value: not if it underflowed, overflowed or is
/// subnormal.
fn is_plain(value: f64) -> bool {
    value.is_normal() || value.is_nan()
}

/// Returns the natural logarithm of a positive number. `ln(digits * 10^exponent)` is
/// `ln(digits) + exponent * ln(10)`, whose terms are in the range of doubles.
pub(super) fn ln(value: Decimal128) -> f64 {
    match value.parts() {
        Some((_, digits, exponent)) if !is_plain(value.to_f64()) => {
            (digits as f64).ln() + f64::from(exponent) * LN_10
        }
        _ => value.to_f64().ln(),
    }
}

/// Returns the logarithm to base 10 of a positive number, exact for powers of ten. It is the
/// logarithm of the digits plus the exponent.
pub(super) fn log10(value: Decimal128) -> f64 {
    match value.parts() {
        Some((_, digits, exponent)) if !is_plain(value.to_f64()) => {
            (digits as f64).log10() + f64::from(exponent)
        }
        _ => value.to_f64().log10(),
    }
}

/// Returns a power of e. Beyond the range of doubles it is computed as 10^x: the fractional part of
/// x determines the digits of the result, and the whole part is its decimal exponent.
pub(super) fn exp(value: Decimal128) -> Decimal128 {
    let power = value.to_f64();
    let direct = power.exp();
    if is_plain(direct) || power.is_infinite() {
        return Decimal128::from_f64_short(direct);
    }
    let tens = power * LOG10_E;
    let text = format!("{:.14}E{}", 10_f64.powf(tens - tens.floor()), tens.floor());
    let parsed = Decimal128::parse(&text);
    parsed.unwrap_or(Decimal128::from_f64(direct))
}

/// Rounds a decimal to an integer with exponent 0 where the digits allow it; NaN for NaN, for
/// infinities and for an integer with too many digits.
pub(super) fn whole_part(value: Decimal128, rounding: Rounding) -> Decimal128 {
    let fits = value.parts().is_some_and(|(_, digits, exponent)| {
        let len = digits.checked_ilog10().map_or(1, |len| len as i32 + 1);
        len + exponent <= DIGITS
    });
    if fits { at_least_to(value.round(rounding), 0) } else { Decimal128::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal128 {
        Decimal128::parse(text).unwrap()
    }

    #[test]
    fn logarithms_reach_as_far_as_decimals() {
        for (text, log, tens) in [
            ("1E400", 921.034_037_197_618_3, 400.0),
            ("1E-400", -921.034_037_197_618_3, -400.0),
            ("1E6144", 14_147.082_811_355_417, 6144.0),
            ("1E-6176", -14_220.765_534_331_226, -6176.0),
            ("1000", 6.907_755_278_982_137, 3.0),
        ] {
            assert!((ln(decimal(text)) - log).abs() < 1e-9, "{text}: {}", ln(decimal(text)));
            assert_eq!(log10(decimal(text)), tens, "{text}");
        }
    }

    #[test]
    fn powers_of_e_reach_as_far_as_decimals() {
        for (text, want) in [
            ("1000", "1.9700711140E+434"),
            ("14149", "6.8018092609E+6144"),
            ("-14000", "E-6081"),
            ("-14200", "E-6167"),
            ("-100000", "0E-6176"),
            ("100000", "Infinity"),
            ("-Infinity", "0"),
        ] {
            let found = exp(decimal(text)).to_string();
            let (digits, exponent) = want.split_once('E').unwrap_or((want, ""));
            let near = digits.get(..9).unwrap_or(digits);
            assert!(found.starts_with(near) && found.ends_with(exponent), "{text}: {found}");
        }
    }

    #[test]
    fn whole_numbers_have_34_digits() {
        for (text, want) in [
            ("1E33", "1000000000000000000000000000000000"),
            ("1E34", "NaN"),
            ("1E400", "NaN"),
            ("-Infinity", "NaN"),
            ("1.5", "2"),
        ] {
            assert_eq!(whole_part(decimal(text), Rounding::Ceil).to_string(), want, "{text}");
        }
    }
}
