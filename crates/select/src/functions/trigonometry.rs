//! Trigonometric functions, in radians.

use super::{
    Function,
    math::{on_number, on_two_numbers},
    row,
};

pub(super) const FUNCTIONS: &[Function] = &[
    row("ACOS", 1..=1, |call| on_number(call, f64::acos)),
    row("ASIN", 1..=1, |call| on_number(call, f64::asin)),
    row("ATAN", 1..=1, |call| on_number(call, f64::atan)),
    row("ATN2", 2..=2, |call| on_two_numbers(call, f64::atan2)),
    row("COS", 1..=1, |call| on_number(call, f64::cos)),
    row("COT", 1..=1, |call| on_number(call, |angle| 1.0 / angle.tan())),
    row("DEGREES", 1..=1, |call| on_number(call, f64::to_degrees)),
    row("RADIANS", 1..=1, |call| on_number(call, f64::to_radians)),
    row("SIN", 1..=1, |call| on_number(call, f64::sin)),
    row("TAN", 1..=1, |call| on_number(call, f64::tan)),
];

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn angles_are_computed() {
        check(&[
            ("ACOS(1)", "0"),
            ("ACOS(-1)", "3.141592653589793"),
            ("ACOS(2)", "undefined"),
            ("ASIN(0)", "0"),
            ("ASIN(1)", "1.5707963267948966"),
            ("ASIN(-2)", "undefined"),
            ("ATAN(1)", "0.7853981633974483"),
            ("ATN2(1,1)", "0.7853981633974483"),
            ("ATN2(0,-1)", "3.141592653589793"),
            ("ATN2(1,'1')", "undefined"),
            ("COS(0)", "1"),
            ("COT(0)", "undefined"),
            ("COT(0.7853981633974483)", "1.0000000000000002"),
            ("DEGREES(3.141592653589793)", "180"),
            ("RADIANS(180)", "3.141592653589793"),
            ("SIN(0)", "0"),
            ("SIN(true)", "undefined"),
            ("TAN(0)", "0"),
            ("TAN(undefined)", "undefined"),
        ]);
    }
}
