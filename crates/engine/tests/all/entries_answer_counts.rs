//! A count whose filter equals the ranges of an index reads only entries.

use document::{DocRef, Number, doc};
use engine::{BatchLimit, Cursor, Explain, ListOrdering, Plan};
use pipeline::{Filter, exec::Stage, filter::Comparison};
use test_kit::{Kit, Task, compare, equal, plain_index, ready, replace_one};

const ROWS: i32 = 1_000;

/// Documents with values from 0 to 9, and a unique second field.
fn kit() -> Kit {
    let kit = Kit::default();
    kit.create_index(plain_index("a")).unwrap();
    let documents = (0..ROWS).map(|id| {
        let document = doc! { "_id": id, "a": id % 10, "b": id };
        (document.to_buf(), expiry::Lifetime::from_ttl(None))
    });
    let documents = documents.collect();
    ready(kit.engine.insert(&kit.collection(), documents, ListOrdering::Ordered)).unwrap();
    for (at, document) in
        [doc! {}, doc! { "a": "5" }, doc! { "a": document::Value::Null }].into_iter().enumerate()
    {
        let mut held = doc! { "_id": ROWS + at as i32 };
        document.into_iter().for_each(|(name, value)| held.push(name, value));
        kit.insert(held).unwrap();
    }
    kit
}

fn counting(filter: Filter, mut before: Vec<Stage>) -> Plan {
    before.push(Stage::Count("n".into()));
    Plan::new(filter).with_stages(before)
}

const ONE: BatchLimit = BatchLimit { documents: 1, bytes: usize::MAX };

async fn counted(cursor: &mut Cursor) -> i64 {
    let batch = cursor.next_batch(ONE).await.unwrap();
    let n = batch.documents.first().and_then(|row| DocRef::Raw(row).get("n"));
    n.map_or(0, |n| Number::of(n).and_then(Number::to_i64_exact).unwrap())
}

fn count(kit: &Kit, plan: Plan) -> (i64, Explain) {
    let mut cursor = kit.begin_query(plan);
    let n = ready(counted(&mut cursor));
    (n, cursor.explain())
}

#[test]
fn no_row_is_read_for_what_the_ranges_say() {
    let kit = kit();
    let before = kit.store.turnstile().row_reads();
    for (filter, want) in [
        (equal("a", 3), 100),
        (compare("a", Comparison::Lt, 7), 700),
        (compare("a", Comparison::Gte, 2.5), 700),
        (equal("a", "5"), 1),
        (equal("a", document::Value::Null), 2),
        (Filter::And(vec![compare("a", Comparison::Gt, 1), compare("a", Comparison::Lte, 3)]), 200),
    ] {
        let (n, explain) = count(&kit, counting(filter.clone(), Vec::new()));
        assert_eq!((n, explain.counted, explain.documents_examined), (want, true, 0), "{filter:?}");
        assert_eq!(explain.keys_examined, want as u64, "{filter:?}");
    }
    let some = vec![Stage::Skip(50), Stage::Limit(300)];
    let (n, explain) = count(&kit, counting(compare("a", Comparison::Lt, 7), some));
    assert_eq!(n, 300);
    assert!(explain.keys_examined < 600, "{explain:?}");
    assert_eq!(kit.store.turnstile().row_reads(), before);
}

#[test]
fn rows_are_read_for_what_the_ranges_do_not_say() {
    let kit = kit();
    let more = Filter::And(vec![equal("a", 3), compare("b", Comparison::Lt, 500)]);
    let (n, explain) = count(&kit, counting(more, Vec::new()));
    assert_eq!((n, explain.counted, explain.documents_examined), (50, false, 100));
    kit.insert(doc! { "_id": -1, "a": document::array![3, 3, 4] }).unwrap();
    let (n, explain) = count(&kit, counting(equal("a", 3), Vec::new()));
    assert_eq!((n, explain.counted), (101, false));
}

#[test]
fn what_has_expired_is_not_counted() {
    let mut kit = kit();
    kit.set_default(Some(-1));
    for id in 0..40 {
        kit.replace(doc! { "_id": id, "a": 3, "ttl": 1 + id / 10 }, false).unwrap();
    }
    let three = || counting(equal("a", 3), Vec::new());
    for (at, want) in [(0, 136), (999, 136), (1_000, 126), (3_000, 106), (4_000, 96)] {
        kit.move_to(at);
        assert_eq!(count(&kit, three()).0, want, "at {at}");
    }
    kit.insert(doc! { "_id": 0, "a": 4 }).unwrap();
    assert_eq!(count(&kit, three()).0, 96);
    kit.reap_all();
    assert_eq!(count(&kit, three()).0, 96);
}

#[test]
fn a_count_waits_for_what_may_have_been_renewed() {
    let kit = kit();
    kit.set_default(Some(-1));
    kit.replace(doc! { "_id": 3, "a": 3, "ttl": 30 }, false).unwrap();
    kit.move_to(29_999);
    kit.store.gate().shut();
    let renewal = doc! { "_id": 3, "a": 3, "ttl": 30, "again": true };
    let mut renewal = Task::new(replace_one(kit.engine.clone(), kit.collection(), renewal, false));
    assert!(renewal.poll().is_none());
    kit.move_to(30_000);
    let mut cursor = kit.begin_query(counting(equal("a", 3), Vec::new()));
    let mut counted = Task::new(async move { counted(&mut cursor).await });
    assert!(counted.poll().is_none(), "it waits for what may have renewed it");
    kit.store.gate().open();
    renewal.finish().unwrap();
    assert_eq!(counted.finish(), 100);
}

#[test]
fn an_empty_first_batch_counts_nothing_yet() {
    let kit = kit();
    let mut cursor = kit.begin_query(counting(equal("a", 3), Vec::new()));
    let none = BatchLimit { documents: 0, bytes: usize::MAX };
    assert!(ready(cursor.next_batch(none)).unwrap().documents.is_empty());
    kit.insert(doc! { "_id": -1, "a": 3 }).unwrap();
    assert_eq!(ready(counted(&mut cursor)), 101);
}
