//! The `partialFilterExpression` of an index: the supported part of the query language, and the
//! equality of filters.
//!
//! The filter is stored as the client sent it and parsed again at every start. The permitted
//! operators are those of mongod: whether an index includes a document must depend on this document
//! alone.
//!
//! ```text
//! {a: {$gt: 5}, b: {$exists: true}}    allowed
//! {a: {$ne: 5}}                        refused (67): a negation
//! ```

use document::{DocRef, Document, ValueRef, shell};
use pipeline::{Filter, filter::PathTest};

use crate::errors::{CannotCreateIndex, Error, QueryFeatureNotAllowed, Result, TypeMismatch};

/// Maximum number of conditions in a filter. mongod has no limit. Here every write of the
/// collection evaluates all conditions, without a time limit.
const MAX_CONDITIONS: usize = 1000;

/// Parses the filter of an index specification, if it has one, and returns it for storage.
pub(crate) fn parse_partial_filter(spec: DocRef<'_>) -> Result<Option<Document>> {
    let Some(value) = spec.get("partialFilterExpression") else { return Ok(None) };
    let Some(filter) = value.as_document() else {
        let message = "The field 'partialFilterExpression' must be an object";
        return Err(Error::new(TypeMismatch, message));
    };
    let in_spec = |code: i32, cause: &str| {
        let shown = shell(ValueRef::Document(spec));
        Error::new(code, format!("Error in specification {shown} :: caused by :: {cause}"))
    };
    let parsed = mongo_query::filter::parse(filter);
    let parsed = parsed.map_err(|error| in_spec(error.code, &error.message))?;
    if parsed.has_expression() {
        return Err(in_spec(QueryFeatureNotAllowed, "$expr is not allowed in this context"));
    }
    let mut conditions = 0;
    parsed.visit_paths(&mut |_| conditions += 1);
    if MAX_CONDITIONS < conditions {
        let cause = format!(
            "a partial filter may have at most {MAX_CONDITIONS} conditions, not {conditions}"
        );
        return Err(in_spec(CannotCreateIndex, &cause));
    }
    match refused_operator(&parsed) {
        None => Ok(Some(filter.to_tree())),
        Some(what) => {
            let cause = format!("Expression not supported in partial index: {what}");
            Err(in_spec(CannotCreateIndex, &cause))
        }
    }
}

/// Returns whether two filters are the same except for the order of conjunctions and disjunctions.
/// mongod treats an index with an equal filter as the same index, and tools that compare
/// definitions rely on it.
pub(crate) fn is_same_filter(one: &Document, other: &Document) -> bool {
    let normal = |filter: &Document| {
        mongo_query::filter::parse(DocRef::Tree(filter)).map(|filter| normal_form(&filter)).ok()
    };
    one == other || normal(one).is_some_and(|one| Some(one) == normal(other))
}

/// Returns a text that is equal for filters that differ only in the order of conditions: the
/// operands of conjunctions and disjunctions are sorted and deduplicated. It is compared and never
/// stored.
fn normal_form(filter: &Filter) -> String {
    match filter {
        Filter::And(_) => {
            let mut parts = Vec::new();
            push_conjuncts(filter, &mut parts);
            sorted_form("and", parts)
        }
        Filter::Or(any) => sorted_form("or", any.iter().map(normal_form).collect()),
        other => format!("{other:?}"),
    }
}

/// Adds the normal forms of a conjunction's operands, including those of nested conjunctions.
fn push_conjuncts(filter: &Filter, out: &mut Vec<String>) {
    match filter {
        Filter::And(all) => all.iter().for_each(|part| push_conjuncts(part, out)),
        other => out.push(normal_form(other)),
    }
}

/// Returns the operands sorted and deduplicated, with the operator `joined`. A single operand is
/// returned unchanged.
fn sorted_form(joined: &str, mut parts: Vec<String>) -> String {
    parts.sort();
    parts.dedup();
    match parts.len() {
        1 => parts.remove(0),
        _ => format!("{joined}{parts:?}"),
    }
}

