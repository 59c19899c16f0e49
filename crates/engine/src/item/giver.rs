//! Gives the items of a walk to who takes them: those that the part of the condition admits that
//! an index could know. So a sink meets the same items in the same order whether the index was
//! read or every row was looked at, and what a page holds, where it ends and what it costs are the
//! same too.

use evaluation::Context;
use select::{sarg::Sarg, statement::Flow};

use super::scan::{ItemSink, Scanned};
use crate::{
    catalog::Collection,
    error::Halt,
    limits::{MAX_CANDIDATES, ROW_WORK, WANTED_AFTER},
    row::{Item, Row},
    yielding::yield_if_due,
};

/// How many items are looked at before it is asked again whether an index would have spared many.
const ASKED_EVERY: u64 = 1_024;

/// Who takes the items of a walk, and what was given.
pub(super) struct Giver<'a> {
    /// What is walked.
    pub(super) collection: &'a Collection,
    /// The operation.
    pub(super) context: &'a Context,
    /// Who takes the items.
    pub(super) sink: &'a mut dyn ItemSink,
    /// What items have to meet that are given.
    pub(super) admits: &'a Sarg,
    /// What was given and looked at.
    pub(super) scanned: &'a mut Scanned,
}

impl Giver<'_> {
    /// Gives an item, or passes over it.
    pub(super) async fn give_item(&mut self, row: Row) -> Result<Flow, Halt> {
        self.scanned.looked += 1;
        // Already here: nobody may wait for the end of the walk.
        if self.scanned.looked.is_multiple_of(ASKED_EVERY) {
            self.scanned.ask_for_missing(self.collection);
        }
        yield_if_due(self.context, ROW_WORK + row.body().len()).await?;
        if !self.admits.admits_document(row.document()) {
            return Ok(self.sink.pass_over(&Item::from_row(row))?);
        }
        self.scanned.items += 1;
        self.scanned.bytes += row.body().len() as u64;
        self.scanned.until = self.scanned.until.min(row.expires_at);
        Ok(self.sink.item(&Item::from_row(row))?)
    }
}

impl Scanned {
    /// Asks for the paths that the walk goes without, when it has looked at many items that they
    /// would have spared it.
    pub(super) fn ask_for_missing(&mut self, collection: &Collection) {
        // Entries of another path, which is wider, are looked at for want of this one as rows are.
        let spared = match self.ordered {
            true => self.looked,
            false => self.looked + self.entries - self.items,
        };
        // An index that named so many would not be read.
        let few = self.ordered || self.items <= MAX_CANDIDATES as u64;
        if WANTED_AFTER < spared && few && !self.missing.is_empty() {
            collection.demand.want(std::mem::take(&mut self.missing));
        }
    }
}
