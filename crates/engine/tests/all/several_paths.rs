//! Queries with several access paths, one per alternative of an `$or` or per value, return what a
//! single path would, in sort order, and nothing expired.

use document::{DocRef, Document, Value, doc};
use engine::{BatchLimit, Cursor, IndexSpec, Plan};
use pipeline::{
    Filter,
    exec::Stage,
    filter::Comparison,
    sort::{Sort, SortPart},
};
use test_kit::{Kit, compare, plain_index, ready, sort_by};

const DOCUMENTS: i32 = 60;

fn index(paths: &[&str]) -> IndexSpec {
    let key = paths.iter().map(|path| ((*path).to_owned(), false)).collect();
    IndexSpec::new(paths.join("_"), key)
}

/// Documents with two fields of few values; `n` is the insertion order.
fn kit(life: impl Fn(i32) -> i32) -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for id in 0..DOCUMENTS {
        let body = doc! { "_id": id, "a": id % 6, "b": (id * 7) % 20, "n": id, "ttl": life(id) };
        kit.insert(body).expect("inserted");
    }
    for index in [index(&["a", "b"]), plain_index("b")] {
        kit.create_index(index).expect("an index");
    }
    kit
}

fn equals(path: &str, value: i32) -> Filter {
    compare(path, Comparison::Eq, value)
}

fn sorted(filter: Filter, sort: Sort, more: Vec<Stage>) -> Plan {
    let stages = std::iter::once(Stage::Sort { sort, limit: None }).chain(more).collect();
    Plan::new(filter).with_stages(stages)
}

fn batch(cursor: &mut Cursor, documents: usize) -> Vec<Document> {
    let limit = BatchLimit { documents, bytes: usize::MAX };
    let batch = ready(cursor.next_batch(limit)).expect("a batch");
    batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect()
}

fn all(cursor: &mut Cursor, size: usize) -> Vec<Document> {
    let mut out = Vec::new();
    loop {
        let more = batch(cursor, size);
        if more.is_empty() {
            return out;
        }
        out.extend(more);
    }
}

fn numbers(documents: &[Document], name: &str) -> Vec<i32> {
    let number = |it: &Document| match it.get(name) {
        Some(Value::Int32(number)) => *number,
        other => panic!("{other:?}"),
    };
    documents.iter().map(number).collect()
}

/// `a` is 1 or `b` is 3, ordered by `b`.
fn either() -> Plan {
    let filter = Filter::Or(vec![equals("a", 1), equals("b", 3)]);
    sorted(filter, sort_by("b", false), Vec::new())
}

/// `a` is one of three values, ordered by `b` and `_id`.
fn one_of_three(more: Vec<Stage>) -> Plan {
    let filter = Filter::Or((1..4).map(|value| equals("a", value)).collect());
    let mut sort = sort_by("b", false);
    sort.parts.extend(sort_by("_id", false).parts);
    sorted(filter, sort, more)
}

#[test]
fn a_row_of_two_alternatives_is_returned_once_in_any_batches() {
    let kit = kit(|_| -1);
    for size in [1, 2, 3, 7, 100] {
        let mut cursor = kit.begin_query(either());
        let found = all(&mut cursor, size);
        let explain = cursor.explain();
        assert!(explain.merged && explain.branches.len() == 2, "{explain:?}");
        assert!(numbers(&found, "b").is_sorted(), "{found:?}");
        let mut ids = numbers(&found, "_id");
        ids.sort_unstable();
        let wanted: Vec<i32> =
            (0..DOCUMENTS).filter(|id| id % 6 == 1 || (id * 7) % 20 == 3).collect();
        assert_eq!(ids, wanted, "{size}");
    }
}

