//! Expressions parsed and evaluated over one document: their results with types, or the number and
//! text of their errors.

mod array_corners;
mod arrays;
mod conversion_corners;
mod conversions;
mod date_corners;
mod dates;
mod edges;
mod form_corners;
mod forms;
mod later;
mod number_corners;
mod numbers;
mod objects;
mod string_corners;
mod strings;

use document::{DocRef, Document, ValueRef};
use evaluation::Context;
use pipeline::Env;

use super::parse;
use crate::shell_text;

const DOCUMENT: &str = "{_id: 1, a: 1, s: 'abc', n: null, arr: [3, 1, 2], d: Date(1709211907089), \
    o: {x: 1, y: 'z'}, f: 2.5, aa: [{b: 1}, {b: 2}, 5, [{b: 9}]]}";

/// Formats a value in a syntax that distinguishes types.
pub(crate) fn text_of(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Int64(v) => format!("NumberLong({v})"),
        ValueRef::DateTime(v) => format!("Date({v})"),
        ValueRef::Decimal128(v) => format!("NumberDecimal('{v}')"),
        ValueRef::Double(v) if v.is_nan() => "NaN".to_owned(),
        ValueRef::Double(v) if v.is_infinite() && v > 0.0 => "Infinity".to_owned(),
        ValueRef::Double(v) if v.is_infinite() => "-Infinity".to_owned(),
        ValueRef::Double(v) => format!("{v:?}").replace('e', "e+").replace("e+-", "e-"),
        ValueRef::String(v) => format!("'{v}'"),
        ValueRef::Document(v) => {
            let name =
                |name: &str| match name.chars().all(|c| c.is_alphanumeric() || "_$".contains(c)) {
                    true => name.to_owned(),
                    false => format!("'{name}'"),
                };
            let one = |(key, value): (&str, _)| format!("{}: {}", name(key), text_of(value));
            format!("{{{}}}", v.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        ValueRef::Array(v) => {
            format!("[{}]", v.iter().map(text_of).collect::<Vec<_>>().join(", "))
        }
        other => document::shell(other).to_string(),
    }
}

fn outcome(expression: &str, document: &Document) -> String {
    let value = shell_text::value(expression);
    let expr = match parse(value.as_ref()) {
        Ok(expr) => expr,
        Err(error) => return format!("error {}: {}", error.code, error.message),
    };
    let context = Context { now_ms: 5, ..Context::default() };
    // Raw bytes and a tree must give the same result.
    let raw = document.to_buf();
    let outcomes = [raw.as_ref(), DocRef::Tree(document)].map(|root| {
        match expr.evaluate(&Env::new(root, &context)) {
            Ok(Some(value)) => text_of(value.as_ref()),
            Ok(None) => "missing".to_owned(),
            Err(error) => format!("error {}: {}", error.number, error.message),
        }
    });
    assert_eq!(outcomes[0], outcomes[1], "{expression}");
    let [outcome, _] = outcomes;
    outcome
}

fn check(rows: &[(&str, &str)]) {
    let document = shell_text::document(DOCUMENT);
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|(expression, expected)| {
            let outcome = outcome(expression, &document);
            let told = format!("{expression}\n   is      {outcome}\n   and not {expected}");
            (outcome != *expected).then_some(told)
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

macro_rules! tables {
    ($($table:ident),*) => {$(
        #[test]
        fn $table() {
            check($table::ROWS);
        }
    )*};
}

mod table {
    use super::*;

    tables!(arrays, conversions, dates, edges, forms, later, numbers, objects, strings);
    tables!(array_corners, conversion_corners, date_corners);
    tables!(form_corners, number_corners, string_corners);
}

#[test]
fn deep_expressions_are_refused() {
    let deep = |depth: usize| format!("{}1{}", "{$abs: ".repeat(depth), "}".repeat(depth));
    let parsed = |depth: usize| parse(shell_text::value(&deep(depth)).as_ref());
    assert!(parsed(98).is_ok());
    assert_eq!(parsed(150).unwrap_err().code, 15);
}

#[test]
fn arguments_of_nested_calls_are_counted() {
    let mut text = "{$range: [0, 1000000]}".to_owned();
    for _ in 0..20 {
        text = format!("{{$concatArrays: [{{$range: [0, 1000000]}}, {{$slice: [{text}, 1]}}]}}");
    }
    let document = shell_text::document(DOCUMENT);
    let outcome = outcome(&text, &document);
    assert!(outcome.starts_with("error 146"), "{outcome}");
}

#[test]
fn random_numbers_follow_the_seed() {
    let expr = parse(shell_text::value("{$rand: {}}").as_ref()).unwrap();
    let document = Document::new();
    let draw = |seed: u64| {
        let random = evaluation::Random::new(seed);
        let context = Context { random, ..Context::default() };
        let env = Env::new(DocRef::Tree(&document), &context);
        [expr.evaluate(&env).unwrap(), expr.evaluate(&env).unwrap()]
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1)[0], draw(1)[1]);
    assert_ne!(draw(1), draw(2));
}
