//! Builds indexes online: writers maintain an index from the commit that creates it; the build adds
//! entries of older rows, conditional on each row, and then marks the index as ready.
//!
//! ```text
//!  commit that creates the index      page   page   page         commit that makes it ready
//!  ───────────●──────────────────────[────)[────)[────)──────────────●──────▶
//!             └ writers put entries   └ its own view, and one commit per row:
//!                                       "no later commit wrote this row"
//! ```
//!
//! If a row is written while its page is built, the commit that adds its entries is refused and
//! built again, so that entries of an older version never follow those of a newer one. Each page
//! has its own view, so a long build does not hold back the reaper longer than one page takes.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use store::{Commit, Condition, KeyRange, Mutation, Outcome, Space, Stamp};

use super::{
    change::{change_rule, duplicate_value, remove_index},
    draft_entries,
};
use crate::{
    attempts::Attempts,
    catalog::{
        BuildProgress, Collection, CollectionState, CounterState, FeedSettings, FeedStart,
        IndexShape, IndexSpec, Record,
    },
    counters::{Counted, count_in_buckets},
    engine::{Engine, RecordApply, RecordEdit},
    entry::{entry_value, timed_body},
    error::{Error, ErrorSubject, Halt, Kind},
    keys,
    retry::read_in_view,
    row::Row,
    view::{LiveView, Pages},
};

/// Id of an incomplete index, and whether its dates are written to row headers.
type UnbuiltIndex = (u32, bool);

