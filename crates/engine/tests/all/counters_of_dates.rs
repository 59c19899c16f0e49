//! With a single date index, the exact count of live documents comes from the counters, and
//! compacted documents are removed from the counters.

use std::time::Duration;

use document::{Document, Value, array, doc};
use engine::{Amount, Hint, IndexSpec, Model, Namespace};
use pipeline::Filter;
use store::{Direction, KeyRange, Limit, Space, Store as _};
use test_kit::{Kit, START_MS, date_index, ready};

fn at(ms: i64) -> Value {
    Value::DateTime(START_MS + ms)
}

fn scanned(kit: &Kit) -> Amount {
    let found = kit.find_documents(Filter::always(), Hint::None).expect("found");
    let bytes = found.iter().map(|body| body.to_buf().bytes().len() as i64).sum();
    Amount { documents: found.len() as i64, bytes }
}

/// Returns the amount of live documents, and how many row reads counting them took.
fn counted(kit: &Kit) -> (Amount, u64) {
    let before = kit.store.turnstile().row_reads();
    (kit.live_amount(), kit.store.turnstile().row_reads() - before)
}

/// Returns the number of buckets in the counters of all collections.
fn sums(kit: &Kit) -> usize {
    let limit = Limit { rows: usize::MAX, bytes: usize::MAX };
    let snapshot = kit.store.snapshot();
    let page = ready(snapshot.scan(Space::Counts, &KeyRange::all(), Direction::Forward, limit));
    page.expect("counts").rows.iter().filter(|(key, _)| key[4] == b's').count()
}

fn random(rng: &mut fastrand::Rng, id: i32, now_ms: i64) -> Document {
    let mut date = || {
        let off = [rng.i64(-3_000..3_000), rng.i64(-90_000..90_000), rng.i64(-1..2)];
        at(now_ms + off[rng.usize(0..3)])
    };
    let dates = [date(), date(), date()];
    let mut out = doc! { "_id": id, "text": "x".repeat(rng.usize(0..9)) };
    match rng.u8(0..8) {
        0 => {}
        1 => out.push("d", "never"),
        2 | 3 => out.push("d", Value::Array(dates.to_vec())),
        _ => out.push("d", dates[0].clone()),
    }
    out
}

fn expiring(descending: bool, seconds: i64) -> IndexSpec {
    let mut spec = date_index("d", seconds);
    spec.key[0].1 = descending;
    spec
}

#[test]
fn counts_by_one_date_index_are_those_of_a_scan() {
    for seed in 0..150 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut kit = Kit::default();
        let made = rng.i32(0..20);
        for id in 0..rng.i32(20..60) {
            if id == made {
                kit.create_index(expiring(rng.bool(), rng.i64(0..20))).unwrap();
            }
            kit.replace(random(&mut rng, id % 25, kit.now_ms()), true).unwrap();
            kit.move_to(kit.now_ms() + [0, 1, 700, 999, 64_000][rng.usize(0..5)]);
            match rng.u8(0..12) {
                0 | 1 => kit.reap_all(),
                2 => kit.restart(),
                3 | 4 => drop(kit.remove_by_id(rng.i32(0..25))),
                5 if made < id => kit.change_index("d_1", rng.i64(0..100)),
                _ => {}
            }
            assert_eq!(kit.live_amount(), scanned(&kit), "seed {seed} document {id}");
        }
        let forecast = ready(kit.engine.forecast_collection(&kit.collection())).unwrap();
        assert_eq!(forecast.live, scanned(&kit), "seed {seed}");
        kit.move_to(kit.now_ms() + 3_600_000);
        let left = Amount {
            documents: forecast.live.documents - forecast.expires_within.hour.documents,
            bytes: forecast.live.bytes - forecast.expires_within.hour.bytes,
        };
        assert_eq!(scanned(&kit), left, "seed {seed}");
    }
}

#[test]
fn only_the_second_on_the_edge_is_looked_at_row_by_row() {
    let kit = Kit::default();
    kit.create_index(date_index("d", 10)).unwrap();
    for id in 0..50 {
        kit.insert(doc! { "_id": id, "d": at(i64::from(id) * 500) }).unwrap();
    }
    kit.move_to(15_000);
    // Dates up to 5,000 ms have expired, and 5,500 ms is in the same second as the last of them.
    assert_eq!(counted(&kit), (scanned(&kit), 1));
    assert_eq!(scanned(&kit).documents, 39);
    kit.move_to(15_999);
    assert_eq!(counted(&kit), (scanned(&kit), 0));
}

#[test]
fn after_a_longer_rule_headers_are_walked_until_it_has_caught_up() {
    let kit = Kit::default();
    kit.create_index(date_index("d", 1)).unwrap();
    for (id, ms) in [(1, 0), (2, 9_500), (3, 60_000)] {
        kit.insert(doc! { "_id": id, "d": at(ms) }).unwrap();
    }
    kit.move_to(10_999);
    kit.change_index("d_1", 20);
    kit.insert(doc! { "_id": 4, "d": at(1) }).unwrap();
    assert_eq!(kit.all_ids(), [3, 4]);
    let (live, reads) = counted(&kit);
    assert_eq!((live, 0 < reads), (scanned(&kit), true));
    kit.move_to(29_999);
    assert_eq!(kit.all_ids(), [3]);
    assert_eq!(counted(&kit), (scanned(&kit), 0));
}

