//! What leaves the books: the dead that were compacted away, books that were given up, and all
//! counts of dropped collections. Sums only ever change by adding, also here.

use std::collections::BTreeMap;

use expiry::{Default, Floors, Settings};
use store::{Condition, Mutation, Page, Range, Space, Store, Unit, decode_count};

use super::books::{Way, summed, whole};
use crate::{
    amount::Amount,
    catalog::{Books, Collection, Record},
    counters::count_second,
    engine::Engine,
    error::{Error, Halt},
    keys::{self, Sums},
    view::{LiveView, Pages},
};

impl<S: Store> Engine<S> {
    /// Takes what is dead by these floors, and compacted away, off the books: out of the sums and
    /// out of the totals at once, so that they keep cancelling out. Answers how much left the
    /// totals. Where documents can die in several ways the totals stay: nobody subtracts from
    /// them before the books are built anew.
    pub(crate) async fn trim_books(
        &self,
        collection: &std::sync::Arc<Collection>,
        floors: &Floors,
    ) -> Result<Amount, Error> {
        let mut folded = Amount::default();
        while let Some(amount) = self.trim_page(collection, floors).await? {
            folded = folded.plus(amount);
        }
        Ok(folded)
    }

    /// Trims one page in a view of its own; `None` when nothing is left, or somebody else trimmed
    /// or changed the settings meanwhile: the next compaction tries again.
    async fn trim_page(
        &self,
        collection: &std::sync::Arc<Collection>,
        floors: &Floors,
    ) -> Result<Option<Amount>, Error> {
        let view = self.view(collection).await?;
        let record = &view.state.record;
        if matches!(record.books, Books::Building(_)) {
            return Ok(None);
        }
        let now = record.settings.floors(view.stable());
        for (of, second) in summed(floors) {
            let Some(class) = folds(Way::of(record, &record.settings), of, second, &now) else {
                continue;
            };
            let range = view.summed_range(of, 0, i64::MIN, second.saturating_add(1));
            let page = view.counters().next(&mut Pages::of(range)).await?.unwrap_or_default();
            if page.rows.is_empty() {
                continue;
            }
            let (mut mutations, amount) = trimmed(record, of, class, &page);
            let space = Space::Counts;
            let (key, value) = (keys::trim(collection.id), bytes::Bytes::new());
            mutations.push(Mutation::Put { space, key: key.clone().into(), value });
            let unchanged = |space, key| Condition::NotNewer { space, key, seq: view.seq };
            let catalog = keys::record(record.model, &record.namespace);
            let conditions = vec![unchanged(Space::Catalog, catalog), unchanged(space, key.into())];
            let committed = self.commit_one(Unit::new(conditions, |_| mutations).freeing()).await?;
            return Ok(committed.map(|_| amount));
        }
        Ok(None)
    }

    /// Removes the sums of books that were given up for newer ones.
    pub(crate) async fn purge_builds(&self, collection: &Collection) -> Result<(), Error> {
        let build = collection.state().record.books.build();
        let range = Range {
            start: keys::sums(collection.id, 0),
            end: Some(keys::sums(collection.id, build)),
        };
        self.purge(range).await
    }

    /// Removes everything counted of a collection that was dropped.
    pub(crate) async fn purge_counts(&self, collection: u32) -> Result<(), Error> {
        self.purge(Range::prefix(&keys::counts(collection))).await
    }

    /// Removes counts of collections and books that are no more, left by an end at a bad moment.
    pub(crate) async fn purge_leftovers(&self) -> Result<(), Error> {
        let all = self.inner.map().all();
        let known: BTreeMap<u32, _> = all.values().map(|held| (held.id, held)).collect();
        let mut next = Some(0_u32);
        while let Some(from) = next {
            let system = self.inner.store().system();
            let mut first = Pages::of(Range { start: keys::counts(from), end: None }).at_most(1);
            let page = system.counters().next(&mut first).await?.unwrap_or_default();
            let Some(id) = page.rows.first().and_then(|(key, _)| keys::counted(key)) else { break };
            match known.get(&id) {
                Some(collection) => self.purge_builds(collection).await?,
                None => self.purge_counts(id).await?,
            }
            next = id.checked_add(1);
        }
        Ok(())
    }

