//! Rows held between batches return no document of another collection that has expired since,
//! however it was joined, and are otherwise unchanged.

use std::sync::Arc;

use document::{DocRef, Path, ValueRef, array, doc};
use engine::{BatchLimit, Cursor, Model, Namespace, Plan};
use pipeline::{
    Expr, Filter,
    exec::{Fields, GraphLookup, Lookup, Stage, UnionWith, Unwind},
    expr::functions,
};
use test_kit::{Kit, context, equal, first_failure, insert_one, ready, sort_by};

fn other() -> Namespace {
    Namespace::new("db", "t")
}

/// Two documents that never expire, and four in another collection that expire after 10 to 40 s.
fn kit() -> Kit {
    let kit = Kit::default();
    let (collection, _) =
        ready(kit.engine.ensure_collection(Model::Documents, &other())).expect("other");
    ready(kit.engine.set_default_ttl(&collection, engine::DefaultTtl::Infinite)).expect("changed");
    for id in 1..3 {
        kit.insert(doc! { "_id": id, "s": 1, "own": array![7, 8] }).expect("inserted");
    }
    for id in 1..5 {
        let document = doc! { "_id": id, "s": 1, "ttl": 10 * id };
        let inserted = ready(insert_one(kit.engine.clone(), Arc::clone(&collection), document));
        first_failure(inserted.expect("an answer")).expect("inserted");
    }
    kit
}

fn joining(name: &str, join: bool, stages: Vec<Stage>) -> Stage {
    Stage::Lookup(Box::new(Lookup {
        database: None,
        collection: "t".into(),
        name: Path::new(name),
        join: join.then(|| (Path::new("s"), Path::new("s"))),
        variables: Vec::new(),
        stages: stages.into(),
    }))
}

fn lookup() -> Stage {
    joining("f", true, Vec::new())
}

fn graph() -> Stage {
    Stage::GraphLookup(Box::new(GraphLookup {
        collection: "t".into(),
        start: Expr::Field(Path::new("s")),
        from: Path::new("nothing"),
        to: Path::new("s"),
        name: Path::new("f"),
        max_depth: None,
        depth_name: Some(Path::new("depth")),
        filter: None,
    }))
}

fn union_with(stages: Vec<Stage>) -> Stage {
    let union = UnionWith { database: None, collection: "t".into(), stages: stages.into() };
    Stage::UnionWith(Box::new(union))
}

fn unwind(path: &str) -> Stage {
    let index = Some(Path::new("at"));
    Stage::Unwind(Unwind { path: Path::new(path), index, keep_empty: false })
}

fn sort() -> Stage {
    Stage::Sort { sort: sort_by("_id", false), limit: None }
}

fn add(name: &str, expr: Expr) -> Stage {
    let mut fields = Fields::new();
    fields.set_at(&[name], expr).expect("one path");
    Stage::AddFields(fields)
}

fn count() -> Stage {
    let size = functions::find_function("$size").expect("a function");
    add("n", Expr::Call(size, vec![Expr::Field(Path::new("f"))]))
}

/// Returns a stage that creates `{_id: "$_id", f: "$f"}` with another name for the field `f`.
fn renamed(name: &str) -> Stage {
    let field = |path: &str| Expr::Field(Path::new(path));
    let root = Expr::Object(vec![("_id".into(), field("_id")), (name.into(), field("f"))]);
    Stage::ReplaceRoot { root, called: "'newRoot' expression" }
}

/// Formats ids, nested values, `n` and `at`: `1[3 4]n=2`.
fn formatted(value: ValueRef<'_>) -> String {
    let number = |value: ValueRef<'_>| document::Number::of(value).map_or(-1.0, |n| n.to_f64());
    match value {
        ValueRef::Array(values) => {
            format!("[{}]", values.iter().map(formatted).collect::<Vec<_>>().join(" "))
        }
        ValueRef::Document(fields) => fields
            .iter()
            .map(|(name, value)| match (name, value) {
                ("_id", value) => number(value).to_string(),
                ("n" | "at", value) => format!("{name}={}", number(value)),
                ("own", _) => String::new(),
                (_, ValueRef::Array(_)) => formatted(value),
                (_, ValueRef::Document(_)) => format!("({})", formatted(value)),
                _ => String::new(),
            })
            .collect(),
        _ => String::new(),
    }
}

fn next(cursor: &mut Cursor) -> (Vec<String>, bool) {
    let batch =
        ready(cursor.next_batch(BatchLimit { documents: 1, bytes: usize::MAX })).expect("a batch");
    let one = |bytes: &bytes::Bytes| formatted(ValueRef::Document(DocRef::Raw(bytes)));
    (batch.documents.iter().map(one).collect(), batch.done)
}

