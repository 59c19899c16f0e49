//! The snapshots of an operation end, at each of its reads in turn, since the store is reopened or
//! because old versions use too much disk space. The results are the same; only cursors fail in the
//! second case.

use document::{Document, doc};
use engine::{BatchLimit, DefaultTtl, Find, Hint, ItemAction, ItemRange};
use pipeline::{Filter, exec::Stage};
use test_kit::{Kit, context, date_index, equal, plain_index, ready, sort_by, unique_index};

use crate::items::{Shelf, key};

/// Upper bound of an operation's number of reads.
const MOST_READS: u64 = 500;

/// Runs an operation once for each of its reads, each time in a new `world`, and ends the snapshots
/// at that read. Compares the result and the final state with those of an undisturbed run.
struct Runs<W> {
    world: fn() -> W,
    kit: fn(&W) -> &Kit,
    state: fn(&W) -> String,
}

impl<W> Runs<W> {
    /// Compares runs in which the store is reopened.
    fn reopened(&self, name: &str, operation: &dyn Fn(&W) -> String) {
        self.compare(name, operation, false);
    }

    /// Compares runs in which the store is reopened, and runs in which views are ended.
    fn ended(&self, name: &str, operation: &dyn Fn(&W) -> String) {
        self.compare(name, operation, false);
        self.compare(name, operation, true);
    }

    fn compare(&self, name: &str, operation: &dyn Fn(&W) -> String, for_space: bool) {
        let undisturbed = (self.world)();
        let wanted = (operation(&undisturbed), (self.state)(&undisturbed));
        for nth in 1..MOST_READS {
            let world = (self.world)();
            let turnstile = (self.kit)(&world).store.turnstile();
            turnstile.end_snapshots_at(nth, for_space);
            let found = operation(&world);
            let ended = turnstile.keep_snapshots();
            let found = (found, (self.state)(&world));
            assert_eq!(found, wanted, "{name}, ended at read {nth}, for space: {for_space}");
            if !ended {
                assert!(1 < nth, "{name} reads nothing");
                return;
            }
        }
        panic!("{name} does not come to an end");
    }
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
    let state = |kit: &Kit| format!("{:?}", all_of(kit));
    let runs = Runs { world: documents, kit: |kit| kit, state };
    runs.reopened("find", &|kit| format!("{:?}", kit.find_documents(Filter::always(), Hint::None)));
    runs.reopened("find by id", &|kit| {
        format!("{:?}", kit.find_documents(equal("_id", 5), Hint::None))
    });
    runs.reopened("find by index", &|kit| format!("{:?}", kit.ids_by("a_1")));
    runs.reopened("sort and batches", &|kit| {
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
    runs.ended("insert", &|kit| {
        let done = kit.insert(doc! { "_id": 20, "a": 1, "u": 20 });
        format!("{done:?}")
    });
    runs.ended("insert what exists", &|kit| format!("{:?}", kit.insert(doc! { "_id": 8 })));
    runs.ended("insert what expired", &|kit| {
        format!("{:?}", kit.insert(doc! { "_id": 1, "u": 1 }))
    });
    runs.ended("replace", &|kit| {
        let done = kit.replace(doc! { "_id": 6, "a": 66, "u": 66 }, false);
        format!("{:?}", done.map(|done| done.matched))
    });
    runs.ended("upsert", &|kit| {
        let done = kit.replace(doc! { "_id": 66, "a": 66 }, true);
        format!("{:?}", done.map(|done| done.matched))
    });
    runs.ended("find and replace", &|kit| {
        let edited = kit.find_and_replace(doc! { "_id": 7, "a": 0 }).unwrap();
        format!("{:?}", edited.before)
    });
    runs.ended("remove many", &|kit| {
        let (collection, all, context) = (kit.collection(), Find::new(Filter::always()), context());
        let removed = ready(kit.engine.remove(&collection, &all, true, &context));
        format!("{:?}", removed.map(|removed| removed.count))
    });
    runs.ended("count", &|kit| format!("{:?}", kit.live_amount()));
    runs.reopened("index", &|kit| {
        kit.create_index(plain_index("late")).unwrap();
        format!("{:?}", kit.ids_by("late_1"))
    });
    runs.reopened("default TTL", &|kit| {
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
    let state = |shelf: &Shelf| format!("{:?}", shelf.ids(ItemRange::all()));
    let runs = Runs { world: shelf, kit: |shelf| &shelf.kit, state };
    runs.ended("read", &|shelf| {
        let read = ready(shelf.engine().read_item(&shelf.container(), &key("p", "4")));
        format!("{:?}", read.unwrap().0)
    });
    runs.reopened("scan", &|shelf| format!("{:?}", shelf.ids(ItemRange::all())));
    runs.ended("upsert", &|shelf| {
        let done = shelf.upsert("p", "5", doc! { "u": 5, "x": 1 });
        format!("{done:?}")
    });
    runs.ended("delete", &|shelf| {
        let done = shelf.one(ItemAction::Delete, "p", "6");
        format!("{done:?}")
    });
    runs.ended("changes", &|shelf| format!("{:?}", shelf.changes(0, 2)));
}
