//! A query over several batches. Each batch is one view at one instant; a walk goes on behind its
//! last key, and a document that was held back is judged again before it is returned.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use document::DocBuf;
use memory::Share;
use query::{
    Context,
    exec::{self, Exec, Next, Source, Stage},
};
use store::Store;

use super::{
    Batch, BatchLimit, Explain, Find, Finder,
    dated::with_second,
    held::{Held, dead_in},
    origin,
};
use crate::{
    catalog::{Collection, State},
    engine::Engine,
    error::{Error, Halt, Kind},
    limits::{BATCH_COPIES, CURSOR_BYTES, PAGE_ROWS, SEEN_BYTES},
    names::{Model, Namespace},
    view::{Views, open_together},
    yielding::yield_now,
};

/// A query and how far it got.
pub struct Cursor<S: Store> {
    pub(super) engine: Engine<S>,
    pub(super) model: Model,
    pub(super) database: String,
    pub(super) collection: Option<Arc<Collection>>,
    /// Which of the views it walks.
    pub(super) place: u32,
    /// What the stages read besides.
    pub(super) others: Vec<Namespace>,
    pub(super) find: Find,
    /// All stages; those that the plan needs are `stages` and `left`.
    pub(super) asked: Vec<Stage>,
    pub(super) stages: Arc<[Stage]>,
    pub(super) context: Arc<Context>,
    /// Documents left of a plain limit.
    pub(super) left: Option<u64>,
    pub(super) finder: Option<Finder>,
    pub(super) exec: Option<Exec>,
    /// Rows that did not fit the last batch.
    pub(super) held: VecDeque<Held>,
    /// What it holds between two requests, beside what its stages do.
    pub(super) rests: Share,
    pub(super) began: bool,
    /// Documents that are answered as they are stored say in which second they were written.
    pub(super) dated: bool,
    pub(super) fed: bool,
}

impl<S: Store> std::fmt::Debug for Cursor<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor").field("find", &self.find).finish_non_exhaustive()
    }
}

enum Step {
    Out(Held),
    End,
}

impl<S: Store> Cursor<S> {
    /// Plans it and puts it at its beginning.
    pub(super) fn plan(&mut self, state: Option<&State>) -> Result<(), Error> {
        self.finder = match state {
            Some(state) => Some(Finder::new(state, &self.find)?),
            None => None,
        };
        let mut stages = self.asked.clone();
        let sorted = self.finder.as_ref().is_some_and(Finder::is_sorted);
        if sorted && let Some(Stage::Sort { limit, .. }) = stages.first() {
            match *limit {
                Some(limit) => stages[0] = Stage::Limit(limit),
                None => drop(stages.remove(0)),
            }
        }
        self.left = match stages.as_slice() {
            [Stage::Limit(limit)] => Some(*limit),
            _ => None,
        };
        self.stages = if self.left.is_some() { Arc::default() } else { stages.into() };
        self.fed = false;
        self.held.clear();
        self.exec = (!self.stages.is_empty())
            .then(|| Exec::new(Arc::clone(&self.stages), Arc::clone(&self.context)));
        Ok(())
    }

    /// How it runs.
    pub fn explain(&self) -> Explain {
        self.finder.as_ref().map(|finder| finder.explain.clone()).unwrap_or_default()
    }

    /// Documents that are answered as they are stored get a last field of this name: the second
    /// since 1970 in which they were written. Those that stages made do not.
    pub fn date(&mut self) {
        self.dated = true;
    }

    /// What a sort stage is left to do because no index gives its order.
    pub fn sorts(&self) -> bool {
        matches!(self.stages.first(), Some(Stage::Sort { .. }))
    }

