//! Write groups: which statements fit into a group, and that a conflict leaves the statement and
//! all later ones unexecuted.

use document::{Document, doc};
use engine::{Find, Hint, Update, WriteGroup};
use pipeline::edit::Edit;
use test_kit::{Kit, TtlField, date_index, equal, ready, unique_index};

/// Adds an upsert that replaces the document with an id; returns whether it fits.
fn put(kit: &Kit, group: &mut WriteGroup<'_>, at: usize, document: Document) -> bool {
    let find = Find::new(equal("_id", document.get("_id").cloned().unwrap()));
    put_where(kit, group, at, find, document).unwrap()
}

fn put_where(
    kit: &Kit,
    group: &mut WriteGroup<'_>,
    at: usize,
    find: Find,
    document: Document,
) -> Result<bool, engine::Error> {
    let edit = Edit::Replacement(document);
    let context = test_kit::context();
    let update =
        Update { find, edit: &edit, many: false, upsert: true, context, writer: &TtlField };
    Ok(ready(group.update(at, &kit.collection(), &update))?.is_some())
}

fn remove(kit: &Kit, group: &mut WriteGroup<'_>, at: usize, id: i32) -> Option<usize> {
    let (find, context) = (Find::new(equal("_id", id)), test_kit::context());
    ready(group.remove(at, &kit.collection(), &find, true, &context)).unwrap()
}

#[test]
fn statements_about_different_documents_are_one_group() {
    let kit = Kit::default();
    for id in 0..50 {
        kit.insert(doc! { "_id": id, "a": 0 }).unwrap();
    }
    let mut group = kit.engine.write_group(1_000);
    for id in 0..100 {
        assert!(put(&kit, &mut group, id as usize, doc! { "_id": id, "a": 1 }));
    }
    assert_eq!(group.positions(), (0..100).collect::<Vec<_>>());
    // Nothing is visible before the commit.
    assert_eq!(kit.all_ids().len(), 50);
    assert_eq!(ready(group.commit(None)).unwrap(), None);
    assert_eq!(kit.all_ids().len(), 100);
}

#[test]
fn a_statement_about_a_document_of_the_group_is_left() {
    let kit = Kit::default();
    kit.insert(doc! { "_id": 1, "a": 1 }).unwrap();
    let mut group = kit.engine.write_group(1_000);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 1, "a": 2 }));
    assert!(put(&kit, &mut group, 1, doc! { "_id": 2, "a": 3 }));
    // The filters match a document before a write, the same after the write, and a new document.
    for a in [1, 2, 3] {
        let find = Find::new(equal("a", a));
        let put = put_where(&kit, &mut group, 2, find, doc! { "_id": 9, "a": 9 });
        assert!(!put.unwrap(), "{a}");
    }
    assert_eq!(remove(&kit, &mut group, 2, 2), None);
    assert_eq!(remove(&kit, &mut group, 2, 3), Some(0));
    let find = Find::new(equal("a", 4));
    assert!(put_where(&kit, &mut group, 3, find, doc! { "_id": 4, "a": 4 }).unwrap());
    assert_eq!(group.positions(), [0, 1, 3]);
    assert_eq!(ready(group.commit(None)).unwrap(), None);
    assert_eq!(kit.all_ids(), [1, 2, 4]);
}

#[test]
fn updates_of_one_document_by_id_become_one_write() {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    kit.insert(doc! { "_id": 1, "a": 0 }).unwrap();
    let mut group = kit.engine.write_group(1_000);
    for a in 1..=300 {
        let id = 1 + a % 2;
        assert!(put(&kit, &mut group, a as usize, doc! { "_id": id, "a": a }), "{a}");
    }
    // Nothing changes: it is no write, and the next statement sees the document as it is.
    assert!(put(&kit, &mut group, 301, doc! { "_id": 1, "a": 300 }));
    assert_eq!(group.positions(), (1..=300).collect::<Vec<_>>());
    // Other statements must match neither the document as the view shows it nor as the group has
    // written it last.
    for a in [0, 300] {
        let find = Find::new(equal("a", a));
        assert!(!put_where(&kit, &mut group, 302, find, doc! { "_id": 9 }).unwrap(), "{a}");
    }
    let find = Find::new(equal("a", 298));
    assert!(put_where(&kit, &mut group, 302, find, doc! { "_id": 3, "a": 3 }).unwrap());
    assert_eq!(ready(group.commit(None)).unwrap(), None);
    assert_eq!(kit.all_ids(), [1, 2, 3]);
    for (id, a) in [(1, 300), (2, 299), (3, 3)] {
        let found = kit.find_documents(equal("_id", id), Hint::None).unwrap();
        assert_eq!(found, [doc! { "_id": id, "a": a }]);
    }
}

