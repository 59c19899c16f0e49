//! Scans items in the order of their creation, the order that clients expect of a container by
//! default, as far as they can observe it.
//!
//! No index has that order. The creation stamps of all items are read, and each round selects a
//! bounded number of the earliest remaining ones:
//!
//! ```text
//!  stamps:  7 3 9 1 5 ...   --> the first FEW_ITEMS after the last position --> emit --> repeat
//! ```
//!
//! This suits only small containers, since each round reads all creation stamps. A descending order
//! of a property ends with the items that lack it, which are scanned backward, from the newest
//! item.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, VecDeque},
};

use bytes::Bytes;
use evaluation::Context;
use select::statement::Flow;
use store::{Direction, KeyRange};

use super::{emitter::Emitter, scan::Scan};
use crate::{
    error::{Error, Halt},
    index::value_at,
    limits::{CANDIDATE_WORK, FEW_ITEMS},
    row::Row,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

#[derive(Clone, Copy)]
pub(super) enum CreationSource<'a> {
    /// All items in a key range.
    Range(&'a KeyRange),
    /// Items with these row keys.
    Keys(&'a VecDeque<Bytes>),
    /// All items that have no value at this path of properties.
    Without(&'a [String]),
}

/// Encodes the position of an item in creation order.
pub(super) fn creation_position(creation_stamp: u64) -> [u8; 8] {
    creation_stamp.to_be_bytes()
}

/// Collects the items that follow a position in creation order.
struct Nearest<'a> {
    /// Position after which items are collected; `None` for the start.
    after: Option<&'a [u8]>,
    direction: Direction,
    /// Row keys by position; at most [`FEW_ITEMS`].
    found: BTreeMap<[u8; 8], Bytes>,
    /// Whether more items follow the collected ones.
    more: bool,
}

impl Nearest<'_> {
    /// Adds a row, and removes the row that comes last if there are too many.
    fn offer_row(&mut self, row: &Row) {
        let place = creation_position(row.creation_stamp);
        let behind = match self.direction {
            Direction::Forward => Ordering::Greater,
            Direction::Backward => Ordering::Less,
        };
        // The row was returned by an earlier page.
        if self.after.is_some_and(|after| place.as_slice().cmp(after) != behind) {
            return;
        }
        self.found.insert(place, row.key.clone());
        if FEW_ITEMS < self.found.len() {
            // The removed row is found again in the next round.
            match self.direction {
                Direction::Forward => self.found.pop_last(),
                Direction::Backward => self.found.pop_first(),
            };
            self.more = true;
        }
    }

    /// Returns the row keys in order, and the last position if more items follow.
    fn into_order(self) -> (Vec<Bytes>, Option<[u8; 8]>) {
        let (last, more) = match self.direction {
            Direction::Forward => (self.found.last_key_value(), self.more),
            Direction::Backward => (self.found.first_key_value(), self.more),
        };
        let last = last.map(|(place, _)| *place).filter(|_| more);
        let mut keys: Vec<Bytes> = self.found.into_values().collect();
        if self.direction == Direction::Backward {
            keys.reverse();
        }
        (keys, last)
    }
}

impl LiveView {
    /// Returns whether the container has few enough items for a scan in creation order.
    pub(super) async fn has_few(&self) -> Result<bool, Halt> {
        let few = i64::try_from(FEW_ITEMS).unwrap_or(i64::MAX);
        Ok(self.total_amount().await?.documents <= few)
    }

    /// Emits all items of a scan in the order of their creation.
    pub(super) async fn scan_all_in_creation_order(
        &self,
        source: CreationSource<'_>,
        scan: &Scan,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), Halt> {
        let after = scan.after.as_deref();
        let flow = self.scan_in_creation_order(source, Direction::Forward, after, emitter).await?;
        emitter.scanned.ended = flow == Flow::More;
        Ok(())
    }

    /// Emits items after a position in the order of their creation or the reverse. Returns whether
    /// the sink accepts more items after the last one.
    pub(super) async fn scan_in_creation_order(
        &self,
        source: CreationSource<'_>,
        direction: Direction,
        after: Option<&[u8]>,
        emitter: &mut Emitter<'_>,
    ) -> Result<Flow, Halt> {
        let mut after = after.map(<[u8]>::to_vec);
        loop {
            let found = BTreeMap::new();
            let mut nearest = Nearest { after: after.as_deref(), direction, found, more: false };
            self.read_creation_stamps(source, emitter.context, &mut nearest).await?;
            let (keys, last) = nearest.into_order();
            for key in keys {
                let row = self.get_row(&key).await?;
                // The row was live when this same view was scanned, so a missing row means damage.
                let row =
                    row.ok_or_else(|| Error::corrupt("a row is missing from its snapshot"))?;
                if emitter.emit_item(row).await? == Flow::Enough {
                    return Ok(Flow::Enough);
                }
            }
            let Some(last) = last else { return Ok(Flow::More) };
            after = Some(last.to_vec());
        }
    }

    /// Finds the next items after a position.
    async fn read_creation_stamps(
        &self,
        source: CreationSource<'_>,
        context: &Context,
        nearest: &mut Nearest<'_>,
    ) -> Result<(), Halt> {
        let mut pages = match source {
            CreationSource::Keys(keys) => {
                for key in keys {
                    // Charged like a candidate, not like a row, since only the row's header is
                    // used.
                    yield_if_due(context, CANDIDATE_WORK).await?;
                    let row = self.get_row(key).await?;
                    let row = row.ok_or_else(|| Error::corrupt("an index entry has no row"))?;
                    nearest.offer_row(&row);
                }
                return Ok(());
            }
            CreationSource::Range(range) => Pages::of(range.clone()),
            CreationSource::Without(_) => Pages::of(KeyRange::all()),
        };
        context.budget.record_access(|| "scan".to_owned());
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(context, page.examined).await?;
            for row in page.items {
                if let CreationSource::Without(names) = source {
                    yield_if_due(context, CANDIDATE_WORK).await?;
                    if value_at(row.document(), names).is_some() {
                        continue;
                    }
                }
                nearest.offer_row(&row);
            }
        }
        Ok(())
    }
}
