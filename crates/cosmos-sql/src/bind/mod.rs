//! A tree to a plan: names become slots, parameters become constants, functions are found in their
//! table. One binder binds a query with all queries inside it, so that slots are never used twice.
//!
//! Each query has a frame: its names, its group keys, and whether its expressions see rows or
//! groups at the moment. A name is looked for in the frames from the innermost outward. The clauses
//! are bound in the order in which they run: FROM gives names, WHERE and GROUP BY see rows, then
//! SELECT and ORDER BY see groups if there are any.

mod call;
mod expression;
mod from;
mod paths;
mod scope;

use std::collections::HashMap;

use document::Value;
use select::plan::{Clauses, DOCUMENT, Expr, Group, Order, Projection, Select, Window};

use self::scope::{Phase, QueryFrame};
use crate::{
    ast::{ClauseCount, Item, Node, NodeKind, PathStep, Query, Selection},
    error::{Fault, Span},
    limits::{MAX_FILLED_BYTES, MAX_PARAMETER_DEPTH},
};

pub(crate) use call::has_aggregate as aggregates;

/// The counts of TOP, and of OFFSET and LIMIT.
pub(crate) type Counts = (Option<u64>, Option<(u64, u64)>);

/// Returns the counts of a query, parameters filled in.
/// For plans of clients, which count by themselves.
pub(crate) fn window_counts(
    query: &Query,
    parameters: &[(String, Value)],
) -> Result<Counts, Fault> {
    let binder = Binder::new(parameters);
    let top = query.top.as_ref().map(|top| binder.count_value(top)).transpose()?;
    let limits = match &query.window {
        Some((offset, limit)) => Some((binder.count_value(offset)?, binder.count_value(limit)?)),
        None => None,
    };
    Ok((top, limits))
}

/// The plan of a query. Where it is refused, each clause is told that a query inside another one may
/// not have, and what is wrong otherwise.
pub(crate) fn bind_query(
    query: &Query,
    parameters: &[(String, Value)],
) -> Result<Select, Vec<Fault>> {
    // Before anything is bound: constants of the plan are walked by recursion.
    let too_deep =
        parameters.iter().find(|(_, value)| !is_within_depth(value, MAX_PARAMETER_DEPTH));
    if let Some((name, _)) = too_deep {
        let message = format!("The value of '{name}' is nested too deeply.");
        return Err(vec![Fault::Limit(Span::default(), "SC3054", message)]);
    }
    let mut binder = Binder::new(parameters);
    let bound = binder.bind_inner_query(query);
    let mut faults = binder.refused_clauses;
    match bound {
        Ok(select) if faults.is_empty() => Ok(select),
        Ok(_) => Err(faults),
        Err(fault) => {
            faults.push(fault);
            Err(faults)
        }
    }
}

/// Whether a parameter's value is nested no deeper than `depth` levels.
/// Values of parameters come from outside and are walked by recursion later; this walk is itself
/// no deeper than the limit.
fn is_within_depth(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(values) => {
            depth > 0 && values.iter().all(|value| is_within_depth(value, depth - 1))
        }
        Value::Document(fields) => {
            depth > 0 && fields.fields().iter().all(|(_, value)| is_within_depth(value, depth - 1))
        }
        _ => true,
    }
}

/// Binds one query and all queries inside it.
struct Binder<'q> {
    /// Values by name, `@` included.
    parameters: HashMap<&'q str, &'q Value>,
    /// Queries around the place that is bound, the innermost last.
    frames: Vec<QueryFrame<'q>>,
    /// The number of the next slot.
    /// Slot 0 is the stored document, in all queries of one text.
    slots: usize,
    /// Bytes of parameters that were filled in.
    /// See [`MAX_FILLED_BYTES`].
    filled: usize,
    /// Clauses of inner queries that only the outermost may have. Binding goes on behind them, so that
    /// all are found.
    refused_clauses: Vec<Fault>,
}

impl<'q> Binder<'q> {
    /// A binder that stands in no query yet.
    fn new(parameters: &'q [(String, Value)]) -> Self {
        let parameters = parameters.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let (frames, refused_clauses) = (Vec::new(), Vec::new());
        Self { parameters, frames, slots: DOCUMENT + 1, filled: 0, refused_clauses }
    }

