//! Runs one schedule for each rule of views and commit order. Its function returns whether the
//! outcome was correct, which it is with the rule and is not without it.

use document::{Document, doc};
use engine::{Hint, Plan, Rules};
use pipeline::Filter;
use test_kit::{Kit, Setup, Task, equal, find_all, insert_one, plain_index, replace_one};

use crate::transactions::Tx;

/// A collection with a default TTL of 10 s and one document that expires at 10 s.
fn kit(rules: Rules) -> Kit {
    let kit = Kit::new(Setup { rules, ..Setup::default() });
    kit.set_default(Some(10));
    kit.create_index(plain_index("a")).expect("an index");
    kit.insert(doc! { "_id": 1, "a": 1 }).expect("inserted");
    kit
}

fn renewal(kit: &Kit) -> Task<usize> {
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    Task::new(async move {
        let renewed = replace_one(engine, collection, doc! { "_id": 1, "a": 2 }, false).await;
        renewed.expect("an answer").modified
    })
}

fn scan(kit: &Kit, hint: Hint) -> Task<Result<Vec<Document>, engine::Error>> {
    let plan = Plan { hint, ..Plan::new(Filter::always()) };
    Task::new(find_all(kit.engine.clone(), kit.namespace(), plan))
}

/// An extension is stamped before the deadline and published after it.
fn last_moments(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.move_to(9_999);
    kit.store.gate().shut();
    let mut renewal = renewal(&kit);
    assert!(renewal.poll().is_none());
    kit.move_to(10_000);
    let mut scan = scan(&kit, Hint::None);
    let early = scan.poll();
    kit.store.gate().open();
    assert_eq!(renewal.finish(), 1);
    let seen = match early {
        Some(seen) => seen,
        None => scan.finish(),
    };
    seen.expect("found").len() == kit.all_ids().len()
}

/// An extension is built before the deadline and ordered after it.
fn before_expiry(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.insert(doc! { "_id": 2, "a": 2, "ttl": -1 }).expect("inserted");
    kit.move_to(9_999);
    kit.store.turnstile().stop_nth(1);
    let mut renewal = renewal(&kit);
    assert!(renewal.poll().is_none());
    kit.move_to(10_000);
    assert_eq!(kit.all_ids(), [2]);
    kit.store.turnstile().open();
    renewal.finish() == 0 && kit.all_ids() == [2]
}

/// A shorter default is ordered and not yet published when a scan starts.
fn fence(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.move_to(5_000);
    kit.store.gate().shut();
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let mut change = Task::new(async move {
        engine.set_default_ttl(&collection, test_kit::default_ttl(Some(5))).await
    });
    assert!(change.poll().is_none());
    kit.move_to(6_000);
    // At 6 s no document is live any more.
    let mut scan = scan(&kit, Hint::None);
    let early = scan.poll();
    kit.store.gate().open();
    change.finish().expect("changed");
    let seen = match early {
        Some(seen) => seen,
        None => scan.finish(),
    };
    seen.expect("found").is_empty()
}

/// An extension is built under the old default and ordered under one that has expired its document.
fn epoch(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.move_to(5_000);
    kit.store.turnstile().stop_nth(1);
    let mut renewal = renewal(&kit);
    assert!(renewal.poll().is_none());
    kit.set_default(Some(5));
    assert_eq!(kit.all_ids(), [0; 0]);
    kit.store.turnstile().open();
    renewal.finish() == 0 && kit.all_ids().is_empty()
}

/// Two inserts with the same id are built in views that see neither.
fn versions(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.store.turnstile().stop_nth(1);
    let mut stopped =
        Task::new(insert_one(kit.engine.clone(), kit.collection(), doc! { "_id": 2, "a": 7 }));
    assert!(stopped.poll().is_none());
    kit.insert(doc! { "_id": 2, "a": 8 }).expect("inserted");
    kit.store.turnstile().open();
    stopped.finish().expect("an answer").count == 0
}

/// An index scan has read its entries, and its rows expire and are reaped before it reads them.
fn read_guards(rules: Rules) -> bool {
    let mut kit = kit(rules);
    kit.store.turnstile().stop_nth(2);
    let mut scan = scan(&kit, Hint::Index("a_1".into()));
    assert!(scan.poll().is_none());
    kit.move_to(10_000);
    kit.reap_all();
    kit.store.turnstile().open();
    let kept = scan.finish().is_ok_and(|found| found.len() == 1);
    kit.reap_all();
    assert_eq!(kit.row_bytes(), 0, "nothing holds the reaper any more");
    kept
}

