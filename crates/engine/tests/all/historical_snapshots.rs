//! Snapshots for reads outside of transactions: all reads see one instant, also after expirations
//! and reaping, and what cannot be decided at that instant fails.

use std::sync::Arc;

use document::{Document, doc};
use engine::{ClusterTime, Engine, Error, Hint, Kind, Plan, Transaction};
use pipeline::Filter;
use test_kit::{Kit, Task, equal, find_all, first_failure, ids_of, insert_one, plain_index, ready};

/// A snapshot and the handle of reads at it.
struct Snapshot {
    transaction: Arc<Transaction>,
    engine: Engine,
}

impl Snapshot {
    fn open(kit: &Kit) -> Self {
        let transaction = ready(kit.engine.open_historical(memory::Share::default())).unwrap();
        let engine = kit.engine.in_transaction(&transaction);
        Self { transaction, engine }
    }

    fn time(&self) -> ClusterTime {
        self.transaction.read_time().unwrap()
    }

    fn find(&self, kit: &Kit, filter: Filter, hint: Hint) -> Result<Vec<Document>, Error> {
        let plan = Plan { hint, ..Plan::new(filter) };
        ready(find_all(self.engine.clone(), kit.namespace(), plan))
    }

    fn ids(&self, kit: &Kit) -> Vec<i64> {
        ids_of(&self.find(kit, Filter::always(), Hint::None).unwrap())
    }
}

fn kit() -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(10));
    kit.create_index(plain_index("a")).unwrap();
    kit.insert(doc! { "_id": 1, "a": 1, "ttl": 5 }).unwrap();
    kit.insert(doc! { "_id": 2, "a": 2, "ttl": -1 }).unwrap();
    kit
}

#[test]
fn all_reads_see_its_instant_although_documents_expire_and_are_reaped() {
    let mut kit = kit();
    kit.move_to(4_999);
    let before = Snapshot::open(&kit);
    kit.move_to(5_000);
    let after = Snapshot::open(&kit);
    assert!(before.time() < after.time());
    // That of expirations at its instant, since no commit is newer.
    assert_eq!(after.time(), ClusterTime::of_expiration(before.time().at_ms() + 1));
    kit.insert(doc! { "_id": 3 }).unwrap();
    kit.move_to(60_000);
    kit.reap_all();
    for _ in 0..2 {
        assert_eq!((before.ids(&kit), after.ids(&kit)), (vec![1, 2], vec![2]));
        let by_index = Hint::Index("a_1".to_owned());
        assert_eq!(before.find(&kit, equal("a", 1), by_index).unwrap().len(), 1);
    }
    assert_eq!(kit.all_ids(), [2]);
    let held = kit.row_bytes();
    drop((before, after));
    kit.reap_all();
    assert!(kit.row_bytes() < held, "nothing holds the expired documents any more");
}

#[test]
fn an_ended_snapshot_is_too_old_and_holds_its_data_until_its_last_reader_ends() {
    let mut kit = kit();
    let snapshot = Snapshot::open(&kit);
    kit.move_to(60_000);
    snapshot.transaction.abort();
    kit.reap_all();
    let refused = snapshot.find(&kit, Filter::always(), Hint::None).unwrap_err();
    assert_eq!(refused.kind, Kind::ViewEnded);
    assert!(refused.message.contains("is older than the oldest available timestamp"));
}

#[test]
fn it_cannot_be_written() {
    let kit = kit();
    let snapshot = Snapshot::open(&kit);
    let collection = kit.collection();
    let written = ready(insert_one(snapshot.engine.clone(), collection, doc! { "_id": 7 }));
    assert_eq!(written.and_then(first_failure).unwrap_err().kind, Kind::Invalid);
    assert_eq!(kit.all_ids(), [1, 2]);
}

#[test]
fn it_has_every_commit_that_was_acknowledged_and_waits_for_those_in_flight() {
    let kit = kit();
    kit.move_to(4_000);
    let gate = kit.store.gate();
    gate.shut();
    let mut renewal = Task::new({
        let (engine, collection) = (kit.engine.clone(), kit.collection());
        test_kit::replace_one(engine, collection, doc! { "_id": 1, "a": 1, "ttl": 50 }, false)
    });
    assert!(renewal.poll().is_none(), "in flight");
    // At this instant the document is either expired or has been renewed in time.
    kit.move_to(5_000);
    let mut opening = Task::new({
        let engine = kit.engine.clone();
        async move { engine.open_historical(memory::Share::default()).await }
    });
    assert!(opening.poll().is_none(), "it waits");
    gate.open();
    renewal.finish().unwrap();
    let transaction = opening.finish().unwrap();
    let engine = kit.engine.in_transaction(&transaction);
    let snapshot = Snapshot { transaction, engine };
    assert_eq!(snapshot.ids(&kit), [1, 2]);
}

#[test]
fn equal_snapshots_have_the_same_commits_and_instant() {
    let kit = kit();
    let (one, other) = (Snapshot::open(&kit), Snapshot::open(&kit));
    assert!(one.transaction.is_same_snapshot(&other.transaction));
    kit.insert(doc! { "_id": 3 }).unwrap();
    let later = Snapshot::open(&kit);
    assert!(!one.transaction.is_same_snapshot(&later.transaction));
    assert!(one.time() < later.time());
    kit.move_to(kit.now_ms() + 1);
    let later_still = Snapshot::open(&kit);
    assert!(!later.transaction.is_same_snapshot(&later_still.transaction));
    assert!(later.time() < later_still.time());
}

/// Random writes, moves of the clock and passes of the reaper; each snapshot keeps showing what an
/// ordinary read saw when it was opened.
#[test]
fn snapshots_of_random_histories_stay_as_they_were() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut kit = kit();
        let mut open: Vec<(Snapshot, Vec<Document>)> = Vec::new();
        for step in 0..150 {
            let id = random.i32(0..12);
            match random.u8(0..10) {
                0..=3 => {
                    let document = match random.u8(0..4) {
                        0 => doc! { "_id": id, "a": step },
                        1 => doc! { "_id": id, "a": step, "ttl": -1 },
                        _ => doc! { "_id": id, "a": step, "ttl": random.i32(1..20) },
                    };
                    kit.replace(document, true).unwrap();
                }
                4 => {
                    kit.remove_by_id(id);
                }
                5 | 6 => kit.move_to(kit.now_ms() + random.i64(0..4_000)),
                7 => kit.reap_all(),
                _ => {
                    let seen = kit.find_documents(Filter::always(), Hint::None).unwrap();
                    open.push((Snapshot::open(&kit), seen));
                    if 5 < open.len() {
                        open.swap_remove(random.usize(0..open.len()));
                    }
                }
            }
            for (snapshot, seen) in &open {
                let found = snapshot.find(&kit, Filter::always(), Hint::None).unwrap();
                assert_eq!(found, *seen, "seed {seed}, step {step}");
                let by_index = Hint::Index("a_1".to_owned());
                let by_index = snapshot.find(&kit, Filter::always(), by_index).unwrap();
                assert_eq!(by_index.len(), seen.len(), "seed {seed}, step {step}");
            }
        }
    }
}
