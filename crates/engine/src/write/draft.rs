//! Builds the single commit of a document's write: conditions, row, index entries and counters.
//!
//! The commit is made in two parts. Everything slow is done here, in the view: encoding entries,
//! looking up unique values, computing checksums. The closure runs where commits are ordered, when
//! the stamp is known, and only inserts the stamp into headers, because all other writers wait for
//! it.
//!
//! ```text
//!  condition                                fails if
//!  row not newer than the view              another writer changed the document
//!  record not newer than the view           TTL settings or indexes changed
//!  unique keys not newer than the view      another document took or released the value
//!  stamp before the expiry                  a document found live has expired since
//! ```

use std::{ops::Range, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, DocRef, ValueRef};
use expiry::{Lifetime, body_checksum};
use store::{Commit, Condition, Mutation, Space, Stamp};

use super::{
    logged::WriteForm,
    mutations::{count_change, item_stamp, put_change, put_entries, put_timeline, write_second},
    previous::PreviousVersion,
};
use crate::{
    catalog::{CollectionState, IndexSpec, put_last_change},
    change_log::log_record_key,
    counters::{Counted, count_document},
    entry::{NamedRow, set_creation_stamp},
    error::{Error, Halt},
    feed::put_event,
    index::{DraftedEntries, draft_entries},
    keys,
    names::Model,
    row::{Item, Row},
    view::LiveView,
};

/// Drafts a write of one document in one view.
pub(crate) struct WriteDraft<'a> {
    /// The view in which all reads happen.
    pub(crate) view: &'a LiveView,
    /// Second to record as the time of the write if it is earlier than the second of the commit.
    pub(crate) since: Option<i64>,
    /// Second to record as the time of the write even if it is later than the second of the commit.
    pub(crate) at: Option<i64>,
    /// Operation that made the new version of the document.
    pub(crate) form: WriteForm,
    /// The identity of the transaction that is committed, for the change record.
    pub(crate) transaction: Option<&'a DocBuf>,
    /// The version from which the new one was made, if it is not the stored one.
    pub(crate) base: Option<DocRef<'a>>,
}

/// The entries of a document in all indexes of its collection.
pub(crate) struct DocumentEntries {
    /// Keys and bodies of the entries, sorted by key within each index.
    all: Vec<(Bytes, Bytes)>,
    /// Ranges of `all` whose keys contain the document's creation stamp.
    by_creation: Vec<Range<usize>>,
    /// Keys in unique indexes, which no other live document may have.
    pub(crate) unique: Vec<Bytes>,
    /// Earliest dates by date index, for the header.
    pub(super) dates: Vec<(u32, i64)>,
    /// Indexes in which a document has several entries for the first time.
    pub(super) multikey: Vec<u32>,
}

impl DocumentEntries {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Sets the row's creation stamp in the keys that contain it. The order of keys is unaffected,
    /// since all entries of a row have the same stamp.
    fn set_creation_stamp(&mut self, row_key: &[u8], stamp: u64) {
        for range in self.by_creation.drain(..) {
            let entries = self.all.get_mut(range).unwrap_or_default();
            entries.iter_mut().for_each(|(key, _)| set_creation_stamp(key, row_key, stamp));
        }
    }
}

impl<'a> WriteDraft<'a> {
    /// Creates a draft of a write that takes its time from its commit.
    pub(crate) fn of(view: &'a LiveView) -> Self {
        let (since, at, transaction, base) = (None, None, None, None);
        Self { view, since, at, form: WriteForm::default(), transaction, base }
    }

    /// Returns the settings and indexes of the view.
    fn state(&self) -> &Arc<CollectionState> {
        &self.view.state
    }

    /// Returns the conditions that every commit of a write to this row has.
    pub(crate) fn row_conditions(&self, row_key: &Bytes) -> Vec<Condition> {
        let seq = self.view.seq;
        let mut conditions = Vec::with_capacity(4);
        if self.view.rules().versions() {
            let space = self.view.collection.rows_space();
            conditions.push(Condition::NotNewer { space, key: row_key.clone(), seq });
        }
        if self.view.rules().epoch() {
            let key = self.state().record_key.clone();
            conditions.push(Condition::NotNewer { space: Space::Catalog, key, seq });
        }
        if self.state().record.model == Model::Documents {
            let (space, key) = (Space::Catalog, log_record_key());
            conditions.push(Condition::NotNewer { space, key, seq });
        }
        conditions
    }

