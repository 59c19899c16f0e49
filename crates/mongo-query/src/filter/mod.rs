//! Filter documents (`{a: {$gt: 1}}`): the top level and nested filters.
//!
//! ```text
//! {a: 1}                        equality             parse_field
//! {a: {$gt: 1, $lt: 5}}         operators of a field operators.rs
//! {$or: [{..}, {..}]}           logic                TOP_OPERATORS
//! {$expr: {$eq: ["$a", "$b"]}}  an expression        expression
//! {$jsonSchema: {..}}           a schema             schema
//! ```
//!
//! Filters are flattened, so that the planner finds the conditions that an index can serve: `$and`
//! inside `$and` becomes one list, and equalities on one path inside `$or` become a list of values.

mod arrays;
mod bits;
mod geo;
mod number;
mod operators;
mod pattern;
mod schema;
mod text;
mod types;
mod validator;

#[cfg(test)]
mod tests;

use document::{DocRef, Path, Value, ValueRef};
use evaluation::as_program;
use pipeline::{
    Filter,
    filter::{Comparison, Condition, InSet, PathTest},
};

use crate::{
    Error,
    expression::{self, MAX_EXPRESSION_DEPTH},
};

pub(crate) use geo::parse_center;
pub use geo::refused_by_distance;
pub(crate) use operators::{FIELD_OPERATORS, parse_operators};
pub use validator::parse_validator;

/// Parses a filter document such as `{a: {$gt: 1}}`.
pub fn parse(filter: DocRef<'_>) -> Result<Filter, Error> {
    let filter =
        as_program(|| parse_document(filter, Scope { depth: 0, target: FilterTarget::Top }))?;
    text::check_place(&filter)?;
    geo::check_place(&filter)?;
    Ok(filter)
}

/// Parses a filter of a part of a document, as in updates. `$expr` is not allowed, since it
/// requires a whole document.
pub(crate) fn parse_part(filter: DocRef<'_>) -> Result<Filter, Error> {
    parse_document(filter, Scope { depth: 0, target: FilterTarget::Part })
}

/// Parses a condition such as `{$gt: 1, $lt: 5}` on values without a path, as in `$pull`.
pub(crate) fn parse_condition(operators: DocRef<'_>) -> Result<Condition, Error> {
    parse_operators("", operators, Scope { depth: 0, target: FilterTarget::Part })
}

/// Parses the operand of `$elemMatch`.
pub(crate) fn parse_elem_match(inner: DocRef<'_>) -> Result<PathTest, Error> {
    arrays::parse_elem_match(
        ValueRef::Document(inner),
        Scope { depth: 0, target: FilterTarget::Element },
    )
}

/// The value that a filter applies to. `$expr` and `$where` are allowed for a whole document only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FilterTarget {
    /// The filter applies to a whole document.
    Top,
    /// The filter applies to an element of an array, in `$elemMatch`.
    Element,
    /// The filter applies to a part of a document, in an update.
    Part,
}

/// The context of a nested filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// Nesting depth, limited because parsing and evaluation are recursive.
    depth: usize,
    target: FilterTarget,
}

impl Scope {
    /// Returns the scope one level deeper; fails with 2 beyond the limit.
    pub(crate) fn deeper(self) -> Result<Self, Error> {
        let depth = self.depth + 1;
        if depth > MAX_EXPRESSION_DEPTH {
            let text = format!("exceeded maximum query tree depth of {MAX_EXPRESSION_DEPTH}");
            return Err(Error::bad_value(text));
        }
        Ok(Self { depth, ..self })
    }

    /// Returns the scope inside an array, one nesting level deeper.
    pub(crate) fn inside_array(self) -> Result<Self, Error> {
        let target =
            if self.target == FilterTarget::Top { FilterTarget::Element } else { self.target };
        Ok(Self { target, ..self.deeper()? })
    }
}