#[test]
fn several_values_are_merged_and_skipped_without_reading_documents() {
    let kit = kit(|_| -1);
    let mut wanted: Vec<i32> = (0..DOCUMENTS).filter(|id| (1..4).contains(&(id % 6))).collect();
    wanted.sort_by_key(|id| ((id * 7) % 20, *id));
    let more = vec![Stage::Skip(11), Stage::Limit(4)];
    let mut cursor = kit.begin_query(one_of_three(more));
    assert_eq!(numbers(&all(&mut cursor, 3), "_id"), wanted[11..15]);
    let explain = cursor.explain();
    assert_eq!(explain.documents_examined, 4, "{explain:?}");
    assert_eq!(explain.keys_examined, 15, "{explain:?}");
    let mut cursor = kit.begin_query(one_of_three(vec![Stage::Skip(100)]));
    assert!(all(&mut cursor, 3).is_empty());
    assert_eq!(cursor.explain().documents_examined, 0);
}

#[test]
fn what_expires_between_two_batches_is_neither_returned_nor_skipped() {
    // Every third document expires after 5 seconds, every seventh after 3.
    let life = |id: i32| {
        if id % 7 == 0 {
            3
        } else if id % 3 == 0 {
            5
        } else {
            1_000
        }
    };
    let plans: [fn() -> Plan; 2] = [either, || one_of_three(Vec::new())];
    for plan in plans {
        let kit = kit(life);
        let mut cursor = kit.begin_query(plan());
        let whole = numbers(&batch(&mut kit.begin_query(plan()), 1_000), "_id");
        let first = batch(&mut cursor, 2);
        kit.move_to(5_000);
        let rest = all(&mut cursor, 3);
        let live: Vec<i32> =
            whole.iter().copied().skip(2).filter(|id| life(*id) == 1_000).collect();
        assert_eq!(numbers(&first, "_id"), whole[..2]);
        assert_eq!(numbers(&rest, "_id"), live);
    }
    // Expired rows do not count as skipped in scans by one path, by several, and by `_id`.
    let kit = kit(life);
    kit.move_to(4_000);
    let by_id = || sorted(Filter::always(), sort_by("_id", false), Vec::new());
    let by_index = || sorted(equals("a", 1), sort_by("b", false), Vec::new());
    let plans: [fn() -> Plan; 3] = [|| one_of_three(Vec::new()), by_id, by_index];
    for plan in plans {
        let whole = numbers(&batch(&mut kit.begin_query(plan()), 1_000), "_id");
        assert!(whole.iter().all(|id| id % 7 != 0));
        for skip in 1..6 {
            let mut skipping = plan();
            skipping.stages.push(Stage::Skip(skip));
            let mut cursor = kit.begin_query(skipping);
            assert_eq!(numbers(&all(&mut cursor, 4), "_id"), whole[skip as usize..]);
            let explain = cursor.explain();
            assert_eq!(explain.documents_examined, whole.len() as u64 - skip, "{explain:?}");
        }
    }
}

#[test]
fn entries_of_equal_values_are_in_the_order_of_the_id() {
    let kit = kit(|_| -1);
    for descending in [false, true] {
        let part = |path: &str| SortPart { path: path.into(), descending };
        let sort = Sort { parts: vec![part("b"), part("_id")] };
        let more = vec![Stage::Limit(5)];
        let filter = compare("b", Comparison::Gte, 0);
        let mut cursor = kit.begin_query(sorted(filter, sort, more));
        let mut wanted: Vec<i32> = (0..DOCUMENTS).collect();
        wanted.sort_by_key(|id| ((id * 7) % 20, *id));
        if descending {
            wanted.reverse();
        }
        assert_eq!(numbers(&all(&mut cursor, 2), "_id"), wanted[..5]);
        assert!(cursor.explain().documents_examined <= 7);
    }
}

/// An order by these fields, ascending.
fn by(paths: &[&str]) -> Sort {
    let part = |path: &&str| SortPart { path: (*path).into(), descending: false };
    Sort { parts: paths.iter().map(part).collect() }
}

