//! Update documents: replacements, operators and pipelines. The first field of a document of
//! operators has a name that starts with `$`.
//!
//! ```text
//! {a: 1, b: 2}                          replaces the document except for its _id
//! {$set: {"a.b": 1}, $inc: {n: 1}}      operators, each on paths
//! [{$set: {a: "$b"}}]                   a pipeline over the document
//! ```
//!
//! Paths are checked for conflicts here, since two operators on one path have no defined order.

mod array_filters;
mod arrays;
mod operators;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use document::{ArrayRef, DocRef, ValueRef, shell};
use evaluation::as_program;
use pipeline::edit::{Edit, EditPath, EditStep, Operator, Operators, PathOperator};

use crate::{Error, pipeline::parse_update};

#[cfg(test)]
pub(crate) use arrays::PUSH_MODIFIERS;
pub(crate) use operators::UPDATE_OPERATORS;

/// Parses an update: a document or an array of stages. With `multi` a replacement is refused, since
/// it would make all documents equal.
///
/// Fails with 9 if the update is neither a document nor an array, if a pipeline has array filters,
/// and if a replacement applies to many documents.
pub fn parse(
    update: ValueRef<'_>,
    array_filters: Option<ArrayRef<'_>>,
    multi: bool,
) -> Result<Edit, Error> {
    as_program(|| parse_any(update, array_filters, multi))
}

fn parse_any(
    update: ValueRef<'_>,
    array_filters: Option<ArrayRef<'_>>,
    multi: bool,
) -> Result<Edit, Error> {
    match update {
        ValueRef::Array(_) if array_filters.is_some() => Err(Error::failed_to_parse(
            "arrayFilters may not be specified for pipeline-style updates",
        )),
        ValueRef::Array(stages) => Ok(Edit::Pipeline(parse_update(stages)?)),
        ValueRef::Document(update) if is_replacement(update) => {
            if multi {
                let text = "multi update is not supported for replacement-style update";
                return Err(Error::failed_to_parse(text));
            }
            parse_replacement(update)
        }
        ValueRef::Document(update) => parse_operators(update, array_filters),
        _ => Err(Error::failed_to_parse("Update argument must be either an object or an array")),
    }
}

/// Returns whether an update replaces the document.
fn is_replacement(update: DocRef<'_>) -> bool {
    !update.iter().next().is_some_and(|(name, _)| name.starts_with('$'))
}

fn parse_replacement(update: DocRef<'_>) -> Result<Edit, Error> {
    for (name, _) in update.iter() {
        pipeline::edit::check_root_name(name)?;
    }
    Ok(Edit::Replacement(update.to_tree()))
}

/// Parses operators. Each has an object of paths with operands. As in mongod, an array filter that
/// no path uses is taken for a mistake and refused.
///
/// Fails with 9 if an operator is unknown, if its value is not an object of paths, or if a filter
/// is not used. If a path is invalid or two operators have the same path, it fails with the errors
/// of the evaluator.
fn parse_operators(update: DocRef<'_>, array_filters: Option<ArrayRef<'_>>) -> Result<Edit, Error> {
    let filters = array_filters::parse_filters(array_filters)?;
    let mut leaves = Vec::new();
    for (name, value) in update.iter() {
        let Some((name, parse)) = UPDATE_OPERATORS.iter().find(|(known, _)| *known == name) else {
            return Err(Error::failed_to_parse(format!(
                "Unknown modifier: {name}. Expected a valid update modifier or pipeline-style \
                 update specified as an array"
            )));
        };
        let Some(fields) = value.as_document() else {
            return Err(Error::failed_to_parse(format!(
                "Modifiers operate on fields but we found type {} instead. For example: {{$mod: \
                 {{<field>: ...}}}} not {{{name}: {}}}",
                value.kind().name(),
                shell(value)
            )));
        };
        for (field, operand) in fields.iter() {
            leaves.push(parse_leaf(field, parse(field, operand)?)?);
        }
    }
    // Detects conflicting paths and unknown identifiers.
    let operators = Operators::new(leaves, filters)?;
    let steps = operators.leaf_operators().iter().flat_map(|leaf| leaf.path.steps());
    let used: HashSet<&str> = steps.filter_map(filter_name).collect();
    for filter in operators.element_filters() {
        if !used.contains(filter.name.as_str()) {
            return Err(Error::failed_to_parse(format!(
                "The array filter for identifier '{}' was not used in the update {}",
                filter.name,
                shell(ValueRef::Document(update))
            )));
        }
    }
    Ok(Edit::Operators(operators))
}

/// Returns the identifier of the array filter to which a step of a path, `$[x]`, refers.
fn filter_name(step: &EditStep) -> Option<&str> {
    if let EditStep::Filtered(name) = step { Some(name) } else { None }
}

/// Returns an update operator with its parsed path.
fn parse_leaf(field: &str, operator: Operator) -> Result<PathOperator, Error> {
    // The path of a `$rename` operator is its target, and its operand the source.
    let (path, operator) = match operator {
        Operator::RenameFrom(target) => {
            let source = EditPath::parse(field)?;
            (target, Operator::RenameFrom(source))
        }
        other => (EditPath::parse(field)?, other),
    };
    Ok(PathOperator { path, operator })
}
