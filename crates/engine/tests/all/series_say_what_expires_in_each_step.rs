//! A series predicts what expires in each step: counting at the end of each step gives the same, by
//! expiry class, by date indexes and by both, for one collection and for all.

use document::{Document, Value, doc};
use engine::{Amount, DefaultTtl, Hint, Model, Namespace, SeriesSteps};
use pipeline::Filter;
use test_kit::{Kit, START_MS, date_index, ready};

use crate::items::{Honour, body, definition, write};

fn at(ms: i64) -> Value {
    Value::DateTime(START_MS + ms)
}

fn minus(a: Amount, b: Amount) -> Amount {
    Amount { documents: a.documents - b.documents, bytes: a.bytes - b.bytes }
}

fn plus(a: Amount, b: Amount) -> Amount {
    Amount { documents: a.documents + b.documents, bytes: a.bytes + b.bytes }
}

fn sum(steps: &[Amount]) -> Amount {
    steps.iter().copied().fold(Amount::default(), plus)
}

fn scanned(kit: &Kit) -> Amount {
    let found = kit.find_documents(Filter::always(), Hint::None).expect("found");
    let bytes = found.iter().map(|body| body.to_buf().bytes().len() as i64).sum();
    Amount { documents: found.len() as i64, bytes }
}

fn random(rng: &mut fastrand::Rng, id: i32, now_ms: i64) -> Document {
    let mut out = doc! { "_id": id, "text": "x".repeat(rng.usize(0..9)) };
    match rng.u8(0..4) {
        0 => out.push("ttl", -1),
        1 => out.push("ttl", [1, 2, 9, 90, 4_000, 100_000][rng.usize(0..6)]),
        _ => {}
    }
    let dates = [now_ms + rng.i64(-4_000..20_000), now_ms + rng.i64(0..9_000_000)];
    match rng.u8(0..4) {
        0 => out.push("d", at(dates[rng.usize(0..2)])),
        1 => out.push("d", Value::Array(dates.map(at).to_vec())),
        2 => out.push("e", at(dates[rng.usize(0..2)])),
        _ => {}
    }
    out
}

/// A collection whose documents expire by a random set of rules.
fn filled(rng: &mut fastrand::Rng) -> Kit {
    let kit = Kit::default();
    if rng.bool() {
        kit.set_default([Some(-1), Some(5), Some(4_000)][rng.usize(0..3)]);
    }
    for path in ["d", "e"] {
        if rng.bool() {
            kit.create_index(date_index(path, rng.i64(0..20))).expect("an index");
        }
    }
    for id in 0..rng.i32(5..40) {
        kit.replace(random(rng, id, kit.now_ms()), true).expect("written");
        kit.move_to(kit.now_ms() + [0, 1, 700, 1_999][rng.usize(0..4)]);
    }
    if rng.u8(0..4) == 0 {
        kit.set_default([None, Some(-1), Some(300)][rng.usize(0..3)]);
    }
    kit
}

#[test]
fn what_a_step_says_expires_in_it() {
    for seed in 0..120 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let kit = filled(&mut rng);
        let seconds = [1, 3, 60, 3_600, 40_000][rng.usize(0..5)];
        let count = rng.i64(1..25);
        let asked = SeriesSteps::new(seconds, count).expect("within the limits");
        let series = ready(kit.engine.expiry_series(&kit.collection(), asked)).expect("a series");
        let all = ready(kit.engine.forecast_all(asked)).expect("an outlook");
        assert_eq!((&all.series, all.live, all.collections), (&series, scanned(&kit), 1));
        assert_eq!(series.now.ms, START_MS + kit.now_ms());
        assert_eq!(series.steps.len() as i64, count);
        for (at, step) in series.steps.iter().enumerate() {
            let before = scanned(&kit);
            kit.move_to(kit.now_ms() + seconds * 1_000);
            assert_eq!(minus(before, scanned(&kit)), *step, "seed {seed} step {at}");
        }
    }
}

