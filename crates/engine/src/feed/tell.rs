//! The teller: enters deaths in the feed, in the order of their instants, each once. Until a death
//! is told the dead row stays, since it is the event's previous image.

use std::sync::Arc;

use bytes::Bytes;
use clock::Instant;
use expiry::{Default, Floors, Header};
use store::{Condition, Mutation, Range, Space, Stamp, Store, Unit};

use super::{Event, EventKind, event::lasting};
use crate::{
    attempts::Attempts,
    backfill::Backfill,
    catalog::{Collection, FeedBegun},
    engine::{Changed, Edit, Engine},
    entry::named,
    error::{Error, Halt},
    keys,
    limits::PUBLISHED_AT_ONCE,
    retry::read_in_view,
    row::{Item, Row},
    view::{LiveView, Pages},
};

const INHERIT: u8 = 0;
const EXPLICIT: u8 = 2;

/// A death that is not in the feed yet.
struct Untold {
    at: Instant,
    entry: Bytes,
    item: Item,
}

impl<S: Store> Engine<S> {
    /// Enters in the feed of a container, where it has one, what has died by now.
    pub async fn publish_expirations(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let mut attempts = Attempts::new("too many writers of a feed");
        loop {
            attempts.begin()?;
            let next = read_in_view!(self, collection, |view| view.next_publication().await);
            // The view is closed before the commit: the commit may not wait for what it holds.
            let Some(unit) = next?.0 else { return Ok(()) };
            self.commit_one(unit).await?;
        }
    }

    /// Tells the deaths of all feeds; for those that nobody reads.
    pub(crate) async fn publish_all_expirations(&self) -> Result<(), Error> {
        for collection in self.inner.map().all().values() {
            if collection.state().record.feed().is_none() {
                continue;
            }
            match self.publish_expirations(collection).await {
                Err(_) if collection.is_dropped() => {}
                published => published?,
            }
        }
        Ok(())
    }

    /// Changes a record whose feed has to know first what dies by the settings of before.
    pub(crate) async fn change_published(
        &self,
        collection: &Arc<Collection>,
        edit: &Edit<()>,
    ) -> Result<Option<Backfill<S>>, Error> {
        let mut attempts = Attempts::new("too many changes of a collection at once");
        loop {
            attempts.begin()?;
            self.publish_expirations(collection).await?;
            let next = read_in_view!(self, collection, |view| view.next_expiration().await);
            let Some(next) = next?.0 else { continue };
            let conditions = vec![Condition::Before(next.ms)];
            match self.try_change(collection, edit, &[], conditions).await? {
                Changed::Refused => {}
                Changed::Nothing => return Ok(None),
                Changed::Done((), begun) => return Ok(begun),
            }
        }
    }
}

impl<S: Store> LiveView<S> {
    /// Floors up to which deaths are in the feed.
    pub(crate) async fn published_up_to(&self, begun: FeedBegun) -> Result<Floors, Halt> {
        let begun =
            Floors { inherit_s: begun.inherit_s, explicit_s: begun.explicit_s, dates: Vec::new() };
        let stored = self.including_expired().entry(&keys::published()).await?;
        let Some(stored) = stored else { return Ok(begun) };
        let (_, body) = Header::split_row(&stored)?;
        let second = |at: usize| {
            let bytes = body.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map(i64::from_be_bytes).ok_or_else(|| Error::corrupt("a feed's end is damaged"))
        };
        let (inherit_s, explicit_s) = (second(0)?, second(8)?);
        Ok(Floors {
            inherit_s: inherit_s.max(begun.inherit_s),
            explicit_s: explicit_s.max(begun.explicit_s),
            dates: Vec::new(),
        })
    }

    /// Whether a dead row's death is not in the feed yet.
    pub(crate) async fn is_unpublished(&self, row_key: &[u8]) -> Result<bool, Halt> {
        let record = &self.state.record;
        let Some((_, begun)) = record.feed() else { return Ok(false) };
        let stored = self.including_expired().row(row_key).await?;
        let Some(stored) = stored else { return Ok(false) };
        let (header, _) = Header::split(&stored)?;
        if self.published_up_to(begun).await?.is_dead(&header) {
            return Ok(false);
        }
        let Some(key) = record.timeline_key(header.class, header.ts, row_key) else {
            return Ok(false);
        };
        Ok(self.including_expired().entry(&key).await?.is_some())
    }

    /// When the next item dies that is alive now; a later write may die a second after this view.
    /// `None` when something has died since the last telling.
    async fn next_expiration(&self) -> Result<Option<Instant>, Halt> {
        let record = &self.state.record;
        let (Some(index), Some((_, begun))) = (record.timeline(), record.feed()) else {
            return Ok(Some(Instant::MAX));
        };
        let told = self.published_up_to(begun).await?;
        let mut next = Instant::from_seconds(self.instant.seconds().saturating_add(1));
        for (class, told_s) in [(INHERIT, told.inherit_s), (EXPLICIT, told.explicit_s)] {
            let range = Range {
                start: keys::timeline_from(index.id, class, told_s.saturating_add(1)),
                end: Some(keys::timeline_from(index.id, class + 1, i64::MIN)),
            };
            let mut first = Pages::of(range).at_most(1);
            let page = self.including_expired().next_entries(&mut first).await?;
            let page = page.unwrap_or_default();
            for (_, value) in &page.rows {
                let (header, _) = Header::split(value)?;
                next = next.min(record.settings.death(&header));
            }
        }
        Ok(Some(next).filter(|next| self.instant < *next))
    }

