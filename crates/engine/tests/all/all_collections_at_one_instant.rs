//! A pipeline over several collections reads all of them at one instant and sees one order of
//! commits.

use std::sync::Arc;

use document::{DocRef, Document, Path, Value, doc};
use engine::{BatchLimit, Error, Model, Namespace, Plan, Rules};
use pipeline::{
    Expr, Filter,
    exec::{GraphLookup, Lookup, Stage, UnionWith},
};
use test_kit::{
    Kit, Setup, Task, default_ttl, find_all, first_failure, insert_one, ready, replace_one,
};

/// Name of a second collection, whose documents expire 10 s after their last write; those of the
/// kit's own collection do not expire.
fn other() -> Namespace {
    Namespace::new("db", "other")
}

fn kit(rules: Rules) -> Kit {
    let kit = Kit::new(Setup { rules, ..Setup::default() });
    let (collection, _) =
        ready(kit.engine.ensure_collection(Model::Documents, &other())).expect("other");
    ready(kit.engine.set_default_ttl(&collection, default_ttl(Some(10)))).expect("changed");
    kit.insert(doc! { "_id": 1, "to": 7 }).expect("inserted");
    put(&kit, doc! { "_id": 7, "from": 1 });
    kit
}

/// Inserts into the other collection.
fn put(kit: &Kit, document: Document) {
    let collection = kit.engine.expect_collection(Model::Documents, &other()).expect("other");
    let inserted = ready(insert_one(kit.engine.clone(), collection, document));
    first_failure(inserted.expect("an answer")).expect("inserted");
}

fn lookup(join: Option<(Path, Path)>, stages: Vec<Stage>) -> Stage {
    Stage::Lookup(Box::new(Lookup {
        database: None,
        collection: "other".into(),
        name: Path::new("met"),
        join,
        variables: Vec::new(),
        stages: stages.into(),
    }))
}

fn union_with() -> Stage {
    let stages = Vec::new().into();
    Stage::UnionWith(Box::new(UnionWith { database: None, collection: "other".into(), stages }))
}

fn graph() -> Stage {
    Stage::GraphLookup(Box::new(GraphLookup {
        collection: "other".into(),
        start: Expr::Literal(Value::Int32(7)),
        from: Path::new("from"),
        to: Path::new("_id"),
        name: Path::new("met"),
        max_depth: None,
        depth_name: None,
        filter: None,
    }))
}

/// All stages that can read another collection, each with a name for messages.
fn ways() -> Vec<(&'static str, Stage)> {
    let join = Some((Path::new("to"), Path::new("_id")));
    let inner = Some((Path::new("from"), Path::new("from")));
    vec![
        ("join", lookup(join, Vec::new())),
        ("stages", lookup(None, vec![Stage::Match(Filter::always())])),
        ("nested", lookup(None, vec![lookup(inner, Vec::new())])),
        ("union", union_with()),
        ("graph", graph()),
        ("facet", Stage::Facet(vec![("met".into(), Arc::from(vec![union_with()]))])),
    ]
}

type Found = Result<Vec<Document>, Error>;

fn run(kit: &Kit, stage: &Stage) -> Task<Found> {
    let plan = Plan::new(Filter::always()).with_stages(vec![stage.clone()]);
    Task::new(find_all(kit.engine.clone(), kit.namespace(), plan))
}

#[test]
fn what_expires_while_a_pipeline_runs_is_there_for_all_of_it() {
    for (name, stage) in ways() {
        let kit = kit(Rules::default());
        let before = run(&kit, &stage).finish().expect("found");
        kit.move_to(9_999);
        kit.store.turnstile().stop_nth(1);
        let mut running = run(&kit, &stage);
        assert!(running.poll().is_none(), "{name}");
        kit.move_to(10_000);
        kit.store.turnstile().open();
        assert_eq!(running.finish().expect("found"), before, "{name}");
        assert_ne!(run(&kit, &stage).finish().expect("found"), before, "{name}");
    }
}

#[test]
fn a_commit_while_a_pipeline_runs_is_seen_by_none_of_it() {
    for (name, stage) in ways() {
        let kit = kit(Rules::default());
        let before = run(&kit, &stage).finish().expect("found");
        kit.store.turnstile().stop_nth(1);
        let mut running = run(&kit, &stage);
        assert!(running.poll().is_none(), "{name}");
        let collection = kit.engine.expect_collection(Model::Documents, &other()).expect("other");
        let changed = doc! { "_id": 7, "from": 1, "changed": true };
        ready(replace_one(kit.engine.clone(), collection, changed, false)).expect("replaced");
        kit.store.turnstile().open();
        assert_eq!(running.finish().expect("found"), before, "{name}");
        assert_ne!(run(&kit, &stage).finish().expect("found"), before, "{name}");
    }
}