/// Documents with a unique pair (`a`, `u`) and a unique `k`, of which every fifth expires after 5
/// seconds. `all` are their ids in the order of `k`.
fn kit_of_unique_values() -> (Kit, Vec<i32>) {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    let mut all: Vec<i32> = (0..DOCUMENTS).collect();
    for id in &all {
        let life = if id % 5 == 0 { 5 } else { 1_000 };
        let k = (id * 7) % DOCUMENTS;
        kit.insert(doc! { "_id": *id, "a": id % 3, "u": id / 3, "k": k, "c": 0, "ttl": life })
            .expect("inserted");
    }
    all.sort_by_key(|id| (id * 7) % DOCUMENTS);
    for spec in [index(&["a", "u"]), index(&["k"])] {
        kit.create_index(IndexSpec { unique: true, ..spec }).expect("an index");
    }
    (kit, all)
}

#[test]
fn a_unique_index_gives_each_order_that_begins_with_its_fields() {
    let (kit, by_k) = kit_of_unique_values();
    let run = |filter: Filter, sort: Sort, limit: u64| {
        let mut cursor = kit.begin_query(sorted(filter, sort, vec![Stage::Limit(limit)]));
        let ids = numbers(&all(&mut cursor, 2), "_id");
        (ids, cursor.explain())
    };
    let live = |ids: &[i32]| ids.iter().copied().filter(|id| id % 5 != 0).collect::<Vec<_>>();
    let mut by_pair: Vec<i32> = (0..DOCUMENTS).collect();
    by_pair.sort_by_key(|id| (id % 3, id / 3));
    for expired in [false, true] {
        if expired {
            kit.move_to(5_000);
        }
        let shown = |ids: &[i32]| if expired { live(ids) } else { ids.to_vec() };
        for (sort, wanted) in [
            (by(&["k", "_id"]), shown(&by_k)),
            (by(&["k", "c", "_id"]), shown(&by_k)),
            (by(&["a", "u", "_id"]), shown(&by_pair)),
        ] {
            let (ids, explain) = run(Filter::always(), sort, 5);
            assert_eq!(ids, wanted[..5]);
            assert!(explain.sorted && explain.documents_examined <= 7, "{explain:?}");
        }
        let mut backward = by(&["k", "_id"]);
        backward.parts[0].descending = true;
        let (ids, explain) = run(Filter::always(), backward, 5);
        let wanted: Vec<i32> = shown(&by_k).into_iter().rev().take(5).collect();
        assert_eq!(ids, wanted);
        assert!(explain.sorted && explain.documents_examined <= 7, "{explain:?}");
    }
    // Values of all fields are those of one document, so any order is given.
    let one = Filter::And(vec![equals("a", 1), equals("u", 2)]);
    let (ids, explain) = run(one, by(&["c", "_id"]), 5);
    assert_eq!((ids, explain.sorted), (vec![7], true));
}

