//! Scans items in one view. An index may exclude items that cannot meet the condition; the result
//! is the same with and without it.
//!
//! ```text
//!  scan -- order of one path? -------> index_order --(too many equal)--> rows
//!       -- condition on a path? -----> candidates --> point reads
//!       -- few items, no order? -----> creation_order
//!       -- order of several paths? --> composite_order
//!       -- otherwise ----------------> rows of the range
//! ```
//!
//! The sink learns the order of items from [`ItemSink::begin`], which is called again when the scan
//! restarts in another view; the sink then discards the items received so far.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use clock::Instant;
use evaluation::Context;
use select::{
    sarg::{PathStep, PathSteps, Sarg},
    statement::Flow,
};
use store::{Direction, KeyRange};

use super::{
    allowed::{allowed_part, missing_paths, order_path, served_by},
    candidates,
    composite_order::{self, CompositeScan},
    creation_order::CreationSource,
    emitter::Emitter,
    index_order::{self, WalkOutcome},
};
use crate::{
    catalog::{Collection, CollectionState},
    engine::Engine,
    error::{Error, Halt},
    item_key::ItemRange,
    retry::read_in_view,
    row::Item,
    view::{LiveView, Pages, charge_keys},
};

/// The parameters of a scan.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The part of the container to scan.
    pub range: ItemRange,
    /// Only items that may meet this condition are emitted.
    pub sarg: Sarg,
    /// The scan starts after this key, or after this position in creation order.
    pub after: Option<Vec<u8>>,
    /// Whether items come in order of creation. Not combined with an `order`.
    pub creation_order: CreationOrder,
    /// The requested order: property paths with directions (true: descending). It is used only if
    /// an index yields it.
    pub order: Vec<(Vec<String>, bool)>,
    /// Position in `order` from which to start, in full or as a prefix: the encoded values (bitwise
    /// inverted for a descending path), then the item's creation stamp (inverted if the first path
    /// is descending).
    pub seek: Option<Vec<u8>>,
    /// Whether the scan must not use an index.
    pub no_index: bool,
}

impl Scan {
    /// Creates a scan of all items of a part of a container.
    pub fn of(range: ItemRange) -> Self {
        Self {
            range,
            sarg: Sarg::All,
            after: None,
            creation_order: CreationOrder::Never,
            order: Vec::new(),
            seek: None,
            no_index: false,
        }
    }
}

/// Whether a scan uses the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreationOrder {
    /// The scan uses key order.
    Never,
    /// The scan uses creation order if the container is small.
    WhereFew,
    /// The scan continues in creation order, as its first page did.
    Always,
}

/// The order in which a scan emits items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// In the order of row keys.
    ByKey,
    /// In the order of the items' creation.
    ByCreation,
    /// The requested order. Items with equal values come in order of creation, or in reverse if the
    /// first path is descending.
    AsRequested,
}

/// Receives the items of a scan.
pub trait ItemSink: Send {
    /// Starts or restarts the scan in a view; items received so far must be discarded. The scan's
    /// items are live at `at`, which is later than any instant the operation read before.
    fn begin(&mut self, comes: ScanOrder, at: Instant) -> Result<(), Error>;

    /// Receives the next item of the scan.
    fn item(&mut self, item: &Item) -> Result<Flow, Error>;

    /// Receives an item that an index would have excluded; a next page starts after it.
    fn pass_over(&mut self, _item: &Item) -> Result<Flow, Error> {
        Ok(Flow::More)
    }
}

/// Way in which an index may serve a scan under the container's indexing policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexUse {
    /// Entries of the values at a path.
    Path(Vec<PathStep>),
    /// The order of the index with this name.
    Order(String),
}

/// The statistics of a scan.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The scan covers the commit with this sequence number and all earlier ones.
    pub seq: u64,
    /// Indexes that the policy allows for the scan, whether or not they currently exist.
    pub indexes: Vec<IndexUse>,
    /// Whether one of `indexes` yields the requested order.
    pub ordered: bool,
    /// Number of index entries examined.
    pub entries: u64,
    /// Number of items that the scan has read.
    pub examined: u64,
    /// Number of examined items that meet the indexable part of the condition.
    pub items: u64,
    /// Total size of the examined items that meet the indexable part of the condition, in bytes.
    pub bytes: u64,
    /// Whether the scan reached the end of its range.
    pub ended: bool,
    /// What another scan must find unchanged to return the same items; `None` if unknown.
    pub basis: Option<ScanBasis>,
    /// Earliest expiry of the emitted items.
    pub(super) until: Instant,
    /// Paths whose index was not used because too many items match.
    pub(super) unselective: Vec<PathSteps>,
    /// Ids of the indexes that were read.
    pub(super) read: Vec<u32>,
    /// Paths for which an index would have helped and does not exist.
    pub(super) missing: Vec<PathSteps>,
}

