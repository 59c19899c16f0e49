//! A query over several batches. Each batch is read in one view at one instant; between batches the
//! cursor holds no view, so that an idle cursor delays neither reaping nor compaction.
//!
//! ```text
//!             Finder ──rows──▶ Walking ─────────────────┐
//!  (candidates of an access    (at most `remaining`)    ├──▶ pending ────▶ batch
//!   path that the filter       Running                  │    (what did not fit,
//!   matches)        └──rows──▶ (stages: sort, group …) ─┘     and rows read ahead)
//! ```
//!
//! A scan continues after its last key. Documents may expire between being read and being returned:
//! rows wait in `pending`, and stages hold rows over several batches. Each document therefore
//! carries the number of the view that found it live, and a batch in a later view first rechecks
//! its stored documents (`fill.rs`).
//!
//! If the view of the first batch cannot decide whether a document has expired, because of a commit
//! in flight, the batch restarts, since nothing was returned and all of it can have one instant. A
//! later batch returns the documents read so far, or waits and continues.

use std::{collections::VecDeque, sync::Arc};

use evaluation::Context;
use memory::Share;
use pipeline::exec::{CountPipeline, Exec, Stage};

use super::{
    Batch, BatchLimit, Explain, Find, Finder, Output, UsedIndexes, pending::PendingResult,
    stored_view::JoinedNames,
};
use crate::{
    attempts::Attempts,
    catalog::{Collection, CollectionState},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{CURSOR_BYTES, SEEN_BYTES},
    names::{Model, Namespace},
    view::{Views, open_together},
};

/// A query and its progress.
pub struct Cursor {
    pub(super) engine: Engine,
    pub(super) model: Model,
    /// Database of the collections that stages name without a database.
    pub(super) database: String,
    /// `None` if the collection does not exist; the query is then empty.
    pub(super) collection: Option<Arc<Collection>>,
    /// Position of the collection's [`LiveView`](crate::view::LiveView) in the views that the query
    /// has opened.
    pub(super) view_index: u32,
    /// Other collections that the stages read.
    pub(super) others: Vec<Namespace>,
    /// Resolves the names that the stages have for other collections.
    pub(super) joined: Arc<JoinedNames>,
    /// Filter, order and hint from which the finder is planned.
    pub(super) find: Find,
    /// All stages of the query; `work` holds the stages that the plan still needs.
    pub(super) asked: Vec<Stage>,
    /// Work budget, time limit and memory of the operation.
    pub(super) context: Arc<Context>,
    /// Finds rows; `None` without a collection.
    pub(super) finder: Option<Finder>,
    /// Indexes used so far, each counted once; `None` if uses are not counted.
    pub(super) used: Option<Arc<UsedIndexes>>,
    pub(super) work: Work,
    /// Documents that did not fit the last batch or were read ahead, in order.
    pub(super) pending: VecDeque<PendingResult>,
    /// Memory held between requests, in addition to that of the stages.
    pub(super) share: Share,
    /// The form in which each document is returned.
    pub(super) output: Output,
    /// Number of views opened so far, which identifies the current view; 0 before the first.
    pub(super) view: u64,
    /// Number of the first batch's view. Stages hold no rows of earlier views.
    pub(super) first_view: u64,
    /// Whether the cursor stays open at the end of a capped collection, to return documents that
    /// are inserted later.
    pub(super) follows: bool,
    /// Whether the current batch has reached the last document of the collection that the cursor
    /// follows.
    pub(super) caught_up: bool,
}

/// The conversion of rows that match the filter to results.
pub(super) enum Work {
    /// Rows are returned as stored, up to a limit if there is one.
    Walking { remaining: Option<u64> },
    /// Rows pass through the stages of the plan.
    Running(Box<Running>),
}

/// The running stages of a query.
pub(super) struct Running {
    /// The stages of the plan, which `exec` runs.
    pub(super) stages: Arc<[Stage]>,
    pub(super) exec: Exec,
    /// The count in progress if rows are only counted; `stages` then are the stages after the
    /// count.
    pub(super) counting: Option<Counting>,
    /// Whether the stages have received the last row.
    pub(super) input_ended: bool,
}

/// Counts rows instead of returning them.
pub(super) struct Counting {
    /// The conversion of the count to a row.
    pub(super) count_pipeline: CountPipeline,
    /// Number of rows so far.
    pub(super) rows: u64,
}

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor").field("find", &self.find).finish_non_exhaustive()
    }
}

