//! The store is reopened during an operation, at each of its reads in turn: its snapshots end, and
//! the results are the same.

use document::{Document, doc};
use engine::{BatchLimit, DefaultTtl, Find, Hint, ItemAction, ItemRange};
use pipeline::{Filter, exec::Stage};
use test_kit::{Kit, context, date_index, equal, plain_index, ready, sort_by, unique_index};

use crate::items::{Shelf, key};

/// Upper bound of an operation's number of reads.
const MOST_READS: u64 = 500;

/// Runs an operation on a new world with the reopening at each read until there are no more, and
/// compares the results with an undisturbed run.
fn assert_same<W, A: PartialEq + std::fmt::Debug>(
    name: &str,
    world: impl Fn() -> W,
    kit: impl Fn(&W) -> &Kit,
    operation: impl Fn(&W) -> A,
) {
    let wanted = operation(&world());
    for nth in 1..MOST_READS {
        let world = world();
        let turnstile = kit(&world).store.turnstile();
        turnstile.end_snapshots_at(nth);
        let found = operation(&world);
        let ended = turnstile.keep_snapshots();
        assert_eq!(found, wanted, "{name}, ended at read {nth}");
        if !ended {
            assert!(1 < nth, "{name} reads nothing");
            return;
        }
    }
    panic!("{name} does not come to an end");
}

/// Documents, some of them expired, with indexes.
fn documents() -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for index in [plain_index("a"), unique_index("u"), date_index("d", 5)] {
        kit.create_index(index).unwrap();
    }
    for id in 1..9 {
        kit.insert(doc! { "_id": id, "a": 10 - id, "u": id, "ttl": 10 * id }).unwrap();
    }
    kit.move_to(35_000);
    kit
}

fn all_of(kit: &Kit) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
    (kit.all_ids(), kit.ids_by("a_1"), kit.ids_by("u_1"))
}

#[test]
fn of_documents() {
    let same = |name: &str, operation: &dyn Fn(&Kit) -> String| {
        assert_same(name, documents, |kit| kit, operation);
    };
    same("find", &|kit| format!("{:?}", kit.find_documents(Filter::always(), Hint::None)));
    same("find by id", &|kit| format!("{:?}", kit.find_documents(equal("_id", 5), Hint::None)));
    same("find by index", &|kit| format!("{:?}", kit.ids_by("a_1")));
    same("sort and batches", &|kit| {
        let sort = Stage::Sort { sort: sort_by("u", true), limit: None };
        let plan = engine::Plan::new(Filter::always()).with_stages(vec![sort]);
        let mut cursor = kit.begin_query(plan);
        let (mut found, limit) = (Vec::new(), BatchLimit { documents: 2, bytes: usize::MAX });
        // A later batch may be short: its content is certain, and the next one retries.
        loop {
            let batch = ready(cursor.next_batch(limit)).unwrap();
            found.extend(batch.documents);
            if batch.done {
                return format!("{found:?}");
            }
        }
    });
    same("insert", &|kit| {
        let done = kit.insert(doc! { "_id": 20, "a": 1, "u": 20 });
        format!("{:?}", (done, all_of(kit)))
    });
    same("insert what exists", &|kit| format!("{:?}", kit.insert(doc! { "_id": 8 })));
    same("insert what expired", &|kit| {
        format!("{:?}", (kit.insert(doc! { "_id": 1, "u": 1 }), all_of(kit)))
    });
    same("replace", &|kit| {
        let done = kit.replace(doc! { "_id": 6, "a": 66, "u": 66 }, false);
        format!("{:?}", (done.map(|done| done.matched), all_of(kit)))
    });
    same("upsert", &|kit| {
        let done = kit.replace(doc! { "_id": 66, "a": 66 }, true);
        format!("{:?}", (done.map(|done| done.matched), all_of(kit)))
    });
    same("find and replace", &|kit| {
        let edited = kit.find_and_replace(doc! { "_id": 7, "a": 0 }).unwrap();
        format!("{:?}", (edited.before, all_of(kit)))
    });
    same("remove many", &|kit| {
        let (collection, all, context) = (kit.collection(), Find::new(Filter::always()), context());
        let removed = ready(kit.engine.remove(&collection, &all, true, &context));
        format!("{:?}", (removed.map(|removed| removed.count), all_of(kit)))
    });
    same("count", &|kit| format!("{:?}", kit.live_amount()));
    same("index", &|kit| {
        kit.create_index(plain_index("late")).unwrap();
        format!("{:?}", kit.ids_by("late_1"))
    });
    same("default TTL", &|kit| {
        kit.set_default(Some(1));
        kit.move_to(36_000);
        format!("{:?}", all_of(kit))
    });
}

/// Items, some of them expired.
fn shelf() -> Shelf {
    let shelf = Shelf::new(DefaultTtl::Infinite);
    for number in 1..7 {
        let more: Document = doc! { "u": number, "n": 10 - number, "ttl": 10 * number };
        shelf.upsert("p", &format!("{number}"), more);
    }
    shelf.kit.move_to(25_000);
    shelf
}

#[test]
fn of_items() {
    let same = |name: &str, operation: &dyn Fn(&Shelf) -> String| {
        assert_same(name, shelf, |shelf| &shelf.kit, operation);
    };
    same("read", &|shelf| {
        let read = ready(shelf.engine().read_item(&shelf.container(), &key("p", "4")));
        format!("{:?}", read.unwrap().0)
    });
    same("scan", &|shelf| format!("{:?}", shelf.ids(ItemRange::all())));
    same("upsert", &|shelf| {
        let done = shelf.upsert("p", "5", doc! { "u": 5, "x": 1 });
        format!("{:?}", (done, shelf.ids(ItemRange::all())))
    });
    same("delete", &|shelf| {
        let done = shelf.one(ItemAction::Delete, "p", "6");
        format!("{:?}", (done, shelf.ids(ItemRange::all())))
    });
    same("changes", &|shelf| format!("{:?}", shelf.changes(0, 2)));
}
