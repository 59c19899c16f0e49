//! Hashes of the shape of a query: its collection, fields, operators and stages, with each value
//! replaced by its type. Queries that differ in values only have the same hash, so that tools can
//! group them.
//!
//! ```text
//! {find: "c", filter: {b: {$in: [1, 2]}, a: 5}, sort: {a: -1}}
//! {"a":{"$eq":?number},"b":{"$in":?array<?number>}}{"a":-1}      the text that is hashed
//! ```
//!
//! Formats are MongoDB's: 64 digits for `queryShapeHash`, 8 for `planCacheShapeHash`. The hashes
//! themselves differ from those of mongod, whose shapes have other details.

use std::fmt::{self, Write as _};

use document::{ArrayRef, DocRef, ValueRef, shell};
use engine::Namespace;
use sha2::{Digest as _, Sha256};

/// Stages whose strings are names of collections and fields, not values.
const NAMING_STAGES: [&str; 6] =
    ["$count", "$graphLookup", "$lookup", "$unionWith", "$unset", "$unwind"];

/// Returns the hash of a command's shape; `None` for commands that have none in MongoDB.
pub(super) fn query_shape_hash(namespace: &Namespace, command: DocRef<'_>) -> Option<String> {
    let (name, _) = command.iter().next()?;
    let mut shape = Shape::default();
    shape.text(format_args!("{name}:{namespace:?}"));
    match name {
        "find" => {
            shape.given_filter(command.get("filter"));
            shape.given("sort", command.get("sort"), Shape::verbatim);
            shape.given("projection", command.get("projection"), Shape::projection);
            shape.given("skip", command.get("skip"), Shape::literal);
            shape.given("limit", command.get("limit"), Shape::literal);
        }
        "distinct" => {
            shape.given("key", command.get("key"), Shape::verbatim);
            shape.given_filter(command.get("query"));
        }
        "aggregate" => shape.given("pipeline", command.get("pipeline"), Shape::stages),
        _ => return None,
    }
    shape.given("hint", command.get("hint"), Shape::verbatim);
    shape.given("let", command.get("let"), Shape::expression);
    Some(shape.finish(Sha256::output_size()))
}

/// Returns the hash of the search of a command: its filter, its sort and its projection.
pub(super) fn plan_cache_shape_hash(filter: DocRef<'_>, command: DocRef<'_>) -> String {
    let mut shape = Shape::default();
    shape.filter(filter);
    let stages = command.get("pipeline").and_then(ValueRef::as_array);
    let sorts =
        |stage: ValueRef<'_>| stage.as_document().is_some_and(|it| it.get("$sort").is_some());
    let sort = stages.and_then(|stages| stages.iter().take(2).find(|stage| sorts(*stage)));
    shape.given("sort", command.get("sort").or(sort), Shape::verbatim);
    let projection = command.get("projection").or_else(|| command.get("fields"));
    shape.given("projection", projection, Shape::projection);
    shape.finish(4)
}

/// The hash of a shape under construction.
#[derive(Default)]
struct Shape(Sha256);

impl fmt::Write for Shape {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

impl Shape {
    /// Returns the first bytes of the hash, in hexadecimal.
    fn finish(self, bytes: usize) -> String {
        let hash = self.0.finalize();
        let mut text = String::with_capacity(2 * bytes);
        for byte in hash.iter().take(bytes) {
            let _ = write!(text, "{byte:02X}");
        }
        text
    }

    /// Adds text to the hash. This cannot fail.
    fn text(&mut self, text: fmt::Arguments<'_>) {
        let _ = self.write_fmt(text);
    }

    /// Adds an argument of the command to the hash if it is present.
    fn given<'v>(
        &mut self,
        name: &str,
        value: Option<ValueRef<'v>>,
        add: fn(&mut Self, ValueRef<'v>),
    ) {
        if let Some(value) = value.filter(|value| !value.is_nullish()) {
            self.text(format_args!(";{name}:"));
            add(self, value);
        }
    }

    /// Adds the shape of a filter to the hash if it is present.
    fn given_filter(&mut self, filter: Option<ValueRef<'_>>) {
        self.filter(
            filter.and_then(ValueRef::as_document).unwrap_or(DocRef::Raw(&[5, 0, 0, 0, 0])),
        );
    }

    /// Adds the fields of a document to the hash, each with its name.
    fn fields<'v>(
        &mut self,
        fields: impl Iterator<Item = (&'v str, ValueRef<'v>)>,
        mut add: impl FnMut(&mut Self, &'v str, ValueRef<'v>),
    ) {
        self.text(format_args!("{{"));
        for (name, value) in fields {
            self.text(format_args!("{name:?}:"));
            add(self, name, value);
            self.text(format_args!(","));
        }
        self.text(format_args!("}}"));
    }

