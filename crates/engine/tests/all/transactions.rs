//! Transactions of several statements: they see one snapshot and their own writes, conflict with
//! other writers at once, and commit as a whole.

use std::sync::Arc;

use document::{Document, doc};
use engine::{
    Engine, Error, Find, Hint, Kind, ListOrdering, Model, Namespace, Plan, Removed, Transaction,
    Update, Updated,
};
use pipeline::{Filter, edit::Edit};
use test_kit::{
    Kit, Task, TtlField, context, equal, find_all, first_failure, ids_of, insert_one, plain_index,
    ready, replace_one, sort_by, unique_index,
};

/// An open transaction on the collection of a kit.
pub(crate) struct Tx<'k> {
    kit: &'k Kit,
    pub(crate) transaction: Arc<Transaction>,
    pub(crate) engine: Engine,
}

impl<'k> Tx<'k> {
    pub(crate) fn begin(kit: &'k Kit) -> Self {
        let transaction = kit.engine.begin_transaction(memory::Share::default());
        let engine = kit.engine.in_transaction(&transaction);
        Self { kit, transaction, engine }
    }

    /// Ends a statement, as an API does before it replies.
    fn ended<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let result = result.and_then(|result| {
            ready(self.kit.engine.end_statement(&self.transaction)).map(|()| result)
        });
        if result.is_err() {
            self.transaction.abort();
        }
        result
    }

    pub(crate) fn insert(&self, document: Document) -> Result<(), Error> {
        let inserted = ready(insert_one(self.engine.clone(), self.kit.collection(), document));
        self.ended(inserted.and_then(first_failure))
    }

    pub(crate) fn replace(&self, document: Document, upsert: bool) -> Result<Updated, Error> {
        let collection = self.kit.collection();
        self.ended(ready(replace_one(self.engine.clone(), collection, document, upsert)))
    }

    pub(crate) fn remove(&self, filter: Filter) -> Result<Removed, Error> {
        let (collection, context) = (self.kit.collection(), context());
        let find = Find::new(filter);
        self.ended(ready(self.engine.remove(&collection, &find, true, &context)))
    }

    pub(crate) fn find(&self, filter: Filter, hint: Hint) -> Result<Vec<Document>, Error> {
        let plan = Plan { hint, ..Plan::new(filter) };
        self.ended(ready(find_all(self.engine.clone(), self.kit.namespace(), plan)))
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        ids_of(&self.find(Filter::always(), Hint::None).unwrap())
    }

    pub(crate) fn commit(&self) -> Result<bool, Error> {
        Ok(ready(self.kit.engine.commit_transaction(&self.transaction, None))?.is_some())
    }
}

fn kit() -> Kit {
    let kit = Kit::default();
    kit.create_index(plain_index("a")).unwrap();
    kit.create_index(unique_index("u")).unwrap();
    for id in 1..=3 {
        kit.insert(doc! { "_id": id, "a": id * 10, "u": id }).unwrap();
    }
    kit
}

/// Compares rows, entries and counters.
fn check(kit: &Kit) {
    let report = ready(kit.engine.check_collection(&kit.collection())).unwrap();
    assert_eq!(report.differences.listed, Vec::<String>::new());
}

fn by_a() -> Hint {
    Hint::Index("a_1".to_owned())
}

fn is_conflict<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(error) if error.kind == Kind::Conflict)
}

