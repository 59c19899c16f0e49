//! Each operation that uses an index counts once, even if it retries or finds nothing, and changes
//! that keep an index keep its count.

use std::sync::Arc;

use document::{Path, Value, array, doc};
use engine::{BatchLimit, Find, Hint, ID_INDEX, ListOrdering, Model, Namespace, Plan, Update};
use pipeline::{
    Filter,
    edit::Edit,
    exec::{Lookup, Stage},
    filter::Comparison,
};
use test_kit::{
    Direction, Kit, START_MS, Task, TtlField, compare, context, equal, find_all, ids_of,
    insert_one, plain_index, ready, replace_one, sort_by,
};

/// Documents with values from 0 to 9 in an index.
fn kit() -> Kit {
    let kit = Kit::default();
    kit.create_index(plain_index("a")).unwrap();
    let documents = (0..100).map(|id| {
        let document = doc! { "_id": id, "a": id % 10, "b": id };
        (document.to_buf(), expiry::Lifetime::from_ttl(None))
    });
    let documents = documents.collect();
    ready(kit.engine.insert(&kit.collection(), documents, ListOrdering::Ordered)).unwrap();
    kit
}

fn id_of(kit: &Kit, name: &str) -> u32 {
    kit.collection().state().record.index_named(name).unwrap().id
}

/// Returns the uses of the primary key and of the index on `a`.
fn uses(kit: &Kit) -> (u64, u64) {
    let of = |id| kit.collection().index_usage(id).unwrap().count;
    (of(ID_INDEX), of(id_of(kit, "a_1")))
}

fn update(find: Find, many: bool) -> Update<'static> {
    static NOTHING: Edit = Edit::Pipeline(Vec::new());
    Update { find, edit: &NOTHING, many, upsert: false, context: context(), writer: &TtlField }
}

#[test]
fn an_operation_counts_once_for_the_index_that_its_plan_walks() {
    let kit = kit();
    let (collection, engine) = (kit.collection(), &kit.engine);
    assert_eq!(uses(&kit), (0, 0), "an insert and a build use none");
    let find = |filter: Filter| kit.find_documents(filter, Hint::None).unwrap().len();
    assert_eq!((find(equal("a", 3)), uses(&kit)), (10, (0, 1)));
    assert_eq!((find(equal("a", 77)), uses(&kit)), (0, (0, 2)), "nothing is found in it");
    assert_eq!((find(Filter::always()), uses(&kit)), (100, (0, 2)), "all rows");
    assert_eq!((find(equal("b", 3)), uses(&kit)), (1, (0, 2)), "no index");
    assert_eq!((find(Filter::Never), uses(&kit)), (0, (0, 2)), "nothing can match");
    assert_eq!((find(equal("_id", 3)), uses(&kit)), (1, (1, 2)));
    assert_eq!((find(compare("_id", Comparison::Lt, 3)), uses(&kit)), (3, (2, 2)), "a range");
    let hinted = |hint| kit.find_documents(Filter::always(), hint).unwrap().len();
    assert_eq!((hinted(Hint::Index("_id_".into())), uses(&kit)), (100, (3, 2)));
    assert_eq!((hinted(Hint::Index("a_1".into())), uses(&kit)), (100, (3, 3)));
    let natural = Hint::Natural(Direction::Forward);
    assert_eq!((hinted(natural), uses(&kit)), (100, (3, 3)));
    let counting = Plan::new(equal("a", 3)).with_stages(vec![Stage::Count("n".into())]);
    ready(find_all(engine.clone(), kit.namespace(), counting)).unwrap();
    assert_eq!(uses(&kit), (3, 4), "entries alone are counted");
    ready(engine.update(&collection, &update(Find::new(equal("a", 3)), true))).unwrap();
    assert_eq!(uses(&kit), (3, 5));
    ready(engine.find_and_update(&collection, &update(Find::new(equal("a", 3)), false))).unwrap();
    assert_eq!(uses(&kit), (3, 6));
    ready(engine.remove(&collection, &Find::new(equal("a", 3)), true, &context())).unwrap();
    assert_eq!(uses(&kit), (3, 7));
    ready(engine.find_and_remove(&collection, &Find::new(equal("_id", 1)), &context())).unwrap();
    assert_eq!(uses(&kit), (4, 7));
    let mut explained = kit.begin_query(Plan::new(equal("a", 4)));
    explained.leave_uncounted();
    let all = BatchLimit { documents: usize::MAX, bytes: usize::MAX };
    assert_eq!(ready(explained.next_batch(all)).unwrap().documents.len(), 10);
    assert_eq!(uses(&kit), (4, 7), "a run that explains");
}

