//! Builds the books of documents that were there before they were begun, from headers, while
//! writers keep them; and corrects the totals to what is really there.

use std::sync::Arc;

use expiry::Header;
use store::{Mutation, Range, Space, Store, Unit};

use crate::{
    backfill::Backfill,
    catalog::{Books, Collection, Record, State},
    counters::{Entered, count_sums},
    engine::{Apply, Edit, Engine},
    error::Error,
    keys,
    view::{Frozen, Pages, freeze},
};

/// Documents and bytes by class.
type Found = [[i64; 2]; 3];

impl<S: Store> Engine<S> {
    /// Begins books anew that an earlier run did not finish. Nobody writes yet.
    pub(crate) async fn restart_books(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let edit: Box<Edit<()>> = Box::new(|_: &State| {
            let apply = |record: &mut Record, stamp: store::Stamp| {
                record.books = Books::Building(stamp.seq);
            };
            Ok(Some((Arc::new(apply) as Arc<Apply>, ())))
        });
        let (_, begun) = self.change_books(collection, &*edit).await?;
        self.build_books(collection, begun).await
    }

    /// Called when a change is published and nothing is ordered behind it yet: the rows that are
    /// there are those that no writer entered in the books it began.
    pub(crate) fn begin_books(
        &self,
        collection: &Arc<Collection>,
        before: Books,
    ) -> Option<Backfill<S>> {
        let state = collection.state();
        let began =
            matches!(state.record.books, Books::Building(_)) && state.record.books != before;
        began.then(|| Backfill { state, rows: freeze(&self.inner.views, collection) })
    }

    /// Builds the sums of documents that were there before the books were begun. Whoever began
    /// them builds them, once.
    pub(crate) async fn build_books(
        &self,
        collection: &Arc<Collection>,
        begun: Option<Backfill<S>>,
    ) -> Result<(), Error> {
        let Some(Backfill { state, rows }) = begun else { return Ok(()) };
        let Books::Building(build) = state.record.books else { return Ok(()) };
        let mut found = Found::default();
        let mut pages = Pages::of(Range::all());
        while let Some(page) = rows.including_expired().next_rows(&mut pages).await? {
            let mut entered = Vec::with_capacity(page.rows.len());
            for (_, value) in &page.rows {
                let (header, body) = Header::split(value)?;
                let one = Entered::of(&header, body);
                let sums = &mut found[usize::from(keys::class_code(one.class))];
                sums[0] += 1;
                sums[1] = sums[1].saturating_add(one.bytes);
                entered.push(one);
            }
            if collection.is_dropped() {
                return Ok(());
            }
            self.commit_one(enter(Arc::clone(&state), entered)).await?;
        }
        let corrections = corrections(&rows, collection.id, found).await?;
        let edit: Box<Edit<()>> = Box::new(move |state: &State| {
            let wanted = state.record.books == Books::Building(build);
            let apply = move |record: &mut Record, _| record.books = Books::Ready(build);
            Ok(wanted.then(|| (Arc::new(apply) as Arc<Apply>, ())))
        });
        self.change_with(collection, &*edit, &corrections).await?;
        self.purge_builds(collection).await
    }
}

/// Adds documents to the sums, not to the totals, which know them already.
fn enter(state: Arc<State>, entered: Vec<Entered>) -> Unit {
    Unit::new(Vec::new(), move |_| {
        let mut out = Vec::new();
        for entered in &entered {
            count_sums(&state.record, entered, 1, &mut out);
        }
        out
    })
}

/// What makes the totals of a snapshot say what was found in it: documents that died and were
/// written over or reaped are in no sum of new books.
async fn corrections<S: Store>(
    rows: &Frozen<S>,
    collection: u32,
    found: Found,
) -> Result<Vec<Mutation>, Error> {
    let mut out = Vec::new();
    for (class, found) in (0_u8..).zip(found) {
        let key = keys::total(collection, class);
        let held = rows.counters().get(&key).await?;
        let by = [found[0].saturating_sub(held[0]), found[1].saturating_sub(held[1])];
        if by != [0; 2] {
            out.push(Mutation::Add { space: Space::Counts, key, by });
        }
    }
    Ok(out)
}
