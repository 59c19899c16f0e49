//! Publishes expirations: records them in the feed in the order of their instants, each once. Until
//! then the expired row is kept, since it is the event's previous image.
//!
//! ```text
//!  timeline, class inherit    ─●──●────●─────│──●──▶ by the second of the write
//!  timeline, class explicit   ──●─●──────●───│─●───▶ by the deadline
//!                              └ published   └ floors of the view: expired up to here
//!  one commit: events for items in between, in the order of instants; their timeline entries are
//!              deleted; the floors up to which all is published are stored
//! ```
//!
//! The expiry class says whether an item expires by the default TTL (inherit) or by its own TTL
//! (explicit). Floors are the times up to which documents have expired. Concurrent publishers build
//! the same commit; the second is refused, since the timeline entries are already deleted, and
//! retries.

use std::sync::Arc;

use bytes::Bytes;
use clock::Instant;
use expiry::{DefaultTtl, Floors, Header};
use store::{Commit, Condition, KeyRange, Mutation, Space, Stamp};

use super::{Event, EventKind};
use crate::{
    attempts::Attempts,
    backfill::Backfill,
    catalog::{Collection, FeedStart},
    engine::{ChangeOutcome, Engine, RecordEdit},
    entry::{named_row_key, never_expiring},
    error::{Error, Halt},
    keys,
    limits::PUBLISHED_AT_ONCE,
    retry::read_in_view,
    row::{Item, Row},
    view::{LiveView, Pages},
};

/// Class codes of items in the index of upcoming expirations, which has no items of class never.
const INHERIT: u8 = 0;
const EXPLICIT: u8 = 2;

/// An expired item whose expiration is not in the feed yet.
struct Unpublished {
    /// Instant at which the item expired, which is the event's time.
    at: Instant,
    /// Key of the item's entry in the index of upcoming expirations, which the publication deletes.
    entry: Bytes,
    /// The last version of the item, before it expired.
    item: Item,
}

impl Engine {
    /// Publishes all expirations up to now in the feed of a container, if the container has a feed.
    pub async fn publish_expirations(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        if collection.state().record.told.is_some() {
            return self.tell_expirations(collection).await.map(|_| ());
        }
        // Each round counts as an attempt, whether its commit is refused or more remains to be
        // published.
        let mut attempts = Attempts::new("too many concurrent writes to a feed");
        loop {
            attempts.begin_next()?;
            let next = read_in_view!(self, collection, |view| view.next_publication().await);
            // The view is closed before the commit, which might wait for resources that the view
            // holds.
            let Some(commit) = next?.0 else { return Ok(()) };
            self.commit_one(commit).await?;
        }
    }

    /// Publishes the expirations of all feeds, including those without readers.
    pub(crate) async fn publish_all_expirations(&self) -> Result<(), Error> {
        for collection in self.inner.map().all_collections().values() {
            let record = &collection.state().record;
            if record.running_feed().is_none() && record.told.is_none() {
                continue;
            }
            match self.publish_expirations(collection).await {
                Err(_) if collection.is_dropped() => {}
                published => published?,
            }
        }
        Ok(())
    }

    /// Changes a record after publishing everything that expires by the old settings.
    pub(crate) async fn change_published(
        &self,
        collection: &Arc<Collection>,
        edit: &RecordEdit<()>,
    ) -> Result<Option<Backfill>, Error> {
        let mut attempts = Attempts::to_change();
        loop {
            attempts.begin_next()?;
            self.publish_expirations(collection).await?;
            let next = read_in_view!(self, collection, |view| view.next_expiration().await);
            // `None`: an item has expired since the publication, so publish again.
            let Some(next) = next?.0 else { continue };
            // The change must take effect before the next item expires by the old settings.
            let conditions = vec![Condition::Before(next.ms)];
            match self.try_change(collection, edit, &[], conditions).await? {
                ChangeOutcome::Refused => {}
                ChangeOutcome::Nothing => return Ok(None),
                ChangeOutcome::Done((), begun) => return Ok(begun),
            }
        }
    }
}

