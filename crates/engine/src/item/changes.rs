//! The change feed, latest version of each item: an index by the stamp of the last write, so that
//! it never shows what has expired or was overwritten or removed.
//!
//! A page ends between two commits, never within one: a reader goes on after a stamp, and would
//! miss the rest of a commit that was cut in two.

use std::sync::Arc;

use evaluation::Context;
use store::{KeyRange, Store};

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

/// Which changes are wanted.
#[derive(Clone, Debug)]
pub struct ChangesWanted {
    /// Those of commits after this one.
    pub after: u64,
    /// And not before this second.
    pub since_s: i64,
    /// Of items in this part.
    pub range: ItemRange,
    /// About how many; all of one commit come together.
    pub items: usize,
    /// About how many bytes.
    pub bytes: usize,
}

/// A page of changes in the order of commits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangePage {
    /// Items as they are now.
    pub items: Vec<Item>,
    /// Go on after this commit.
    pub next: u64,
    /// Whether there may be more already.
    pub more: bool,
    /// The commits that the answer certainly knows.
    pub seq: u64,
}

impl<S: Store> Engine<S> {
    /// A page of changes.
    pub async fn item_changes(
        &self,
        collection: &Arc<Collection>,
        wanted: &ChangesWanted,
        context: &Context,
    ) -> Result<ChangePage, Error> {
        // The position after a page is the last change, which has to be known.
        self.last_change(collection).await?;
        let change =
            read_in_view!(self, collection, |view| view.read_changes(wanted, context).await);
        Ok(change?.0)
    }
}

/// The order of changes as an index.
pub(crate) fn changes_index() -> IndexSpec {
    IndexSpec { id: keys::CHANGES, ready: true, ..IndexSpec::new("changes", Vec::new()) }
}

impl<S: Store> LiveView<S> {
    /// The next page in this view.
    async fn read_changes(
        &self,
        wanted: &ChangesWanted,
        context: &Context,
    ) -> Result<ChangePage, Halt> {
        let index = changes_index();
        let mut found = ChangePage { next: wanted.after, seq: self.seq, ..ChangePage::default() };
        let (mut bytes, mut last) = (0, wanted.after);
        // The snapshot may hold more than is certain: an item that was written there is nowhere
        // else.
        let mut pages = Pages::of(KeyRange {
            start: keys::changes_after(wanted.after.saturating_add(1)),
            ..KeyRange::with_prefix(&keys::index_prefix(keys::CHANGES))
        });
        context.budget.note_access(|| "feed".to_owned());
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
