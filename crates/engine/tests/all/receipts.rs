//! A receipt and its write are committed atomically, and a receipt is never written over a version
//! that was not read.

use std::sync::Mutex;

use document::{DocRef, Document, doc};
use engine::{
    Effect, Error, Find, Inserted, Kind, ListOrdering, NewDocument, Receipt, ReceiptPut, Receipts,
    Update,
};
use expiry::Lifetime;
use pipeline::edit::Edit;
use test_kit::{Kit, Task, TtlField, equal, ready, unique_index};

/// A receipt that describes the writes as text.
#[derive(Debug, Default)]
struct Notes {
    expected_stamp: Mutex<Option<u64>>,
    said: Mutex<Vec<String>>,
}

impl Receipts for Notes {
    fn receipts_for(&self, effect: Effect<'_>) -> Result<Vec<ReceiptPut>, Error> {
        let text = match effect {
            Effect::Nothing => "nothing".to_owned(),
            Effect::Inserted(places) => format!("inserted {places:?}"),
            Effect::Edited { before, after } => {
                format!("edited {:?} to {:?}", DocRef::Raw(before), DocRef::Raw(after))
            }
            Effect::Upserted { id, .. } => format!("upserted {id:?}"),
            Effect::Removed { before } => format!("removed {:?}", DocRef::Raw(before)),
            Effect::Statements(statements) => format!("statements {statements:?}"),
        };
        let body = Some(doc! { "_id": 7, "said": text.as_str() }.to_buf());
        self.said.lock().unwrap().push(text);
        Ok(vec![ReceiptPut {
            id: 7.into(),
            expected_stamp: *self.expected_stamp.lock().unwrap(),
            body,
        }])
    }

    fn record_commit(&self, stamp: u64) {
        *self.expected_stamp.lock().unwrap() = Some(stamp);
    }
}

fn held(kit: &Kit) -> Option<Receipt> {
    ready(kit.engine.receipt(document::ValueRef::Int32(7))).unwrap()
}

fn said(kit: &Kit) -> Option<String> {
    let tree = DocRef::Raw(&held(kit)?.body).to_tree();
    Some(tree.get("said")?.as_ref().as_str()?.to_owned())
}

fn list(documents: &[Document]) -> Vec<NewDocument> {
    let new = |document: &Document| NewDocument {
        document: document.to_buf(),
        lifetime: Lifetime::Inherit,
        since: None,
    };
    documents.iter().map(new).collect()
}

fn insert(kit: &Kit, notes: &Notes, documents: &[Document]) -> Result<Inserted, Error> {
    let (collection, order) = (kit.collection(), ListOrdering::Unordered);
    ready(kit.engine.insert_since(&collection, list(documents), order, Some(notes), None))
}

/// Sets `a` of the document with this id.
fn set(kit: &Kit, notes: &Notes, id: i32, a: i32, upsert: bool) -> Result<engine::Edited, Error> {
    let edit = Edit::Replacement(doc! { "_id": id, "a": a });
    let update = Update {
        find: Find::new(equal("_id", id)),
        edit: &edit,
        many: false,
        upsert,
        context: test_kit::context(),
        writer: &TtlField,
    };
    ready(kit.engine.find_and_update_with(&kit.collection(), &update, Some(notes), None))
}

#[test]
fn each_kind_of_write_leaves_one_and_a_restart_keeps_it() {
    let mut kit = Kit::default();
    let notes = Notes::default();
    let find = Find::new(equal("_id", 1));
    insert(&kit, &notes, &[doc! { "_id": 1 }, doc! { "_id": 2 }]).unwrap();
    assert_eq!(said(&kit).unwrap(), "inserted [0, 1]");
    set(&kit, &notes, 1, 5, false).unwrap();
    assert!(said(&kit).unwrap().starts_with("edited"), "{:?}", said(&kit));
    set(&kit, &notes, 3, 5, true).unwrap();
    assert!(said(&kit).unwrap().starts_with("upserted"), "{:?}", said(&kit));
    let (collection, context) = (kit.collection(), test_kit::context());
    let remove =
        || kit.engine.find_and_remove_with(&collection, &find, &context, Some(&notes), None);
    assert!(ready(remove()).unwrap().is_some());
    let last = said(&kit).unwrap();
    assert!(last.starts_with("removed"), "{last}");
    // Both operations change no document.
    assert!(ready(remove()).unwrap().is_none());
    set(&kit, &notes, 3, 5, false).unwrap();
    set(&kit, &notes, 9, 5, false).unwrap();
    assert_eq!(said(&kit).unwrap(), last);
    ready(kit.engine.put_receipts(&notes)).unwrap();
    assert_eq!(said(&kit).unwrap(), "nothing");
    let before = held(&kit);
    kit.restart();
    assert_eq!((held(&kit), kit.all_ids()), (before, vec![2, 3]));
    // Receipts are not visible as documents.
    assert_eq!(kit.engine.collections(engine::Model::Documents).len(), 1);
}