#[test]
fn a_walk_in_the_order_of_the_id_uses_its_index() {
    let kit = kit();
    let stages = vec![Stage::Sort { sort: sort_by("_id", true), limit: Some(3) }];
    let plan = Plan::new(Filter::always()).with_stages(stages);
    let found = ready(find_all(kit.engine.clone(), kit.namespace(), plan)).unwrap();
    assert_eq!((ids_of(&found), uses(&kit)), (vec![99, 98, 97], (1, 0)));
}

#[test]
fn later_batches_and_walks_that_begin_again_count_no_more() {
    let kit = kit();
    let mut cursor = kit.begin_query(Plan::new(equal("a", 3)));
    let two = BatchLimit { documents: 2, bytes: usize::MAX };
    while !ready(cursor.next_batch(two)).unwrap().done {
        assert_eq!(uses(&kit), (0, 1));
    }
}

/// An extension is stamped before a deadline and published after it: a scan that reaches that
/// document cannot decide whether it has expired, waits, and restarts with another plan.
#[test]
fn a_read_that_begins_again_counts_once() {
    let kit = kit();
    kit.set_default(Some(-1));
    kit.insert(doc! { "_id": 1000, "a": 5, "ttl": 10 }).unwrap();
    kit.move_to(9_999);
    kit.store.gate().shut();
    let renewed = doc! { "_id": 1000, "a": 5, "ttl": 99 };
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let mut renewal = Task::new(replace_one(engine, collection, renewed, false));
    assert!(renewal.poll().is_none());
    kit.move_to(10_000);
    let mut scan =
        Task::new(find_all(kit.engine.clone(), kit.namespace(), Plan::new(equal("a", 5))));
    assert!(scan.poll().is_none(), "it waits");
    assert_eq!(uses(&kit), (1, 1), "the walk was begun");
    kit.store.gate().open();
    assert_eq!(renewal.finish().unwrap().modified, 1);
    assert_eq!(scan.finish().unwrap().len(), 11);
    assert_eq!(uses(&kit), (1, 1));
}

#[test]
fn a_write_that_is_refused_and_looks_again_counts_once() {
    let kit = kit();
    kit.store.turnstile().stop_nth(3);
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let mut removal = Task::new(async move {
        engine.remove(&collection, &Find::new(equal("a", 3)), true, &context()).await
    });
    assert!(removal.poll().is_none(), "it has found some");
    // All matching documents are rewritten in between, and one of them no longer matches.
    for id in (3..100).step_by(10) {
        kit.replace(doc! { "_id": id, "a": if id == 3 { 4 } else { 3 } }, false).unwrap();
    }
    let before = uses(&kit);
    kit.store.turnstile().open();
    assert_eq!(removal.finish().unwrap().count, 9);
    assert_eq!((before, uses(&kit)), ((10, 1), (10, 1)));
}

