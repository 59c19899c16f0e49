//! Filter documents (`{a: {$gt: 1}}`): the top level and what nests in it.
//!
//! ```text
//! {a: 1}                        equality             parse_field
//! {a: {$gt: 1, $lt: 5}}         operators of a field operators.rs
//! {$or: [{..}, {..}]}           logic                TOP_OPERATORS
//! {$expr: {$eq: ["$a", "$b"]}}  an expression        expression
//! ```
//!
//! A filter is joined flat: `$and` inside `$and` becomes one list, and alternatives of one path a
//! list of values, so that the planner sees what an index can serve.

/// `$all` and `$elemMatch`.
mod arrays;
/// Masks of bits.
mod bits;
/// `$mod` and `$size`.
mod number;
/// The operators of a field.
mod operators;
/// `$regex`.
mod pattern;
/// `$type`.
mod types;

#[cfg(test)]
mod tests;

use document::{DocRef, Path, Value, ValueRef};
use evaluation::as_program;
use pipeline::{
    Filter,
    filter::{Comparison, Condition, InSet, PathTest},
    limits::MAX_EXPRESSION_DEPTH,
};

use crate::{error::Error, expression};

pub(crate) use operators::{FIELD_OPERATORS, parse_operators};

/// Parses a filter document.
pub fn parse(filter: DocRef<'_>) -> Result<Filter, Error> {
    as_program(|| parse_document(filter, Scope { depth: 0, place: Place::Top }))
}

/// Parses a filter of a part of a document, as updates have them: no `$expr`, since there is no
/// document to be read by it.
pub(crate) fn parse_part(filter: DocRef<'_>) -> Result<Filter, Error> {
    parse_document(filter, Scope { depth: 0, place: Place::Part })
}

/// Parses the condition `{$gt: 1, $lt: 5}` on values without a path, as `$pull` has it.
pub(crate) fn parse_condition(operators: DocRef<'_>) -> Result<Condition, Error> {
    parse_operators("", operators, Scope { depth: 0, place: Place::Part })
}

/// Parses the operand of `$elemMatch`.
pub(crate) fn parse_elem_match(inner: DocRef<'_>) -> Result<PathTest, Error> {
    arrays::parse_elem_match(ValueRef::Document(inner), Scope { depth: 0, place: Place::Element })
}

/// What a filter is about. `$expr` and `$where` are only for a whole document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A whole document.
    Top,
    /// An element of an array of it.
    Element,
    /// Some part of it, in an update.
    Part,
}

/// Where in a filter the parser is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// How many levels it is in; bounded, since filters are parsed and evaluated by recursion.
    depth: usize,
    place: Place,
}

impl Scope {
    /// One level further in; error 2 beyond the limit.
    pub(crate) fn deeper(self) -> Result<Self, Error> {
        let depth = self.depth + 1;
        if depth > MAX_EXPRESSION_DEPTH {
            let text = format!("exceeded maximum query tree depth of {MAX_EXPRESSION_DEPTH}");
            return Err(Error::bad_value(text));
        }
        Ok(Self { depth, ..self })
    }

    /// One level further in, below an array.
    pub(crate) fn inside_array(self) -> Result<Self, Error> {
        let place = if self.place == Place::Top { Place::Element } else { self.place };
        Ok(Self { place, ..self.deeper()? })
    }
}

