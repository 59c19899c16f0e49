//! The clock of a shard: its interface to the protocol, from before a claim to the end of the
//! node's term, and its implementation on the owner. Each term gets a new clock, which starts after
//! every instant that a preceding owner could have used, depends on the node's lease, and ends with
//! the term. Between terms there is no clock.
//!
//! ```text
//!  follower ──opened──▶ begun ──beat with its checkpoint applied──▶ runs ──the term ends──▶ ended
//! ```

use std::sync::Arc;

use bytes::Bytes;
use clock::{
    BootId, Checkpoint, Clock, ClockMode, ClockRefusal, ClockSource, ClusterLease, Instant,
};
use cluster::ClockLowerBounds;
use parking_lot::Mutex;
use store::{CommitClock, Error, Kind};
use tokio::sync::oneshot;

/// A shard's clock on one node. The protocol treats checkpoints as opaque bytes.
pub trait NodeClock: Send + Sync {
    /// Returns a checkpoint of the instant at which a clock with these lower bounds would start
    /// now.
    fn begin(&self, lower_bounds: &ClockLowerBounds) -> Bytes;

    /// Starts the clock because the node owns the shard. No instant may be used before a heartbeat
    /// has carried a checkpoint.
    fn open(&self, lower_bounds: &ClockLowerBounds) -> Result<(), Error>;

    /// Returns a checkpoint for a heartbeat that is sent now.
    fn checkpoint(&self) -> Bytes;

    /// Returns whether the clock has a checkpoint that no heartbeat carries yet.
    fn has_new_checkpoint(&self) -> bool;

    /// Notes that the last heartbeat with a checkpoint was applied.
    fn confirm_checkpoint(&self);

    /// Ends the use of the clock for a release, and returns a checkpoint with the last used
    /// instant.
    fn finish(&self) -> Bytes;

    /// Stops the clock because the node no longer owns the shard.
    fn end(&self);
}

/// A boot id that no machine has, so that the boot clock in the checkpoint is ignored.
const NO_BOOT: BootId = [0xff; 16];

/// Maximum usual delay between the creation of a checkpoint and its first reading by another node.
const LOOK_MS: i64 = 1_000;

/// Creates the source of a clock's readings; called once per clock.
pub type ClockSources = Arc<dyn Fn() -> Box<dyn ClockSource> + Send + Sync>;

/// Options shared by all clocks of a shard.
#[derive(Clone)]
pub struct ShardClockOptions {
    /// Clock mode; the same on all nodes.
    pub mode: ClockMode,
    /// Functions that read the machine's clocks.
    pub sources: ClockSources,
    /// Boot id of the machine.
    pub boot_id: BootId,
    /// Time after an applied heartbeat in which an owner may serve, in milliseconds.
    pub lease_ms: i64,
}

impl std::fmt::Debug for ShardClockOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardClockOptions").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// The clock of a shard on this node, in all periods in which the node owns the shard.
pub struct ShardClock {
    options: ShardClockOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    clock: Option<Arc<Clock>>,
    /// The checkpoint that the outstanding heartbeat carries.
    asked: Option<Checkpoint>,
    /// A move of a manual clock that is not durable yet, and the caller that waits for it.
    moving: Option<(Checkpoint, oneshot::Sender<bool>)>,
    /// Whether the final checkpoint of this term was taken: no move is possible any more.
    finished: bool,
    /// Lower bound of commit stamps while this node has no clock.
    last_ms: i64,
}

impl std::fmt::Debug for ShardClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardClock").finish_non_exhaustive()
    }
}

impl ShardClock {
    /// Creates the state without a clock.
    pub fn new(options: ShardClockOptions) -> Arc<Self> {
        Arc::new(Self { options, state: Mutex::default() })
    }

    /// Returns the clock while this node owns the shard.
    pub fn current(&self) -> Option<Arc<Clock>> {
        self.state.lock().clock.clone()
    }