    /// Returns the version that a write over this live row replaces.
    pub(crate) async fn previous_version(&self, row: Row) -> Result<PreviousVersion, Halt> {
        let header = row.header().ok_or_else(|| Error::corrupt("a stored row is damaged"))?;
        let counted = Counted::of_row(&header, row.body());
        let mut entries = self.entries_of(row.document(), &row.key)?;
        entries.set_creation_stamp(&row.key, row.creation_stamp);
        let mut own = Vec::with_capacity(entries.all.len());
        let mut unsure = Vec::new();
        for (key, _) in entries.all {
            // A unique index that is being built may lack this row's entry and contain that of
            // another row with the same value, which the build detects. Only the row's own entry is
            // deleted.
            if let Some(index) = self.unique_in_making(&key) {
                unsure.push(key.clone());
                let held = self.view.unique_entry(index, &key).await?;
                if held.is_none_or(|held| held.row_key != row.key) {
                    continue;
                }
            }
            own.push(key);
        }
        Ok(PreviousVersion { row, counted, entries: own, unsure, same: true })
    }

    /// Returns the unique index that contains a key if the index is still being built.
    fn unique_in_making(&self, key: &[u8]) -> Option<&IndexSpec> {
        self.unique_index(key).filter(|index| !index.ready)
    }