#[test]
fn a_stage_that_reads_another_collection_for_each_row_counts_once() {
    let kit = kit();
    let other = Namespace::new("db", "t");
    let (joined, _) = ready(kit.engine.ensure_collection(Model::Documents, &other)).unwrap();
    ready(kit.engine.create_indexes(&joined, vec![plain_index("a")])).unwrap();
    for id in 0..10 {
        let inserted =
            ready(insert_one(kit.engine.clone(), Arc::clone(&joined), doc! { "_id": id, "a": id }));
        assert_eq!(inserted.unwrap().count, 1);
    }
    let lookup = |name: &str, from: &str, to: &str| {
        Stage::Lookup(Box::new(Lookup {
            database: None,
            collection: "t".into(),
            name: Path::new(name),
            join: Some((Path::new(from), Path::new(to))),
            variables: Vec::new(),
            stages: Vec::new().into(),
        }))
    };
    let stages = vec![lookup("x", "a", "a"), lookup("y", "b", "_id"), lookup("z", "_id", "a")];
    let plan = Plan::new(compare("a", Comparison::Lt, 5)).with_stages(stages);
    let found = ready(find_all(kit.engine.clone(), kit.namespace(), plan)).unwrap();
    assert_eq!((found.len(), uses(&kit)), (50, (0, 1)));
    let id = joined.state().record.index_named("a_1").unwrap().id;
    let counts = [ID_INDEX, id].map(|id| joined.index_usage(id).unwrap().count);
    assert_eq!(counts, [1, 1]);
}

#[test]
fn uses_stay_with_the_index_and_begin_anew_with_a_new_one() {
    let mut kit = kit();
    let find = |kit: &Kit| kit.find_documents(equal("a", 3), Hint::None).unwrap().len();
    let since = |kit: &Kit| {
        let usage = |id| kit.collection().index_usage(id).unwrap().since_ms - START_MS;
        (usage(ID_INDEX), usage(id_of(kit, "a_1")))
    };
    kit.move_to(5_000);
    assert_eq!((find(&kit), uses(&kit), since(&kit)), (10, (0, 1), (0, 0)));
    // Changes of the record that keep the index.
    kit.create_index(plain_index("b")).unwrap();
    kit.change_index("a_1", 3600);
    kit.set_default(Some(100_000));
    kit.insert(doc! { "_id": 1000, "a": array![1, 2] }).unwrap();
    assert_eq!((uses(&kit), since(&kit)), ((0, 1), (0, 0)));
    let moved = Namespace::new("db", "moved");
    let (engine, model) = (kit.engine.clone(), Model::Documents);
    ready(engine.rename_collection(model, &kit.namespace(), &moved, false)).unwrap();
    ready(engine.rename_collection(model, &moved, &kit.namespace(), false)).unwrap();
    assert_eq!((uses(&kit), since(&kit)), ((0, 1), (0, 0)));
    let dropped = id_of(&kit, "a_1");
    kit.drop_index("a_1");
    assert_eq!(kit.collection().index_usage(dropped), None);
    kit.create_index(plain_index("a")).unwrap();
    assert_eq!((uses(&kit), since(&kit)), ((0, 0), (0, 5_000)));
    find(&kit);
    kit.find_documents(equal("_id", 3), Hint::None).unwrap();
    assert_eq!(uses(&kit), (1, 1));
    kit.move_to(7_000);
    kit.restart();
    assert_eq!((uses(&kit), since(&kit)), ((0, 0), (7_000, 7_000)));
}

#[test]
fn what_expires_and_is_reaped_uses_no_index() {
    let mut kit = kit();
    kit.change_index("a_1", 10);
    for id in 0..50 {
        let at = Value::DateTime(START_MS + i64::from(id));
        kit.replace(doc! { "_id": id, "a": at }, false).unwrap();
    }
    let before = uses(&kit);
    kit.move_to(20_000);
    kit.reap_all();
    assert_eq!(kit.live_amount().documents, 50);
    assert_eq!((before, uses(&kit)), ((50, 0), (50, 0)));
}

#[test]
fn each_of_several_at_once_counts() {
    let kit = kit();
    let (readers, rounds) = (4, 200);
    std::thread::scope(|threads| {
        for _ in 0..readers {
            let (engine, namespace) = (kit.engine.clone(), kit.namespace());
            threads.spawn(move || {
                for _ in 0..rounds {
                    let plan = Plan::new(equal("a", 3));
                    let found = ready(find_all(engine.clone(), namespace.clone(), plan));
                    assert_eq!(found.unwrap().len(), 10);
                }
            });
        }
    });
    assert_eq!(uses(&kit), (0, readers * rounds));
}