    /// Publishes the checkpoint of a moved manual clock with the next heartbeat. Returns whether a
    /// heartbeat carried it.
    pub async fn persist(&self, checkpoint: Checkpoint) -> bool {
        let (done, persisted) = oneshot::channel();
        {
            let mut state = self.state.lock();
            if state.clock.is_none() || state.finished {
                return false;
            }
            state.moving = Some((checkpoint, done));
        }
        persisted.await.unwrap_or(false)
    }

    fn begun(&self, lower_bounds: &ClockLowerBounds) -> Result<Clock, ClockRefusal> {
        let options = &self.options;
        let least = Checkpoint::decode_whole(&lower_bounds.least);
        let of_beat = lower_bounds.beat.as_ref().and_then(|(term, noted)| {
            Some((
                Checkpoint::decode_whole(&term.clock)?,
                i64::try_from(*noted).unwrap_or(i64::MAX),
            ))
        });
        let (last, least_ms) = match (of_beat, least) {
            // The preceding owner used the same boot clock, like a process of this node restarted
            // by its supervisor. It used no instant that the boot clock has not reached. Adding a
            // lease would move database time ahead with each restart.
            (Some((beat, _)), least) if beat.boot_id == options.boot_id => {
                (Some(beat), least.map_or(i64::MIN, |least| least.ms))
            }
            // The preceding owner was also on this machine, and has released the shard.
            (None, Some(least)) if least.boot_id == options.boot_id => (Some(least), least.ms),
            // Another owner may have continued for a lease, unless it released the shard: then its
            // last instant is recorded.
            (Some((beat, noted)), least) if lower_bounds.seen_alive || !lower_bounds.released => {
                let owed_ms = if lower_bounds.released { 0 } else { options.lease_ms };
                let stopped = beat.ms.saturating_add(owed_ms);
                let least = least.map_or(i64::MIN, |least| least.ms).max(stopped);
                let last = if lower_bounds.seen_alive {
                    // The new clock continues from the heartbeat's instant by this machine's boot
                    // clock, which was read when the heartbeat was first seen.
                    let (boot_id, boot_ns) = (options.boot_id, noted);
                    Checkpoint { boot_id, boot_ns, wall_ms: None, ..beat }
                } else {
                    // The checkpoint's age is unknown: the wall clock decides, as after a reboot.
                    beat
                };
                (Some(last), least)
            }
            // The shard was released with its last used instant. The age is unknown, so the wall
            // clock decides as after a reboot, but without adding a lease.
            (_, Some(least)) => {
                let before = least.ms.saturating_sub(options.lease_ms);
                (Some(Checkpoint { boot_id: NO_BOOT, ms: before, ..least }), least.ms)
            }
            (_, None) => (None, i64::MIN),
        };
        // A manual clock continues at the latest recorded instant.
        let last = last.map(|last| match options.mode {
            ClockMode::Manual => Checkpoint { ms: last.ms.max(least_or(least, of_beat)), ..last },
            ClockMode::System => last,
        });
        let least_ms = if options.mode == ClockMode::Manual { i64::MIN } else { least_ms };
        let source = (options.sources)();
        let least_ms = match (options.mode, last) {
            (ClockMode::System, Some(last)) if lower_bounds.seen_alive => {
                least_ms.max(wall_before_look(&last, &*source))
            }
            _ => least_ms,
        };
        let lease = ClusterLease { ms: options.lease_ms, least: Instant::from_ms(least_ms) };
        Clock::start_leased(options.mode, source, options.boot_id, last, Some(lease))
    }
}

/// Returns a lower bound that compensates for the delay between the creation of a checkpoint and
/// its first reading by this node: the wall clock, if it is ahead by no more than that delay.
/// Otherwise each owner's clock would lag a little more than the preceding one.
fn wall_before_look(seen: &Checkpoint, source: &dyn ClockSource) -> i64 {
    let elapsed_ms = source.boot_ns().saturating_sub(seen.boot_ns) / 1_000_000;
    let now_ms = seen.ms.saturating_add(elapsed_ms);
    let wall_ms = source.wall_ms();
    let is_near = (0..=LOOK_MS).contains(&wall_ms.saturating_sub(now_ms));
    if is_near { wall_ms } else { i64::MIN }
}

