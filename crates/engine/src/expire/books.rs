//! Counts without scanning (ttl.md 5.3): `live = never + totals - sums up to the floor`. Turning
//! TTL on builds the sums of what was there from headers; until then counts walk them.

use std::sync::Arc;

use expiry::{Floors, Header};
use store::{Direction, Limit, Mutation, Range, Snapshot, Space, Store, Unit, decode_count};

use super::Amount;
use crate::{
    Collection, Engine, Error, LiveView, Record, State,
    catalog::Books,
    engine::{Apply, Edit},
    error::Halt,
    keys,
    limits::{PAGE_BYTES, PAGE_ROWS},
    view::Hold,
    write::{Entered, LEVELS, count},
};

const ALL: Limit = Limit { rows: PAGE_ROWS, bytes: PAGE_BYTES };
const CLASSES: [u8; 3] = [0, 1, 2];

/// Books that a change began: its state, and the rows that were there then.
pub(crate) struct Begun<S: Store> {
    state: Arc<State>,
    snapshot: S::Snapshot,
    /// The totals know these rows already: none may be reaped before the sums do.
    _hold: Hold,
}

impl<S: Store> Engine<S> {
    /// Exact live documents and bytes at the instant of a new view.
    pub async fn live(&self, collection: &Arc<Collection>) -> Result<Amount, Error> {
        loop {
            let view = self.view(collection).await?;
            match view.live().await {
                Ok(amount) => return Ok(amount),
                Err(halt) => self.settle(collection, &view, halt).await?,
            }
        }
    }

    /// Begins books anew that an earlier run did not finish. Nobody writes yet. Documents that died
    /// and were written over are in the totals and in the old sums only, so the totals begin anew
    /// as well.
    pub(crate) async fn restart_books(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        self.recount(collection).await?;
        let edit: Box<Edit<()>> = Box::new(|_: &State| {
            let apply = |record: &mut Record, stamp: store::Stamp| {
                record.books = Books::Building(stamp.seq);
            };
            Ok(Some((Arc::new(apply) as Arc<Apply>, ())))
        });
        let (_, begun) = self.change_books(collection, &*edit).await?;
        self.build_books(collection, begun).await
    }

    /// Sets the totals to what the rows say.
    async fn recount(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let snapshot = self.inner.store.snapshot();
        let mut found = CLASSES.map(|_| [0_i64; 2]);
        let mut rest = Some(Range::all());
        while let Some(range) = rest {
            let page = snapshot.scan(collection.rows(), &range, Direction::Forward, ALL).await?;
            for (_, value) in &page.rows {
                let (header, body) = Header::split(value)?;
                let sums = &mut found[usize::from(keys::class_code(header.class))];
                sums[0] += 1;
                sums[1] = sums[1].saturating_add(i64::try_from(body.len()).unwrap_or(i64::MAX));
            }
            let last = page.rows.last().filter(|_| page.more);
            rest = last.map(|(key, _)| range.after(key, Direction::Forward));
        }
        let mut out = Vec::new();
        for (class, found) in CLASSES.into_iter().zip(found) {
            let key = keys::total(collection.id, class);
            let held = snapshot.get(Space::Counts, &key).await?;
            let held = held.map_or([0; 2], |value| decode_count(&value));
            let by = [found[0].saturating_sub(held[0]), found[1].saturating_sub(held[1])];
            out.push(Mutation::Add { space: Space::Counts, key, by });
        }
        self.commit_one(Unit::new(Vec::new(), move |_| out)).await?;
        Ok(())
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

    /// Builds the sums of documents that were there before TTL was turned on. Whoever began them
    /// builds them, once.
    pub(crate) async fn build_books(
        &self,
        collection: &Arc<Collection>,
        begun: Option<Begun<S>>,
    ) -> Result<(), Error> {
        let Some(Begun { state, snapshot, _hold }) = begun else { return Ok(()) };
        let Books::Building(build) = state.record.books else { return Ok(()) };
        let mut rest = Some(Range::all());
        while let Some(range) = rest {
            let page = snapshot.scan(collection.rows(), &range, Direction::Forward, ALL).await?;
            let mut entered = Vec::new();
            for (_, value) in &page.rows {
                let (header, body) = Header::split(value)?;
                let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
                entered.push(Entered { class: header.class, ts: header.ts, bytes });
            }
            let last = page.rows.last().map(|(key, _)| key.clone());
            self.commit_one(enter(Arc::clone(&state), entered)).await?;
            rest = last.filter(|_| page.more).map(|key| range.after(&key, Direction::Forward));
        }
        let edit: Box<Edit<()>> = Box::new(move |state: &State| {
            let wanted = state.record.books == Books::Building(build);
            let apply = move |record: &mut Record, _| record.books = Books::Ready(build);
            Ok(wanted.then(|| (Arc::new(apply) as Arc<Apply>, ())))
        });
        self.change(collection, &*edit).await?;
        Ok(())
    }
}

/// Adds documents to the sums, not to the totals, which know them already.
fn enter(state: Arc<State>, entered: Vec<Entered>) -> Unit {
    Unit::new(Vec::new(), move |_| {
        let mut out = Vec::new();
        for entered in &entered {
            let mut all = Vec::new();
            count(&state.record, entered, 1, &mut all);
            out.extend(all.into_iter().skip(1));
        }
        out
    })
}

impl<S: Store> LiveView<S> {
    /// Exact live documents and bytes at the view's instant.
    pub(crate) async fn live(&self) -> Result<Amount, Halt> {
        let record = &self.state.record;
        if !record.settings.can_expire() {
            return self.totals(&CLASSES).await;
        }
        match record.books {
            Books::Ready(build) if record.settings.dates.is_empty() => {
                let now = self.dead(build, &record.settings.floors(self.instant)).await?;
                if self.dead(build, &record.settings.floors(self.settled())).await? != now {
                    return Err(Halt::Again);
                }
                Ok(self.totals(&CLASSES).await?.minus(now))
            }
            _ => self.walk(|_| true).await,
        }
    }

