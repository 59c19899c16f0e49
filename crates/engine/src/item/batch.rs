//! Combines several actions into one commit; each action sees the effects of those before it.
//!
//! ```text
//!  view:      A   B
//!  actions:   replace A → upsert C → delete A → create A
//!  pending:   A {stored, now: created}   C {now}        one put per written key,
//!  commit:    put A (new creation stamp), put C        one condition per key that was read
//! ```
//!
//! An item is read once. From then on its pending state applies to later actions, while the
//! conditions of the commit refer to the stored row. A move changes an item's key but keeps its
//! creation stamp, so the write of the new key also replaces the row of the old one.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use document::{DocBuf, DocRef};
use store::{Commit, Condition, Mutation, Space, Stamp};

use super::{
    outcomes::{ActionOutcome, ActionOutcomes},
    write::{ItemAction, ItemWrite, ItemWriter, VersionMatch},
};
use crate::{
    catalog::put_last_change,
    error::{Error, ErrorSubject, Halt, Kind},
    item_key::ItemKey,
    keys,
    limits::MAX_READ_BYTES,
    row::{Item, Row},
    write::{DocumentEntries, PreviousVersion, WriteDraft, as_one},
};
use expiry::Lifetime;

/// The state of an item after the actions so far.
struct PendingItem {
    /// The stored row; `None` if the item does not exist.
    stored: Option<Row>,
    /// Whether an action of the batch has written the item.
    written: bool,
    /// The stored row from which the item originates: the row of its key, or of the key from which
    /// it was moved. `None` if the batch created the item or deleted the stored one.
    origin: Option<Row>,
    now: Option<NewVersion>,
}

impl PendingItem {
    /// Returns the item's creation stamp; `None` if the batch creates the item.
    fn creation_stamp(&self) -> Option<u64> {
        self.origin.as_ref().map(|row| row.creation_stamp)
    }
}

/// The new version of an item.
struct NewVersion {
    body: DocBuf,
    /// The lifetime that the item requests; its deadline depends on the commit's stamp.
    lifetime: Lifetime,
    /// Index entries of the item, without headers.
    entries: DocumentEntries,
}

/// A batch of actions within one view.
pub(super) struct ItemBatch<'a> {
    /// The draft from which the commit of the batch is built.
    draft: WriteDraft<'a>,
    /// Items of the batch by key; the order determines positions in the commit.
    pending: BTreeMap<Bytes, PendingItem>,
    /// One outcome per action so far.
    outcomes: Vec<ActionOutcome>,
    /// Total size of the items that were read, in bytes.
    read: usize,
}

impl<'a> ItemBatch<'a> {
    pub(super) fn new(draft: WriteDraft<'a>) -> Self {
        Self { draft, pending: BTreeMap::new(), outcomes: Vec::new(), read: 0 }
    }

    pub(super) async fn apply_action(
        &mut self,
        write: &ItemWrite,
        writer: &dyn ItemWriter,
    ) -> Result<(), Halt> {
        let key = &write.key.0;
        // Rows are read first, because a read may halt, and a halted action must not have changed
        // anything.
        for ItemKey(key) in write.changed_keys() {
            self.look_up(key).await?;
        }
        let default = self.draft.view.state.record.settings.default;
        let held = self.item_so_far(key);
        // The item after the earlier actions is compared; a version written by this batch has no
        // stamp yet.
        check_version(write.if_match, held.as_ref())?;
        let (body, lifetime) = match (&write.action, &held) {
            (ItemAction::Create(_), Some(_)) => {
                return Err(Error::new(
                    Kind::Exists(ErrorSubject::Document),
                    "the item already exists",
                )
                .into());
            }
            (ItemAction::Create(body) | ItemAction::Upsert(body), _)
            | (ItemAction::Replace(body), Some(_)) => {
                (body.clone(), writer.lifetime_of(default, body.as_ref())?)
            }
            (ItemAction::Move(to, body), Some(_)) => {
                if self.item_so_far(&to.0).is_some() {
                    return Err(Error::new(
                        Kind::Exists(ErrorSubject::Document),
                        "the item already exists",
                    )
                    .into());
                }
                let lifetime = writer.lifetime_of(default, body.as_ref())?;
                self.move_origin(key, &to.0);
                return self.put_item(&to.0, body.clone(), lifetime, false).await;
            }
            (ItemAction::Patch(patch), Some(item)) => patch(item, default)?,
            (ItemAction::Delete, Some(_)) => {
                self.delete_item(key);
                return Ok(());
            }
            (ItemAction::Read, Some(item)) => {
                self.read += item.body.len();
                // A single item is returned regardless of its size.
                if MAX_READ_BYTES < self.read && self.read != item.body.len() {
                    let message = "the items read by the batch are too large";
                    return Err(Error::new(Kind::TooLarge, message).into());
                }
                self.record_outcome(key, false, Some(item.body.clone()), Some(item.clone()), 0);
                return Ok(());
            }
            (
                ItemAction::Replace(_)
                | ItemAction::Move(..)
                | ItemAction::Patch(_)
                | ItemAction::Delete
                | ItemAction::Read,
                None,
            ) => {
                let error =
                    Error::new(Kind::NotFound(ErrorSubject::Document), "the item does not exist");
                return Err(error.into());
            }
        };
        self.put_item(key, body, lifetime, held.is_none()).await
    }

