//! A query over several batches. Each batch is read in one view at one instant; between two batches
//! the cursor holds no view, so that a forgotten cursor keeps neither the reaper nor compaction
//! back.
//!
//! ```text
//!             Finder ──rows──▶ Walking ─────────────────┐
//!  (candidates of an access    (at most `remaining`)    ├──▶ held_back ──▶ batch
//!   path that the filter       Running                  │    (what did not fit,
//!   matches)        └──rows──▶ (stages: sort, group …) ─┘     and rows read ahead)
//! ```
//!
//! A walk goes on after its last key. What was live when it was read may expire before it is
//! returned: rows wait in `held_back`, and stages hold rows over many batches. So every document
//! carries the number of the view that found it live, and a batch of a later view looks its stored
//! documents up again first (`fill.rs`).
//!
//! The first batch begins again as a whole when its view met a commit in flight: nothing was
//! returned yet, and so all of it can have one instant. A later batch returns what it has by then,
//! or waits and goes on where it was.

use std::{collections::VecDeque, sync::Arc};

use evaluation::Context;
use memory::Share;
use pipeline::exec::{Exec, Stage, Tally};
use store::Store;

use super::{Batch, BatchLimit, Explain, Find, Finder, UsedIndexes, held::HeldBack};
use crate::{
    attempts::Attempts,
    catalog::{Collection, CollectionState},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{CURSOR_BYTES, SEEN_BYTES},
    names::{Model, Namespace},
    view::{Views, open_together},
};

/// A query and how far it got.
pub struct Cursor<S: Store> {
    pub(super) engine: Engine<S>,
    pub(super) model: Model,
    /// Where stages look for other collections that are named without a database.
    pub(super) database: String,
    /// `None` where no collection has the name: the query then finds nothing.
    pub(super) collection: Option<Arc<Collection>>,
    /// Which of the views it walks.
    pub(super) place: u32,
    /// Collections that the stages read besides.
    pub(super) others: Vec<Namespace>,
    /// The filter, the order and the hint that the finder is planned from.
    pub(super) find: Find,
    /// The stages that were asked for; those that the plan needs are in `work`.
    pub(super) asked: Vec<Stage>,
    /// The operation: its effort, time limit and memory.
    pub(super) context: Arc<Context>,
    /// Finds rows; `None` where there is no collection.
    pub(super) finder: Option<Finder>,
    /// Indexes that it has used, which count once; `None`: they do not count.
    pub(super) used: Option<Arc<UsedIndexes>>,
    pub(super) work: Work,
    /// Documents that did not fit the last batch, or were read ahead of it, in their order.
    pub(super) held_back: VecDeque<HeldBack>,
    /// What the cursor holds between two requests, beside what its stages do.
    pub(super) share: Share,
    /// Stored documents get a last field that says in which second they were written.
    pub(super) with_second: bool,
    /// Counts the views that were opened: the number of the one that is being read. 0 before the
    /// first.
    pub(super) view: u64,
    /// The number of the view that the first batch is read in. Stages may hold rows from then on.
    pub(super) first_view: u64,
}

/// What becomes of the rows that are found.
pub(super) enum Work {
    /// They are returned as they are stored, at most this many more where there is a limit.
    Walking { remaining: Option<u64> },
    /// Stages make documents of them.
    Running(Box<Running>),
}

/// Stages at work.
pub(super) struct Running {
    /// The stages as planned, which `exec` was made from.
    pub(super) stages: Arc<[Stage]>,
    /// The machine that takes rows and makes documents of them.
    pub(super) exec: Exec,
    /// Where rows are only counted: the stages above are those behind that.
    pub(super) counting: Option<Counting>,
    /// Every row was given to the stages.
    pub(super) input_ended: bool,
}

/// A count of rows under way.
pub(super) struct Counting {
    /// What is made of the number.
    pub(super) tally: Tally,
    /// Rows so far.
    pub(super) rows: u64,
}

impl<S: Store> std::fmt::Debug for Cursor<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor").field("find", &self.find).finish_non_exhaustive()
    }
}

impl<S: Store> Cursor<S> {
    /// Plans the query and puts the cursor at its beginning.
    pub(super) fn plan_query(&mut self, state: Option<&CollectionState>) -> Result<(), Error> {
        self.finder = match state {
            Some(state) => Some(Finder::new(state, &self.find, self.used.as_ref())?),
            None => None,
        };
        let mut stages = self.asked.clone();
        // An access path that gives the order of the first sort stands in its place; the sort's own
        // limit stays as a stage.
        let sorted = self.finder.as_ref().is_some_and(Finder::is_sorted);
        if sorted && let Some(Stage::Sort { limit, .. }) = stages.first() {
            match *limit {
                Some(limit) => stages[0] = Stage::Limit(limit),
                None => drop(stages.remove(0)),
            }
        }
        if let Some(finder) = &mut self.finder
            // A count subtracts the rows that are skipped.
            && Tally::of_stages(&stages).is_none()
        {
            skip_by_keys(finder, &mut stages);
        }
        self.work = match stages.as_slice() {
            [] => Work::Walking { remaining: None },
            [Stage::Limit(limit)] => Work::Walking { remaining: Some(*limit) },
            _ => {
                let counting = self.finder.as_mut().and_then(|finder| finder.plan_count(&stages));
                let counting = counting.map(|tally| Counting { tally, rows: 0 });
                let stages: Arc<[Stage]> = match &counting {
                    Some(counting) => counting.tally.rest(),
                    None => stages.into(),
                };
                let exec = Exec::new(Arc::clone(&stages), Arc::clone(&self.context));
                let running = Running { stages, exec, counting, input_ended: false };
                Work::Running(Box::new(running))
            }
        };
        self.held_back.clear();
        Ok(())
    }