#[test]
fn a_group_with_replaced_writes_is_committed_as_a_whole() {
    let kit = Kit::default();
    let mut group = kit.engine.write_group(1_000);
    for (at, id) in [1, 2, 1, 3].into_iter().enumerate() {
        assert!(put(&kit, &mut group, 10 + at, doc! { "_id": id, "at": at as i32 }));
    }
    kit.insert(doc! { "_id": 2, "a": 7 }).unwrap();
    assert_eq!(ready(group.commit(None)).unwrap(), Some(10));
    assert_eq!(kit.all_ids(), [2]);
}

#[test]
fn a_document_that_may_have_expired_is_not_written_again() {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    kit.insert(doc! { "_id": 1, "ttl": 100 }).unwrap();
    let mut group = kit.engine.write_group(1_000);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 1, "ttl": 50 }));
    assert!(put(&kit, &mut group, 1, doc! { "_id": 1, "ttl": 10 }));
    assert_eq!(ready(group.commit(None)).unwrap(), None);
    kit.move_to(10_000);
    assert!(kit.all_ids().is_empty());

    let kit = Kit::default();
    kit.create_index(date_index("at", 60)).unwrap();
    let mut group = kit.engine.write_group(1_000);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 1, "a": 1 }));
    assert!(!put(&kit, &mut group, 1, doc! { "_id": 1, "a": 2 }));
}

#[test]
fn a_document_with_unique_values_is_written_again_and_keeps_them_from_others() {
    let kit = Kit::default();
    kit.create_index(unique_index("u")).unwrap();
    kit.insert(doc! { "_id": 1, "u": 1, "a": 0 }).unwrap();
    kit.insert(doc! { "_id": 5, "u": 5 }).unwrap();
    let mut group = kit.engine.write_group(1_000);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 1, "u": 1, "a": 1 }));
    assert!(put(&kit, &mut group, 1, doc! { "_id": 2, "u": 2 }));
    // Values that the document keeps, takes, gives up and takes back.
    for (at, u) in [(2, 1), (3, 3), (4, 4), (5, 1), (6, 6)] {
        assert!(put(&kit, &mut group, at, doc! { "_id": 1, "u": u, "a": at as i32 }), "{at}");
    }
    // No other document gets one of them within the group.
    for u in [1, 3, 4, 6] {
        assert!(!put(&kit, &mut group, 7, doc! { "_id": 3, "u": u }), "{u}");
        assert!(!put(&kit, &mut group, 7, doc! { "_id": 2, "u": u }), "{u}");
    }
    // The document gets none that another statement takes, and none that another document has.
    assert!(!put(&kit, &mut group, 7, doc! { "_id": 1, "u": 2 }));
    let taken = doc! { "_id": 1, "u": 5 };
    put_where(&kit, &mut group, 7, Find::new(equal("_id", 1)), taken).unwrap_err();
    // The unique value selects it as the id does, but no value that it does not have now.
    for (u, fits) in [(1, false), (4, false), (6, true)] {
        let replacement = doc! { "_id": 1, "u": 6, "a": 7 };
        let find = Find::new(equal("u", u));
        assert_eq!(put_where(&kit, &mut group, 7, find, replacement).unwrap(), fits, "{u}");
    }
    assert_eq!(group.positions(), (0..=7).collect::<Vec<_>>());
    assert_eq!(ready(group.commit(None)).unwrap(), None);
    for (u, id) in [(2, 2), (5, 5), (6, 1)] {
        let found = kit.find_documents(equal("u", u), Hint::None).unwrap();
        assert_eq!(found.len(), 1, "{u}");
        assert_eq!(found[0].get("_id"), Some(&id.into()), "{u}");
    }
    // A value that the document gave up is free again, and its present value is not.
    kit.insert(doc! { "_id": 7, "u": 1 }).unwrap();
    kit.insert(doc! { "_id": 8, "u": 6 }).unwrap_err();
}

