//! Changes of collection records. Each change is a commit in the same total order as all writes.
//! Between the commit's stamp and its publication a fence keeps views of the collection from
//! opening, so that every view has the settings of its instant.
//!
//! ```text
//!  edit(state) --> apply --> commit: condition "the record is unchanged"
//!                               │ stamped: the new record is computed, but not in effect
//!                               ▼
//!                            published: the new state is in effect, counters may start
//! ```
//!
//! The edit runs on the state before the commit is ordered, and the condition ensures that the
//! state is still the same then. If another change was committed first, the commit is refused, and
//! the edit runs again on the new state.

use std::sync::Arc;

use clock::Instant;
use document::Document;
use parking_lot::Mutex;
use store::{Commit, Condition, Mutation, Outcome, Space, Stamp};

use super::Engine;
use crate::{
    attempts::Attempts,
    backfill::Backfill,
    catalog::{
        Collection, CollectionState, Dialect, IndexSpec, PartialFilter, Publication, Record,
        RecordChange, put_record,
    },
    error::{Error, ErrorSubject, Kind},
    keys,
};

/// Computes the change of a collection's record; returns `None` if nothing has to change.
pub(crate) type RecordEdit<T> =
    dyn Fn(&CollectionState) -> Result<Option<(Arc<RecordApply>, T)>, Error> + Send + Sync;

/// A function that applies a change to a record, once the stamp of the commit is known.
pub(crate) type RecordApply = dyn Fn(&mut Record, Stamp) + Send + Sync;

/// The result of an attempt to change a collection's record.
pub(crate) enum ChangeOutcome<T> {
    /// The record was changed; the backfill contains the rows to be counted if the change started
    /// counters.
    Done(T, Option<Backfill>),
    /// The record already has the requested contents, so no commit was made.
    Nothing,
    /// The commit was refused because of a conflict and must be retried.
    Refused,
}

impl Engine {
    /// Makes one commit; returns `None` if it was refused.
    pub(crate) async fn commit_one(&self, commit: Commit) -> Result<Option<Stamp>, Error> {
        match self.inner.store().commit(vec![commit]).await?.first() {
            Some(Outcome::Committed(stamp)) => Ok(Some(*stamp)),
            _ => Ok(None),
        }
    }

    /// Changes a collection's record in one commit. The change takes effect once new views see the
    /// commit. `edit` receives the collection's current state and may leave the record unchanged.
    pub(crate) async fn change_record<T>(
        &self,
        collection: &Arc<Collection>,
        edit: &RecordEdit<T>,
    ) -> Result<Option<T>, Error> {
        Ok(self.change_with_backfill(collection, edit).await?.0)
    }

    /// Applies a change to a collection's record. If the change starts counters of live documents,
    /// returns the backfill that the caller must run to fill them.
    pub(crate) async fn change_with_backfill<T>(
        &self,
        collection: &Arc<Collection>,
        edit: &RecordEdit<T>,
    ) -> Result<(Option<T>, Option<Backfill>), Error> {
        self.change_with(collection, edit, &[]).await
    }

    /// Changes a collection's record, with additional mutations in the same commit.
    pub(crate) async fn change_with<T>(
        &self,
        collection: &Arc<Collection>,
        edit: &RecordEdit<T>,
        more: &[Mutation],
    ) -> Result<(Option<T>, Option<Backfill>), Error> {
        let mut attempts = Attempts::to_change();
        loop {
            attempts.begin_next()?;
            let conditions = self.before_next_expiration(collection).await?;
            let conditions = conditions.into_iter().collect();
            match self.try_change(collection, edit, more, conditions).await? {
                ChangeOutcome::Refused => {}
                ChangeOutcome::Nothing => return Ok((None, None)),
                ChangeOutcome::Done(answer, begun) => return Ok((Some(answer), begun)),
            }
        }
    }

