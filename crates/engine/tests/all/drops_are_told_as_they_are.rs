//! A drop or a replacing rename that was committed succeeds even if deleting the remaining data
//! fails; that is retried later.

use std::{sync::Arc, time::Duration};

use clock::{Clock, ClockMode, Machine};
use engine::{DiscardCheckpoints, Engine, Model, Namespace, Options};
use store::{Direction, Fault, FaultyStore, KeyRange, Limit, MemoryStore, Space, Store as _};
use test_kit::{Setup, ready};

const MODEL: Model = Model::Documents;

fn open() -> (Engine, FaultyStore) {
    let clock = Clock::start(ClockMode::Manual, Box::new(Machine), [7; 16], None).expect("a clock");
    clock.mark_persisted(&clock.tick());
    let clock = Arc::new(clock);
    let store = FaultyStore::new(MemoryStore::new(Engine::commit_clock(&clock)));
    let options = Options::new(clock, Setup::default().dialect, Arc::new(DiscardCheckpoints));
    (ready(Engine::open(Arc::new(store.clone()), options)).expect("the engine opens"), store)
}

fn catalog_rows(store: &FaultyStore) -> usize {
    let (all, limit) = (KeyRange::all(), Limit { rows: 100, bytes: 1 << 20 });
    let now = store.snapshot();
    ready(now.scan(Space::Catalog, &all, Direction::Forward, limit)).expect("read").rows.len()
}

#[test]
fn what_cannot_be_removed_at_once_is_removed_later() {
    for replace in [false, true] {
        let (engine, store) = open();
        let [gone, other] = ["gone", "other"].map(|name| Namespace::new("db", name));
        let (collection, _) = ready(engine.ensure_collection(MODEL, &gone)).expect("made");
        ready(engine.ensure_collection(MODEL, &other)).expect("made");
        // The first commit changes the names; the next deletes the remaining data.
        store.fail_nth(Fault::CommitLost, 2);
        if replace {
            ready(engine.rename_collection(MODEL, &other, &gone, true)).expect("it took place");
            assert!(engine.collection(MODEL, &other).is_none());
        } else {
            assert!(ready(engine.drop_collection(MODEL, &gone)).expect("it took place"));
            assert!(engine.collection(MODEL, &gone).is_none());
        }
        let noted = catalog_rows(&store);
        ready(engine.reap_once(Duration::ZERO)).expect("a pass");
        assert!(!store.all_spaces().contains(&Space::Rows(collection.id)));
        // The drop marker was removed, too.
        assert_eq!(catalog_rows(&store), noted - 1);
    }
}