impl Cursor {
    /// Plans the query and resets the cursor.
    pub(super) fn plan_query(&mut self, state: Option<&CollectionState>) -> Result<(), Error> {
        self.finder = match state {
            Some(state) => {
                let (collation, used) = (self.context.collation(), self.used.as_ref());
                Some(Finder::new(state, &self.find, collation, used)?)
            }
            None => None,
        };
        let mut stages = self.asked.clone();
        // If the access path yields the order of the first sort, only that sort's limit remains.
        let sorted = self.finder.as_ref().is_some_and(Finder::is_sorted);
        if sorted && let Some(Stage::Sort { limit, .. }) = stages.first() {
            match *limit {
                Some(limit) => stages[0] = Stage::Limit(limit),
                None => drop(stages.remove(0)),
            }
        }
        if let Some(finder) = &mut self.finder
            // Rows before a count are not skipped by keys: the count subtracts them from its
            // result.
            && CountPipeline::of_stages(&stages).is_none()
        {
            skip_by_keys(finder, &mut stages);
        }
        self.work = match stages.as_slice() {
            [] => Work::Walking { remaining: None },
            [Stage::Limit(limit)] => Work::Walking { remaining: Some(*limit) },
            _ => {
                let counting = self.finder.as_mut().and_then(|finder| finder.plan_count(&stages));
                let counting = counting.map(|count_pipeline| Counting { count_pipeline, rows: 0 });
                let stages: Arc<[Stage]> = match &counting {
                    Some(counting) => counting.count_pipeline.rest(),
                    None => stages.into(),
                };
                let exec = Exec::new(Arc::clone(&stages), Arc::clone(&self.context));
                let running = Running { stages, exec, counting, input_ended: false };
                Work::Running(Box::new(running))
            }
        };
        self.pending.clear();
        if self.follows {
            self.follow_inserts()?;
        }
        Ok(())
    }

    /// Returns the stages of the query, those of stored views first.
    pub fn stages(&self) -> &[Stage] {
        &self.asked
    }

    /// Returns whether the query reads a clustered collection.
    pub fn is_clustered(&self) -> bool {
        let record = self.collection.as_ref().map(|collection| collection.state());
        record.is_some_and(|state| state.record.cluster_key.is_some())
    }

    /// Returns a description of the query's execution so far.
    pub fn explain(&self) -> Explain {
        self.finder.as_ref().map(Finder::explain).unwrap_or_default()
    }

    /// Makes the query not count as a use of its indexes, because it is only explained.
    pub fn leave_uncounted(&mut self) {
        self.used = None;
        self.finder.iter_mut().for_each(Finder::leave_uncounted);
    }

    /// Adds a last field `_ts`, the second of the write since 1970, to stored documents, but not to
    /// those created by stages.
    pub fn add_write_second(&mut self) {
        self.output = Output::WithSecond;
    }

    /// Returns whether stages must sort because no index yields the order.
    pub fn sorts_in_stages(&self) -> bool {
        match &self.work {
            Work::Walking { .. } => false,
            Work::Running(running) => {
                let first = running.stages.first().filter(|_| running.counting.is_none());
                matches!(first, Some(Stage::Sort { .. }))
            }
        }
    }

