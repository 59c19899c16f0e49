//! Capped collections: the order of the inserts, exact limits, and cursors that follow them.

use std::sync::Arc;

use document::{DocRef, Document, doc};
use engine::{
    BatchLimit, Capped, Collection, Cursor, Direction, Engine, Error, Hint, Kind, ListOrdering,
    Model, Namespace, Plan,
};
use expiry::Lifetime;
use pipeline::{Filter, exec::Stage};
use test_kit::{
    Kit, Task, context, find_all, ids_of, insert_one, ready, replace_one, sort_by, unique_index,
};

/// Size of a document `{_id: i32}` in bytes.
const SMALL: i64 = 14;

fn name() -> Namespace {
    Namespace::new("db", "log")
}

fn of_documents(documents: i64) -> Capped {
    Capped { bytes: 1 << 20, documents: Some(documents) }
}

fn create(kit: &Kit, capped: Capped) -> Arc<Collection> {
    ready(kit.engine.create_capped(Model::Documents, &name(), doc! {}, capped)).unwrap()
}

fn insert(kit: &Kit, collection: &Arc<Collection>, document: Document) -> Result<(), Error> {
    let inserted = ready(insert_one(kit.engine.clone(), Arc::clone(collection), document))?;
    test_kit::first_failure(inserted)
}

fn plan(hint: Hint) -> Plan {
    Plan { hint, ..Plan::new(Filter::always()) }
}

fn ids(kit: &Kit) -> Vec<i64> {
    ids_by(kit, Hint::None)
}

fn ids_by(kit: &Kit, hint: Hint) -> Vec<i64> {
    ids_of(&ready(find_all(kit.engine.clone(), name(), plan(hint))).unwrap())
}

fn check(kit: &Kit, collection: &Arc<Collection>) {
    let report = ready(kit.engine.check_collection(collection)).unwrap();
    assert_eq!(report.differences.listed, Vec::<String>::new());
}

fn documents(ids: impl IntoIterator<Item = i32>) -> Vec<(document::DocBuf, Lifetime)> {
    ids.into_iter().map(|id| (doc! { "_id": id }.to_buf(), Lifetime::Inherit)).collect()
}

#[test]
fn documents_are_returned_in_the_order_of_their_inserts() {
    let mut kit = Kit::default();
    let collection = create(&kit, of_documents(100));
    for id in [5, 1, 9] {
        insert(&kit, &collection, doc! { "_id": id }).unwrap();
    }
    let list = documents([3, 200, 2]);
    ready(kit.engine.insert(&collection, list, ListOrdering::Ordered)).unwrap();
    // An update does not move a document.
    let update =
        replace_one(kit.engine.clone(), Arc::clone(&collection), doc! { "_id": 1, "a": 1 }, false);
    assert_eq!(ready(update).unwrap().modified, 1);
    let upsert = replace_one(kit.engine.clone(), Arc::clone(&collection), doc! { "_id": 7 }, true);
    ready(upsert).unwrap();
    let order = [5, 1, 9, 3, 200, 2, 7];
    assert_eq!(ids(&kit), order);
    assert_eq!(ids_by(&kit, Hint::Natural(Direction::Forward)), order);
    let backward: Vec<i64> = order.into_iter().rev().collect();
    assert_eq!(ids_by(&kit, Hint::Natural(Direction::Backward)), backward);
    assert_eq!(ids_by(&kit, Hint::Index("_id_".into())), [1, 2, 3, 5, 7, 9, 200]);
    check(&kit, &collection);
    kit.restart();
    assert_eq!(ids(&kit), order);
    let collection = kit.engine.expect_collection(Model::Documents, &name()).unwrap();
    insert(&kit, &collection, doc! { "_id": 0 }).unwrap();
    assert_eq!(ids(&kit).last(), Some(&0));
}

