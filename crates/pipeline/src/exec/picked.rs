//! Which fields of its rows a group reads as they are, so that one pass over a row finds them all.

use super::Group;
use crate::expr::Expr;

/// Names that are read in one pass at most.
/// Values are kept in an array on the stack; further fields are read one by one.
pub(super) const MAX_PICKED: usize = 8;

/// A group, and the fields of the row that it reads as they are, each once. Keys and inputs are often plain
/// fields: one pass over the document finds all of them.
/// A path of several parts may lead through arrays, and is left to the expression.
#[derive(Debug)]
pub(super) struct Picked {
    /// The group.
    pub(super) group: Group,
    /// The names of the fields.
    pub(super) names: Vec<String>,
    /// The key's place among the names.
    pub(super) id: Option<usize>,
    /// The places of the computed fields' inputs.
    pub(super) inputs: Vec<Option<usize>>,
}

impl Picked {
    /// The fields that a group reads as they are.
    pub(super) fn of_group(group: Group) -> Self {
        let mut names = Vec::new();
        let id = place_of_field(&group.id, &mut names);
        let inputs = group.fields.iter().map(|field| &field.taken.input);
        let inputs = inputs.map(|input| place_of_field(input, &mut names)).collect();
        Self { group, names, id, inputs }
    }
}

/// Where an expression's field stands among the names; nothing when it is not a plain field, or
/// there are too many.
fn place_of_field(expr: &Expr, names: &mut Vec<String>) -> Option<usize> {
    let Expr::Field(path) = expr else { return None };
    let name = path.part(0);
    if path.len() != 1 {
        return None;
    }
    let held = names.iter().position(|held| held == name);
    if held.is_none() && names.len() < MAX_PICKED {
        names.push(name.to_owned());
        return Some(names.len() - 1);
    }
    held
}
