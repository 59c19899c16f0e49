//! Fills a batch: takes the next document from those held back, the scan or the stages, rechecks it
//! if it was read in an earlier view, and adds it to the batch.
//!
//! ```text
//!  next_document --> check_again --> put_in_batch --> batch
//!    pending            | expired       | does not fit
//!    walk_rows          v               v
//!    run_stages      dropped         pending (first)
//! ```
//!
//! No document is lost: one that cannot be checked in this view, or that does not fit, returns to
//! the front of `pending` and is the first of the next batch.

use bytes::Bytes;
use document::DocBuf;
use evaluation::{Context, MAX_RETURNED_BYTES, too_large};
use pipeline::exec::{self, Next, Source, Stage};

use super::{
    Batch, BatchLimit, Cursor, Finder,
    cursor::{Running, Work},
    origin,
    pending::{PendingResult, expired_in},
};
use crate::{
    error::{Error, Halt},
    limits::{BATCH_COPIES, PAGE_ROWS},
    view::{LiveView, Views},
    yielding::yield_now,
};

impl Cursor {
    /// Adds documents to a batch until it is full or the query ends.
    pub(super) async fn fill_batch(
        &mut self,
        views: &Views,
        limit: BatchLimit,
        batch: &mut Batch,
    ) -> Result<(), Halt> {
        // A batch interrupted by a commit in flight is continued in the next view.
        let mut bytes = batch.documents.iter().map(Bytes::len).sum::<usize>();
        self.caught_up = false;
        while batch.documents.len() < limit.documents {
            let wanted = limit.documents - batch.documents.len();
            let Some(held) = self.next_document(views, wanted).await? else {
                batch.done = !self.caught_up;
                return Ok(());
            };
            let Some(held) = self.check_again(views, held).await? else { continue };
            if !self.put_in_batch(batch, limit, &mut bytes, held)?
                || !self.put_checked(batch, limit, &mut bytes)?
            {
                return Ok(());
            }
        }
        if self.is_at_limit() || self.is_spent()? {
            batch.done = true;
        }
        Ok(())
    }

    /// Returns whether a query without stages has returned as many rows as its limit.
    fn is_at_limit(&self) -> bool {
        matches!(self.work, Work::Walking { remaining: Some(0) })
    }

    /// Returns the next document in query order; `None` at the end.
    async fn next_document(
        &mut self,
        views: &Views,
        wanted: usize,
    ) -> Result<Option<PendingResult>, Halt> {
        if self.is_at_limit() {
            return Ok(None);
        }
        if let Some(held) = self.pending.pop_front() {
            return Ok(Some(held));
        }
        // `work` is taken out because both paths need the whole cursor; it is restored below.
        let walking = Work::Walking { remaining: None };
        match std::mem::replace(&mut self.work, walking) {
            Work::Walking { remaining } => {
                self.work = Work::Walking { remaining };
                self.walk_rows(views, wanted, remaining).await
            }
            Work::Running(mut running) => {
                let next = self.run_stages(&mut running, views, wanted).await;
                self.work = Work::Running(running);
                next
            }
        }
    }

    /// Rechecks a document in these views. Returns it without joined documents that have expired,
    /// or `None` if the document itself has expired since it was read.
    async fn check_again(
        &mut self,
        views: &Views,
        held: PendingResult,
    ) -> Result<Option<PendingResult>, Halt> {
        // Documents that are not derived from particular stored documents do not expire.
        if held.checked_in == self.view || !held.source.is_known() {
            return Ok(Some(held));
        }
        match expired_in(views, &held).await {
            Ok(expired) if expired.is_empty() => Ok(Some(held)),
            Ok(expired) => Ok(held.without_expired(&expired)?),
            Err(halt) => {
                // The document is checked again in the next view.
                self.pending.push_front(held);
                Err(halt)
            }
        }
    }

