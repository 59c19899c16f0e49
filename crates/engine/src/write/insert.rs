//! Inserts: a new document takes the place of an expired one, and only of an expired one.
//!
//! A list of documents goes in rounds. Each round opens a view, builds a commit for each document
//! and sends all of them at once; what was refused (another writer came first) is tried again in
//! the next round, in which a live document under the id is then a duplicate.
//!
//! In an ordered list nothing may take effect after a failure, although all commits are sent
//! together. So each has the condition that the one before it was not refused, and building stops
//! at the first document that cannot be inserted.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, DocRef, Document};
use expiry::Lifetime;
use store::{Commit, Condition, Outcome, Space, Store};

use super::{Effect, Receipts, WriteDraft, draft::row_key};
use crate::{
    attempts::Attempts,
    catalog::{Collection, ListOrdering},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{COMMITS_AT_ONCE, UNIT_BYTES},
    view::LiveView,
};

/// What became of a list of inserts.
#[derive(Debug, Default)]
pub struct Inserted {
    /// How many documents are in.
    pub count: usize,
    /// Failures by position; at most one when the list is ordered.
    pub failed: Vec<(usize, Error)>,
}

/// A document that is inserted.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// With its id.
    pub document: DocBuf,
    /// What it asks for its life.
    pub lifetime: Lifetime,
    /// The second since 1970 that it was written in, when that was before: its life is counted from
    /// there. One that has expired by then is never seen.
    pub since: Option<i64>,
}

/// What a round of inserts goes by.
struct Round<'a> {
    ordered: bool,
    /// Of all documents of the round, which become one commit then.
    receipts: Option<&'a dyn Receipts>,
    /// Keys that the commits of the round depend on, where they become one.
    claimed: HashSet<(Space, Bytes)>,
    /// Bytes of its documents.
    bytes: usize,
}

impl<'a> Round<'a> {
    fn new(ordering: ListOrdering, receipts: Option<&'a dyn Receipts>) -> Self {
        let ordered = ordering == ListOrdering::Ordered;
        Self { ordered, receipts, claimed: HashSet::new(), bytes: 0 }
    }

    /// Whether the next document is left to another round.
    fn is_full(&self) -> bool {
        self.receipts.is_some() && UNIT_BYTES <= self.bytes
    }

    /// Takes a commit into the round. Where all become one commit, one that depends on the same key
    /// as another, such as that of a unique value, is left to the next round: there it sees what the
    /// other has written.
    fn admit(&mut self, commit: Commit, bytes: usize) -> Result<Commit, Halt> {
        if self.receipts.is_some() {
            let keys = commit.conditions.iter().filter_map(|condition| match condition {
                Condition::NotNewer { space: Space::Catalog, .. } => None,
                Condition::NotNewer { space, key, .. } => Some((*space, key.clone())),
                _ => None,
            });
            let keys: Vec<_> = keys.collect();
            if keys.iter().any(|key| self.claimed.contains(key)) {
                return Err(Halt::LookAgain);
            }
            self.claimed.extend(keys);
            self.bytes += bytes;
        }
        Ok(commit)
    }
}

impl<S: Store> Engine<S> {
    /// Inserts documents that carry an id, each with the lifetime its door reads from it.
    pub async fn insert(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<(DocBuf, Lifetime)>,
        ordering: ListOrdering,
    ) -> Result<Inserted, Error> {
        let new = |(document, lifetime)| NewDocument { document, lifetime, since: None };
        let documents = documents.into_iter().map(new).collect();
        self.insert_since(collection, documents, ordering, None).await
    }

    /// The same for documents of which some were written before: their lives go on. With receipts
    /// the documents of a round are one commit.
    pub async fn insert_since(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<NewDocument>,
        ordering: ListOrdering,
        receipts: Option<&dyn Receipts>,
    ) -> Result<Inserted, Error> {
        let mut out = Inserted::default();
        let mut waiting: Vec<(usize, NewDocument)> = documents.into_iter().enumerate().collect();
        let mut attempts = Attempts::to_write();
        while !waiting.is_empty() {
            attempts.begin_next()?;
            // A round has at most this many, so that the committer takes them in one batch.
            let rest = waiting.split_off(waiting.len().min(COMMITS_AT_ONCE));
            let round = Round::new(ordering, receipts);
            let mut refused = self.insert_some(collection, waiting, round, &mut out).await?;
            if ordering == ListOrdering::Ordered && !out.failed.is_empty() {
                return Ok(out);
            }
            refused.extend(rest);
            waiting = refused;
        }
        out.failed.sort_by_key(|(at, _)| *at);
        Ok(out)
    }