#[test]
fn a_write_over_a_version_that_was_not_read_leaves_nothing() {
    let kit = Kit::default();
    let (first, second) = (Notes::default(), Notes::default());
    insert(&kit, &first, &[doc! { "_id": 1 }]).unwrap();
    let before = held(&kit);
    let kind = |error: Error| error.kind;
    let refused = insert(&kit, &second, &[doc! { "_id": 2 }]).map_err(kind);
    assert_eq!(refused.unwrap_err(), Kind::Precondition);
    assert_eq!(set(&kit, &second, 1, 9, false).map_err(kind).unwrap_err(), Kind::Precondition);
    assert_eq!(set(&kit, &second, 4, 9, true).map_err(kind).unwrap_err(), Kind::Precondition);
    assert_eq!(ready(kit.engine.put_receipts(&second)).map_err(kind), Err(Kind::Precondition));
    assert_eq!((held(&kit), kit.all_ids()), (before, vec![1]));
}

/// Two writers that have read the same version, stopped at every read of the first one.
#[test]
fn of_two_writers_at_once_one_wins() {
    for reads in 1..=6 {
        let kit = Kit::default();
        insert(&kit, &Notes::default(), &[doc! { "_id": 1 }]).unwrap();
        let read = held(&kit).map(|held| held.stamp);
        let [first, second] = [Notes::default(), Notes::default()];
        for notes in [&first, &second] {
            *notes.expected_stamp.lock().unwrap() = read;
        }
        let (engine, collection) = (kit.engine.clone(), kit.collection());
        kit.store.turnstile().stop_nth(reads);
        let mut slow = Task::new(async move {
            let documents = list(&[doc! { "_id": 2 }]);
            let order = ListOrdering::Ordered;
            engine.insert_since(&collection, documents, order, Some(&first), None).await
        });
        let early = slow.poll();
        kit.store.turnstile().disarm();
        let quick = insert(&kit, &second, &[doc! { "_id": 3 }]);
        kit.store.turnstile().open();
        let slow = early.unwrap_or_else(|| slow.finish());
        assert_eq!(slow.is_ok(), quick.is_err(), "stopped at read {reads}: {slow:?}, {quick:?}");
        let winner = if slow.is_ok() { 2 } else { 3 };
        assert_eq!(kit.all_ids(), [1, winner], "stopped at read {reads}");
    }
}

#[test]
fn documents_of_one_commit_do_not_share_a_unique_value() {
    let kit = Kit::default();
    kit.create_index(unique_index("a")).unwrap();
    kit.insert(doc! { "_id": 9, "a": 9 }).unwrap();
    let notes = Notes::default();
    let a = [1, 2, 1, 9, 3];
    let documents: Vec<_> = (0..5).map(|at| doc! { "_id": at, "a": a[at as usize] }).collect();
    let inserted = insert(&kit, &notes, &documents).unwrap();
    let failed: Vec<usize> = inserted.failed.iter().map(|(at, _)| *at).collect();
    assert_eq!((inserted.count, failed), (3, vec![2, 3]));
    assert_eq!(kit.all_ids(), [0, 1, 4, 9]);
    assert_eq!(*notes.said.lock().unwrap(), ["inserted [0, 1, 4]"]);
}

#[test]
fn a_manual_clock_does_not_expire_them_and_old_ones_are_removed() {
    let kit = Kit::default();
    let notes = Notes::default();
    insert(&kit, &notes, &[doc! { "_id": 1 }]).unwrap();
    kit.move_to(90 * 24 * 60 * 60 * 1000);
    assert!(held(&kit).is_some());
    let said_so = |text: &'static str| {
        move |body: &[u8]| DocRef::Raw(body).get("said").is_some_and(|it| it.as_str() == Some(text))
    };
    assert_eq!(ready(kit.engine.forget_receipts(&said_so("nothing"))).unwrap(), 0);
    assert!(held(&kit).is_some());
    assert_eq!(ready(kit.engine.forget_receipts(&said_so("inserted [0]"))).unwrap(), 1);
    assert!(held(&kit).is_none());
    // The version read was replaced, which does not count as another version.
    insert(&kit, &notes, &[doc! { "_id": 2 }]).unwrap();
    assert_eq!(said(&kit).unwrap(), "inserted [0]");
}
