//! Builds the books of documents that were there before they were begun, from headers, while
//! writers keep them; and corrects the totals to what is really there.

use std::sync::Arc;

use expiry::Header;
use store::{Direction, Limit, Mutation, Range, Snapshot, Space, Store, Unit, decode_count};

use crate::{
    Collection, Engine, Error, Record, State,
    catalog::Books,
    engine::{Apply, Edit},
    keys,
    limits::{PAGE_BYTES, PAGE_ROWS},
    view::Hold,
    write::{Entered, count_sums},
};

const ALL: Limit = Limit { rows: PAGE_ROWS, bytes: PAGE_BYTES };

/// Books that a change began: its state, and the rows that were there then.
pub(crate) struct Begun<S: Store> {
    state: Arc<State>,
    snapshot: S::Snapshot,
    /// None of these rows may be reaped before the sums know them.
    _hold: Hold,
}

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
    pub(crate) fn begin_books(&self, collection: &Collection, before: Books) -> Option<Begun<S>> {
        let state = collection.state();
        let began =
            matches!(state.record.books, Books::Building(_)) && state.record.books != before;
        began.then(|| Begun {
            _hold: self.inner.holds.register(collection.id),
            state,
            snapshot: self.inner.store.snapshot(),
        })
    }

    /// Builds the sums of documents that were there before the books were begun. Whoever began
    /// them builds them, once.
    pub(crate) async fn build_books(
        &self,
        collection: &Arc<Collection>,
        begun: Option<Begun<S>>,
    ) -> Result<(), Error> {
        let Some(Begun { state, snapshot, _hold }) = begun else { return Ok(()) };
        let Books::Building(build) = state.record.books else { return Ok(()) };
        let mut found = Found::default();
        let mut rest = Some(Range::all());
        while let Some(range) = rest {
            let page = snapshot.scan(collection.rows(), &range, Direction::Forward, ALL).await?;
            let mut entered = Vec::with_capacity(page.rows.len());
            for (_, value) in &page.rows {
                let (header, body) = Header::split(value)?;
                let one = Entered::of(&header, body);
                let sums = &mut found[usize::from(keys::class_code(one.class))];
                sums[0] += 1;
                sums[1] = sums[1].saturating_add(one.bytes);
                entered.push(one);
            }
            let last = page.rows.last().map(|(key, _)| key.clone());
            if collection.is_dropped() {
                return Ok(());
            }
            self.commit_one(enter(Arc::clone(&state), entered)).await?;
            rest = last.filter(|_| page.more).map(|key| range.after(&key, Direction::Forward));
        }
        let corrections = corrections(&snapshot, collection.id, found).await?;
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
async fn corrections<S: Snapshot>(
    snapshot: &S,
    collection: u32,
    found: Found,
) -> Result<Vec<Mutation>, Error> {
    let mut out = Vec::new();
    for (class, found) in (0_u8..).zip(found) {
        let key = keys::total(collection, class);
        let held = snapshot.get(Space::Counts, &key).await?;
        let held = held.map_or([0; 2], |value| decode_count(&value));
        let by = [found[0].saturating_sub(held[0]), found[1].saturating_sub(held[1])];
        if by != [0; 2] {
            out.push(Mutation::Add { space: Space::Counts, key, by });
        }
    }
    Ok(out)
}
