//! An index never changes a result: for any condition, policy and items, a scan with indexes
//! returns every item that meets the condition, in the order of a scan without.

use document::{Document, Value, ValueRef, array, doc};
use engine::{DefaultTtl, IndexSpec, Item, ItemAction, ItemRange, Policy, PolicyRule, Scan};
use select::sarg::{PathStep, Sarg, ValueTest};
use test_kit::ready;

use crate::items::{Shelf, definition, everything, ids};

fn pick<'a, T>(random: &mut fastrand::Rng, of: &'a [T]) -> &'a T {
    &of[random.usize(..of.len())]
}

fn scalar(random: &mut fastrand::Rng) -> Value {
    let long = "x".repeat(1_200);
    pick(
        random,
        &[
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Int64(-3),
            Value::Int64(1),
            Value::Double(1.0),
            Value::Double(1.5),
            Value::Int64(1 << 60),
            Value::String(String::new()),
            Value::String("a".into()),
            Value::String("ab".into()),
            Value::String("b\0c".into()),
            Value::String(long.clone()),
            Value::String(long + "y"),
        ],
    )
    .clone()
}

fn value(random: &mut fastrand::Rng, depth: usize) -> Value {
    match random.u8(..if depth == 0 { 4 } else { 7 }) {
        4 => Value::Array((0..random.usize(..3)).map(|_| value(random, depth - 1)).collect()),
        5 | 6 => Value::Document(object(random, depth - 1)),
        _ => scalar(random),
    }
}

fn object(random: &mut fastrand::Rng, depth: usize) -> Document {
    let mut out = Document::new();
    for name in ["a", "b", "c/d"] {
        if random.bool() {
            out.push(name, value(random, depth));
        }
    }
    out
}

fn path(random: &mut fastrand::Rng) -> Vec<PathStep> {
    let step = |random: &mut fastrand::Rng| match random.u8(..4) {
        0 => PathStep::Elements,
        1 => PathStep::Property("a".into()),
        2 => PathStep::Property("b".into()),
        _ => PathStep::Property("c/d".into()),
    };
    let mut path = vec![PathStep::Property(pick(random, &["a", "b"]).to_string())];
    path.extend((0..random.usize(..2)).map(|_| step(random)));
    path
}

fn sarg(random: &mut fastrand::Rng, depth: usize) -> Sarg {
    match random.u8(..if depth == 0 { 6 } else { 10 }) {
        6 | 7 => Sarg::And((0..2).map(|_| sarg(random, depth - 1)).collect()),
        8 | 9 => Sarg::Or((0..2).map(|_| sarg(random, depth - 1)).collect()),
        kind => {
            let edge = scalar(random);
            let test = match kind {
                0 => ValueTest::Equal(value(random, 1)),
                1 => ValueTest::In((0..3).map(|_| scalar(random)).collect()),
                2 => ValueTest::Range { lower: Some((edge, random.bool())), upper: None },
                3 => ValueTest::Range { lower: None, upper: Some((edge, random.bool())) },
                4 => ValueTest::Prefix(pick(random, &["", "a", "x"]).to_string()),
                _ => pick(random, &[ValueTest::Defined, ValueTest::Text]).clone(),
            };
            Sarg::Test(path(random), test)
        }
    }
}

fn values<'a>(value: ValueRef<'a>, path: &[PathStep], out: &mut Vec<ValueRef<'a>>) {
    let Some((step, rest)) = path.split_first() else {
        out.push(value);
        return;
    };
    match (step, value) {
        (PathStep::Property(name), ValueRef::Document(fields)) => {
            fields.get(name).into_iter().for_each(|value| values(value, rest, out));
        }
        (PathStep::Elements, ValueRef::Array(elements)) => {
            elements.iter().for_each(|value| values(value, rest, out));
        }
        _ => {}
    }
}

fn encoded(value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    document::key::encode(value, document::key::TypeOrder::Json, false, &mut out);
    out
}

