//! A walk along references from one row into another collection (`$graphLookup`), breadth first:
//! each step asks for all documents that the values found in the step before lead to.
//!
//! ```text
//! start values -> frontier -> Want(documents whose `to` is among them)
//!                    ^                        |
//!                    `-- values at `from` <---'     until nothing new, or max_depth
//! ```
//!
//! A value is searched for once and a document is found once, so that circles end.

use std::{collections::HashSet, sync::Arc};

use document::{
    Path, Value, ValueRef,
    key::{TypeOrder, encode},
};
use evaluation::{Context, Error, memory_of};

use super::{
    Meter, Request, Row, Source,
    joins::set_at_path,
    operator::{Operator, Poll},
    size::checked_size,
    slot::Slot,
};
use crate::{
    expr::{Env, Expr},
    filter::{Filter, InSet, PathTest},
    path::values_for_join,
};

/// Where a walk starts and which references it follows.
#[derive(Clone, Debug)]
pub struct GraphLookup {
    /// The collection.
    pub collection: String,
    /// The first values; an array is several.
    pub start: Expr,
    /// Where a found document holds the values that are searched for next.
    pub from: Path,
    /// Where a document holds the value that is led to.
    pub to: Path,
    /// Where the array of found documents goes.
    pub name: Path,
    /// The last step, counted from 0.
    pub max_depth: Option<u64>,
    /// Where a found document says in which step it was found.
    pub depth_name: Option<Path>,
    /// Which documents count at all.
    pub filter: Option<Filter>,
}

/// The walk of one row, breadth first: each step asks for all documents that the values of the step
/// before lead to.
///
/// ```text
/// start "a"     ->  step 0 finds {_id: "a", next: "b"}
/// frontier "b"  ->  step 1 finds {_id: "b", next: "a"}
/// "a" was searched for before: the walk ends
/// ```
#[derive(Debug)]
struct ReferenceWalk {
    /// The row that the walk is of.
    row: Row,
    /// Values that the next step searches for.
    /// Empty when nothing new was found, which ends the walk.
    frontier: Vec<Value>,
    /// Keys of all values that were searched for.
    /// Keys and not values, so that `1` and `1.0` are searched for once.
    searched: HashSet<Vec<u8>>,
    /// Keys of the ids of all documents that were found.
    seen: HashSet<Vec<u8>>,
    /// Documents that were found.
    /// In the order in which they came; one stage may hold no more than its limit.
    found: Vec<Value>,
    /// Where each of the found documents came from.
    from: Vec<Source>,
    /// The step that is done, from 0.
    depth: u64,
    /// Counts what the walk holds.
    meter: Meter,
}

/// Walks, running.
#[derive(Debug)]
pub(super) struct Walking {
    /// What is looked for.
    graph: GraphLookup,
    /// The row whose walk begins next.
    slot: Slot,
    /// The walk under way; it lasts for several answers of the caller.
    walk: Option<ReferenceWalk>,
}

/// A value as bytes that are equal for equal values.
fn key_of(value: ValueRef<'_>) -> Vec<u8> {
    let mut key = Vec::new();
    encode(value, TypeOrder::Bson, false, &mut key);
    key
}

impl ReferenceWalk {
    /// Searches for a value in the next step, unless it was searched for before.
    /// The bytes are counted with its key, which stays after the step.
    fn add_to_frontier(&mut self, value: Value) -> Result<(), Error> {
        let key = key_of(value.as_ref());
        let bytes = key.len() + 64 + memory_of(value.as_ref());
        if self.searched.insert(key) {
            self.frontier.push(value);
            self.meter.add_bytes(bytes)?;
        }
        Ok(())
    }