    /// Makes one attempt to change a collection's record, with additional conditions.
    pub(crate) async fn try_change<T>(
        &self,
        collection: &Arc<Collection>,
        edit: &RecordEdit<T>,
        more: &[Mutation],
        mut conditions: Vec<Condition>,
    ) -> Result<ChangeOutcome<T>, Error> {
        let (seq, state) = collection.settled_state(|| self.inner.store().published()).await;
        self.check_present(collection, &state)?;
        // `edit` may run several times, so it must have no side effects.
        let Some((apply, answer)) = edit(&state)? else { return Ok(ChangeOutcome::Nothing) };
        let record = state.record.clone();
        let key = keys::record(record.model, &record.namespace);
        conditions.push(Condition::NotNewer { space: Space::Catalog, key, seq });
        // Set when the change is published, before any later commit is ordered.
        let begun = Arc::new(Mutex::new(None));
        let change = {
            let (engine, held, begun) = (self.clone(), Arc::clone(collection), begun.clone());
            let before = state.record.counters;
            RecordChange::new(Arc::clone(collection), move |_| {
                let begin = engine.begin_counters(&held, before);
                *begun.lock() = begin;
            })
        };
        let prepared = Arc::clone(&change);
        let dialect = Arc::clone(&self.inner.dialect);
        let (log, held) = (Arc::clone(self.inner.changes()), Arc::clone(collection));
        let more = more.to_vec();
        let commit = Commit::new(conditions, move |stamp| {
            let mut record = record;
            apply(&mut record, stamp);
            if record.settings != state.record.settings
                && let Some(told) = &mut record.told
            {
                told.ruled = stamp;
                held.next_expiration.note(Instant::MIN);
            }
            let mut out = more;
            // A record is always written as a whole.
            out.push(put_record(&record));
            log.put_changed(&state.record, &record, stamp, &mut out);
            // This closure runs where commits are ordered and must not fail, so filters were parsed
            // before.
            let partial = partial_filters(&state, &record, &*dialect);
            let next = if record.options == state.record.options {
                CollectionState::with_rule(
                    record,
                    partial,
                    (state.rule.clone(), state.keeps_images),
                )
            } else {
                CollectionState::with_filters(record, partial, &*dialect)
            };
            prepared.prepare_publication(Publication::State(Box::new(next)));
            out
        });
        // Changing the TTL or dropping an index frees space, and a record is small, so the commit
        // is accepted even on a full disk.
        if self.commit_one(commit.freeing().with_fence(change)).await?.is_none() {
            return Ok(ChangeOutcome::Refused);
        }
        let begun = begun.lock().take();
        Ok(ChangeOutcome::Done(answer, begun))
    }

    /// Fails if the collection was dropped.
    fn check_present(&self, collection: &Collection, state: &CollectionState) -> Result<(), Error> {
        if collection.is_dropped() {
            let namespace = state.record.namespace.clone();
            let message = format!("collection {namespace} does not exist");
            return Err(Error::new(Kind::NotFound(ErrorSubject::Collection(namespace)), message));
        }
        Ok(())
    }

    /// Changes the options of a collection that only the API interprets. `change` receives the
    /// current options and returns the new ones.
    ///
    /// No document that was checked against the old options is committed after the change: each
    /// commit of a document requires that the record has not changed since the writer's view.
    pub async fn change_options(
        &self,
        collection: &Arc<Collection>,
        change: impl Fn(&Document) -> Document + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.change_record(collection, &move |state| {
            let options = change(&state.record.options);
            if options == state.record.options {
                return Ok(None);
            }
            let apply = move |record: &mut Record, _| record.options = options.clone();
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        })
        .await?;
        Ok(())
    }
}

/// Returns the parsed filters of a changed record: all were parsed before the commit.
fn partial_filters(
    old: &CollectionState,
    record: &Record,
    dialect: &dyn Dialect,
) -> Vec<PartialFilter> {
    let filter = |index: &IndexSpec| {
        let at = old.record.indexes.iter().position(|held| held.id == index.id);
        match at.and_then(|at| old.partial.get(at)) {
            Some(parsed) => parsed.clone(),
            None => new_filter(record, index, dialect),
        }
    };
    record.indexes.iter().map(filter).collect()
}

/// Returns the parsed filter of a new index; it was parsed before the commit.
pub(super) fn new_filter(
    record: &Record,
    index: &IndexSpec,
    dialect: &dyn Dialect,
) -> PartialFilter {
    let filter = document::DocRef::Tree(index.partial.as_ref()?);
    dialect.parse_filter(record.model, filter).ok().map(Arc::new)
}