/// A longer default follows an expiration.
fn floors(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.move_to(10_000);
    assert_eq!(kit.all_ids(), [0; 0]);
    kit.set_default(Some(1_000));
    kit.all_ids().is_empty()
}

/// A document is read until it is cached, and then replaced.
fn last_writes(rules: Rules) -> bool {
    let kit = kit(rules);
    let read = || kit.find_documents(equal("_id", 1), Hint::None).expect("found");
    for _ in 0..3 {
        assert_eq!(read(), [doc! { "_id": 1, "a": 1 }]);
    }
    kit.replace(doc! { "_id": 1, "a": 2 }, false).expect("replaced");
    read() == [doc! { "_id": 1, "a": 2 }]
}

/// A document expires between two statements that read it.
fn interval(rules: Rules) -> bool {
    let kit = kit(rules);
    let tx = Tx::begin(&kit);
    kit.move_to(9_999);
    assert_eq!(tx.ids(), [1]);
    kit.move_to(10_000);
    tx.find(Filter::always(), Hint::None).is_err()
}

/// A statement leaves out a document that expired since the snapshot and was prolonged by another
/// writer before.
fn renewals(rules: Rules) -> bool {
    let kit = kit(rules);
    kit.insert(doc! { "_id": 2, "a": 2, "ttl": -1 }).expect("inserted");
    let tx = Tx::begin(&kit);
    assert_eq!(tx.find(equal("_id", 2), Hint::None).expect("found").len(), 1);
    kit.move_to(9_000);
    kit.replace(doc! { "_id": 1, "a": 3 }, false).expect("replaced");
    kit.move_to(10_000);
    tx.find(equal("_id", 1), Hint::None).is_err()
}

/// A document expires between a statement that edits it and the commit.
fn reliance(rules: Rules) -> bool {
    let kit = kit(rules);
    let tx = Tx::begin(&kit);
    kit.move_to(9_999);
    tx.replace(doc! { "_id": 1, "a": 2 }, false).expect("replaced");
    kit.move_to(10_000);
    assert_eq!(kit.all_ids(), [0; 0]);
    tx.commit().is_err() && kit.all_ids().is_empty()
}

/// The default is shortened between two statements.
fn transaction_epochs(rules: Rules) -> bool {
    let kit = kit(rules);
    let tx = Tx::begin(&kit);
    kit.move_to(5_000);
    assert_eq!(tx.ids(), [1]);
    kit.set_default(Some(6));
    kit.move_to(7_000);
    tx.find(Filter::always(), Hint::None).is_err()
}

/// A transaction is open for longer than the lifetime of the document that it inserts.
fn own_lifetimes(rules: Rules) -> bool {
    let kit = kit(rules);
    let tx = Tx::begin(&kit);
    tx.insert(doc! { "_id": 2, "a": 2 }).expect("inserted");
    kit.move_to(12_000);
    let seen = tx.find(equal("_id", 2), Hint::None).expect("found").len();
    assert!(tx.commit().expect("committed"));
    kit.move_to(21_999);
    assert_eq!(kit.all_ids(), [2]);
    kit.move_to(22_000);
    seen == 1 && kit.all_ids().is_empty()
}

macro_rules! needed {
    ($($rule:ident: $test:ident,)*) => {$(
        #[test]
        fn $test() {
            assert!($rule(Rules::default()), "with all rules");
            assert!(!$rule(Rules { $rule: false, ..Rules::default() }), "without the rule");
        }
    )*};
}

needed! {
    last_moments: an_expiration_in_the_last_moments_waits_for_commits_in_flight,
    before_expiry: a_renewal_must_be_ordered_before_the_expiry,
    fence: no_view_opens_while_a_change_of_ttl_is_under_way,
    epoch: a_write_is_refused_when_settings_changed_after_its_view,
    versions: a_write_is_refused_when_its_row_changed_after_its_view,
    read_guards: an_open_view_holds_the_reaper,
    floors: a_change_of_settings_keeps_what_had_expired,
    last_writes: a_row_in_memory_is_not_used_once_it_was_written_again,
    interval: a_transaction_does_not_see_a_document_live_and_then_expired,
    renewals: a_transaction_does_not_leave_out_a_prolonged_document,
    reliance: a_transaction_commits_before_the_expiry_of_what_it_edited,
    transaction_epochs: a_transaction_ends_with_a_change_of_settings,
    own_lifetimes: lifetimes_of_a_transaction_begin_with_its_commit,
}
