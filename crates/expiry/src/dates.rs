//! TTL indexes on a date field. Dates come from users, so a later write may carry an old date:
//! a floor binds only what was written before it.

use clock::Instant;

/// What had expired by a date index when it changed: rows older than the change, up to the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloorPair {
    /// Stamp of the change; binds rows with smaller stamps.
    pub stamp: u64,
    /// Dates up to this one had expired, milliseconds.
    pub floor_ms: i64,
}

/// One TTL index on a date field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateRule {
    /// The index; its id is never used again.
    pub index: u32,
    /// Seconds after the date; `None` while it is being built and once it was dropped.
    pub after_s: Option<i64>,
    /// What earlier settings made expire.
    pub pairs: Vec<FloorPair>,
}

impl DateRule {
    /// A rule that expires nothing yet.
    pub fn inactive(index: u32) -> Self {
        Self { index, after_s: None, pairs: Vec::new() }
    }

    /// Changes the rule at a commit: what has expired now stays expired for rows older than it.
    pub fn change_at(&mut self, after_s: Option<i64>, stamp: u64, at: Instant) {
        if let Some(old) = self.after_s {
            // A pair that reaches lower, and binds fewer rows, says nothing any more.
            let floor_ms = cutoff_ms(old, at);
            self.pairs.retain(|pair| floor_ms < pair.floor_ms);
            self.pairs.push(FloorPair { stamp, floor_ms });
        }
        self.after_s = after_s;
    }

    /// The instant at which a row with this date expires; `MIN` when it has expired for good
    /// already.
    pub(crate) fn expires_at(&self, stamp: u64, date_ms: i64) -> Instant {
        // An earlier rule has decided, for rows from before its change.
        if self.pairs.iter().any(|pair| stamp < pair.stamp && date_ms <= pair.floor_ms) {
            return Instant::MIN;
        }
        match self.after_s {
            Some(after_s) => Instant::from_ms(date_ms.saturating_add(after_s.saturating_mul(1000))),
            None => Instant::MAX,
        }
    }
}

/// Dates up to this one have expired at an instant.
pub(crate) fn cutoff_ms(after_s: i64, at: Instant) -> i64 {
    at.ms.saturating_sub(after_s.saturating_mul(1000))
}