#[test]
fn a_unique_index_gives_no_order_in_which_its_values_can_be_equal() {
    let (kit, _) = kit_of_unique_values();
    let sort_of = |filter: Filter, paths: &[&str]| {
        let mut cursor = kit.begin_query(sorted(filter, by(paths), Vec::new()));
        (numbers(&all(&mut cursor, 7), "_id"), cursor.explain().sorted)
    };
    // Only a part of the fields.
    let (ids, is_sorted) = sort_of(Filter::always(), &["a", "_id"]);
    let mut wanted: Vec<i32> = (0..DOCUMENTS).collect();
    wanted.sort_by_key(|id| (id % 3, *id));
    assert_eq!((ids, is_sorted), (wanted, false));
    // Entries of several values of the first field are compared by an order without that field.
    let several = Filter::Or(vec![equals("a", 0), equals("a", 2)]);
    let (ids, _) = sort_of(several, &["u", "_id"]);
    let mut wanted: Vec<i32> = (0..DOCUMENTS).filter(|id| id % 3 != 1).collect();
    wanted.sort_by_key(|id| (id / 3, *id));
    assert_eq!(ids, wanted);
    // The same of two alternatives.
    let less = Filter::And(vec![equals("a", 2), compare("u", Comparison::Lt, 9)]);
    let more = Filter::And(vec![equals("a", 1), compare("u", Comparison::Gt, 5)]);
    let (ids, _) = sort_of(Filter::Or(vec![less, more]), &["u", "_id"]);
    let is_wanted = |id: &i32| id % 3 == 2 && id / 3 < 9 || id % 3 == 1 && 5 < id / 3;
    let mut wanted: Vec<i32> = (0..DOCUMENTS).filter(is_wanted).collect();
    wanted.sort_by_key(|id| (id / 3, *id));
    assert_eq!(ids, wanted);
    // With arrays a document has several entries.
    kit.insert(doc! { "_id": 100, "k": vec![Value::Int32(-5), Value::Int32(200)] }).unwrap();
    assert!(!sort_of(Filter::always(), &["k", "_id"]).1);
    // A sparse index lacks the documents without the field.
    let kit = Kit::default();
    for (id, s) in [(1, Some(5)), (2, None), (3, Some(1)), (4, None)] {
        let mut body = doc! { "_id": id };
        s.into_iter().for_each(|s| body.push("s", s));
        kit.insert(body).unwrap();
    }
    kit.create_index(IndexSpec { unique: true, sparse: true, ..index(&["s"]) }).unwrap();
    let mut cursor = kit.begin_query(sorted(Filter::always(), by(&["s", "_id"]), Vec::new()));
    assert_eq!(numbers(&all(&mut cursor, 7), "_id"), [2, 4, 3, 1]);
    assert!(!cursor.explain().sorted);
    let exists = compare("s", Comparison::Gte, 0);
    let mut cursor = kit.begin_query(sorted(exists, by(&["s", "_id"]), Vec::new()));
    assert_eq!(numbers(&all(&mut cursor, 7), "_id"), [3, 1]);
    assert!(cursor.explain().sorted);
}

#[test]
fn long_values_are_merged_and_skipped_in_their_order() {
    let kit = Kit::default();
    let mut all_values = Vec::new();
    for id in 0..24_i32 {
        let end = (id * 5) % 24;
        let value = if id % 4 == 0 {
            format!("z{end:02}")
        } else {
            "k".repeat(1_200) + &format!("{end:02}")
        };
        all_values.push((value.clone(), id));
        kit.insert(doc! { "_id": id, "a": id % 3, "s": value.as_str() }).expect("inserted");
    }
    kit.create_index(index(&["a", "s"])).expect("an index");
    all_values.retain(|(_, id)| id % 3 != 2);
    all_values.sort();
    let wanted: Vec<i32> = all_values.into_iter().map(|(_, id)| id).collect();
    for (skip, size) in [(0, 100), (0, 1), (0, 4), (3, 2), (7, 5), (13, 1)] {
        let filter = Filter::Or(vec![equals("a", 0), equals("a", 1)]);
        let more = vec![Stage::Skip(skip)];
        let mut cursor = kit.begin_query(sorted(filter, sort_by("s", false), more));
        let found = all(&mut cursor, size);
        assert!(cursor.explain().merged);
        assert_eq!(numbers(&found, "_id"), wanted[skip as usize..], "{skip} {size}");
    }
}

#[test]
fn rows_that_do_not_match_are_not_skipped_in_place_of_others() {
    let kit = kit(|_| -1);
    let low = compare("n", Comparison::Lt, 30);
    let mut plan = one_of_three(vec![Stage::Skip(3)]);
    plan.filter = Filter::And(vec![plan.filter, low]);
    let mut wanted: Vec<i32> = (0..30).filter(|id| (1..4).contains(&(id % 6))).collect();
    wanted.sort_by_key(|id| ((id * 7) % 20, *id));
    let mut cursor = kit.begin_query(plan);
    assert_eq!(numbers(&all(&mut cursor, 4), "_id"), wanted[3..]);
    assert!(cursor.explain().merged);
}
