//! Reads a feed: first what has expired is published, so that no reader waits for housekeeping.
//! Events come in the order of commits, and those of one commit together.

use std::sync::Arc;

use evaluation::Context;
use store::{Direction, KeyRange, Store};

use super::Event;
use crate::{
    catalog::Collection,
    engine::Engine,
    error::{Error, Halt},
    item_key::ItemRange,
    keys,
    retry::read_in_view,
    view::{LiveView, Pages, charge_keys},
};

/// Which events are wanted.
#[derive(Clone, Debug)]
pub struct EventsWanted {
    /// Those of commits after this one.
    pub after: u64,
    /// Of items in this part.
    pub range: ItemRange,
    /// About how many; all of one commit come together.
    pub items: usize,
    /// About how many bytes.
    pub bytes: usize,
}

/// A page of events in the order of commits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventPage {
    /// The events.
    pub events: Vec<Event>,
    /// Go on after this commit.
    pub next: u64,
    /// Whether there may be more already.
    pub more: bool,
    /// The commits that the answer certainly knows.
    pub seq: u64,
}

impl<S: Store> Engine<S> {
    /// The position after all events of a feed, those of what has expired by now among them.
    pub async fn feed_end(&self, collection: &Arc<Collection>) -> Result<u64, Error> {
        self.last_change(collection).await?;
        self.publish_expirations(collection).await?;
        Ok(read_in_view!(self, collection, |view| view.last_event().await)?.0)
    }

    /// A page of events; `None` where no feed is kept.
    pub async fn feed_events(
        &self,
        collection: &Arc<Collection>,
        wanted: &EventsWanted,
        context: &Context,
    ) -> Result<Option<EventPage>, Error> {
        self.last_change(collection).await?;
        self.publish_expirations(collection).await?;
        let page = read_in_view!(self, collection, |view| view.read_events(wanted, context).await);
        Ok(page?.0)
    }
}

impl<S: Store> LiveView<S> {
    /// The stamp of the last event, or of the last change where that is newer: the position after all
    /// that this view shows.
    async fn last_event(&self) -> Result<u64, Halt> {
        let shown = KeyRange {
            start: keys::events_after(0),
            end: Some(keys::events_after(self.seq.saturating_add(1))),
        };
        let mut last = Pages::of(shown).in_direction(Direction::Backward).at_most(1);
        let page = self.including_expired().next_entries(&mut last).await?.unwrap_or_default();
        let event = page.rows.first().and_then(|(key, _)| keys::stamp_of_change(key));
        Ok(self.last_change_shown().max(event.unwrap_or(0)))
    }

    /// The next page in this view.
    async fn read_events(
        &self,
        wanted: &EventsWanted,
        context: &Context,
    ) -> Result<Option<EventPage>, Halt> {
        let Some((feed, begun)) = self.state.record.running_feed() else { return Ok(None) };
        // Events that are too old are not shown, also where the reaper has not dropped them yet.
        let oldest_s = feed.floor_s.max(self.instant.seconds().saturating_sub(feed.retention_s));
        // Nothing from before the feed began, although items carry older stamps.
        let after = wanted.after.max(begun.since);
        let mut found = EventPage { seq: self.seq, ..EventPage::default() };
        let (mut bytes, mut last) = (0, wanted.after);
        let mut pages = Pages::of(KeyRange {
            start: keys::events_after(after.saturating_add(1)),
            // Not beyond what the view is certain of: `next` says that all up to there was read.
            end: Some(keys::events_after(self.seq.saturating_add(1))),
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
