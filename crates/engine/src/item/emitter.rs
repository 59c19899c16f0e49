//! Emits the items of a scan to a sink, filtered by the part of the condition that an index could
//! serve. The sink therefore sees the same items in the same order with and without an index, and
//! the content, end and cost of a page are the same too.

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

/// Number of examined items after which a scan repeats its request for missing indexes.
const ASKED_EVERY: u64 = 1_024;

/// Passes the items of a scan to the sink and counts them.
pub(super) struct Emitter<'a> {
    pub(super) collection: &'a Collection,
    pub(super) context: &'a Context,
    pub(super) sink: &'a mut dyn ItemSink,
    /// The condition that an item has to meet to be emitted.
    pub(super) admits: &'a Sarg,
    pub(super) scanned: &'a mut Scanned,
}

impl Emitter<'_> {
    /// Emits an item if it meets the condition, and counts it in either case.
    pub(super) async fn emit_item(&mut self, row: Row) -> Result<Flow, Halt> {
        self.scanned.examined += 1;
        // Indexes are requested during the scan as well, since its client may never read to the
        // end.
        if self.scanned.examined.is_multiple_of(ASKED_EVERY) {
            self.scanned.request_missing(self.collection);
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
    /// Requests indexes for the paths that have none if these indexes would have saved examining
    /// many items.
    pub(super) fn request_missing(&mut self, collection: &Collection) {
        // Entries of a less selective index that were examined in vain count like rows.
        let spared = match self.ordered {
            true => self.examined,
            false => self.examined + self.entries - self.items,
        };
        // An index that matches more candidates would not be used.
        let few = self.ordered || self.items <= MAX_CANDIDATES as u64;
        if WANTED_AFTER < spared && few && !self.missing.is_empty() {
            collection.demand.want(std::mem::take(&mut self.missing));
        }
    }
}