    /// The next batch, judged at its own instant.
    pub async fn next(&mut self, limit: BatchLimit) -> Result<Batch, Error> {
        let first = !std::mem::replace(&mut self.began, true);
        let mut batch = Batch::of(&self.context);
        let mut again = false;
        loop {
            let views = self.open().await?;
            let state = views.main().map(|view| Arc::clone(&view.state));
            let good = match (&self.finder, &state) {
                (Some(finder), Some(state)) => finder.is_good(state),
                (finder, _) => finder.is_none(),
            };
            if first && (again || !good) {
                // Nothing was given yet: begin again, so that the whole batch has one instant.
                batch = Batch::of(&self.context);
                self.plan(state.as_deref())?;
            } else if !good {
                let message = "an index was dropped or changed while a cursor was reading it";
                return Err(Error::new(Kind::Gone, message));
            } else if !first {
                self.finder.iter_mut().for_each(Finder::resume);
                self.exec.iter_mut().for_each(Exec::resume);
            }
            match self.fill(&views, limit, &mut batch, first).await {
                Ok(()) => {
                    if !batch.done {
                        self.rest()?;
                    }
                    return Ok(batch);
                }
                Err(Halt::InFlight) if !first && !batch.documents.is_empty() => {
                    self.rest()?;
                    return Ok(batch);
                }
                Err(Halt::InFlight) => views.wait_for_in_flight(&self.engine.inner.views).await,
                Err(halt) => return Err(failed(halt)),
            }
            again = true;
        }
    }

    /// Nobody asks for a while: what can be read again is let go, the rest is counted.
    fn rest(&mut self) -> Result<(), Error> {
        self.finder.iter_mut().for_each(Finder::forget_read_ahead);
        self.context.holding.settle();
        let held = self.held.iter().map(|held| held.document.len() + SEEN_BYTES).sum::<usize>();
        Ok(self.rests.set(CURSOR_BYTES + held)?)
    }

    /// It holds so many bytes more as long as it is there: what was asked takes memory too.
    pub fn keep(&self, bytes: usize) -> Result<(), Error> {
        Ok(self.context.holding.keep(bytes)?)
    }

    /// Bytes that the operation holds.
    pub fn memory(&self) -> usize {
        self.context.holding.used()
    }

    /// Opens what this batch is judged in.
    async fn open(&self) -> Result<Views<S>, Error> {
        let main = self.collection.as_ref();
        match open_together(&self.engine.inner.views, self.model, main, &self.others).await {
            Err(error) if matches!(error.kind, Kind::NotFound(_)) => {
                let message = "the collection was dropped while a cursor was reading it";
                Err(Error::new(Kind::Gone, message))
            }
            views => views,
        }
    }

    pub(super) async fn fill(
        &mut self,
        views: &Views<S>,
        limit: BatchLimit,
        batch: &mut Batch,
        fresh: bool,
    ) -> Result<(), Halt> {
        let mut bytes = batch.documents.iter().map(Bytes::len).sum::<usize>();
        // What was held back was judged in an earlier view.
        let mut stale = if fresh { 0 } else { self.held.len() };
        let mut from_exec = !fresh;
        while batch.documents.len() < limit.documents {
            if self.left == Some(0) {
                batch.done = true;
                return Ok(());
            }
            let held = match self.held.pop_front() {
                Some(held) => held,
                None => match self.step(views, limit.documents - batch.documents.len()).await? {
                    Step::Out(held) => {
                        stale = usize::from(from_exec && held.source.is_known());
                        held
                    }
                    Step::End => {
                        batch.done = true;
                        return Ok(());
                    }
                },
            };
            let held = if 0 < stale {
                stale -= 1;
                match dead_in(views, &held).await {
                    Ok(dead) if dead.is_empty() => held,
                    Ok(dead) => match held.without(&dead)? {
                        Some(held) => held,
                        None => continue,
                    },
                    Err(halt) => {
                        // It is judged again in the next view.
                        self.held.push_front(held);
                        return Err(halt);
                    }
                }
            } else {
                held
            };
            from_exec = from_exec && self.exec.is_some();
            if !batch.documents.is_empty() && limit.bytes < bytes + held.document.len() {
                self.held.push_front(held);
                return Ok(());
            }
            if let Err(short) = batch.held.grow(held.document.len() * BATCH_COPIES) {
                if batch.documents.is_empty() || batch.sources.is_some() {
                    return Err(short.into());
                }
                // What there is can be sent.
                self.held.push_front(held);
                return Ok(());
            }
            bytes += held.document.len();
            self.left = self.left.map(|left| left - 1);
            batch.documents.push(held.document);
            if let Some(sources) = &mut batch.sources {
                sources.push(held.source);
            }
        }
        if self.left == Some(0) || self.is_spent()? {
            batch.done = true;
        }
        Ok(())
    }