    /// A slot that nothing uses yet.
    fn next_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Binds a query in a frame of its own.
    fn bind_inner_query(&mut self, query: &'q Query) -> Result<Select, Fault> {
        if !self.frames.is_empty() {
            self.refused_clauses.extend(refused_inside(query));
        }
        self.frames.push(QueryFrame::default());
        let clauses = self.bind_clauses(query);
        // Also after an error, before it is passed on.
        self.frames.pop();
        Ok(Select::new(clauses?))
    }

    /// Binds the clauses in the order in which they run.
    /// Keys of GROUP BY are bound while rows are seen, so that no key is taken for another.
    fn bind_clauses(&mut self, query: &'q Query) -> Result<Clauses, Fault> {
        // FROM first, since all other clauses use its names.
        let from = self.bind_from(&query.from)?;
        let filter = query.filter.as_ref().map(|filter| self.bind_expr(filter)).transpose()?;
        let grouped = !query.group.is_empty() || has_aggregate(query);
        let mut keys = Vec::new();
        for key in &query.group {
            let expr = self.bind_expr(key)?;
            let slot = self.next_slot();
            // The plan has the bound key, the frame the written one, by which it is found again.
            keys.push((expr, slot));
            self.current_frame().keys.push((key, slot));
        }
        // From here on names of rows can be used inside aggregates only.
        if grouped {
            self.current_frame().phase = Phase::Groups;
        }
        let projection = self.bind_projection(query, &from)?;
        let order = self.bind_order(query, grouped && query.group.is_empty())?;
        // Groups are ordered by their keys and results.
        if !grouped && !order.iter().all(|order| paths::is_document_path(&order.by, &from)) {
            return Err(Fault::NoPath);
        }
        // Taken after SELECT and ORDER BY, both of which may have added some.
        let aggregates = std::mem::take(&mut self.current_frame().aggregates);
        let window = self.bind_window(query)?;
        Ok(Clauses {
            slots: self.slots,
            from,
            filter,
            group: grouped.then_some(Group { keys, aggregates }),
            projection,
            distinct: query.distinct,
            order,
            order_in_output: query
                .order
                .iter()
                .all(|item| is_selected(&query.selection, &item.node)),
            window,
        })
    }

    /// ORDER BY. Where all rows make `one` result, the order of rows has no effect, and only
    /// aggregates may be ordered by.
    /// Items that are left out are bound all the same, for their errors.
    fn bind_order(&mut self, query: &'q Query, one: bool) -> Result<Vec<Order>, Fault> {
        let mut order = Vec::with_capacity(query.order.len());
        for item in &query.order {
            if one && !call::has_aggregate(&item.node) {
                // It has to be right all the same.
                self.current_frame().phase = Phase::Aggregate;
                let checked = self.bind_expr(&item.node);
                self.current_frame().phase = Phase::Groups;
                checked?;
                continue;
            }
            order.push(Order { by: self.bind_expr(&item.node)?, descending: item.descending });
        }
        Ok(order)
    }

    /// SELECT. `SELECT *` is one row's only source; names of a list may not repeat.
    /// An item without a name is called `$1` and so on; one alias may not stand twice.
    fn bind_projection(
        &mut self,
        query: &'q Query,
        from: &[select::plan::Source],
    ) -> Result<Projection, Fault> {
        match &query.selection {
            Selection::Star(at) => match from {
                [] => Err(Fault::StarWithoutFrom(at.0)),
                [source] if self.current_frame().phase == Phase::Rows => {
                    Ok(Projection::Star(source.slot))
                }
                // A group has no one document that `*` could stand for.
                [_] => Err(Fault::Ungrouped(at.0)),
                _ => Err(Fault::StarOfMany(at.0)),
            },
            Selection::Value(node) => Ok(Projection::Value(self.bind_expr(node)?)),
            Selection::List(items) => {
                let mut fields: Vec<(String, Expr)> = Vec::with_capacity(items.len());
                let mut names = std::collections::HashSet::new();
                for (name, item) in names_of(items).into_iter().zip(items) {
                    if !names.insert(name.clone()) {
                        let at = item.alias.as_ref().map_or(item.node.span(), |(_, at)| at.0);
                        return Err(Fault::Duplicate(at, name));
                    }
                    fields.push((name, self.bind_expr(&item.node)?));
                }
                Ok(Projection::Fields(fields))
            }
        }
    }

