//! The change feed of latest versions: an index by the stamp of the last write, so that it never
//! returns expired, overwritten or deleted items.
//!
//! A page never splits a commit: readers continue after a stamp and would miss the rest.

use std::sync::Arc;

use evaluation::Context;
use store::KeyRange;

use crate::{
    catalog::{Collection, IndexSpec},
    engine::Engine,
    error::{Error, Halt},
    item_key::ItemRange,
    keys,
    limits::ROW_WORK,
    retry::read_in_view,
    row::Item,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
};

/// Selects the changes that a page contains.
#[derive(Clone, Debug)]
pub struct ChangeQuery {
    /// Only changes of commits after this stamp.
    pub after: u64,
    /// Only changes in or after this second since 1970.
    pub since_s: i64,
    /// Only changes of items in this part of the container.
    pub range: ItemRange,
    /// Approximate number of items in a page; items of one commit are in the same page.
    pub items: usize,
    /// Approximate size at which the page ends, in bytes.
    pub bytes: usize,
}

/// A page of changes in commit order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangePage {
    /// Current versions of the items.
    pub items: Vec<Item>,
    /// Position at which the next page continues: changes after this commit.
    pub next: u64,
    /// Whether changes after the page may already exist.
    pub more: bool,
    /// The page covers the commit with this sequence number and all earlier ones.
    pub seq: u64,
}

impl Engine {
    /// Returns a page of changes.
    pub async fn item_changes(
        &self,
        collection: &Arc<Collection>,
        wanted: &ChangeQuery,
        context: &Context,
    ) -> Result<ChangePage, Error> {
        // The page's end position is the stamp of the last change, so that stamp must be known.
        self.last_change(collection).await?;
        let change =
            read_in_view!(self, collection, |view| view.read_changes(wanted, context).await);
        Ok(change?.0)
    }
}

/// Returns the specification of the index that stores the order of changes.
pub(crate) fn changes_index() -> IndexSpec {
    IndexSpec { id: keys::CHANGES, ready: true, ..IndexSpec::new("changes", Vec::new()) }
}

impl LiveView {
    async fn read_changes(
        &self,
        wanted: &ChangeQuery,
        context: &Context,
    ) -> Result<ChangePage, Halt> {
        let index = changes_index();
        let mut found = ChangePage { next: wanted.after, seq: self.seq, ..ChangePage::default() };
        let (mut bytes, mut last) = (0, wanted.after);
        // Not bounded by `seq`: the snapshot may be newer, and an item written after `seq` has only
        // an entry after `seq`.
        let mut pages = Pages::of(KeyRange {
            start: keys::changes_after(wanted.after.saturating_add(1)),
            ..KeyRange::with_prefix(&keys::index_prefix(keys::CHANGES))
        });
        context.budget.record_access(|| "feed".to_owned());
        while let Some(page) = self.next_entries(&index, &mut pages).await? {
            charge_keys(context, page.examined).await?;
            for entry in page.items {
                let full = wanted.items <= found.items.len() || wanted.bytes <= bytes;
                // The commit that filled the page is complete.
                if full && last != entry.stamp {
                    return Ok(ChangePage { next: last, more: true, ..found });
                }
                last = entry.stamp;
                if !wanted.range.contains_key(&entry.row_key) {
                    continue;
                }
                let row = self.row_of(&entry).await?;
                yield_if_due(context, ROW_WORK + row.body().len()).await?;
                let item = Item::from_row(row);
                if wanted.since_s <= item.ts {
                    bytes += item.body.len();
                    found.items.push(item);
                }
            }
        }
        Ok(ChangePage { next: self.last_change_shown().max(last), ..found })
    }
}
