//! Decides how database time reacts to a wall clock that differs from it. Pure logic.

/// Time by which the clock may advance beyond the last durable checkpoint, in milliseconds.
pub const LEASE_MS: i64 = 2_000;
/// Largest forward step of the wall clock, in milliseconds, that is adopted without confirmation.
/// It also limits the sum of such steps within [`STEP_WINDOW_MS`].
pub const MAX_STEP_MS: i64 = 60_000;
/// Window for the total of small steps, and how long a larger step must persist, milliseconds.
pub const STEP_WINDOW_MS: i64 = 600_000;
/// Milliseconds for which rows that a jump of the wall clock made expire are kept, unless an
/// operator accepts the jump.
pub(crate) const ACCEPT_AFTER_MS: i64 = 24 * 3_600_000;
/// Difference up to which the clock is corrected by slewing, in milliseconds.
const SLEW_MS: i64 = 500;
/// Fastest slew, parts per million.
pub(crate) const MAX_SLEW_PPM: i64 = 500;

/// The reaction to a difference between wall clock and database time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WallDecision {
    /// Adjust database time gradually at this rate, in parts per million.
    Slew(i64),
    /// Adopt the wall clock now, because the step is small and so is the total of the recent steps.
    Step,
    /// Continue at the boot clock's pace until an operator accepts the step or it has persisted.
    Unconfirmed,
    /// Adopt the wall clock: the step has persisted or an operator accepted it.
    Jump,
}

/// A large step of the wall clock that is not confirmed.
#[derive(Clone, Copy, Debug)]
struct PendingStep {
    /// Boot clock when the step was first seen, milliseconds.
    since_ms: i64,
    /// Milliseconds by which the wall clock was ahead of database time when the step was first
    /// seen.
    offset_ms: i64,
    /// Whether an operator accepted the step.
    is_accepted: bool,
}

impl PendingStep {
    /// Returns whether the wall clock is still where this step put it. The wall clock and the boot
    /// clock may run at different rates, so the tolerance grows with the waiting time. A further
    /// step is a new one: it waits again and does not inherit the acceptance.
    fn is_same(&self, offset_ms: i64, boot_ms: i64) -> bool {
        let drift = MAX_STEP_MS.saturating_add(boot_ms.saturating_sub(self.since_ms).max(0));
        offset_ms.saturating_sub(self.offset_ms).saturating_abs() <= drift
    }
}

/// The small steps that were adopted recently, and a large step that waits to be confirmed.
#[derive(Debug, Default)]
pub(crate) struct WallSteps {
    /// Boot clock reading (ms) and size (ms) of adopted small steps.
    adopted: Vec<(i64, i64)>,
    waiting: Option<PendingStep>,
}

impl WallSteps {
    /// Decides from `offset_ms`, wall clock minus database time, and `boot_ms`, the boot clock.
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
        let waiting =
            same.unwrap_or(PendingStep { since_ms: boot_ms, offset_ms, is_accepted: false });
        self.waiting = Some(waiting);
        let has_lasted = STEP_WINDOW_MS <= boot_ms.saturating_sub(waiting.since_ms);
        match waiting.is_accepted || has_lasted {
            true => WallDecision::Jump,
            false => WallDecision::Unconfirmed,
        }
    }

    /// Records a durable forward move of database time. A step counts as adopted only from here on,
    /// so a step whose checkpoint was not written is decided again.
    pub(crate) fn record_adopted(&mut self, size_ms: i64, boot_ms: i64) {
        if (1..=MAX_STEP_MS).contains(&size_ms) {
            self.adopted.push((boot_ms, size_ms));
        } else if MAX_STEP_MS < size_ms {
            self.waiting = None;
        }
    }

    /// Accepts the waiting large step, if any; later steps are not accepted with it.
    pub(crate) fn accept(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.is_accepted = true;
        }
    }

    /// Returns whether a large step waits to be confirmed.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.waiting.is_some()
    }

    /// Returns whether the waiting step was accepted by an operator.
    pub(crate) fn is_accepted(&self) -> bool {
        self.waiting.is_some_and(|waiting| waiting.is_accepted)
    }
}