    /// Reads the row of a key unless the batch has already read it.
    async fn look_up(&mut self, key: &Bytes) -> Result<(), Halt> {
        if self.pending.contains_key(key) {
            return Ok(());
        }
        let view = self.draft.view;
        let stored = view.get_row(key).await?;
        // The expired row is the previous image of its expiration event and must not be overwritten
        // before that event is published.
        if stored.is_none() && view.is_unpublished(key).await? {
            return Err(Halt::Unpublished);
        }
        let pending = PendingItem { origin: stored.clone(), stored, written: false, now: None };
        self.pending.insert(key.clone(), pending);
        Ok(())
    }

    /// Records that the item under the key `to` originates from the stored item under `from`.
    fn move_origin(&mut self, from: &Bytes, to: &Bytes) {
        let Some(left) = self.pending.get_mut(from) else { return };
        left.written = true;
        left.now = None;
        let origin = left.origin.take();
        if let Some(pending) = self.pending.get_mut(to) {
            pending.origin = origin;
        }
    }

    /// Returns the item after the actions so far; if they wrote it, it has no stamp yet.
    fn item_so_far(&self, key: &Bytes) -> Option<Item> {
        let pending = self.pending.get(key)?;
        if !pending.written {
            return pending.stored.clone().map(Item::from_row);
        }
        let new = pending.now.as_ref()?;
        let body = new.body.clone().into_bytes();
        let creation_stamp = pending.creation_stamp().unwrap_or(0);
        Some(Item { key: key.clone(), body, stamp: 0, creation_stamp, ts: 0 })
    }

    async fn put_item(
        &mut self,
        key: &Bytes,
        body: DocBuf,
        lifetime: Lifetime,
        created: bool,
    ) -> Result<(), Halt> {
        let entries = self.draft.entries_of(body.as_ref(), key)?;
        self.check_unique(key, &entries, body.as_ref()).await?;
        let (bytes, count) = (body.clone().into_bytes(), entries.len());
        if let Some(pending) = self.pending.get_mut(key) {
            pending.written = true;
            pending.now = Some(NewVersion { body, lifetime, entries });
        }
        self.record_outcome(key, created, Some(bytes), None, count);
        Ok(())
    }

    fn delete_item(&mut self, key: &Bytes) {
        if let Some(pending) = self.pending.get_mut(key) {
            pending.written = true;
            pending.origin = None;
            pending.now = None;
        }
        self.record_outcome(key, false, None, None, 0);
    }

    /// Records the outcome of an action.
    fn record_outcome(
        &mut self,
        key: &Bytes,
        created: bool,
        body: Option<Bytes>,
        read: Option<Item>,
        entries: usize,
    ) {
        let creation_stamp = self.pending.get(key).and_then(PendingItem::creation_stamp);
        let (key, position) = (key.clone(), 0);
        self.outcomes.push(ActionOutcome {
            key,
            created,
            body,
            read,
            creation_stamp,
            position,
            entries,
        });
    }

    /// Fails if another live item, after the actions so far, has the same unique value.
    async fn check_unique(
        &self,
        key: &Bytes,
        entries: &DocumentEntries,
        document: DocRef<'_>,
    ) -> Result<(), Halt> {
        for unique in &entries.unique {
            // A value may be claimed by an item of this batch that is not stored yet.
            let others = self.pending.iter().filter(|(other, _)| *other != key);
            let mut claims = others.filter_map(|(_, pending)| pending.now.as_ref());
            let claimed = claims.any(|new| new.entries.unique.contains(unique));
            let index = self.draft.unique_index(unique);
            let Some(index) = index else { continue };
            let held = self.draft.view.unique_entry(index, unique).await?;
            let held = held.is_some_and(|held| {
                // If this batch rewrites the stored item that has the value, the item's new entries
                // are among the claims.
                let rewritten = |pending: &PendingItem| pending.written;
                held.row_key != *key && !self.pending.get(&held.row_key).is_some_and(rewritten)
            });
            if claimed || held {
                return Err(crate::index::duplicate_value(index, document).into());
            }
        }
        Ok(())
    }

