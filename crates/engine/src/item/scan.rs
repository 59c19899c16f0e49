//! A walk over items in one view: in the order of their keys, of which an index may leave out what
//! cannot meet a condition, so that the answer is the same with and without it.
//!
//! ```text
//!  scan ── an order of one path? ────▶ index_order ──(too many alike)──▶ rows
//!       ── a condition on a path? ───▶ candidates ──▶ point reads
//!       ── few items, no order? ─────▶ births
//!       ── an order of several? ─────▶ composite_order
//!       ── else ─────────────────────▶ rows of the range
//! ```
//!
//! The sink is told which order it gets ([`ItemSink::begin`]), and told again when the walk begins
//! anew in another view: it forgets what it has then.

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
use store::{Direction, KeyRange, Store};

use super::{
    allowed::{allowed_part, missing_paths, order_path, served_by},
    births::BirthSource,
    candidates,
    composite_order::{self, CompositeScan},
    giver::Giver,
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

/// What is walked.
#[derive(Clone, Debug)]
pub struct Scan {
    /// Which part of the container.
    pub range: ItemRange,
    /// Only items that may meet this are wanted.
    pub sarg: Sarg,
    /// Only items after this key, or after this place in the order of births.
    pub after: Option<Vec<u8>>,
    /// Whether items come in the order in which they were made. It is not for what has an `order`.
    pub births: BirthOrder,
    /// The order that would spare sorting: paths of properties, each with its direction (`true`:
    /// descending).
    pub order: Vec<(Vec<String>, bool)>,
    /// Where to begin in that order: the values' components as they are ordered (of a path that
    /// descends with all bits turned) and the item's birth (turned, when the first path descends), or
    /// the beginning of these.
    pub seek: Option<Vec<u8>>,
    /// Look at no index.
    pub no_index: bool,
}

impl Scan {
    /// All items of a part of a container.
    pub fn of(range: ItemRange) -> Self {
        Self {
            range,
            sarg: Sarg::All,
            after: None,
            births: BirthOrder::Never,
            order: Vec::new(),
            seek: None,
            no_index: false,
        }
    }
}

/// Whether a walk goes in the order in which items were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BirthOrder {
    /// It goes in the order of keys.
    Never,
    /// It does in a container of few items.
    WhereFew,
    /// It goes on in that order.
    Always,
}

/// The order in which items come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    /// That of their keys.
    ByKey,
    /// That in which they were made.
    ByBirth,
    /// The one that was asked for. Items with equal values come in the order of their births, or in
    /// the reverse where the first path descends.
    AsAsked,
}

/// Who takes the items of a walk.
pub trait ItemSink: Send {
    /// A walk begins, or begins again in a new view: what was taken so far does not count. Its items
    /// are those that live at `at`, which is later than an instant that the operation took before
    /// it.
    fn begin(&mut self, comes: ScanOrder, at: Instant) -> Result<(), Error>;

    /// The next item.
    fn item(&mut self, item: &Item) -> Result<Flow, Error>;

    /// An item that an index would have left out, if it were there. Who stops here goes on after it.
    fn pass_over(&mut self, _item: &Item) -> Result<Flow, Error> {
        Ok(Flow::More)
    }
}

/// What serves a walk, as far as the policy goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexUse {
    /// Entries of the values at a path.
    Path(Vec<PathStep>),
    /// All of the index of this name, for its order.
    Order(String),
}

/// How a walk went.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The commits it certainly knew.
    pub seq: u64,
    /// What the policy has for the walk, whether or not it was there to be read.
    pub indexes: Vec<IndexUse>,
    /// Whether one of these has the order that was asked for.
    pub ordered: bool,
    /// Index entries looked at.
    pub entries: u64,
    /// Items looked at.
    pub looked: u64,
    /// Those of them that meet what the policy lets indexes know of the condition.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether all was walked.
    pub ended: bool,
    /// Until when a walk would give the same again; `None` where that cannot be told.
    pub basis: Option<ScanBasis>,
    /// When the first of the items that were given expires.
    pub(super) until: Instant,
    /// Paths whose indexes name too many items.
    pub(super) wide: Vec<PathSteps>,
    /// Ids of indexes that were read.
    pub(super) read: Vec<u32>,
    /// Paths that are not kept and would have spared it most.
    pub(super) missing: Vec<PathSteps>,
}