impl Default for Scanned {
    fn default() -> Self {
        Self {
            seq: 0,
            indexes: Vec::new(),
            ordered: false,
            entries: 0,
            examined: 0,
            items: 0,
            bytes: 0,
            ended: false,
            basis: None,
            until: Instant::MAX,
            unselective: Vec::new(),
            read: Vec::new(),
            missing: Vec::new(),
        }
    }
}

/// The state on which a scan relied: while it is unchanged, another scan returns the same items.
#[derive(Clone, Debug)]
pub struct ScanBasis {
    /// Settings and indexes of the collection at the scan.
    state: Arc<CollectionState>,
    /// Newest stamp of a commit that changes items. The scan covered that commit and all earlier
    /// ones.
    begun: u64,
    /// Earliest expiry of the items.
    until: Instant,
}

impl Scanned {
    /// Returns the statistics to start with when the scan restarts with another method.
    fn begun_again(&self) -> Self {
        Self { indexes: self.indexes.clone(), ordered: self.ordered, ..Self::default() }
    }
}

impl Engine {
    /// Scans items in one view.
    pub async fn scan_items(
        &self,
        collection: &Arc<Collection>,
        scan: &Scan,
        context: &Context,
        sink: &mut dyn ItemSink,
    ) -> Result<Scanned, Error> {
        let mut scanned = Scanned::default();
        let mut begun = 0;
        let walked = read_in_view!(self, collection, |view| {
            scanned = Scanned::default();
            begun = collection.last_begun();
            view.scan_in_view(scan, context, sink, &mut scanned).await
        });
        // A failed scan may have failed for lack of an index.
        scanned.request_missing(collection);
        if !scanned.read.is_empty() {
            let now_s = self.inner.clock().last_used().ms.div_euclid(1000);
            let each: BTreeSet<u32> = scanned.read.iter().copied().collect();
            each.into_iter().for_each(|index| collection.figures.count_use(index, now_s));
        }
        let ((), view) = walked?;
        // A newer commit that was stamped may or may not be in the view, so there is no basis.
        let basis = (begun <= view.seq).then(|| ScanBasis {
            state: Arc::clone(&view.state),
            begun,
            until: scanned.until,
        });
        Ok(Scanned { seq: view.seq, basis, ..scanned })
    }

    /// Returns the sequence number of a commit up to which a scan returns the same items; `None` if
    /// an item was written or has expired, or a setting has changed since.
    pub async fn scan_holds(
        &self,
        collection: &Arc<Collection>,
        basis: &ScanBasis,
    ) -> Result<Option<u64>, Error> {
        let view = self.view(collection).await?;
        // Read after the view was opened: stamps are recorded before commits become visible.
        let holds = collection.last_begun() == basis.begun
            && Arc::ptr_eq(&view.state, &basis.state)
            && view.instant < basis.until;
        Ok(holds.then_some(view.seq))
    }
}

impl LiveView {
    /// Runs the scan in this view by the method that suits its order and its condition.
    async fn scan_in_view(
        &self,
        scan: &Scan,
        context: &Context,
        sink: &mut dyn ItemSink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        // The range of row scans; index scans compute their own.
        let mut range = scan.range.0.clone();
        let by_creation = match scan.creation_order {
            CreationOrder::Never => false,
            // Decided on the first page; later pages request `Always`.
            CreationOrder::WhereFew => self.has_few().await?,
            CreationOrder::Always => true,
        };
        // In creation order, `after` is a creation stamp instead of a key.
        if let Some(after) = scan.after.as_ref().filter(|_| !by_creation) {
            let behind = range.remaining_after(after, Direction::Forward);
            range.start = range.start.max(behind.start);
        }
        let (record, collection) = (&self.state.record, &*self.collection);
        if scan.no_index {
            let emitter = &mut Emitter { collection, context, sink, admits: &Sarg::All, scanned };
            return self.scan_by_rows(scan, range, by_creation, emitter).await;
        }
        (scanned.indexes, scanned.ordered) = served_by(record, scan);
        let admits = allowed_part(record, &scan.sarg);
        let emitter = &mut Emitter { collection, context, sink, admits: &admits, scanned };
        if let Some((path, _)) = order_path(record, scan) {
            let Some(along) = index_order::plan_index_order(record, scan) else {
                emitter.scanned.missing.extend(record.is_unindexed(&path).then_some(path));
                return self.scan_by_condition(scan, range, by_creation, emitter).await;
            };
            emitter.sink.begin(ScanOrder::AsRequested, self.instant)?;
            match index_order::walk_index_order(self, &along, emitter).await? {
                WalkOutcome::On | WalkOutcome::Enough => return Ok(()),
                WalkOutcome::Fallback => *emitter.scanned = emitter.scanned.begun_again(),
            }
            return self.scan_by_rows(scan, range, by_creation, emitter).await;
        }
        self.scan_by_condition(scan, range, by_creation, emitter).await
    }

