//! Queries of the MongoDB API: a document is parsed as a filter, a projection, a sort, an update
//! and an expression, and each is applied to a few documents; an array is parsed as a pipeline. A
//! document is also parsed as a validator and as the schema of one.

use std::sync::Arc;

use document::{
    DocBuf, DocRef, MAX_STORED_DEPTH, MAX_WIRE_DEPTH, Value, ValueRef, doc, validate,
    validate_depth,
};
use mongo_query::{expression, filter, pipeline::parse as parse_stages, projection, sort, update};
use pipeline::{
    Env,
    exec::{Exec, Next, Row},
    filter::DetailLimits,
};

use crate::context;

fn samples() -> Vec<DocBuf> {
    let list = || Value::Array(vec![Value::Int32(1), Value::from("b"), Value::Null]);
    vec![
        doc! { "_id": 1, "a": list(), "b": doc! { "c": "text" }, "n": 2.5 }.to_buf(),
        doc! { "_id": 2, "a": Value::Array(vec![Value::Document(doc! { "b": list() })]) }.to_buf(),
        doc! { "_id": "3", "when": Value::DateTime(0), "a": Value::Null, "n": i64::MAX }.to_buf(),
    ]
}

/// Checks that the result of a query is a valid document.
fn check<E>(made: Result<DocBuf, E>) {
    if let Ok(made) = made {
        let valid = validate_depth(made.bytes(), MAX_WIRE_DEPTH * 2);
        assert!(valid.is_ok(), "{valid:?}: {:?}", made.bytes());
    }
}

/// Parses and runs a document as each form of a query.
pub(crate) fn queries(bytes: &[u8]) {
    if validate(bytes).is_ok() {
        run_query(DocRef::Raw(bytes), &samples());
    }
}

/// Parses a document as each form of a query, and runs it over documents.
pub fn run_query(query: DocRef<'_>, held: &[DocBuf]) {
    let context = context();
    let documents = || held.iter().map(DocBuf::as_ref);
    if let Ok(filter) = filter::parse(query) {
        for document in documents() {
            let _ = filter.matches(document, &context);
        }
    }
    if let Ok(projection) = projection::parse_find(query) {
        documents().for_each(|document| check(projection.apply(document, None, &context)));
    }
    if let Ok(sort) = sort::parse(query) {
        for document in documents() {
            assert!(sort.compare_documents(document, document).is_eq());
        }
    }
    if let Ok(edit) = update::parse(ValueRef::Document(query), None, false) {
        for document in documents() {
            check(edit.apply(document, None, &context).map(|outcome| outcome.document));
        }
    }
    if let Ok(expression) = expression::parse(ValueRef::Document(query)) {
        for document in documents() {
            let _ = expression.evaluate(&Env::new(document, &context));
        }
    }
}

/// Parses a document as a validator and as the schema of one, and describes what fails.
pub(crate) fn schemas(bytes: &[u8]) {
    if validate(bytes).is_ok() {
        let validator = DocRef::Raw(bytes);
        let schema = doc! { "$jsonSchema": validator.to_tree() };
        run_validator(validator, &samples());
        run_validator(DocRef::Tree(&schema), &samples());
    }
}

/// Maximum size and nesting of the description of a failure.
const LIMITS: DetailLimits = DetailLimits {
    bytes: 64 * 1024,
    depth: MAX_STORED_DEPTH,
    shows_values: true,
    code_name: |code| code.to_string(),
};

/// Parses a validator, which has to be a filter, too, and checks documents. The description of a
/// failure keeps its limits.
pub fn run_validator(validator: DocRef<'_>, held: &[DocBuf]) {
    let Ok(clause) = filter::parse_validator(validator) else { return };
    assert!(filter::parse(validator).is_ok(), "a validator is no filter");
    for document in held.iter().map(DocBuf::as_ref) {
        if let Ok(false) = clause.matches(document, &context())
            && let Ok(detail) = clause.explain(document, &context(), LIMITS)
        {
            let bytes = detail.to_buf();
            assert!(bytes.bytes().len() < 4 * LIMITS.bytes, "a description is too large");
            assert!(validate_depth(bytes.bytes(), LIMITS.depth + 1).is_ok());
        }
    }
}

/// Parses and runs a pipeline, which is the first field of a document.
pub(crate) fn pipelines(bytes: &[u8]) {
    if validate(bytes).is_ok() {
        run_pipeline(DocRef::Raw(bytes), samples());
    }
}

/// Number of pauses, about a millisecond apart, after which a pipeline is abandoned.
const PAUSES: usize = 20;

/// Runs a pipeline, which is the first field of a document, over documents.
pub fn run_pipeline(held: DocRef<'_>, documents: Vec<DocBuf>) {
    let Some((_, ValueRef::Array(stages))) = held.iter().next() else { return };
    let Ok(stages) = parse_stages(stages) else { return };
    let mut exec = Exec::new(stages, Arc::new(context()));
    for document in documents {
        if exec.offer_row(Row::not_stored(document)).is_err() {
            return;
        }
    }
    exec.finish_input();
    let mut pauses = 0;
    for _ in 0..1_000 {
        match exec.next() {
            Ok(Next::Pause) if pauses == PAUSES => return,
            Ok(Next::Pause) => pauses += 1,
            Ok(Next::Row(row)) => check(Ok::<_, ()>(row.document)),
            Ok(Next::Want(_)) => assert!(exec.supply(Vec::new()).is_ok()),
            Ok(Next::Done | Next::NeedInput) | Err(_) => return,
        }
    }
}