impl LiveView {
    /// Returns the floors up to which expirations are in the feed.
    pub(crate) async fn published_up_to(&self, begun: FeedStart) -> Result<Floors, Halt> {
        let begun =
            Floors { inherit_s: begun.inherit_s, explicit_s: begun.explicit_s, dates: Vec::new() };
        let stored = self.including_expired().entry(&keys::published_floors()).await?;
        let Some(stored) = stored else { return Ok(begun) };
        let (_, body) = Header::split_row(&stored)?;
        let second = |at: usize| {
            let bytes = body.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes
                .map(i64::from_be_bytes)
                .ok_or_else(|| Error::corrupt("the end position of a feed is damaged"))
        };
        let (inherit_s, explicit_s) = (second(0)?, second(8)?);
        Ok(Floors {
            inherit_s: inherit_s.max(begun.inherit_s),
            explicit_s: explicit_s.max(begun.explicit_s),
            dates: Vec::new(),
        })
    }

    /// Returns whether a row has expired and its expiration is not in the feed yet.
    pub(crate) async fn is_unpublished(&self, row_key: &[u8]) -> Result<bool, Halt> {
        let record = &self.state.record;
        let Some((_, begun)) = record.running_feed() else { return Ok(false) };
        let stored = self.including_expired().row(row_key).await?;
        let Some(stored) = stored else { return Ok(false) };
        let (header, _) = Header::split(&stored)?;
        if self.published_up_to(begun).await?.has_expired(&header) {
            return Ok(false);
        }
        self.has_timeline_entry(&header, row_key).await
    }

    /// Returns when the next live item expires, at most a second after this view, since an item
    /// written later may expire that soon. `None` if something has expired and is not published.
    async fn next_expiration(&self) -> Result<Option<Instant>, Halt> {
        let record = &self.state.record;
        let (Some(index), Some((_, begun))) = (record.timeline_index(), record.running_feed())
        else {
            return Ok(Some(Instant::MAX));
        };
        let published = self.published_up_to(begun).await?;
        let mut next = Instant::from_seconds(self.instant.seconds().saturating_add(1));
        for (class, published_s) in
            [(INHERIT, published.inherit_s), (EXPLICIT, published.explicit_s)]
        {
            let range = KeyRange {
                start: keys::timeline_from(index.id, class, published_s.saturating_add(1)),
                end: Some(keys::timeline_from(index.id, class + 1, i64::MIN)),
            };
            let mut first = Pages::of(range).with_max_rows(1);
            let page = self.including_expired().next_entries(&mut first).await?;
            let page = page.unwrap_or_default();
            for (_, value) in &page.rows {
                let (header, _) = Header::split(value)?;
                next = next.min(record.settings.expires_at(&header));
            }
        }
        Ok(Some(next).filter(|next| self.instant < *next))
    }

    /// Returns the commit that publishes the next expirations; `None` if all are published.
    async fn next_publication(&self) -> Result<Option<Commit>, Halt> {
        let record = &self.state.record;
        let Some((_, begun)) = record.running_feed() else { return Ok(None) };
        let floors = record.settings.floors_at(self.stable_instant());
        if floors != record.settings.floors_at(self.instant) {
            // A write in flight may have postponed an expiry between the view's stable instant and
            // its instant.
            return Err(Halt::LookAgain);
        }
        let published = self.published_up_to(begun).await?;
        let inherit =
            self.unpublished_of_class(INHERIT, published.inherit_s, floors.inherit_s).await?;
        let explicit =
            self.unpublished_of_class(EXPLICIT, published.explicit_s, floors.explicit_s).await?;
        // Each class is read in its own order, page by page; only expirations that are certainly
        // before the unread rest of both classes may be published now.
        let open = [&inherit, &explicit].into_iter().filter(|(_, more)| *more);
        // The unread rest starts after the last expiration of an incomplete page.
        let bound =
            open.filter_map(|(expirations, _)| expirations.last()).map(|last| last.at).min();
        let mut expirations: Vec<Unpublished> = inherit.0.into_iter().chain(explicit.0).collect();
        expirations.retain(|one| bound.is_none_or(|bound| one.at <= bound));
        expirations.sort_by(|a, b| (a.at, &a.item.key).cmp(&(b.at, &b.item.key)));
        if expirations.is_empty() {
            return Ok(None);
        }
        let done = bound.is_none().then(|| Floors {
            inherit_s: published.inherit_s.max(floors.inherit_s),
            explicit_s: published.explicit_s.max(floors.explicit_s),
            dates: Vec::new(),
        });
        Ok(Some(self.publication_commit(expirations, done)))
    }

