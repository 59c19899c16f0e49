//! Binds a tree to a plan: names become slots (indexes of the values at run time), parameters
//! become constants, functions are looked up. One binder binds a query with all its subqueries, so
//! that every slot is unique.
//!
//! Each query has a frame, which contains its names, its group keys, and whether expressions
//! currently refer to rows or to groups. A name is resolved from the innermost frame outward. The
//! clauses are bound in the order of execution: FROM defines names, WHERE and GROUP BY refer to
//! rows, then ORDER BY and SELECT refer to groups if there are any.
//!
//! After a fault binding continues with an undefined value in place of the expression, so that all
//! faults are reported together, in the order of Azure Cosmos DB.

mod call;
mod elements;
mod equality;
mod expression;
mod frame;
mod from;
mod parameters;
mod paths;
mod properties;
mod scope;

use std::collections::HashMap;

use document::Value;
use select::functions::Surface;
use select::plan::{Clauses, DOCUMENT, Expr, Group, Projection, Select, Source};

use self::{
    frame::{Elements, Phase, QueryFrame, RowSource},
    parameters::is_within_depth,
    properties::Origin,
    scope::{is_selected, left_names, place_of_name, reads_rid},
};
use crate::{
    ast::{Node, Query, Selection, TextPosition},
    bind::parameters::MAX_PARAMETER_DEPTH,
    error::{Clause, Fault, MAX_DIAGNOSTICS, Span, is_joined_too_often},
};

pub(crate) use call::has_aggregate as aggregates;
pub(crate) use paths::orders_one_count;
pub(crate) use scope::names_of;

/// The counts of TOP, and of OFFSET and LIMIT.
pub(crate) type Counts = (Option<u64>, Option<(u64, u64)>);

/// Returns the counts of TOP, OFFSET and LIMIT of a checked query, with parameters replaced by
/// their values, for the query plans that clients request.
pub(crate) fn window_counts(query: &Query, parameters: &[(String, Value)]) -> Counts {
    let mut binder = Binder::new(parameters);
    let top = query.top.as_ref().map(|top| binder.count_value(top));
    let limits = query.window.as_ref();
    let limits =
        limits.map(|(offset, limit)| (binder.count_value(offset), binder.count_value(limit)));
    (top, limits)
}

/// Binds a query to a plan over geometries of a surface; returns all faults if there are any.
pub(crate) fn bind_query(
    query: &Query,
    parameters: &[(String, Value)],
    surface: Surface,
) -> Result<Select, Vec<Fault>> {
    bind_with(Binder { surface, ..Binder::new(parameters) }, query)
}

/// Checks a query. A parameter without a value is not a fault: a client may request a plan without
/// values.
pub(crate) fn check_query(query: &Query, parameters: &[(String, Value)]) -> Result<(), Vec<Fault>> {
    bind_with(Binder { needs_values: false, ..Binder::new(parameters) }, query).map(|_| ())
}

/// Binds an outermost query with a new binder.
fn bind_with<'q>(mut binder: Binder<'q>, query: &'q Query) -> Result<Select, Vec<Fault>> {
    // The nesting of parameters is checked first, because constants of the plan are processed
    // recursively.
    let too_deep = binder
        .parameters
        .iter()
        .find(|(_, value)| !is_within_depth(value, MAX_PARAMETER_DEPTH))
        .map(|(name, _)| format!("The value of '{name}' is nested too deeply."));
    if let Some(message) = too_deep {
        return Err(vec![Fault::Limit(Span::default(), "SC3054", message)]);
    }
    let bound = binder.bind_inner_query(query);
    let mut faults = binder.faults;
    match bound {
        Err(fault) => faults.push(fault),
        Ok(_) if !faults.is_empty() => {}
        Ok(_) if is_joined_too_often(query.count_joins()) => faults.push(Fault::Joins),
        Ok(_) if binder.orders_by_no_path => faults.push(Fault::NoPath),
        Ok((select, _)) => return Ok(select),
    }
    Err(faults)
}

