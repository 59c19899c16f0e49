//! Inserts: a new document may replace an expired one, but not a live one.
//!
//! A list of documents is processed in rounds. Each round opens a view, builds a commit per
//! document and submits all of them together; a refused one (another writer came first) is retried
//! in the next round, where a live document with the id is a duplicate.
//!
//! In an ordered list nothing may take effect after a failure although all commits are submitted
//! together. Each commit is therefore conditional on the previous one, and building stops at the
//! first document that cannot be inserted.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, DocRef, Document};
use expiry::Lifetime;
use store::{Commit, Condition, Outcome, Space};

use super::{Effect, Receipts, WriteDraft, draft::row_key, intent_waits::OnIntent};
use crate::{
    attempts::Attempts,
    catalog::{Collection, ListOrdering, RuleContext},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{COMMITS_AT_ONCE, UNIT_BYTES},
    view::{LiveView, check_not_capped},
};

/// The result of a list of inserts.
#[derive(Debug, Default)]
pub struct Inserted {
    /// Number of documents that were inserted.
    pub count: usize,
    /// Failures by position in the list; an ordered list has at most one.
    pub failed: Vec<(usize, Error)>,
}

/// A document to be inserted.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// The document, including its id.
    pub document: DocBuf,
    /// Lifetime that the document's `ttl` requests.
    pub lifetime: Lifetime,
    /// Second since 1970 of an earlier write from which the document's lifetime counts; `None` for
    /// a new document. A document whose lifetime has ended already is never visible.
    pub since: Option<i64>,
}

/// Inserts that are committed together, up to a total size.
struct InsertBatch<'a> {
    ordered: bool,
    /// Provides the receipts of the inserted documents; if set, all documents of the batch and
    /// their receipts form one commit.
    receipts: Option<&'a dyn Receipts>,
    /// The context in which the documents are checked; `None` skips the check.
    rule: Option<&'a dyn RuleContext>,
    /// Keys that the batch's writes change or depend on; used only if the writes form one commit.
    claimed: HashSet<(Space, Bytes)>,
    /// Total size in bytes of the documents in the batch.
    bytes: usize,
}

impl<'a> InsertBatch<'a> {
    fn new(
        ordering: ListOrdering,
        receipts: Option<&'a dyn Receipts>,
        rule: Option<&'a dyn RuleContext>,
    ) -> Self {
        let ordered = ordering == ListOrdering::Ordered;
        Self { ordered, receipts, rule, claimed: HashSet::new(), bytes: 0 }
    }

    /// Returns whether the next document has to wait for the next batch.
    fn is_full(&self) -> bool {
        self.receipts.is_some() && UNIT_BYTES <= self.bytes
    }

    /// Adds a commit to the batch. If the batch forms one commit, halts for a commit that depends
    /// on the same key as another one, such as a unique value: it is left to the next batch, in
    /// which the other's writes are visible.
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

impl Engine {
    /// Inserts documents that have ids, each with the lifetime determined by the API. They are not
    /// checked against the collection's rule.
    pub async fn insert(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<(DocBuf, Lifetime)>,
        ordering: ListOrdering,
    ) -> Result<Inserted, Error> {
        let new = |(document, lifetime)| NewDocument { document, lifetime, since: None };
        let documents = documents.into_iter().map(new).collect();
        self.insert_since(collection, documents, ordering, None, None).await
    }

    /// Inserts documents, some of which may have been written earlier and keep their lifetimes.
    /// With receipts, documents that are inserted together form one commit. They are checked
    /// against the collection's rule if `rule` provides a context.
    pub async fn insert_since(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<NewDocument>,
        ordering: ListOrdering,
        receipts: Option<&dyn Receipts>,
        rule: Option<&dyn RuleContext>,
    ) -> Result<Inserted, Error> {
        if collection.state().record.capped.is_some() {
            if self.transaction.is_some() {
                check_not_capped(collection)?;
            }
            return self.insert_capped(collection, documents, ordering, (receipts, rule)).await;
        }
        let mut out = Inserted::default();
        let mut waiting: Vec<(usize, NewDocument)> = documents.into_iter().enumerate().collect();
        let mut attempts = Attempts::to_write();
        while !waiting.is_empty() {
            attempts.begin_next()?;
            // The round is limited, so that the store commits it in one batch.
            let rest = waiting.split_off(waiting.len().min(COMMITS_AT_ONCE));
            let batch = InsertBatch::new(ordering, receipts, rule);
            let mut refused =
                self.insert_some(collection, waiting, batch, &mut out, &mut attempts).await?;
            if ordering == ListOrdering::Ordered && !out.failed.is_empty() {
                return Ok(out);
            }
            refused.extend(rest);
            waiting = refused;
        }
        out.failed.sort_by_key(|(at, _)| *at);
        Ok(out)
    }