#[test]
fn it_sees_its_snapshot_and_its_own_writes_on_every_path() {
    let kit = kit();
    let tx = Tx::begin(&kit);
    assert_eq!(tx.ids(), [1, 2, 3]);
    kit.insert(doc! { "_id": 4, "a": 5 }).unwrap();
    kit.remove_by_id(3);
    assert_eq!(tx.ids(), [1, 2, 3], "the snapshot stays");
    tx.insert(doc! { "_id": 9, "a": 15 }).unwrap();
    tx.replace(doc! { "_id": 1, "a": 99 }, false).unwrap();
    tx.remove(equal("_id", 2)).unwrap();
    assert_eq!(tx.ids(), [1, 3, 9]);
    let by_index = tx.find(Filter::always(), by_a()).unwrap();
    assert_eq!(ids_of(&by_index), [9, 3, 1]);
    assert_eq!(by_index[2], doc! { "_id": 1, "a": 99 });
    assert_eq!(tx.find(equal("_id", 2), Hint::None).unwrap(), Vec::<Document>::new());
    assert_eq!(ids_of(&tx.find(equal("a", 15), by_a()).unwrap()), [9]);
    // Others see nothing of it before the commit, and all of it after.
    assert_eq!((kit.all_ids(), kit.ids_by("a_1")), (vec![1, 2, 4], vec![4, 1, 2]));
    assert!(tx.commit().unwrap());
    assert_eq!((kit.all_ids(), kit.ids_by("a_1")), (vec![1, 4, 9], vec![4, 9, 1]));
    let amount = kit.live_amount();
    assert_eq!(amount.documents, 3);
    check(&kit);
    assert_eq!(tx.commit().unwrap_err().kind, Kind::TransactionEnded);
}

#[test]
fn an_aborted_one_leaves_nothing_and_frees_its_keys() {
    let kit = kit();
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 9, "u": 9 }).unwrap();
    tx.replace(doc! { "_id": 1, "a": 99 }, false).unwrap();
    assert!(0 < tx.transaction.memory_used());
    assert!(tx.transaction.abort());
    assert_eq!(kit.all_ids(), [1, 2, 3]);
    assert_eq!(tx.commit().unwrap_err().kind, Kind::TransactionEnded);
    assert_eq!(tx.insert(doc! { "_id": 10 }).unwrap_err().kind, Kind::TransactionEnded);
    assert_eq!(tx.transaction.memory_used(), 0);
    kit.insert(doc! { "_id": 9, "u": 9 }).unwrap();
    // Dropping one without an end aborts it.
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 11 }).unwrap();
    drop(tx);
    kit.insert(doc! { "_id": 11 }).unwrap();
}

#[test]
fn writers_of_one_document_conflict_at_the_statement() {
    let kit = kit();
    let (one, two) = (Tx::begin(&kit), Tx::begin(&kit));
    assert_eq!((one.ids(), two.ids()), (vec![1, 2, 3], vec![1, 2, 3]));
    one.insert(doc! { "_id": 5 }).unwrap();
    assert!(is_conflict(&two.insert(doc! { "_id": 5 })));
    assert!(one.commit().unwrap());
    // A commit after the snapshot conflicts as well, and one before it is a duplicate.
    let late = Tx::begin(&kit);
    assert_eq!(late.ids(), [1, 2, 3, 5]);
    kit.replace(doc! { "_id": 1, "a": 7 }, false).unwrap();
    assert!(is_conflict(&late.replace(doc! { "_id": 1, "a": 8 }, false)));
    let late = Tx::begin(&kit);
    assert!(matches!(late.insert(doc! { "_id": 5 }).unwrap_err().kind, Kind::DuplicateKey { .. }));
    // A removal conflicts with an edit, and an insert with one that was committed.
    let (one, two) = (Tx::begin(&kit), Tx::begin(&kit));
    assert_eq!((one.ids(), two.ids()), (vec![1, 2, 3, 5], vec![1, 2, 3, 5]));
    assert_eq!(one.remove(equal("_id", 2)).unwrap().count, 1);
    assert!(is_conflict(&two.replace(doc! { "_id": 2, "a": 8 }, false)));
    let two = Tx::begin(&kit);
    assert_eq!(two.ids().len(), 4);
    kit.insert(doc! { "_id": 6 }).unwrap();
    assert!(is_conflict(&two.insert(doc! { "_id": 6 })));
    // An update that changes nothing conflicts with no other write.
    let two = Tx::begin(&kit);
    let edit = Edit::Operators(pipeline::edit::Operators::new(Vec::new(), Vec::new()).unwrap());
    let unchanged = Update {
        find: Find::new(equal("_id", 2)),
        edit: &edit,
        many: true,
        upsert: false,
        context: context(),
        writer: &TtlField,
    };
    let updated = ready(two.engine.update(&kit.collection(), &unchanged)).unwrap();
    assert_eq!((updated.matched, updated.modified), (1, 0));
    assert!(one.commit().unwrap());
    assert!(!two.commit().unwrap());
}

