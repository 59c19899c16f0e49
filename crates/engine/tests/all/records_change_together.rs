//! Small records changed in one call change atomically.

use std::task::{Context, Waker};

use document::{Document, doc};
use engine::{Engine, ErrorSubject, Expected, Kind, ResourceChange};
use test_kit::{Kit, ready};

/// Returns names and bodies of the records below `x`.
fn held(engine: &Engine) -> Vec<(String, Document)> {
    let records = engine.resources_below(&["x"]);
    records.iter().map(|it| (it.path[1..].join("/"), it.body.clone())).collect()
}

/// Creates a kit with records `a`, `b`, `b/below` and `bb`; returns it and the version of `a`.
fn kit() -> (Kit, u64) {
    let kit = Kit::default();
    let paths: [&[&str]; 4] = [&["x", "a"], &["x", "b"], &["x", "b", "below"], &["x", "bb"]];
    let made = paths.map(|path| {
        ready(kit.engine.put_resource(path, doc! { "n": 1 }, Expected::Absent)).unwrap()
    });
    (kit, made[0].stamp)
}

/// Sets `a`, removes `b` and creates `c`.
fn changes(a: Expected, b: Expected, c: Expected) -> Vec<ResourceChange> {
    vec![
        ResourceChange::put(&["x", "a"], doc! { "n": 2 }, a),
        ResourceChange::remove(&["x", "b"], b),
        ResourceChange::put(&["x", "c"], doc! { "n": 3 }, c),
    ]
}

#[test]
fn all_of_them_have_one_stamp_and_are_there_after_a_restart() {
    let (mut kit, version) = kit();
    let before = kit.engine.resource_changes();
    let all = changes(Expected::Version(version), Expected::Present, Expected::Absent);
    let made = ready(kit.engine.change_resources(all)).unwrap();
    assert_eq!(kit.engine.resource_changes(), before + 1);
    let [a, c] = made.try_into().unwrap();
    assert_eq!((a.stamp, a.creation_stamp, c.creation_stamp), (c.stamp, version, c.stamp));
    assert!(version < a.stamp);
    let wanted = [("a", 2), ("bb", 1), ("c", 3)].map(|(name, n)| (name.into(), doc! { "n": n }));
    assert_eq!(held(&kit.engine), wanted);
    kit.restart();
    assert_eq!(held(&kit.engine), wanted);
    assert_eq!(kit.engine.resource_at(&["x", "a"]), Some(a));
    assert_eq!(ready(kit.engine.change_resources(Vec::new())).unwrap(), []);
}

#[test]
fn a_condition_that_fails_changes_nothing() {
    let (mut kit, version) = kit();
    let (before, counted) = (held(&kit.engine), kit.engine.resource_changes());
    let (right, there, none) = (Expected::Version(version), Expected::Present, Expected::Absent);
    let twice = ResourceChange::remove(&["x", "b", "below"], there);
    let refused = [
        (changes(Expected::Version(version + 1), there, none), Kind::Precondition),
        (changes(right, none, none), Kind::Exists(ErrorSubject::Document)),
        (changes(right, there, there), Kind::NotFound(ErrorSubject::Document)),
        ([changes(right, there, none), vec![twice]].concat(), Kind::Invalid),
    ];
    for (all, kind) in refused {
        assert_eq!(ready(kit.engine.change_resources(all)).unwrap_err().kind, kind);
    }
    // A lost commit changes no record either.
    kit.store.lose_nth_commit(1);
    ready(kit.engine.change_resources(changes(right, there, none))).unwrap_err();
    assert_eq!((held(&kit.engine), kit.engine.resource_changes()), (before.clone(), counted));
    kit.restart();
    assert_eq!(held(&kit.engine), before);
}

/// The next change proceeds when the commit has ended even if its caller was cancelled; this store
/// drops a commit without a waiter.
#[test]
fn a_change_that_nobody_waits_for_keeps_nobody_out() {
    let (kit, _) = kit();
    let mut context = Context::from_waker(Waker::noop());
    let set = |name| Box::pin(kit.engine.put_resource(name, doc! { "n": 1 }, Expected::Absent));
    kit.store.gate().shut();
    let mut begun = set(&["x", "c"]);
    assert!(begun.as_mut().poll(&mut context).is_pending());
    let mut waits = set(&["x", "d"]);
    assert!(waits.as_mut().poll(&mut context).is_pending());
    drop((begun, waits));
    kit.store.gate().open();
    ready(set(&["x", "c"])).unwrap();
    ready(set(&["x", "d"])).unwrap();
    assert_eq!(held(&kit.engine).len(), 6);
}
