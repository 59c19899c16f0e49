//! Everything that happens without a request: checkpoints of the clock, the store's housekeeping,
//! the reaper, cursor timeouts. Each part says when it is due again; only this file waits.
//!
//! The clock has a thread of its own, the rest are tasks of the runtime: an operation waits for
//! time, so time must never wait for a worker that operations keep busy.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use clock::{Clock, ClockMode, monotonic_time};
use engine::{Engine, Kind};
use mongo::Door;
use store::Health;
use tokio::sync::watch;
use tracing::Instrument as _;

use crate::{any_store::AnyStore, checkpoint::CheckpointFile};

/// How often the clock is compared with the wall clock and made durable. A checkpoint allows the use
/// of two more seconds (`clock::LEASE_MS`); renewing it four times as often leaves room for slow
/// writes before an operation has to wait.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(500);

/// How often the store is asked for its health: how long a store that was opened again may wait
/// until it takes commits, and how late the log says that writes are refused.
const HEALTH_EVERY: Duration = Duration::from_millis(100);
/// How often the store does what it does without being asked, such as noting how far commits are
/// durable.
const TICK_EVERY: Duration = Duration::from_millis(500);

/// How often it is looked which paths of containers were used; what comes of it is written once a
/// day.
const PATHS_EVERY: Duration = Duration::from_secs(60);

/// The clock's own thread: nothing else may hold up time. Dropping it ends the thread and waits for
/// the write that it may be in.
pub(crate) struct Timekeeper {
    /// Set once, by `drop`.
    stop: Arc<AtomicBool>,
    /// `None` only while it is being dropped.
    thread: Option<JoinHandle<()>>,
}

