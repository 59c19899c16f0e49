//! Inserts into a capped collection. The documents of a list are committed together, as far as they
//! fit into the collection at once, with the eviction of the documents that make room for them.
//!
//! Inserts and upserts take turns: their commits would refuse each other, since each depends on the
//! amount of documents that the other leaves (`evict.rs`). The conditions of the commits, not the
//! turns, guarantee the limits.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use evaluation::Context;
use store::{Commit, Condition, Space};

use super::{
    Effect, Inserted, NewDocument, Receipts, WriteDraft, draft::row_key, evict::exceeds_capped,
    insert::duplicate_id, intent_waits::OnIntent,
};
use crate::{
    amount::Amount,
    attempts::Attempts,
    catalog::{Capped, Collection, ListOrdering, RuleContext},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{MAX_BATCH, UNIT_BYTES},
};

/// The documents of a list that are inserted by one commit.
#[derive(Default)]
struct Round {
    commits: Vec<Commit>,
    amount: Amount,
    /// The documents that the round inserts or rejects, each with its position in the list; the
    /// error is present if the document is rejected.
    decided: Vec<(usize, NewDocument, Option<Error>)>,
    /// Keys that the documents of the round depend on.
    claimed: HashSet<(Space, Bytes)>,
}

impl Round {
    /// Returns whether the next document of this size has to wait for the next round.
    fn is_full(&self, capped: Capped, next: Amount) -> bool {
        let total = self.amount.plus(next);
        let is_large = i64::try_from(UNIT_BYTES).is_ok_and(|most| most < total.bytes);
        !self.commits.is_empty()
            && (MAX_BATCH <= self.commits.len() || is_large || !capped.admits(total))
    }

    /// Adds the commit of a document unless it depends on a key of another one, such as the id or a
    /// unique value. Returns whether it was added.
    fn admit(&mut self, commit: Commit, size: Amount) -> bool {
        let keys = commit.conditions.iter().filter_map(|condition| match condition {
            Condition::NotNewer { space: Space::Catalog, .. } => None,
            Condition::NotNewer { space, key, .. } => Some((*space, key.clone())),
            _ => None,
        });
        let keys: Vec<_> = keys.collect();
        if keys.iter().any(|key| self.claimed.contains(key)) {
            return false;
        }
        self.claimed.extend(keys);
        self.commits.push(commit);
        self.amount = self.amount.plus(size);
        true
    }
}

impl Engine {
    /// Inserts documents into a capped collection, in the order of the list. The receipts of
    /// documents that are inserted together are in their commit.
    pub(super) async fn insert_capped(
        &self,
        collection: &Arc<Collection>,
        documents: Vec<NewDocument>,
        ordering: ListOrdering,
        (receipts, rule): (Option<&dyn Receipts>, Option<&dyn RuleContext>),
    ) -> Result<Inserted, Error> {
        let mut out = Inserted::default();
        let mut waiting: VecDeque<(usize, NewDocument)> =
            documents.into_iter().enumerate().collect();
        let mut attempts = Attempts::to_write();
        // An insert waits for the inserts before it only, so it needs no time limit.
        let unlimited = Context::default();
        while !waiting.is_empty() {
            attempts.begin_next()?;
            let _turn = collection.insertions.wait(1, &unlimited).await?;
            let before = waiting.len();
            let with = (receipts, rule);
            self.insert_round(collection, &mut waiting, ordering, with, &mut out, &mut attempts)
                .await?;
            if ordering == ListOrdering::Ordered && !out.failed.is_empty() {
                return Ok(out);
            }
            if waiting.len() < before {
                attempts.start_over();
            }
        }
        Ok(out)
    }

