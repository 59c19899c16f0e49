//! Several pipelines over the same rows (`$facet`); what they want of other collections is passed
//! on.
//!
//! Each part is an `Exec` of its own. A row is offered to all of them; then each is driven until it
//! needs input, and its results are kept. The parts share one holding, so that together they hold
//! no more than one stage may.

use std::sync::Arc;

use document::{DocBuf, DocBuilder};
use evaluation::{Context, Error, Holding};

use super::{
    Exec, Meter, Next, Row, Stage, caller_error,
    operator::{Operator, Poll},
    size::{checked_size, room_for},
};
use crate::limits::MAX_STAGE_BYTES;

/// What a row of a part takes beside its bytes.
const PLACE: usize = 64;

/// One pipeline of a facet.
/// It runs in the operation that `inner` of the facet describes, as all parts do.
#[derive(Debug)]
struct FacetPart {
    /// The field of the result.
    name: String,
    /// What it does.
    stages: Arc<[Stage]>,
    /// The pipeline, running; none before the facet is first driven.
    exec: Option<Exec>,
    /// Its results.
    rows: Vec<DocBuf>,
    /// Whether it has given all of them.
    done: bool,
}

/// A facet, running.
#[derive(Debug)]
pub(super) struct Faceting {
    /// Its pipelines with their results.
    parts: Vec<FacetPart>,
    /// The part that wants rows of another collection.
    /// One at a time: a part that wants something is answered before others go on.
    waiting: Option<usize>,
    /// Counts the results of all parts.
    meter: Meter,
    /// What all parts may hold together.
    holding: Holding,
    /// What the operation may hold.
    outer: Holding,
    /// The operation with that.
    inner: Option<Arc<Context>>,
    /// Whether all rows have come.
    /// Said to each part when it is driven the next time.
    ended: bool,
    /// Whether the one row was returned.
    answered: bool,
}

impl Faceting {
    /// A facet of these pipelines.
    pub(super) fn new(facets: &[(String, Arc<[Stage]>)], holding: &Holding) -> Self {
        let outer = holding.clone();
        let holding = holding.part_within(MAX_STAGE_BYTES);
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
            meter: Meter::new("$facet", &holding),
            holding,
            outer,
            inner: None,
            ended: false,
            answered: false,
        }
    }

    /// The operation as the parts see it: the same, with the memory that they share.
    /// It is made once, since rows refer to it for as long as they live.
    fn inner_context(&mut self, context: &Arc<Context>) -> Arc<Context> {
        let inner =
            || Arc::new(Context { holding: self.holding.clone(), ..Context::clone(context) });
        Arc::clone(self.inner.get_or_insert_with(inner))
    }

    /// Drives every part as far as it goes; returns a want or a pause, if one came up.
    /// Parts that are done are passed over. After a pause or a want it begins again with the first
    /// part; those that need input say so at once.
    fn drive_parts(&mut self, context: &Arc<Context>) -> Result<Option<Poll>, Error> {
        let context = &self.inner_context(context);
        for (at, part) in self.parts.iter_mut().enumerate() {
            let exec = part
                .exec
                .get_or_insert_with(|| Exec::new(Arc::clone(&part.stages), Arc::clone(context)));
            // Said each time: it does no harm twice.
            if self.ended {
                exec.finish_input();
            }
            // A part may return several rows for one that it was offered.
            while !part.done {
                match exec.next()? {
                    Next::Row(row) => {
                        // The block of the store that it came in shall not wait with it.
                        let document = row.document.detached();
                        self.meter.add_bytes(document.bytes().len() + PLACE)?;
                        part.rows.push(document);
                    }
                    // The row was taken in; the next part has its turn.
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

    /// The one row: an array of results for each part.
    /// It fails where it would be larger than a document may become on its way.
    fn facet_row(&mut self) -> Result<Poll, Error> {
        self.answered = true;
        // All parts together may hold several times as much as a document.
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

impl Operator for Faceting {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        // A part with a limit may be done early; it is offered nothing any more.
        let context = &self.inner_context(context);
        for part in self.parts.iter_mut().filter(|part| !part.done) {
            let exec = part
                .exec
                .get_or_insert_with(|| Exec::new(Arc::clone(&part.stages), Arc::clone(context)));
            // Each part has its own copy of the row, which shares its bytes.
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
            None => Err(caller_error("no part of the facet wanted anything")),
        }
    }

    fn resume_input(&mut self) {
        // All parts, since each may have kept what it read of another collection.
        self.waiting = None;
        self.parts.iter_mut().filter_map(|part| part.exec.as_mut()).for_each(Exec::resume);
    }
}
