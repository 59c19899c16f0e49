//! The change log drops its oldest records when it is larger than its bound: writers continue in
//! a store that would be full otherwise, readers that keep up miss nothing and see nothing twice, and
//! positions whose records were dropped are lost.

use std::{collections::BTreeSet, time::Duration};

use document::{Value, doc};
use engine::{
    Change, ChangeKind, ChangeLogQuery, ChangePosition, ChangeScope, Kind, Model, Namespace,
};
use test_kit::{Kit, START_MS, Setup, Task, context, ready};

const LOG_BYTES: u64 = 1 << 20;
const STORE_BYTES: usize = 4 << 20;
const PAYLOAD: usize = 10_000;

fn bounded() -> Kit {
    let setup = Setup { change_log_bytes: LOG_BYTES, store_bytes: STORE_BYTES, ..Setup::default() };
    let kit = Kit::new(setup);
    ready(kit.engine.keep_changes(1_000_000)).unwrap();
    kit.set_default(Some(-1));
    kit
}

/// Runs two passes of the reaper, the second of which drops what the first has found.
fn reap(kit: &Kit, second: i64) {
    for half in 0..2 {
        let elapsed = Duration::from_millis(second.unsigned_abs() * 1_000 + half * 500);
        ready(kit.engine.reap_once(elapsed)).unwrap();
        kit.move_to(second * 1_000 + 250 * (i64::try_from(half).unwrap() + 1));
    }
}

fn read(kit: &Kit, from: &ChangePosition) -> Result<(Vec<Change>, ChangePosition), Kind> {
    let (mut from, mut all) = (from.clone(), Vec::new());
    loop {
        let scope = ChangeScope::Collection(kit.namespace());
        let query = ChangeLogQuery { from, scope, changes: 100, bytes: usize::MAX };
        let page = ready(async { kit.engine.read_changes(&query, &context()).await });
        let page = page.map_err(|error| error.kind)?;
        all.extend(page.changes);
        from = page.next;
        if !page.more {
            return Ok((all, from));
        }
    }
}

/// Returns the size of the records in the store.
fn stored_bytes(kit: &Kit) -> u64 {
    use store::Store as _;
    let log = Namespace::new("changes", "changes");
    let log = kit.engine.expect_collection(Model::Changes, &log).unwrap();
    kit.store.space_bytes(store::Space::Rows(log.id))
}

#[test]
fn writers_go_on_and_the_newest_records_are_kept() {
    let mut kit = bounded();
    let first = ChangePosition::at(kit.engine.cluster_time().next());
    let payload = || Value::String("x".repeat(PAYLOAD));
    let (mut from, mut seen, mut ended) = (first.clone(), Vec::new(), BTreeSet::new());
    for second in 1..=100_i64 {
        kit.move_to(second * 1_000);
        for at in 0..10 {
            // Twenty megabytes in all; a document of each second expires two seconds later.
            kit.replace(doc! { "_id": at, "second": second, "x": payload() }, true).unwrap();
            kit.replace(doc! { "_id": at, "second": second, "y": payload() }, true).unwrap();
        }
        kit.insert(doc! { "_id": 1_000 + second, "ttl": 2 }).unwrap();
        reap(&kit, second);
        assert!(stored_bytes(&kit) <= 2 * LOG_BYTES, "{second}: {}", stored_bytes(&kit));
        let (changes, next) = read(&kit, &from).unwrap();
        from = next;
        for change in changes {
            if change.kind == ChangeKind::Expire {
                assert!(ended.insert(change.id.as_ref().map(|id| format!("{id:?}"))));
            }
            seen.push(change.position());
        }
        if second % 40 == 0 {
            kit.restart();
        }
    }
    assert!(seen.is_sorted_by(|a, b| a < b));
    assert_eq!((seen.len(), ended.len()), (100 * 21 + 98, 98));
    assert_eq!(read(&kit, &first).unwrap_err(), Kind::PositionLost);
    // The kept records are the last ones that the reader has seen, and most of the bound.
    let kept: Vec<_> = seen.iter().filter(|place| read(&kit, place).is_ok()).collect();
    let (changes, _) = read(&kit, kept[0]).unwrap();
    let places: Vec<_> = changes.iter().map(Change::position).collect();
    assert!(places.iter().eq(kept.iter().copied()));
    let bytes = kept.len() * 20 / 22 * PAYLOAD;
    assert!(LOG_BYTES as usize / 2 < bytes && bytes < LOG_BYTES as usize * 3 / 2, "{bytes}");
    assert!(kept[0].time().at_ms() < START_MS + 100_000 - 2_000);
}

#[test]
fn records_of_the_current_second_are_kept() {
    let kit = bounded();
    let from = ChangePosition::at(kit.engine.cluster_time().next());
    for id in 0..200_i64 {
        kit.insert(doc! { "_id": id, "x": "x".repeat(PAYLOAD) }).unwrap();
    }
    for second in 0..4 {
        ready(kit.engine.reap_once(Duration::from_secs(second))).unwrap();
        assert_eq!(read(&kit, &from).unwrap().0.len(), 200);
    }
}

#[test]
fn a_reader_that_waits_is_woken_before_records_are_dropped() {
    let kit = bounded();
    let other = Namespace::new("db", "quiet");
    let scope = ChangeScope::Collection(other.clone());
    let from = ChangePosition::at(kit.engine.cluster_time().next());
    let engine = kit.engine.clone();
    let mut quiet = Task::new({
        let (engine, mut from, scope) = (engine.clone(), from.clone(), scope.clone());
        async move {
            loop {
                let mut changes = engine.wait_for_changes(&scope);
                let query = ChangeLogQuery {
                    from: from.clone(),
                    scope: scope.clone(),
                    changes: 100,
                    bytes: usize::MAX,
                };
                let page = engine.read_changes(&query, &context()).await?;
                if !page.changes.is_empty() {
                    return Ok::<_, engine::Error>(page.changes.len());
                }
                from = page.next;
                changes.woken().await;
            }
        }
    });
    assert!(quiet.poll().is_none());
    for second in 1..=30_i64 {
        kit.move_to(second * 1_000);
        for id in 0..20_i64 {
            kit.insert(doc! { "_id": second * 100 + id, "x": "x".repeat(PAYLOAD), "ttl": 1 })
                .unwrap();
        }
        ready(engine.reap_once(Duration::from_millis(second.unsigned_abs() * 1_000))).unwrap();
        assert!(quiet.poll().is_none());
        kit.move_to(second * 1_000 + 500);
        ready(engine.reap_once(Duration::from_millis(second.unsigned_abs() * 1_000 + 500)))
            .unwrap();
    }
    assert_eq!(read(&kit, &from).unwrap_err(), Kind::PositionLost);
    let (collection, _) = ready(engine.ensure_collection(Model::Documents, &other)).unwrap();
    ready(test_kit::insert_one(engine.clone(), collection, doc! { "_id": 1 })).unwrap();
    assert_eq!(quiet.poll().unwrap().unwrap(), 2, "the creation and the insertion");
}
