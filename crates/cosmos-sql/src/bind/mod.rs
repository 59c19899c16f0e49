//! A tree to a plan: names become slots, parameters constants, functions are found. One binder
//! binds a query with all queries inside it.

mod call;
mod expression;
mod from;
mod scope;

use std::collections::HashMap;

use document::Value;
use select::plan::{Clauses, DOCUMENT, Expr, Group, Order, Projection, Select, Window};

use self::scope::{Frame, Phase};
use crate::{
    ast::{Count, Item, Node, NodeKind, Query, Selection, Step},
    error::{Fault, Span},
    limits::{MAX_FILLED_BYTES, MAX_PARAMETER_DEPTH},
};

pub(crate) use call::has_aggregate as aggregates;

/// The counts of TOP, and of OFFSET and LIMIT.
pub(crate) type Counts = (Option<u64>, Option<(u64, u64)>);

/// Returns the counts of a query, parameters filled in.
pub(crate) fn window(query: &Query, parameters: &[(String, Value)]) -> Result<Counts, Fault> {
    let binder = Binder::new(parameters);
    let top = query.top.as_ref().map(|top| binder.count(top)).transpose()?;
    let limits = match &query.window {
        Some((offset, limit)) => Some((binder.count(offset)?, binder.count(limit)?)),
        None => None,
    };
    Ok((top, limits))
}

/// The plan of a query.
pub(crate) fn bind(query: &Query, parameters: &[(String, Value)]) -> Result<Select, Fault> {
    let too_deep = parameters.iter().find(|(_, value)| !within(value, MAX_PARAMETER_DEPTH));
    if let Some((name, _)) = too_deep {
        let message = format!("The value of '{name}' is nested too deeply.");
        return Err(Fault::Limit(Span::default(), "SC3054", message));
    }
    Binder::new(parameters).query(query)
}

fn within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(values) => depth > 0 && values.iter().all(|value| within(value, depth - 1)),
        Value::Document(fields) => {
            depth > 0 && fields.fields().iter().all(|(_, value)| within(value, depth - 1))
        }
        _ => true,
    }
}

struct Binder<'q> {
    parameters: HashMap<&'q str, &'q Value>,
    /// Queries around the place that is bound, the innermost last.
    frames: Vec<Frame<'q>>,
    slots: usize,
    /// Bytes of parameters that were filled in.
    filled: usize,
}

