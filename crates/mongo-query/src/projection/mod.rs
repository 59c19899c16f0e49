//! Projection documents, as find's option and as the `$project` stage. They share most rules: paths
//! are included, excluded or computed, and a projection cannot both include and exclude. Operators
//! that only a find has are in `find.rs`.
//!
//! ```text
//! {a: 1, "b.c": 1}             includes, with _id
//! {a: 0, b: {c: 0}}            excludes
//! {a: 1, x: {$add: ["$b", 1]}} includes and computes
//! {a: 1, b: 0}                 31254
//! ```

mod build;
mod find;
#[cfg(test)]
mod tests;

use document::{DocRef, ValueRef};
use evaluation::as_program;
use pipeline::{
    Filter,
    project::{Computed, Projection},
};

use crate::{
    Error, expression,
    field_path::check_path,
    text_score::{no_score, uses_score},
};
use build::{Builder, Leaf};

#[cfg(test)]
pub(crate) use find::FIND_OPERATORS;

/// Whether a projection is that of a find or of a `$project` stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProjectionKind {
    Find,
    Stage,
}

/// Maximum nesting of documents in a projection.
const MAX_DEPTH: usize = 100;

/// Parses the projection of a find.
pub fn parse_find(projection: DocRef<'_>) -> Result<Projection, Error> {
    as_program(|| parse_in(projection, ProjectionKind::Find))
}

/// Parses the projection of a find with this filter.
///
/// Fails with 224 if there is a positional `$` and the filter has an `$expr`, since an `$expr` does
/// not match at an array element; with 40218 if the projection has the score of a search and the
/// filter has no search; and with the errors of projections.
pub fn parse_find_over(projection: DocRef<'_>, filter: &Filter) -> Result<Projection, Error> {
    if filter.text_query().is_none() && uses_score(ValueRef::Document(projection)) {
        return Err(no_score());
    }
    let projection = parse_find(projection)?;
    if projection.needs_filter() && filter.has_expression() {
        return Err(Error::new(224, "$expr is not allowed in this context"));
    }
    Ok(projection)
}

/// Parses a `$project` stage. An empty one is an error (51272), although an empty projection of a
/// find has no effect.
pub fn parse_stage(projection: DocRef<'_>) -> Result<Projection, Error> {
    if projection.is_empty() {
        let text = "Invalid $project :: caused by :: projection specification must have at least \
                    one field";
        return Err(Error::new(51272, text));
    }
    parse_in(projection, ProjectionKind::Stage)
}

fn parse_in(projection: DocRef<'_>, kind: ProjectionKind) -> Result<Projection, Error> {
    let mut builder = Builder::default();
    for (name, value) in projection.iter() {
        parse_field(name, value, kind, 0, &mut builder)?;
    }
    builder.finish_projection()
}

/// Parses the value at a path: a flag, an embedded document of further fields, or an expression.
fn parse_field(
    path: &str,
    value: ValueRef<'_>,
    kind: ProjectionKind,
    depth: usize,
    builder: &mut Builder,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(Error::new(15, "projection is nested too deeply"));
    }
    // A `$` alone is a field name, which the check of paths refuses.
    if kind == ProjectionKind::Find && path.split('.').any(|part| part == "$") && path != "$" {
        return find::add_positional_path(path, value, builder);
    }
    check_path(path)?;
    match value {
        ValueRef::Document(inner) => parse_document(path, inner, kind, depth, builder),
        ValueRef::Bool(_) | ValueRef::Int32(_) | ValueRef::Int64(_) => {
            builder.add_leaf(path, plain_leaf(value.is_truthy()))
        }
        ValueRef::Double(_) | ValueRef::Decimal128(_) => {
            builder.add_leaf(path, plain_leaf(value.is_truthy()))
        }
        value => add_computed(path, value, builder),
    }
}

fn plain_leaf(included: bool) -> Leaf {
    if included { Leaf::Include } else { Leaf::Exclude }
}

/// Parses a document at a path: an operator if it has a single field that starts with `$`,
/// otherwise fields below the path.
///
/// Fails with 51270 if the document is empty.
fn parse_document(
    path: &str,
    inner: DocRef<'_>,
    kind: ProjectionKind,
    depth: usize,
    builder: &mut Builder,
) -> Result<(), Error> {
    let mut fields = inner.iter();
    let Some((first, operand)) = fields.next() else {
        let text = "An empty sub-projection is not a valid value. Found empty object at path";
        return Err(Error::new(51270, text));
    };
    // If there are more fields, their names are parsed as paths, and refused there.
    if first.starts_with('$') && fields.next().is_none() {
        if kind == ProjectionKind::Find && find::add_operator(path, first, operand, builder)? {
            return Ok(());
        }
        return add_computed(path, ValueRef::Document(inner), builder);
    }
    for (name, value) in inner.iter() {
        parse_field(&format!("{path}.{name}"), value, kind, depth + 1, builder)?;
    }
    Ok(())
}

/// Adds a computed value. Its text is kept for an error message: the value is not permitted if the
/// projection turns out to be an exclusion.
///
/// Fails with 31252 if an operator is in an exclusion, 31325 if the operator is unknown, and with
/// the other errors of expressions.
fn add_computed(path: &str, value: ValueRef<'_>, builder: &mut Builder) -> Result<(), Error> {
    let operator = value.as_document().and_then(|inner| inner.iter().next());
    if builder.is_exclusion() && operator.is_some_and(|(name, _)| name != "$meta") {
        let text = "Cannot use expression other than $meta in exclusion projection";
        return Err(Error::new(31252, text));
    }
    let expr = expression::parse(value).map_err(|error| match (error.code, value) {
        // The error of an unknown operator has another code and text in projections.
        (168, ValueRef::Document(inner)) => {
            let name = inner.iter().next().map_or("", |(name, _)| name);
            Error::new(31325, format!("Unknown expression {name}"))
        }
        _ => error,
    })?;
    let shown = document::shell(value).to_string();
    builder.add_leaf(path, Leaf::Computed(Computed::Expr(expr), shown))
}