/// Returns the first operator that an index filter may not use: negations, patterns, and tests of
/// arrays, bits and remainders.
fn refused_operator(filter: &Filter) -> Option<&'static str> {
    match filter {
        Filter::And(all) | Filter::Or(all) => all.iter().find_map(refused_operator),
        Filter::Nor(_) => Some("$nor"),
        Filter::Not(_) => Some("$not"),
        Filter::Expr(_) => Some("$expr"),
        Filter::Schema(_) => Some("$jsonSchema"),
        Filter::Text(_) => Some("$text"),
        Filter::Near(_) => Some("$near"),
        Filter::Never => Some("$alwaysFalse"),
        Filter::Path(_, test) => match test {
            PathTest::Compare(..) | PathTest::In(_) | PathTest::Exists | PathTest::Type(_) => None,
            PathTest::Mod { .. } => Some("$mod"),
            PathTest::Pattern(_) => Some("$regex"),
            PathTest::Geo(_) => Some("a test of geometries"),
            PathTest::Bits(_) => Some("a bit test"),
            PathTest::Size(_) => Some("$size"),
            PathTest::ElemMatch(_) | PathTest::ElemValue(_) => Some("$elemMatch"),
        },
    }
}

#[cfg(test)]
mod tests {
    use document::{Value, array, doc};

    use super::*;

    #[test]
    fn the_order_of_what_is_joined_does_not_matter() {
        let more = || doc! { "a": doc! { "$gt": 1 } };
        let one = doc! { "$and": array![more(), doc! { "b": 1 }] };
        for other in [
            doc! { "$and": array![doc! { "b": 1 }, more()] },
            doc! { "b": 1, "a": doc! { "$gt": 1 } },
            doc! { "$and": array![doc! { "$and": array![doc! { "b": 1 }, more()] }, more()] },
        ] {
            assert!(is_same_filter(&one, &other), "{other:?}");
        }
        for other in [doc! { "b": 1 }, doc! { "b": 1, "a": doc! { "$gte": 1 } }] {
            assert!(!is_same_filter(&one, &other), "{other:?}");
        }
    }

    fn code(filter: impl Into<Value>) -> i32 {
        let spec = doc! { "partialFilterExpression": filter.into() };
        parse_partial_filter(DocRef::Tree(&spec)).map_or_else(|error| error.code, |_| 0)
    }

    #[test]
    fn a_filter_has_so_many_conditions() {
        let fields = |count: usize| {
            (0..count).map(|at| (format!("f{at}"), Value::Int32(1))).collect::<Document>()
        };
        assert_eq!(code(fields(MAX_CONDITIONS)), 0);
        assert_eq!(code(fields(MAX_CONDITIONS + 1)), CannotCreateIndex);
    }

    #[test]
    fn some_operators_are_allowed() {
        let one = |operator: &str, value: Value| {
            let mut test = Document::new();
            test.push(operator, value);
            doc! { "a": test }
        };
        let eq = || array![doc! { "a": 1 }];
        for (filter, want) in [
            (doc! {}, 0),
            (doc! { "a": 1, "$comment": "x" }, 0),
            (doc! { "a": Value::Null }, 0),
            (one("$gte", 1.into()), 0),
            (one("$exists", true.into()), 0),
            (one("$type", 2.into()), 0),
            (one("$in", array![1, Value::Null]), 0),
            (one("$all", array![1]), 0),
            (doc! { "$or": array![doc! { "b": 1 }, doc! { "$and": eq() }] }, 0),
            (one("$ne", 1.into()), 67),
            (one("$nin", array![1]), 67),
            (one("$not", doc! { "$gt": 1 }.into()), 67),
            (one("$exists", false.into()), 67),
            (one("$regex", "x".into()), 67),
            (one("$size", 1.into()), 67),
            (one("$mod", array![2, 1]), 67),
            (one("$bitsAllSet", 1.into()), 67),
            (one("$elemMatch", doc! { "b": 1 }.into()), 67),
            (doc! { "$nor": eq() }, 67),
            (doc! { "$and": array![one("$ne", 1.into())] }, 67),
            (one("$foo", 1.into()), 2),
            (doc! { "$foo": 1 }, 2),
            (doc! { "$and": array![] }, 2),
            (doc! { "$expr": doc! { "$eq": array!["$a", 1] } }, 224),
        ] {
            assert_eq!(code(filter.clone()), want, "{filter:?}");
        }
        assert_eq!(code(1), 14);
    }
}