#[test]
fn steps_add_up_to_the_forecast() {
    for seed in 200..260 {
        let kit = filled(&mut fastrand::Rng::with_seed(seed));
        let forecast =
            ready(kit.engine.forecast_collection(&kit.collection())).expect("a forecast");
        for (seconds, count, want) in [
            (1, 400, None),
            (60, 60, Some(forecast.expires_within.hour)),
            (3_600, 24, Some(forecast.expires_within.day)),
            (86_400, 7, Some(forecast.expires_within.week)),
            (604_800, 1, Some(forecast.expires_within.week)),
        ] {
            let asked = SeriesSteps::new(seconds, count).expect("within the limits");
            let steps =
                ready(kit.engine.expiry_series(&kit.collection(), asked)).expect("a series").steps;
            let want = want.unwrap_or_else(|| sum(&steps));
            assert_eq!(sum(&steps), want, "seed {seed}: {count} of {seconds} s");
        }
    }
}

#[test]
fn collections_of_both_doors_are_counted_together() {
    let kit = Kit::default();
    let name = Namespace::new("db", "box");
    ready(kit.engine.create_container(&name, &definition(DefaultTtl::Seconds(7)))).expect("made");
    let container = kit.engine.expect_collection(Model::Items, &name).expect("the container");
    for (id, ttl) in [("1", 2), ("2", 5), ("3", -1)] {
        let create = engine::ItemAction::Create(body("p", id, doc! { "ttl": ttl }));
        let writes = [write(create, "p", id)];
        ready(kit.engine.write_items(&container, &writes, &Honour)).expect("written");
    }
    kit.set_default(Some(-1));
    kit.insert(doc! { "_id": 1, "ttl": 5 }).expect("inserted");
    kit.insert(doc! { "_id": 2 }).expect("inserted");
    let asked = SeriesSteps::new(1, 6).expect("within the limits");
    let live = |kit: &Kit| {
        let items = ready(kit.engine.live_amount(&container)).expect("counted");
        plus(kit.live_amount(), items)
    };
    let outlook = ready(kit.engine.forecast_all(asked)).expect("an outlook");
    assert_eq!((outlook.collections, outlook.live), (2, live(&kit)));
    let documents: Vec<_> = outlook.series.steps.iter().map(|step| step.documents).collect();
    assert_eq!(documents, [0, 1, 0, 0, 2, 0]);
    for step in outlook.series.steps {
        let before = live(&kit);
        kit.move_to(kit.now_ms() + 1_000);
        assert_eq!(minus(before, live(&kit)), step);
    }
    ready(kit.engine.drop_collection(Model::Items, &name)).expect("dropped");
    let outlook = ready(kit.engine.forecast_all(asked)).expect("an outlook");
    assert_eq!((outlook.collections, outlook.live), (1, scanned(&kit)));
}

#[test]
fn a_series_is_read_from_the_counters() {
    for dates in [false, true] {
        let kit = Kit::default();
        match dates {
            true => kit.create_index(date_index("d", 10)).expect("an index"),
            false => kit.set_default(Some(10)),
        }
        for id in 0..50 {
            kit.insert(doc! { "_id": id, "d": at(i64::from(id) * 1_000) }).expect("inserted");
        }
        let asked = SeriesSteps::new(1, 400).expect("within the limits");
        let before = kit.store.turnstile().row_reads();
        let series = ready(kit.engine.expiry_series(&kit.collection(), asked)).expect("a series");
        // For dates, the rows of a second that contains a step's end are read.
        let reads = kit.store.turnstile().row_reads() - before;
        assert!(reads <= if dates { 50 } else { 0 }, "{reads} reads");
        assert_eq!(sum(&series.steps).documents, 50);
    }
}

#[test]
fn headers_are_walked_once_however_many_steps_there_are() {
    let kit = Kit::default();
    kit.create_index(date_index("d", 10)).expect("an index");
    kit.set_default(Some(1_000));
    for id in 0..20 {
        kit.insert(doc! { "_id": id, "d": at(i64::from(id) * 1_000) }).expect("inserted");
    }
    let reads = |count| {
        let before = kit.store.turnstile().row_reads();
        let asked = SeriesSteps::new(1, count).expect("within the limits");
        ready(kit.engine.expiry_series(&kit.collection(), asked)).expect("a series");
        kit.store.turnstile().row_reads() - before
    };
    assert_eq!(reads(1), reads(400));
}

#[test]
fn steps_have_limits() {
    for (seconds, count, good) in [
        (1, 1, true),
        (31_536_000, 400, true),
        (0, 1, false),
        (-1, 1, false),
        (31_536_001, 1, false),
        (1, 0, false),
        (1, -1, false),
        (1, 401, false),
        (i64::MAX, i64::MAX, false),
    ] {
        assert_eq!(SeriesSteps::new(seconds, count).is_ok(), good, "{seconds} {count}");
    }
}