    /// Adds the elements of an array to the hash; `add` adds one of them.
    fn elements<'v>(&mut self, array: ArrayRef<'v>, mut add: impl FnMut(&mut Self, ValueRef<'v>)) {
        self.text(format_args!("["));
        for value in array.iter() {
            add(self, value);
            self.text(format_args!(","));
        }
        self.text(format_args!("]"));
    }

    /// Adds to the hash a value that is part of the shape itself.
    fn verbatim(&mut self, value: ValueRef<'_>) {
        self.text(format_args!("{}", shell(value)));
    }

    /// Adds the type of a value to the hash. For an array it also adds the type of the elements, if
    /// all have the same.
    fn literal(&mut self, value: ValueRef<'_>) {
        let ValueRef::Array(array) = value else {
            return self.text(format_args!("?{}", type_name(value)));
        };
        let mut types = array.iter().map(type_name);
        match types.next() {
            Some(first) if types.all(|it| it == first) => {
                self.text(format_args!("?array<?{first}>"));
            }
            _ => self.text(format_args!("?array<>")),
        }
    }

    /// Adds a filter to the hash. The order of its fields is not part of the shape.
    fn filter(&mut self, filter: DocRef<'_>) {
        let fields = sorted(filter).filter(|(name, _)| *name != "$comment");
        self.fields(fields, |shape, name, value| match (name, value) {
            ("$and" | "$or" | "$nor", ValueRef::Array(list)) => {
                shape.elements(list, |shape, value| match value.as_document() {
                    Some(filter) => shape.filter(filter),
                    None => shape.literal(value),
                });
            }
            ("$expr", value) => shape.expression(value),
            (name, value) if name.starts_with('$') => shape.literal(value),
            (_, value) => shape.condition(value),
        });
    }

    /// Adds the condition on a field to the hash. An equality without an operator has the shape of
    /// `$eq`.
    fn condition(&mut self, value: ValueRef<'_>) {
        let Some(operators) = value.as_document().filter(|it| has_operator(*it)) else {
            self.text(format_args!("{{\"$eq\":"));
            self.literal(value);
            return self.text(format_args!(",}}"));
        };
        self.fields(sorted(operators), |shape, name, value| match (name, value) {
            ("$not", ValueRef::Document(_)) => shape.condition(value),
            ("$elemMatch", ValueRef::Document(inner)) if !has_operator(inner) => {
                shape.filter(inner);
            }
            ("$elemMatch", ValueRef::Document(_)) => shape.condition(value),
            ("$all", ValueRef::Array(list))
                if list.iter().any(|it| it.as_document().is_some_and(has_operator)) =>
            {
                shape.elements(list, Self::condition);
            }
            _ => shape.literal(value),
        });
    }

    /// Adds an expression to the hash: field paths and operators are part of the shape, constants
    /// are not.
    fn expression(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::String(text) if text.starts_with('$') => self.verbatim(value),
            ValueRef::Document(fields) => {
                self.fields(fields.iter(), |shape, name, value| match name {
                    "$literal" | "$const" => shape.literal(value),
                    _ => shape.expression(value),
                });
            }
            ValueRef::Array(array) if array.iter().any(is_expression) => {
                self.elements(array, Self::expression);
            }
            value => self.literal(value),
        }
    }

    /// Adds a projection to the hash. Its flags are part of the shape.
    fn projection(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Document(fields) if has_operator(fields) => self.expression(value),
            ValueRef::Document(fields) => {
                self.fields(fields.iter(), |shape, _, value| shape.projection(value));
            }
            value if value.is_number() || matches!(value, ValueRef::Bool(_)) => {
                self.text(format_args!("{}", value.is_truthy()));
            }
            value => self.expression(value),
        }
    }

    /// Adds a pipeline to the hash, stage by stage.
    fn stages(&mut self, value: ValueRef<'_>) {
        let ValueRef::Array(stages) = value else { return self.literal(value) };
        self.elements(stages, |shape, stage| {
            let Some(stage) = stage.as_document() else { return shape.literal(stage) };
            shape.fields(stage.iter(), |shape, name, spec| match (name, spec) {
                ("$match", ValueRef::Document(filter)) => shape.filter(filter),
                ("$sort", spec) => shape.verbatim(spec),
                ("$project", spec) => shape.projection(spec),
                ("$facet", ValueRef::Document(facets)) => {
                    shape.fields(facets.iter(), |shape, _, stages| shape.stages(stages));
                }
                (name, spec) if NAMING_STAGES.contains(&name) => shape.named(spec),
                (_, spec) => shape.expression(spec),
            });
        });
    }

    /// Adds to the hash the options of a stage that names collections and fields.
    fn named(&mut self, spec: ValueRef<'_>) {
        let ValueRef::Document(options) = spec else { return self.verbatim(spec) };
        self.fields(options.iter(), |shape, name, value| match (name, value) {
            ("pipeline", stages) => shape.stages(stages),
            ("let" | "startWith", value) => shape.expression(value),
            ("restrictSearchWithMatch", ValueRef::Document(filter)) => shape.filter(filter),
            (_, value) => shape.verbatim(value),
        });
    }
}

