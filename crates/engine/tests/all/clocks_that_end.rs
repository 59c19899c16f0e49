//! When a node loses ownership its clock ends; later reads, and those waiting for time, fail
//! because another node owns the data.

use document::doc;
use engine::{ChangeQuery, DefaultTtl, Error, ItemRange, Kind};
use pipeline::Filter;
use test_kit::{Kit, Setup, plain_index, ready};

use crate::items::{Shelf, key};

fn kind<T>(result: Result<T, Error>) -> Option<Kind> {
    result.err().map(|error| error.kind)
}

#[test]
fn operations_on_documents_end_with_it() {
    let kit = Kit::new(Setup::default());
    kit.insert(doc! { "_id": 1, "a": 1 }).unwrap();
    kit.clock.end();
    let context = test_kit::context();
    let all = engine::Find::new(Filter::always());
    let mut cursor = kit.begin_query(engine::Plan::new(Filter::always()));
    let limit = engine::BatchLimit { documents: 2, bytes: usize::MAX };
    for (name, ended) in [
        ("now", kind(ready(kit.engine.now()))),
        ("find", kind(ready(cursor.next_batch(limit)))),
        ("insert", kind(kit.insert(doc! { "_id": 2 }))),
        ("replace", kind(kit.replace(doc! { "_id": 1 }, true))),
        ("remove", kind(ready(kit.engine.remove(&kit.collection(), &all, true, &context)))),
        ("index", kind(kit.create_index(plain_index("a")))),
    ] {
        assert_eq!(ended, Some(Kind::Moved), "{name}");
    }
}

#[test]
fn operations_on_items_end_with_it() {
    let shelf = Shelf::new(DefaultTtl::Infinite);
    shelf.upsert("p", "1", doc! {});
    let container = shelf.container();
    shelf.kit.clock.end();
    let read = ready(shelf.engine().read_item(&container, &key("p", "1")));
    assert_eq!(kind(read), Some(Kind::Moved));
    let range = ItemRange::all();
    let wanted = ChangeQuery { after: 0, since_s: 0, range, items: 10, bytes: usize::MAX };
    let changes = ready(shelf.engine().item_changes(&container, &wanted, &test_kit::context()));
    assert_eq!(kind(changes), Some(Kind::Moved));
}
