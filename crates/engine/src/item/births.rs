//! A walk over items in the order in which they were made: the order that clients expect of a
//! container without an order of their own, as far as they can notice it.
//!
//! No index has that order. The births of all items are read first, a bounded number at a time, the
//! earliest of all that are left:
//!
//! ```text
//!  births:  7 3 9 1 5 …   ──▶ the earliest FEW_ITEMS after the last place ──▶ given in order ──▶ again
//! ```
//!
//! So it is for few items: each round reads the births of all of them. Backward, from the item that was
//! created last, it gives the items without a value that end a descending order.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, VecDeque},
};

use bytes::Bytes;
use evaluation::Context;
use select::statement::Flow;
use store::{Direction, KeyRange, Store};

use super::{giver::Giver, scan::Scan};
use crate::{
    error::{Error, Halt},
    index::value_at,
    limits::{CANDIDATE_WORK, FEW_ITEMS},
    row::Row,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// Which items are walked.
#[derive(Clone, Copy)]
pub(super) enum BirthSource<'a> {
    /// All of a range of keys.
    Range(&'a KeyRange),
    /// Those with these keys.
    Keys(&'a VecDeque<Bytes>),
    /// All that have no value at a path of properties.
    Without(&'a [String]),
}

/// The place of an item in this order.
pub(super) fn birth_place(birth: u64) -> [u8; 8] {
    birth.to_be_bytes()
}

/// The items that come next after a place.
struct Nearest<'a> {
    /// Only items behind it count; `None` at the beginning.
    after: Option<&'a [u8]>,
    direction: Direction,
    /// Keys of rows by their places; never more than [`FEW_ITEMS`].
    found: BTreeMap<[u8; 8], Bytes>,
    /// Whether there are others behind these.
    more: bool,
}

impl Nearest<'_> {
    /// Takes a row, and drops the one that comes last when there are too many.
    fn offer_row(&mut self, row: &Row) {
        let place = birth_place(row.birth);
        let behind = match self.direction {
            Direction::Forward => Ordering::Greater,
            Direction::Backward => Ordering::Less,
        };
        // Others were given by an earlier page.
        if self.after.is_some_and(|after| place.as_slice().cmp(after) != behind) {
            return;
        }
        self.found.insert(place, row.key.clone());
        if FEW_ITEMS < self.found.len() {
            // It is met again in the next round.
            match self.direction {
                Direction::Forward => self.found.pop_last(),
                Direction::Backward => self.found.pop_first(),
            };
            self.more = true;
        }
    }

    /// Keys of rows in their order, and the place of the last one where others follow.
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

impl<S: Store> LiveView<S> {
    /// Whether a container has so few items that they may be walked in this order.
    pub(super) async fn has_few(&self) -> Result<bool, Halt> {
        let few = i64::try_from(FEW_ITEMS).unwrap_or(i64::MAX);
        Ok(self.total_amount().await?.documents <= few)
    }

    /// Gives the items of a walk in the order of their births, to their end.
    pub(super) async fn scan_all_births(
        &self,
        source: BirthSource<'_>,
        scan: &Scan,
        giver: &mut Giver<'_>,
    ) -> Result<(), Halt> {
        let after = scan.after.as_deref();
        let flow = self.scan_births(source, Direction::Forward, after, giver).await?;
        giver.scanned.ended = flow == Flow::More;
        Ok(())
    }

    /// Gives items in the order of their births, or in the reverse, those behind a place. Returns
    /// whether more are wanted at their end.
    pub(super) async fn scan_births(
        &self,
        source: BirthSource<'_>,
        direction: Direction,
        after: Option<&[u8]>,
        giver: &mut Giver<'_>,
    ) -> Result<Flow, Halt> {
        let mut after = after.map(<[u8]>::to_vec);
        loop {
            let found = BTreeMap::new();
            let mut nearest = Nearest { after: after.as_deref(), direction, found, more: false };
            self.read_births(source, giver.context, &mut nearest).await?;
            let (keys, last) = nearest.into_order();
            for key in keys {
                let row = self.get_row(&key).await?;
                // It was live in this very view.
                let row = row.ok_or_else(|| Error::corrupt("a row is gone from its snapshot"))?;
                if giver.give_item(row).await? == Flow::Enough {
                    return Ok(Flow::Enough);
                }
            }
            let Some(last) = last else { return Ok(Flow::More) };
            after = Some(last.to_vec());
        }
    }

    /// Finds the items that come next after a place.
    async fn read_births(
        &self,
        source: BirthSource<'_>,
        context: &Context,
        nearest: &mut Nearest<'_>,
    ) -> Result<(), Halt> {
        let mut pages = match source {
            BirthSource::Keys(keys) => {
                for key in keys {
                    // A point read of which only the header is used.
                    yield_if_due(context, CANDIDATE_WORK).await?;
                    let row = self.get_row(key).await?;
                    let row = row.ok_or_else(|| Error::corrupt("an index entry has no row"))?;
                    nearest.offer_row(&row);
                }
                return Ok(());
            }
            BirthSource::Range(range) => Pages::of(range.clone()),
            BirthSource::Without(_) => Pages::of(KeyRange::all()),
        };
        context.budget.note_access(|| "scan".to_owned());
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(context, page.examined).await?;
            for row in page.items {
                if let BirthSource::Without(names) = source {
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