/// Returns incomplete indexes, and date indexes with an inactive rule: these are complete as
/// indexes, but not every header carries the date.
fn unbuilt_indexes<'a>(
    state: &'a CollectionState,
) -> impl Iterator<Item = (&'a IndexSpec, UnbuiltIndex)> + 'a {
    let record = &state.record;
    let inactive = |index: &IndexSpec| {
        let rule = record.settings.dates.iter().find(|rule| rule.index == index.id);
        index.expire_after.is_some()
            && !index.system_ttl
            && rule.is_none_or(|rule| rule.after_s.is_none())
    };
    let indexes = record.indexes.iter().filter(move |index| !index.ready || inactive(index));
    indexes.map(|index| (index, (index.id, index.expire_after.is_some())))
}

impl Engine {
    /// Completes builds of indexes and counters that an earlier run interrupted, and replaces
    /// indexes whose keys have the format of earlier versions. Queries do not use incomplete
    /// indexes and counters, so nothing waits for this.
    pub async fn resume_builds(&self) -> Result<(), Error> {
        for collection in self.inner.map().all_collections().values() {
            self.replace_old_indexes(collection).await?;
            match self.build_indexes(collection, |_| true).await {
                // The stored documents do not fit the index, so it was dropped.
                Err(Error { kind, .. }) if is_about_documents(&kind) => {}
                built => built?,
            }
            if matches!(collection.state().record.counters, CounterState::Building(_)) {
                self.restart_counters(collection).await?;
            }
        }
        Ok(())
    }

    /// Replaces each index without creation stamps in its keys by a new one that must be built.
    async fn replace_old_indexes(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let edit: Box<RecordEdit<()>> = Box::new(|state: &CollectionState| {
            if !state.record.indexes.iter().any(IndexSpec::is_by_row_key) {
                return Ok(None);
            }
            let apply = |record: &mut Record, _: Stamp| {
                let (old, mut kept): (Vec<_>, Vec<_>) = std::mem::take(&mut record.indexes)
                    .into_iter()
                    .partition(IndexSpec::is_by_row_key);
                for index in old {
                    // Compactions drop the entries of the old index.
                    record.dropped.push(index.id);
                    let id = record.next_index;
                    record.next_index += 1;
                    kept.push(IndexSpec { id, by_creation: true, ready: false, ..index });
                }
                record.indexes = kept;
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        match self.change_record(collection, &*edit).await {
            // The collection was dropped during the build.
            Err(_) if collection.is_dropped() => Ok(()),
            changed => changed.map(|_| ()),
        }
    }

    /// Builds the selected indexes that are incomplete; they are dropped on failure.
    pub(crate) async fn build_indexes(
        &self,
        collection: &Arc<Collection>,
        which: impl Fn(&IndexSpec) -> bool,
    ) -> Result<(), Error> {
        let state = collection.state();
        let wanted = unbuilt_indexes(&state).filter(|(index, _)| which(index));
        let wanted: Vec<UnbuiltIndex> = wanted.map(|(_, wanted)| wanted).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let ids: Vec<u32> = wanted.iter().map(|(id, _)| *id).collect();
        let built = self.fill_indexes(collection, &ids).await;
        self.finish_build(collection, wanted, built.is_ok()).await?;
        built
    }

    async fn fill_indexes(
        &self,
        collection: &Arc<Collection>,
        wanted: &[u32],
    ) -> Result<(), Error> {
        let mut pages = Pages::of(KeyRange::all());
        let mut rows = 0;
        let mut attempts =
            Attempts::new("too many concurrent writes to the documents being indexed");
        while !pages.is_done() {
            let mut next = pages.clone();
            let filled = read_in_view!(self, collection, |view| {
                next.clone_from(&pages);
                self.fill_page(&view, &mut next, wanted).await
            });
            let (Some(examined), view) = filled? else {
                // A row of the page has been written since it was read: repeat the page.
                attempts.begin_next()?;
                continue;
            };
            (pages, rows) = (next, rows + examined);
            attempts.start_over();
            if let Ok(total) = view.total_amount().await {
                let of = u64::try_from(total.documents).unwrap_or(0);
                let progress = BuildProgress { rows: rows as u64, of };
                wanted.iter().for_each(|id| collection.figures.record_progress(*id, progress));
            }
        }
        Ok(())
    }

    /// Adds the entries of the next page of rows. Returns the number of rows examined, or `None` if
    /// a commit was refused because another writer changed the row in the meantime.
    async fn fill_page(
        &self,
        view: &LiveView,
        pages: &mut Pages,
        wanted: &[u32],
    ) -> Result<Option<usize>, Halt> {
        let page = view.next_rows(pages).await?.unwrap_or_default();
        let mut commits = Vec::with_capacity(page.items.len());
        let mut taken = HashMap::new();
        for row in page.items {
            commits.push(self.fill_row(view, row, wanted, &mut taken).await?);
        }
        if commits.is_empty() {
            return Ok(Some(page.examined));
        }
        let outcomes = self.inner.store().commit(commits).await?;
        let clean = outcomes.iter().all(|outcome| matches!(outcome, Outcome::Committed(_)));
        Ok(clean.then_some(page.examined))
    }

    /// Returns the commit that adds a row's entries in the given indexes. If the row's dates
    /// change, its header changes, and all of its entries are rewritten.
    async fn fill_row(
        &self,
        view: &LiveView,
        row: Row,
        wanted: &[u32],
        taken: &mut HashMap<Bytes, Bytes>,
    ) -> Result<Commit, Halt> {
        let record = &view.state.record;
        let mut all: Vec<(Bytes, Bytes)> = Vec::new();
        let mut dates = Vec::new();
        let mut conditions = self.row_conditions(view, &row);
        let scope = record.partition_layout();
        dates.extend(record.cluster_date(row.document()));
        for (index, partial) in record.indexes.iter().zip(&view.state.partial) {
            if !index.has_entries() {
                continue;
            }
            let drafted =
                draft_entries(index, partial.as_deref(), row.document(), row.named(), scope)?;
            let Some(drafted) = drafted else { continue };
            if drafted.multikey && !index.multikey {
                return Err(Halt::Multikey(vec![index.id]));
            }
            dates.extend(drafted.date.map(|date| (index.id, date)));
            if index.unique && wanted.contains(&index.id) {
                for (key, _) in &drafted.entries {
                    self.check_free(view, index, key, &row, taken).await?;
                    conditions.push(Condition::NotNewer {
                        space: view.collection.entries_space(),
                        key: key.clone(),
                        seq: view.seq,
                    });
                }
            }
            all.extend(drafted.entries);
        }
        let header = row.header().ok_or_else(|| Error::corrupt("a stored row is damaged"))?;
        let expires_by = (header.class, header.ts);
        let timeline = record.timeline_keys(expires_by, dates.iter().copied(), &row.key);
        let mut gone = record.timeline_keys(expires_by, header.dates.iter(), &row.key);
        gone.retain(|key| !timeline.contains(key));
        let builds_timeline = record.timeline_index().is_some_and(|it| wanted.contains(&it.id));
        let rewritten = header.with_dates(&dates);
        let changed = header.dates.iter().ne(dates.iter().copied());
        let mut out = Vec::new();
        let (header, _) = expiry::Header::split(&rewritten)?;
        for (key, body) in all {
            // Other indexes' entries are rewritten only if the header changes.
            let new = keys::index_of(&key).is_some_and(|id| wanted.contains(&id));
            if new || changed {
                let (space, value) = (view.collection.entries_space(), entry_value(&header, &body));
                out.push(Mutation::Put { space, key, value });
            }
        }
        let space = view.collection.entries_space();
        out.extend(gone.into_iter().map(|key| Mutation::Delete { space, key }));
        // Moves the document from the counter buckets of its old dates to those of the new ones.
        if changed {
            let (before, after) = (row.header(), Counted::of_row(&header, row.body()));
            if let Some(before) = before {
                count_in_buckets(record, &Counted::of_row(&before, row.body()), -1, &mut out);
            }
            count_in_buckets(record, &after, 1, &mut out);
            let mut value = rewritten.clone();
            value.extend_from_slice(row.body());
            let space = view.collection.rows_space();
            out.push(Mutation::Put { space, key: row.key.clone(), value: value.into() });
        }
        let timeline = if builds_timeline || changed { timeline } else { Vec::new() };
        let (space, key) = (view.collection.entries_space(), row.key.clone());
        Ok(Commit::new(conditions, move |stamp| {
            let body = timed_body(&key, stamp.at_ms);
            let header = expiry::Header::split(&rewritten).map(|(header, _)| header);
            let value = header.map(|header| entry_value(&header, &body)).unwrap_or_default();
            let timed = timeline.into_iter();
            out.extend(timed.map(|key| Mutation::Put { space, key, value: value.clone() }));
            out
        }))
    }

    /// Returns conditions that the row and the record are unchanged and the row is still live.
    fn row_conditions(&self, view: &LiveView, row: &Row) -> Vec<Condition> {
        let record = &view.state.record;
        let catalog = keys::record(record.model, &record.namespace);
        vec![
            Condition::NotNewer {
                space: view.collection.rows_space(),
                key: row.key.clone(),
                seq: view.seq,
            },
            Condition::NotNewer { space: Space::Catalog, key: catalog, seq: view.seq },
            Condition::Before(row.expires_at.ms),
        ]
    }

    /// Fails if another row has this unique value, in the index or in the uncommitted rest of this
    /// page (`taken`).
    async fn check_free(
        &self,
        view: &LiveView,
        index: &IndexSpec,
        key: &Bytes,
        row: &Row,
        taken: &mut HashMap<Bytes, Bytes>,
    ) -> Result<(), Halt> {
        let held = view.unique_entry(index, key).await?.map(|held| held.row_key);
        let held = held.or_else(|| taken.get(key).cloned());
        if held.is_some_and(|held| held != row.key) {
            return Err(duplicate_value(index, row.document()).into());
        }
        taken.insert(key.clone(), row.key.clone());
        Ok(())
    }

    /// Marks built indexes as ready, or drops them on failure. An index that was changed during the
    /// build is left to the operation that changed it.
    async fn finish_build(
        &self,
        collection: &Arc<Collection>,
        wanted: Vec<UnbuiltIndex>,
        built: bool,
    ) -> Result<(), Error> {
        let floors = self.inner.rules().floors();
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let still = unbuilt_indexes(state).filter(|(_, held)| wanted.contains(held));
            let wanted: Vec<u32> = still.map(|(index, _)| index.id).collect();
            if wanted.is_empty() {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                for id in &wanted {
                    let found = record.indexes.iter_mut().find(|index| index.id == *id);
                    let Some(index) = found else { continue };
                    let after = index.expire_after;
                    if built {
                        index.ready = true;
                        let timeline = index.shape == IndexShape::Timeline;
                        if timeline && let Some(told) = &mut record.told {
                            told.begun =
                                Some(record.settings.floors_before(stamp.seq, stamp.at_ms));
                        }
                        if timeline && let Some(items) = &mut record.items {
                            let begun = FeedStart::begun_at(&record.settings, stamp);
                            items.feed =
                                items.feed.map(|feed| FeedSettings { begun: Some(begun), ..feed });
                        }
                        if after.is_some() {
                            change_rule(record, *id, after, stamp, floors);
                        }
                    } else if index.ready {
                        // The index was complete before it became a date index, so it remains as a
                        // plain one.
                        index.expire_after = None;
                    } else {
                        let name = index.name.clone();
                        remove_index(record, &name, stamp, floors);
                    }
                }
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        match self.change_record(collection, &*edit).await {
            Err(Error { kind: Kind::NotFound(ErrorSubject::Collection(_)), .. }) => Ok(()),
            changed => changed.map(|_| ()),
        }
    }
}

/// Returns whether a build failed because of the stored documents, rather than the store.
fn is_about_documents(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::DuplicateKey { .. }
            | Kind::ParallelArrays
            | Kind::HashedArray
            | Kind::TooLarge
            | Kind::Query(_)
    )
}
