//! A breadth-first search along references from each row into another collection (`$graphLookup`).
//! Each step requests all documents that the values found in the step before refer to.
//!
//! ```text
//! start values -> frontier -> Want(documents whose `to` is among them)
//!                    ^                        |
//!                    `-- values at `from` <---'     until nothing new, or max_depth
//! ```
//!
//! Each value is searched for once and each document is found once, so that cycles end.

use std::{collections::HashSet, sync::Arc};

use document::{
    Path, Value, ValueRef,
    key::{TypeOrder, encode},
};
use evaluation::{Context, Error, memory_of};

use super::{
    Meter, Request, Row, Source,
    joins::set_at_path,
    operator::{Operator, Poll, Slot},
    size::checked_size,
};
use crate::{
    expr::{Env, Expr},
    filter::{Filter, InSet, PathTest},
    path::values_for_join,
};

/// The `$graphLookup` stage of a plan.
#[derive(Clone, Debug)]
pub struct GraphLookup {
    /// The name of the collection to search.
    pub collection: String,
    /// The expression of the start value, or of an array of start values.
    pub start: Expr,
    /// The path of the values to search for next, in a found document (`connectFromField`).
    pub from: Path,
    /// The path that is compared with the values to search for, in a document (`connectToField`).
    pub to: Path,
    /// The path that receives the array of found documents.
    pub name: Path,
    /// Number of the last step of the search, from 0; `None` for no limit.
    pub max_depth: Option<u64>,
    /// The path in a found document that receives the number of the step in which it was found.
    pub depth_name: Option<Path>,
    /// Restricts the documents that are found.
    pub filter: Option<Filter>,
}

/// The search that starts from one row.
///
/// ```text
/// start "a"     ->  step 0 finds {_id: "a", next: "b"}
/// frontier "b"  ->  step 1 finds {_id: "b", next: "a"}
/// "a" was searched for before: the search ends
/// ```
#[derive(Debug)]
struct ReferenceWalk {
    /// The row that starts the search.
    row: Row,
    /// Values for the next step; if there are none, the search ends.
    frontier: Vec<Value>,
    /// Canonical encodings of all values that were searched for, so that `1` and `1.0` are searched
    /// for once.
    searched: HashSet<Vec<u8>>,
    /// The context of the operation, which decides which values are equal.
    context: Arc<Context>,
    /// Canonical encodings of the ids of all found documents.
    seen: HashSet<Vec<u8>>,
    /// Found documents, in the order of their arrival.
    found: Vec<Value>,
    /// The sources of the found documents.
    from: Vec<Source>,
    /// The number of finished steps.
    depth: u64,
    meter: Meter,
}

#[derive(Debug)]
pub(super) struct GraphLookupOperator {
    graph: GraphLookup,
    /// The input row whose search starts next.
    slot: Slot,
    /// The current search, which spans several requests.
    walk: Option<ReferenceWalk>,
}

impl ReferenceWalk {
    /// Adds a value to the next step unless it was searched for before. Its canonical encoding
    /// stays in memory after the step.
    fn add_to_frontier(&mut self, value: Value) -> Result<(), Error> {
        let mut key = Vec::new();
        self.context.encode_value(value.as_ref(), &mut key);
        let bytes = key.len() + 64 + memory_of(value.as_ref());
        if self.searched.insert(key) {
            self.frontier.push(value);
            self.meter.add_bytes(bytes)?;
        }
        Ok(())
    }

    /// Adds a found document, and the values that it refers to. Does nothing if it was found
    /// before.
    fn add_found(&mut self, row: Row, graph: &GraphLookup) -> Result<(), Error> {
        let document = &row.document;
        // Ids that are equal by a collation still belong to different documents.
        let mut id = Vec::new();
        encode(document.get("_id").unwrap_or(ValueRef::Undefined), TypeOrder::Bson, false, &mut id);
        if !self.seen.insert(id) {
            return Ok(());
        }
        // The accounted size is that of a tree, to which the document is decoded.
        self.meter.add_bytes(
            memory_of(ValueRef::Document(document.as_ref())) + row.source.weight_of_source() + 64,
        )?;
        // Also done in the last step, whose values are then not searched for.
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

impl GraphLookupOperator {
    pub(super) fn new(graph: GraphLookup) -> Self {
        Self { graph, slot: Slot::default(), walk: None }
    }

    /// Returns the filter for documents that these values refer to. Null does not match documents
    /// without the field. Each step is one request for any number of values, so that an index
    /// serves it.
    fn frontier_filter(&self, values: Vec<Value>) -> Filter {
        let path = || self.graph.to.clone();
        let null = values.iter().any(|value| value.as_ref().is_nullish());
        let one = Filter::Path(path(), PathTest::In(InSet::new(values, Vec::new())));
        // Equality with null matches a missing field, too.
        let there = null.then(|| Filter::Path(path(), PathTest::Exists));
        let rest: Vec<Filter> = there.into_iter().chain(self.graph.filter.clone()).collect();
        if rest.is_empty() { one } else { Filter::And([vec![one], rest].concat()) }
    }

    /// Starts the search of a row. With a missing start value it finds nothing, and the row gets an
    /// empty array.
    fn start_walk(&self, row: Row, context: &Arc<Context>) -> Result<ReferenceWalk, Error> {
        let first = self.graph.start.evaluate(&Env::new(row.document.as_ref(), context))?;
        let mut walk = ReferenceWalk {
            row,
            frontier: Vec::new(),
            searched: HashSet::new(),
            context: Arc::clone(context),
            seen: HashSet::new(),
            found: Vec::new(),
            from: Vec::new(),
            depth: 0,
            meter: Meter::new("$graphLookup", &context.operation_memory),
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

impl Operator for GraphLookupOperator {
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
        let within = self.graph.max_depth.is_none_or(|most| walk.depth <= most);
        // The search has ended: the found documents are added to the row.
        if walk.frontier.is_empty() || !within {
            let found = Value::Array(walk.found);
            let (base, path) = (walk.row.document, &self.graph.name);
            let document = checked_size(set_at_path(path, found, &base)?)?;
            let source = walk.row.source.after_join(&base, &document, path, walk.from.into());
            return Ok(Poll::Row(Row { document, source }));
        }
        // The next step starts with an empty frontier.
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
            // `depth` is the step of these documents while they are added.
            walk.depth += 1;
        }
        Ok(())
    }

    fn resume_input(&mut self) {
        // The search restarts with its row, because found documents may have expired or changed in
        // the new view.
        if let Some(walk) = self.walk.take() {
            self.slot.row = Some(walk.row);
        }
    }
}