/// Returns whether an item certainly meets a condition. Unlike the index, this distinguishes long
/// strings with a common prefix.
fn meets(item: &Item, sarg: &Sarg) -> bool {
    match sarg {
        Sarg::All => true,
        Sarg::Never => false,
        Sarg::And(parts) => parts.iter().all(|part| meets(item, part)),
        Sarg::Or(parts) => parts.iter().any(|part| meets(item, part)),
        Sarg::Test(path, test) => {
            let mut found = Vec::new();
            values(ValueRef::Document(item.document()), path, &mut found);
            found.into_iter().any(|value| passes(value, test))
        }
    }
}

fn passes(value: ValueRef<'_>, test: &ValueTest) -> bool {
    let same_class = |a: ValueRef<'_>, b: ValueRef<'_>| encoded(a).first() == encoded(b).first();
    let below = |a: ValueRef<'_>, b: ValueRef<'_>| match (a, b) {
        (ValueRef::String(a), ValueRef::String(b)) => a < b,
        _ => encoded(a) < encoded(b),
    };
    let equal = |a: ValueRef<'_>, b: ValueRef<'_>| encoded(a) == encoded(b);
    match test {
        ValueTest::Equal(wanted) => equal(value, wanted.as_ref()),
        ValueTest::In(wanted) => wanted.iter().any(|wanted| equal(value, wanted.as_ref())),
        ValueTest::Range { lower, upper } => {
            let edge = |edge: &Option<(Value, bool)>, reach: &dyn Fn(ValueRef<'_>) -> bool| {
                edge.as_ref().is_none_or(|(edge, included)| {
                    same_class(value, edge.as_ref())
                        && (reach(edge.as_ref()) || (*included && equal(value, edge.as_ref())))
                })
            };
            edge(lower, &|edge| below(edge, value)) && edge(upper, &|edge| below(value, edge))
        }
        ValueTest::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(prefix)),
        ValueTest::Defined => true,
        ValueTest::Text => value.as_str().is_some(),
    }
}

fn policies() -> Vec<Policy> {
    let rule = |steps: &[&str], below, included| PolicyRule {
        steps: steps.iter().map(|name| PathStep::Property((*name).to_owned())).collect(),
        below,
        included,
    };
    let mut elements = rule(&["a"], false, false);
    elements.steps.push(PathStep::Elements);
    vec![
        everything(),
        Policy(vec![
            rule(&[], true, true),
            rule(&["a"], true, false),
            rule(&["a", "b"], false, true),
        ]),
        Policy(vec![rule(&["a"], false, true), rule(&["b"], true, true)]),
        Policy(vec![rule(&[], true, true), elements]),
        Policy(vec![rule(&[], true, false)]),
    ]
}

#[test]
fn a_walk_with_indexes_misses_nothing() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut walked, mut narrowed) = (0, 0);
    for policy in policies() {
        let held = Shelf::new(DefaultTtl::Off);
        let mut wanted = definition(DefaultTtl::Off);
        wanted.indexes = vec![IndexSpec::over_policy("paths", policy)];
        ready(held.engine().replace_container(&held.container(), &wanted, None)).unwrap();
        ready(held.engine().transform_indexes(&held.container())).unwrap();
        for at in 0..120 {
            let mut more = object(&mut random, 2);
            more.push("u", at);
            let pk = if random.bool() { "p" } else { "q" };
            held.upsert(pk, &at.to_string(), more);
        }
        held.check();
        let all = held.scan(&Scan::of(ItemRange::all()));
        for _ in 0..400 {
            let sarg = sarg(&mut random, 2);
            let scan = Scan { sarg: sarg.clone(), ..Scan::of(ItemRange::all()) };
            let found = held.scan(&scan);
            let met = |items: &[Item]| {
                ids(&items.iter().filter(|item| meets(item, &sarg)).cloned().collect::<Vec<_>>())
            };
            assert_eq!(met(&found), met(&all), "{sarg:?}");
            assert!(found.is_sorted_by_key(|item| item.key.clone()), "{sarg:?}");
            walked += 1;
            narrowed += usize::from(found.len() < all.len());
        }
    }
    assert!(walked / 3 < narrowed, "{narrowed} of {walked} walks were narrowed");
}

