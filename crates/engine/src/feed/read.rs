//! Reads a feed after publishing the due expirations, so that readers do not depend on background
//! work. Events are returned in commit order, and all events of a commit in the same page.

use std::sync::Arc;

use evaluation::Context;
use expiry::Header;
use store::{Direction, KeyRange};

use super::Event;
use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    item_key::ItemRange,
    keys,
    retry::read_in_view,
    view::{LiveView, Pages, charge_keys},
    yielding::yield_now,
};

/// Selects the events that a page contains.
#[derive(Clone, Debug)]
pub struct EventQuery {
    /// Only events of commits after this stamp.
    pub after: u64,
    /// Only events of items in this part of the container.
    pub range: ItemRange,
    /// Approximate number of events in a page; events of one commit are in the same page.
    pub items: usize,
    /// Approximate size at which the page ends, in bytes.
    pub bytes: usize,
}

/// A page of events in commit order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventPage {
    /// Events of the page, in commit order.
    pub events: Vec<Event>,
    /// Position at which the next page continues: events after this commit.
    pub next: u64,
    /// Whether events after the page may already exist.
    pub more: bool,
    /// The page covers the commit with this sequence number and all earlier ones.
    pub seq: u64,
}

impl Engine {
    /// Returns the position after all events of a feed, including the expirations up to now.
    pub async fn feed_end(&self, collection: &Arc<Collection>) -> Result<u64, Error> {
        self.last_change(collection).await?;
        self.publish_expirations(collection).await?;
        Ok(read_in_view!(self, collection, |view| view.last_event().await)?.0)
    }

    /// Returns a page of events; `None` if the container has no feed.
    pub async fn feed_events(
        &self,
        collection: &Arc<Collection>,
        wanted: &EventQuery,
        context: &Context,
    ) -> Result<Option<EventPage>, Error> {
        self.last_change(collection).await?;
        self.publish_expirations(collection).await?;
        let page = read_in_view!(self, collection, |view| view.read_events(wanted, context).await);
        Ok(page?.0)
    }
}

impl LiveView {
    /// Returns the position after everything that this view shows: the stamp of the last event or
    /// of the last change, whichever is newer.
    async fn last_event(&self) -> Result<u64, Halt> {
        let shown = KeyRange {
            start: keys::events_of(0),
            end: Some(keys::events_of(self.seq.saturating_add(1))),
        };
        let mut last = Pages::of(shown).in_direction(Direction::Backward).with_max_rows(1);
        let page = self.including_expired().next_entries(&mut last).await?.unwrap_or_default();
        let event = page.rows.first().and_then(|(key, _)| keys::stamp_of_change(key));
        Ok(self.last_change_shown().max(event.unwrap_or(0)))
    }

    /// Returns the bytes of the events recorded before this second, up to about `most`. They come
    /// before all other events, since events are stored in the order of commits.
    pub(crate) async fn event_bytes_before(&self, second: i64, most: i64) -> Result<i64, Halt> {
        let (start, end) = (keys::events_of(0), Some(keys::events_of(u64::MAX)));
        let mut pages = Pages::of(KeyRange { start, end }).growing_slowly();
        let mut bytes = 0_i64;
        while let Some(page) = self.including_expired().next_entries(&mut pages).await? {
            for (_, value) in page.rows {
                let (header, _) = Header::split(&value)?;
                if second <= header.ts || most <= bytes {
                    return Ok(bytes);
                }
                bytes = bytes.saturating_add(i64::try_from(value.len()).unwrap_or(i64::MAX));
            }
            yield_now().await;
        }
        Ok(bytes)
    }

    async fn read_events(
        &self,
        wanted: &EventQuery,
        context: &Context,
    ) -> Result<Option<EventPage>, Halt> {
        let Some((feed, begun)) = self.state.record.running_feed() else { return Ok(None) };
        // Events beyond the retention are hidden even if the reaper has not dropped them yet.
        let oldest_s = feed.floor_s.max(self.instant.seconds().saturating_sub(feed.retention_s));
        // Excludes commits from before the start of the feed.
        let after = wanted.after.max(begun.since);
        let mut found = EventPage { seq: self.seq, ..EventPage::default() };
        let (mut bytes, mut last) = (0, wanted.after);
        let mut pages = Pages::of(KeyRange {
            start: keys::events_of(after.saturating_add(1)),
            // Bounded by what the view certainly contains, since `next` claims that all up to it
            // was read.
            end: Some(keys::events_of(self.seq.saturating_add(1))),
        });
        let stored = self.including_expired();
        while let Some(page) = stored.next_entries(&mut pages).await? {
            charge_keys(context, page.rows.len()).await?;
            for (_, value) in page.rows {
                let (event, entered_s) = Event::decode(&value)?;
                let full = wanted.items <= found.events.len() || wanted.bytes <= bytes;
                if full && last != event.stamp {
                    return Ok(Some(EventPage { next: last, more: true, ..found }));
                }
                last = event.stamp;
                if oldest_s <= entered_s && wanted.range.contains_key(&event.key) {
                    bytes += value.len();
                    found.events.push(event);
                }
            }
        }
        Ok(Some(EventPage { next: self.last_event().await?.max(last), ..found }))
    }
}