#[test]
fn what_was_compacted_away_leaves_the_counters_and_counts_stay_true() {
    for dates in [false, true] {
        let mut kit = Kit::default();
        match dates {
            true => kit.create_index(date_index("d", 10)).unwrap(),
            false => kit.set_default(Some(10)),
        }
        for id in 0..30 {
            kit.move_to(i64::from(id) * 1_000);
            kit.insert(doc! { "_id": id, "d": at(i64::from(id) * 1_000) }).unwrap();
        }
        kit.insert(doc! { "_id": 100, "d": array![], "ttl": -1 }).unwrap();
        assert_eq!(kit.live_amount(), scanned(&kit));
        kit.reap_all();
        let held = sums(&kit);
        assert_eq!(kit.live_amount(), scanned(&kit), "dates: {dates}");
        kit.move_to(200_000);
        kit.reap_all();
        assert!(0 < held && sums(&kit) == 0, "dates: {dates}: {held} sums, then {}", sums(&kit));
        assert_eq!(
            (kit.live_amount(), kit.live_amount().documents),
            (scanned(&kit), 1),
            "dates: {dates}"
        );
        kit.restart();
        kit.insert(doc! { "_id": 1, "d": at(200_000) }).unwrap();
        assert_eq!(
            (kit.live_amount(), kit.live_amount().documents),
            (scanned(&kit), 2),
            "dates: {dates}"
        );
    }
}

#[test]
fn an_old_date_written_after_the_counters_were_trimmed_is_counted() {
    let mut kit = Kit::default();
    kit.create_index(date_index("d", 10)).unwrap();
    kit.insert(doc! { "_id": 1, "d": at(0) }).unwrap();
    kit.move_to(20_000);
    kit.reap_all();
    kit.change_index("d_1", 1_000);
    kit.insert(doc! { "_id": 1, "d": at(0) }).unwrap();
    kit.insert(doc! { "_id": 2, "d": at(-500) }).unwrap();
    assert_eq!((kit.live_amount(), kit.all_ids()), (scanned(&kit), vec![1, 2]));
    kit.reap_all();
    assert_eq!(kit.remove_by_id(2), 1);
    assert_eq!((kit.live_amount(), kit.all_ids()), (scanned(&kit), vec![1]));
    kit.move_to(1_000_500);
    assert_eq!((kit.live_amount(), kit.all_ids()), (scanned(&kit), vec![]));
}

#[test]
fn counts_of_a_dropped_collection_are_removed() {
    let mut kit = Kit::default();
    kit.set_default(Some(10));
    kit.insert(doc! { "_id": 1 }).unwrap();
    let other = Namespace::new("db", "other");
    let (collection, _) = ready(kit.engine.ensure_collection(Model::Documents, &other)).unwrap();
    let key = collection.id.to_be_bytes();
    let held = |kit: &Kit| {
        let limit = Limit { rows: usize::MAX, bytes: usize::MAX };
        let snapshot = kit.store.snapshot();
        let range = KeyRange::with_prefix(&key);
        let page = ready(snapshot.scan(Space::Counts, &range, Direction::Forward, limit));
        page.expect("counts").rows.len()
    };
    let inserted = test_kit::insert_one(kit.engine.clone(), collection, doc! { "_id": 1 });
    assert_eq!(ready(inserted).unwrap().count, 1);
    assert_eq!(held(&kit), 1);
    ready(kit.engine.drop_collection(Model::Documents, &other)).unwrap();
    assert_eq!(held(&kit), 0);
    assert_eq!(kit.live_amount().documents, 1);
    // Remains of a crash are removed at the next start.
    let left = store::Mutation::Add {
        space: Space::Counts,
        key: [&key[..], b"c\0"].concat().into(),
        by: [3, 3],
    };
    ready(kit.store.commit(vec![store::Commit::new(Vec::new(), |_| vec![left])])).unwrap();
    assert_eq!(held(&kit), 1);
    kit.restart();
    assert_eq!(held(&kit), 0);
    assert_eq!((kit.live_amount(), kit.live_amount().documents), (scanned(&kit), 1));
}

#[test]
fn the_oldest_expired_is_as_old_as_the_first_expiration_that_was_not_compacted_away() {
    let oldest = |kit: &Kit| {
        let forecast =
            ready(kit.engine.forecast_collection(&kit.collection())).expect("a forecast");
        forecast.unreaped.oldest_expired_seconds
    };
    for dates in [false, true] {
        let mut kit = Kit::default();
        match dates {
            true => kit.create_index(date_index("d", 10)).unwrap(),
            false => kit.set_default(Some(10)),
        }
        kit.insert(doc! { "_id": 1, "d": at(0) }).unwrap();
        kit.insert(doc! { "_id": 2, "d": at(0), "ttl": -1 }).unwrap();
        kit.insert(doc! { "_id": 3, "d": at(30_000), "ttl": 40 }).unwrap();
        kit.move_to(9_999);
        assert_eq!(oldest(&kit), 0);
        kit.move_to(17_000);
        assert_eq!(oldest(&kit), 7, "dates: {dates}");
        ready(kit.engine.reap_once(Duration::from_secs(1))).expect("a pass");
        let backlog = kit.engine.reap_backlog();
        assert_eq!(
            (backlog.amount.documents, backlog.oldest_expired_seconds),
            (1 + i64::from(dates), 7)
        );
        kit.restart();
        assert_eq!(oldest(&kit), 7, "dates: {dates}");
        kit.reap_all();
        assert_eq!(oldest(&kit), 0, "dates: {dates}");
        kit.move_to(45_000);
        assert_eq!(oldest(&kit), 5, "dates: {dates}");
    }
}
