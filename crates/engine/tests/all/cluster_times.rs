//! The cluster time of the newest commit advances with commits alone and survives restarts.

use document::doc;
use engine::ClusterTime;
use test_kit::{Kit, START_MS};

#[test]
fn each_commit_has_a_later_time() {
    let mut kit = Kit::default();
    let mut last = kit.engine.cluster_time();
    for id in 0..4_i64 {
        kit.insert(doc! { "_id": id }).unwrap();
        let time = kit.engine.cluster_time();
        assert!(last < time, "{last:?} {time:?}");
        assert_eq!(time.at_ms(), START_MS + kit.now_ms());
        if id == 1 {
            kit.move_to(1_500);
            // A clock that moves changes nothing until the next commit.
            assert_eq!(kit.engine.cluster_time(), time);
        }
        kit.restart();
        kit.restart();
        assert_eq!(kit.engine.cluster_time(), time);
        last = time;
    }
    let due = ClusterTime::of_expiration(START_MS + 1_500);
    assert!(due < last, "documents expire before the commits of their millisecond");
}
