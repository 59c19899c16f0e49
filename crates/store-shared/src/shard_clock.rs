//! The clock of a shard, on the node that owns it: it begins with each time as the owner behind all
//! that an owner before could have used, lives by the node's lease, and ends with it. Between two such
//! times there is none.
//!
//! ```text
//!  follower ──opened──▶ begun ──beat with its checkpoint applied──▶ runs ──the term ends──▶ ended
//! ```

use std::sync::Arc;

use bytes::Bytes;
use clock::{
    BootId, Checkpoint, Clock, ClockMode, ClockRefusal, ClockSource, ClusterLease, Instant,
};
use cluster::Heritage;
use parking_lot::Mutex;
use store::{Error, Kind, Timepiece};
use tokio::sync::oneshot;

use crate::node_clock::NodeClock;

/// A boot that is none of this machine's: the boot clock says nothing then.
const NO_BOOT: BootId = [0xff; 16];

/// How much later than it was made a checkpoint is seen at the most, in usual times.
const LOOK_MS: i64 = 1_000;

/// Makes readings of the machine's clocks, one for each clock.
pub type ClockSources = Arc<dyn Fn() -> Box<dyn ClockSource> + Send + Sync>;

/// What stays the same for all clocks of a shard.
#[derive(Clone)]
pub struct ShardClockOptions {
    /// How it moves; the same on all nodes.
    pub mode: ClockMode,
    /// The machine's clocks.
    pub sources: ClockSources,
    /// Of this boot of the machine.
    pub boot_id: BootId,
    /// How long a beat lets an owner serve, milliseconds.
    pub lease_ms: i64,
}

impl std::fmt::Debug for ShardClockOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardClockOptions").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// The clock of a shard over all times in which this node owns it.
pub struct ShardClock {
    options: ShardClockOptions,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    clock: Option<Arc<Clock>>,
    /// The checkpoint that the beat under way carries.
    asked: Option<Checkpoint>,
    /// A move of a manual clock that no beat has carried yet, and who waits.
    moving: Option<(Checkpoint, oneshot::Sender<bool>)>,
    /// The last checkpoint of this term was said: no move is made any more.
    finished: bool,
    /// What stamps go on behind while there is no clock.
    last_ms: i64,
}

impl std::fmt::Debug for ShardClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardClock").finish_non_exhaustive()
    }
}

impl ShardClock {
    /// No clock yet.
    pub fn new(options: ShardClockOptions) -> Arc<Self> {
        Arc::new(Self { options, state: Mutex::default() })
    }

    /// The clock, while this node owns the shard.
    pub fn current(&self) -> Option<Arc<Clock>> {
        self.state.lock().clock.clone()
    }

    /// Has the next beat carry a moved clock's checkpoint; whether it did.
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

    fn begun(&self, heritage: &Heritage) -> Result<Clock, ClockRefusal> {
        let options = &self.options;
        let least = Checkpoint::decode_whole(&heritage.least);
        let of_beat = heritage.beat.as_ref().and_then(|(term, noted)| {
            Some((
                Checkpoint::decode_whole(&term.clock)?,
                i64::try_from(*noted).unwrap_or(i64::MAX),
            ))
        });
        let (last, least_ms) = match (of_beat, least) {
            // The owner went by this boot clock, too, like the process before this one that a supervisor
            // starts again: it used nothing that the boot clock has not reached. Were it a lease more, each
            // start would put database time ahead.
            (Some((beat, _)), least) if beat.boot_id == options.boot_id => {
                (Some(beat), least.map_or(i64::MIN, |least| least.ms))
            }
            // The same of what it gave up.
            (None, Some(least)) if least.boot_id == options.boot_id => (Some(least), least.ms),
            // Another may have gone on for a lease, unless it gave the shard up: then the last instant is told.
            (Some((beat, noted)), least) if heritage.seen_alive || !heritage.released => {
                let owed_ms = if heritage.released { 0 } else { options.lease_ms };
                let stopped = beat.ms.saturating_add(owed_ms);
                let least = least.map_or(i64::MIN, |least| least.ms).max(stopped);
                let last = if heritage.seen_alive {
                    // By this machine's boot clock since the beat was seen.
                    let (boot_id, boot_ns) = (options.boot_id, noted);
                    Checkpoint { boot_id, boot_ns, wall_ms: None, ..beat }
                } else {
                    // Nobody knows how old it is: as at the start of a machine, by the wall clock.
                    beat
                };
                (Some(last), least)
            }
            // Nobody has used anything behind this, and nobody knows how old it is: as after a reboot, but
            // without the lease that would be owed then.
            (_, Some(least)) => {
                let before = least.ms.saturating_sub(options.lease_ms);
                (Some(Checkpoint { boot_id: NO_BOOT, ms: before, ..least }), least.ms)
            }
            (_, None) => (None, i64::MIN),
        };
        // A manual clock stands where it stood.
        let last = last.map(|last| match options.mode {
            ClockMode::Manual => Checkpoint { ms: last.ms.max(least_or(least, of_beat)), ..last },
            ClockMode::System => last,
        });
        let least_ms = if options.mode == ClockMode::Manual { i64::MIN } else { least_ms };
        let source = (options.sources)();
        let least_ms = match (options.mode, last) {
            (ClockMode::System, Some(last)) if heritage.seen_alive => {
                least_ms.max(wall_before_look(&last, &*source))
            }
            _ => least_ms,
        };
        let lease = ClusterLease { ms: options.lease_ms, least: Instant::from_ms(least_ms) };
        Clock::start_leased(options.mode, source, options.boot_id, last, Some(lease))
    }
}

