//! Counts equal those of a scan, and forecasts and previews predict the later expirations, at any
//! time of enabling TTL and with any concurrent writes.

use document::{Document, Value, doc};
use engine::{Amount, Forecast};
use test_kit::{Kit, START_MS, Task, date_index, default_ttl, ready};

fn random(rng: &mut fastrand::Rng, id: i32) -> Document {
    let mut out = doc! { "_id": id, "text": "x".repeat(rng.usize(0..9)) };
    match rng.u8(0..4) {
        0 => out.push("ttl", -1),
        1 => out.push("ttl", [2, 90, 4_000, 100_000, 700_000][rng.usize(0..5)]),
        _ => {}
    }
    out
}

fn scanned(kit: &Kit) -> Amount {
    let found = kit.find_documents(pipeline::Filter::always(), engine::Hint::None).expect("found");
    let bytes = found.iter().map(|body| body.to_buf().bytes().len() as i64).sum();
    Amount { documents: found.len() as i64, bytes }
}

fn minus(a: Amount, b: Amount) -> Amount {
    Amount { documents: a.documents - b.documents, bytes: a.bytes - b.bytes }
}

fn forecast(kit: &Kit) -> Forecast {
    let forecast = ready(kit.engine.forecast_collection(&kit.collection())).expect("a forecast");
    assert_eq!(forecast.live, scanned(kit));
    forecast
}

#[test]
fn forecasts_and_previews_say_what_then_expires() {
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut kit = Kit::default();
        for id in 0..rng.i32(5..40) {
            if id == 10 {
                let default =
                    [None, Some(-1), Some(50), Some(5_000), Some(90_000)][rng.usize(0..5)];
                kit.set_default(default);
            }
            kit.replace(random(&mut rng, id % 25), true).unwrap();
            kit.move_to(kit.now_ms() + [0, 1, 700, 64_000, 5_000_000][rng.usize(0..5)]);
            if rng.u8(0..6) == 0 {
                kit.reap_all();
            }
            if rng.u8(0..6) == 0 {
                kit.remove_by_id(rng.i32(0..25));
            }
            assert_eq!(kit.live_amount(), scanned(&kit), "seed {seed}");
        }
        let next = [None, Some(-1), Some(3), Some(4_000)][rng.usize(0..4)];
        let preview =
            ready(kit.engine.preview_default(&kit.collection(), default_ttl(next))).unwrap();
        let before = scanned(&kit);
        kit.set_default(next);
        assert_eq!(minus(before, scanned(&kit)), preview.expires_now, "seed {seed}");
        let told = forecast(&kit);
        assert_eq!(told.expires_within, preview.expires_within, "seed {seed}");
        let (start, before) = (kit.now_ms(), scanned(&kit));
        for (seconds, amount) in [
            (3_600, told.expires_within.hour),
            (86_400, told.expires_within.day),
            (604_800, told.expires_within.week),
        ] {
            kit.move_to(start + seconds * 1_000);
            assert_eq!(minus(before, scanned(&kit)), amount, "seed {seed} {seconds} s");
            kit.restart();
            assert_eq!(kit.live_amount(), scanned(&kit), "seed {seed}");
        }
    }
}

#[test]
fn previews_of_a_date_index_say_what_a_change_of_its_time_does() {
    for (from, to) in [(100, 10), (10, 100), (50, 50), (0, 5), (7_000, 0)] {
        let kit = Kit::default();
        kit.create_index(date_index("d", from)).unwrap();
        let start = kit.now_ms();
        for id in 0..60 {
            let date = Value::DateTime(START_MS + start + i64::from(id) * 2_000);
            kit.insert(doc! { "_id": id, "d": date }).unwrap();
        }
        kit.move_to(start + 60_000);
        let collection = kit.collection();
        let preview = ready(kit.engine.preview_date_index(&collection, "d_1", to)).unwrap();
        let before = scanned(&kit);
        kit.change_index("d_1", to);
        assert_eq!(minus(before, scanned(&kit)), preview.expires_now, "{from} to {to}");
        assert_eq!(forecast(&kit).expires_within, preview.expires_within, "{from} to {to}");
        for missing in ["_id_", "e_1"] {
            let refused = ready(kit.engine.preview_date_index(&collection, missing, to));
            let want = engine::ErrorSubject::Index(missing.to_owned());
            assert_eq!(refused.unwrap_err().kind, engine::Kind::NotFound(want));
        }
    }
}

/// Enables TTL, and stops while existing rows are being added to the counters.
fn building(kit: &Kit) -> Task<Result<(), engine::Error>> {
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    kit.store.turnstile().stop_nth(1);
    let mut task =
        Task::new(async move { engine.set_default_ttl(&collection, default_ttl(Some(10))).await });
    assert!(task.poll().is_none());
    task
}

fn with_two() -> Kit {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 1 }).expect("inserted");
    kit.insert(doc! { "_id": 2, "ttl": 20 }).expect("inserted");
    kit
}

#[test]
fn writers_and_other_changes_during_the_building_of_the_counters_are_counted_once() {
    let mut kit = with_two();
    let task = building(&kit);
    kit.insert(doc! { "_id": 3 }).unwrap();
    kit.replace(doc! { "_id": 1, "v": 1 }, false).unwrap();
    kit.set_default(Some(10));
    kit.create_index(date_index("d", 5)).unwrap();
    kit.drop_index("d_1");
    kit.move_to(10_000);
    kit.reap_all();
    assert_eq!(kit.live_amount(), scanned(&kit));
    kit.store.turnstile().open();
    task.finish().unwrap();
    assert_eq!((kit.live_amount(), kit.live_amount().documents), (scanned(&kit), 1));
    kit.move_to(20_000);
    kit.reap_all();
    assert_eq!(kit.live_amount(), Amount::default());
}

#[test]
fn counters_begun_again_do_not_count_the_expired_that_were_written_over() {
    let mut kit = with_two();
    drop(building(&kit));
    kit.move_to(10_000);
    kit.insert(doc! { "_id": 1 }).unwrap();
    kit.restart();
    assert_eq!((kit.live_amount(), kit.live_amount().documents), (scanned(&kit), 2));
    kit.move_to(20_000);
    kit.restart();
    assert_eq!(kit.live_amount(), Amount::default());
}

#[test]
fn a_fully_expired_collection_gives_its_space_back() {
    let mut kit = Kit::default();
    kit.set_default(Some(10));
    kit.create_index(test_kit::plain_index("a")).unwrap();
    for id in 0..200 {
        kit.insert(doc! { "_id": id, "a": id, "d": Value::DateTime(START_MS) }).unwrap();
    }
    kit.move_to(9_999);
    let before = (kit.row_bytes(), kit.entry_bytes());
    kit.reap_all();
    assert_eq!((kit.row_bytes(), kit.entry_bytes()), before);
    kit.move_to(10_000);
    kit.reap_all();
    assert_eq!((kit.row_bytes(), kit.entry_bytes()), (0, 0));
}
