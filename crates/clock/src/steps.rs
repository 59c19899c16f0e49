//! What to do about a wall clock that differs from database time: a pure decision.

/// How far beyond the last durable checkpoint time may be used, milliseconds.
pub const LEASE_MS: i64 = 2_000;
/// Largest forward step of the wall clock that is adopted without asking, and the most within
/// [`STEP_WINDOW_MS`].
pub const MAX_STEP_MS: i64 = 60_000;
/// Window of the budget for steps, and how long a larger step has to last.
pub const STEP_WINDOW_MS: i64 = 600_000;
/// What a jump made expire is kept this long unless somebody accepts it.
pub(crate) const ACCEPT_AFTER_MS: i64 = 24 * 3_600_000;
/// Differences up to this are slewed away, not stepped.
const SLEW_MS: i64 = 500;
/// Fastest slew, parts per million.
pub(crate) const MAX_SLEW_PPM: i64 = 500;

/// A decision about the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WallDecision {
    /// Run at this rate.
    Slew(i64),
    /// Adopt the wall clock now: a small step within the budget.
    Step,
    /// Go on at the boot clock's pace and wait for a person or for the time to pass.
    Unconfirmed,
    /// Adopt the wall clock: the step has lasted, or a person has accepted it.
    Jump,
}

/// A large step of the wall clock that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Boot clock (ms) when it was first seen.
    since_ms: i64,
    /// How far ahead of database time the wall clock was then, milliseconds.
    offset_ms: i64,
    /// An operator accepted it.
    is_accepted: bool,
}

impl Waiting {
    /// Whether the wall clock is still where this step took it. Its pace may differ from the boot
    /// clock's, so the longer the step waits the less exactly this is known; a further step is
    /// another one, which waits anew and is not accepted with the first.
    fn is_same(&self, offset_ms: i64, boot_ms: i64) -> bool {
        let drift = MAX_STEP_MS.saturating_add(boot_ms.saturating_sub(self.since_ms).max(0));
        offset_ms.saturating_sub(self.offset_ms).saturating_abs() <= drift
    }
}

/// Remembers small steps and a large one that is not confirmed.
#[derive(Debug, Default)]
pub(crate) struct WallSteps {
    /// Boot clock (ms) and size (ms) of adopted small steps.
    adopted: Vec<(i64, i64)>,
    waiting: Option<Waiting>,
}

impl WallSteps {
    /// `offset_ms` is wall clock minus database time; `boot_ms` the boot clock.
    pub(crate) fn decide_step(&mut self, offset_ms: i64, boot_ms: i64) -> WallDecision {
        self.adopted.retain(|(at, _)| boot_ms.saturating_sub(*at) < STEP_WINDOW_MS);
        if offset_ms <= SLEW_MS {
            self.waiting = None;
            let wanted = offset_ms.clamp(-MAX_SLEW_PPM, MAX_SLEW_PPM);
            return WallDecision::Slew(wanted);
        }
        let spent: i64 = self.adopted.iter().map(|(_, size)| *size).sum();
        if offset_ms.saturating_add(spent) <= MAX_STEP_MS {
            self.waiting = None;
            return WallDecision::Step;
        }
        let same = self.waiting.filter(|waiting| waiting.is_same(offset_ms, boot_ms));
        let waiting = same.unwrap_or(Waiting { since_ms: boot_ms, offset_ms, is_accepted: false });
        self.waiting = Some(waiting);
        let has_lasted = STEP_WINDOW_MS <= boot_ms.saturating_sub(waiting.since_ms);
        match waiting.is_accepted || has_lasted {
            true => WallDecision::Jump,
            false => WallDecision::Unconfirmed,
        }
    }

    /// Database time went forward by this much, durably. Only now a step counts: one that could not
    /// be written is decided again.
    pub(crate) fn note_adopted(&mut self, size_ms: i64, boot_ms: i64) {
        if (1..=MAX_STEP_MS).contains(&size_ms) {
            self.adopted.push((boot_ms, size_ms));
        } else if MAX_STEP_MS < size_ms {
            self.waiting = None;
        }
    }

    /// An operator accepts the step that waits, if one does, and no other.
    pub(crate) fn accept(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.is_accepted = true;
        }
    }

    /// Whether a large step waits to be confirmed.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.waiting.is_some()
    }

    /// Whether the one that waits was accepted by somebody.
    pub(crate) fn is_accepted(&self) -> bool {
        self.waiting.is_some_and(|waiting| waiting.is_accepted)
    }
}
