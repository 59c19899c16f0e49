//! A walk over items in one view: in the order of their keys, of which an index may leave out what
//! cannot meet a condition, so that the answer is the same with and without it.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use evaluation::Context;
use select::{
    sarg::{PathStep, Sarg},
    statement::Flow,
};
use store::{Direction, Range, Store};

use super::{
    along::{self, Way},
    births::Source,
    candidates,
    ordered::{self, Ordered},
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
    /// Only items behind this key, or behind this place in the order of births.
    pub after: Option<Vec<u8>>,
    /// Whether items come in the order in which they were made. It is not for what has an `order`.
    pub births: Births,
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
            births: Births::Never,
            order: Vec::new(),
            seek: None,
            no_index: false,
        }
    }
}

/// Whether a walk goes in the order in which items were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Births {
    /// It goes in the order of keys.
    Never,
    /// It does in a container of few items.
    WhereFew,
    /// It goes on in that order.
    Always,
}

/// The order in which items come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comes {
    /// That of their keys.
    ByKey,
    /// That in which they were made.
    ByBirth,
    /// The one that was asked for.
    AsAsked,
}

/// Who takes the items of a walk.
pub trait Sink: Send {
    /// A walk begins, or begins again in a new view: what was taken so far does not count.
    fn begin(&mut self, comes: Comes) -> Result<(), Error>;

    /// The next item.
    fn item(&mut self, item: &Item) -> Result<Flow, Error>;
}

/// What a walk read of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Used {
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
    pub indexes: Vec<Used>,
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
    pub async fn scan(
        &self,
        collection: &Arc<Collection>,
        scan: &Scan,
        context: &Context,
        sink: &mut dyn Sink,
    ) -> Result<Scanned, Error> {
        let walked = read_in_view!(self, collection, |view| view.scan(scan, context, sink).await);
        let (scanned, view) = walked?;
        Ok(Scanned { seq: view.seq, ..scanned })
    }
}

impl<S: Store> LiveView<S> {
    async fn scan(
        &self,
        scan: &Scan,
        context: &Context,
        sink: &mut dyn Sink,
    ) -> Result<Scanned, Halt> {
        let mut scanned = Scanned::default();
        let mut range = scan.range.0.clone();
        let births = match scan.births {
            Births::Never => false,
            Births::WhereFew => self.has_few().await?,
            Births::Always => true,
        };
        if let Some(after) = scan.after.as_ref().filter(|_| !births) {
            let behind = range.after(after, Direction::Forward);
            range.start = range.start.max(behind.start);
        }
        if !scan.no_index
            && let Some(along) = along::find(&self.state.record, scan)
        {
            sink.begin(Comes::AsAsked)?;
            match along::walk(self, &along, context, sink, &mut scanned).await? {
                Way::On | Way::Enough => return Ok(scanned),
                Way::Astray => sink.begin(Comes::ByKey)?,
            }
            self.scan_rows(range, context, sink, &mut scanned).await?;
            return Ok(scanned);
        }
        let found = match scan.no_index {
            true => None,
            false => candidates::find(self, &scan.sarg, &range, context, &mut scanned).await?,
        };
        if births {
            sink.begin(Comes::ByBirth)?;
            let source = found.as_ref().map_or(Source::Range(&range), Source::Keys);
            self.scan_births(source, scan.after.as_deref(), context, sink, &mut scanned).await?;
            return Ok(scanned);
        }
        let ordered = match (&found, scan.no_index) {
            (None, false) => ordered::find(&self.state.record, scan),
            _ => None,
        };
        sink.begin(if ordered.is_some() { Comes::AsAsked } else { Comes::ByKey })?;
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
        ordered: &Ordered<'_>,
        context: &Context,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        scanned.indexes.push(Used::Order(ordered.index.name.clone()));
        let pages = Pages::of(ordered.range.clone()).in_direction(ordered.direction);
        let mut pages = pages.growing();
        while let Some(page) = self.next_entries(ordered.index, &mut pages).await? {
            charge_keys(context, page.examined).await?;
            for entry in page.items {
                scanned.entries += 1;
                let row = self.row_of(&entry).await?;
                if take(row, context, sink, scanned).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        scanned.ended = true;
        Ok(())
    }

    async fn scan_keys(
        &self,
        keys: VecDeque<Bytes>,
        context: &Context,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        for key in keys {
            let row = self.get(&key).await?;
            let row = row.ok_or_else(|| Error::corrupt("an index entry has no row"))?;
            if take(row, context, sink, scanned).await? == Flow::Enough {
                return Ok(());
            }
        }
        scanned.ended = true;
        Ok(())
    }

    async fn scan_rows(
        &self,
        range: Range,
        context: &Context,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<(), Halt> {
        // Many walks want few items.
        let mut pages = Pages::of(range).growing();
        while let Some(page) = self.next_rows(&mut pages).await? {
            charge_keys(context, page.examined).await?;
            for row in page.items {
                if take(row, context, sink, scanned).await? == Flow::Enough {
                    return Ok(());
                }
            }
        }
        scanned.ended = true;
        Ok(())
    }
}

/// Gives an item to who takes them.
pub(super) async fn take(
    row: Row,
    context: &Context,
    sink: &mut dyn Sink,
    scanned: &mut Scanned,
) -> Result<Flow, Halt> {
    scanned.items += 1;
    scanned.bytes += row.body().len() as u64;
    yield_if_due(context, ROW_WORK + row.body().len()).await?;
    Ok(sink.item(&Item::of(row))?)
}
