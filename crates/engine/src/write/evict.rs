//! Eviction from capped collections: an insert that exceeds a limit deletes the oldest documents in
//! its own commit.
//!
//! The amounts that decide are those of live documents at the instant of the writer's view.
//! Expired documents count towards no limit and are not evicted. Every commit that inserts writes
//! the key of the newest evicted document and requires that it is unchanged since its view, so that
//! two inserts never fill the same space: one of them is refused and looks again. Deletes and
//! updates do not take part; an update that enlarges a document may exceed the limit until the next
//! insert.

use std::sync::Arc;

use bytes::Bytes;
use document::DocBuf;
use expiry::Lifetime;
use store::{Commit, Condition, KeyRange, Space};

use super::{WriteDraft, as_one};
use crate::{
    amount::Amount,
    attempts::Attempts,
    catalog::{Capped, Collection, IndexSpec, put_evicted},
    engine::Engine,
    error::{Error, Halt, Kind},
    keys,
    limits::{EVICTED_AT_ONCE, UNIT_BYTES},
    view::Pages,
};

/// The commit that evicts documents, and whether it makes all the room that is needed.
struct Eviction {
    commit: Commit,
    complete: bool,
    /// Number of documents that the commit evicts.
    documents: usize,
}

impl WriteDraft<'_> {
    /// Returns the commit that makes room for new documents in a capped collection, to be made
    /// together with their inserts; `None` if the collection is not capped.
    ///
    /// # Errors
    ///
    /// [`Halt::NeedsRoom`] if more documents have to be evicted than one commit may delete.
    pub(super) async fn make_room(&self, new: Amount) -> Result<Option<Commit>, Halt> {
        let Some((capped, order)) = self.limits() else { return Ok(None) };
        let eviction = self.evict(capped, order, new).await?;
        if eviction.complete { Ok(Some(eviction.commit)) } else { Err(Halt::NeedsRoom(new)) }
    }

    /// Returns the commits that insert one document, to be made as one: in a capped collection they
    /// evict the documents that make room for it.
    pub(super) async fn insert_with_room(
        &self,
        key: Bytes,
        document: DocBuf,
        lifetime: Lifetime,
    ) -> Result<Vec<Commit>, Halt> {
        let size = Amount::of_body(document.bytes());
        if let Some(capped) = self.view.state.record.capped
            && !capped.admits(Amount { documents: 0, ..size })
        {
            return Err(exceeds_capped().into());
        }
        let commit = self.put_document(key, document, lifetime, None).await?;
        let room = self.make_room(size).await?;
        Ok([Some(commit), room].into_iter().flatten().collect())
    }

    /// Returns the limits of the collection and the index by which it evicts.
    fn limits(&self) -> Option<(Capped, &IndexSpec)> {
        let record = &self.view.state.record;
        record.capped.zip(record.insertion_order())
    }

    /// Returns the commit that evicts the oldest documents, as many as have to make room and one
    /// commit may delete.
    async fn evict(
        &self,
        capped: Capped,
        order: &IndexSpec,
        new: Amount,
    ) -> Result<Eviction, Halt> {
        let collection = self.view.collection.id;
        let key = keys::evicted(collection);
        let [newest, _] = self.view.counters().amounts_under(&key).await?;
        let mut newest = u64::try_from(newest).unwrap_or(0);
        let mut left = self.view.count_live().await?.plus(new);
        let mut commits = Vec::new();
        let (mut bytes, mut complete) = (0, true);
        // No document up to the newest evicted one exists, and skipping deleted entries takes time.
        let start = keys::insertion_after(order.id, newest);
        let range = KeyRange { start, ..KeyRange::with_prefix(&keys::index_prefix(order.id)) };
        let mut pages = Pages::of(range).growing_slowly();
        'pages: while !capped.admits(left) {
            let Some(page) = self.view.next_entries(order, &mut pages).await? else { break };
            for entry in page.items {
                if capped.admits(left) {
                    break 'pages;
                }
                if EVICTED_AT_ONCE <= commits.len() || UNIT_BYTES <= bytes {
                    complete = false;
                    break 'pages;
                }
                let row = self.view.row_of(&entry).await?;
                bytes += row.value.len();
                left = left.minus(Amount::of_body(row.body()));
                newest = newest.max(row.creation_stamp);
                commits.push(self.remove_document(self.previous_version(row).await?));
            }
        }
        let documents = commits.len();
        commits.push(self.evicted_commit(collection, key, newest));
        Ok(Eviction { commit: as_one(commits, self.view.log().cloned()), complete, documents })
    }

    /// Returns the commit that records the newest evicted document, and that another insert since
    /// the view refuses.
    fn evicted_commit(&self, collection: u32, key: Bytes, newest: u64) -> Commit {
        let condition = Condition::NotNewer { space: Space::Counts, key, seq: self.view.seq };
        Commit::new(vec![condition], move |_| vec![put_evicted(collection, newest)])
    }
}

impl Engine {
    /// Evicts documents of a capped collection in as many commits as it takes, until `new` fits.
    pub(crate) async fn make_more_room(
        &self,
        collection: &Arc<Collection>,
        new: Amount,
    ) -> Result<(), Error> {
        let mut attempts = Attempts::to_write();
        loop {
            attempts.begin_next()?;
            let view = self.view(collection).await?;
            let draft = WriteDraft::of(&view);
            let Some((capped, order)) = draft.limits() else { return Ok(()) };
            let eviction = match draft.evict(capped, order, new).await {
                Ok(eviction) => eviction,
                // Boxed, because resolving may call this function.
                Err(halt) => {
                    Box::pin(self.resolve(&view, halt, &mut attempts)).await?;
                    continue;
                }
            };
            drop(view);
            if eviction.documents == 0 {
                return Ok(());
            }
            // Deletes free space, so they are accepted on a full disk.
            let committed = self.commit_one(eviction.commit.freeing()).await?;
            if committed.is_some() && eviction.complete {
                return Ok(());
            }
            if committed.is_some() {
                attempts.start_over();
            }
        }
    }
}

/// Returns the error of a document that is larger than a capped collection may be.
pub(super) fn exceeds_capped() -> Error {
    Error::new(Kind::ExceedsCapped, "the document is larger than the limit of the collection")
}