    /// Inserts documents in one view and returns the rest, which must be inserted again in a new
    /// view, such as documents whose commit was refused.
    async fn insert_some(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<(usize, NewDocument)>,
        mut batch: InsertBatch<'_>,
        out: &mut Inserted,
        attempts: &mut Attempts,
    ) -> Result<Vec<(usize, NewDocument)>, Error> {
        let view = self.view(collection).await?;
        let ordered = batch.ordered;
        let mut commits: Vec<Commit> = Vec::with_capacity(documents.len());
        let mut sent = Vec::with_capacity(documents.len());
        let mut again = Vec::new();
        // The document at which an ordered list stopped.
        let mut stopped = None;
        // Documents of a round may have the same id; the second waits for the first one's outcome.
        let mut taken: HashSet<Bytes> = HashSet::with_capacity(documents.len());
        let mut documents = documents.into_iter();
        while let Some((at, new)) = documents.next() {
            let key = row_key(new.document.as_ref())?;
            let built = if taken.insert(key.clone()) && !batch.is_full() {
                let built = self.insert_commit(&view, key, new.clone(), batch.rule).await;
                built.and_then(|commit| batch.admit(commit, new.document.bytes().len()))
            } else {
                Err(Halt::LookAgain)
            };
            match built {
                Ok(mut commit) => {
                    if ordered && batch.receipts.is_none() && !commits.is_empty() {
                        // A refused commit also refuses all later ones, which are retried in order.
                        commit.conditions.push(Condition::AfterPrevious);
                    }
                    commits.push(commit);
                    sent.push((at, new));
                }
                Err(Halt::Failed(error)) if error.kind != Kind::ViewEnded => {
                    out.failed.push((at, error));
                    if ordered {
                        stopped = Some((at, new));
                        break;
                    }
                }
                // The reason of the halt is resolved at once, so that the next round can retry the
                // document.
                Err(halt) => {
                    self.resolve(&view, halt, attempts).await?;
                    again.push((at, new));
                    if ordered {
                        again.extend(documents.by_ref());
                        break;
                    }
                }
            }
        }
        // Closed first, so that reaping need not wait for this commit.
        drop(view);
        let mut refused =
            self.commit_round(commits, sent, (batch.receipts, batch.rule), out).await?;
        if ordered && !refused.is_empty() {
            // Failures after a refused document were decided too early and are retried.
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

    /// Submits the commits of the documents `sent`. Returns the documents whose commits were
    /// refused, in order.
    async fn commit_round(
        &self,
        commits: Vec<Commit>,
        sent: Vec<(usize, NewDocument)>,
        (receipts, rule): (Option<&dyn Receipts>, Option<&dyn RuleContext>),
        out: &mut Inserted,
    ) -> Result<Vec<(usize, NewDocument)>, Error> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        // Created only if a transaction has written something.
        let may_wait = !self.inner.intents.is_empty();
        let on_intent = OnIntent::Wait(rule.filter(|_| may_wait).map(RuleContext::context));
        if receipts.is_some() {
            let places: Vec<usize> = sent.iter().map(|(at, _)| *at).collect();
            let effect = Effect::Inserted(&places);
            if self.commit_with(commits, receipts, effect, on_intent).await?.is_none() {
                return Ok(sent);
            }
            out.count += places.len();
            return Ok(Vec::new());
        }
        let mut refused = Vec::new();
        let outcomes = self.commit_writes(commits, on_intent).await?;
        for (outcome, document) in outcomes.into_iter().zip(sent) {
            match outcome {
                Outcome::Committed(_) => out.count += 1,
                Outcome::Refused(_) => refused.push(document),
            }
        }
        Ok(refused)
    }

    /// Returns the commit of one insert; fails if the collection's rule refuses the document or a
    /// live document has the id.
    async fn insert_commit(
        &self,
        view: &LiveView,
        key: Bytes,
        new: NewDocument,
        rule: Option<&dyn RuleContext>,
    ) -> Result<Commit, Halt> {
        let NewDocument { document, lifetime, since } = new;
        let draft = WriteDraft { since, ..WriteDraft::of(view) };
        draft.check_rule(rule, document.as_ref(), None).await?;
        if view.get_row(&key).await?.is_some() {
            return Err(duplicate_id(document.as_ref()).into());
        }
        draft.put_document(key, document, lifetime, None).await
    }
}

/// Returns the error for a document whose id already exists.
pub(super) fn duplicate_id(document: DocRef<'_>) -> Error {
    let mut value = Document::new();
    if let Some(id) = document.get("_id") {
        value.push("_id", id);
    }
    let mut pattern = Document::new();
    pattern.push("_id", 1);
    let kind = Kind::DuplicateKey { index: "_id_".to_owned(), pattern, value };
    // APIs that report duplicates create their own text from the error's kind.
    Error::new(kind, "the id already exists")
}