/// Parses a top-level operator; returns `None` for an operator that is no condition (`$comment`).
type Parse = fn(&str, ValueRef<'_>, Scope) -> Result<Option<Filter>, Error>;

/// Operators that occur in place of a field name, such as `$and`.
pub(crate) const TOP_OPERATORS: &[(&str, Parse)] = &[
    ("$and", |name, value, scope| Ok(Some(Filter::all(parse_list(name, value, scope)?)))),
    ("$or", |name, value, scope| Ok(Some(any_of(parse_list(name, value, scope)?)))),
    ("$nor", |name, value, scope| Ok(Some(Filter::Nor(parse_list(name, value, scope)?)))),
    ("$expr", parse_expr),
    ("$comment", |_, _, _| Ok(None)),
    ("$alwaysTrue", |_, _, _| Ok(Some(Filter::always()))),
    ("$alwaysFalse", |_, _, _| Ok(Some(Filter::Never))),
    ("$text", text::parse_text),
    ("$where", unsupported_filter),
    ("$jsonSchema", schema::parse_operator),
    ("$sampleRate", unsupported_filter),
];

/// Refuses a known but unsupported operator. `$where` below the top level is invalid in MongoDB,
/// too, and gets MongoDB's error for that.
fn unsupported_filter(name: &str, _: ValueRef<'_>, scope: Scope) -> Result<Option<Filter>, Error> {
    if scope.target != FilterTarget::Top && name == "$where" {
        return Err(Error::bad_value("$where can only be applied to the top-level document"));
    }
    Err(Error::unsupported(name))
}

/// Parses a filter document at any level: the conjunction of its fields.
fn parse_document(filter: DocRef<'_>, scope: Scope) -> Result<Filter, Error> {
    let mut all = Vec::new();
    for (name, value) in filter.iter() {
        // The names of a database reference are ordinary fields.
        let parsed = if name.starts_with('$') && !matches!(name, "$id" | "$ref" | "$db") {
            top_operator(name, value, scope)?
        } else {
            Some(parse_field(name, value, scope)?)
        };
        match parsed {
            // Flattened, so that the planner sees all conditions on one level.
            Some(Filter::And(inner)) => all.extend(inner),
            Some(other) => all.push(other),
            None => {}
        }
    }
    Ok(Filter::all(all))
}

/// Parses a top-level operator. An unknown operator fails with 2; the text explains how to query a
/// field with such a name.
fn top_operator(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Option<Filter>, Error> {
    match TOP_OPERATORS.iter().find(|(known, _)| *known == name) {
        Some((_, parse)) => parse(name, value, scope),
        None if name == "$not" => Err(Error::bad_value(
            "unknown top level operator: $not. If you are trying to negate an entire expression, \
             use $nor.",
        )),
        None => Err(Error::bad_value(format!(
            "unknown top level operator: {name}. If you have a field name that starts with a '$' \
             symbol, consider using $getField or $setField."
        ))),
    }
}

/// Returns the disjunction of filters. A single filter is returned unchanged.
fn any_of(mut filters: Vec<Filter>) -> Filter {
    match filters.len() {
        1 => filters.pop().unwrap_or(Filter::Never),
        _ => one_of(&filters).unwrap_or(Filter::Or(filters)),
    }
}

/// Returns a single test for a list of values if all alternatives are equalities on one path,
/// otherwise `None`. An index serves this test better, and the test provides the array element for
/// the positional `$`.
fn one_of(filters: &[Filter]) -> Option<Filter> {
    let [Filter::Path(path, _), ..] = filters else { return None };
    let (mut values, mut patterns) = (Vec::new(), Vec::new());
    for filter in filters {
        match filter {
            Filter::Path(other, _) if other != path => return None,
            Filter::Path(_, PathTest::Compare(Comparison::Eq, value)) => values.push(value.clone()),
            Filter::Path(_, PathTest::In(set)) => {
                values.extend_from_slice(set.values());
                patterns.extend_from_slice(set.patterns());
            }
            Filter::Path(_, PathTest::Pattern(pattern)) => patterns.push(pattern.clone()),
            _ => return None,
        }
    }
    Some(Filter::Path(path.clone(), PathTest::In(InSet::new(values, patterns))))
}

/// Parses the list of `$and`, `$or` or `$nor`: at least one filter.
///
/// Fails with the errors of [`list_entries`], and with 2 if lists are nested too deeply.
fn parse_list(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Vec<Filter>, Error> {
    let scope = scope.deeper()?;
    list_entries(name, value)?.map(|entry| parse_document(entry?, scope)).collect()
}

/// Returns the documents in the list of `$and`, `$or` or `$nor`.
///
/// Fails with 2 if the value is not an array of documents, or is empty.
fn list_entries<'a>(
    name: &str,
    value: ValueRef<'a>,
) -> Result<impl Iterator<Item = Result<DocRef<'a>, Error>> + use<'a>, Error> {
    let Some(array) = value.as_array() else {
        return Err(Error::bad_value(format!("{name} must be an array")));
    };
    if array.is_empty() {
        return Err(Error::bad_value("$and/$or/$nor must be a nonempty array"));
    }
    let no_document = || Error::bad_value("$or/$and/$nor entries need to be full objects");
    Ok(array.iter().map(move |entry| entry.as_document().ok_or_else(no_document)))
}

/// Parses `$expr`: an expression over the whole document.
///
/// Fails with 2 if the filter applies to an element of an array, and with 224 if it applies to a
/// part of a document.
fn parse_expr(_: &str, value: ValueRef<'_>, scope: Scope) -> Result<Option<Filter>, Error> {
    match scope.target {
        FilterTarget::Top => {}
        FilterTarget::Element => {
            return Err(Error::bad_value("$expr can only be applied to the top-level document"));
        }
        FilterTarget::Part => return Err(Error::new(224, "$expr is not allowed in this context")),
    }
    Ok(Some(Filter::Expr(Box::new(expression::parse(value)?))))
}

/// Parses the condition on a field: operators, a regular expression, or a value that it must equal.
///
/// Fails with 2 if the value is undefined, since no value can be compared with it.
fn parse_field(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Filter, Error> {
    let path = Path::new(name);
    match value {
        ValueRef::Document(operators) if geo::is_near(operators) => {
            geo::parse_near(name, operators, scope)
        }
        ValueRef::Document(operators) if is_operators(operators) => {
            Ok(parse_operators(name, operators, scope)?.at_path(&path))
        }
        ValueRef::Regex { pattern, options } => {
            Ok(Filter::Path(path, PathTest::Pattern(pattern::compile_pattern(pattern, options)?)))
        }
        ValueRef::Undefined => Err(Error::bad_value("cannot compare to undefined")),
        value => Ok(Filter::Path(path, equality_test(value.to_value()))),
    }
}

/// Returns the test of equality with a value. Equality with null also matches a missing field.
pub(crate) fn equality_test(value: Value) -> PathTest {
    PathTest::Compare(Comparison::Eq, value)
}

/// Returns whether a document contains operators rather than a value: its first name starts with
/// `$`, and it is not a database reference.
pub(crate) fn is_operators(document: DocRef<'_>) -> bool {
    match document.iter().next() {
        Some(("$ref", _)) => document.get("$id").is_none(),
        Some((name, _)) => name.starts_with('$'),
        None => false,
    }
}