#[test]
fn the_oldest_documents_make_room() {
    let mut kit = Kit::default();
    let collection = create(&kit, of_documents(3));
    for id in 0..10 {
        insert(&kit, &collection, doc! { "_id": id }).unwrap();
        let first = 0.max(id - 2);
        assert_eq!(ids(&kit), (i64::from(first)..=i64::from(id)).collect::<Vec<_>>());
    }
    // A list that is longer than the collection, and an upsert.
    let inserted =
        ready(kit.engine.insert(&collection, documents(10..30), ListOrdering::Ordered)).unwrap();
    assert_eq!((inserted.count, inserted.failed.len()), (20, 0));
    assert_eq!(ids(&kit), [27, 28, 29]);
    let upsert = replace_one(kit.engine.clone(), Arc::clone(&collection), doc! { "_id": 7 }, true);
    ready(upsert).unwrap();
    assert_eq!(ids(&kit), [28, 29, 7]);
    check(&kit, &collection);
    kit.restart();
    let collection = kit.engine.expect_collection(Model::Documents, &name()).unwrap();
    insert(&kit, &collection, doc! { "_id": 8 }).unwrap();
    assert_eq!(ids(&kit), [29, 7, 8]);
    check(&kit, &collection);
}

#[test]
fn the_size_limits_a_collection() {
    let kit = Kit::default();
    let collection = create(&kit, Capped { bytes: 4 * SMALL + 1, documents: None });
    ready(kit.engine.insert(&collection, documents(0..6), ListOrdering::Ordered)).unwrap();
    assert_eq!(ids(&kit), [2, 3, 4, 5]);
    // A larger document replaces several.
    insert(&kit, &collection, doc! { "_id": 6, "text": "0123456789" }).unwrap();
    assert_eq!(ids(&kit), [5, 6]);
    let large = insert(&kit, &collection, doc! { "_id": 7, "text": "x".repeat(100) });
    assert_eq!(large.unwrap_err().kind, Kind::ExceedsCapped);
    assert_eq!(ids(&kit), [5, 6]);
    // An update may exceed the size until the next insert.
    let larger = doc! { "_id": 6, "text": "x".repeat(40) };
    ready(replace_one(kit.engine.clone(), Arc::clone(&collection), larger, false)).unwrap();
    assert_eq!(ids(&kit), [5, 6]);
    insert(&kit, &collection, doc! { "_id": 8 }).unwrap();
    assert_eq!(ids(&kit), [8]);
    check(&kit, &collection);
}

#[test]
fn more_documents_are_evicted_than_one_commit_may_delete() {
    let kit = Kit::default();
    let collection = create(&kit, Capped { bytes: 1 << 20, documents: None });
    ready(kit.engine.insert(&collection, documents(0..2_000), ListOrdering::Ordered)).unwrap();
    ready(kit.engine.change_capped(&collection, |_| of_documents(2))).unwrap();
    assert_eq!(ids(&kit).len(), 2_000);
    insert(&kit, &collection, doc! { "_id": 2_000 }).unwrap();
    assert_eq!(ids(&kit), [1_999, 2_000]);
    check(&kit, &collection);
}