impl<'q> Binder<'q> {
    fn new(parameters: &'q [(String, Value)]) -> Self {
        let parameters = parameters.iter().map(|(name, value)| (name.as_str(), value)).collect();
        Self { parameters, frames: Vec::new(), slots: DOCUMENT + 1, filled: 0 }
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    fn query(&mut self, query: &'q Query) -> Result<Select, Fault> {
        self.frames.push(Frame::default());
        let clauses = self.clauses(query);
        self.frames.pop();
        Ok(Select::new(clauses?))
    }

    fn clauses(&mut self, query: &'q Query) -> Result<Clauses, Fault> {
        let from = self.from(&query.from)?;
        let filter = query.filter.as_ref().map(|filter| self.expr(filter)).transpose()?;
        let grouped = !query.group.is_empty() || has_aggregate(query);
        let mut keys = Vec::new();
        for key in &query.group {
            let expr = self.expr(key)?;
            let slot = self.slot();
            keys.push((expr, slot));
            self.frame().keys.push((key, slot));
        }
        if grouped {
            self.frame().phase = Phase::Groups;
        }
        let projection = self.projection(query, &from)?;
        let order = self.order(query, grouped && query.group.is_empty())?;
        let aggregates = std::mem::take(&mut self.frame().aggregates);
        let window = self.window(query)?;
        Ok(Clauses {
            slots: self.slots,
            from,
            filter,
            group: grouped.then_some(Group { keys, aggregates }),
            projection,
            distinct: query.distinct,
            order,
            order_in_output: query.order.iter().all(|item| selects(&query.selection, &item.node)),
            window,
        })
    }

    /// ORDER BY. Where all rows make `one` result, the order of rows has no effect.
    fn order(&mut self, query: &'q Query, one: bool) -> Result<Vec<Order>, Fault> {
        let mut order = Vec::with_capacity(query.order.len());
        for item in &query.order {
            if one && !call::has_aggregate(&item.node) {
                // It has to be right all the same.
                self.frame().phase = Phase::Aggregate;
                let checked = self.expr(&item.node);
                self.frame().phase = Phase::Groups;
                checked?;
                continue;
            }
            order.push(Order { by: self.expr(&item.node)?, descending: item.descending });
        }
        Ok(order)
    }

    fn projection(
        &mut self,
        query: &'q Query,
        from: &[select::plan::Source],
    ) -> Result<Projection, Fault> {
        match &query.selection {
            Selection::Star(at) => match from {
                [] => Err(Fault::StarWithoutFrom(at.0)),
                [source] if self.frame().phase == Phase::Rows => Ok(Projection::Star(source.slot)),
                [_] => Err(Fault::Ungrouped(at.0)),
                _ => Err(Fault::StarOfMany(at.0)),
            },
            Selection::Value(node) => Ok(Projection::Value(self.expr(node)?)),
            Selection::List(items) => {
                let mut fields: Vec<(String, Expr)> = Vec::with_capacity(items.len());
                let mut names = std::collections::HashSet::new();
                for (name, item) in names_of(items).into_iter().zip(items) {
                    if !names.insert(name.clone()) {
                        let at = item.alias.as_ref().map_or(item.node.span(), |(_, at)| at.0);
                        return Err(Fault::Duplicate(at, name));
                    }
                    fields.push((name, self.expr(&item.node)?));
                }
                Ok(Projection::Fields(fields))
            }
        }
    }

    fn window(&mut self, query: &Query) -> Result<Window, Fault> {
        let mut window = Window::default();
        if let Some(top) = &query.top {
            window.take = Some(self.count(top)?);
        }
        if let Some((offset, limit)) = &query.window {
            window = Window { skip: self.count(offset)?, take: Some(self.count(limit)?) };
        }
        Ok(window)
    }

    /// The value of TOP, OFFSET or LIMIT.
    fn count(&self, count: &Count) -> Result<u64, Fault> {
        let value = match &count.node.kind {
            NodeKind::Literal(value) => value,
            NodeKind::Parameter(name) => self.parameter(name, count.node.span())?,
            _ => return Err(Fault::Count(count.node.span(), count.clause)),
        };
        let whole = select::to_i64(value.as_ref()).and_then(|value| u64::try_from(value).ok());
        whole.ok_or_else(|| Fault::Count(count.node.span(), count.clause))
    }

    fn parameter(&self, name: &str, at: Span) -> Result<&'q Value, Fault> {
        let value = self.parameters.get(name).copied();
        value.ok_or_else(|| Fault::Parameter(at, name.to_owned()))
    }
}

impl Binder<'_> {
    /// A parameter as a constant: a copy for each place where it stands.
    fn filled_in(&mut self, name: &str, at: Span) -> Result<Value, Fault> {
        let value = self.parameter(name, at)?;
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

/// The properties that the items of a list become.
pub(crate) fn names_of(items: &[Item]) -> Vec<String> {
    let mut unnamed = 0;
    let name = |item: &Item| {
        if let Some((alias, _)) = &item.alias {
            return alias.clone();
        }
        let last = match &item.node.kind {
            NodeKind::Name(name) => Some(name.clone()),
            NodeKind::Member { steps, .. } => match steps.last() {
                Some(Step::Name(name)) => Some(name.clone()),
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

/// Whether what an expression comes to is known from what is selected.
fn selects(selection: &Selection, node: &Node) -> bool {
    match selection {
        Selection::Star(_) => true,
        Selection::Value(value) => value == node,
        Selection::List(items) => items.iter().any(|item| item.node == *node),
    }
}

/// Whether a query aggregates its rows.
pub(crate) fn has_aggregate(query: &Query) -> bool {
    let ordered = query.order.iter().any(|item| call::has_aggregate(&item.node));
    ordered
        || match &query.selection {
            Selection::Star(_) => false,
            Selection::Value(node) => call::has_aggregate(node),
            Selection::List(items) => items.iter().any(|item| call::has_aggregate(&item.node)),
        }
}