#[test]
fn arrays_and_objects_have_their_place() {
    let held = Shelf::new(DefaultTtl::Off);
    held.upsert("p", "1", doc! { "a": array![1, array![2]] });
    held.upsert("p", "2", doc! { "a": doc! {}, "u": 2 });
    let found = |path: Vec<PathStep>, test: ValueTest| {
        let scan = Scan { sarg: Sarg::Test(path, test), ..Scan::of(ItemRange::all()) };
        ids(&held.scan(&scan))
    };
    let a = PathStep::Property("a".into());
    assert_eq!(found(vec![a.clone()], ValueTest::Defined), ["1", "2"]);
    assert_eq!(
        found(vec![a.clone(), PathStep::Elements], ValueTest::Equal(Value::Int64(1))),
        ["1"]
    );
    assert_eq!(found(vec![a.clone()], ValueTest::Equal(Value::Int64(1))), Vec::<String>::new());
    assert_eq!(found(vec![a], ValueTest::Equal(Value::Document(doc! {}))), ["2"]);
}

#[test]
fn a_composite_index_gives_its_order_and_its_reverse() {
    let held = Shelf::new(DefaultTtl::Seconds(10));
    let mut wanted = definition(DefaultTtl::Seconds(10));
    let path = |name: &str| vec![name.to_owned()];
    wanted.indexes =
        vec![IndexSpec::over_tuple("ab", &[(path("a"), false), (path("b"), true)], false)];
    ready(held.engine().replace_container(&held.container(), &wanted, None)).unwrap();
    let order = |a: bool, b: bool, names: [&str; 2]| {
        let order = vec![(path(names[0]), a), (path(names[1]), b)];
        let all = held.scan_all(&Scan { order, ..Scan::of(ItemRange::all()) });
        (ids(&all.0).join(" "), all.1)
    };
    held.upsert("p", "dead", doc! { "a": 1, "b": 1 });
    held.kit.move_to(10_000);
    held.upsert("p", "1", doc! { "a": 2, "b": 1 });
    held.upsert("p", "2", doc! { "a": "x", "b": 1 });
    held.upsert("p", "3", doc! { "b": 7 });
    held.upsert("p", "4", doc! { "a": 2.0, "b": 5 });
    held.upsert("p", "5", doc! { "a": array![1], "b": 5 });
    // The index is not complete yet.
    assert_eq!(order(false, true, ["a", "b"]), ("1 2 3 4 5".to_owned(), false));
    ready(held.engine().transform_indexes(&held.container())).unwrap();
    assert_eq!(order(false, true, ["a", "b"]), ("3 4 1 2 5".to_owned(), true));
    assert_eq!(order(true, false, ["a", "b"]), ("5 2 1 4 3".to_owned(), true));
    assert_eq!(order(true, true, ["a", "b"]), ("1 2 3 4 5".to_owned(), false));
    assert_eq!(order(false, true, ["b", "a"]), ("1 2 3 4 5".to_owned(), false));
}

