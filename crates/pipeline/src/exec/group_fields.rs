//! The expressions of a group: the top-level fields that it reads, so that one pass over a row
//! finds all of them, and the error numbers that expressions have inside `$group`.

use evaluation::Error;

use super::Group;
use crate::expr::Expr;

/// Maximum number of fields found in one pass. Their values are in an array on the stack; further
/// fields are read one by one.
pub(super) const MAX_GROUP_FIELDS: usize = 8;

/// A group, and the top-level fields that its keys and the inputs of its accumulators read. One
/// pass over a document finds all of them. A path of several parts may go through arrays, so its
/// expression is evaluated instead.
#[derive(Debug)]
pub(super) struct GroupFields {
    pub(super) group: Group,
    /// Names of the fields that the group reads, without duplicates.
    pub(super) names: Vec<String>,
    /// Index in `names` of the key, if the key is a field.
    pub(super) id: Option<usize>,
    /// For each computed field, the index in `names` of its input, if that is a field.
    pub(super) inputs: Vec<Option<usize>>,
}

impl GroupFields {
    /// Finds the fields that a group reads.
    pub(super) fn of_group(group: Group) -> Self {
        let mut names = Vec::new();
        let id = index_of_field(&group.id, &mut names);
        let inputs = group.fields.iter().map(|field| &field.arguments.input);
        let inputs = inputs.map(|input| index_of_field(input, &mut names)).collect();
        Self { group, names, id, inputs }
    }
}

/// Returns the index of an expression's field among the names, adding it; `None` if it is no
/// top-level field, or if there are too many.
fn index_of_field(expr: &Expr, names: &mut Vec<String>) -> Option<usize> {
    let Expr::Field(path) = expr else { return None };
    let name = path.part(0);
    if path.len() != 1 {
        return None;
    }
    let held = names.iter().position(|held| held == name);
    if held.is_none() && names.len() < MAX_GROUP_FIELDS {
        names.push(name.to_owned());
        return Some(names.len() - 1);
    }
    held
}

/// For each error with another code inside a group: its usual code, the start of its text, and its
/// code inside a group.
const NUMBERS: [(i32, &str, i32); 3] = [
    (2, "can't $divide by zero", 4_848_401),
    (16_610, "can't $mod by zero", 4_848_403),
    (40_066, "$switch could not find", 4_934_200),
];

/// Converts an error of an expression to the error that MongoDB returns inside a group. A constant
/// expression fails before execution, with the usual code.
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
