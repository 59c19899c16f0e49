//! A move of the clock that cannot be made durable is refused and has no effect.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use clock::{Checkpoint, Clock, ClockMode, ClockRefusal, Machine};
use engine::{Engine, Options, Persist};
use store::MemoryStore;
use test_kit::{Setup, ready};

/// A file whose writes can be made to fail.
struct File(Arc<AtomicBool>);

impl Persist for File {
    fn persist_checkpoint(&self, _: Checkpoint) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        let takes = self.0.load(Ordering::SeqCst);
        Box::pin(async move { takes })
    }
}

#[test]
fn a_move_that_is_not_durable_is_refused() {
    let clock = Clock::start(ClockMode::Manual, Box::new(Machine), [7; 16], None).expect("a clock");
    clock.mark_persisted(&clock.tick());
    let clock = Arc::new(clock);
    let store = MemoryStore::new(Engine::commit_clock(&clock));
    let takes = Arc::new(AtomicBool::new(false));
    let file = Arc::new(File(Arc::clone(&takes)));
    let options = Options::new(Arc::clone(&clock), Setup::default().dialect, file);
    let engine = ready(Engine::open(Arc::new(store), options)).expect("the engine opens");
    let before = clock.last_used();
    let later = before.plus_ms(5_000);
    assert_eq!(ready(engine.move_clock(later)), Err(ClockRefusal::NotDurable));
    assert_eq!(clock.last_used(), before);
    takes.store(true, Ordering::SeqCst);
    assert_eq!(ready(engine.move_clock(later)), Ok(later));
}
