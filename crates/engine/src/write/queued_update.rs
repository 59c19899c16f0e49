//! Updates of one document selected by its `_id`: operations on the same document take turns, in
//! order of arrival, and updates that wait during a commit are committed together.
//!
//! ```text
//!  turn without a batch:  view ─▶ stored row ─▶ edit ─▶ new batch ─┬─▶ pass on, wait for the commit
//!  turn with a batch:     newest version ─────▶ edit ─▶ joins it ──┴─▶ none waits: commit all
//! ```
//!
//! Nothing unpublished is read outside of a batch. An update that a batch cannot contain first has
//! the batch committed, and continues with the turn in a new view. Anything that is not an update of
//! an existing document leaves the queue ([`Turned::Alone`]), and so does an update that conflicts
//! with an open transaction.

use std::sync::Arc;

use bytes::Bytes;
use memory::Share;
use pipeline::Filter;

use super::{
    Edited, Receipts, Update, WriteDraft,
    find_and_modify::reserve_reply,
    turn::WriterTurns,
    update_batch::{UpdateBatch, edit_version},
};
use crate::{
    attempts::Attempts,
    catalog::{Collection, CollectionState},
    engine::Engine,
    error::{Error, Halt},
    limits::ROW_WORK,
    read::{Finder, UsedIndexes},
    row::Row,
    row_queues::RowTurn,
    view::LiveView,
    yielding::{yield_as_short, yield_if_due},
};

/// Number of attempts in which an update waits for others to join its batch.
const PATIENT_ATTEMPTS: usize = 3;

/// An update of one document, with what its operation needs in all attempts.
pub(super) struct QueuedUpdate<'a, 'u> {
    pub(super) collection: &'a Arc<Collection>,
    pub(super) update: &'a Update<'u>,
    pub(super) receipts: Option<&'a dyn Receipts>,
    pub(super) used: &'a Arc<UsedIndexes>,
    /// Memory for the document that the client gets, if it gets one.
    pub(super) reply: Option<&'a mut Share>,
}

/// How an attempt finds the document of an update.
struct Plan {
    /// Settings and indexes for which the plan was made.
    state: Arc<CollectionState>,
    finder: Finder,
}

/// The result of a turn in the queue.
enum Turned {
    /// The result of the update.
    Done(Edited),
    /// The update must be attempted again.
    Again,
    /// The update must be executed without the queue.
    Alone,
}

/// How a turn without a batch begins.
enum Begun {
    /// A new batch contains the update, which has this result.
    Batch(Edited),
    /// The turn ends with this result, and no batch was made.
    Ended(Turned),
    /// The view could not be used.
    Halted(LiveView, Halt),
}

/// What an update does as a part of a batch.
enum Part {
    /// It writes a version; its result.
    Writes(Edited),
    /// It writes nothing; its result.
    Reads(Edited),
    /// It cannot be a part of the batch.
    Unfit,
}

impl Engine {
    /// Updates a document in its queue if the update selects one by its `_id`; `None` if the update
    /// must be executed without the queue. An upsert that has found no document is not executed yet.
    pub(super) async fn update_in_queue(
        &self,
        queued: &mut QueuedUpdate<'_, '_>,
        attempts: &mut Attempts,
        turns: &mut WriterTurns<'_>,
    ) -> Result<Option<Edited>, Error> {
        let QueuedUpdate { collection, update, used, .. } = *queued;
        // The writes of a transaction become visible with its commit.
        if self.transaction.is_some() || update.many || !has_id_condition(&update.find.filter) {
            return Ok(None);
        }
        loop {
            let state = collection.state();
            let (find, context) = (&update.find, &update.context);
            let finder = Finder::new(&state, find, context.collation(), Some(used))?;
            let Some(key) = finder.only_key().filter(|_| state.record.capped.is_none()) else {
                return Ok(None);
            };
            attempts.begin_next()?;
            let turn = self.inner.row_queues.wait_for_turn(collection.id, &key).await;
            context.budget.check()?;
            match self.take_turn(turn, queued, Plan { state, finder }, attempts, turns).await? {
                Turned::Done(edited) => return Ok(Some(edited)),
                Turned::Again => {}
                Turned::Alone => return Ok(None),
            }
        }
    }

