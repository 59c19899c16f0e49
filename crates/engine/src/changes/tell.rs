//! Records expirations in the change log ("tells" them), each once, at the time at which the
//! document expired. Until then the expired row is kept, since the record may need it as the
//! previous image; the index of upcoming expirations (timeline) holds expirations that are not recorded yet.
//!
//! ```text
//!  timeline, by class   ─●──●────●─────│──●──▶        by date of an index  ──●─●───│─●──▶
//!                        └ told        └ expired up to here
//!  one commit: change records at the times of the expirations; their timeline entries are deleted;
//!              the floors up to which all are recorded are stored
//! ```
//!
//! A record's place in the log follows from the row and the settings, so it does not matter when or
//! by whom it is written: two writers write the same key, and the second commit is refused because
//! the timeline entry no longer exists.
//!
//! | expiration | time of the record |
//! |---|---|
//! | at its deadline | the deadline, before the commits of its millisecond |
//! | by a change of settings | the time of that commit, after the record of the change |
//! | not after the instant of the write | the time of the commit that tells it |

use std::{collections::BTreeSet, sync::Arc};

use bytes::Bytes;
use clock::Instant;
use document::DocRef;
use expiry::{Floors, Header};
use store::{ClusterTime, Commit, Condition, KeyRange, Mutation, Space, Stamp};

use super::{ChangeBody, ChangeKind, DraftedChange};
use crate::{
    attempts::Attempts,
    catalog::{Collection, ToldExpirations, decode_floors, encode_floors},
    change_log::KeptLog,
    engine::Engine,
    entry::{named_row_key, never_expiring, written_ms},
    error::{Error, Halt},
    keys,
    limits::{PUBLISHED_AT_ONCE, UNIT_BYTES},
    retry::read_in_view,
    view::{LiveView, Pages},
};

/// Position of an expiration that a change of settings causes among the records of its commit,
/// after those of the change itself.
const AFTER_CHANGE: u32 = 1 << 16;

/// The next step of telling the expirations of a collection.
struct Step {
    /// Records expirations; `None` if all are recorded.
    commit: Option<Commit>,
    /// The earliest instant at which an expiration may have to be told after this step.
    next: Instant,
}

/// What a step of telling does.
#[derive(Default)]
struct Telling {
    /// The records, with their times; `None` stands for the time of the telling commit.
    records: Vec<(Option<ClusterTime>, DraftedChange)>,
    /// Timeline entries to be deleted.
    gone: Vec<Bytes>,
    /// Rows that must be unchanged.
    rows: BTreeSet<Bytes>,
    bytes: usize,
}