/// Returns the instant at which a manual clock continues: the later of the lower bound in the shard
/// record and the last checkpoint that a heartbeat carried.
fn least_or(least: Option<Checkpoint>, of_beat: Option<(Checkpoint, i64)>) -> i64 {
    let beat = of_beat.map(|(beat, _)| beat);
    least.into_iter().chain(beat).map(|checkpoint| checkpoint.ms).max().unwrap_or(i64::MIN)
}

impl NodeClock for ShardClock {
    fn begin(&self, lower_bounds: &ClockLowerBounds) -> Bytes {
        // If no clock can start, the checkpoint is the inherited lower bound.
        let Ok(clock) = self.begun(lower_bounds) else { return lower_bounds.least.clone() };
        let begins = clock.last_used();
        Checkpoint { ms: begins.ms, ..clock.tick() }.encode().into()
    }

    fn open(&self, lower_bounds: &ClockLowerBounds) -> Result<(), Error> {
        let clock = self.begun(lower_bounds).map_err(|refusal| {
            Error::new(Kind::Refused, format!("cannot start the shard's clock: {refusal:?}"))
        })?;
        let mut state = self.state.lock();
        (state.asked, state.finished) = (None, false);
        state.clock = Some(Arc::new(clock));
        Ok(())
    }

    fn checkpoint(&self) -> Bytes {
        let mut state = self.state.lock();
        let Some(clock) = state.clock.clone() else { return Bytes::new() };
        let moved = state.moving.as_ref().map(|(moved, _)| *moved);
        let checkpoint = moved.unwrap_or_else(|| clock.tick());
        state.asked = Some(checkpoint);
        checkpoint.encode().into()
    }

    fn has_new_checkpoint(&self) -> bool {
        let state = self.state.lock();
        match &state.moving {
            Some((moved, _)) => state.asked != Some(*moved),
            // Readers wait for the first checkpoint of a new clock, so it is published at once.
            None => state.asked.is_none() && state.clock.is_some() && !state.finished,
        }
    }

    fn confirm_checkpoint(&self) {
        let mut state = self.state.lock();
        let Some(asked) = state.asked else { return };
        if let Some(clock) = &state.clock {
            clock.mark_persisted(&asked);
        }
        if let Some((_, done)) = state.moving.take_if(|(moved, _)| *moved == asked) {
            let _ = done.send(true);
        }
    }

    fn finish(&self) -> Bytes {
        let mut state = self.state.lock();
        let Some(clock) = state.clock.clone() else { return Bytes::new() };
        state.finished = true;
        // Ended before the last used instant is read, so that no later one is used.
        clock.end();
        let mut last_ms = clock.last_used().ms;
        if let Some(asked) = state.asked.filter(|_| self.options.mode == ClockMode::Manual) {
            // A heartbeat carries or has carried this move of a manual clock. The move may be
            // acknowledged before the clock has applied it.
            last_ms = last_ms.max(asked.ms);
        }
        // A move that no heartbeat carries is cancelled.
        let asked = state.asked;
        drop(state.moving.take_if(|(moved, _)| asked != Some(*moved)));
        Checkpoint { ms: last_ms, ..clock.tick() }.encode().into()
    }

    fn end(&self) {
        let mut state = self.state.lock();
        (state.asked, state.moving) = (None, None);
        if let Some(clock) = state.clock.take() {
            state.last_ms = clock.last_used().ms;
            clock.end();
        }
    }
}

/// Provides stamps; a stamp taken while there is no clock is never committed.
impl CommitClock for ShardClock {
    fn now_ms(&self) -> i64 {
        let clock = self.current();
        let now = clock.as_ref().and_then(|clock| clock.now_blocking().ok());
        now.map_or_else(|| self.state.lock().last_ms, |now| now.ms)
    }

    fn monotonic_ns(&self) -> u64 {
        u64::try_from(clock::monotonic_time().as_nanos()).unwrap_or(u64::MAX)
    }
}