    /// Makes the update a part of the turn's batch, or of a new one, and waits for the commit.
    async fn take_turn(
        &self,
        mut turn: RowTurn,
        queued: &mut QueuedUpdate<'_, '_>,
        mut plan: Plan,
        attempts: &mut Attempts,
        turns: &mut WriterTurns<'_>,
    ) -> Result<Turned, Error> {
        let part = loop {
            let Some(batch) = turn.work::<UpdateBatch>() else {
                match self.begin_batch(&mut turn, queued, &mut plan, turns).await? {
                    Begun::Batch(edited) => break Part::Writes(edited),
                    Begun::Ended(turned) => return Ok(turned),
                    Begun::Halted(view, halt) => {
                        // Others need not wait for the cause of the halt.
                        drop(turn);
                        self.resolve(&view, halt, attempts).await?;
                        return Ok(Turned::Again);
                    }
                }
            };
            match self.join_batch(batch, queued, &mut plan).await? {
                Part::Unfit => {}
                part => break part,
            }
            let next = turn.queue_first();
            if let Some(commit) = self.commit_batch(turn) {
                // Its result is that of other operations, which are answered first.
                let _ = commit.await;
                yield_as_short().await;
            }
            let Ok(given) = next.await else { return Ok(Turned::Again) };
            turn = given;
        };
        match part {
            Part::Writes(edited) => self.finish_part(turn, queued.receipts, edited, attempts).await,
            Part::Reads(edited) if self.inner.rules().batch_answers() => {
                self.finish_part(turn, None, edited, attempts).await
            }
            Part::Reads(edited) => Ok(Turned::Done(edited)),
            Part::Unfit => Ok(Turned::Again),
        }
    }

    /// Passes the turn on, or commits the batch if none waits, and returns the result of an
    /// update of the batch once it is committed.
    async fn finish_part(
        &self,
        mut turn: RowTurn,
        receipts: Option<&dyn Receipts>,
        edited: Edited,
        attempts: &Attempts,
    ) -> Result<Turned, Error> {
        let Some(batch) = turn.work::<UpdateBatch>() else { return Ok(Turned::Again) };
        let is_first = batch.members() == 0;
        // Writers without turns could refuse one long batch after the other.
        let passes_on = attempts.begun() <= PATIENT_ATTEMPTS;
        let committed = if is_first && !(passes_on && turn.is_awaited()) {
            self.commit_lone(turn).await?
        } else {
            let Some(batch) = turn.work::<UpdateBatch>() else { return Ok(Turned::Again) };
            let given = batch.add_member();
            let commit = match if passes_on { turn.pass_on() } else { Some(turn) } {
                Some(turn) => {
                    let commit = self.commit_batch(turn);
                    // The operations of the batch are answered in their order.
                    yield_as_short().await;
                    commit
                }
                // An error means that the batch was dropped before it was committed.
                None => given.await.ok(),
            };
            let Some(commit) = commit else { return Ok(Turned::Again) };
            commit.await?
        };
        let Some(stamp) = committed else {
            // An open transaction may have written a key of the batch; the queue must not wait for
            // its end.
            let is_alone = !self.inner.intents.is_empty();
            return Ok(if is_alone { Turned::Alone } else { Turned::Again });
        };
        if let Some(receipts) = receipts {
            receipts.record_commit(stamp.seq);
        }
        Ok(Turned::Done(edited))
    }