#[test]
fn a_unique_value_that_the_group_takes_or_gives_up_is_left() {
    let kit = Kit::default();
    kit.create_index(unique_index("u")).unwrap();
    kit.insert(doc! { "_id": 1, "u": 1 }).unwrap();
    kit.insert(doc! { "_id": 5, "u": 5 }).unwrap();
    let mut group = kit.engine.write_group(1_000);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 1, "u": 2 }));
    assert!(!put(&kit, &mut group, 1, doc! { "_id": 2, "u": 1 }), "given up");
    assert!(!put(&kit, &mut group, 1, doc! { "_id": 3, "u": 2 }), "taken");
    // For a value that the group does not touch, the view determines the document that has it.
    let find = Find::new(equal("_id", 4));
    put_where(&kit, &mut group, 1, find, doc! { "_id": 4, "u": 5 }).unwrap_err();
    assert!(put(&kit, &mut group, 2, doc! { "_id": 4, "u": 4 }));
    assert_eq!(ready(group.commit(None)).unwrap(), None);
}

#[test]
fn what_another_writer_has_changed_is_left_with_all_behind_it() {
    let kit = Kit::default();
    let mut group = kit.engine.write_group(1_000);
    for id in 0..5 {
        assert!(put(&kit, &mut group, 10 + id as usize, doc! { "_id": id, "a": 1 }));
    }
    kit.insert(doc! { "_id": 2, "a": 7 }).unwrap();
    assert_eq!(ready(group.commit(None)).unwrap(), Some(12));
    assert_eq!(kit.all_ids(), [0, 1, 2]);
}

#[test]
fn what_has_expired_before_the_commit_is_not_written() {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    kit.insert(doc! { "_id": 1, "ttl": 5 }).unwrap();
    let mut group = kit.engine.write_group(1_000);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 1, "a": 1 }));
    assert!(put(&kit, &mut group, 1, doc! { "_id": 2, "a": 1 }));
    kit.move_to(5_000);
    assert_eq!(ready(group.commit(None)).unwrap(), Some(0));
    assert!(kit.all_ids().is_empty());
}

#[test]
fn a_full_group_takes_no_more() {
    let kit = Kit::default();
    let mut group = kit.engine.write_group(2);
    for id in 0..3 {
        let taken = put(&kit, &mut group, id as usize, doc! { "_id": id });
        assert_eq!(taken, id < 2);
    }
    let mut group = kit.engine.write_group(1_000);
    let large = "x".repeat(engine::limits::UNIT_BYTES);
    assert!(put(&kit, &mut group, 0, doc! { "_id": 7, "text": large.as_str() }));
    assert!(!put(&kit, &mut group, 1, doc! { "_id": 8 }));
}

#[test]
fn a_statement_about_many_documents_runs_alone() {
    let kit = Kit::default();
    let many = i32::try_from(engine::limits::GROUP_MATCHES).unwrap() + 1;
    for id in 0..many {
        kit.insert(doc! { "_id": id, "a": id % 2 }).unwrap();
    }
    let mut group = kit.engine.write_group(1_000);
    let context = test_kit::context();
    let mut removed =
        |find: Find| ready(group.remove(0, &kit.collection(), &find, true, &context)).unwrap();
    assert_eq!(removed(Find::new(pipeline::Filter::always())), None);
    assert_eq!(removed(Find::new(equal("a", 1))), Some(usize::try_from(many / 2).unwrap()));
}