/// Items with equal values come in order of creation, not of their keys.
#[test]
fn equal_values_come_in_the_order_of_creation() {
    let held = Shelf::new(DefaultTtl::Off);
    let mut wanted = definition(DefaultTtl::Off);
    let path = |name: &str| vec![name.to_owned()];
    wanted.indexes.push(IndexSpec::over_tuple(
        "ab",
        &[(path("a"), false), (path("b"), true)],
        false,
    ));
    ready(held.engine().replace_container(&held.container(), &wanted, None)).unwrap();
    let created = ["z", "m", "a", "q", "b"];
    for id in created {
        held.upsert(id, id, doc! { "a": "x".repeat(50), "b": 1 });
        held.upsert(id, &format!("{id}-"), doc! { "n": 1 });
    }
    ready(held.engine().transform_indexes(&held.container())).unwrap();
    // A new version keeps its position; a deleted and re-created item is a new one.
    held.upsert("z", "z", doc! { "a": "x".repeat(50), "b": 1, "c": 1 });
    held.one(ItemAction::Delete, "m", "m").unwrap();
    held.upsert("m", "m", doc! { "a": "x".repeat(50), "b": 1 });
    held.check();
    let forward = ["z", "a", "q", "b", "m"];
    let backward: Vec<&str> = forward.iter().rev().copied().collect();
    let a = vec![PathStep::Property("a".into())];
    for descending in [false, true] {
        let scan = |order, sarg| Scan { order, sarg, ..Scan::of(ItemRange::all()) };
        let by_path =
            scan(vec![(path("a"), descending)], Sarg::Test(a.clone(), ValueTest::Defined));
        let want = if descending { backward.clone() } else { forward.to_vec() };
        let found = held.scan_all(&by_path);
        assert_eq!(
            (ids(&found.0), found.1),
            (want.iter().map(|id| (*id).to_owned()).collect(), true)
        );
        let order = vec![(path("a"), descending), (path("b"), !descending)];
        let found = held.scan_all(&scan(order, Sarg::All));
        let ids: Vec<String> = ids(&found.0).into_iter().filter(|id| !id.ends_with('-')).collect();
        assert_eq!((ids, found.1), (want.iter().map(|id| (*id).to_owned()).collect(), true));
    }
    // Items without a value come last, also in reverse order of creation.
    let all = held.scan_all(&Scan { order: vec![(path("a"), true)], ..Scan::of(ItemRange::all()) });
    let without = created.iter().rev().map(|id| format!("{id}-"));
    let want: Vec<String> = backward.iter().map(|id| (*id).to_owned()).chain(without).collect();
    assert_eq!((ids(&all.0), all.1), (want, true));
}

/// An index of an earlier version, with entries in row key order, yields no order; a start replaces
/// it.
#[test]
fn an_index_without_creation_stamps_is_replaced_at_a_start() {
    let held = Shelf::new(DefaultTtl::Off);
    let path = |name: &str| vec![name.to_owned()];
    let paths = [(path("a"), false), (path("b"), false)];
    let old = |spec: IndexSpec| IndexSpec { by_creation: false, ..spec };
    let mut wanted = definition(DefaultTtl::Off);
    wanted.indexes = vec![
        old(IndexSpec::over_policy("old paths", everything())),
        old(IndexSpec::over_tuple("ab", &paths, false)),
    ];
    let name = engine::Namespace::new("db", "old");
    let container = ready(held.engine().create_container(&name, &wanted)).unwrap();
    let put = |id: &str, a: i64| {
        let action = ItemAction::Upsert(crate::items::body("p", id, doc! { "a": a, "b": 1 }));
        let writes = [crate::items::write(action, "p", id)];
        ready(held.engine().write_items(&container, &writes, &crate::items::Honour)).unwrap();
    };
    ["z", "m", "a"].into_iter().for_each(|id| put(id, 1));
    put("z", 1);
    put("gone", 2);
    let one = Scan {
        sarg: Sarg::Test(vec![PathStep::Property("a".into())], ValueTest::Defined),
        order: vec![(path("a"), false)],
        ..Scan::of(ItemRange::all())
    };
    let several = Scan { order: paths.to_vec(), ..Scan::of(ItemRange::all()) };
    let found = |scan: &Scan| {
        let (mut all, context) = (crate::items::All::default(), test_kit::context());
        ready(held.engine().scan_items(&container, scan, &context, &mut all)).unwrap();
        (ids(&all.0).join(" "), all.1)
    };
    let check = || {
        let checked = ready(held.engine().check_collection(&container)).unwrap();
        assert_eq!(checked.differences.listed, Vec::<String>::new());
    };
    for scan in [&one, &several] {
        assert_eq!(found(scan), ("a gone m z".to_owned(), false));
    }
    check();
    ready(held.engine().resume_builds()).unwrap();
    for scan in [&one, &several] {
        assert_eq!(found(scan), ("z m a gone".to_owned(), true));
    }
    // Writers maintain the new index, and no entry of the old one is found.
    put("gone", 0);
    put("m", 3);
    check();
    for scan in [&one, &several] {
        assert_eq!(found(scan), ("gone z a m".to_owned(), true));
    }
    ready(held.engine().resume_builds()).unwrap();
    check();
}
