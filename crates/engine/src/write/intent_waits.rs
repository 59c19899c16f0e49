//! Commits the writes of an operation: in a transaction they become writes of the transaction, and
//! otherwise they wait for open transactions that have written the same keys.

use evaluation::Context;
use store::{Commit, Condition, Outcome, Refusal, Space, Stamp};

use crate::{engine::Engine, error::Error};

/// Behavior of a write if an open transaction has written one of its keys.
#[derive(Clone, Copy)]
pub(super) enum OnIntent<'a> {
    /// The commit is refused at once.
    Refuse,
    /// The commit is refused when the transaction has ended. The context, if there is one, can stop
    /// the wait.
    Wait(Option<&'a Context>),
}

impl Engine {
    /// Commits writes of documents. A commit that conflicts with an open transaction is refused,
    /// and so are those after it; the caller reads again in a new view, as after any refusal.
    ///
    /// # Errors
    ///
    /// Errors of the store and of the context. In a transaction
    /// [`Kind::Conflict`](crate::error::Kind::Conflict) for a conflict with another writer.
    pub(super) async fn commit_writes(
        &self,
        commits: Vec<Commit>,
        on_intent: OnIntent<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        if let Some(transaction) = &self.transaction {
            return transaction.add(&self.inner.views, commits).await;
        }
        if self.inner.intents.is_empty() {
            return Ok(self.inner.store().commit(commits).await?);
        }
        self.commit_around_intents(commits, on_intent).await
    }

    /// Commits one write; returns its stamp, or `None` if it was refused. See
    /// [`commit_writes`](Self::commit_writes).
    pub(super) async fn commit_write(
        &self,
        commit: Commit,
        on_intent: OnIntent<'_>,
    ) -> Result<Option<Stamp>, Error> {
        match self.commit_writes(vec![commit], on_intent).await?.first() {
            Some(Outcome::Committed(stamp)) => Ok(Some(*stamp)),
            _ => Ok(None),
        }
    }

    /// Commits the writes before the first one that conflicts with an open transaction. If that is
    /// the first of all, waits for the transaction as `on_intent` says.
    async fn commit_around_intents(
        &self,
        mut commits: Vec<Commit>,
        on_intent: OnIntent<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        let intents = &self.inner.intents;
        let now_ms = self.inner.clock().now().await?.ms;
        let holder = |commit: &Commit| {
            let mut keys = written_keys(commit);
            keys.find_map(|(space, key)| intents.holder_of(space, key, now_ms))
        };
        let first = commits.iter().enumerate().find_map(|(at, it)| Some((at, holder(it)?)));
        let Some((at, holder)) = first else {
            return Ok(self.inner.store().commit(commits).await?);
        };
        let refused = commits.len() - at;
        let mut outcomes = Vec::new();
        if 0 < at {
            commits.truncate(at);
            outcomes = self.inner.store().commit(commits).await?;
        } else if let OnIntent::Wait(context) = on_intent {
            let now_ms = || self.inner.clock().try_now().map_or(i64::MIN, |now| now.ms);
            let check = || Ok(context.map_or(Ok(()), |context| context.budget.check())?);
            intents.wait_for(&holder, now_ms, check).await?;
        }
        outcomes.extend(std::iter::repeat_n(Outcome::Refused(Refusal::Newer), refused));
        Ok(outcomes)
    }
}

/// Returns the rows and the unique entries that a commit requires to be unchanged, which include
/// all that transactions take intents for.
fn written_keys(commit: &Commit) -> impl Iterator<Item = (Space, &bytes::Bytes)> {
    commit.conditions.iter().filter_map(|condition| match condition {
        Condition::NotNewer { space: space @ (Space::Rows(_) | Space::Index(_)), key, .. } => {
            Some((*space, key))
        }
        _ => None,
    })
}