impl Engine {
    /// Tells all expirations of a collection up to now. Returns whether there were any.
    pub(crate) async fn tell_expirations(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<bool, Error> {
        let (_one_at_a_time, mut told) = (collection.telling.lock().await, false);
        let mut attempts = Attempts::new("too many concurrent writes to expired documents");
        loop {
            attempts.begin_next()?;
            collection.next_expiration.begin_search();
            let step = read_in_view!(self, collection, |view| view.next_step().await);
            let (step, view) = match step {
                Ok(found) => found,
                Err(error) => {
                    collection.next_expiration.end_search(Instant::MIN);
                    return Err(error);
                }
            };
            // Closed before the commit, which may wait for resources that the view holds.
            drop(view);
            let Some(commit) = step.commit else {
                collection.next_expiration.end_search(step.next);
                return Ok(told);
            };
            collection.next_expiration.end_search(Instant::MIN);
            if self.commit_one(commit).await?.is_some() {
                attempts.start_over();
                told = true;
            }
        }
    }

    /// Tells all expirations of a collection, and returns the condition that a commit precedes the
    /// next one; none if expirations of the collection are not recorded. A change of settings, a
    /// drop and a renaming have this condition, so that every expiration is recorded by the settings and
    /// the name that applied to it.
    pub(crate) async fn before_next_expiration(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<Option<Condition>, Error> {
        let mut attempts = Attempts::to_change();
        loop {
            if collection.state().record.told.is_none() {
                return Ok(None);
            }
            attempts.begin_next()?;
            // Boxed, because telling opens views and so may change the record.
            Box::pin(self.tell_expirations(collection)).await?;
            let (step, view) = read_in_view!(self, collection, |view| view.next_step().await)?;
            if step.commit.is_none() {
                // A document written later may expire within a second.
                let soon = Instant::from_seconds(view.instant.seconds().saturating_add(1));
                return Ok(Some(Condition::Before(step.next.min(soon).ms)));
            }
        }
    }
}

impl LiveView {
    /// Returns the floors up to which expirations are recorded.
    pub(crate) async fn told_up_to(&self, begun: &Floors) -> Result<Floors, Halt> {
        let stored = self.including_expired().entry(&keys::published_floors()).await?;
        let Some(stored) = stored else { return Ok(begun.clone()) };
        let (_, body) = Header::split_row(&stored)?;
        Ok(decode_floors(body)?)
    }

    /// Returns whether a row has expired and its expiration is not told yet.
    pub(crate) async fn is_untold(&self, row_key: &[u8]) -> Result<bool, Halt> {
        let record = &self.state.record;
        if record.told.as_ref().is_none_or(|told| told.begun.is_none()) {
            return Ok(false);
        }
        let Some(stored) = self.including_expired().row(row_key).await? else { return Ok(false) };
        let (header, _) = Header::split(&stored)?;
        Ok(record.settings.expires_at(&header) <= self.instant
            && self.has_timeline_entry(&header, row_key).await?)
    }

    /// Returns whether the index of upcoming expirations has an entry of a row with this header.
    pub(crate) async fn has_timeline_entry(
        &self,
        header: &Header<'_>,
        row_key: &[u8],
    ) -> Result<bool, Halt> {
        let expires_by = (header.class, header.ts);
        let keys = self.state.record.timeline_keys(expires_by, header.dates.iter(), row_key);
        for key in keys {
            if self.including_expired().entry(&key).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the next step of telling.
    async fn next_step(&self) -> Result<Step, Halt> {
        let record = &self.state.record;
        let nothing = Step { commit: None, next: Instant::MAX };
        let (Some(told), Some(kept)) = (&record.told, self.log()) else { return Ok(nothing) };
        let Some(begun) = &told.begun else { return Ok(nothing) };
        let done = self.told_up_to(begun).await?;
        let now = self.stable_instant();
        let floors = record.settings.floors_at(now);
        let (mut telling, mut next) = (Telling::default(), Instant::MAX);
        let mut complete = true;
        for range in self.timeline_ranges(&done) {
            let mut page = Pages::of(range).with_max_rows(PUBLISHED_AT_ONCE);
            let page = self.including_expired().next_entries(&mut page).await?.unwrap_or_default();
            let mut at_end = !page.more;
            for (entry, value) in page.rows {
                if UNIT_BYTES <= telling.bytes {
                    at_end = false;
                    break;
                }
                let (header, body) = Header::split_row(&value)?;
                let expires_at = record.settings.expires_at(&header);
                if now < expires_at {
                    next = next.min(expires_at);
                    // A later entry of the range that another rule has ended is found by that rule.
                    at_end = true;
                    break;
                }
                let row_key = named_row_key(&entry, body)?;
                let of = (row_key, header.stamp, written_ms(body));
                self.tell_row(entry, of, (told, kept), &mut telling).await?;
            }
            complete &= at_end;
        }
        if self.in_flight_batch().is_some() {
            // A commit in flight may write a document that expires soon.
            next = next.min(now);
        }
        if telling.gone.is_empty() {
            return Ok(Step { commit: None, next });
        }
        let reached = complete.then(|| floors.bounded_by_stamp(self.seq + 1));
        Ok(Step { commit: Some(self.telling_commit(telling, reached)), next })
    }

    /// Returns the parts of the timeline that may contain untold expirations.
    fn timeline_ranges(&self, done: &Floors) -> Vec<KeyRange> {
        let record = &self.state.record;
        let Some(index) = record.timeline_index() else { return Vec::new() };
        let class = |class, after_s: i64| KeyRange {
            start: keys::timeline_from(index.id, class, after_s.saturating_add(1)),
            end: Some(keys::timeline_from(index.id, class + 1, i64::MIN)),
        };
        let mut ranges = vec![class(0, done.inherit_s), class(2, done.explicit_s)];
        // Dates may be written in any order, so each range is read from its beginning.
        let rules = record.settings.dates.iter().filter(|rule| rule.after_s.is_some());
        ranges.extend(
            rules.map(|rule| KeyRange::with_prefix(&keys::timeline_dates_of(index.id, rule.index))),
        );
        ranges
    }

    /// Adds the expiration of a row to the step, or only deletes the entry if the row was written
    /// again since.
    async fn tell_row(
        &self,
        entry: Bytes,
        (row_key, stamp, written_ms): (Bytes, u64, i64),
        (told, kept): (&ToldExpirations, &KeptLog),
        telling: &mut Telling,
    ) -> Result<(), Halt> {
        if telling.rows.contains(&row_key) {
            return Ok(());
        }
        let record = &self.state.record;
        telling.rows.insert(row_key.clone());
        telling.gone.push(entry);
        let stored = self.including_expired().row(&row_key).await?;
        let Some(value) = stored else { return Ok(()) };
        let (header, body) = Header::split_row(&value)?;
        if header.stamp != stamp {
            return Ok(());
        }
        let expires_by = (header.class, header.ts);
        let keys = record.timeline_keys(expires_by, header.dates.iter(), &row_key);
        telling.gone.extend(keys);
        let expired_at = record.settings.expires_at(&header);
        let document = DocRef::Raw(body);
        let images = self.state.keeps_images;
        let (time, operation) = time_of_expiration(expired_at, (stamp, written_ms), told.ruled);
        let change = ChangeBody {
            kind: ChangeKind::Expire,
            id: document.get("_id"),
            before: images.then_some(document),
            ..ChangeBody::of_collection(ChangeKind::Expire, &record.namespace)
        };
        telling.bytes += if images { body.len() } else { row_key.len() };
        telling.records.push((time, kept.draft(record, (operation, &row_key), &change)));
        Ok(())
    }

    /// Returns the commit of a step; it stores the floors up to which all are recorded, if `reached`.
    fn telling_commit(&self, telling: Telling, reached: Option<Floors>) -> Commit {
        let Telling { records, gone, rows, .. } = telling;
        let (space, seq) = (self.collection.entries_space(), self.seq);
        let not_newer = |space, key| Condition::NotNewer { space, key, seq };
        let mut conditions = vec![
            not_newer(Space::Catalog, self.state.record_key.clone()),
            not_newer(space, keys::published_floors()),
        ];
        let row_space = self.collection.rows_space();
        conditions.extend(rows.into_iter().map(|key| not_newer(row_space, key)));
        conditions.extend(gone.iter().map(|key| not_newer(space, key.clone())));
        // Untold rows cannot be reaped, so telling frees space.
        let commit = Commit::new(conditions, move |stamp: Stamp| {
            let mut out = Vec::with_capacity(records.len() * 2 + gone.len() + 1);
            for (time, record) in records {
                let time = time.unwrap_or_else(|| ClusterTime::of_commit(stamp));
                record.put_at(time, stamp, &mut out);
            }
            out.extend(gone.into_iter().map(|key| Mutation::Delete { space, key }));
            if let Some(floors) = reached {
                let value = never_expiring(&encode_floors(&floors), stamp).into();
                out.push(Mutation::Put { space, key: keys::published_floors(), value });
            }
            out
        });
        commit.freeing()
    }
}

/// Returns the time of a row's expiration and its position among the records of that time. No time
/// means that of the commit that tells it.
fn time_of_expiration(
    expired_at: Instant,
    (stamp, written_ms): (u64, i64),
    ruled: Stamp,
) -> (Option<ClusterTime>, u32) {
    if expired_at.ms <= ruled.at_ms && stamp < ruled.seq {
        return (Some(ClusterTime::of_commit(ruled)), AFTER_CHANGE);
    }
    // A document whose date had passed when it was written expires after its own insertion.
    if expired_at.ms <= written_ms {
        return (None, 0);
    }
    (Some(ClusterTime::of_expiration(expired_at.ms)), 0)
}