    /// Starts a batch with an update of the stored document, in a new view.
    async fn begin_batch(
        &self,
        turn: &mut RowTurn,
        queued: &mut QueuedUpdate<'_, '_>,
        plan: &mut Plan,
        turns: &mut WriterTurns<'_>,
    ) -> Result<Begun, Error> {
        let QueuedUpdate { collection, update, receipts, .. } = *queued;
        let view = self.view(collection).await?;
        if !Arc::ptr_eq(&view.state, &plan.state) {
            return Ok(Begun::Ended(Turned::Again));
        }
        let row = match plan.finder.take_matching(&view, &update.context, 1).await {
            Ok(rows) => rows.into_iter().next(),
            Err(halt) => return Ok(Begun::Halted(view, halt)),
        };
        let Some(row) = row else { return Ok(Begun::Ended(Turned::Done(Edited::default()))) };
        // Nothing waits in a turn for the memory of large documents, or for open transactions.
        if turns.admit([&row]).is_err() || self.has_intent(collection, &row).await? {
            return Ok(Begun::Ended(Turned::Alone));
        }
        let before = row.value.slice(row.start..);
        let version = match edit_version(&view, &row.key, row.document(), update).await {
            Ok(Some(version)) => version,
            Ok(None) => {
                reserve_reply(queued.reply.as_deref_mut(), before.len())?;
                let unchanged = edited(before.clone(), before, false);
                return Ok(Begun::Ended(Turned::Done(unchanged)));
            }
            Err(halt) => return Ok(Begun::Halted(view, halt)),
        };
        let previous = match WriteDraft::of(&view).previous_version(row).await {
            Ok(previous) => previous,
            Err(halt) => return Ok(Begun::Halted(view, halt)),
        };
        let after = version.bytes();
        reserve_reply(queued.reply.as_deref_mut(), before.len().max(after.len()))?;
        let receipts = self.draft_batch_receipts(receipts, (&before, &after)).await?;
        turn.carry(UpdateBatch::new(view, previous, version, receipts));
        Ok(Begun::Batch(edited(before, after, true)))
    }

    /// Adds an update to a batch.
    async fn join_batch(
        &self,
        batch: &mut UpdateBatch,
        queued: &mut QueuedUpdate<'_, '_>,
        plan: &mut Plan,
    ) -> Result<Part, Error> {
        let QueuedUpdate { update, receipts, .. } = *queued;
        if !batch.is_open_to(self, &plan.state) {
            return Ok(Part::Unfit);
        }
        batch.rely_on_newest();
        let (context, document) = (&*update.context, batch.newest().clone());
        plan.finder.record_access(batch.view(), context);
        context.budget.record_examined(1);
        yield_if_due(context, ROW_WORK + document.bytes().len()).await?;
        match update.find.filter.matches(document.as_ref(), context) {
            Ok(true) => {}
            Ok(false) if !update.upsert => return Ok(Part::Reads(Edited::default())),
            // It inserts, or fails because the document exists.
            Ok(false) | Err(_) => return Ok(Part::Unfit),
        }
        // An error may be due to another document, of which the batch's view, which may be older
        // than the operation, shows an outdated version.
        let edited_version = edit_version(batch.view(), batch.row_key(), document.as_ref(), update);
        let Ok(version) = edited_version.await else { return Ok(Part::Unfit) };
        let before = document.into_bytes();
        let Some(version) = version else {
            reserve_reply(queued.reply.as_deref_mut(), before.len())?;
            return Ok(Part::Reads(edited(before.clone(), before, false)));
        };
        let after = version.bytes();
        reserve_reply(queued.reply.as_deref_mut(), before.len().max(after.len()))?;
        let receipts = self.draft_batch_receipts(receipts, (&before, &after)).await?;
        if batch.has_receipt_of(&receipts) {
            return Ok(Part::Unfit);
        }
        batch.add(version, receipts);
        Ok(Part::Writes(edited(before, after, true)))
    }

    /// Returns whether an open transaction has written the row.
    async fn has_intent(&self, collection: &Collection, row: &Row) -> Result<bool, Error> {
        let intents = &self.inner.intents;
        if intents.is_empty() {
            return Ok(false);
        }
        let now_ms = self.inner.clock().now().await?.ms;
        Ok(intents.holder_of(collection.rows_space(), &row.key, now_ms).is_some())
    }
}

/// Returns whether every matching document meets a condition on its `_id`. Without one, an update is
/// not planned for the queue.
fn has_id_condition(filter: &Filter) -> bool {
    match filter {
        Filter::And(all) => all.iter().any(has_id_condition),
        Filter::Path(path, _) => path.as_str() == "_id",
        _ => false,
    }
}

/// Returns the result of an update that found a document.
fn edited(before: Bytes, after: Bytes, changed: bool) -> Edited {
    Edited { before: Some(before), after: Some(after), changed, upserted: None }
}
