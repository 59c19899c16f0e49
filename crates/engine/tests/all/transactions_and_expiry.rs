//! Documents that expire while a transaction is open, the writes that rely on them, and the
//! lifetimes of the transaction's own writes. The rules are in `docs/ttl.md`; that each is needed is
//! shown in `every_rule_is_needed.rs`.

use document::{Value, doc};
use engine::{Hint, Kind};
use pipeline::Filter;
use test_kit::{Kit, Task, date_index, equal, ids_of, insert_one, plain_index, ready};

use crate::transactions::Tx;

fn kit() -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(10));
    kit.create_index(plain_index("a")).unwrap();
    kit
}

#[test]
fn each_statement_judges_at_its_own_instant() {
    let kit = kit();
    kit.insert(doc! { "_id": 1, "a": 1, "ttl": 5 }).unwrap();
    kit.insert(doc! { "_id": 2, "a": 2 }).unwrap();
    let tx = Tx::begin(&kit);
    assert_eq!(tx.find(equal("_id", 2), Hint::None).unwrap().len(), 1);
    kit.move_to(4_999);
    assert_eq!(ids_of(&tx.find(equal("a", 1), Hint::Index("a_1".to_owned())).unwrap()), [1]);
    // It was shown until 5 s, so nothing that expires then may be left out.
    kit.move_to(5_000);
    let again = tx.find(equal("_id", 1), Hint::None).unwrap_err();
    assert_eq!(again.kind, Kind::Conflict);
    // Another one begins after the expiry and cannot meet it again.
    let tx = Tx::begin(&kit);
    assert_eq!(tx.ids(), [2]);
    assert!(!tx.commit().unwrap());
}

#[test]
fn what_was_left_out_as_expired_stays_so_and_its_key_is_free() {
    let kit = kit();
    kit.insert(doc! { "_id": 1, "a": 1, "ttl": 5 }).unwrap();
    let tx = Tx::begin(&kit);
    assert_eq!(tx.find(equal("_id", 9), Hint::None).unwrap().len(), 0);
    kit.move_to(5_000);
    assert_eq!(tx.ids(), [0; 0]);
    tx.insert(doc! { "_id": 1, "a": 7 }).unwrap();
    assert_eq!(tx.ids(), [1]);
    assert!(tx.commit().unwrap());
    let found = kit.find_documents(Filter::always(), Hint::None).unwrap();
    assert_eq!(found, [doc! { "_id": 1, "a": 7 }]);
    let report = ready(kit.engine.check_collection(&kit.collection())).unwrap();
    assert_eq!(report.differences.listed, Vec::<String>::new());
}

#[test]
fn lifetimes_count_from_the_commit() {
    let kit = kit();
    kit.insert(doc! { "_id": 1, "a": 1, "ttl": -1 }).unwrap();
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 2, "ttl": 3 }).unwrap();
    tx.replace(doc! { "_id": 1, "a": 2 }, false).unwrap();
    kit.move_to(8_000);
    assert_eq!(tx.ids(), [1, 2], "its lifetime has not begun");
    tx.insert(doc! { "_id": 3 }).unwrap();
    assert!(tx.commit().unwrap());
    kit.move_to(10_999);
    assert_eq!((kit.all_ids(), kit.live_amount().documents), (vec![1, 2, 3], 3));
    kit.move_to(11_000);
    assert_eq!((kit.all_ids(), kit.live_amount().documents), (vec![1, 3], 2));
    kit.move_to(18_000);
    assert_eq!((kit.all_ids(), kit.live_amount().documents), (vec![], 0));
    // A lifetime of no seconds ends at once, in the transaction and outside.
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 4, "ttl": 0 }).unwrap();
    let seen = tx.ids();
    assert!(tx.commit().unwrap());
    assert_eq!(kit.all_ids(), seen);
}

#[test]
fn dates_apply_to_own_writes_at_once() {
    let kit = Kit::default();
    kit.create_index(date_index("at", 5)).unwrap();
    let at = |ms: i64| Value::DateTime(test_kit::START_MS + ms);
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 1, "at": at(0) }).unwrap();
    tx.insert(doc! { "_id": 2, "at": at(60_000) }).unwrap();
    tx.insert(doc! { "_id": 3, "at": at(-60_000) }).unwrap();
    assert_eq!(tx.ids(), [1, 2]);
    kit.move_to(5_000);
    assert_eq!(tx.ids(), [2]);
    assert!(tx.commit().unwrap());
    assert_eq!((kit.all_ids(), kit.live_amount().documents), (vec![2], 1));
}