#[test]
fn unique_values_are_taken_and_exchanged() {
    let kit = kit();
    let (one, two) = (Tx::begin(&kit), Tx::begin(&kit));
    assert_eq!((one.ids().len(), two.ids().len()), (3, 3));
    one.insert(doc! { "_id": 5, "u": 55 }).unwrap();
    assert!(is_conflict(&two.insert(doc! { "_id": 6, "u": 55 })));
    let duplicate = Tx::begin(&kit).insert(doc! { "_id": 6, "u": 1 }).unwrap_err();
    assert!(matches!(duplicate.kind, Kind::DuplicateKey { .. }));
    // Two documents exchange their values, by way of a third value.
    one.replace(doc! { "_id": 1, "u": 100 }, false).unwrap();
    one.replace(doc! { "_id": 2, "u": 1 }, false).unwrap();
    one.replace(doc! { "_id": 1, "u": 2 }, false).unwrap();
    let again = one.find(equal("u", 1), Hint::Index("u_1".to_owned())).unwrap();
    assert_eq!(ids_of(&again), [2]);
    assert!(one.commit().unwrap());
    let by_u = kit.find_documents(Filter::always(), Hint::Index("u_1".to_owned())).unwrap();
    assert_eq!(ids_of(&by_u), [2, 1, 3, 5]);
    check(&kit);
    for (id, u) in [(7, 1), (8, 2), (9, 55)] {
        let taken = kit.insert(doc! { "_id": id, "u": u }).unwrap_err();
        assert!(matches!(taken.kind, Kind::DuplicateKey { .. }), "{taken:?}");
    }
    // A document is deleted and inserted again, and its value goes to another one.
    let tx = Tx::begin(&kit);
    tx.remove(equal("_id", 3)).unwrap();
    tx.insert(doc! { "_id": 4, "u": 3 }).unwrap();
    tx.insert(doc! { "_id": 3, "u": 33 }).unwrap();
    assert!(tx.commit().unwrap());
    assert_eq!(kit.all_ids(), [1, 2, 3, 4, 5]);
    check(&kit);
}

#[test]
fn other_writes_wait_until_it_has_ended_and_read_again() {
    for commits in [true, false] {
        let kit = kit();
        let tx = Tx::begin(&kit);
        tx.replace(doc! { "_id": 1, "a": 50 }, false).unwrap();
        tx.insert(doc! { "_id": 7, "a": 70 }).unwrap();
        let (engine, collection) = (kit.engine.clone(), kit.collection());
        let replaced = doc! { "_id": 1, "a": 60 };
        let mut update = Task::new(replace_one(engine, collection, replaced, false));
        let (engine, collection) = (kit.engine.clone(), kit.collection());
        let mut insert = Task::new(insert_one(engine, collection, doc! { "_id": 7, "a": 71 }));
        for _ in 0..5 {
            assert!(update.poll().is_none() && insert.poll().is_none(), "they wait");
        }
        // A write of another document does not wait.
        kit.replace(doc! { "_id": 2, "a": 21 }, false).unwrap();
        if commits {
            assert!(tx.commit().unwrap());
        } else {
            assert!(tx.transaction.abort());
        }
        assert_eq!(update.finish().unwrap().modified, 1);
        let inserted = first_failure(insert.finish().unwrap());
        assert_eq!(inserted.is_err(), commits, "{inserted:?}");
        let found = |id: i32| kit.find_documents(equal("_id", id), Hint::None).unwrap();
        assert_eq!(found(1), [doc! { "_id": 1, "a": 60 }]);
        assert_eq!(found(7), [doc! { "_id": 7, "a": if commits { 70 } else { 71 } }]);
    }
}