impl Default for Scanned {
    fn default() -> Self {
        Self {
            seq: 0,
            indexes: Vec::new(),
            ordered: false,
            entries: 0,
            looked: 0,
            items: 0,
            bytes: 0,
            ended: false,
            basis: None,
            until: Instant::MAX,
            wide: Vec::new(),
            read: Vec::new(),
            missing: Vec::new(),
        }
    }
}

/// What a walk relied on: as long as this holds, another one gives the same items.
#[derive(Clone, Debug)]
pub struct ScanBasis {
    /// The settings and indexes.
    state: Arc<CollectionState>,
    /// All commits that change items and have a stamp up to this one were seen; none had a newer one.
    begun: u64,
    /// When the first of its items expires.
    until: Instant,
}

impl Scanned {
    /// What is left of this when the walk begins again in another way.
    fn begun_again(&self) -> Self {
        Self { indexes: self.indexes.clone(), ordered: self.ordered, ..Self::default() }
    }
}

impl<S: Store> Engine<S> {
    /// Walks items in one view.
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
        // A walk that failed may have failed for want of an index.
        scanned.ask_for_missing(collection);
        if !scanned.read.is_empty() {
            let now_s = self.inner.clock().last_used().ms.div_euclid(1000);
            let each: BTreeSet<u32> = scanned.read.iter().copied().collect();
            each.into_iter().for_each(|index| collection.figures.count_use(index, now_s));
        }
        let ((), view) = walked?;
        // A commit with a newer stamp than the view is certain of may or may not have been seen.
        let basis = (begun <= view.seq).then(|| ScanBasis {
            state: Arc::clone(&view.state),
            begun,
            until: scanned.until,
        });
        Ok(Scanned { seq: view.seq, basis, ..scanned })
    }

    /// Whether a walk would still give the items that another one gave: nothing was written, no setting
    /// has changed and none of the items has expired. Returns the commits that this is certain for.
    pub async fn scan_holds(
        &self,
        collection: &Arc<Collection>,
        basis: &ScanBasis,
    ) -> Result<Option<u64>, Error> {
        let view = self.view(collection).await?;
        // After the view was opened: what it shows was noted before it could be seen.
        let holds = collection.last_begun() == basis.begun
            && Arc::ptr_eq(&view.state, &basis.state)
            && view.instant < basis.until;
        Ok(holds.then_some(view.seq))
    }
}

impl<S: Store> LiveView<S> {
    /// Walks in this view; see the module for the choice of ways.
    async fn scan_in_view(
        &self,
        scan: &Scan,
        context: &Context,
        sink: &mut dyn ItemSink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        // Of rows; index scans have ranges of their own.
        let mut range = scan.range.0.clone();
        let births = match scan.births {
            BirthOrder::Never => false,
            // Once: the next page asks for `Always`, so that it goes on in the order of the first.
            BirthOrder::WhereFew => self.has_few().await?,
            BirthOrder::Always => true,
        };
        // A token of the order of keys; in the order of births it is a birth.
        if let Some(after) = scan.after.as_ref().filter(|_| !births) {
            let behind = range.remaining_after(after, Direction::Forward);
            range.start = range.start.max(behind.start);
        }
        let (record, collection) = (&self.state.record, &*self.collection);
        if scan.no_index {
            let giver = &mut Giver { collection, context, sink, admits: &Sarg::All, scanned };
            return self.scan_by_rows(scan, range, births, giver).await;
        }
        (scanned.indexes, scanned.ordered) = served_by(record, scan);
        let admits = allowed_part(record, &scan.sarg);
        let giver = &mut Giver { collection, context, sink, admits: &admits, scanned };
        if let Some((path, _)) = order_path(record, scan) {
            let Some(along) = index_order::plan_index_order(record, scan) else {
                giver.scanned.missing.extend(record.is_unkept(&path).then_some(path));
                return self.scan_by_condition(scan, range, births, giver).await;
            };
            giver.sink.begin(ScanOrder::AsAsked, self.instant)?;
            match index_order::walk_index_order(self, &along, giver).await? {
                WalkOutcome::On | WalkOutcome::Enough => return Ok(()),
                WalkOutcome::Fallback => {
                    *giver.scanned = giver.scanned.begun_again();
                }
            }
            return self.scan_by_rows(scan, range, births, giver).await;
        }
        self.scan_by_condition(scan, range, births, giver).await
    }

