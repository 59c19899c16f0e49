//! Errors of expressions inside `$group`, which MongoDB evaluates with another engine whose errors
//! have numbers of their own.

use evaluation::Error;

use crate::expr::Expr;

/// Number elsewhere, beginning of the text, number in a group.
const NUMBERS: [(i32, &str, i32); 3] = [
    (2, "can't $divide by zero", 4_848_401),
    (16_610, "can't $mod by zero", 4_848_403),
    (40_066, "$switch could not find", 4_934_200),
];

/// The error of this expression as it is in a group. A constant fails before anything runs, with
/// the usual number.
pub(super) fn in_group(error: Error, of: &Expr) -> Error {
    if !of.any_part(&|part| matches!(part, Expr::Root | Expr::Field(_) | Expr::Variable(..))) {
        return error;
    }
    let row = NUMBERS
        .iter()
        .find(|(number, text, _)| *number == error.number && error.message.starts_with(text));
    match row {
        Some((_, _, number)) => Error { number: *number, ..error },
        None => error,
    }
}
