//! A pause of reaping: no compaction drops an expired row from disk, no expired document is
//! visible, and afterwards reaping continues normally.

use document::doc;
use engine::Model;
use store::{Space, Store as _};
use test_kit::{Kit, ready};

/// A mostly expired collection with an index.
fn mostly_expired() -> Kit {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for id in 0..500 {
        let text = "x".repeat(200);
        kit.insert(doc! { "_id": id, "ttl": if id < 450 { 10 } else { -1 }, "text": text })
            .unwrap();
    }
    kit.move_to(20_000);
    kit
}

#[test]
fn nothing_leaves_the_disk_while_it_lasts() {
    let mut kit = mostly_expired();
    let full = kit.row_bytes();
    kit.engine.set_reaping_paused(true);
    for _ in 0..3 {
        kit.reap_all();
    }
    assert!(kit.engine.is_reaping_paused());
    assert_eq!(kit.row_bytes(), full);
    assert_eq!(kit.engine.reap_statistics().1, 0);
    // Visibility is unaffected.
    assert_eq!(kit.all_ids().len(), 50);
    assert_eq!(kit.live_amount().documents, 50);
    assert_eq!(kit.engine.reap_backlog().amount.documents, 450, "it is known what waits");
    kit.engine.set_reaping_paused(false);
    kit.reap_all();
    assert!(kit.row_bytes() < full / 5);
    assert_eq!((kit.engine.reap_statistics().1, kit.all_ids().len()), (450, 50));
}

#[test]
fn floors_of_before_are_not_in_force_any_more() {
    let mut kit = mostly_expired();
    // The floors of this pass are in effect for every compaction of the store.
    kit.reap_all();
    let reaped = kit.row_bytes();
    for id in 1000..1450 {
        kit.insert(doc! { "_id": id, "ttl": 10, "text": "x".repeat(200) }).unwrap();
    }
    kit.move_to(40_000);
    ready(kit.engine.reap_once(std::time::Duration::from_secs(99))).unwrap();
    kit.engine.set_reaping_paused(true);
    let full = kit.row_bytes();
    // Simulates a compaction started by the store.
    ready(kit.store.reap_space(Space::Rows(kit.collection().id))).unwrap();
    ready(kit.engine.reap_now(&kit.collection())).unwrap();
    assert_eq!(kit.row_bytes(), full);
    assert_eq!(kit.all_ids().len(), 50);
    kit.engine.set_reaping_paused(false);
    kit.reap_all();
    assert!(kit.row_bytes() <= reaped, "{} {reaped}", kit.row_bytes());
}

#[test]
fn what_has_expired_since_an_instant_is_counted() {
    let kit = Kit::default();
    kit.set_default(Some(-1));
    for id in 0..9 {
        kit.insert(doc! { "_id": id, "ttl": 10 * (id + 1) }).unwrap();
    }
    kit.move_to(35_000);
    let then = kit.clock.last_used();
    kit.move_to(75_000);
    let (amount, is_exact) = ready(kit.engine.expired_since(then)).unwrap();
    assert_eq!((amount.documents, is_exact), (4, true));
    assert_eq!(kit.engine.collections(Model::Documents).len(), 1);
    // With two expiry rules the time of expiry is unknown, so all expired documents count.
    kit.create_index(test_kit::date_index("at", 0)).unwrap();
    let (amount, is_exact) = ready(kit.engine.expired_since(then)).unwrap();
    assert_eq!((amount.documents, is_exact), (7, false));
}