    /// How it runs.
    pub fn explain(&self) -> Explain {
        self.finder.as_ref().map(Finder::explain).unwrap_or_default()
    }

    /// Its use of indexes is not counted. For a query that is only explained.
    pub fn leave_uncounted(&mut self) {
        self.used = None;
        self.finder.iter_mut().for_each(Finder::leave_uncounted);
    }

    /// Stored documents get a last field `_ts`: the second since 1970 in which they were written.
    /// Documents that stages made do not.
    pub fn add_write_second(&mut self) {
        self.with_second = true;
    }

    /// Whether a sort is left to the stages because no index gives its order.
    pub fn sorts_in_stages(&self) -> bool {
        match &self.work {
            Work::Walking { .. } => false,
            Work::Running(running) => {
                let first = running.stages.first().filter(|_| running.counting.is_none());
                matches!(first, Some(Stage::Sort { .. }))
            }
        }
    }

    /// The next batch, read at its own instant.
    ///
    /// # Errors
    ///
    /// [`Kind::Gone`] when the collection was dropped, or an index that the walk is on; what the
    /// stages fail with; [`Kind::Conflict`] when the view could never tell what is live.
    pub async fn next_batch(&mut self, limit: BatchLimit) -> Result<Batch, Error> {
        // Views are opened in the loop; whether this is the first batch is known before it only.
        let is_first = self.view == 0;
        let mut batch = Batch::of_operation(&self.context);
        let mut attempts = Attempts::new("a query met too many changes of what it reads");
        let mut again = false;
        loop {
            attempts.begin_next()?;
            let views = self.open_views().await?;
            let state = views.main().map(|view| Arc::clone(&view.state));
            // The plan names an index and ranges of its keys. It is good for any view in which that
            // index means the same documents.
            let is_good = match (&self.finder, &state) {
                (Some(finder), Some(state)) => finder.is_still_valid(state),
                (finder, _) => finder.is_none(),
            };
            if is_first {
                if again || !is_good {
                    // Nothing was returned yet: begin again, so that the batch has one instant.
                    batch = Batch::of_operation(&self.context);
                    self.plan_query(state.as_deref())?;
                }
                self.first_view = self.view;
            } else if !is_good {
                let message = "an index was dropped or changed while a cursor was reading it";
                return Err(Error::new(Kind::Gone, message));
            } else {
                self.resume_in_view();
            }
            match self.fill_batch(&views, limit, &mut batch).await {
                Ok(()) if batch.done => return Ok(batch),
                Ok(()) => {}
                // What there is can be returned; the next batch looks again.
                Err(Halt::LookAgain) if !is_first && !batch.documents.is_empty() => {}
                // One wait is enough for all views, which were opened together.
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

    /// Goes on in a new view: what was read ahead in an earlier one is read again.
    fn resume_in_view(&mut self) {
        self.finder.iter_mut().for_each(Finder::resume_after_last);
        if let Work::Running(running) = &mut self.work {
            running.exec.resume();
        }
    }

    /// Nobody asks for a while: what can be read again is let go, the rest is counted.
    fn pause_between_batches(&mut self) -> Result<(), Error> {
        self.finder.iter_mut().for_each(Finder::forget_read_ahead);
        self.context.holding.release_expression();
        let held = self.held_back.iter().map(|held| held.document.len() + SEEN_BYTES);
        Ok(self.share.set(CURSOR_BYTES + held.sum::<usize>())?)
    }

    /// Holds this many bytes more as long as the cursor is there: what was asked takes memory too.
    pub fn keep_memory(&self, bytes: usize) -> Result<(), Error> {
        Ok(self.context.holding.keep_for_operation(bytes)?)
    }

    /// Bytes that the operation holds.
    pub fn memory_used(&self) -> usize {
        self.context.holding.used_bytes()
    }

    /// Opens the views that this batch is read in.
    async fn open_views(&mut self) -> Result<Views<S>, Error> {
        self.view += 1;
        let main = self.collection.as_ref();
        match open_together(&self.engine.inner.views, self.model, main, &self.others).await {
            Err(error) if matches!(error.kind, Kind::NotFound(_)) => {
                let message = "the collection was dropped while a cursor was reading it";
                Err(Error::new(Kind::Gone, message))
            }
            views => views,
        }
    }
}

/// Has the walk skip the rows that the first stages skip, where it need not read them. A limit before
/// or behind becomes a limit of what is left.
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

/// The error of a batch that cannot be read. [`Halt::LookAgain`] is handled by the caller, and the
/// others come from writes alone.
fn halt_error(halt: Halt) -> Error {
    match halt {
        Halt::Failed(error) => error,
        // Reads meet neither.
        Halt::LookAgain | Halt::Multikey(_) | Halt::Unpublished => {
            Error::new(Kind::Conflict, "retries exhausted")
        }
    }
}
