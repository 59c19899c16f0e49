//! Errors of expressions inside `$group`. MongoDB evaluates them in another engine, which has error
//! numbers of its own.

use evaluation::Error;

use crate::expr::Expr;

/// For each error: the usual number, the start of the text, and the number inside a group.
const NUMBERS: [(i32, &str, i32); 3] = [
    (2, "can't $divide by zero", 4_848_401),
    (16_610, "can't $mod by zero", 4_848_403),
    (40_066, "$switch could not find", 4_934_200),
];

/// Converts an error of an expression to the error that MongoDB returns inside a group. A constant
/// expression fails before execution, with the usual number.
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