/// Adds a fault to a list, unless the list has [`MAX_DIAGNOSTICS`] faults already.
fn keep_fault(faults: &mut Vec<Fault>, fault: Fault) {
    if faults.len() < MAX_DIAGNOSTICS {
        faults.push(fault);
    }
}

/// Properties of the rows and results of a bound query.
#[derive(Default)]
struct Rows {
    /// Whether rows are joined with elements of arrays; `Joined` means that the query may have
    /// several results for one row of its outer query.
    elements: Elements,
    /// Whether the query may have several rows for one row of its outer query, even if these are
    /// aggregated to one result.
    has_many: bool,
    /// Whether the query has one result for all documents.
    is_one_for_all: bool,
    /// Whether a subquery in an expression of the query iterates over elements.
    joins_elements: bool,
    /// Names that the outer query must not define.
    reserved_names: Vec<String>,
    /// Names of the query that remain visible in its outer query because another fault made the
    /// binder drop the faults about groups (see `left_names`).
    open_names: Vec<(String, usize)>,
}

/// Binds one query with its subqueries.
struct Binder<'q> {
    /// Values by name, including the `@`.
    parameters: HashMap<&'q str, &'q Value>,
    /// The query being bound and its outer queries, innermost last.
    frames: Vec<QueryFrame<'q>>,
    /// The next slot. Slot 0 is the stored document, in all queries of one text.
    slots: usize,
    /// Total size of the parameter values used so far; see [`MAX_FILLED_BYTES`].
    filled: usize,
    faults: Vec<Fault>,
    /// Whether ORDER BY has an item that is not a path of the document.
    orders_by_no_path: bool,
    /// For each slot that copies the values of another slot, that other slot.
    same_values: HashMap<usize, usize>,
    /// For each slot that copies the values of another slot in a subquery of an expression, before
    /// its FROM joins elements, that other slot.
    inlined_values: HashMap<usize, usize>,
    /// For the check of GROUP BY keys: by the slot of a source, whether its values read properties
    /// of the data.
    origins: HashMap<usize, Origin>,
    /// The key of GROUP BY that is being bound. The whole key is not resolved as an equal key of an
    /// outer query; its parts may be keys of outer queries.
    key: Option<&'q Node>,
    /// Index of the frame whose groups hid the last hidden name; the outermost frame has index 0.
    hidden_by: Option<usize>,
    /// Whether a parameter without a value is a fault.
    needs_values: bool,
    /// The surface on which geometries lie.
    surface: Surface,
}

impl<'q> Binder<'q> {
    /// Creates a binder without frames.
    fn new(parameters: &'q [(String, Value)]) -> Self {
        let parameters = parameters.iter().map(|(name, value)| (name.as_str(), value)).collect();
        Self {
            parameters,
            frames: Vec::new(),
            slots: DOCUMENT + 1,
            filled: 0,
            faults: Vec::new(),
            orders_by_no_path: false,
            same_values: HashMap::new(),
            inlined_values: HashMap::new(),
            origins: HashMap::new(),
            key: None,
            hidden_by: None,
            needs_values: true,
            surface: Surface::Earth,
        }
    }

    /// Records a fault and returns an undefined value in place of the expression.
    fn report(&mut self, fault: Fault) -> Expr {
        self.record_fault(fault);
        Expr::Undefined
    }

    /// Records a fault, up to [`MAX_DIAGNOSTICS`].
    fn record_fault(&mut self, fault: Fault) {
        keep_fault(&mut self.faults, fault);
    }

