//! Floors: what has expired for good. One type for what has expired now, what may be reaped, and
//! what has been published.

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
    pub fn is_dead(&self, header: &Header<'_>) -> bool {
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
                    .any(|floor| floor.is_dead(header.stamp, date_ms))
            }))
    }

    /// The same floors, where date indexes bind only rows with smaller stamps than this: what a
    /// reaper keeps, since settings may change and a later write may carry an old date.
    pub fn bounded_by_stamp(mut self, stamp: u64) -> Self {
        for date in &mut self.dates {
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
    fn is_dead(&self, stamp: u64, date_ms: i64) -> bool {
        date_ms <= self.floor_ms
            || self.pairs.iter().any(|pair| stamp < pair.stamp && date_ms <= pair.floor_ms)
    }

    fn lower_of_both(&self, other: &Self) -> Self {
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
