//! Tests of the limits on the size of values that expressions build, and of the interruption of an
//! evaluation.

use document::{DocRef, Document, Value, array, doc};
use evaluation::{Budget, Context, Kind, MAX_HELD_BYTES, Watch};

use super::{Env, Expr, Filtering, Mapping, SortBy, functions};

fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Call(functions::find_function(name).unwrap(), args)
}

fn is(value: impl Into<Value>) -> Expr {
    Expr::Literal(value.into())
}

fn many() -> Expr {
    is(Value::Array((0..100).map(Value::Int32).collect()))
}

fn wide() -> Expr {
    is((0..100).map(|at| (format!("f{at}"), Value::Int32(at))).collect::<Document>())
}

fn pairs() -> Expr {
    is(Value::Array((0..100).map(|at| array![format!("f{at}"), at]).collect()))
}

fn this() -> Expr {
    Expr::Variable("this".into(), None)
}

fn growing() -> Vec<(&'static str, Expr)> {
    let text = || is("a".repeat(4_000));
    let mapping = Mapping { input: many(), name: "this".into(), index: None, body: this() };
    let filtering =
        Filtering { input: many(), name: "this".into(), condition: is(true), limit: Expr::Absent };
    let value = Expr::Variable("value".into(), None);
    let append = call("$concatArrays", vec![value, Expr::Array(vec![this()])]);
    vec![
        ("$arrayToObject", call("$arrayToObject", vec![pairs()])),
        ("$concat", call("$concat", vec![text(), text()])),
        ("$concatArrays", call("$concatArrays", vec![many(), many()])),
        ("$filter", Expr::Filter(Box::new(filtering))),
        ("$map", Expr::Map(Box::new(mapping))),
        ("$mergeObjects", call("$mergeObjects", vec![wide(), wide()])),
        ("$objectToArray", call("$objectToArray", vec![wide()])),
        ("$range", call("$range", vec![is(0), is(100), Expr::Absent])),
        ("$reduce", Expr::Reduce(Box::new([many(), is(Value::Array(Vec::new())), append]))),
        ("$replaceAll", call("$replaceAll", vec![text(), is("a"), is("bb")])),
        ("$reverseArray", call("$reverseArray", vec![many()])),
        ("$setDifference", call("$setDifference", vec![many(), is(Value::Array(Vec::new()))])),
        ("$setField", call("$setField", vec![is("x"), wide(), is(1)])),
        ("$setIntersection", call("$setIntersection", vec![many(), many()])),
        ("$setUnion", call("$setUnion", vec![many(), many()])),
        ("$slice", call("$slice", vec![many(), is(90)])),
        ("$sortArray", Expr::SortArray(Box::new(many()), SortBy::Whole(true))),
        ("$split", call("$split", vec![is(",".repeat(100)), is(",")])),
        ("$zip", call("$zip", vec![Expr::Array(vec![many(), many()]), Expr::Absent, Expr::Absent])),
        ("an array", Expr::Array(vec![many(), many()])),
        ("an object", Expr::Object(vec![("a".to_owned(), many())])),
    ]
}

#[test]
fn what_is_built_is_counted_while_it_grows() {
    let (document, context) = (Document::new(), Context::default());
    let env = Env::new(DocRef::Tree(&document), &context);
    for (name, expr) in growing() {
        let before = context.budget.spent();
        assert!(expr.evaluate(&env).is_ok(), "{name}");
        let work = context.budget.spent() - before;
        assert!(2_000 < work, "{name} is work: {work}");
        let tight = env.with_held(MAX_HELD_BYTES - 2_000).unwrap();
        let refused = expr.evaluate(&tight).expect_err(name);
        assert_eq!((refused.kind, refused.number), (Kind::TooLarge, 146), "{name}");
    }
}

#[test]
fn copying_again_and_again_is_refused() {
    let document = doc! { "a": "x".repeat(1_000_000) };
    let context = Context::default();
    let copy = call("$concat", vec![Expr::Field(document::Path::new("a")), is("y")]);
    let size = call("$strLenBytes", vec![copy]);
    let mapping = |times: i32| {
        let input = call("$range", vec![is(0), is(times), Expr::Absent]);
        let body = size.clone();
        Expr::Map(Box::new(Mapping { input, name: "this".into(), index: None, body }))
    };
    let env = Env::new(DocRef::Tree(&document), &context);
    assert!(mapping(100).evaluate(&env).is_ok());
    assert_eq!(mapping(10_000).evaluate(&env).unwrap_err().number, 146);
    assert!(mapping(100).evaluate(&Env::new(DocRef::Tree(&document), &context)).is_ok());
}

struct Ended;

impl Watch for Ended {
    fn check_end(&self) -> Result<(), evaluation::Error> {
        Err(evaluation::Error::new(evaluation::Kind::Stopped, 50, "its time is over"))
    }
}

#[test]
fn an_evaluation_ends_when_it_is_told_to() {
    let document = Document::new();
    let budget = Budget::watched(Ended).into();
    let context = Context { budget, ..Context::default() };
    let env = Env::new(DocRef::Tree(&document), &context);
    let input = call("$range", vec![is(0), is(100_000), Expr::Absent]);
    let mapping = Mapping { input, name: "this".into(), index: None, body: this() };
    let stopped = Expr::Map(Box::new(mapping)).evaluate(&env).unwrap_err();
    assert_eq!((stopped.kind, stopped.number), (Kind::Stopped, 50));
}