/// Returns the fields of a document in the order of their names.
fn sorted<'v>(document: DocRef<'v>) -> impl Iterator<Item = (&'v str, ValueRef<'v>)> {
    let mut fields: Vec<_> = document.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields.into_iter()
}

/// Returns the name of a value's type. All number types have the same name.
fn type_name(value: ValueRef<'_>) -> &'static str {
    if value.is_number() { "number" } else { value.kind().name() }
}

/// Returns whether the first name of a document is that of an operator.
fn has_operator(document: DocRef<'_>) -> bool {
    document.iter().next().is_some_and(|(name, _)| name.starts_with('$'))
}

/// Returns whether an element of an array may be more than a constant.
fn is_expression(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::String(text) => text.starts_with('$'),
        value => matches!(value, ValueRef::Document(_) | ValueRef::Array(_)),
    }
}

#[cfg(test)]
mod tests {
    use document::{Document, array, doc};

    use super::*;

    fn hashes(command: &Document) -> (Option<String>, String) {
        let command = DocRef::Tree(command);
        let filter = command.get("filter").and_then(ValueRef::as_document);
        let filter = filter.unwrap_or(DocRef::Raw(&[5, 0, 0, 0, 0]));
        let namespace = Namespace::new("db", "c");
        (query_shape_hash(&namespace, command), plan_cache_shape_hash(filter, command))
    }

    fn find(filter: Document) -> Document {
        doc! { "find": "c", "filter": filter }
    }

    fn pipeline(stage: Document) -> Document {
        doc! { "aggregate": "c", "pipeline": array![stage] }
    }

    #[test]
    fn queries_that_differ_in_values_have_the_same_hashes() {
        let lookup = |from: &str, least: i32| {
            let inner = array![doc! { "$match": doc! { "a": doc! { "$gt": least } } }];
            pipeline(doc! { "$lookup": doc! { "from": from, "pipeline": inner, "as": "r" } })
        };
        let sum =
            |n: i32| pipeline(doc! { "$set": doc! { "a": doc! { "$add": array!["$b", n] } } });
        for (one, other) in [
            (find(doc! { "a": 1 }), find(doc! { "a": 2.5 })),
            (find(doc! { "a": 1 }), find(doc! { "a": doc! { "$eq": 7 } })),
            (find(doc! { "a": 1, "b": "x" }), find(doc! { "b": "y", "a": 2 })),
            (
                find(doc! { "a": doc! { "$in": array![1, 2] } }),
                find(doc! { "a": doc! { "$in": array![3] } }),
            ),
            (find(doc! { "a": 1 }), find(doc! { "a": 1, "$comment": "x" })),
            (sum(1), sum(2)),
            (lookup("d", 1), lookup("d", 2)),
            (pipeline(doc! { "$limit": 1 }), pipeline(doc! { "$limit": 2 })),
        ] {
            assert_eq!(hashes(&one), hashes(&other), "{one:?} {other:?}");
        }
        for (one, other) in [
            (find(doc! { "a": 1 }), find(doc! { "a": "1" })),
            (find(doc! { "a": 1 }), find(doc! { "b": 1 })),
            (find(doc! { "a": 1 }), find(doc! { "a": doc! { "$gt": 1 } })),
            (find(doc! {}), find(doc! { "a": 1 })),
            (sum(1), pipeline(doc! { "$set": doc! { "a": doc! { "$add": array!["$c", 1] } } })),
            (lookup("d", 1), lookup("e", 1)),
            (
                pipeline(doc! { "$sort": doc! { "a": 1 } }),
                pipeline(doc! { "$sort": doc! { "a": -1 } }),
            ),
        ] {
            assert_ne!(hashes(&one).0, hashes(&other).0, "{one:?} {other:?}");
        }
        let sorted = doc! { "find": "c", "filter": doc! { "a": 1 }, "sort": doc! { "a": 1 } };
        assert_ne!(hashes(&sorted), hashes(&find(doc! { "a": 1 })));
    }

    #[test]
    fn hashes_have_the_formats_of_mongodb() {
        let (query, plan) = hashes(&find(doc! { "a": 1 }));
        let query = query.unwrap();
        assert_eq!((query.len(), plan.len()), (64, 8));
        let digits = |text: &str| text.chars().all(|c| matches!(c, '0'..='9' | 'A'..='F'));
        assert!(digits(&query) && digits(&plan), "{query} {plan}");
        assert_eq!(hashes(&doc! { "delete": "c" }).0, None);
    }
}