#[test]
fn a_write_that_passes_just_before_the_intent_aborts_the_transaction() {
    let kit = kit();
    let tx = Tx::begin(&kit);
    assert_eq!(tx.ids().len(), 3);
    // The other write is ordered and not visible when the transaction writes the document.
    kit.store.gate().shut();
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let mut other = Task::new(replace_one(engine, collection, doc! { "_id": 1, "a": 7 }, false));
    assert!(other.poll().is_none());
    tx.replace(doc! { "_id": 1, "a": 8 }, false).unwrap();
    kit.store.gate().open();
    other.finish().unwrap();
    assert!(is_conflict(&tx.commit()));
    assert_eq!(ids_of(&kit.find_documents(equal("a", 7), Hint::None).unwrap()), [1]);
}

#[test]
fn a_commit_is_atomic_over_collections_and_survives_a_restart() {
    let mut kit = kit();
    let other = Namespace::new("other", "c");
    let there = ready(kit.engine.ensure_collection(Model::Documents, &other)).unwrap().0;
    for fails in [true, false] {
        let tx = Tx::begin(&kit);
        tx.insert(doc! { "_id": 100 }).unwrap();
        ready(insert_one(tx.engine.clone(), Arc::clone(&there), doc! { "_id": 200 })).unwrap();
        if fails {
            kit.store.lose_nth_commit(1);
            assert!(tx.commit().is_err());
            assert_eq!(kit.all_ids(), [1, 2, 3]);
        } else {
            assert!(tx.commit().unwrap());
        }
    }
    kit.restart();
    assert_eq!(kit.all_ids(), [1, 2, 3, 100]);
    let found = ready(find_all(kit.engine.clone(), other, Plan::new(Filter::always()))).unwrap();
    assert_eq!(found, [doc! { "_id": 200 }]);
}

#[test]
fn updates_of_many_edit_each_document_once() {
    let kit = kit();
    for id in 10..200 {
        kit.insert(doc! { "_id": id, "a": id }).unwrap();
    }
    let tx = Tx::begin(&kit);
    for round in 0..3 {
        let found = tx.find(Filter::always(), by_a()).unwrap();
        assert_eq!(found.len(), 193, "round {round}");
        for document in &found {
            let id = ids_of(std::slice::from_ref(document))[0];
            tx.replace(doc! { "_id": id, "a": 1_000 * (round + 1) + id }, false).unwrap();
        }
    }
    let removed = tx.remove(Filter::always()).unwrap();
    assert_eq!((removed.count, tx.ids().len()), (193, 0));
    assert!(tx.commit().unwrap());
    assert_eq!(kit.all_ids(), [0; 0]);
    assert_eq!(kit.live_amount().documents, 0);
}

#[test]
fn its_memory_is_bounded_by_the_account() {
    let kit = kit();
    let account = memory::Account::new(1 << 20);
    let transaction = kit.engine.begin_transaction(account.share());
    let engine = kit.engine.in_transaction(&transaction);
    let text = "x".repeat(100_000);
    let mut refused = None;
    for id in 100..120 {
        let document = doc! { "_id": id, "text": text.as_str() };
        if let Err(error) = ready(insert_one(engine.clone(), kit.collection(), document)) {
            refused = Some(error.kind);
            break;
        }
    }
    assert_eq!(refused, Some(Kind::Busy));
    assert!(900_000 < transaction.memory_used());
    assert!(transaction.abort());
    assert_eq!(account.used_bytes(), 0);
}

