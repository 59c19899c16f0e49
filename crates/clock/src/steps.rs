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
    /// Adopt the wall clock: the step has lasted.
    Jump,
}

/// Remembers small steps and a large one that is not confirmed.
#[derive(Debug, Default)]
pub(crate) struct WallSteps {
    /// Boot clock (ms) and size (ms) of adopted small steps.
    adopted: Vec<(i64, i64)>,
    /// Boot clock (ms) when the unconfirmed step was first seen.
    pub(crate) unconfirmed_since_ms: Option<i64>,
    /// An operator accepted the step.
    pub(crate) accepted: bool,
}

impl WallSteps {
    /// `offset_ms` is wall clock minus database time; `boot_ms` the boot clock.
    pub(crate) fn decide_step(&mut self, offset_ms: i64, boot_ms: i64) -> WallDecision {
        self.adopted.retain(|(at, _)| boot_ms.saturating_sub(*at) < STEP_WINDOW_MS);
        if offset_ms <= SLEW_MS {
            self.unconfirmed_since_ms = None;
            let wanted = offset_ms.clamp(-MAX_SLEW_PPM, MAX_SLEW_PPM);
            return WallDecision::Slew(wanted);
        }
        let spent: i64 = self.adopted.iter().map(|(_, size)| *size).sum();
        if offset_ms.saturating_add(spent) <= MAX_STEP_MS {
            self.unconfirmed_since_ms = None;
            self.adopted.push((boot_ms, offset_ms));
            return WallDecision::Step;
        }
        let since = *self.unconfirmed_since_ms.get_or_insert(boot_ms);
        if self.accepted || STEP_WINDOW_MS <= boot_ms.saturating_sub(since) {
            self.unconfirmed_since_ms = None;
            return WallDecision::Jump;
        }
        WallDecision::Unconfirmed
    }
}