/// A checkpoint was made a little before it was seen, and by so much the clock that goes on from it is
/// behind: it may begin with the wall clock, where that is no further ahead than a look may take.
/// Without this each owner would be a little later than the one before.
fn wall_before_look(seen: &Checkpoint, source: &dyn ClockSource) -> i64 {
    let elapsed_ms = source.boot_ns().saturating_sub(seen.boot_ns) / 1_000_000;
    let now_ms = seen.ms.saturating_add(elapsed_ms);
    let wall_ms = source.wall_ms();
    let is_near = (0..=LOOK_MS).contains(&wall_ms.saturating_sub(now_ms));
    if is_near { wall_ms } else { i64::MIN }
}

/// Where a manual clock stood: at the later of the two.
fn least_or(least: Option<Checkpoint>, of_beat: Option<(Checkpoint, i64)>) -> i64 {
    let beat = of_beat.map(|(beat, _)| beat);
    least.into_iter().chain(beat).map(|checkpoint| checkpoint.ms).max().unwrap_or(i64::MIN)
}

impl NodeClock for ShardClock {
    fn begin(&self, heritage: &Heritage) -> Bytes {
        // Only what was inherited counts where no clock can begin: then none will.
        let Ok(clock) = self.begun(heritage) else { return heritage.least.clone() };
        let begins = clock.last_used();
        Checkpoint { ms: begins.ms, ..clock.tick() }.encode().into()
    }

    fn open(&self, heritage: &Heritage) -> Result<(), Error> {
        let clock = self.begun(heritage).map_err(|refusal| {
            Error::new(Kind::Refused, format!("the shard's clock does not begin: {refusal:?}"))
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

    fn has_news(&self) -> bool {
        let state = self.state.lock();
        match &state.moving {
            Some((moved, _)) => state.asked != Some(*moved),
            // Whoever wants to know the time waits for the first one of a clock that has just begun.
            None => state.asked.is_none() && state.clock.is_some() && !state.finished,
        }
    }

    fn note_renewed(&self) {
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
        // Nothing is used behind what is read next.
        clock.end();
        let mut last_ms = clock.last_used().ms;
        if let Some(asked) = state.asked.filter(|_| self.options.mode == ClockMode::Manual) {
            // A beat carries this move, or has carried it: it is answered before the clock has made it.
            last_ms = last_ms.max(asked.ms);
        }
        // One that no beat was asked to carry is not made.
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

/// Database time for stamps. What is stamped without a clock is never committed.
impl Timepiece for ShardClock {
    fn now_ms(&self) -> i64 {
        let clock = self.current();
        let now = clock.as_ref().and_then(|clock| clock.now_blocking().ok());
        now.map_or_else(|| self.state.lock().last_ms, |now| now.ms)
    }

    fn monotonic_ns(&self) -> u64 {
        u64::try_from(clock::monotonic_time().as_nanos()).unwrap_or(u64::MAX)
    }
}