    /// The unit that tells the next deaths; `None` when all are told.
    async fn next_publication(&self) -> Result<Option<Unit>, Halt> {
        let record = &self.state.record;
        let Some((_, begun)) = record.feed() else { return Ok(None) };
        let floors = record.settings.floors(self.stable());
        if floors != record.settings.floors(self.instant) {
            // Whoever wrote in the last moments may have kept somebody alive.
            return Err(Halt::InFlight);
        }
        let told = self.published_up_to(begun).await?;
        let inherit = self.untold(INHERIT, told.inherit_s, floors.inherit_s).await?;
        let explicit = self.untold(EXPLICIT, told.explicit_s, floors.explicit_s).await?;
        let open = [&inherit, &explicit].into_iter().filter(|(_, more)| *more);
        // Behind the last death of a page that is not the last one there may be earlier ones.
        let bound = open.filter_map(|(deaths, _)| deaths.last()).map(|last| last.at).min();
        let mut deaths: Vec<Untold> = inherit.0.into_iter().chain(explicit.0).collect();
        deaths.retain(|death| bound.is_none_or(|bound| death.at <= bound));
        deaths.sort_by(|a, b| (a.at, &a.item.key).cmp(&(b.at, &b.item.key)));
        if deaths.is_empty() {
            return Ok(None);
        }
        let done = bound.is_none().then(|| Floors {
            inherit_s: told.inherit_s.max(floors.inherit_s),
            explicit_s: told.explicit_s.max(floors.explicit_s),
            dates: Vec::new(),
        });
        Ok(Some(self.tell_unit(deaths, done)))
    }

    /// Deaths of a class that are not told, in their order, and whether there are more.
    async fn untold(
        &self,
        class: u8,
        told_s: i64,
        up_to_s: i64,
    ) -> Result<(Vec<Untold>, bool), Halt> {
        let Some(index) = self.state.record.timeline() else { return Ok((Vec::new(), false)) };
        let range = Range {
            start: keys::timeline_from(index.id, class, told_s.saturating_add(1)),
            end: Some(keys::timeline_from(index.id, class, up_to_s.saturating_add(1))),
        };
        if up_to_s <= told_s || range.is_empty() {
            return Ok((Vec::new(), false));
        }
        let mut first = Pages::of(range).at_most(PUBLISHED_AT_ONCE);
        let page = self.including_expired().next_entries(&mut first).await?.unwrap_or_default();
        let mut deaths = Vec::with_capacity(page.rows.len());
        for (entry, value) in page.rows {
            let (header, body) = Header::split_row(&value)?;
            let item = self.dead_item(named(&entry, body)?, header.stamp).await?;
            deaths.push(Untold { at: self.died_at(&header), entry, item });
        }
        Ok((deaths, page.more))
    }

    /// When a dead item died: at its deadline, or when a change of the default killed it.
    fn died_at(&self, header: &Header<'_>) -> Instant {
        let record = &self.state.record;
        let ruled = record.items.map_or(i64::MIN, |items| items.ruled_ts);
        let due = match (header.class, record.settings.default) {
            (expiry::Class::Explicit { deadline }, _) => deadline,
            (_, Default::Seconds(n)) => header.ts.saturating_add(n),
            (_, Default::Off | Default::Infinite) => ruled,
        };
        Instant::from_seconds(due.max(ruled))
    }

    /// A dead item: nobody but the teller reads one.
    async fn dead_item(&self, key: Bytes, stamp: u64) -> Result<Item, Halt> {
        let stored = self.including_expired().row(&key).await?;
        let missing = || Error::corrupt("an item whose death is not told is missing");
        let value = stored.ok_or_else(missing)?;
        let (header, body) = Header::split_row(&value)?;
        if header.stamp != stamp {
            return Err(missing().into());
        }
        let Header { birth, ts, .. } = header;
        let start = value.len() - body.len();
        Ok(Item::of(Row { key, stamp, birth, ts, death: Instant::MIN, start, value }))
    }

    fn tell_unit(&self, deaths: Vec<Untold>, done: Option<Floors>) -> Unit {
        let (rows, space, seq) = (self.collection.rows(), self.collection.entries(), self.seq);
        let mut conditions = vec![
            Condition::NotNewer { space: Space::Catalog, key: self.state.record_key.clone(), seq },
            Condition::NotNewer { space, key: keys::published(), seq },
        ];
        let row =
            |death: &Untold| Condition::NotNewer { space: rows, key: death.item.key.clone(), seq };
        conditions.extend(deaths.iter().map(row));
        // Two tellers at once tell the same deaths: the second finds their entries gone.
        let entry = |death: &Untold| Condition::NotNewer { space, key: death.entry.clone(), seq };
        conditions.extend(deaths.iter().map(entry));
        // What was not told is not reaped either.
        let unit = Unit::new(conditions, move |stamp: Stamp| {
            let mut out = Vec::with_capacity(deaths.len() * 2 + 1);
            for (position, death) in (0_u32..).zip(deaths) {
                let Untold { at, entry, item } = death;
                let event = Event {
                    kind: EventKind::Expire,
                    stamp: stamp.seq,
                    at,
                    key: item.key.clone(),
                    before: Some(item),
                    after: None,
                };
                let value = event.encode(stamp).into();
                out.push(Mutation::Put { space, key: keys::event(stamp.seq, position), value });
                out.push(Mutation::Delete { space, key: entry });
            }
            if let Some(floors) = done {
                let value = told_value(&floors, stamp).into();
                out.push(Mutation::Put { space, key: keys::published(), value });
            }
            out
        });
        unit.freeing()
    }
}

fn told_value(floors: &Floors, stamp: Stamp) -> Vec<u8> {
    lasting(&[floors.inherit_s.to_be_bytes(), floors.explicit_s.to_be_bytes()].concat(), stamp)
}
