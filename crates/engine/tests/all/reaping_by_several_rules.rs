//! Where documents expire by several rules, counters do not show how much has expired, and the
//! reaper scans the rows.

use std::time::Duration;

use document::doc;
use test_kit::{Kit, Setup, date_index, ready};

#[test]
fn documents_that_expire_during_the_reap_delay_are_reaped_after_it() {
    let kit = Kit::new(Setup { reap_delay: Duration::from_secs(60), ..Setup::default() });
    kit.set_default(Some(-1));
    kit.create_index(date_index("at", 0)).unwrap();
    for id in 0..800 {
        let ttl = if id < 400 { 10 } else { 20 };
        kit.insert(doc! { "_id": id, "ttl": ttl, "text": "x".repeat(400) }).unwrap();
    }
    kit.insert(doc! { "_id": 800 }).unwrap();
    let full = kit.row_bytes();
    let pass = |now_ms, elapsed_s| {
        kit.move_to(now_ms);
        ready(kit.engine.reap_once(Duration::from_secs(elapsed_s))).unwrap();
        (kit.row_bytes(), kit.engine.reap_statistics().1)
    };
    assert_eq!(pass(15_000, 100), (full, 0));
    // The sample of the first pass is in force: the others have expired after it.
    let (half, reaped) = pass(25_000, 200);
    assert!(full / 3 < half && half < full * 2 / 3, "{half} of {full}");
    assert_eq!(reaped, 400);
    let (rest, reaped) = pass(25_000, 300);
    assert!(rest < full / 100, "{rest} of {full}");
    assert_eq!(reaped, 800);
    assert_eq!(kit.engine.reap_backlog().amount.documents, 400, "before the compaction");
    ready(kit.engine.reap_once(Duration::from_secs(400))).unwrap();
    assert_eq!(kit.engine.reap_backlog().amount.documents, 0);
    assert_eq!(kit.all_ids(), [800]);
}