    /// Returns unpublished expirations of a class in order, and whether more follow.
    async fn unpublished_of_class(
        &self,
        class: u8,
        published_s: i64,
        up_to_s: i64,
    ) -> Result<(Vec<Unpublished>, bool), Halt> {
        let Some(index) = self.state.record.timeline_index() else {
            return Ok((Vec::new(), false));
        };
        let range = KeyRange {
            start: keys::timeline_from(index.id, class, published_s.saturating_add(1)),
            end: Some(keys::timeline_from(index.id, class, up_to_s.saturating_add(1))),
        };
        if up_to_s <= published_s || range.is_empty() {
            return Ok((Vec::new(), false));
        }
        let mut first = Pages::of(range).with_max_rows(PUBLISHED_AT_ONCE);
        let page = self.including_expired().next_entries(&mut first).await?.unwrap_or_default();
        let mut expirations = Vec::with_capacity(page.rows.len());
        for (entry, value) in page.rows {
            let (header, body) = Header::split_row(&value)?;
            let item = self.expired_item(named_row_key(&entry, body)?, header.stamp).await?;
            expirations.push(Unpublished { at: self.expired_at(&header), entry, item });
        }
        Ok((expirations, page.more))
    }

    /// Returns when an item expired: at its deadline, or with a change of the default.
    fn expired_at(&self, header: &Header<'_>) -> Instant {
        let record = &self.state.record;
        let ruled = record.items.map_or(i64::MIN, |items| items.ruled_ts);
        let due = match (header.class, record.settings.default) {
            (expiry::Class::Explicit { deadline }, _) => deadline,
            (_, DefaultTtl::Seconds(n)) => header.ts.saturating_add(n),
            (_, DefaultTtl::Off | DefaultTtl::Infinite) => ruled,
        };
        Instant::from_seconds(due.max(ruled))
    }

    /// Reads an expired item for publication.
    async fn expired_item(&self, key: Bytes, stamp: u64) -> Result<Item, Halt> {
        let stored = self.including_expired().row(&key).await?;
        let missing = || Error::corrupt("an item with an unpublished expiration is missing");
        let value = stored.ok_or_else(missing)?;
        let (header, body) = Header::split_row(&value)?;
        if header.stamp != stamp {
            return Err(missing().into());
        }
        let Header { creation_stamp, ts, .. } = header;
        let start = value.len() - body.len();
        Ok(Item::from_row(Row {
            key,
            stamp,
            creation_stamp,
            ts,
            expires_at: Instant::MIN,
            start,
            value,
        }))
    }

    /// Returns one commit that records the events, removes the items' entries from the index of
    /// upcoming expirations, and stores the new floors.
    fn publication_commit(&self, expirations: Vec<Unpublished>, done: Option<Floors>) -> Commit {
        let (rows, space, seq) =
            (self.collection.rows_space(), self.collection.entries_space(), self.seq);
        let mut conditions = vec![
            Condition::NotNewer { space: Space::Catalog, key: self.state.record_key.clone(), seq },
            Condition::NotNewer { space, key: keys::published_floors(), seq },
        ];
        let row =
            |one: &Unpublished| Condition::NotNewer { space: rows, key: one.item.key.clone(), seq };
        conditions.extend(expirations.iter().map(row));
        // Condition by which the second of two concurrent publishers fails: the first has deleted
        // the timeline entries.
        let entry = |one: &Unpublished| Condition::NotNewer { space, key: one.entry.clone(), seq };
        conditions.extend(expirations.iter().map(entry));
        // The commit counts as freeing space, because unpublished items cannot be reaped.
        let commit = Commit::new(conditions, move |stamp: Stamp| {
            let mut out = Vec::with_capacity(expirations.len() * 2 + 1);
            for (position, one) in (0_u32..).zip(expirations) {
                let Unpublished { at, entry, item } = one;
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
                let value = published_value(&floors, stamp).into();
                out.push(Mutation::Put { space, key: keys::published_floors(), value });
            }
            out
        });
        commit.freeing()
    }
}

/// Encodes the floors up to which expirations are published.
fn published_value(floors: &Floors, stamp: Stamp) -> Vec<u8> {
    never_expiring(
        &[floors.inherit_s.to_be_bytes(), floors.explicit_s.to_be_bytes()].concat(),
        stamp,
    )
}
