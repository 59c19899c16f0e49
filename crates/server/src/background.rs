//! Background work: checkpoints of the clock, the store's housekeeping, the reaper, cursor
//! timeouts. Each part reports when it is due again; only this file waits.
//!
//! The clock runs on a dedicated thread and the rest as tasks of the runtime: operations wait for
//! the clock, so it must not depend on workers that operations keep busy.

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
use mongo::MongoApi;
use server_base::sleep::wait_for;
use store::Health;
use tokio::sync::watch;
use tracing::Instrument as _;

use crate::checkpoint::CheckpointFile;

/// Interval at which the clock is compared with the wall clock and checkpointed. A checkpoint
/// permits two more seconds of time (`clock::LEASE_MS`). It is renewed four times as often, so that
/// operations need not wait for the clock when writes are slow.
const CHECKPOINT_EVERY: Duration = Duration::from_millis(500);

/// Interval at which the store's health is polled. It bounds the time until a reopened store
/// accepts commits, and the delay after which the log reports that writes are refused.
const HEALTH_EVERY: Duration = Duration::from_millis(100);
/// Interval of the store's housekeeping, such as recording the durable watermark.
const TICK_EVERY: Duration = Duration::from_millis(500);

/// Interval of the maintenance of path indexes of containers; the engine records their use once a
/// day.
const PATHS_EVERY: Duration = Duration::from_secs(60);

/// Interval at which receipts of sessions that have timed out are removed.
const RECEIPTS_EVERY: Duration = Duration::from_secs(60);

