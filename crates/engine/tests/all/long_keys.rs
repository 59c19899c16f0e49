//! Values with truncated keys: sorts, limits and pages from an index follow the values.

use document::{DocRef, Document, Value, doc};
use engine::{BatchLimit, Cursor, IndexSpec, Plan};
use pipeline::{Filter, exec::Stage, filter::Comparison, sort::Sort};
use test_kit::{Kit, compare, plain_index, ready, sort_by};

/// Returns a value with this end that is longer than the part that index keys contain.
fn long(end: &str) -> String {
    "k".repeat(1200) + end
}

/// Documents with long values of a common prefix and some short values, not inserted in value
/// order.
fn kit(index: Option<IndexSpec>) -> Kit {
    let kit = Kit::default();
    for (id, value) in [
        (1, long("d")),
        (2, "a".to_owned()),
        (3, long("b")),
        (4, long("f")),
        (5, "z".to_owned()),
        (6, long("a")),
        (7, long("e")),
        (8, long("c")),
        (9, "l".to_owned()),
    ] {
        kit.insert(doc! { "_id": id, "s": value.as_str(), "n": id }).expect("inserted");
    }
    if let Some(index) = index {
        kit.create_index(index).expect("an index");
    }
    kit
}

/// The documents in value order.
const SORTED: [i64; 9] = [2, 6, 3, 8, 1, 7, 4, 9, 5];

fn plan(filter: Filter, sort: Sort, limit: Option<u64>) -> Plan {
    Plan::new(filter).with_stages(vec![Stage::Sort { sort, limit }])
}

/// Reads a batch of up to this many documents.
fn batch_of(cursor: &mut Cursor, documents: usize) -> Vec<Document> {
    let limit = BatchLimit { documents, bytes: usize::MAX };
    let batch = ready(cursor.next_batch(limit)).expect("a batch");
    batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect()
}

fn numbers(documents: &[Document]) -> Vec<i64> {
    let number = |it: &Document| match it.get("n") {
        Some(Value::Int32(n)) => i64::from(*n),
        Some(Value::Int64(n)) => *n,
        other => panic!("{other:?}"),
    };
    documents.iter().map(number).collect()
}

fn found(kit: &Kit, plan: Plan) -> Vec<i64> {
    numbers(&batch_of(&mut kit.begin_query(plan), usize::MAX))
}

#[test]
fn sorts_and_limits_are_exact() {
    for descending in [false, true] {
        let mut index = plain_index("s");
        index.key[0].1 = descending;
        let kit = kit(Some(index));
        let mut wanted = SORTED.to_vec();
        assert_eq!(found(&kit, plan(Filter::always(), sort_by("s", false), None)), wanted);
        for limit in 1..10 {
            let some = plan(Filter::always(), sort_by("s", false), Some(limit));
            assert_eq!(found(&kit, some), wanted[..limit as usize], "{limit}");
        }
        wanted.reverse();
        assert_eq!(found(&kit, plan(Filter::always(), sort_by("s", true), None)), wanted);
        let some = plan(Filter::always(), sort_by("s", true), Some(4));
        assert_eq!(found(&kit, some), wanted[..4]);
    }
}

#[test]
fn cursors_go_on_within_values_of_one_beginning() {
    for size in 1..9 {
        let kit = kit(Some(plain_index("s")));
        let mut cursor = kit.begin_query(plan(Filter::always(), sort_by("s", false), None));
        let mut all = Vec::new();
        loop {
            let batch = batch_of(&mut cursor, size);
            if batch.is_empty() {
                break;
            }
            all.extend(numbers(&batch));
        }
        assert_eq!(all, SORTED, "{size}");
    }
}

#[test]
fn pages_by_key_lose_nothing() {
    let kit = kit(Some(plain_index("s")));
    let (mut all, mut last) = (Vec::new(), Value::from(""));
    loop {
        let filter = compare("s", Comparison::Gt, last.clone());
        let page = plan(filter, sort_by("s", false), Some(2));
        let page = batch_of(&mut kit.begin_query(page), usize::MAX);
        let Some(end) = page.last() else { break };
        last = end.get("s").unwrap().clone();
        all.extend(numbers(&page));
    }
    assert_eq!(all, SORTED);
}

#[test]
fn what_expires_between_two_batches_is_not_returned() {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for (id, end) in [(1, "c"), (2, "a"), (3, "d"), (4, "b")] {
        let ttl = if id == 3 { 5 } else { 100 };
        let value = long(end);
        kit.insert(doc! { "_id": id, "s": value.as_str(), "n": id, "ttl": ttl }).unwrap();
    }
    kit.create_index(plain_index("s")).unwrap();
    let mut cursor = kit.begin_query(plan(Filter::always(), sort_by("s", false), None));
    assert_eq!(numbers(&batch_of(&mut cursor, 2)), [2, 4]);
    kit.move_to(5_000);
    assert_eq!(numbers(&batch_of(&mut cursor, 3)), [1]);
}

#[test]
fn ids_are_in_order_too() {
    let kit = Kit::default();
    for (n, end) in [(4, "d"), (2, "b"), (5, "e"), (1, "a"), (3, "c")] {
        kit.insert(doc! { "_id": long(end).as_str(), "n": n }).unwrap();
    }
    for (descending, wanted) in [(false, [1, 2, 3, 4, 5]), (true, [5, 4, 3, 2, 1])] {
        let sort = sort_by("_id", descending);
        assert_eq!(found(&kit, plan(Filter::always(), sort.clone(), None)), wanted);
        assert_eq!(found(&kit, plan(Filter::always(), sort.clone(), Some(2))), wanted[..2]);
        let mut cursor = kit.begin_query(plan(Filter::always(), sort, None));
        let mut all = Vec::new();
        while let batch = batch_of(&mut cursor, 2)
            && !batch.is_empty()
        {
            all.extend(numbers(&batch));
        }
        assert_eq!(all, wanted);
    }
}