    /// Takes a document that was found, and the values that lead on from it.
    /// One that was found before is left out, also where it was found in an earlier step.
    fn add_found(&mut self, row: Row, graph: &GraphLookup) -> Result<(), Error> {
        let document = &row.document;
        let id = key_of(document.get("_id").unwrap_or(ValueRef::Undefined));
        if !self.seen.insert(id) {
            return Ok(());
        }
        // It becomes a tree.
        self.meter.add_bytes(
            memory_of(ValueRef::Document(document.as_ref())) + row.source.weight_of_source() + 64,
        )?;
        // Also of the last step that is allowed: its values are then not searched for.
        for value in values_for_join(document.as_ref(), &graph.from) {
            self.add_to_frontier(value)?;
        }
        let depth = Value::Int64(i64::try_from(self.depth).unwrap_or(i64::MAX));
        self.found.push(match &graph.depth_name {
            Some(name) => Value::from(set_at_path(name, depth, document)?.as_ref()),
            None => Value::from(document.as_ref()),
        });
        self.from.push(row.source);
        Ok(())
    }
}

impl Walking {
    /// The stage before its first row.
    pub(super) fn new(graph: GraphLookup) -> Self {
        Self { graph, slot: Slot::default(), walk: None }
    }

    /// The filter for what these values lead to; null does not lead to documents that lack the
    /// field.
    /// Each step is one request however many values there are, so that an index serves it.
    fn frontier_filter(&self, values: Vec<Value>) -> Filter {
        let path = || self.graph.to.clone();
        let null = values.iter().any(|value| value.as_ref().is_nullish());
        let one = Filter::Path(path(), PathTest::In(InSet::new(values, Vec::new())));
        // Equality with null is met by a missing field, too.
        let there = null.then(|| Filter::Path(path(), PathTest::Exists));
        let rest: Vec<Filter> = there.into_iter().chain(self.graph.filter.clone()).collect();
        if rest.is_empty() { one } else { Filter::And([vec![one], rest].concat()) }
    }

    /// The walk of a row, at its first values.
    /// A missing start value searches for nothing, and the row gets an empty array.
    fn start_walk(&self, row: Row, context: &Context) -> Result<ReferenceWalk, Error> {
        let first = self.graph.start.evaluate(&Env::new(row.document.as_ref(), context))?;
        let mut walk = ReferenceWalk {
            row,
            frontier: Vec::new(),
            searched: HashSet::new(),
            seen: HashSet::new(),
            found: Vec::new(),
            from: Vec::new(),
            depth: 0,
            meter: Meter::new("$graphLookup", &context.holding),
        };
        match first {
            Some(Value::Array(values)) => {
                values.into_iter().try_for_each(|value| walk.add_to_frontier(value))?;
            }
            Some(value) => walk.add_to_frontier(value)?,
            None => {}
        }
        Ok(walk)
    }
}

impl Operator for Walking {
    fn accept_row(&mut self, row: Row, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.row = Some(row);
        Ok(())
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.slot.ended = true;
        Ok(())
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        let mut walk = match self.walk.take() {
            Some(walk) => walk,
            None => match self.slot.poll_slot() {
                Poll::Row(row) => self.start_walk(row, context)?,
                poll => return Ok(poll),
            },
        };
        // The first step has depth 0.
        let within = self.graph.max_depth.is_none_or(|most| walk.depth <= most);
        // The walk is over: the found documents go into the row.
        if walk.frontier.is_empty() || !within {
            let found = Value::Array(walk.found);
            let (base, path) = (walk.row.document, &self.graph.name);
            let document = checked_size(set_at_path(path, found, &base)?)?;
            let source = walk.row.source.after_join(&base, &document, path, walk.from.into());
            return Ok(Poll::Row(Row { document, source }));
        }
        // The values are taken out: those that the answer brings are the next step's.
        let filter = self.frontier_filter(std::mem::take(&mut walk.frontier));
        self.walk = Some(walk);
        Ok(Poll::Want(Box::new(Request {
            database: None,
            collection: self.graph.collection.clone(),
            filter,
            stages: Vec::new().into(),
            context: Arc::clone(context),
        })))
    }

    fn supply_wanted(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        if let Some(walk) = &mut self.walk {
            rows.into_iter().try_for_each(|row| walk.add_found(row, &self.graph))?;
            // The documents of this answer have the depth of the step that asked for them.
            walk.depth += 1;
        }
        Ok(())
    }

    fn resume_input(&mut self) {
        // The walk begins anew with its row: what it found may be gone in the new view.
        if let Some(walk) = self.walk.take() {
            self.slot.row = Some(walk.row);
        }
    }
}