/// Parses an operator of the top level; `None` where it says nothing about documents (`$comment`).
type Parse = fn(&str, ValueRef<'_>, Scope) -> Result<Option<Filter>, Error>;

/// The operators that stand where a field name would.
pub(crate) const TOP_OPERATORS: &[(&str, Parse)] = &[
    ("$and", |name, value, scope| Ok(Some(Filter::all(parse_list(name, value, scope)?)))),
    ("$or", |name, value, scope| Ok(Some(any_of(parse_list(name, value, scope)?)))),
    ("$nor", |name, value, scope| Ok(Some(Filter::Nor(parse_list(name, value, scope)?)))),
    ("$expr", parse_expr),
    ("$comment", |_, _, _| Ok(None)),
    ("$alwaysTrue", |_, _, _| Ok(Some(Filter::always()))),
    ("$alwaysFalse", |_, _, _| Ok(Some(Filter::Never))),
    ("$text", unsupported_filter),
    ("$where", unsupported_filter),
    ("$jsonSchema", unsupported_filter),
    ("$sampleRate", unsupported_filter),
];

/// An operator that is known and not supported. `$where` below the top level is wrong anywhere, and
/// gets that error.
fn unsupported_filter(name: &str, _: ValueRef<'_>, scope: Scope) -> Result<Option<Filter>, Error> {
    if scope.place != Place::Top && name == "$where" {
        return Err(Error::bad_value("$where can only be applied to the top-level document"));
    }
    Err(Error::unsupported(name))
}

/// Parses a filter document at some level: all of its fields have to hold.
fn parse_document(filter: DocRef<'_>, scope: Scope) -> Result<Filter, Error> {
    let mut all = Vec::new();
    for (name, value) in filter.iter() {
        // Parts of a database reference are fields like others.
        let parsed = if name.starts_with('$') && !matches!(name, "$id" | "$ref" | "$db") {
            top_operator(name, value, scope)?
        } else {
            Some(parse_field(name, value, scope)?)
        };
        match parsed {
            // Flat, so that the planner sees all conditions on one level.
            Some(Filter::And(inner)) => all.extend(inner),
            Some(other) => all.push(other),
            None => {}
        }
    }
    Ok(Filter::all(all))
}

/// Parses an operator of the top level. An unknown one is error 2, with a hint for those who have a
/// field of that name.
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

/// One of these: one alone stays itself.
fn any_of(mut filters: Vec<Filter>) -> Filter {
    match filters.len() {
        1 => filters.pop().unwrap_or(Filter::Never),
        _ => one_of(&filters).unwrap_or(Filter::Or(filters)),
    }
}

/// Alternatives that are all about what one path is equal to are a list of values: an index serves
/// it better, and the positional `$` knows the element. `None` where they are something else.
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

/// The list of `$and`, `$or` or `$nor`: filters, at least one.
///
/// Errors: 2 for something other than an array of documents, or for an empty one.
fn parse_list(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Vec<Filter>, Error> {
    let scope = scope.deeper()?;
    let Some(array) = value.as_array() else {
        return Err(Error::bad_value(format!("{name} must be an array")));
    };
    let mut filters = Vec::new();
    for entry in array.iter() {
        let Some(entry) = entry.as_document() else {
            return Err(Error::bad_value("$or/$and/$nor entries need to be full objects"));
        };
        filters.push(parse_document(entry, scope)?);
    }
    if filters.is_empty() {
        return Err(Error::bad_value("$and/$or/$nor must be a nonempty array"));
    }
    Ok(filters)
}

/// `$expr`: an expression over the whole document.
///
/// Errors: 2 inside an array's element, 224 in a part of a document.
fn parse_expr(_: &str, value: ValueRef<'_>, scope: Scope) -> Result<Option<Filter>, Error> {
    match scope.place {
        Place::Top => {}
        Place::Element => {
            return Err(Error::bad_value("$expr can only be applied to the top-level document"));
        }
        Place::Part => return Err(Error::new(224, "$expr is not allowed in this context")),
    }
    Ok(Some(Filter::Expr(Box::new(expression::parse(value)?))))
}

/// Parses what is said about a field: operators, a pattern, or a value that it equals.
///
/// Errors: 2 for undefined, which nothing can be compared with.
fn parse_field(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Filter, Error> {
    let path = Path::new(name);
    match value {
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

/// The test of equality with a value. Null equals a missing field too; that is the evaluator's
/// business.
pub(crate) fn equality_test(value: Value) -> PathTest {
    PathTest::Compare(Comparison::Eq, value)
}

/// Whether a document holds operators rather than being a value: its first name begins with `$`
/// and it is not a database reference.
pub(crate) fn is_operators(document: DocRef<'_>) -> bool {
    match document.iter().next() {
        Some(("$ref", _)) => document.get("$id").is_none(),
        Some((name, _)) => name.starts_with('$'),
        None => false,
    }
}