    /// Walks what indexes of single paths leave of a condition, or all there is.
    async fn scan_by_condition(
        &self,
        scan: &Scan,
        range: KeyRange,
        births: bool,
        giver: &mut Giver<'_>,
    ) -> Result<(), Halt> {
        let record = &self.state.record;
        let found =
            candidates::find_candidates(self, &scan.sarg, &range, giver.context, giver.scanned)
                .await?;
        let missing = missing_paths(record, &scan.sarg, &giver.scanned.wide);
        giver.scanned.missing.extend(missing);
        let Some(keys) = found else {
            // Candidates are few and come by key: the evaluator sorts them. All are more.
            if !births && let Some(ordered) = composite_order::plan_composite(record, scan) {
                giver.sink.begin(ScanOrder::AsAsked, self.instant)?;
                return self.scan_ordered(&ordered, giver).await;
            }
            return self.scan_by_rows(scan, range, births, giver).await;
        };
        if births {
            giver.sink.begin(ScanOrder::ByBirth, self.instant)?;
            // An index may have left few of the items.
            let source = BirthSource::Keys(&keys);
            return self.scan_all_births(source, scan, giver).await;
        }
        giver.sink.begin(ScanOrder::ByKey, self.instant)?;
        self.scan_keys(keys, giver).await
    }

    /// Walks all items of a range, in the order of keys or of births.
    async fn scan_by_rows(
        &self,
        scan: &Scan,
        range: KeyRange,
        births: bool,
        giver: &mut Giver<'_>,
    ) -> Result<(), Halt> {
        if births {
            giver.sink.begin(ScanOrder::ByBirth, self.instant)?;
            let source = BirthSource::Range(&range);
            return self.scan_all_births(source, scan, giver).await;
        }
        giver.sink.begin(ScanOrder::ByKey, self.instant)?;
        self.scan_rows(range, giver).await
    }

    /// Items in the order of an index that holds all of them.
    async fn scan_ordered(
        &self,
        ordered: &CompositeScan<'_>,
        giver: &mut Giver<'_>,
    ) -> Result<(), Halt> {
        let pages = Pages::of(ordered.range.clone()).in_direction(ordered.direction);
        let mut pages = pages.growing_slowly();
        giver.context.budget.note_access(|| format!("index {}", ordered.index.name));
        while let Some(page) = self.next_entries(ordered.index, &mut pages).await? {
            charge_keys(giver.context, page.examined).await?;
            for entry in page.items {
                giver.scanned.entries += 1;
                let row = self.row_of(&entry).await?;
                if giver.give_item(row).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        giver.scanned.ended = true;
        Ok(())
    }

    /// Items with these keys, which an index has named in this view.
    async fn scan_keys(&self, keys: VecDeque<Bytes>, giver: &mut Giver<'_>) -> Result<(), Halt> {
        for key in keys {
            let row = self.get_row(&key).await?;
            // The entry was live in this view, and so its row is.
            let row = row.ok_or_else(|| Error::corrupt("an index entry has no row"))?;
            if giver.give_item(row).await? == Flow::Enough {
                return Ok(());
            }
        }
        giver.scanned.ended = true;
        Ok(())
    }

    /// Items in the order of their keys.
    async fn scan_rows(&self, range: KeyRange, giver: &mut Giver<'_>) -> Result<(), Halt> {
        giver.context.budget.note_access(|| "scan".to_owned());
        // Many walks want few items.
        let mut pages = Pages::of(range).growing_slowly();
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(giver.context, page.examined).await?;
            for row in page.items {
                if giver.give_item(row).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        giver.scanned.ended = true;
        Ok(())
    }
}