    /// Returns the next batch, read at its own instant.
    ///
    /// # Errors
    ///
    /// [`Kind::Gone`] if the collection or the scanned index was dropped; errors of the stages;
    /// [`Kind::Conflict`] if in every attempt a commit in flight kept the view from deciding which
    /// documents had expired.
    pub async fn next_batch(&mut self, limit: BatchLimit) -> Result<Batch, Error> {
        // Must be read before the loop, which opens views.
        let is_first = self.view == 0;
        let mut batch = Batch::of_operation(&self.context);
        let mut attempts = Attempts::new("too many concurrent changes to the data a query reads");
        let mut again = false;
        loop {
            attempts.begin_next()?;
            let views = self.open_views().await?;
            let state = views.main().map(|view| Arc::clone(&view.state));
            // The plan refers to an index and ranges of its keys, and is valid in any view where
            // that index covers the same documents.
            let is_good = match (&self.finder, &state) {
                (Some(finder), Some(state)) => finder.is_still_valid(state),
                (finder, _) => finder.is_none(),
            };
            if is_first {
                if again || !is_good {
                    // Nothing was returned yet: restart, so that the batch has one instant.
                    batch = Batch::of_operation(&self.context);
                    self.plan_query(state.as_deref())?;
                }
                self.first_view = self.view;
            } else if !is_good {
                let message = "an index was dropped or changed while a cursor was reading it";
                return Err(Error::new(Kind::Gone, message));
            } else {
                self.resume_in_view();
                self.check_position(&views).await?;
            }
            match self.fill_batch(&views, limit, &mut batch).await {
                // A cursor on an empty collection ends, so that its client asks again later.
                Ok(()) if self.caught_up && is_first && self.last_insertion().is_none() => {
                    batch.done = true;
                    return Ok(batch);
                }
                Ok(()) if batch.done => return Ok(batch),
                Ok(()) => {}
                // Return the complete documents; the next batch retries.
                Err(Halt::LookAgain) if !is_first && !batch.documents.is_empty() => {}
                // All views were opened together, so one wait suffices.
                Err(Halt::LookAgain) => {
                    views.wait_for_in_flight(&self.engine.inner.views).await;
                    again = true;
                    continue;
                }
                Err(halt) => return Err(halt_error(halt)),
            }
            self.pause_between_batches()?;
            return Ok(batch);
        }
    }

    /// Continues in a new view: rows read ahead in an earlier view are read again.
    fn resume_in_view(&mut self) {
        self.finder.iter_mut().for_each(Finder::resume_after_last);
        if let Work::Running(running) = &mut self.work {
            running.exec.resume();
        }
    }

    /// Releases rows that can be read again, and accounts for the memory held between batches.
    fn pause_between_batches(&mut self) -> Result<(), Error> {
        self.finder.iter_mut().for_each(Finder::forget_read_ahead);
        self.context.operation_memory.release_expression();
        let held = self.pending.iter().map(|held| held.document.len() + SEEN_BYTES);
        Ok(self.share.set(CURSOR_BYTES + held.sum::<usize>())?)
    }

    /// Reserves additional memory for the cursor's lifetime, such as the memory of the request.
    pub fn keep_memory(&self, bytes: usize) -> Result<(), Error> {
        Ok(self.context.operation_memory.keep_for_operation(bytes)?)
    }

    /// Returns the memory that the query's operation holds, in bytes.
    pub fn memory_used(&self) -> usize {
        self.context.operation_memory.used_bytes()
    }

    /// Opens the views of this batch.
    async fn open_views(&mut self) -> Result<Views, Error> {
        self.view += 1;
        let main = self.collection.as_ref();
        let opened = open_together(&self.engine.inner.views, self.model, main, &self.others).await;
        match opened {
            Ok(views) => match &self.engine.transaction {
                Some(transaction) => views.adopted_by(transaction).await,
                None => Ok(views),
            },
            Err(error) if matches!(error.kind, Kind::NotFound(_)) => {
                let message = "the collection was dropped while a cursor was reading it";
                Err(Error::new(Kind::Gone, message))
            }
            Err(error) => Err(error),
        }
    }
}

/// Moves a leading skip stage into the finder if rows can be skipped by keys. A limit next to it
/// becomes a limit on the remaining rows.
fn skip_by_keys(finder: &mut Finder, stages: &mut Vec<Stage>) {
    let (rows, limit, taken) = match stages.as_slice() {
        [Stage::Skip(rows), ..] => (*rows, None, 1),
        [Stage::Limit(first), Stage::Skip(rows), Stage::Limit(limit), ..] => {
            (*rows, Some(first.saturating_sub(*rows).min(*limit)), 3)
        }
        [Stage::Limit(first), Stage::Skip(rows), ..] => {
            (*rows, Some(first.saturating_sub(*rows)), 2)
        }
        _ => return,
    };
    if finder.plan_skip(rows) {
        stages.splice(..taken, limit.map(Stage::Limit));
    }
}

/// Returns the error of a batch that cannot be read. [`Halt::LookAgain`] is handled by the caller,
/// and the other variants occur only in writes.
fn halt_error(halt: Halt) -> Error {
    match halt {
        Halt::Failed(error) => error,
        Halt::LookAgain
        | Halt::Multikey(_)
        | Halt::Unpublished
        | Halt::NeedsMemory
        | Halt::NeedsRoom(_) => Error::new(Kind::Conflict, "retries exhausted"),
    }
}
