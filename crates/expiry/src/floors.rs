//! Floors: the deadlines up to which documents have permanently expired. The same type describes
//! the documents expired by now, the documents that may be reaped, and the expirations already
//! published.
//!
//! A floor is a second up to which every document of a class has expired. Floors only rise, so one
//! comparison gives a permanent answer without the history of defaults:
//!
//! ```text
//!  default 60 s at second 1000:   inherit floor  940
//!  default off:                                  940     what had expired stays expired
//!  default 3600 s at 1010:                       940     (1010 - 3600 lies lower and changes nothing)
//! ```
//!
//! Dates of a date index are supplied by users, who may write an old date at any time. A floor of
//! dates is therefore limited by stamp (the sequence number of a commit), too: a [`FloorPair`]
//! covers the rows that were written before a commit and whose date is at most a limit.

use crate::{class::Class, dates::FloorPair, header::Header};

/// The dates that had expired by one date index, permanently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFloor {
    /// Id of the date index.
    pub index: u32,
    /// All rows with dates up to this one have expired, with any stamp.
    pub floor_ms: i64,
    /// Further floors, each of which applies only to rows whose stamp is smaller than its own.
    pub pairs: Vec<FloorPair>,
}

/// Deadlines up to which documents have permanently expired, by class and by date index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floors {
    /// Documents of class inherit written up to this second have expired.
    pub inherit_s: i64,
    /// Documents of class explicit with deadlines up to this second have expired.
    pub explicit_s: i64,
    /// The floors of the date indexes, one for each index.
    pub dates: Vec<DateFloor>,
}

impl Floors {
    /// Floors by which no document has expired.
    pub const NONE: Self = Self { inherit_s: i64::MIN, explicit_s: i64::MIN, dates: Vec::new() };

    /// Returns whether a document has expired by these floors. A true result is final.
    pub fn has_expired(&self, header: &Header<'_>) -> bool {
        let own = match header.class {
            Class::Never => false,
            Class::Inherit => header.ts <= self.inherit_s,
            Class::Explicit { deadline } => deadline <= self.explicit_s,
        };
        own || (!self.dates.is_empty()
            && header.dates.iter().any(|(index, date_ms)| {
                self.dates
                    .iter()
                    .filter(|floor| floor.index == index)
                    // One date index suffices: the earliest rule expires the document.
                    .any(|floor| floor.has_expired(header.stamp, date_ms))
            }))
    }

    /// Returns these floors with those of date indexes limited to rows with stamps below `stamp`.
    /// Used for the floors of reaping, since settings may change and a later write may carry an old
    /// date.
    pub fn bounded_by_stamp(mut self, stamp: u64) -> Self {
        for date in &mut self.dates {
            // Pairs whose rows the new pair covers are removed: their floor and stamp are not
            // higher.
            date.pairs.retain(|pair| date.floor_ms < pair.floor_ms || stamp < pair.stamp);
            if date.floor_ms != i64::MIN {
                date.pairs.push(FloorPair { stamp, floor_ms: date.floor_ms });
                date.floor_ms = i64::MIN;
            }
        }
        self
    }

    /// Returns the floors by which a document has expired only if it has expired by both operands.
    pub fn lower_of_both(&self, other: &Self) -> Self {
        // By an index that only one operand has, no document has expired by both.
        let dates = self.dates.iter().filter_map(|floor| {
            let twin = other.dates.iter().find(|twin| twin.index == floor.index)?;
            Some(floor.lower_of_both(twin))
        });
        Self {
            inherit_s: self.inherit_s.min(other.inherit_s),
            explicit_s: self.explicit_s.min(other.explicit_s),
            dates: dates.collect(),
        }
    }
}

impl DateFloor {
    /// Returns whether a row with this stamp and date has expired.
    fn has_expired(&self, stamp: u64, date_ms: i64) -> bool {
        date_ms <= self.floor_ms
            || self.pairs.iter().any(|pair| stamp < pair.stamp && date_ms <= pair.floor_ms)
    }

    /// Returns the floor of one index by which a row has expired only if it has expired by both
    /// operands.
    fn lower_of_both(&self, other: &Self) -> Self {
        // `floor_ms` is a pair without a bound on the stamp. A row expired by both operands is
        // covered by a pair of each, so the result has the minimum of every combination of a pair
        // of one operand with a pair of the other.
        let unbounded = |floor: &Self| FloorPair { stamp: u64::MAX, floor_ms: floor.floor_ms };
        let all = |floor: &Self| {
            let mut pairs = floor.pairs.clone();
            pairs.push(unbounded(floor));
            pairs
        };
        let mut pairs: Vec<FloorPair> = Vec::new();
        for a in all(self) {
            for b in all(other) {
                let both =
                    FloorPair { stamp: a.stamp.min(b.stamp), floor_ms: a.floor_ms.min(b.floor_ms) };
                let covers =
                    |x: &FloorPair, y: &FloorPair| y.stamp <= x.stamp && y.floor_ms <= x.floor_ms;
                if !pairs.iter().any(|pair| covers(pair, &both)) {
                    pairs.retain(|pair| !covers(&both, pair));
                    pairs.push(both);
                }
            }
        }
        let floor_ms = self.floor_ms.min(other.floor_ms);
        pairs.retain(|pair| floor_ms < pair.floor_ms);
        Self { index: self.index, floor_ms, pairs }
    }
}