#[test]
fn a_changed_collection_ends_it_and_a_multikey_index_does_not() {
    let kit = kit();
    let changed = |tx: &Tx<'_>| {
        let found = tx.find(Filter::always(), Hint::None);
        assert_eq!(found.unwrap_err().kind, Kind::SnapshotUnavailable);
    };
    let tx = Tx::begin(&kit);
    assert_eq!(tx.ids().len(), 3);
    kit.create_index(plain_index("b")).unwrap();
    changed(&tx);
    // The commit finds the change, too.
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 5 }).unwrap();
    kit.drop_index("b_1");
    assert_eq!(tx.commit().unwrap_err().kind, Kind::SnapshotUnavailable);
    // A collection that was only read counts.
    let (tx, other) = (Tx::begin(&kit), Namespace::new("other", "c"));
    assert_eq!(tx.ids().len(), 3);
    ready(kit.engine.ensure_collection(Model::Documents, &other)).unwrap();
    let found = ready(find_all(tx.engine.clone(), other.clone(), Plan::new(Filter::always())));
    assert_eq!(found.unwrap_err().kind, Kind::SnapshotUnavailable, "it is newer");
    let tx = Tx::begin(&kit);
    assert_eq!(tx.ids().len(), 3);
    ready(find_all(tx.engine.clone(), other.clone(), Plan::new(Filter::always()))).unwrap();
    tx.insert(doc! { "_id": 5 }).unwrap();
    ready(kit.engine.drop_collection(Model::Documents, &other)).unwrap();
    assert_eq!(tx.commit().unwrap_err().kind, Kind::SnapshotUnavailable);
    // The first document with several values marks the index, by anybody.
    let array = |values: [i32; 2]| document::Value::Array(values.map(Into::into).to_vec());
    let tx = Tx::begin(&kit);
    assert_eq!(tx.ids().len(), 3);
    tx.insert(doc! { "_id": 5, "a": array([1, 2]) }).unwrap();
    assert_eq!(ids_of(&tx.find(equal("a", 2), by_a()).unwrap()), [5]);
    assert!(tx.commit().unwrap());
    assert_eq!(kit.ids_by("a_1"), [5, 1, 2, 3]);
}

#[test]
fn find_and_modify_sorts_over_own_writes() {
    let kit = kit();
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 9, "a": 1_000 }).unwrap();
    let find = Find { sort: Some(sort_by("a", true)), ..Find::new(Filter::always()) };
    let edit = Edit::Replacement(doc! { "a": 0 });
    let update = Update {
        find: find.clone(),
        edit: &edit,
        many: false,
        upsert: false,
        context: context(),
        writer: &TtlField,
    };
    let edited = ready(tx.engine.find_and_update(&kit.collection(), &update)).unwrap();
    assert!(edited.changed);
    let gone = ready(tx.engine.find_and_remove(&kit.collection(), &find, &context())).unwrap();
    assert!(gone.is_some());
    assert!(tx.commit().unwrap());
    let all = kit.find_documents(Filter::always(), Hint::None).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(all[2], doc! { "_id": 9, "a": 0 });
    assert_eq!(ids_of(&all), [1, 2, 9]);
}

#[test]
fn capped_collections_are_not_written() {
    let kit = kit();
    let capped = Namespace::new("db", "capped");
    let limits = engine::Capped { bytes: 10_000, documents: Some(10) };
    let collection = ready(kit.engine.create_capped(Model::Documents, &capped, doc! {}, limits));
    let collection = collection.unwrap();
    let tx = Tx::begin(&kit);
    let refused = ready(tx.engine.insert(
        &collection,
        vec![(doc! { "_id": 1 }.to_buf(), engine::Lifetime::Inherit)],
        ListOrdering::Ordered,
    ));
    assert_eq!(refused.unwrap_err().kind, Kind::OutsideTransactions);
}
