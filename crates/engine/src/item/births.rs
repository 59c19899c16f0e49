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
//! So it is for few items: each round reads the births of all of them.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use evaluation::Context;
use select::statement::Flow;
use store::{KeyRange, Store};

use super::giver::Giver;
use crate::{
    error::{Error, Halt},
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
}

/// The place of an item in this order.
pub(super) fn birth_place(birth: u64) -> [u8; 8] {
    birth.to_be_bytes()
}

/// The earliest items after a place, by their places.
struct Earliest<'a> {
    /// Only later ones count.
    after: &'a [u8],
    /// Keys of rows; never more than [`FEW_ITEMS`].
    found: BTreeMap<[u8; 8], Bytes>,
    /// Whether there are others after these.
    more: bool,
}

impl Earliest<'_> {
    /// Takes a row, and lets the latest one go when there are too many.
    fn offer_row(&mut self, row: &Row) {
        let place = birth_place(row.birth);
        // Given by an earlier page.
        if place.as_slice() <= self.after {
            return;
        }
        self.found.insert(place, row.key.clone());
        if FEW_ITEMS < self.found.len() {
            // The latest goes: it is met again in the next round.
            self.found.pop_last();
            self.more = true;
        }
    }
}

impl<S: Store> LiveView<S> {
    /// Whether a container has so few items that they may be walked in this order.
    pub(super) async fn has_few(&self) -> Result<bool, Halt> {
        let few = i64::try_from(FEW_ITEMS).unwrap_or(i64::MAX);
        Ok(self.total_amount().await?.documents <= few)
    }

    /// Walks items after a place.
    pub(super) async fn scan_births(
        &self,
        source: BirthSource<'_>,
        after: Option<&[u8]>,
        giver: &mut Giver<'_>,
    ) -> Result<(), Halt> {
        let mut after = after.unwrap_or_default().to_vec();
        loop {
            let mut earliest = Earliest { after: &after, found: BTreeMap::new(), more: false };
            self.read_births(source, giver.context, &mut earliest).await?;
            let Earliest { found, more, .. } = earliest;
            let last = found.last_key_value().map(|(place, _)| place.to_vec());
            for key in found.into_values() {
                let row = self.get_row(&key).await?;
                // It was live in this very view.
                let row = row.ok_or_else(|| Error::corrupt("a row is gone from its snapshot"))?;
                if giver.give_item(row).await? == Flow::Enough {
                    return Ok(());
                }
            }
            match last.filter(|_| more) {
                Some(last) => after = last,
                None => {
                    giver.scanned.ended = true;
                    return Ok(());
                }
            }
        }
    }

    /// Finds the earliest items after a place.
    async fn read_births(
        &self,
        source: BirthSource<'_>,
        context: &Context,
        earliest: &mut Earliest<'_>,
    ) -> Result<(), Halt> {
        let mut pages = match source {
            BirthSource::Keys(keys) => {
                for key in keys {
                    // A point read of which only the header is used.
                    yield_if_due(context, CANDIDATE_WORK).await?;
                    let row = self.get_row(key).await?;
                    earliest.offer_row(
                        &row.ok_or_else(|| Error::corrupt("an index entry has no row"))?,
                    );
                }
                return Ok(());
            }
            BirthSource::Range(range) => Pages::of(range.clone()),
        };
        context.budget.note_access(|| "scan".to_owned());
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(context, page.examined).await?;
            page.items.iter().for_each(|row| earliest.offer_row(row));
        }
        Ok(())
    }
}