#[test]
fn inserts_at_the_same_time_keep_the_limit() {
    let kit = Kit::default();
    let collection = create(&kit, of_documents(2));
    for round in 0..20 {
        let insert = |id: i32| {
            let (engine, collection) = (kit.engine.clone(), Arc::clone(&collection));
            Task::new(insert_one(engine, collection, doc! { "_id": id }))
        };
        let upsert = |id: i32| {
            let (engine, collection) = (kit.engine.clone(), Arc::clone(&collection));
            Task::new(replace_one(engine, collection, doc! { "_id": id }, true))
        };
        kit.store.gate().shut();
        let mut inserts: Vec<_> = (0..4).map(|at| insert(100 * round + at)).collect();
        let mut upserts: Vec<_> = (4..8).map(|at| upsert(100 * round + at)).collect();
        inserts.iter_mut().for_each(|task| assert!(task.poll().is_none()));
        upserts.iter_mut().for_each(|task| assert!(task.poll().is_none()));
        kit.store.gate().open();
        for task in inserts {
            assert_eq!(task.finish().unwrap().count, 1);
        }
        for task in upserts {
            assert!(task.finish().unwrap().upserted.is_some());
        }
        assert_eq!(ids(&kit).len(), 2);
        check(&kit, &collection);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn many_writers_keep_the_limit() {
    let kit = Kit::default();
    let capped = of_documents(10);
    let collection =
        kit.engine.create_capped(Model::Documents, &name(), doc! {}, capped).await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..32 {
        let (engine, collection) = (kit.engine.clone(), Arc::clone(&collection));
        writers.push(tokio::spawn(async move {
            for at in 0..20 {
                let document = doc! { "_id": 100 * writer + at };
                let written = if at % 4 == 0 {
                    let upsert = replace_one(engine.clone(), collection.clone(), document, true);
                    usize::from(upsert.await.unwrap().upserted.is_some())
                } else {
                    insert_one(engine.clone(), collection.clone(), document).await.unwrap().count
                };
                assert_eq!(written, 1);
                let live = engine.live_amount(&collection).await.unwrap().documents;
                assert!(live <= 10, "{live}");
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let found = find_all(kit.engine.clone(), name(), plan(Hint::None)).await.unwrap();
    assert_eq!(found.len(), 10);
    let report = kit.engine.check_collection(&collection).await.unwrap();
    assert_eq!(report.differences.listed, Vec::<String>::new());
}

#[test]
fn failures_of_a_list_are_reported_by_position() {
    let kit = Kit::default();
    let collection = create(&kit, of_documents(4));
    let wanted = vec![unique_index("a")];
    ready(kit.engine.create_indexes(&collection, wanted)).unwrap();
    let list = |ordering| {
        let documents = [(1, 1), (2, 2), (1, 3), (3, 2), (4, 4)];
        let documents = documents.map(|(id, a)| doc! { "_id": id, "a": a }.to_buf());
        let list = documents.map(|document| (document, Lifetime::Inherit)).into();
        let inserted = ready(kit.engine.insert(&collection, list, ordering)).unwrap();
        let failed: Vec<usize> = inserted.failed.iter().map(|(at, _)| *at).collect();
        (inserted.count, failed)
    };
    assert_eq!(list(ListOrdering::Ordered), (2, vec![2]));
    assert_eq!(ids(&kit), [1, 2]);
    assert_eq!(list(ListOrdering::Unordered), (1, vec![0, 1, 2, 3]));
    assert_eq!(ids(&kit), [1, 2, 4]);
    check(&kit, &collection);
}

#[test]
fn expired_documents_take_no_room_and_are_not_returned() {
    for reaped in [false, true] {
        let kit = Kit::default();
        let collection = create(&kit, of_documents(3));
        ready(kit.engine.set_default_ttl(&collection, test_kit::default_ttl(Some(-1)))).unwrap();
        for (id, ttl) in [(1, 100), (2, 10), (3, 100)] {
            insert(&kit, &collection, doc! { "_id": id, "ttl": ttl }).unwrap();
        }
        kit.move_to(9_999);
        assert_eq!(ids(&kit), [1, 2, 3]);
        kit.move_to(10_000);
        if reaped {
            ready(kit.engine.reap_once(std::time::Duration::from_secs(100))).unwrap();
            ready(kit.engine.reap_now(&collection)).unwrap();
        }
        assert_eq!(ids(&kit), [1, 3]);
        insert(&kit, &collection, doc! { "_id": 4 }).unwrap();
        assert_eq!(ids(&kit), [1, 3, 4], "the expired document took no room");
        // The id of an expired document is free, and its new life is the newest.
        insert(&kit, &collection, doc! { "_id": 2 }).unwrap();
        assert_eq!(ids(&kit), [3, 4, 2]);
        assert_eq!(ready(kit.engine.live_amount(&collection)).unwrap().documents, 3);
        check(&kit, &collection);
    }
}

fn follow(kit: &Kit, plan: Plan) -> Cursor {
    let mut cursor = kit.engine.begin_query(Model::Documents, &name(), plan, context()).unwrap();
    cursor.follow_inserts().unwrap();
    cursor
}

fn next(cursor: &mut Cursor) -> Result<(Vec<i64>, bool), Error> {
    let batch = ready(cursor.next_batch(BatchLimit { documents: 2, bytes: usize::MAX }))?;
    let documents: Vec<_> =
        batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect();
    Ok((ids_of(&documents), batch.done))
}

#[test]
fn a_cursor_follows_the_inserts() {
    for projected in [false, true] {
        let kit = Kit::default();
        let collection = create(&kit, of_documents(10));
        let stages = match projected {
            false => Vec::new(),
            true => vec![Stage::Skip(0)],
        };
        let natural = || plan(Hint::Natural(Direction::Forward)).with_stages(stages.clone());
        let (batch, done) = next(&mut follow(&kit, natural())).unwrap();
        assert_eq!((batch, done), (vec![], true), "a cursor on an empty collection ends");
        for id in [3, 1, 2] {
            insert(&kit, &collection, doc! { "_id": id }).unwrap();
        }
        let mut cursor = follow(&kit, natural());
        assert_eq!(next(&mut cursor).unwrap(), (vec![3, 1], false));
        assert_eq!(next(&mut cursor).unwrap(), (vec![2], false));
        assert_eq!(next(&mut cursor).unwrap(), (vec![], false));
        insert(&kit, &collection, doc! { "_id": 0 }).unwrap();
        assert_eq!(next(&mut cursor).unwrap(), (vec![0], false));
        // Its position may be removed: nothing was missed.
        let find = engine::Find::new(test_kit::equal("_id", 0));
        ready(kit.engine.remove(&collection, &find, false, &context())).unwrap();
        insert(&kit, &collection, doc! { "_id": 4 }).unwrap();
        assert_eq!(next(&mut cursor).unwrap(), (vec![4], false));
        assert_eq!(next(&mut cursor).unwrap(), (vec![], false));
        ready(kit.engine.drop_collection(Model::Documents, &name())).unwrap();
        assert_eq!(next(&mut cursor).unwrap_err().kind, Kind::Gone);
    }
}

#[test]
fn a_cursor_ends_with_its_limit() {
    let kit = Kit::default();
    let collection = create(&kit, of_documents(10));
    insert(&kit, &collection, doc! { "_id": 1 }).unwrap();
    let limited = plan(Hint::Natural(Direction::Forward)).with_stages(vec![Stage::Limit(2)]);
    let mut cursor = follow(&kit, limited);
    assert_eq!(next(&mut cursor).unwrap(), (vec![1], false));
    insert(&kit, &collection, doc! { "_id": 2 }).unwrap();
    assert_eq!(next(&mut cursor).unwrap(), (vec![2], true));
}

#[test]
fn a_cursor_does_not_pass_over_evicted_documents() {
    let kit = Kit::default();
    let collection = create(&kit, of_documents(2));
    insert(&kit, &collection, doc! { "_id": 1 }).unwrap();
    let mut cursor = follow(&kit, plan(Hint::Natural(Direction::Forward)));
    assert_eq!(next(&mut cursor).unwrap(), (vec![1], false));
    // Document 1, which the cursor has read, is evicted.
    insert(&kit, &collection, doc! { "_id": 2 }).unwrap();
    insert(&kit, &collection, doc! { "_id": 3 }).unwrap();
    assert_eq!(next(&mut cursor).unwrap(), (vec![2, 3], false));
    for id in 4..7 {
        insert(&kit, &collection, doc! { "_id": id }).unwrap();
    }
    assert_eq!(next(&mut cursor).unwrap_err().kind, Kind::PositionLost);
}

#[test]
fn a_following_cursor_returns_no_expired_documents() {
    let kit = Kit::default();
    let collection = create(&kit, of_documents(10));
    ready(kit.engine.set_default_ttl(&collection, test_kit::default_ttl(Some(-1)))).unwrap();
    insert(&kit, &collection, doc! { "_id": 1, "ttl": 5 }).unwrap();
    let mut cursor = follow(&kit, plan(Hint::Natural(Direction::Forward)));
    assert_eq!(next(&mut cursor).unwrap(), (vec![1], false));
    insert(&kit, &collection, doc! { "_id": 2, "ttl": 5 }).unwrap();
    insert(&kit, &collection, doc! { "_id": 3, "ttl": 50 }).unwrap();
    kit.move_to(5_000);
    assert_eq!(next(&mut cursor).unwrap(), (vec![3], false));
    assert_eq!(next(&mut cursor).unwrap(), (vec![], false));
}

#[test]
fn a_query_in_another_order_cannot_follow() {
    let kit = Kit::default();
    let collection = create(&kit, of_documents(10));
    insert(&kit, &collection, doc! { "_id": 1 }).unwrap();
    let sort = Stage::Sort { sort: sort_by("_id", false), limit: None };
    let sorted = Plan::new(Filter::always()).with_stages(vec![sort]);
    let mut cursor = kit.engine.begin_query(Model::Documents, &name(), sorted, context()).unwrap();
    assert_eq!(cursor.follow_inserts().unwrap_err().kind, Kind::Unsupported);
    let mut cursor = kit.begin_query(plan(Hint::Natural(Direction::Forward)));
    assert_eq!(cursor.follow_inserts().unwrap_err().kind, Kind::Unsupported);
}

#[test]
fn a_collection_is_converted_in_the_order_of_its_creation() {
    let mut kit = Kit::default();
    for id in [4, 1, 3, 2] {
        kit.insert(doc! { "_id": id, "ttl": 10 * id }).unwrap();
    }
    kit.set_default(Some(-1));
    let collection = kit.collection();
    let before = kit.live_amount();
    let capped = Capped { bytes: before.bytes - 1, documents: None };
    ready(kit.engine.convert_to_capped(&collection, capped)).unwrap();
    assert_eq!(kit.all_ids(), [1, 3, 2]);
    check(&kit, &collection);
    kit.restart();
    assert_eq!(kit.all_ids(), [1, 3, 2]);
    kit.insert(doc! { "_id": 0 }).unwrap();
    assert_eq!(kit.all_ids(), [1, 3, 2, 0]);
    // Documents keep their times to live.
    kit.move_to(10_000);
    assert_eq!(kit.all_ids(), [3, 2, 0]);
    kit.move_to(20_000);
    assert_eq!(kit.all_ids(), [3, 0]);
    check(&kit, &kit.collection());
}

#[test]
fn a_copy_has_the_last_documents_with_their_times() {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for id in 1..=5 {
        kit.insert(doc! { "_id": id, "ttl": 10 }).unwrap();
    }
    let each = kit.live_amount().bytes / 5;
    kit.move_to(4_000);
    let engine: &Engine = &kit.engine;
    let capped = Capped { bytes: 3 * each, documents: None };
    ready(engine.copy_as_capped(&kit.collection(), &name(), capped)).unwrap();
    assert_eq!(ids(&kit), [3, 4, 5]);
    let copy = engine.expect_collection(Model::Documents, &name()).unwrap();
    ready(engine.set_default_ttl(&copy, test_kit::default_ttl(Some(-1)))).unwrap();
    kit.move_to(9_999);
    assert_eq!(ids(&kit), [3, 4, 5]);
    kit.move_to(10_000);
    assert_eq!(ids(&kit), Vec::<i64>::new());
    check(&kit, &copy);
    let taken = ready(engine.copy_as_capped(&kit.collection(), &name(), capped));
    assert!(matches!(taken.unwrap_err().kind, Kind::Exists(_)));
    assert_eq!(ready(engine.live_amount(&copy)).unwrap().documents, 0);
}
