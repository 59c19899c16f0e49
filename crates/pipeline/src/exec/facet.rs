//! Runs several pipelines over the same rows (`$facet`). Their requests for other collections are
//! passed on to the caller.
//!
//! Each pipeline is a part of the facet and an `Exec` of its own. A row is offered to all parts;
//! then each part is driven until it needs input, and its results are kept. The parts share one
//! memory limit, that of one stage.

use std::sync::Arc;

use document::{DocBuf, DocBuilder};
use evaluation::{Context, Error, OperationMemory};

use super::{
    Exec, Meter, Next, Row, Stage, caller_error,
    operator::{Operator, Poll},
    size::{checked_size, room_for},
};
use crate::exec::meter::MAX_STAGE_BYTES;

/// Memory charged for a result row in addition to its bytes.
const ROW_OVERHEAD: usize = 64;

/// One pipeline of a facet; all of them run in the context `FacetOperator::inner`.
#[derive(Debug)]
struct FacetPart {
    /// Name of the result's field for this pipeline.
    name: String,
    stages: Arc<[Stage]>,
    /// The running pipeline; `None` before the facet is first driven.
    exec: Option<Exec>,
    rows: Vec<DocBuf>,
    /// Whether the pipeline has ended.
    done: bool,
}

#[derive(Debug)]
pub(super) struct FacetOperator {
    parts: Vec<FacetPart>,
    /// The part whose request for another collection is outstanding. The other parts wait for its
    /// answer, too.
    waiting: Option<usize>,
    /// Memory of the results of all parts.
    meter: Meter,
    /// The memory limit that the parts share.
    operation_memory: OperationMemory,
    /// The memory reservation of the whole operation.
    outer: OperationMemory,
    /// The context of the parts, with the shared memory limit.
    inner: Option<Arc<Context>>,
    /// Whether the input has ended; each pipeline is notified when it is driven next.
    ended: bool,
    /// Whether the result row was returned.
    answered: bool,
}

impl FacetOperator {
    pub(super) fn new(
        facets: &[(String, Arc<[Stage]>)],
        operation_memory: &OperationMemory,
    ) -> Self {
        let outer = operation_memory.clone();
        let operation_memory = operation_memory.part_within(MAX_STAGE_BYTES);
        let part = |(name, stages): &(String, Arc<[Stage]>)| FacetPart {
            name: name.clone(),
            stages: Arc::clone(stages),
            exec: None,
            rows: Vec::new(),
            done: false,
        };
        Self {
            parts: facets.iter().map(part).collect(),
            waiting: None,
            meter: Meter::new("$facet", &operation_memory),
            operation_memory,
            outer,
            inner: None,
            ended: false,
            answered: false,
        }
    }

    /// Returns the operation's context with the memory limit of the parts. It is created once,
    /// because rows keep references to it.
    fn inner_context(&mut self, context: &Arc<Context>) -> Arc<Context> {
        let inner = || {
            Arc::new(Context {
                operation_memory: self.operation_memory.clone(),
                ..Context::clone(context)
            })
        };
        Arc::clone(self.inner.get_or_insert_with(inner))
    }

    /// Drives every part until it needs input; returns a request or a pause if one comes up. The
    /// next call starts again with the first part; parts that still need input return immediately.
    fn drive_parts(&mut self, context: &Arc<Context>) -> Result<Option<Poll>, Error> {
        let context = &self.inner_context(context);
        for (at, part) in self.parts.iter_mut().enumerate() {
            let exec = part
                .exec
                .get_or_insert_with(|| Exec::new(Arc::clone(&part.stages), Arc::clone(context)));
            // Repeated calls of `finish_input` have no effect.
            if self.ended {
                exec.finish_input();
            }
            // A part may return several rows for one input row.
            while !part.done {
                match exec.next()? {
                    Next::Row(row) => {
                        // A copy, so that the kept row does not keep a block of the store in
                        // memory.
                        let document = row.document.detached();
                        self.meter.add_bytes(document.bytes().len() + ROW_OVERHEAD)?;
                        part.rows.push(document);
                    }
                    // The part has consumed all input offered so far.
                    Next::NeedInput => break,
                    Next::Pause => return Ok(Some(Poll::Pause)),
                    Next::Done => part.done = true,
                    Next::Want(request) => {
                        self.waiting = Some(at);
                        return Ok(Some(Poll::Want(Box::new(request))));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the result row, with an array of results for each part. Fails if it exceeds the
    /// maximum size between stages.
    fn facet_row(&mut self) -> Result<Poll, Error> {
        self.answered = true;
        // The results of all parts may exceed the size of a document many times, so memory is
        // reserved.
        let rows = self.parts.iter().flat_map(|part| &part.rows);
        let _room = room_for(rows.map(|row| row.bytes().len()).sum(), &self.outer)?;
        let mut builder = DocBuilder::new();
        for part in &mut self.parts {
            let rows = std::mem::take(&mut part.rows);
            builder.array(&part.name, |array| {
                for row in &rows {
                    array.push(document::ValueRef::Document(row.as_ref()));
                }
            });
        }
        self.meter.clear_held();
        Ok(Poll::Row(Row::not_stored(checked_size(builder.finish())?)))
    }
}

impl Operator for FacetOperator {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // A part with a limit may have ended early.
        let context = &self.inner_context(context);
        for part in self.parts.iter_mut().filter(|part| !part.done) {
            let exec = part
                .exec
                .get_or_insert_with(|| Exec::new(Arc::clone(&part.stages), Arc::clone(context)));
            // The clone shares the row's bytes.
            exec.offer_row(Row::not_stored(row.document.clone()))?;
        }
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if self.answered {
            return Ok(Poll::Done);
        }
        if let Some(first) = self.drive_parts(context)? {
            return Ok(first);
        }
        if self.parts.iter().all(|part| part.done) { self.facet_row() } else { Ok(Poll::Need) }
    }

    fn supply_wanted(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        let part = self.waiting.take().and_then(|at| self.parts.get_mut(at));
        match part.and_then(|part| part.exec.as_mut()) {
            Some(exec) => exec.supply(rows),
            None => Err(caller_error("no part of the facet requested documents")),
        }
    }

    fn resume_input(&mut self) {
        // Each part repeats its request and drops rows kept from other collections.
        self.waiting = None;
        self.parts.iter_mut().filter_map(|part| part.exec.as_mut()).for_each(Exec::resume);
    }
}