    /// TOP, OFFSET and LIMIT as a window over the results.
    /// The parser has refused TOP together with OFFSET.
    fn bind_window(&mut self, query: &Query) -> Result<Window, Fault> {
        let mut window = Window::default();
        if let Some(top) = &query.top {
            window.take = Some(self.count_value(top)?);
        }
        if let Some((offset, limit)) = &query.window {
            window =
                Window { skip: self.count_value(offset)?, take: Some(self.count_value(limit)?) };
        }
        Ok(window)
    }

    /// The value of TOP, OFFSET or LIMIT; it has to be a whole number that is not negative.
    /// `2.0` is whole; a negative number, a fraction or any other type is an error that names the
    /// clause.
    fn count_value(&self, count: &ClauseCount) -> Result<u64, Fault> {
        let value = match &count.node.kind {
            NodeKind::Literal(value) => value,
            NodeKind::Parameter(name) => self.parameter_value(name, count.node.span())?,
            _ => return Err(Fault::Count(count.node.span(), count.clause)),
        };
        // Negative numbers fail the conversion.
        let whole = select::to_i64(value.as_ref()).and_then(|value| u64::try_from(value).ok());
        whole.ok_or_else(|| Fault::Count(count.node.span(), count.clause))
    }

    /// The value that came with the query for a parameter; `name` has its `@`.
    fn parameter_value(&self, name: &str, at: Span) -> Result<&'q Value, Fault> {
        let value = self.parameters.get(name).copied();
        value.ok_or_else(|| Fault::Parameter(at, name.to_owned()))
    }
}

impl Binder<'_> {
    /// A parameter as a constant: a copy for each place where it stands, which together are
    /// bounded.
    /// A small text could otherwise name one large parameter a great many times.
    fn fill_in_parameter(&mut self, name: &str, at: Span) -> Result<Value, Fault> {
        let value = self.parameter_value(name, at)?;
        self.filled = self.filled.saturating_add(evaluation::memory_of(value.as_ref()));
        if MAX_FILLED_BYTES < self.filled {
            let message = format!(
                "The parameters take more than {MAX_FILLED_BYTES} bytes where they are used."
            );
            return Err(Fault::Limit(at, "SC3057", message));
        }
        Ok(value.clone())
    }
}

/// The clauses of an inner query that only the outermost may have.
fn refused_inside(query: &Query) -> impl Iterator<Item = Fault> {
    let places = &query.places;
    let refused = [
        (!query.order.is_empty(), places.order, "SC2202", "'ORDER BY'"),
        (query.top.is_some(), places.top, "SC2203", "'TOP'"),
        (query.window.is_some(), places.window, "SC2204", "'OFFSET LIMIT' clause"),
    ];
    let found = refused.into_iter().filter(|(is_there, ..)| *is_there);
    found.map(|(_, at, code, clause)| Fault::InSubquery(at.0, code, clause))
}

/// The properties that the items of a list become: an alias, else the last name of a path, else
/// `$1`, `$2` and so on by position among those without a name.
/// The plan for clients names its fields by the same rule, so that both agree.
pub(crate) fn names_of(items: &[Item]) -> Vec<String> {
    let mut unnamed = 0;
    let name = |item: &Item| {
        if let Some((alias, _)) = &item.alias {
            return alias.clone();
        }
        let last = match &item.node.kind {
            NodeKind::Name(name) => Some(name.clone()),
            NodeKind::Member { steps, .. } => match steps.last() {
                Some(PathStep::Name(name)) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        last.unwrap_or_else(|| {
            unnamed += 1;
            format!("${unnamed}")
        })
    };
    items.iter().map(name).collect()
}

/// Whether what an expression comes to is known from what is selected: then DISTINCT and ORDER BY
/// work on the same values.
/// `*` selects the whole document, of which everything is known.
fn is_selected(selection: &Selection, node: &Node) -> bool {
    match selection {
        Selection::Star(_) => true,
        Selection::Value(value) => value == node,
        Selection::List(items) => items.iter().any(|item| item.node == *node),
    }
}

/// Whether a query aggregates its rows: an aggregate stands in SELECT or ORDER BY.
pub(crate) fn has_aggregate(query: &Query) -> bool {
    let ordered = query.order.iter().any(|item| call::has_aggregate(&item.node));
    ordered
        || match &query.selection {
            Selection::Star(_) => false,
            Selection::Value(node) => call::has_aggregate(node),
            Selection::List(items) => items.iter().any(|item| call::has_aggregate(&item.node)),
        }
}
