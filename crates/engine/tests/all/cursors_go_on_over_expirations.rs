//! A query over several batches: each batch is read at its own instant.

use document::{DocRef, doc};
use engine::{BatchLimit, Cursor, Plan};
use pipeline::{Filter, exec::Stage};
use test_kit::{Kit, Task, ids_of, plain_index, ready, replace_one, sort_by};

const TWO: BatchLimit = BatchLimit { documents: 2, bytes: usize::MAX };

fn kit() -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for id in 1..7 {
        kit.insert(doc! { "_id": id, "a": id, "ttl": 10 * id }).expect("inserted");
    }
    kit
}

fn sorted() -> Plan {
    let sort = Stage::Sort { sort: sort_by("a", false), limit: None };
    Plan::new(Filter::always()).with_stages(vec![sort])
}

fn next(cursor: &mut Cursor) -> Vec<i64> {
    let batch = ready(cursor.next_batch(TWO)).expect("a batch");
    let documents: Vec<_> =
        batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect();
    ids_of(&documents)
}

#[test]
fn what_expired_between_batches_is_not_returned() {
    for indexed in [false, true] {
        for plan in [Plan::new(Filter::always()), sorted()] {
            for reaped in [false, true] {
                let mut kit = kit();
                if indexed {
                    kit.create_index(plain_index("a")).unwrap();
                }
                let mut cursor = kit.begin_query(plan.clone());
                assert_eq!(next(&mut cursor), [1, 2]);
                kit.move_to(39_999);
                if reaped {
                    kit.reap_all();
                }
                assert_eq!(next(&mut cursor), [4, 5]);
                kit.move_to(60_000);
                assert_eq!(next(&mut cursor), [0; 0]);
            }
        }
    }
}

#[test]
fn a_new_life_is_not_taken_for_the_old_one() {
    let kit = kit();
    let mut cursor = kit.begin_query(sorted());
    assert_eq!(next(&mut cursor), [1, 2]);
    kit.move_to(30_000);
    kit.insert(doc! { "_id": 3, "a": 3 }).unwrap();
    kit.replace(doc! { "_id": 4, "a": 44 }, false).unwrap();
    kit.move_to(50_000);
    // 3 exists again but is another document; 4 was extended; 5 has expired.
    assert_eq!(next(&mut cursor), [4, 6]);
}

#[test]
fn a_life_that_was_shortened_is_not_returned_in_its_older_version() {
    let kit = kit();
    let mut cursor = kit.begin_query(sorted());
    assert_eq!(next(&mut cursor), [1, 2]);
    kit.replace(doc! { "_id": 3, "a": 3, "ttl": 1 }, false).unwrap();
    kit.move_to(1_000);
    assert!(!kit.all_ids().contains(&3), "somebody saw it after it expired");
    assert_eq!(next(&mut cursor), [4, 5]);
}

#[test]
fn a_row_that_cannot_be_decided_yet_is_not_left_out() {
    let kit = kit();
    let mut cursor = kit.begin_query(sorted());
    assert_eq!(next(&mut cursor), [1, 2]);
    kit.move_to(29_999);
    kit.store.gate().shut();
    let renewal = doc! { "_id": 3, "a": 3, "ttl": 30, "again": true };
    let mut renewal = Task::new(replace_one(kit.engine.clone(), kit.collection(), renewal, false));
    assert!(renewal.poll().is_none());
    kit.move_to(30_000);
    let mut batch = Task::new(async move { next_of(cursor).await });
    assert!(batch.poll().is_none(), "it waits for what may have renewed it");
    kit.store.gate().open();
    renewal.finish().unwrap();
    assert_eq!(batch.finish(), [3, 4]);
}

async fn next_of(mut cursor: Cursor) -> Vec<i64> {
    let batch = cursor.next_batch(TWO).await.expect("a batch");
    let documents: Vec<_> =
        batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()).collect();
    ids_of(&documents)
}

#[test]
fn a_first_batch_is_planned_anew_when_its_index_is_gone() {
    let kit = kit();
    kit.create_index(plain_index("a")).unwrap();
    let mut cursor = kit.begin_query(sorted());
    kit.drop_index("a_1");
    assert_eq!(next(&mut cursor), [1, 2]);
    assert_eq!(next(&mut cursor), [3, 4]);
}