    /// Adds documents of `pending` that were found in this view to the batch, which needs no
    /// waiting. Returns whether they fit.
    fn put_checked(
        &mut self,
        batch: &mut Batch,
        limit: BatchLimit,
        bytes: &mut usize,
    ) -> Result<bool, Halt> {
        let view = self.view;
        while batch.documents.len() < limit.documents && !self.is_at_limit() {
            let checked = self.pending.pop_front_if(|held| held.checked_in == view);
            let Some(held) = checked else { break };
            if !self.put_in_batch(batch, limit, bytes, held)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a document to the batch and returns true, or holds it back for the next batch and
    /// returns false if it does not fit. The first document of a batch is never held back.
    fn put_in_batch(
        &mut self,
        batch: &mut Batch,
        limit: BatchLimit,
        bytes: &mut usize,
        held: PendingResult,
    ) -> Result<bool, Halt> {
        // Larger documents are allowed between stages, also in a nested query that a stage
        // requested.
        if batch.sources.is_none() && MAX_RETURNED_BYTES < held.document.len() {
            return Err(Error::from(too_large(held.document.len())).into());
        }
        if !batch.documents.is_empty() && limit.bytes < *bytes + held.document.len() {
            self.pending.push_front(held);
            return Ok(false);
        }
        if let Err(short) = batch.held.grow(held.document.len() * BATCH_COPIES) {
            if batch.documents.is_empty() || batch.sources.is_some() {
                return Err(short.into());
            }
            // Documents already in the batch can be sent.
            self.pending.push_front(held);
            return Ok(false);
        }
        *bytes += held.document.len();
        if let Work::Walking { remaining: Some(remaining) } = &mut self.work {
            *remaining -= 1;
        }
        batch.documents.push(held.document);
        if let Some(sources) = &mut batch.sources {
            sources.push(held.source.into_source());
        }
        Ok(true)
    }

    /// Returns whether a limit stage has produced its last document, so that this batch can be
    /// marked as the last one. Clients that request a limited number of documents expect this mark.
    ///
    /// To find out, this function takes one more document from the stages, which becomes the first
    /// document of the next batch. It does so only if that requires no read: each stage must
    /// process one row at a time, or already hold all its rows.
    fn is_spent(&mut self) -> Result<bool, Halt> {
        let Work::Running(running) = &mut self.work else { return Ok(false) };
        let limited = running.stages.iter().any(|stage| matches!(stage, Stage::Limit(_)));
        let cheap = |stage: &Stage| {
            matches!(
                stage,
                Stage::Limit(_)
                    | Stage::Skip(_)
                    | Stage::Project(_)
                    | Stage::Match(_)
                    | Stage::Sort { .. }
            )
        };
        // Held documents need another batch anyway.
        if !limited || !self.pending.is_empty() || !running.stages.iter().all(cheap) {
            return Ok(false);
        }
        match running.exec.next()? {
            Next::Done => Ok(true),
            Next::Row(row) => {
                let finder = self.finder.as_ref();
                self.pending.push_back(PendingResult::of_output(
                    row,
                    finder,
                    self.output,
                    self.first_view,
                ));
                Ok(false)
            }
            Next::NeedInput | Next::Want(_) | Next::Pause => Ok(false),
        }
    }

    /// Returns the next row as stored, and keeps other rows that were read with it.
    async fn walk_rows(
        &mut self,
        views: &Views,
        wanted: usize,
        remaining: Option<u64>,
    ) -> Result<Option<PendingResult>, Halt> {
        let (view_index, output, checked_in) = (self.view_index, self.output, self.view);
        let (Some(view), Some(finder)) = (views.view_at(view_index), &mut self.finder) else {
            return Ok(None);
        };
        // A cancelled or timed-out operation ends between pages.
        self.context.budget.check()?;
        let left = remaining.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
        let rows =
            finder.take_matching(view, &self.context, wanted.min(left).min(PAGE_ROWS)).await?;
        let finder = &*finder;
        let mut held = rows
            .into_iter()
            .map(|row| PendingResult::of_row(row, view_index, finder, output, checked_in));
        // The remaining rows are held back as checked in this view.
        let first = held.next();
        self.caught_up = self.follows && first.is_none();
        self.pending.extend(held);
        Ok(first)
    }

    /// Returns the next document that the stages produce.
    async fn run_stages(
        &mut self,
        running: &mut Running,
        views: &Views,
        wanted: usize,
    ) -> Result<Option<PendingResult>, Halt> {
        loop {
            match running.exec.next()? {
                // Stages may have buffered the source rows of this result since the first view.
                Next::Row(row) => {
                    let finder = self.finder.as_ref();
                    let result =
                        PendingResult::of_output(row, finder, self.output, self.first_view);
                    return Ok(Some(result));
                }
                Next::Done => return Ok(None),
                Next::Want(request) => {
                    // The stage reserves memory for the rows that it keeps.
                    let (rows, _held) = self.rows_for_stage(views, request).await?;
                    running.exec.supply(rows)?;
                }
                Next::Pause => {
                    self.context.budget.check()?;
                    yield_now().await;
                }
                Next::NeedInput => {
                    self.context.budget.check()?;
                    self.feed_stages(running, views, wanted).await?;
                    if self.caught_up {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Passes a page of rows to the stages.
    async fn feed_stages(
        &mut self,
        running: &mut Running,
        views: &Views,
        wanted: usize,
    ) -> Result<(), Halt> {
        let view_index = self.view_index;
        let (Some(view), Some(finder), false) =
            (views.view_at(view_index), &mut self.finder, running.input_ended)
        else {
            running.exec.finish_input();
            return Ok(());
        };
        if running.counting.is_some() {
            return count_on(running, view, finder, &self.context).await;
        }
        // Streaming stages get no more rows than the batch needs.
        let streaming = exec::is_streaming(&running.stages);
        let wanted = if streaming { wanted.min(PAGE_ROWS) } else { PAGE_ROWS };
        let rows = finder.take_matching(view, &self.context, wanted).await?;
        if rows.is_empty() {
            if self.follows {
                self.caught_up = true;
                return Ok(());
            }
            running.input_ended = true;
            running.exec.finish_input();
        }
        // Origins are created only if needed, since they copy each row's key and header.
        let carried = carries_origin(&running.stages);
        for row in rows {
            if !running.exec.may_use(row.document()) {
                continue;
            }
            let origin = carried.then(|| origin::of_row(&row, view_index));
            let document = DocBuf::from_trusted(row.into_body());
            running.exec.offer_row(exec::Row { document, source: Source::stored_at(origin) })?;
        }
        Ok(())
    }
}

/// Counts another page of rows; at the end, passes the row with the count to the stages.
async fn count_on(
    running: &mut Running,
    view: &LiveView,
    finder: &mut Finder,
    context: &Context,
) -> Result<(), Halt> {
    let Some(counting) = &mut running.counting else { return Ok(()) };
    let left = counting.count_pipeline.max_rows().map(|most| most.saturating_sub(counting.rows));
    let wanted = left.map_or(PAGE_ROWS, |left| usize::try_from(left).unwrap_or(PAGE_ROWS));
    let page = match wanted {
        0 => None,
        _ => finder.count_page(view, context, wanted).await?,
    };
    if let Some(live) = page {
        // A page may contain more rows than needed.
        counting.rows += live.min(left.unwrap_or(live));
        return Ok(());
    }
    let row = counting.count_pipeline.row_of(counting.rows)?;
    running.input_ended = true;
    if let Some(row) = row {
        running.exec.offer_row(row)?;
    }
    running.exec.finish_input();
    Ok(())
}

/// Returns whether stored documents can reach the output, so that their origins (`origin.rs`) have
/// to be recorded. False if a stage creates new documents, such as `$group`: its result stays valid
/// when a source document expires later, since the document was live when it was read.
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
