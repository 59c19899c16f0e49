//! The stamp of a container's last change is unaffected by other collections and never decreases,
//! even if the item changed last expires or is deleted.

use std::{sync::Arc, time::Duration};

use document::{Document, doc};
use engine::{ChangeQuery, Collection, DefaultTtl, ItemAction, ItemRange, Model, Namespace};
use test_kit::{context, ready};

use crate::items::{Shelf, body, definition, write};

/// Returns the last change of the container.
fn last(shelf: &Shelf) -> u64 {
    last_of(shelf, &shelf.container())
}

fn last_of(shelf: &Shelf, container: &Arc<Collection>) -> u64 {
    ready(shelf.engine().last_change(container)).unwrap()
}

/// Writes to another container and to a document collection.
fn write_elsewhere(shelf: &Shelf, other: &Arc<Collection>) {
    let writes = [write(ItemAction::Upsert(body("a", "1", Document::new())), "a", "1")];
    ready(shelf.engine().write_items(other, &writes, &crate::items::Honour)).unwrap();
    let id = i64::try_from(last_of(shelf, other)).unwrap();
    shelf.kit.insert(doc! { "_id": id }).unwrap();
}

/// Returns the end position of the page that contains all changes after `after`.
fn feed_end(shelf: &Shelf, after: u64) -> u64 {
    let (since_s, range) = (i64::MIN, ItemRange::all());
    let wanted = ChangeQuery { after, since_s, range, items: 100, bytes: 1 << 20 };
    let (container, context) = (shelf.container(), context());
    ready(shelf.engine().item_changes(&container, &wanted, &context)).unwrap().next
}

#[test]
fn other_collections_do_not_move_it() {
    let shelf = Shelf::new(DefaultTtl::Off);
    let name = Namespace::new("db", "other");
    let other = definition(DefaultTtl::Off);
    let other = ready(shelf.engine().create_container(&name, &other)).unwrap();
    let empty = last(&shelf);
    write_elsewhere(&shelf, &other);
    assert_eq!(last(&shelf), empty);
    let item = shelf.upsert("a", "1", Document::new()).item.unwrap();
    assert!(empty < item.stamp);
    write_elsewhere(&shelf, &other);
    assert_eq!((last(&shelf), feed_end(&shelf, 0)), (item.stamp, item.stamp));
    // A position after the last change is kept, since positions of earlier versions are stamps of
    // the whole store.
    assert_eq!(feed_end(&shelf, item.stamp + 1000), item.stamp + 1000);
    // A batch of reads changes nothing.
    shelf.write(&[write(ItemAction::Read, "a", "1")]).unwrap();
    assert_eq!(last(&shelf), item.stamp);
    let next = shelf.upsert("a", "1", Document::new()).item.unwrap();
    assert!(item.stamp < next.stamp);
    assert_eq!(last(&shelf), next.stamp);
}

#[test]
fn it_outlives_what_was_changed_last() {
    let mut shelf = Shelf::new(DefaultTtl::Infinite);
    shelf.upsert("a", "keeps", Document::new());
    shelf.upsert("a", "goes", Document::new());
    shelf.one(ItemAction::Delete, "a", "goes").unwrap();
    let removed = last(&shelf);
    shelf.kit.restart();
    assert_eq!(last(&shelf), removed, "after a removal");
    // An item that is created and deleted in one commit.
    let both = [
        write(ItemAction::Create(body("a", "2", Document::new())), "a", "2"),
        write(ItemAction::Delete, "a", "2"),
    ];
    shelf.write(&both).unwrap();
    let both = last(&shelf);
    assert!(removed < both);
    shelf.kit.restart();
    assert_eq!(last(&shelf), both, "after an item that came and went");
    let dies = shelf.upsert("a", "dies", doc! { "ttl": 5_i64 }).item.unwrap();
    assert_eq!(last(&shelf), dies.stamp);
    shelf.kit.move_to(20_000);
    // Reaping needs a sufficiently old sample.
    for pass in 1..4 {
        ready(shelf.engine().reap_once(Duration::from_secs(pass))).unwrap();
        ready(shelf.engine().reap_now(&shelf.container())).unwrap();
    }
    assert_eq!(last(&shelf), dies.stamp);
    shelf.kit.restart();
    assert_eq!(last(&shelf), dies.stamp, "after it was reaped");
    assert_eq!(feed_end(&shelf, 0), dies.stamp);
    let all = shelf.engine().expect_collection(Model::Items, &Namespace::new("db", "box"));
    ready(shelf.engine().remove_range(&all.unwrap(), &ItemRange::all(), &context())).unwrap();
    let emptied = last(&shelf);
    assert!(dies.stamp < emptied);
    shelf.kit.restart();
    assert_eq!(last(&shelf), emptied, "after all was removed");
}

#[test]
fn a_container_made_anew_goes_on_behind_the_one_before() {
    let shelf = Shelf::new(DefaultTtl::Off);
    shelf.upsert("a", "1", Document::new());
    let before = last(&shelf);
    let name = Namespace::new("db", "box");
    assert!(ready(shelf.engine().drop_collection(Model::Items, &name)).unwrap());
    ready(shelf.engine().create_container(&name, &definition(DefaultTtl::Off))).unwrap();
    assert!(before < last(&shelf));
}