#[test]
fn what_a_write_matched_must_live_until_the_commit() {
    let kit = kit();
    let relied = |write: &dyn Fn(&Tx<'_>)| {
        kit.move_to(kit.now_ms() + 20_000);
        kit.insert(doc! { "_id": 1, "a": 1, "ttl": 5 }).unwrap();
        let born = kit.now_ms();
        for ends_ms in [4_999, 5_000] {
            let tx = Tx::begin(&kit);
            write(&tx);
            kit.move_to(born + ends_ms);
            match ends_ms {
                4_999 => {
                    assert!(tx.transaction.abort());
                    kit.move_to(born + 4_999);
                }
                _ => {
                    // Any further statement fails, and so does the commit.
                    assert_eq!(tx.commit().unwrap_err().kind, Kind::Conflict);
                    assert_eq!(kit.all_ids(), [0; 0]);
                }
            }
        }
    };
    relied(&|tx| drop(tx.replace(doc! { "_id": 1, "a": 2, "ttl": -1 }, false).unwrap()));
    relied(&|tx| drop(tx.replace(doc! { "_id": 1, "a": 2 }, true).unwrap()));
    relied(&|tx| assert_eq!(tx.remove(equal("_id", 1)).unwrap().count, 1));
}

#[test]
fn the_stamp_of_the_commit_decides_at_the_edge() {
    let kit = kit();
    kit.insert(doc! { "_id": 1, "a": 1, "ttl": 5 }).unwrap();
    let tx = Tx::begin(&kit);
    tx.replace(doc! { "_id": 1, "a": 2, "ttl": 5 }, false).unwrap();
    kit.move_to(4_999);
    assert!(tx.commit().unwrap());
    kit.move_to(5_000);
    assert_eq!(kit.all_ids(), [1], "it lives on from the commit");
    kit.move_to(9_000);
    assert_eq!(kit.all_ids(), [0; 0]);
}

#[test]
fn no_write_waits_for_a_transaction_that_cannot_commit() {
    let kit = kit();
    kit.insert(doc! { "_id": 1, "a": 1, "ttl": 5 }).unwrap();
    let tx = Tx::begin(&kit);
    tx.replace(doc! { "_id": 1, "a": 2 }, false).unwrap();
    kit.move_to(4_999);
    let insert = |kit: &Kit| {
        Task::new(insert_one(kit.engine.clone(), kit.collection(), doc! { "_id": 1, "a": 3 }))
    };
    let early = insert(&kit).finish().unwrap();
    assert_eq!(early.count, 0, "the document lives");
    kit.move_to(5_000);
    assert_eq!(insert(&kit).finish().unwrap().count, 1);
    assert_eq!(tx.find(Filter::always(), Hint::None).unwrap_err().kind, Kind::Conflict);
    assert_eq!(tx.commit().unwrap_err().kind, Kind::TransactionEnded);
    let found = kit.find_documents(Filter::always(), Hint::None).unwrap();
    assert_eq!(found, [doc! { "_id": 1, "a": 3 }]);
}

#[test]
fn reaping_keeps_what_a_transaction_may_read() {
    let mut kit = kit();
    for id in 1..=100 {
        kit.insert(doc! { "_id": id, "a": id }).unwrap();
    }
    kit.insert(doc! { "_id": 500, "a": 500, "ttl": -1 }).unwrap();
    let tx = Tx::begin(&kit);
    // Any statement takes the snapshot.
    assert_eq!(tx.find(equal("_id", 500), Hint::None).unwrap().len(), 1);
    let transaction = std::sync::Arc::clone(&tx.transaction);
    drop(tx.engine);
    let before = kit.row_bytes();
    kit.move_to(10_000);
    kit.reap_all();
    assert_eq!(kit.row_bytes(), before);
    assert!(transaction.abort());
    kit.reap_all();
    assert!(kit.row_bytes() < before);
}
