//! Runs calls that the test tables of all function families contain as text. Single quotes in them
//! stand for double quotes.

use document::{Document, Value, ValueRef, json};
use evaluation::{Context, Error, Evaluated, Kind, MAX_WORK};

use super::find_function;

const NOW_MS: i64 = 1_728_915_630_666;

/// The placeholder of an undefined argument in the text.
const HOLE: &str = "{\"undefined\":0}";

fn is_hole(value: ValueRef<'_>) -> bool {
    value.as_document().is_some_and(|fields| fields.get("undefined").is_some())
}

/// Splits a call into name and arguments.
fn parsed(call: &str) -> (&str, Vec<Value>) {
    let (name, args) = call.split_once('(').unwrap();
    let args = args.strip_suffix(')').unwrap().replace('\'', "\"").replace("undefined", HOLE);
    match json::parse(format!("[{args}]").as_bytes(), 200) {
        Ok(Value::Array(args)) => (name, args),
        other => panic!("{call}: {other:?}"),
    }
}

fn run(name: &str, args: &[Evaluated<'_>]) -> Result<String, Error> {
    let function = find_function(name).unwrap_or_else(|| panic!("no function {name}"));
    assert!(function.args.contains(&args.len()), "{name} takes {:?}", function.args);
    let context = Context { now_ms: NOW_MS, ..Context::default() };
    let got = function.run(args, &context, 0)?;
    Ok(got.value().map_or("undefined".to_owned(), |value| json::to_string(value).replace('"', "'")))
}

/// Evaluates a call whose arguments are owned values.
fn evaluate_owned(name: &str, args: &[Value]) -> Result<String, Error> {
    let args: Vec<Evaluated<'_>> = args
        .iter()
        .map(|value| {
            if is_hole(value.as_ref()) {
                Evaluated::Missing
            } else {
                Evaluated::Owned(value.clone())
            }
        })
        .collect();
    run(name, &args)
}

/// Evaluates a call. Asserts that the result is the same for arguments that are borrowed from an
/// encoded document.
pub(super) fn evaluate(call: &str) -> Result<String, Error> {
    let (name, args) = parsed(call);
    let answer = evaluate_owned(name, &args);
    let mut stored = Document::new();
    stored.push("args", Value::Array(args));
    let stored = stored.to_buf();
    let parts = stored.get("args").unwrap().as_array().unwrap();
    let parts: Vec<Evaluated<'_>> = parts
        .iter()
        .map(|value| if is_hole(value) { Evaluated::Missing } else { Evaluated::Ref(value) })
        .collect();
    assert_eq!(run(name, &parts), answer, "{call}");
    answer
}

/// Asserts the result of each call.
pub(super) fn check(cases: &[(&str, &str)]) {
    for (call, want) in cases {
        match evaluate(call) {
            Ok(got) => assert_eq!(got, *want, "{call}"),
            Err(error) => panic!("{call}: {error}"),
        }
    }
}

/// Values of every type, and the bounds of their ranges.
const ODD: &[&str] = &[
    "undefined",
    "null",
    "true",
    "-1",
    "0",
    "1.5",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "''",
    "'abc'",
    "'\u{1f600}é'",
    "'2024-02-29T23:59:59.9999999Z'",
    "'yyyy'",
    "'ns'",
    "[]",
    "[1,'a',[2],{'a':1}]",
    "{}",
    "{'a':1,'b':{'c':2}}",
];

#[test]
fn odd_arguments_end_no_function_with_anything_but_an_answer() {
    for function in super::all_functions() {
        let (least, most) = (*function.args.start(), *function.args.end());
        for count in least..=most.min(least + 2).min(4) {
            for step in 0..ODD.len() * ODD.len() {
                let odd = |at: usize| ODD[(step / [1, ODD.len()][at % 2] + at) % ODD.len()];
                let args: Vec<&str> = (0..count).map(odd).collect();
                let call = format!("{}({})", function.name, args.join(","));
                let (name, args) = parsed(&call);
                // Only invalid modifiers of a pattern are an error.
                if let Err(error) = evaluate_owned(name, &args) {
                    assert_eq!((error.number, name.get(..5)), (51108, Some("REGEX")), "{call}");
                }
            }
        }
    }
}

#[test]
fn work_is_counted_and_bounded() {
    let (long, context) = (Value::from("a".repeat(10_000)), Context::default());
    let read = |context: &Context| {
        let args = [Evaluated::Ref(long.as_ref())];
        find_function("LENGTH").unwrap().run(&args, context, 0)?;
        find_function("LOWER").unwrap().run(&args, context, 0)
    };
    read(&context).unwrap();
    assert!(40_000 < context.budget.spent(), "{}", context.budget.spent());
    context
        .budget
        .spend_bounded(usize::try_from(MAX_WORK - context.budget.spent()).unwrap())
        .unwrap();
    assert_eq!(read(&context).unwrap_err().kind, Kind::TooLarge);
}

#[test]
fn large_values_cost_what_is_looked_at() {
    let list = document::doc! { "list": Value::Array((0..10_000).map(Value::Int64).collect()) };
    let text = Value::from("ab".repeat(5_000));
    let raw = list.to_buf();
    let list = list.get("list").unwrap();
    let (one, nine) = (Value::Int64(-1), Value::from("a"));
    for (name, rest, list_costs, text_costs) in [
        ("ARRAY_CONTAINS", &[&one][..], 480_000..1_000_000, 0..20_000),
        ("ARRAY_CONTAINS_ANY", &[&one, &one], 960_000..2_000_000, 0..20_000),
        ("ARRAY_LENGTH", &[], 100_000..1_000_000, 0..20_000),
        ("ARRAY_MEDIAN", &[], 320_000..1_000_000, 0..20_000),
        ("SETUNION", &[list], 5_000_000..20_000_000, 0..200_000),
        ("TOSTRING", &[], 300_000..1_000_000, 15_000..100_000),
        ("LENGTH", &[], 0..300_000, 5_000..20_000),
        ("REPLACE", &[&nine, &nine], 0..300_000, 160_000..300_000),
        ("TRIM", &[&text], 0..300_000, 320_000..1_000_000),
        ("IS_ARRAY", &[], 0..1_000, 0..1_000),
        ("IIF", &[&one, &one], 0..1_000, 0..1_000),
    ] {
        let work = |first: ValueRef<'_>| {
            let context = Context::default();
            let rest = rest.iter().map(|value| Evaluated::Ref(value.as_ref()));
            let args: Vec<Evaluated<'_>> =
                std::iter::once(Evaluated::Ref(first)).chain(rest).collect();
            find_function(name).unwrap().run(&args, &context, 0).unwrap();
            context.budget.spent()
        };
        for first in [list.as_ref(), raw.get("list").unwrap()] {
            assert!(list_costs.contains(&work(first)), "{name} of a list: {}", work(first));
        }
        assert!(text_costs.contains(&work(text.as_ref())), "{name} of a text");
    }
}
