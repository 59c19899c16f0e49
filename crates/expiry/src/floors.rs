//! Floors: what has expired for good. One type for what has expired now, what may be reaped, and
//! what has been published.
//!
//! A floor is a second up to which everything of a class has expired. Floors only rise, so one
//! comparison decides for good, without knowing which defaults there were in between:
//!
//! ```text
//!  default 60 s at second 1000:   inherit floor  940
//!  default off:                                  940     what had expired stays expired
//!  default 3600 s at 1010:                       940     (1010 - 3600 lies lower and changes nothing)
//! ```
//!
//! Dates of a date index come from users, who may write an old date today. So a floor of dates
//! binds rows by their stamp, too: a pair says "rows written before this commit, with dates up to
//! this one".

use crate::{class::Class, dates::FloorPair, header::Header};

/// What has expired for good by one date index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFloor {
    /// The index.
    pub index: u32,
    /// Dates up to this one have expired, whenever they were written.
    pub floor_ms: i64,
    /// And these, by stamp.
    pub pairs: Vec<FloorPair>,
}

/// What has expired for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Floors {
    /// Class inherit: `_ts` up to this second.
    pub inherit_s: i64,
    /// Class explicit: deadlines up to this second.
    pub explicit_s: i64,
    /// By date index.
    pub dates: Vec<DateFloor>,
}

impl Floors {
    /// Nothing has expired.
    pub const NONE: Self = Self { inherit_s: i64::MIN, explicit_s: i64::MIN, dates: Vec::new() };

    /// Whether a document has expired by these floors. Once true, true for good: floors only rise.
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
                    // Any index is enough: the first rule that ends a document ends it.
                    .any(|floor| floor.has_expired(header.stamp, date_ms))
            }))
    }

    /// The same floors, where date indexes bind only rows with smaller stamps than this: what a
    /// reaper keeps, since settings may change and a later write may carry an old date.
    pub fn bounded_by_stamp(mut self, stamp: u64) -> Self {
        for date in &mut self.dates {
            // What the new pair covers goes: it reaches as high and binds at least as many rows.
            date.pairs.retain(|pair| date.floor_ms < pair.floor_ms || stamp < pair.stamp);
            if date.floor_ms != i64::MIN {
                date.pairs.push(FloorPair { stamp, floor_ms: date.floor_ms });
                date.floor_ms = i64::MIN;
            }
        }
        self
    }

    /// The floors by which a document has expired only where it has by both.
    pub fn lower_of_both(&self, other: &Self) -> Self {
        // An index that only one of them knows makes nothing expire by both.
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
    /// Whether a row with this stamp and date has expired.
    fn has_expired(&self, stamp: u64, date_ms: i64) -> bool {
        date_ms <= self.floor_ms
            || self.pairs.iter().any(|pair| stamp < pair.stamp && date_ms <= pair.floor_ms)
    }

    /// The floor of an index by which a row has expired only where it has by both.
    fn lower_of_both(&self, other: &Self) -> Self {
        // The plain floor is a pair without a bound on the stamp. What expired by both sides is
        // covered by one pair of each, so by the lower of every two.
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