    /// Sums of the totals of some classes.
    pub(crate) async fn totals(&self, classes: &[u8]) -> Result<Amount, Halt> {
        let mut amount = Amount::default();
        for class in classes {
            let key = keys::total(self.collection.id, *class);
            if let Some(value) = self.snapshot.get(Space::Counts, &key).await? {
                amount = amount.plus(Amount::of(decode_count(&value)));
            }
        }
        Ok(amount)
    }

    /// What is on the books and dead by these floors.
    pub(crate) async fn dead(&self, build: u64, floors: &Floors) -> Result<Amount, Halt> {
        let inherit = self.up_to(build, 0, floors.inherit_s).await?;
        Ok(inherit.plus(self.up_to(build, 2, floors.explicit_s).await?))
    }

    /// The sum of a class up to and including a second, from few coarse and few fine buckets.
    pub(crate) async fn up_to(&self, build: u64, class: u8, second: i64) -> Result<Amount, Halt> {
        if second == i64::MIN {
            return Ok(Amount::default());
        }
        let mut amount = Amount::default();
        let behind = second.saturating_add(1);
        let mut from = i64::MIN;
        for (level, width) in [0_u8, 1, 2, 3].into_iter().zip(LEVELS).rev() {
            let to = behind.div_euclid(width);
            let first = if from == i64::MIN { i64::MIN } else { from.div_euclid(width) };
            amount = amount.plus(self.buckets(build, class, level, first, to).await?);
            from = to.saturating_mul(width);
        }
        Ok(amount)
    }

    async fn buckets(
        &self,
        build: u64,
        class: u8,
        level: u8,
        from: i64,
        to: i64,
    ) -> Result<Amount, Halt> {
        let key = |bucket| keys::sum(self.collection.id, build, class, level, bucket).to_vec();
        let mut rest = Some(Range { start: key(from), end: Some(key(to)) });
        let mut amount = Amount::default();
        while let Some(range) = rest {
            if range.is_empty() {
                break;
            }
            let page = self.snapshot.scan(Space::Counts, &range, Direction::Forward, ALL).await?;
            for (_, value) in &page.rows {
                amount = amount.plus(Amount::of(decode_count(value)));
            }
            let last = page.rows.last().filter(|_| page.more);
            rest = last.map(|(key, _)| range.after(key, Direction::Forward));
        }
        Ok(amount)
    }

    /// Counts live rows that `wanted` says yes to, by their headers.
    pub(crate) async fn walk(
        &self,
        wanted: impl Fn(&crate::view::Row) -> bool,
    ) -> Result<Amount, Halt> {
        let mut amount = Amount::default();
        let mut rest = Some(Range::all());
        while let Some(range) = rest {
            let page = self.rows(&range, Direction::Forward, ALL).await?;
            for row in page.items.iter().filter(|row| wanted(row)) {
                let bytes = i64::try_from(row.body().len()).unwrap_or(i64::MAX);
                amount = amount.plus(Amount { documents: 1, bytes });
            }
            rest = page.rest;
        }
        Ok(amount)
    }
}