impl Timekeeper {
    /// Starts the thread; `file` is `None` where nothing is kept. It is started before the store and
    /// the engine are opened: what they do then may take long, and waits for the clock's lease to be
    /// renewed.
    pub(crate) fn start(clock: Arc<Clock>, file: Option<CheckpointFile>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().name("timekeeper".to_owned()).spawn(move || {
                let mut failing = false;
                while !stopped.load(Ordering::Relaxed) {
                    keep_time(&clock, file.as_ref(), &mut failing);
                    // `drop` wakes it, so that the end does not wait for the pause to be over.
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

/// Waits and holds the thread: for threads of their own, never for a worker of the runtime.
#[expect(clippy::disallowed_methods, reason = "the server is where waiting happens")]
pub(crate) fn pause_thread(time: Duration) {
    std::thread::sleep(time);
}

/// Waits without holding a thread.
#[expect(clippy::disallowed_methods, reason = "the server is where waiting happens")]
pub(crate) async fn wait_for(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Waits between two looks at something; false: it is to stop.
pub(crate) async fn has_waited(time: Duration, stop: &mut watch::Receiver<bool>) -> bool {
    tokio::select! {
        () = wait_for(time) => true,
        _ = stop.wait_for(|stop| *stop) => false,
    }
}

/// One round of the timekeeper. A manual clock needs none: its moves are made durable when they are
/// made. A step of the wall clock is logged once, when it is first seen, and so is a clock that does
/// not keep pace.
fn keep_time(clock: &Clock, file: Option<&CheckpointFile>, failing: &mut bool) {
    if clock.mode() == ClockMode::System {
        let was = clock.status();
        write_checkpoint(clock, file, failing);
        let keeps_pace = clock.check_pace(monotonic_time);
        let is = clock.status();
        if !was.unconfirmed && is.unconfirmed {
            tracing::warn!(
                offset_ms = is.offset_ms,
                "the wall clock stepped; accept it with ebb admin clock accept"
            );
        }
        match (was.keeps_pace, keeps_pace) {
            (true, false) => tracing::error!(
                "the database clock does not keep pace: the machine's boot clock is slow or stands \
                 still"
            ),
            (false, true) => tracing::info!("the database clock keeps pace again"),
            _ => {}
        }
    }
}

/// Makes the clock durable once. The order matters: time may be used up to the new lease only after
/// the checkpoint is on the disk. While writing fails, time stops at the end of the old lease and
/// operations wait; the log says so once, and the next success ends it. `failing` holds whether the
/// last attempt failed.
fn write_checkpoint(clock: &Clock, file: Option<&CheckpointFile>, failing: &mut bool) {
    let checkpoint = clock.tick();
    let written = file.map_or(Ok(()), |file| file.write(&checkpoint));
    match written {
        Ok(()) => {
            clock.mark_persisted(&checkpoint);
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

/// Starts the tasks that look after the engine until `stop`: its store, builds that an earlier run
/// did not finish, and housekeeping. `serve::Running::stop` waits for them.
pub(crate) fn start(
    engine: &Engine<AnyStore>,
    door: Option<Arc<Door<AnyStore>>>,
    unused_days: Option<u32>,
    stop: &watch::Receiver<bool>,
) -> [tokio::task::JoinHandle<()>; 4] {
    // Their lines in the log say which shard of a cluster they are about.
    [
        tokio::spawn(tend_store(engine.clone(), stop.clone()).in_current_span()),
        tokio::spawn(build_indexes(engine.clone(), stop.clone()).in_current_span()),
        tokio::spawn(tend_paths(engine.clone(), unused_days, stop.clone()).in_current_span()),
        tokio::spawn(keep_house(engine.clone(), door, stop.clone()).in_current_span()),
    ]
}

/// Writes a failure to the log. That another node of a cluster owns the data now is none: the tasks of the
/// term that has ended may hear of it before they are stopped.
fn note_failure(moved: bool, error: &dyn std::fmt::Display, doing: &str) {
    if moved {
        tracing::debug!(%error, "{doing}");
    } else {
        tracing::error!(%error, "{doing}");
    }
}

/// Looks after the store until `stop`. Two loops side by side: a tick may wait for a slow disk, and
/// just then its health is of interest.
async fn tend_store(engine: Engine<AnyStore>, stop: watch::Receiver<bool>) {
    tokio::join!(watch_store(&engine, stop.clone()), keep_store(&engine, stop));
}

/// Watches the store's health. After the store was opened again, has the engine read again what it
/// keeps in memory; only then does the store take commits. Writes a line to the log when commits
/// begin and when they end to be refused, not for each refusal.
async fn watch_store(engine: &Engine<AnyStore>, mut stop: watch::Receiver<bool>) {
    let mut refusing = false;
    loop {
        // The catalog first: until the engine has read it again the store takes no commits.
        if let Health::Anew = engine.store().health()
            && let Err(error) = engine.recover_reopened().await
        {
            note_failure(error.kind == Kind::Moved, &error, "read the catalog again");
        }
        // Asked again: reading the catalog has just made it good, if all went well.
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

/// Lets the store do its housekeeping. It may wait for the disk, so a thread for blocking work does
/// it. A failure is logged while the store takes commits; when it refuses them, `watch_store` has
/// said why.
async fn keep_store(engine: &Engine<AnyStore>, mut stop: watch::Receiver<bool>) {
    loop {
        let ticked = engine.clone();
        let ticked = tokio::task::spawn_blocking(move || ticked.store().tick()).await;
        // An outer error would be a panic or the end of the runtime; the store is asked why it refuses
        // elsewhere (`watch_store`).
        if let (Ok(Err(error)), Health::Good) = (ticked, engine.store().health()) {
            note_failure(error.kind == store::Kind::Moved, &error, "housekeeping of the store");
        }
        tokio::select! {
            () = wait_for(TICK_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Finishes index builds that an earlier run did not. Until then these indexes are not used, and
/// requests do not wait. What `stop` interrupts goes on at the next start.
async fn build_indexes(engine: Engine<AnyStore>, mut stop: watch::Receiver<bool>) {
    tokio::select! {
        built = engine.resume_builds() => {
            if let Err(error) = built {
                note_failure(error.kind == Kind::Moved, &error, "finish the builds of indexes");
            }
        }
        _ = stop.changed() => {}
    }
}

/// Notes until `stop` which paths of containers were used, and lets those end that were not for long.
async fn tend_paths(
    engine: Engine<AnyStore>,
    unused_days: Option<u32>,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            () = wait_for(PATHS_EVERY) => {}
            _ = stop.changed() => return,
        }
        // While writes are refused `watch_store` has said why.
        if let (Err(error), Health::Good) =
            (engine.tend_paths(unused_days).await, engine.store().health())
        {
            note_failure(error.kind == Kind::Moved, &error, "look after the paths of containers");
        }
    }
}

/// Follows until `stop` the users that the first shard of a cluster keeps.
pub(crate) async fn follow_users(door: Arc<Door<AnyStore>>, mut stop: watch::Receiver<bool>) {
    tokio::select! {
        never = door.follow_users() => match never {},
        _ = stop.changed() => {}
    }
}

/// Runs the reaper and closes idle cursors until `stop`. `now` and the due times are readings of
/// the monotonic clock. A failed pass is tried again after a second.
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
                note_failure(error.kind == Kind::Moved, &error, "reap");
                now + Duration::from_secs(1)
            }
        };
        if let Some(door) = &door
            && door_due <= now
        {
            // Asked only when the reaper is due, which is about once a second.
            door_due = door.tick(now);
        }
        // At least 10 ms, so that a reaper that is always due leaves time for requests. The API's
        // due time does not shorten the wait: cursors may time out a little late.
        let rest = due.saturating_sub(monotonic_time()).max(Duration::from_millis(10));
        tokio::select! {
            () = wait_for(rest) => {}
            _ = stop.changed() => return,
        }
    }
}
