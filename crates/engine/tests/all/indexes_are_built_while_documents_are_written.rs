//! Index builds interrupted by writers, by other builds and by the end of the process.

use document::{Value, doc};
use engine::{IndexChange, IndexSpec, Kind};
use test_kit::{Kit, START_MS, Task, date_index, insert_one, plain_index, unique_index};

fn at(ms: i64) -> Value {
    Value::DateTime(START_MS + ms)
}

/// Starts a build that stops at the read with this number; read 1 reads the first page of rows.
fn build(kit: &Kit, spec: IndexSpec, read: u64) -> Task<Result<(usize, usize), engine::Error>> {
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    kit.store.turnstile().stop_nth(read);
    let mut task = Task::new(async move { engine.create_indexes(&collection, vec![spec]).await });
    assert!(task.poll().is_none(), "the build is stopped");
    task
}

#[test]
fn writes_during_a_build_are_in_the_index() {
    let kit = Kit::default();
    for id in 1..5 {
        kit.insert(doc! { "_id": id, "a": id }).unwrap();
    }
    let task = build(&kit, plain_index("a"), 1);
    kit.insert(doc! { "_id": 9, "a": 0 }).unwrap();
    kit.replace(doc! { "_id": 1, "a": 10 }, false).unwrap();
    kit.remove_by_id(2);
    kit.store.turnstile().open();
    assert_eq!(task.finish().unwrap(), (1, 2));
    assert_eq!(kit.ids_by("a_1"), [9, 3, 4, 1]);
}

#[test]
fn a_date_index_expires_nothing_until_it_is_built_and_then_everything_due() {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 1, "d": at(0) }).unwrap();
    let task = build(&kit, date_index("d", 5), 1);
    kit.insert(doc! { "_id": 2, "d": at(0) }).unwrap();
    kit.move_to(6_000);
    assert_eq!(kit.all_ids(), [1, 2]);
    kit.store.turnstile().open();
    task.finish().unwrap();
    assert_eq!(kit.all_ids(), [0; 0]);
}

#[test]
fn a_build_that_the_end_of_the_process_interrupts_is_finished_at_the_start() {
    let mut kit = Kit::default();
    kit.insert(doc! { "_id": 1, "a": 1, "d": at(0) }).unwrap();
    let task = build(&kit, date_index("d", 5), 1);
    drop(task);
    kit.move_to(5_000);
    kit.restart();
    assert_eq!(kit.all_ids(), [0; 0]);
}

#[test]
fn a_unique_build_that_cannot_be_finished_at_the_start_is_gone() {
    let mut kit = Kit::default();
    kit.insert(doc! { "_id": 1, "u": 1 }).unwrap();
    kit.insert(doc! { "_id": 2, "u": 1 }).unwrap();
    drop(build(&kit, unique_index("u"), 1));
    kit.restart();
    assert_eq!(kit.all_ids(), [1, 2]);
    assert!(kit.collection().state().record.index_named("u_1").is_none());
}

#[test]
fn a_removed_document_takes_no_unique_key_of_another() {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 5, "u": 1 }).unwrap();
    let task = build(&kit, unique_index("u"), 1);
    // The first document's key is not in the index yet, so this insert succeeds.
    kit.insert(doc! { "_id": 1, "u": 1 }).unwrap();
    kit.remove_by_id(5);
    kit.store.turnstile().open();
    task.finish().unwrap();
    assert_eq!(kit.ids_by("u_1"), [1]);
    let refused = kit.insert(doc! { "_id": 7, "u": 1 }).unwrap_err();
    assert!(matches!(refused.kind, Kind::DuplicateKey { .. }), "{refused}");
}

#[test]
fn a_removal_takes_away_a_unique_key_that_the_build_has_just_entered() {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 5, "u": 1 }).unwrap();
    let mut build = build(&kit, unique_index("u"), 1);
    kit.store.gate().shut();
    let mut held = Task::new(insert_one(kit.engine.clone(), kit.collection(), doc! { "_id": 9 }));
    assert!(held.poll().is_none());
    // The deletion reads before the build adds the key, and is ordered after it.
    kit.store.turnstile().open();
    assert!(build.poll().is_none());
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let mut removal = Task::new(async move {
        let find = engine::Find::new(test_kit::equal("_id", 5));
        engine.remove(&collection, &find, false, &test_kit::context()).await
    });
    assert!(removal.poll().is_none());
    kit.store.gate().open();
    held.finish().unwrap();
    let (mut built, mut removed) = (None, None);
    while built.is_none() || removed.is_none() {
        built = built.or_else(|| build.poll());
        removed = removed.or_else(|| removal.poll());
    }
    built.unwrap().unwrap();
    assert_eq!(removed.unwrap().unwrap().count, 1);
    assert_eq!(kit.ids_by("u_1"), [0; 0]);
    kit.insert(doc! { "_id": 6, "u": 1 }).unwrap();
    assert_eq!(kit.ids_by("u_1"), [6]);
}

#[test]
fn two_builds_do_not_finish_each_other() {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 1, "a": 1, "u": 1 }).unwrap();
    kit.insert(doc! { "_id": 2, "a": 2, "u": 1 }).unwrap();
    let stopped = build(&kit, plain_index("a"), 1);
    kit.create_index(plain_index("b")).unwrap();
    kit.create_index(unique_index("u")).unwrap_err();
    let state = kit.collection().state();
    assert!(!state.record.index_named("a_1").unwrap().ready, "it is not filled");
    assert!(state.record.index_named("b_1").unwrap().ready);
    kit.store.turnstile().open();
    stopped.finish().unwrap();
    assert_eq!(kit.ids_by("a_1"), [1, 2]);
}

#[test]
fn an_index_that_is_to_expire_documents_while_it_is_built_does_so_when_headers_know() {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 1, "d": at(0) }).unwrap();
    kit.insert(doc! { "_id": 2, "d": at(9_000) }).unwrap();
    let stopped = build(&kit, plain_index("d"), 1);
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let change = IndexChange { expire_after: Some(5), hidden: None };
    let changing = Task::new(async move { engine.change_index(&collection, "d_1", change).await });
    changing.finish().unwrap();
    kit.store.turnstile().open();
    stopped.finish().unwrap();
    kit.move_to(5_000);
    assert_eq!(kit.all_ids(), [2]);
    assert_eq!(kit.ids_by("d_1"), [2]);
    kit.move_to(14_000);
    assert_eq!(kit.all_ids(), [0; 0]);
}

#[test]
fn an_index_stays_readable_while_its_dates_are_entered() {
    let kit = Kit::default();
    kit.create_index(plain_index("d")).unwrap();
    kit.insert(doc! { "_id": 1, "d": at(0) }).unwrap();
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    kit.store.turnstile().stop_nth(1);
    let change = IndexChange { expire_after: Some(5), hidden: None };
    let mut changing =
        Task::new(async move { engine.change_index(&collection, "d_1", change).await });
    assert!(changing.poll().is_none());
    assert_eq!(kit.ids_by("d_1"), [1]);
    kit.move_to(5_000);
    assert_eq!(kit.ids_by("d_1"), [1]);
    kit.store.turnstile().open();
    changing.finish().unwrap();
    assert_eq!(kit.ids_by("d_1"), [0; 0]);
}