/// Returns whether a query sees the extension of a document of the other collection that is stamped
/// before its deadline and published after it.
fn last_moments(stage: &Stage, rules: Rules) -> bool {
    let kit = kit(rules);
    kit.move_to(9_999);
    kit.store.gate().shut();
    let (engine, collection) =
        (kit.engine.clone(), kit.engine.expect_collection(Model::Documents, &other()));
    let renewed = doc! { "_id": 7, "from": 1, "renewed": true };
    let mut renewal = Task::new(replace_one(engine, collection.expect("other"), renewed, false));
    assert!(renewal.poll().is_none());
    kit.move_to(10_000);
    let mut running = run(&kit, stage);
    let early = running.poll();
    kit.store.gate().open();
    assert_eq!(renewal.finish().expect("an answer").modified, 1);
    let seen = early.unwrap_or_else(|| running.finish()).expect("found");
    seen == run(&kit, stage).finish().expect("found")
}

#[test]
fn an_expiration_in_the_last_moments_of_another_collection_waits_too() {
    for (name, stage) in ways() {
        assert!(last_moments(&stage, Rules::default()), "{name}");
        let without = Rules { last_moments: false, ..Rules::default() };
        assert!(!last_moments(&stage, without), "{name} without the rule");
    }
}

#[test]
fn a_later_batch_gives_nothing_of_another_collection_that_has_expired_since() {
    let kit = kit(Rules::default());
    put(&kit, doc! { "_id": 8, "ttl": -1 });
    put(&kit, doc! { "_id": 9 });
    let plan = Plan::new(Filter::always()).with_stages(vec![union_with()]);
    let mut cursor = kit.begin_query(plan);
    let limit = BatchLimit { documents: 2, bytes: usize::MAX };
    let ids = |batch: engine::Batch| {
        let trees = batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree());
        test_kit::ids_of(&trees.collect::<Vec<_>>())
    };
    assert_eq!(ids(ready(cursor.next_batch(limit)).expect("a batch")), [1, 7]);
    kit.move_to(10_000);
    assert_eq!(ids(ready(cursor.next_batch(limit)).expect("a batch")), [8]);
}

#[test]
fn a_later_batch_looks_again_at_what_is_the_same_for_every_row() {
    let kit = kit(Rules::default());
    kit.insert(doc! { "_id": 2 }).expect("inserted");
    let plan = Plan::new(Filter::always()).with_stages(vec![lookup(None, Vec::new())]);
    let mut cursor = kit.begin_query(plan);
    let limit = BatchLimit { documents: 1, bytes: usize::MAX };
    let mut met = || {
        let batch = ready(cursor.next_batch(limit)).expect("a batch");
        let tree = DocRef::Raw(&batch.documents[0]).to_tree();
        tree.get("met").and_then(|met| met.as_ref().as_array().map(|met| met.iter().count()))
    };
    assert_eq!(met(), Some(1));
    kit.move_to(10_000);
    assert_eq!(met(), Some(0));
}

#[test]
fn a_collection_that_is_made_or_dropped_meanwhile_is_seen_as_it_was() {
    let kit = kit(Rules::default());
    ready(kit.engine.drop_collection(Model::Documents, &other())).expect("dropped");
    kit.store.turnstile().stop_nth(1);
    let mut running = run(&kit, &union_with());
    assert!(running.poll().is_none());
    ready(kit.engine.ensure_collection(Model::Documents, &other())).expect("made");
    put(&kit, doc! { "_id": 8 });
    kit.store.turnstile().open();
    assert_eq!(test_kit::ids_of(&running.finish().expect("found")), [1]);
    assert_eq!(test_kit::ids_of(&run(&kit, &union_with()).finish().expect("found")), [1, 8]);
}

#[test]
fn a_collection_that_does_not_exist_is_empty_and_the_others_are_read() {
    let kit = kit(Rules::default());
    let plan = || Plan::new(Filter::always()).with_stages(vec![union_with()]);
    let missing = Namespace::new("db", "missing");
    let found = ready(find_all(kit.engine.clone(), missing, plan())).expect("found");
    assert_eq!(test_kit::ids_of(&found), [7]);
}