    /// Inserts documents from the front of `waiting` in one commit. Documents that must be tried
    /// again remain in `waiting`.
    async fn insert_round(
        &self,
        collection: &Arc<Collection>,
        waiting: &mut VecDeque<(usize, NewDocument)>,
        ordering: ListOrdering,
        (receipts, rule): (Option<&dyn Receipts>, Option<&dyn RuleContext>),
        out: &mut Inserted,
        attempts: &mut Attempts,
    ) -> Result<(), Error> {
        let view = self.view(collection).await?;
        let draft = WriteDraft::of(&view);
        let mut round = Round::default();
        let halted = draft.fill_round(&mut round, waiting, ordering, rule).await;
        let room = match round.commits.is_empty() {
            true => Ok(None),
            false => draft.make_room(round.amount).await,
        };
        let room = match (halted, room) {
            (Ok(()), Ok(room)) => room,
            (Err(halt), _) | (_, Err(halt)) => {
                put_back(round, waiting);
                return self.resolve(&view, halt, attempts).await;
            }
        };
        // Closed first, so that reaping need not wait for this commit.
        drop(view);
        let commits: Vec<Commit> = round.commits.drain(..).chain(room).collect();
        if !commits.is_empty() {
            let inserted = round.decided.iter().filter(|(.., error)| error.is_none());
            let places: Vec<usize> = inserted.map(|(at, ..)| *at).collect();
            let effect = Effect::Inserted(&places);
            // Transactions cannot write to capped collections, so there are no intents.
            let done = self.commit_with(commits, receipts, effect, OnIntent::Refuse).await?;
            if done.is_none() {
                put_back(round, waiting);
                return Ok(());
            }
        }
        for (at, _, error) in round.decided {
            match error {
                None => out.count += 1,
                Some(error) => out.failed.push((at, error)),
            }
        }
        collection.wake_readers();
        Ok(())
    }
}

/// Returns the documents of a round that was not committed to the front of `waiting`. Their errors
/// are discarded, since they may be due to changes that the view did not show yet.
fn put_back(round: Round, waiting: &mut VecDeque<(usize, NewDocument)>) {
    for (at, new, _) in round.decided.into_iter().rev() {
        waiting.push_front((at, new));
    }
}

impl WriteDraft<'_> {
    /// Moves documents from the front of `waiting` into the round, and builds their commits. It
    /// stops when the round is full, when a document depends on a key that the round already
    /// writes, or, for an ordered list, when a document fails.
    ///
    /// # Errors
    ///
    /// The [`Halt`] of the document whose commit cannot be built in this view. The document is
    /// returned to the front of `waiting`.
    async fn fill_round(
        &self,
        round: &mut Round,
        waiting: &mut VecDeque<(usize, NewDocument)>,
        ordering: ListOrdering,
        rule: Option<&dyn RuleContext>,
    ) -> Result<(), Halt> {
        let Some(capped) = self.view.state.record.capped else { return Ok(()) };
        while let Some((at, new)) = waiting.pop_front() {
            let size = Amount::of_body(new.document.bytes());
            if round.is_full(capped, size) {
                waiting.push_front((at, new));
                return Ok(());
            }
            let draft = Self { since: new.since, ..WriteDraft::of(self.view) };
            let built = draft.capped_commit(capped, new.clone(), rule, round.commits.len()).await;
            match built {
                Ok(commit) => {
                    if !round.admit(commit, size) {
                        waiting.push_front((at, new));
                        return Ok(());
                    }
                    round.decided.push((at, new, None));
                }
                Err(Halt::Failed(error)) if error.kind != Kind::ViewEnded => {
                    round.decided.push((at, new, Some(error)));
                    if ordering == ListOrdering::Ordered {
                        return Ok(());
                    }
                }
                Err(halt) => {
                    waiting.push_front((at, new));
                    return Err(halt);
                }
            }
        }
        Ok(())
    }

    /// Returns the commit of one insert, without the eviction that makes room for it. `position` is
    /// its place among the inserts of the same commit.
    async fn capped_commit(
        &self,
        capped: Capped,
        new: NewDocument,
        rule: Option<&dyn RuleContext>,
        position: usize,
    ) -> Result<Commit, Halt> {
        let NewDocument { document, lifetime, .. } = new;
        if !capped.admits(Amount { documents: 0, ..Amount::of_body(document.bytes()) }) {
            return Err(exceeds_capped().into());
        }
        self.check_rule(rule, document.as_ref(), None).await?;
        let key = row_key(document.as_ref())?;
        if self.view.get_row(&key).await?.is_some() {
            return Err(duplicate_id(document.as_ref()).into());
        }
        let entries = self.entries_of(document.as_ref(), &key)?;
        self.check_told(&key, None).await?;
        self.check_unique(&entries, document.as_ref(), &key).await?;
        self.put_checked(key, document, lifetime, None, entries, Some(position))
    }
}