    /// Scans the candidates that single-path indexes give for a condition, or all items.
    async fn scan_by_condition(
        &self,
        scan: &Scan,
        range: KeyRange,
        by_creation: bool,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), Halt> {
        let record = &self.state.record;
        let found =
            candidates::find_candidates(self, &scan.sarg, &range, emitter.context, emitter.scanned)
                .await?;
        let missing = missing_paths(record, &scan.sarg, &emitter.scanned.unselective);
        emitter.scanned.missing.extend(missing);
        let Some(keys) = found else {
            // Candidates are few and come in key order, so the evaluator sorts them.
            if !by_creation && let Some(ordered) = composite_order::plan_composite(record, scan) {
                emitter.sink.begin(ScanOrder::AsRequested, self.instant)?;
                return self.scan_ordered(&ordered, emitter).await;
            }
            return self.scan_by_rows(scan, range, by_creation, emitter).await;
        };
        if by_creation {
            emitter.sink.begin(ScanOrder::ByCreation, self.instant)?;
            let source = CreationSource::Keys(&keys);
            return self.scan_all_in_creation_order(source, scan, emitter).await;
        }
        emitter.sink.begin(ScanOrder::ByKey, self.instant)?;
        self.scan_keys(keys, emitter).await
    }

    /// Scans all items of a range, in key or creation order.
    async fn scan_by_rows(
        &self,
        scan: &Scan,
        range: KeyRange,
        by_creation: bool,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), Halt> {
        if by_creation {
            emitter.sink.begin(ScanOrder::ByCreation, self.instant)?;
            let source = CreationSource::Range(&range);
            return self.scan_all_in_creation_order(source, scan, emitter).await;
        }
        emitter.sink.begin(ScanOrder::ByKey, self.instant)?;
        self.scan_rows(range, emitter).await
    }

    /// Emits items in the order of an index that contains all of them.
    async fn scan_ordered(
        &self,
        ordered: &CompositeScan<'_>,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), Halt> {
        let pages = Pages::of(ordered.range.clone()).in_direction(ordered.direction);
        let mut pages = pages.growing_slowly();
        emitter.context.budget.record_access(|| format!("index {}", ordered.index.name));
        while let Some(page) = self.next_entries(ordered.index, &mut pages).await? {
            charge_keys(emitter.context, page.examined).await?;
            for entry in page.items {
                emitter.scanned.entries += 1;
                let row = self.row_of(&entry).await?;
                if emitter.emit_item(row).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        emitter.scanned.ended = true;
        Ok(())
    }

    /// Emits items by keys that an index returned in this view.
    async fn scan_keys(
        &self,
        keys: VecDeque<Bytes>,
        emitter: &mut Emitter<'_>,
    ) -> Result<(), Halt> {
        for key in keys {
            let row = self.get_row(&key).await?;
            // The entry was live in this view, so its row is too.
            let row = row.ok_or_else(|| Error::corrupt("an index entry has no row"))?;
            if emitter.emit_item(row).await? == Flow::Enough {
                return Ok(());
            }
        }
        emitter.scanned.ended = true;
        Ok(())
    }

    /// Emits items in key order.
    async fn scan_rows(&self, range: KeyRange, emitter: &mut Emitter<'_>) -> Result<(), Halt> {
        emitter.context.budget.record_access(|| "scan".to_owned());
        // Many scans end after few items.
        let mut pages = Pages::of(range).growing_slowly();
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(emitter.context, page.examined).await?;
            for row in page.items {
                if emitter.emit_item(row).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        emitter.scanned.ended = true;
        Ok(())
    }
}