    /// One round: what could be built is committed, what was refused comes back.
    async fn insert_some(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<(usize, NewDocument)>,
        mut round: Round<'_>,
        out: &mut Inserted,
    ) -> Result<Vec<(usize, NewDocument)>, Error> {
        let view = self.view(collection).await?;
        let ordered = round.ordered;
        let mut commits: Vec<Commit> = Vec::with_capacity(documents.len());
        let mut sent = Vec::with_capacity(documents.len());
        let mut again = Vec::new();
        // The document that an ordered list stopped at.
        let mut stopped = None;
        // Two documents of one round may have the same id; the second waits for the outcome of the
        // first.
        let mut taken: HashSet<Bytes> = HashSet::with_capacity(documents.len());
        let mut documents = documents.into_iter();
        while let Some((at, new)) = documents.next() {
            let key = row_key(new.document.as_ref())?;
            let built = if taken.insert(key.clone()) && !round.is_full() {
                let built = self.insert_commit(&view, key, new.clone()).await;
                built.and_then(|commit| round.admit(commit, new.document.bytes().len()))
            } else {
                Err(Halt::LookAgain)
            };
            match built {
                Ok(mut commit) => {
                    if ordered && round.receipts.is_none() && !commits.is_empty() {
                        // A refused commit takes all after it along; they come again in their
                        // order.
                        commit.conditions.push(Condition::AfterPrevious);
                    }
                    commits.push(commit);
                    sent.push((at, new));
                }
                Err(Halt::Failed(error)) => {
                    out.failed.push((at, error));
                    if ordered {
                        stopped = Some((at, new));
                        break;
                    }
                }
                // Resolved at once, so that the next round can go on; the document comes again.
                Err(halt) => {
                    self.resolve(&view, halt).await?;
                    again.push((at, new));
                    if ordered {
                        again.extend(documents.by_ref());
                        break;
                    }
                }
            }
        }
        // What is reaped need not wait for the disk together with this commit.
        drop(view);
        let mut refused = self.commit_round(commits, sent, round.receipts, out).await?;
        if ordered && !refused.is_empty() {
            // What failed after a refused document was decided too early, and comes again.
            for (at, error) in std::mem::take(&mut out.failed) {
                debug_assert!(refused.iter().all(|(before, ..)| *before < at), "{error}");
            }
            refused.extend(stopped);
            refused.extend(again);
            refused.extend(documents);
            return Ok(refused);
        }
        refused.extend(again);
        Ok(refused)
    }

    /// Commits what a round has built. Returns the documents whose commits were refused, in order.
    async fn commit_round(
        &self,
        commits: Vec<Commit>,
        sent: Vec<(usize, NewDocument)>,
        receipts: Option<&dyn Receipts>,
        out: &mut Inserted,
    ) -> Result<Vec<(usize, NewDocument)>, Error> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        if receipts.is_some() {
            let places: Vec<usize> = sent.iter().map(|(at, _)| *at).collect();
            let effect = Effect::Inserted(&places);
            if self.commit_with(commits, receipts, effect).await?.is_none() {
                return Ok(sent);
            }
            out.count += places.len();
            return Ok(Vec::new());
        }
        let mut refused = Vec::new();
        for (outcome, document) in self.inner.store().commit(commits).await?.into_iter().zip(sent) {
            match outcome {
                Outcome::Committed(_) => out.count += 1,
                Outcome::Refused(_) => refused.push(document),
            }
        }
        Ok(refused)
    }

    /// The commit of one insert; a duplicate when a live document has the id.
    async fn insert_commit(
        &self,
        view: &LiveView<S>,
        key: Bytes,
        new: NewDocument,
    ) -> Result<Commit, Halt> {
        let NewDocument { document, lifetime, since } = new;
        if view.get_row(&key).await?.is_some() {
            return Err(duplicate_id(document.as_ref()).into());
        }
        WriteDraft { since, ..WriteDraft::of(view) }
            .put_document(key, document, lifetime, None)
            .await
    }
}

/// The failure of an insert whose id is taken.
pub(super) fn duplicate_id(document: DocRef<'_>) -> Error {
    let mut value = Document::new();
    if let Some(id) = document.get("_id") {
        value.push("_id", id);
    }
    let mut pattern = Document::new();
    pattern.push("_id", 1);
    let kind = Kind::DuplicateKey { index: "_id_".to_owned(), pattern, value };
    // An API that shows duplicates has a text of its own, made of what the kind holds.
    Error::new(kind, "the id is taken")
}