    /// Returns the commit of all actions; `None` if they only read.
    pub(super) async fn into_commit(self) -> Result<(Option<Commit>, ActionOutcomes), Halt> {
        let Self { draft, pending, outcomes, read: _ } = self;
        let outcomes = ActionOutcomes(outcomes);
        if !pending.values().any(|pending| pending.written) {
            return Ok((None, outcomes));
        }
        let mut commits = Vec::with_capacity(pending.len());
        let outcomes = outcomes.with_positions(&pending);
        let moved = moved_keys(&pending);
        for (position, (key, pending)) in pending.into_iter().enumerate() {
            let PendingItem { stored, written, origin, now } = pending;
            // The item was only read, or created and deleted again: nothing is written, but the
            // commit has to depend on its version.
            if !written || (stored.is_none() && now.is_none()) {
                commits.push(unchanged_commit(&draft, &key, stored, written));
                continue;
            }
            // The row of a moved item is handled with the write of its new key.
            let own = stored.filter(|_| !moved.contains(&key));
            let (previous, gone) = match (origin, own) {
                (Some(origin), Some(own)) if origin.key == own.key => (Some(own), None),
                (Some(origin), own) => (Some(origin), own),
                (None, own) => (None, own),
            };
            let gone = match gone {
                Some(row) => Some(draft.previous_version(row).await?),
                None => None,
            };
            let Some(NewVersion { body, lifetime, entries }) = now else {
                commits.extend(gone.map(|gone| draft.remove_document(gone)));
                continue;
            };
            let previous = match previous {
                Some(row) => {
                    // Deletes the stored row of another item, which was moved away from this key.
                    commits.extend(gone.map(|gone| draft.remove_document(gone)));
                    Some(draft.previous_version(row).await?)
                }
                // The new item in place of a deleted one gets a creation stamp of its own.
                None => gone.map(PreviousVersion::without_creation_stamp),
            };
            let position = Some(position);
            commits.push(draft.put_checked(key, body, lifetime, previous, entries, position)?);
        }
        Ok((Some(merge_commits(commits)), outcomes))
    }
}

/// Returns keys whose stored rows belong to items that were moved to another key.
fn moved_keys(pending: &BTreeMap<Bytes, PendingItem>) -> HashSet<Bytes> {
    let origins = pending.iter().filter_map(|(key, pending)| Some((key, pending.origin.as_ref()?)));
    origins.filter(|(key, row)| row.key != *key).map(|(_, row)| row.key.clone()).collect()
}

/// Returns a commit that writes nothing and requires that the key was not changed.
fn unchanged_commit(
    draft: &WriteDraft<'_>,
    key: &Bytes,
    stored: Option<Row>,
    written: bool,
) -> Commit {
    let mut conditions = draft.row_conditions(key);
    conditions.extend(stored.map(|row| Condition::Before(row.expires_at.ms)));
    let id = draft.view.collection.id;
    // A created and deleted item counts as a change although it leaves no other trace.
    Commit::new(conditions, move |stamp| {
        written.then(|| put_last_change(id, stamp.seq)).into_iter().collect()
    })
}

/// Merges several commits into one. A key that one deletes and another puts is put.
fn merge_commits(commits: Vec<Commit>) -> Commit {
    if commits.len() == 1 {
        return as_one(commits, None);
    }
    let Commit { conditions, write, fence, frees } = as_one(commits, None);
    let write = Box::new(move |stamp: Stamp| {
        let mut out = write(stamp);
        // For example, an item moves to the key of a deleted one, or takes its unique value.
        let put: HashSet<(Space, Bytes)> = out
            .iter()
            .filter_map(|mutation| match mutation {
                Mutation::Put { space, key, .. } => Some((*space, key.clone())),
                _ => None,
            })
            .collect();
        out.retain(|mutation| match mutation {
            Mutation::Delete { space, key } => !put.contains(&(*space, key.clone())),
            _ => true,
        });
        number_events(&mut out, stamp.seq);
        out
    });
    Commit { conditions, write, fence, frees }
}

/// Numbers the events of a commit consecutively; each was recorded with position 0.
fn number_events(out: &mut [Mutation], stamp: u64) {
    let first = keys::event(stamp, 0);
    let mut positions = 0_u32..;
    for mutation in out {
        if let Mutation::Put { key, .. } = mutation
            && *key == first
            && let Some(position) = positions.next()
        {
            *key = keys::event(stamp, position);
        }
    }
}

/// Fails if the stored item does not have the version that the action requires.
fn check_version(wanted: VersionMatch, held: Option<&Item>) -> Result<(), Error> {
    // A missing item is handled by the action itself.
    if held.is_none_or(|item| wanted.matches_stamp(item.stamp)) {
        return Ok(());
    }
    Err(Error::new(Kind::Precondition, "the item has a different version"))
}