    /// Whether a limit among the stages is used up, so that no further batch is needed to say so.
    fn is_spent(&mut self) -> Result<bool, Halt> {
        let limited = self.stages.iter().any(|stage| matches!(stage, Stage::Limit(_)));
        let other = |stage: &Stage| {
            !matches!(
                stage,
                Stage::Limit(_)
                    | Stage::Skip(_)
                    | Stage::Project(_)
                    | Stage::Match(_)
                    | Stage::Sort { .. }
            )
        };
        let Some(exec) = self.exec.as_mut().filter(|_| limited && self.held.is_empty()) else {
            return Ok(false);
        };
        if self.stages.iter().any(other) {
            return Ok(false);
        }
        match exec.next()? {
            Next::Done => Ok(true),
            Next::Row(row) => {
                let document = row.document.into_bytes();
                self.held.push_back(Held { document, source: row.source });
                Ok(false)
            }
            Next::NeedInput | Next::Want(_) | Next::Pause => Ok(false),
        }
    }

    /// The next document, from the walk or from the stages.
    async fn step(&mut self, views: &Views<S>, wanted: usize) -> Result<Step, Halt> {
        let Some(mut exec) = self.exec.take() else { return self.walk(views, wanted).await };
        let step = self.run(&mut exec, views, wanted).await;
        self.exec = Some(exec);
        step
    }

    async fn walk(&mut self, views: &Views<S>, wanted: usize) -> Result<Step, Halt> {
        let (place, dated) = (self.place, self.dated);
        let (Some(view), Some(finder)) = (views.at(place), &mut self.finder) else {
            return Ok(Step::End);
        };
        self.context.effort.check()?;
        let left = self.left.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
        let rows = finder.take(view, &self.context, wanted.min(left).min(PAGE_ROWS)).await?;
        let mut held = rows.into_iter().map(|row| Held {
            source: Source::stored(Some(origin::of(&row, place))),
            document: if dated { with_second(&row) } else { row.value.slice(row.start..) },
        });
        match held.next() {
            Some(first) => {
                self.held.extend(held);
                Ok(Step::Out(first))
            }
            None => Ok(Step::End),
        }
    }

    async fn run(
        &mut self,
        exec: &mut Exec,
        views: &Views<S>,
        wanted: usize,
    ) -> Result<Step, Halt> {
        loop {
            match exec.next()? {
                Next::Row(row) => {
                    let document = row.document.into_bytes();
                    return Ok(Step::Out(Held { document, source: row.source }));
                }
                Next::Done => return Ok(Step::End),
                Next::Want(request) => {
                    // The stage counts them for itself.
                    let (rows, _held) = self.answer(views, request).await?;
                    exec.supply(rows)?;
                }
                Next::Pause => {
                    self.context.effort.check()?;
                    yield_now().await;
                }
                Next::NeedInput => {
                    self.context.effort.check()?;
                    self.feed(exec, views, wanted).await?;
                }
            }
        }
    }

    async fn feed(&mut self, exec: &mut Exec, views: &Views<S>, wanted: usize) -> Result<(), Halt> {
        let place = self.place;
        let (Some(view), Some(finder), false) = (views.at(place), &mut self.finder, self.fed)
        else {
            exec.finish();
            return Ok(());
        };
        let streaming = exec::is_streaming(&self.stages);
        let wanted = if streaming { wanted.min(PAGE_ROWS) } else { PAGE_ROWS };
        let rows = finder.take(view, &self.context, wanted).await?;
        if rows.is_empty() {
            self.fed = true;
            exec.finish();
        }
        let carried = carries_origin(&self.stages);
        for row in rows {
            let origin = carried.then(|| origin::of(&row, place));
            let document = DocBuf::from_trusted(row.value.slice(row.start..));
            exec.offer(exec::Row { document, source: Source::stored(origin) })?;
        }
        Ok(())
    }
}

/// Whether stored documents can come out of the stages, so that it matters where they are from.
fn carries_origin(stages: &[Stage]) -> bool {
    let makes = |stage: &Stage| {
        matches!(
            stage,
            Stage::Group(_)
                | Stage::Count(_)
                | Stage::Distinct(_)
                | Stage::Facet(_)
                | Stage::BucketAuto(_)
        )
    };
    !stages.iter().any(makes)
}

fn failed(halt: Halt) -> Error {
    match halt {
        Halt::Failed(error) => error,
        Halt::InFlight | Halt::Multikey(_) | Halt::Unpublished => {
            Error::new(Kind::Conflict, "looked again for nothing")
        }
    }
}