    async fn purge(&self, range: Range) -> Result<(), Error> {
        let system = self.inner.store().system();
        let mut pages = Pages::of(range);
        while let Some(page) = system.counters().next(&mut pages).await? {
            let gone = page.rows.iter().map(|(key, value)| {
                let [documents, bytes] = decode_count(value);
                let by = [documents.saturating_neg(), bytes.saturating_neg()];
                Mutation::Add { space: Space::Counts, key: key.clone(), by }
            });
            let gone: Vec<Mutation> = gone.collect();
            if !gone.is_empty() {
                self.commit_one(Unit::new(Vec::new(), |_| gone).freeing()).await?;
            }
        }
        Ok(())
    }
}

/// Whether sums up to a second are trimmed, and if so which class's totals they are folded into.
fn folds(way: Way<'_>, of: Sums, second: i64, now: &Floors) -> Option<Option<u8>> {
    match (way, of) {
        (Way::Classes, Sums::Class(class)) => Some(Some(class)),
        (Way::Date(rule), Sums::Date(index)) if rule.index == index => {
            // A longer rule may have let older dates live since; they are not folded.
            let floor = now.dates.iter().find(|floor| floor.index == index)?;
            let dead = rule.after_s.is_none() || second <= whole(floor.floor_ms);
            dead.then_some(Some(0))
        }
        (Way::Several, _) => Some(None),
        (Way::None | Way::Classes | Way::Date(_), _) => None,
    }
}

fn trimmed(record: &Record, of: Sums, class: Option<u8>, page: &Page) -> (Vec<Mutation>, Amount) {
    let mut out = Vec::new();
    let mut amount = Amount::default();
    for (key, value) in &page.rows {
        let Some(second) = keys::bucket(key) else { continue };
        let [documents, bytes] = decode_count(value);
        let by = [documents.saturating_neg(), bytes.saturating_neg()];
        count_second(record, of, second, by, &mut out);
        if let Some(class) = class {
            amount = amount.plus(Amount::of([documents, bytes]));
            out.push(Mutation::Add {
                space: Space::Counts,
                key: keys::total(record.id, class),
                by,
            });
        }
    }
    (out, amount)
}

impl<S: Store> LiveView<S> {
    /// About how many seconds ago the first died of those that are dead and still on the books;
    /// reaping takes them off.
    pub(crate) async fn oldest_dead_s(&self) -> Result<i64, Halt> {
        let settings = &self.state.record.settings;
        let mut oldest = 0;
        for (of, second) in summed(&settings.floors(self.instant)) {
            let range = self.summed_range(of, 0, i64::MIN, second.saturating_add(1));
            let mut first = Pages::of(range).growing();
            let page = self.counters().next(&mut first).await?.unwrap_or_default();
            let some = page.rows.iter().find(|(_, value)| 0 < decode_count(value)[0]);
            if let Some(first) = some.and_then(|(key, _)| keys::bucket(key)) {
                oldest = oldest.max(dead_for(settings, of, first, self.instant.seconds()));
            }
        }
        Ok(oldest)
    }
}

/// How long what has this second has been dead: by the rule in force, or at least since before
/// the last change.
fn dead_for(settings: &Settings, of: Sums, second: i64, now_s: i64) -> i64 {
    let since = |after_s: i64| now_s.saturating_sub(second.saturating_add(after_s));
    match of {
        Sums::Class(0) => {
            let floored = settings.inherit_floor.saturating_sub(second);
            match settings.default {
                Default::Seconds(n) => since(n).max(floored),
                Default::Off | Default::Infinite => floored,
            }
        }
        Sums::Class(_) => since(0),
        Sums::Date(index) => {
            let rule = settings.dates.iter().find(|rule| rule.index == index);
            let floors = rule.iter().flat_map(|rule| &rule.pairs);
            let floored = floors.map(|pair| (pair.floor_ms / 1000).saturating_sub(second));
            let by_rule = rule.and_then(|rule| rule.after_s).map(since);
            floored.chain(by_rule).max().unwrap_or(0)
        }
    }
}
