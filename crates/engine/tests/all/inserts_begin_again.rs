//! A refused round of inserts is retried in a new view with all of its documents.

use document::doc;
use engine::{Kind, ListOrdering};
use expiry::Lifetime;
use test_kit::{Kit, Task};

/// The settings change during an ordered list, so its first round is refused. Documents that failed
/// in that round are retried too.
#[test]
fn an_ordered_list_still_stops_at_its_failure() {
    for reads in 1..=3 {
        let kit = Kit::default();
        kit.insert(doc! { "_id": 2 }).unwrap();
        let (engine, collection) = (kit.engine.clone(), kit.collection());
        let list = [1, 2, 3].map(|id| (doc! { "_id": id }.to_buf(), Lifetime::Inherit));
        kit.store.turnstile().stop_nth(reads);
        let mut insert = Task::new(async move {
            engine.insert(&collection, list.to_vec(), ListOrdering::Ordered).await
        });
        let early = insert.poll();
        kit.store.turnstile().disarm();
        if early.is_none() {
            kit.set_default(Some(7));
        }
        kit.store.turnstile().open();
        let inserted = early.unwrap_or_else(|| insert.finish()).unwrap();
        assert_eq!(kit.all_ids(), [1, 2], "stopped at read {reads}");
        let [(1, error)] = &inserted.failed[..] else { panic!("{:?}", inserted.failed) };
        assert!(matches!(error.kind, Kind::DuplicateKey { .. }), "{error:?}");
        assert_eq!(inserted.count, 1);
    }
}
