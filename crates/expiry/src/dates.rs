//! TTL indexes on a date field. A floor is the latest date that had expired when an index's rule
//! was changed. Dates are supplied by users, so a later write may carry an older date: a floor
//! applies only to rows written before the change.

use clock::Instant;

/// Rows that had expired by a date index when its rule was changed: the rows with a smaller stamp
/// and a date up to the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloorPair {
    /// Stamp of the change; the floor applies only to rows with smaller stamps.
    pub stamp: u64,
    /// Latest date that had expired when the rule was changed, in milliseconds.
    pub floor_ms: i64,
}

/// The rule of one TTL index on a date field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateRule {
    /// The index's id, which is never reused.
    pub index: u32,
    /// Seconds from the date to expiration (`expireAfterSeconds`); `None` while the index is being
    /// built and after it was dropped.
    pub after_s: Option<i64>,
    /// Floors of earlier settings of this index: dates that had expired and so stay expired.
    pub pairs: Vec<FloorPair>,
}

impl DateRule {
    /// Creates a rule by which nothing expires yet.
    pub fn inactive(index: u32) -> Self {
        Self { index, after_s: None, pairs: Vec::new() }
    }

    /// Changes the rule at a commit; rows older than the commit that have expired stay expired.
    pub fn change_at(&mut self, after_s: Option<i64>, stamp: u64, at: Instant) {
        if let Some(old) = self.after_s {
            // The new pair covers all rows of earlier pairs whose floor is not higher, since its
            // stamp is greater than theirs.
            let floor_ms = cutoff_ms(old, at);
            self.pairs.retain(|pair| floor_ms < pair.floor_ms);
            self.pairs.push(FloorPair { stamp, floor_ms });
        }
        self.after_s = after_s;
    }

    /// Returns the instant at which a row with this date expires, or `MIN` if an earlier rule has
    /// already made it expire permanently.
    pub(crate) fn expires_at(&self, stamp: u64, date_ms: i64) -> Instant {
        // The floor of an earlier rule applies to rows written before the rule was changed.
        if self.pairs.iter().any(|pair| stamp < pair.stamp && date_ms <= pair.floor_ms) {
            return Instant::MIN;
        }
        match self.after_s {
            Some(after_s) => Instant::from_ms(date_ms.saturating_add(after_s.saturating_mul(1000))),
            None => Instant::MAX,
        }
    }
}

/// Returns the latest date that has expired at an instant, if documents expire `after_s` seconds
/// after their date.
pub(crate) fn cutoff_ms(after_s: i64, at: Instant) -> i64 {
    at.ms.saturating_sub(after_s.saturating_mul(1000))
}