    /// Returns conditions by which a commit fails if these keys were changed after the view.
    pub(super) fn not_newer<'b>(
        &self,
        keys: &'b [Bytes],
    ) -> impl Iterator<Item = Condition> + use<'b> {
        let (space, seq) = (self.view.collection.entries_space(), self.view.seq);
        keys.iter().map(move |key| Condition::NotNewer { space, key: key.clone(), seq })
    }

    /// Returns a document's entries in all indexes, without the creation stamp of its row.
    pub(crate) fn entries_of(
        &self,
        document: DocRef<'_>,
        row_key: &[u8],
    ) -> Result<DocumentEntries, Error> {
        let row = NamedRow { key: row_key, creation_stamp: 0 };
        let state = self.state();
        let mut out = DocumentEntries {
            all: Vec::new(),
            by_creation: Vec::new(),
            unique: Vec::new(),
            dates: state.record.cluster_date(document).into_iter().collect(),
            multikey: Vec::new(),
        };
        let scope = state.record.partition_layout();
        for (index, partial) in state.record.indexes.iter().zip(&state.partial) {
            if !index.has_entries() {
                continue;
            }
            let Some(DraftedEntries { entries, multikey, date }) =
                draft_entries(index, partial.as_deref(), document, row, scope)?
            else {
                continue;
            };
            if multikey && !index.multikey {
                out.multikey.push(index.id);
            }
            if let Some(date) = date {
                out.dates.push((index.id, date));
            }
            if index.unique {
                out.unique.extend(entries.iter().map(|(key, _)| key.clone()));
            }
            if index.by_creation {
                out.by_creation.push(out.all.len()..out.all.len() + entries.len());
            }
            out.all.extend(entries);
        }
        Ok(out)
    }

    /// Returns the unique index of a key.
    pub(crate) fn unique_index(&self, key: &[u8]) -> Option<&IndexSpec> {
        let id = keys::index_of(key);
        let mut indexes = self.state().record.indexes.iter();
        indexes.find(|index| Some(index.id) == id && index.unique)
    }

    /// Fails if another live document has a value of a unique index.
    ///
    /// An expired holder does not conflict: its entry is invisible and is overwritten.
    pub(super) async fn check_unique(
        &self,
        entries: &DocumentEntries,
        document: DocRef<'_>,
        row_key: &[u8],
    ) -> Result<(), Halt> {
        for key in &entries.unique {
            let Some(index) = self.unique_index(key) else { continue };
            let held = self.view.unique_entry(index, key).await?;
            if held.is_some_and(|held| held.row_key != row_key) {
                return Err(crate::index::duplicate_value(index, document).into());
            }
        }
        Ok(())
    }

    /// Returns the unique keys that a write takes (`entries`) or releases (`previous`).
    pub(super) fn unique_keys_of(
        &self,
        entries: Option<&DocumentEntries>,
        previous: Option<&PreviousVersion>,
    ) -> Vec<Bytes> {
        let mut keys: Vec<Bytes> = entries.map(|held| held.unique.clone()).unwrap_or_default();
        if let Some(previous) = previous {
            let held = previous.entries.iter().filter(|key| self.unique_index(key).is_some());
            keys.extend(held.chain(&previous.unsure).cloned());
        }
        keys
    }

    /// Returns the commit that writes `body` under `row_key` and replaces `previous`. If `previous`
    /// has another key, that key becomes free.
    pub(crate) async fn put_document(
        &self,
        row_key: Bytes,
        body: DocBuf,
        lifetime: Lifetime,
        previous: Option<PreviousVersion>,
    ) -> Result<Commit, Halt> {
        self.check_told(&row_key, previous.as_ref()).await?;
        let entries = self.entries_of(body.as_ref(), &row_key)?;
        self.check_unique(&entries, body.as_ref(), &row_key).await?;
        let position = self.state().record.capped.map(|_| 0);
        self.put_checked(row_key, body, lifetime, previous, entries, position)
    }

    /// Builds the commit that stores a document whose unique values were checked. `position`
    /// distinguishes items, or documents of a capped collection, created by the same commit.
    pub(crate) fn put_checked(
        &self,
        row_key: Bytes,
        body: DocBuf,
        lifetime: Lifetime,
        previous: Option<PreviousVersion>,
        mut entries: DocumentEntries,
        position: Option<usize>,
    ) -> Result<Commit, Halt> {
        if let Some(since) = self.since {
            self.check_floors(lifetime, since)?;
        }
        let moved = previous.as_ref().and_then(|held| held.moves_to(&row_key));
        let conditions = self.put_conditions(&row_key, &entries, previous.as_ref(), moved.as_ref());
        let space = self.view.collection.entries_space();
        // Marked first: a scan that assumes one entry per document would return this one twice.
        if !entries.multikey.is_empty() {
            return Err(Halt::Multikey(entries.multikey));
        }
        let state = Arc::clone(self.state());
        let bytes = body.bytes().len();
        let mut draft = expiry::HeaderDraft {
            lifetime,
            creation_stamp: previous.as_ref().filter(|it| it.same).map(|it| it.row.creation_stamp),
            dates: std::mem::take(&mut entries.dates),
            body_checksum: body_checksum(body.bytes()),
        };
        draft.creation_stamp.into_iter().for_each(|at| entries.set_creation_stamp(&row_key, at));
        let (rows, since, at) = (self.view.collection.rows_space(), self.since, self.at);
        let collection = Arc::clone(&self.view.collection);
        let change = self.logged_put(&row_key, &body, previous.as_ref());
        // A feed stores the document in its event too.
        let image = state.record.running_feed().map(|_| body.clone().into_bytes());
        // The row is built here with space reserved for its header, since time spent where commits
        // are ordered delays all writers.
        let room = draft.header_len();
        let mut value = Vec::with_capacity(room + bytes);
        value.resize(room, 0);
        value.extend_from_slice(body.bytes());
        let write = move |stamp: Stamp| {
            let ts = at.unwrap_or_else(|| write_second(stamp, since));
            let creation_stamp = position.map(|position| item_stamp(stamp.seq, position));
            // A replaced item keeps its creation stamp.
            draft.creation_stamp = draft.creation_stamp.or(creation_stamp);
            entries.set_creation_stamp(&row_key, draft.creation_stamp.unwrap_or(stamp.seq));
            let header = draft.encode_stamped(stamp.seq, ts);
            if let Some(room) = value.get_mut(..header.len()) {
                room.copy_from_slice(&header);
            }
            let mut out = Vec::with_capacity(2 + entries.all.len() * 2);
            put_entries(&header, space, entries.all, previous.as_ref(), &mut out);
            collection.note_expiration(&state.record, &header);
            let (version, at_ms) = ((&header[..], &row_key[..]), stamp.at_ms);
            put_timeline(&state.record, space, previous.as_ref(), version, at_ms, &mut out);
            if state.record.items.is_some() {
                put_change(&header, space, &row_key, previous.as_ref(), stamp.seq, &mut out);
                if let Some(body) = image {
                    let before = previous.as_ref().map(|held| Item::from_row(held.row.clone()));
                    let creation_stamp = draft.creation_stamp.unwrap_or(stamp.seq);
                    let key = row_key.clone();
                    let after = Item { key, body, stamp: stamp.seq, creation_stamp, ts };
                    put_event(&state.record, space, stamp, before, Some(after), &mut out);
                }
            }
            if let Some(change) = change {
                change.put(stamp, &mut out);
            }
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let class = draft.lifetime.class_at(ts);
            let counted = Counted { class, ts, bytes, dates: draft.dates };
            count_change(&state.record, previous.as_ref(), &counted, &mut out);
            out.extend(moved.map(|key| Mutation::Delete { space: rows, key }));
            out.push(Mutation::Put { space: rows, key: row_key, value: value.into() });
            out
        };
        Ok(Commit::new(conditions, write))
    }

    /// Returns the conditions of a write. Since the view, nothing may have changed the row, the row
    /// at the document's previous key, or the unique values that the write takes or frees, and the
    /// replaced version must not have expired.
    fn put_conditions(
        &self,
        row_key: &Bytes,
        entries: &DocumentEntries,
        previous: Option<&PreviousVersion>,
        moved: Option<&Bytes>,
    ) -> Vec<Condition> {
        let mut conditions = self.row_conditions(row_key);
        // No other document may have taken a value since it was looked up.
        conditions.extend(self.not_newer(&entries.unique));
        conditions.extend(moved.iter().flat_map(|key| self.row_conditions(key)));
        if let Some(previous) = previous {
            conditions.extend(self.not_newer(&previous.unsure));
            if self.view.rules().before_expiry() {
                conditions.push(Condition::Before(previous.row.expires_at.ms));
            }
        }
        conditions
    }

    /// Returns the commit that deletes a live row.
    ///
    /// The deletion frees space after a compaction and is therefore accepted on a full disk.
    pub(crate) fn remove_document(&self, previous: PreviousVersion) -> Commit {
        let mut conditions = self.row_conditions(&previous.row.key);
        conditions.extend(self.not_newer(&previous.unsure));
        if self.view.rules().before_expiry() {
            conditions.push(Condition::Before(previous.row.expires_at.ms));
        }
        let state = Arc::clone(self.state());
        let change = self.logged_removal(&previous.row);
        let (rows, space) =
            (self.view.collection.rows_space(), self.view.collection.entries_space());
        let commit = Commit::new(conditions, move |stamp| {
            let mut out = Vec::with_capacity(2 + previous.entries.len());
            count_document(&state.record, &previous.counted, -1, &mut out);
            if let Some(change) = change {
                change.put(stamp, &mut out);
            }
            let gone = previous.entries.iter().cloned();
            out.extend(gone.map(|key| Mutation::Delete { space, key }));
            let timeline = previous.timeline_keys(&state.record).into_iter();
            out.extend(timeline.map(|key| Mutation::Delete { space, key }));
            if state.record.items.is_some() {
                let key = keys::change(previous.row.stamp, &previous.row.key);
                out.push(Mutation::Delete { space, key });
                let record = &state.record;
                let before = Item::from_row(previous.row.clone());
                put_event(record, space, stamp, Some(before), None, &mut out);
                // No other mutation records that this commit changed the container.
                out.push(put_last_change(record.id, stamp.seq));
            }
            out.push(Mutation::Delete { space: rows, key: previous.row.key });
            out
        });
        commit.freeing()
    }
}

/// Returns the row key of a document, from its id.
pub(crate) fn row_key(document: DocRef<'_>) -> Result<Bytes, Error> {
    let id = document.get("_id").unwrap_or(ValueRef::Null);
    Ok(Bytes::from(keys::row(id)))
}