    fn next_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// Binds a subquery in a new frame.
    fn bind_inner_query(&mut self, query: &'q Query) -> Result<(Select, Rows), Fault> {
        if query.top.is_some() && query.window.is_some() {
            self.record_fault(Fault::TopAndLimit(query.places.whole.0));
        }
        let has_keys = !query.group.is_empty();
        let reads_rid = reads_rid(query);
        let aggregates = has_aggregate(query);
        let frame = QueryFrame {
            has_keys,
            aggregates_rows: aggregates,
            group_sets: query.group.len() + count_aggregates(query),
            reads_rid,
            ..QueryFrame::default()
        };
        self.frames.push(frame);
        let bound = self.bind_clauses(query);
        // The frame is removed also after an error.
        let frame = self.frames.pop().unwrap_or_default();
        let (clauses, given_up) = bound?;
        let is_one = !given_up && !frame.has_keys && aggregates;
        let has_many = frame.elements == Elements::Joined;
        let rows = Rows {
            elements: match frame.elements {
                _ if frame.has_many_results => Elements::Joined,
                Elements::Joined if is_one => Elements::Aggregated,
                elements => elements,
            },
            has_many,
            is_one_for_all: match frame.start {
                RowSource::OuterRow => false,
                RowSource::Documents => is_one && frame.elements == Elements::None,
                RowSource::OneForAll => !has_many,
            },
            joins_elements: frame.joins_elements(),
            reserved_names: self.reserved_names(&frame),
            open_names: if given_up { left_names(query, frame) } else { Vec::new() },
        };
        Ok((Select::new(clauses), rows))
    }

    /// Binds the clauses in the order of execution. Keys of GROUP BY are bound while names refer to
    /// rows, so that a key is not resolved as another key. After any other fault in a query with
    /// groups, the faults about groups are dropped; the second result is then true.
    fn bind_clauses(&mut self, query: &'q Query) -> Result<(Clauses, bool), Fault> {
        // FROM is first, since all other clauses use its names.
        let from = self.bind_from(&query.from)?;
        let filter = query.filter.as_ref().map(|filter| self.bind_expr(filter)).transpose()?;
        let frame = self.current_frame();
        let grouped = frame.has_keys || frame.aggregates_rows;
        let keys = self.bind_keys(&query.group)?;
        let places = &query.places;
        self.refuse_inside(!query.order.is_empty(), places.order, "SC2202", "'ORDER BY'");
        // From here on, names of rows can be used only inside aggregates.
        if grouped {
            self.current_frame().phase = Phase::Groups(Clause::OrderBy);
        }
        let order = self.bind_order(query, grouped.then_some(&keys), &from)?;
        if grouped {
            self.current_frame().phase = Phase::Groups(Clause::Select);
        }
        let projection = self.bind_projection(query, &from)?;
        let given_up = grouped && !self.faults.is_empty();
        let of_groups = std::mem::take(&mut self.current_frame().group_faults);
        if !given_up {
            of_groups.into_iter().for_each(|fault| self.record_fault(fault));
        }
        let limits_rows = !given_up || self.current_frame().has_one_row();
        self.refuse_inside(query.top.is_some() && limits_rows, places.top, "SC2203", "'TOP'");
        let clause = "'OFFSET LIMIT' clause";
        self.refuse_inside(query.window.is_some(), places.window, "SC2204", clause);
        let window = self.bind_window(query, limits_rows);
        // The list is complete only now, since ORDER BY and SELECT may have added aggregates.
        let aggregates = std::mem::take(&mut self.current_frame().aggregates);
        let clauses = Clauses {
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
        };
        Ok((clauses, given_up))
    }

    /// Records a fault if a subquery has this clause (`is_there`), which only the outermost query
    /// may have.
    fn refuse_inside(
        &mut self,
        is_there: bool,
        at: TextPosition,
        code: &'static str,
        clause: &'static str,
    ) {
        if is_there && 1 < self.frames.len() {
            self.record_fault(Fault::InSubquery(at.0, code, clause));
        }
    }

