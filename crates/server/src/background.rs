//! Everything that happens unasked: checkpoints of the clock, the store's housekeeping, the
//! reaper, cursor timeouts. Each part answers when it is due again; only this file waits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use clock::{Clock, ClockMode, monotonic_time};
use engine::Engine;
use mongo::Door;
use store::Health;
use tokio::sync::watch;

use crate::{any_store::AnyStore, checkpoint::CheckpointFile};

/// How often the clock is compared with the wall and made durable.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(500);

/// How often the store is asked for its health.
const HEALTH_EVERY: Duration = Duration::from_millis(100);
/// How often the store does what it does unasked.
const TICK_EVERY: Duration = Duration::from_millis(500);

/// The clock's own thread: nothing else may hold up time.
pub(crate) struct Timekeeper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Timekeeper {
    /// Starts it; `file` is `None` where nothing is kept. It comes before store and engine: what
    /// these do when they open may take long, and waits for the clock.
    pub(crate) fn start(clock: Arc<Clock>, file: Option<CheckpointFile>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().name("timekeeper".to_owned()).spawn(move || {
                let mut failing = false;
                while !stopped.load(Ordering::Relaxed) {
                    keep_time(&clock, file.as_ref(), &mut failing);
                    // Woken by the end, which shall not wait for it.
                    std::thread::park_timeout(CHECKPOINT_EVERY);
                }
            })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Timekeeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server is where waiting happens")]
pub(crate) fn pause_thread(time: Duration) {
    std::thread::sleep(time);
}

/// Waits without holding a thread.
#[expect(clippy::disallowed_methods, reason = "the server is where waiting happens")]
pub(crate) async fn wait_for(time: Duration) {
    tokio::time::sleep(time).await;
}

fn keep_time(clock: &Clock, file: Option<&CheckpointFile>, failing: &mut bool) {
    if clock.mode() == ClockMode::System {
        let was = clock.status().unconfirmed;
        write_checkpoint(clock, file, failing);
        if !was && clock.status().unconfirmed {
            let offset_ms = clock.status().offset_ms;
            tracing::warn!(
                offset_ms,
                "the wall clock stepped; accept it with ebb admin clock accept"
            );
        }
    }
}

/// Makes the clock durable once; operations wait while that fails for long.
fn write_checkpoint(clock: &Clock, file: Option<&CheckpointFile>, failing: &mut bool) {
    let checkpoint = clock.tick();
    let written = file.map_or(Ok(()), |file| file.write(&checkpoint));
    match written {
        Ok(()) => {
            clock.mark_persisted(&checkpoint);
            clock.check_pace(monotonic_time());
            *failing = false;
        }
        Err(error) => {
            if !*failing {
                tracing::error!(%error, "write the clock's checkpoint; operations will wait");
            }
            *failing = true;
        }
    }
}

/// Starts what looks after the engine until `stop`: its store, builds that were not finished, and
/// housekeeping.
pub(crate) fn start(
    engine: &Engine<AnyStore>,
    door: Option<Arc<Door<AnyStore>>>,
    stop: &watch::Receiver<bool>,
) -> [tokio::task::JoinHandle<()>; 3] {
    [
        tokio::spawn(tend_store(engine.clone(), stop.clone())),
        tokio::spawn(build_indexes(engine.clone(), stop.clone())),
        tokio::spawn(keep_house(engine.clone(), door, stop.clone())),
    ]
}

/// Looks after the store, until `stop`.
async fn tend_store(engine: Engine<AnyStore>, stop: watch::Receiver<bool>) {
    tokio::join!(watch_store(&engine, stop.clone()), keep_store(&engine, stop));
}

/// Has the engine read again what the store has opened again, and says in the log when commits
/// begin or end to be refused.
async fn watch_store(engine: &Engine<AnyStore>, mut stop: watch::Receiver<bool>) {
    let mut refusing = false;
    loop {
        if let Health::Anew = engine.store().health()
            && let Err(error) = engine.recover_reopened().await
        {
            tracing::error!(%error, "read the catalog again");
        }
        let health = engine.store().health();
        match (&health, refusing) {
            (Health::Refusing(why), false) => tracing::error!(%why, "writes are refused"),
            (Health::Good, true) => tracing::info!("writes are taken again"),
            _ => {}
        }
        refusing = health != Health::Good;
        tokio::select! {
            () = wait_for(HEALTH_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Lets the store do what it does unasked, which may wait for the disk.
async fn keep_store(engine: &Engine<AnyStore>, mut stop: watch::Receiver<bool>) {
    loop {
        let ticked = engine.clone();
        let ticked = tokio::task::spawn_blocking(move || ticked.store().tick()).await;
        if let (Ok(Err(error)), Health::Good) = (ticked, engine.store().health()) {
            tracing::error!(%error, "housekeeping of the store");
        }
        tokio::select! {
            () = wait_for(TICK_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Finishes builds of indexes that an earlier run did not.
async fn build_indexes(engine: Engine<AnyStore>, mut stop: watch::Receiver<bool>) {
    tokio::select! {
        built = engine.resume_builds() => {
            if let Err(error) = built {
                tracing::error!(%error, "finish the builds of indexes");
            }
        }
        _ = stop.changed() => {}
    }
}

/// Reaps and times out until `stop`.
async fn keep_house(
    engine: Engine<AnyStore>,
    door: Option<Arc<Door<AnyStore>>>,
    mut stop: watch::Receiver<bool>,
) {
    let mut door_due = Duration::ZERO;
    loop {
        let now = monotonic_time();
        let due = match engine.reap_once(now).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(%error, "reap");
                now + Duration::from_secs(1)
            }
        };
        if let Some(door) = &door
            && door_due <= now
        {
            door_due = door.tick(now);
        }
        let rest = due.saturating_sub(monotonic_time()).max(Duration::from_millis(10));
        tokio::select! {
            () = wait_for(rest) => {}
            _ = stop.changed() => return,
        }
    }
}
