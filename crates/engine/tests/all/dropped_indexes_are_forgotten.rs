//! What a dropped index leaves in the catalog is removed once nothing older is on disk, without
//! making documents that it expired reappear.

use std::time::Duration;

use document::{Value, doc};
use engine::{BatchLimit, Hint, Plan};
use pipeline::Filter;
use test_kit::{Kit, START_MS, Task, date_index, equal, ids_of, plain_index, ready};

fn at(ms: i64) -> Value {
    Value::DateTime(START_MS + ms)
}

/// Returns the number of date rules and of dropped index ids in the catalog.
fn kept(kit: &Kit) -> (usize, usize) {
    let state = kit.collection().state();
    (state.record.settings.dates.len(), state.record.dropped.len())
}

#[track_caller]
fn check(kit: &Kit, want: &[i64]) {
    assert_eq!(kit.all_ids(), want);
    assert_eq!(kit.live_amount().documents, want.len() as i64);
    let checked = ready(kit.engine.check_collection(&kit.collection())).expect("checked");
    assert_eq!(checked.differences.count, 0);
}

/// Document 1 was expired by a date index that was then dropped; 2 outlives it; 3 has no date.
fn kit() -> Kit {
    let kit = Kit::default();
    kit.create_index(date_index("d", 10)).expect("an index");
    kit.insert(doc! { "_id": 1, "d": at(0), "e": at(0) }).expect("inserted");
    kit.insert(doc! { "_id": 2, "d": at(1), "e": at(90_000) }).expect("inserted");
    kit.insert(doc! { "_id": 3 }).expect("inserted");
    kit.move_to(10_000);
    kit.drop_index("d_1");
    assert_eq!(kept(&kit), (1, 1));
    kit
}

#[test]
fn after_a_compaction_nothing_is_kept_of_a_dropped_date_index() {
    let mut kit = kit();
    check(&kit, &[2, 3]);
    kit.reap_all();
    assert_eq!((kept(&kit), kit.entry_bytes()), ((0, 0), 0));
    check(&kit, &[2, 3]);
    kit.restart();
    check(&kit, &[2, 3]);
    kit.insert(doc! { "_id": 1, "d": at(0) }).expect("inserted");
    check(&kit, &[1, 2, 3]);
    // The counters of another rule do not include what the removed rule expired.
    kit.create_index(date_index("e", 100)).expect("an index");
    check(&kit, &[1, 2, 3]);
    kit.move_to(190_000);
    check(&kit, &[1, 3]);
}

#[test]
fn what_a_forgotten_rule_made_expire_is_not_found_in_memory() {
    let mut kit = Kit::default();
    kit.create_index(date_index("d", 10)).expect("an index");
    kit.insert(doc! { "_id": 1, "d": at(0) }).expect("inserted");
    let by_id =
        |kit: &Kit| ids_of(&kit.find_documents(equal("_id", 1), Hint::None).expect("found"));
    for _ in 0..3 {
        // The row is read often enough to be cached.
        assert_eq!(by_id(&kit), [1]);
    }
    kit.move_to(10_000);
    kit.drop_index("d_1");
    kit.reap_all();
    kit.reap_all();
    // Both the rule, which had expired the row, and the row are removed.
    assert_eq!((kept(&kit), kit.row_bytes()), ((0, 0), 0));
    assert_eq!(by_id(&kit), [0; 0]);
    check(&kit, &[]);
}

#[test]
fn a_rule_beside_a_forgotten_one_counts_by_counters_again() {
    let mut kit = Kit::default();
    kit.create_index(date_index("d", 10)).expect("an index");
    kit.create_index(date_index("e", 10)).expect("an index");
    for id in 0..40 {
        let (d, e) = (at(i64::from(id) * 500), at(60_000 - i64::from(id) * 500));
        kit.insert(doc! { "_id": id, "d": d, "e": e }).expect("inserted");
    }
    kit.move_to(20_000);
    kit.drop_index("d_1");
    for _ in 0..3 {
        kit.reap_all();
        let live = kit.all_ids();
        check(&kit, &live);
    }
    assert_eq!(kept(&kit), (1, 0));
    let before = kit.store.turnstile().row_reads();
    kit.live_amount();
    assert_eq!(kit.store.turnstile().row_reads(), before, "no header is walked");
    for ms in [55_000, 60_499, 65_250, 80_000] {
        kit.move_to(ms);
        let live = kit.all_ids();
        check(&kit, &live);
    }
    check(&kit, &[]);
}

#[test]
fn a_plain_index_is_forgotten_too_and_its_id_is_not_used_again() {
    let mut kit = Kit::default();
    kit.create_index(plain_index("a")).expect("an index");
    kit.insert(doc! { "_id": 1, "a": 1 }).expect("inserted");
    let id = kit.collection().state().record.indexes[0].id;
    kit.drop_index("a_1");
    kit.reap_all();
    kit.reap_all();
    assert_eq!((kept(&kit), kit.entry_bytes()), ((0, 0), 0));
    kit.create_index(plain_index("a")).expect("an index");
    assert!(id < kit.collection().state().record.indexes[0].id);
    check(&kit, &[1]);
}

#[test]
fn an_open_view_that_still_reads_by_the_index_keeps_it() {
    let mut kit = Kit::default();
    kit.create_index(date_index("d", 10)).expect("an index");
    kit.insert(doc! { "_id": 1, "d": at(0) }).expect("inserted");
    kit.insert(doc! { "_id": 2, "d": at(1) }).expect("inserted");
    let mut cursor = kit.begin_query(Plan::new(Filter::always()));
    kit.store.turnstile().stop_nth(1);
    let all = BatchLimit { documents: usize::MAX, bytes: usize::MAX };
    let mut task = Task::new(async move { cursor.next_batch(all).await });
    assert!(task.poll().is_none());
    kit.move_to(10_000);
    kit.drop_index("d_1");
    kit.reap_all();
    kit.reap_all();
    assert_eq!(kept(&kit), (1, 1));
    kit.store.turnstile().open();
    assert_eq!(task.finish().expect("a batch").documents.len(), 2);
    kit.reap_all();
    kit.reap_all();
    assert_eq!(kept(&kit), (0, 0));
    check(&kit, &[2]);
}

#[test]
fn an_end_at_any_read_of_the_reaper_changes_no_answer() {
    let mut stopped = 0;
    loop {
        let mut kit = kit();
        stopped += 1;
        kit.store.turnstile().stop_nth(stopped);
        let engine = kit.engine.clone();
        let mut pass = Task::new(async move { engine.reap_once(Duration::from_secs(1)).await });
        let done = pass.poll().is_some();
        drop(pass);
        kit.restart();
        check(&kit, &[2, 3]);
        kit.reap_all();
        assert_eq!(kept(&kit), (0, 0));
        check(&kit, &[2, 3]);
        if done {
            break;
        }
    }
    assert!(10 < stopped, "{stopped}");
}