    /// Binds the keys of GROUP BY. Each must read a property, and must not contain an aggregate or
    /// a subquery.
    fn bind_keys(&mut self, group: &'q [Node]) -> Result<Vec<(Expr, usize)>, Fault> {
        let mut keys = Vec::with_capacity(group.len());
        self.current_frame().phase = Phase::Key;
        for key in group {
            let faults = self.faults.len();
            self.hidden_by = None;
            self.key = Some(key);
            let expr = self.bind_expr(key)?;
            self.key = None;
            if !self.reads_property(&expr) {
                let fault = Fault::ConstantKey(key.written_span());
                // If the groups of an outer query hide the property, the fault is reported with the
                // faults about these groups.
                match self.hidden_by.and_then(|level| self.frames.get_mut(level)) {
                    Some(frame) => keep_fault(&mut frame.group_faults, fault),
                    None => self.record_fault(fault),
                }
            }
            if let Some(level) = self.hidden_by {
                self.current_frame().hidden_keys.push((key, level));
                continue;
            }
            if faults < self.faults.len() {
                // An invalid key gets no slot; other clauses are checked without it.
                continue;
            }
            let slot = self.next_slot();
            // The plan has the bound key, the frame the tree, which is compared with later
            // expressions.
            keys.push((expr, slot));
            self.current_frame().keys.push((key, slot));
        }
        self.current_frame().phase = Phase::Rows;
        Ok(keys)
    }

    /// Binds SELECT. `SELECT *` needs a single source. An item without a name is called `$1` and so
    /// on; names must be unique.
    fn bind_projection(&mut self, query: &'q Query, from: &[Source]) -> Result<Projection, Fault> {
        match &query.selection {
            Selection::Star(at) => {
                // A subquery without FROM uses the row of its outer query.
                let only = match from {
                    [] => self.only_name(),
                    [source] => {
                        Some(source.slot).filter(|slot| self.current_frame().has_only(*slot))
                    }
                    _ => self.current_frame().only_set(),
                };
                let (phase, one) = (self.current_frame().phase, self.current_frame().has_one_row());
                // A group has no single document for `*`.
                if phase != Phase::Rows && !one {
                    let groups = !query.group.is_empty();
                    let fault = Fault::StarOfGroups(at.0, groups);
                    keep_fault(&mut self.current_frame().group_faults, fault);
                } else if only.is_none() {
                    self.record_star_fault(Fault::StarOfMany(at.0), !from.is_empty());
                }
                let slot = only.unwrap_or(DOCUMENT);
                Ok(match phase {
                    Phase::Rows => Projection::Star(slot),
                    _ => {
                        Projection::Value(self.of_only_row(self.frames.len() - 1, Expr::Slot(slot)))
                    }
                })
            }
            Selection::Value(node) => Ok(Projection::Value(self.bind_expr(node)?)),
            Selection::List(items) => {
                let mut fields: Vec<(String, Expr)> = Vec::with_capacity(items.len());
                let mut names = std::collections::HashSet::new();
                for (name, item) in names_of(items).into_iter().zip(items) {
                    let expr = self.bind_expr(&item.node)?;
                    if !names.insert(name.clone()) {
                        self.record_fault(Fault::Property(place_of_name(item), name.clone()));
                    }
                    fields.push((name, expr));
                }
                Ok(Projection::Fields(fields))
            }
        }
    }
}

/// Returns whether a query has an aggregate in SELECT or ORDER BY.
pub(crate) fn has_aggregate(query: &Query) -> bool {
    count_aggregates(query) != 0
}

/// Returns the number of aggregates in SELECT and ORDER BY.
fn count_aggregates(query: &Query) -> usize {
    let ordered: usize = query.order.iter().map(|item| call::count_aggregates(&item.node)).sum();
    let selected = match &query.selection {
        Selection::Star(_) => 0,
        Selection::Value(node) => call::count_aggregates(node),
        Selection::List(items) => items.iter().map(|item| call::count_aggregates(&item.node)).sum(),
    };
    ordered + selected
}