/// Reads the first row at the start and all others at 20 s.
fn rows(kit: &Kit, namespace: &Namespace, stages: Vec<Stage>) -> Vec<String> {
    let plan = Plan::new(Filter::always()).with_stages(stages);
    let cursor = kit.engine.begin_query(Model::Documents, namespace, plan, context());
    let mut cursor = cursor.expect("a cursor");
    let (mut all, mut done) = next(&mut cursor);
    kit.move_to(20_000);
    while !done {
        let (rows, end) = next(&mut cursor);
        all.extend(rows);
        done = end;
    }
    all
}

fn check(cases: Vec<(&str, Vec<Stage>, &[&str])>) {
    for (name, stages, expected) in cases {
        assert_eq!(rows(&kit(), &kit().namespace(), stages), expected, "{name}");
    }
}

const UNWOUND: &[&str] = &["1(1)at=0", "1(3)at=2", "1(4)at=3", "2(3)at=0", "2(4)at=1"];
/// The expected result if all rows were created in the first batch.
const WAITED: &[&str] = &["1(1)at=0", "1(3)at=2", "1(4)at=3", "2(3)at=2", "2(4)at=3"];
const WHOLE: &[&str] = &["1[1 2 3 4]", "2[3 4]"];

#[test]
fn elements_that_expired_are_not_taken_out() {
    check(vec![
        ("lookup", vec![lookup(), unwind("f")], UNWOUND),
        ("stages", vec![joining("f", false, vec![sort()]), unwind("f")], UNWOUND),
        ("graph", vec![graph(), unwind("f")], UNWOUND),
        ("sorted", vec![lookup(), unwind("f"), sort()], WAITED),
        ("changed between", vec![lookup(), add("x", Expr::Now), unwind("f"), sort()], WAITED),
        ("renamed", vec![lookup(), renamed("g"), unwind("g"), sort()], WAITED),
        (
            "renamed behind",
            vec![lookup(), unwind("f"), renamed("g"), sort()],
            &["1(1)", "1(3)", "1(4)", "2(3)", "2(4)"],
        ),
    ]);
}

#[test]
fn arrays_lose_what_expired() {
    check(vec![
        ("asked again", vec![joining("f", false, Vec::new())], WHOLE),
        ("sorted", vec![lookup(), sort()], WHOLE),
        ("graph", vec![graph(), sort()], WHOLE),
        ("renamed", vec![lookup(), renamed("g"), sort()], WHOLE),
        ("computed", vec![lookup(), count(), sort()], &["1[1 2 3 4]n=4", "2[3 4]n=2"]),
        ("filtered", vec![lookup(), Stage::Match(equal("f._id", 1)), sort()], &["1[1 2 3 4]"]),
        (
            "two",
            vec![lookup(), joining("g", true, Vec::new()), sort()],
            &["1[1 2 3 4][1 2 3 4]", "2[3 4][3 4]"],
        ),
        (
            "another array taken apart",
            vec![lookup(), unwind("own"), sort()],
            &["1[1 2 3 4]at=0", "1[3 4]at=1", "2[3 4]at=0", "2[3 4]at=1"],
        ),
    ]);
}

#[test]
fn what_lies_deeper_expires_too() {
    let inner = || joining("g", true, Vec::new());
    let nested = || joining("f", true, vec![inner()]);
    check(vec![
        (
            "nested",
            vec![nested(), sort()],
            &["1[1[1 2 3 4] 2[1 2 3 4] 3[1 2 3 4] 4[1 2 3 4]]", "2[3[3 4] 4[3 4]]"],
        ),
        (
            "nested, taken apart",
            vec![nested(), unwind("f"), sort()],
            &[
                "1(1[1 2 3 4])at=0",
                "1(3[3 4])at=2",
                "1(4[3 4])at=3",
                "2(3[3 4])at=2",
                "2(4[3 4])at=3",
            ],
        ),
        (
            "union",
            vec![Stage::Match(equal("_id", 1)), union_with(vec![inner()])],
            &["1", "3[3 4]", "4[3 4]"],
        ),
        (
            "union that waits",
            vec![union_with(vec![inner()]), sort()],
            &["1", "2", "3[3 4]", "4[3 4]"],
        ),
    ]);
}

#[test]
fn a_document_in_place_of_a_row_expires_with_it() {
    let root = Expr::Object(vec![("_id".into(), Expr::Field(Path::new("ttl")))]);
    let stages = vec![Stage::ReplaceRoot { root, called: "'newRoot' expression" }, sort()];
    assert_eq!(rows(&kit(), &other(), stages), ["10", "30", "40"]);
}

#[test]
fn results_of_a_group_are_final() {
    let all = Stage::Count("n".into());
    let stages =
        vec![lookup(), Stage::Facet(vec![("a".into(), Arc::from(vec![unwind("f"), all]))])];
    assert_eq!(rows(&kit(), &kit().namespace(), stages), ["[n=8]"]);
}
