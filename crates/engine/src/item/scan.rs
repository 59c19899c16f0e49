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

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use evaluation::Context;
use select::{
    sarg::{PathStep, Sarg},
    statement::Flow,
};
use store::{Direction, KeyRange, Store};

use super::{
    births::BirthSource,
    candidates,
    composite_order::{self, CompositeScan},
    index_order::{self, WalkOutcome},
};
use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    item_key::ItemRange,
    limits::ROW_WORK,
    retry::read_in_view,
    row::{Item, Row},
    view::{LiveView, Pages, charge_keys},
    yielding::yield_if_due,
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
    /// descends with all bits turned) and the item's key (turned, when the first path descends), or
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
    /// The one that was asked for.
    AsAsked,
}

/// Who takes the items of a walk.
pub trait ItemSink: Send {
    /// A walk begins, or begins again in a new view: what was taken so far does not count.
    fn begin(&mut self, comes: ScanOrder) -> Result<(), Error>;

    /// The next item.
    fn item(&mut self, item: &Item) -> Result<Flow, Error>;
}

/// What a walk read of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexUse {
    /// Entries of the values at a path.
    Path(Vec<PathStep>),
    /// All of the index of this name, for its order.
    Order(String),
}

/// How a walk went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The commits it certainly knew.
    pub seq: u64,
    /// What was read of indexes.
    pub indexes: Vec<IndexUse>,
    /// Index entries looked at.
    pub entries: u64,
    /// Items looked at.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether all was walked.
    pub ended: bool,
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
        let walked =
            read_in_view!(self, collection, |view| view.scan_in_view(scan, context, sink).await);
        let (scanned, view) = walked?;
        Ok(Scanned { seq: view.seq, ..scanned })
    }
}

impl<S: Store> LiveView<S> {
    /// Walks in this view; see the module for the choice of ways.
    async fn scan_in_view(
        &self,
        scan: &Scan,
        context: &Context,
        sink: &mut dyn ItemSink,
    ) -> Result<Scanned, Halt> {
        let mut scanned = Scanned::default();
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
        if !scan.no_index
            && let Some(along) = index_order::plan_index_order(&self.state.record, scan)
        {
            sink.begin(ScanOrder::AsAsked)?;
            match index_order::walk_index_order(self, &along, context, sink, &mut scanned).await? {
                WalkOutcome::On | WalkOutcome::Enough => return Ok(scanned),
                WalkOutcome::Fallback => sink.begin(ScanOrder::ByKey)?,
            }
            self.scan_rows(range, context, sink, &mut scanned).await?;
            return Ok(scanned);
        }
        let found = match scan.no_index {
            true => None,
            false => {
                candidates::find_candidates(self, &scan.sarg, &range, context, &mut scanned).await?
            }
        };
        if births {
            sink.begin(ScanOrder::ByBirth)?;
            // An index may have left few of the items.
            let source = found.as_ref().map_or(BirthSource::Range(&range), BirthSource::Keys);
            self.scan_births(source, scan.after.as_deref(), context, sink, &mut scanned).await?;
            return Ok(scanned);
        }
        // Candidates are few and come by key: the evaluator sorts them.
        let ordered = match (&found, scan.no_index) {
            (None, false) => composite_order::plan_composite(&self.state.record, scan),
            _ => None,
        };
        sink.begin(if ordered.is_some() { ScanOrder::AsAsked } else { ScanOrder::ByKey })?;
        match (found, ordered) {
            (Some(keys), _) => self.scan_keys(keys, context, sink, &mut scanned).await?,
            (None, Some(ordered)) => {
                self.scan_ordered(&ordered, context, sink, &mut scanned).await?;
            }
            (None, None) => self.scan_rows(range, context, sink, &mut scanned).await?,
        }
        Ok(scanned)
    }

    /// Items in the order of an index that holds all of them.
    async fn scan_ordered(
        &self,
        ordered: &CompositeScan<'_>,
        context: &Context,
        sink: &mut dyn ItemSink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        scanned.indexes.push(IndexUse::Order(ordered.index.name.clone()));
        let pages = Pages::of(ordered.range.clone()).in_direction(ordered.direction);
        let mut pages = pages.growing_slowly();
        while let Some(page) = self.next_entries(ordered.index, &mut pages).await? {
            charge_keys(context, page.examined).await?;
            for entry in page.items {
                scanned.entries += 1;
                let row = self.row_of(&entry).await?;
                if give_item(row, context, sink, scanned).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        scanned.ended = true;
        Ok(())
    }

    /// Items with these keys, which an index has named in this view.
    async fn scan_keys(
        &self,
        keys: VecDeque<Bytes>,
        context: &Context,
        sink: &mut dyn ItemSink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        for key in keys {
            let row = self.get_row(&key).await?;
            // The entry was live in this view, and so its row is.
            let row = row.ok_or_else(|| Error::corrupt("an index entry has no row"))?;
            if give_item(row, context, sink, scanned).await? == Flow::Enough {
                return Ok(());
            }
        }
        scanned.ended = true;
        Ok(())
    }

    /// Items in the order of their keys.
    async fn scan_rows(
        &self,
        range: KeyRange,
        context: &Context,
        sink: &mut dyn ItemSink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        // Many walks want few items.
        let mut pages = Pages::of(range).growing_slowly();
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(context, page.examined).await?;
            for row in page.items {
                if give_item(row, context, sink, scanned).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        scanned.ended = true;
        Ok(())
    }
}

/// Gives an item to who takes them.
pub(super) async fn give_item(
    row: Row,
    context: &Context,
    sink: &mut dyn ItemSink,
    scanned: &mut Scanned,
) -> Result<Flow, Halt> {
    // Counted before the filter: request units are charged for what was read.
    scanned.items += 1;
    scanned.bytes += row.body().len() as u64;
    yield_if_due(context, ROW_WORK + row.body().len()).await?;
    Ok(sink.item(&Item::from_row(row))?)
}