/// The clock's dedicated thread. Dropping it stops the thread and waits for a write in progress.
pub(crate) struct Timekeeper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Timekeeper {
    /// Starts the thread; without a `file`, nothing is persisted. Call it before the store and the
    /// engine are opened: opening may take long, and the clock's lease must be renewed during that
    /// time.
    pub(crate) fn start(clock: Arc<Clock>, file: Option<CheckpointFile>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread =
            std::thread::Builder::new().name("timekeeper".to_owned()).spawn(move || {
                let mut failing = false;
                while !stopped.load(Ordering::Relaxed) {
                    keep_time(&clock, file.as_ref(), &mut failing);
                    // `drop` unparks the thread, so that stopping does not wait for the interval to
                    // end.
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

/// Runs one round of the timekeeper. A manual clock needs none, since each move is persisted when
/// it is made. Logs once that the wall clock has stepped, and once that the clock does not keep
/// pace.
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

/// Checkpoints the clock once. Order matters: time up to the new lease may be used only after the
/// checkpoint is on disk. While writing fails, time stops at the end of the old lease and
/// operations wait; that is logged once until a write succeeds. `failing` holds whether the last
/// attempt failed.
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
                tracing::error!(%error, "cannot write the clock's checkpoint; operations will wait");
            }
            *failing = true;
        }
    }
}

/// Starts the background tasks of an engine: maintenance of its store, unfinished index builds,
/// indexes of container paths, and housekeeping (reaper and cursors). They run until `stop`;
/// `serve::Running::stop` waits for them.
pub(crate) fn start(
    engine: &Engine,
    api: Option<Arc<MongoApi>>,
    unused_days: Option<u32>,
    stop: &watch::Receiver<bool>,
) -> [tokio::task::JoinHandle<()>; 4] {
    // In the current span, which adds the shard of a cluster to the log lines.
    [
        tokio::spawn(maintain_store(engine.clone(), stop.clone()).in_current_span()),
        tokio::spawn(build_indexes(engine.clone(), stop.clone()).in_current_span()),
        tokio::spawn(maintain_paths(engine.clone(), unused_days, stop.clone()).in_current_span()),
        tokio::spawn(run_housekeeping(engine.clone(), api, stop.clone()).in_current_span()),
    ]
}

/// Logs a failure, as a debug message if another node of the cluster now owns the data (`moved`):
/// after a change of owner, tasks may fail for this reason before they are stopped.
fn log_failure(moved: bool, error: &dyn std::fmt::Display, doing: &str) {
    if moved {
        tracing::debug!(%error, "{doing}");
    } else {
        tracing::error!(%error, "{doing}");
    }
}

/// Maintains the store until `stop`, in two concurrent loops: housekeeping may wait for a slow
/// disk, and the store's health must be polled even then.
async fn maintain_store(engine: Engine, stop: watch::Receiver<bool>) {
    tokio::join!(watch_store(&engine, stop.clone()), keep_store(&engine, stop));
}

/// Watches the store's health. After the store was reopened, makes the engine reload its state in
/// memory; only then does the store accept commits. Logs once that writes are refused, and once
/// that they are accepted again.
async fn watch_store(engine: &Engine, mut stop: watch::Receiver<bool>) {
    let mut refusing = false;
    loop {
        // The catalog first: the store refuses commits until the engine has reloaded it.
        if let Health::Reopened = engine.store().health()
            && let Err(error) = engine.recover_reopened().await
        {
            log_failure(error.kind == Kind::Moved, &error, "cannot reload the catalog");
        }
        // Poll again: reloading the catalog may just have made the store healthy.
        let health = engine.store().health();
        match (&health, refusing) {
            (Health::Refusing(why), false) => tracing::error!(%why, "writes are refused"),
            (Health::Good, true) => tracing::info!("writes are accepted again"),
            _ => {}
        }
        refusing = health != Health::Good;
        tokio::select! {
            () = wait_for(HEALTH_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Runs the store's housekeeping, on a blocking thread because it may wait for the disk. Failures
/// are logged only while the store accepts commits; otherwise `watch_store` has logged the reason.
async fn keep_store(engine: &Engine, mut stop: watch::Receiver<bool>) {
    loop {
        let ticked = engine.clone();
        let ticked = tokio::task::spawn_blocking(move || ticked.store().tick()).await;
        // An outer error is a panic or the end of the runtime.
        if let (Ok(Err(error)), Health::Good) = (ticked, engine.store().health()) {
            log_failure(error.kind == store::Kind::Moved, &error, "store maintenance failed");
        }
        tokio::select! {
            () = wait_for(TICK_EVERY) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Finishes index builds that an earlier run left unfinished. Requests do not wait; those indexes
/// are unused until then. Builds interrupted by `stop` continue at the next start.
async fn build_indexes(engine: Engine, mut stop: watch::Receiver<bool>) {
    tokio::select! {
        built = engine.resume_builds() => {
            if let Err(error) = built {
                log_failure(error.kind == Kind::Moved, &error, "cannot finish index builds");
            }
        }
        _ = stop.changed() => {}
    }
}

/// Records once a day, until `stop`, which indexed paths of containers were used, and drops indexes
/// that no query has used for `unused_days`.
async fn maintain_paths(engine: Engine, unused_days: Option<u32>, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = wait_for(PATHS_EVERY) => {}
            _ = stop.changed() => return,
        }
        // While writes are refused, `watch_store` has logged the reason.
        if let (Err(error), Health::Good) =
            (engine.maintain_paths(unused_days).await, engine.store().health())
        {
            log_failure(
                error.kind == Kind::Moved,
                &error,
                "cannot maintain the path indexes of containers",
            );
        }
    }
}

/// Follows until `stop` the users, which the first shard of a cluster stores.
pub(crate) async fn follow_users(api: Arc<MongoApi>, mut stop: watch::Receiver<bool>) {
    tokio::select! {
        never = api.follow_users() => match never {},
        _ = stop.changed() => {}
    }
}

/// Runs the reaper and closes idle cursors until `stop`. `now` and the due times are readings of
/// the monotonic clock. A failed pass is retried after a second.
async fn run_housekeeping(
    engine: Engine,
    api: Option<Arc<MongoApi>>,
    mut stop: watch::Receiver<bool>,
) {
    let (mut api_due, mut receipts_due) = (Duration::ZERO, Duration::ZERO);
    loop {
        let now = monotonic_time();
        let due = match engine.reap_once(now).await {
            Ok(due) => due,
            Err(error) => {
                log_failure(error.kind == Kind::Moved, &error, "reap");
                now + Duration::from_secs(1)
            }
        };
        if let Some(api) = &api
            && api_due <= now
        {
            // Cursors are checked only when the reaper is due, about once a second.
            api_due = api.tick(now);
        }
        if let Some(api) = &api
            && receipts_due <= now
        {
            receipts_due = now + RECEIPTS_EVERY;
            if let Err(error) = api.forget_receipts(clock::wall_ms()).await {
                log_failure(error.kind == Kind::Moved, &error, "cannot remove old receipts");
            }
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
