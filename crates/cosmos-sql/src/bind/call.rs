//! Binds calls of functions and aggregates, and checks where aggregates are allowed.

use document::Value;
use select::{
    aggregate::AggregateKind,
    functions,
    plan::{Aggregate, Clauses, Expr, Group, Projection, Select, Set, Subquery, Window},
};

use super::{Binder, frame::Phase, properties::Origin};
use crate::{
    ast::{Node, NodeKind},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// Binds a call of an aggregate or of a function. Aggregates are not in the table of functions,
    /// because they operate on many rows. A user-defined function, or a known function that is not
    /// implemented, is reported with its name. Arguments are bound first, so that their faults are
    /// reported first.
    pub(super) fn bind_call(
        &mut self,
        node: &Node,
        name: &str,
        udf: bool,
        args: &'q [Node],
    ) -> Result<Expr, Fault> {
        let of_rows = AggregateKind::find_by_name(name).filter(|_| !udf);
        if let Some(kind) = of_rows {
            return self.bind_aggregate(node, name, kind, args);
        }
        let args = self.bind_all(args)?;
        // The arguments of an unsupported function are kept, because the caller may still check the
        // expression as a key of GROUP BY.
        if udf {
            self.record_fault(Fault::Unsupported(format!(
                "the user-defined function 'udf.{name}'"
            )));
            return Ok(Expr::Array(args));
        }
        // Azure Cosmos DB has these functions, so the error says "not supported" instead of "no
        // such function".
        if functions::is_later(name) {
            self.record_fault(Fault::Unsupported(format!(
                "the function '{}'",
                name.to_uppercase()
            )));
            return Ok(Expr::Array(args));
        }
        let Some(function) = functions::find_function(name) else {
            let start = node.span().start;
            let at = Span { start, end: start + name.len() };
            return Ok(self.report(Fault::Function(at, name.to_owned())));
        };
        if !function.args.contains(&args.len()) {
            let fault = Fault::Arguments(node.span(), name.to_owned(), function.args.clone());
            return Ok(self.report(fault));
        }
        if is_search_in_constants(function.name, &args) {
            return Ok(search_in_set(function.name, args));
        }
        Ok(Expr::Call(functions::on_surface(function, self.surface), args))
    }

    /// Binds a call of an aggregate to the slot of its result. Each call has a slot of its own,
    /// even if two calls are equal. The argument is evaluated per row. An aggregate inside another
    /// aggregate, in WHERE or in GROUP BY is a fault, since there are no rows that it could
    /// combine. Only the WHERE of a query with one row may have aggregates, over this row. Faults
    /// of inner aggregates are reported first.
    fn bind_aggregate(
        &mut self,
        node: &Node,
        name: &str,
        kind: AggregateKind,
        args: &'q [Node],
    ) -> Result<Expr, Fault> {
        let phase = self.current_frame().phase;
        let of_one_row = phase == Phase::Rows && self.current_frame().has_one_row();
        self.combine_elements();
        // The phase is restored before an error is returned, because binding continues with other
        // clauses.
        if matches!(phase, Phase::Groups(_)) {
            self.current_frame().phase = Phase::Aggregate;
        }
        let bound = self.bind_all(args);
        self.current_frame().phase = phase;
        let mut bound = bound?;
        let (1, Some(of)) = (args.len(), bound.pop()) else {
            return Ok(self.report(Fault::Arguments(node.span(), name.to_owned(), 1..=1)));
        };
        match phase {
            Phase::Rows if of_one_row => Ok(aggregate_of_row(self.next_slot(), kind, of)),
            Phase::From | Phase::Rows => Ok(self.report(Fault::AggregateInWhere(node.span()))),
            Phase::Key => {
                self.record_fault(Fault::AggregateInKey(node.span()));
                Ok(of)
            }
            _ if args.iter().any(has_aggregate) => Ok(self.report(Fault::Nested(node.span()))),
            Phase::Groups(_) => Ok(self.aggregate_of(kind, of)),
            // The nesting is reported for the enclosing aggregate.
            Phase::Aggregate => Ok(Expr::Undefined),
        }
    }

    /// Adds an aggregate to the current query and returns the slot of its result.
    pub(super) fn aggregate_of(&mut self, kind: AggregateKind, of: Expr) -> Expr {
        let slot = self.next_slot();
        self.origins.insert(slot, Origin::Whole(self.reads_property(&of)));
        self.current_frame().aggregates.push(Aggregate { kind, of, slot });
        Expr::Slot(slot)
    }
}

/// Returns the aggregate over the row that is being filtered, as a subquery without FROM.
fn aggregate_of_row(slot: usize, kind: AggregateKind, of: Expr) -> Expr {
    let clauses = Clauses {
        slots: slot + 1,
        from: Vec::new(),
        filter: None,
        group: Some(Group { keys: Vec::new(), aggregates: vec![Aggregate { kind, of, slot }] }),
        projection: Projection::Value(Expr::Slot(slot)),
        distinct: false,
        order: Vec::new(),
        order_in_output: true,
        window: Window::default(),
    };
    Expr::Subquery(Subquery::Scalar, Box::new(Select::new(clauses)))
}

/// Maximum number of values for which ARRAY_CONTAINS_ANY or ARRAY_CONTAINS_ALL uses set lookups;
/// the lookup of each value builds its own set of the list.
const MAX_SEARCHED: usize = 4;

/// Returns whether a call searches a list of constants for values, so that a lookup in a set, as
/// for IN, has the same result.
fn is_search_in_constants(name: &str, args: &[Expr]) -> bool {
    let Some((Expr::Constant(Value::Array(list)), values)) = args.split_first() else {
        return false;
    };
    match (name, values) {
        ("ARRAY_CONTAINS", [_] | [_, Expr::Constant(Value::Bool(false))]) => true,
        // A partial match applies to objects only: without objects in the list it is an ordinary
        // search.
        ("ARRAY_CONTAINS", [_, Expr::Constant(Value::Bool(true))]) => {
            !list.iter().any(|value| matches!(value, Value::Document(_)))
        }
        ("ARRAY_CONTAINS_ANY" | "ARRAY_CONTAINS_ALL", values) => values.len() <= MAX_SEARCHED,
        _ => false,
    }
}

/// Binds ARRAY_CONTAINS_ANY or ARRAY_CONTAINS_ALL as searches of values in sets.
fn search_in_set(name: &str, args: Vec<Expr>) -> Expr {
    let mut args = args.into_iter();
    let list = match args.next() {
        Some(Expr::Constant(Value::Array(list))) => list,
        _ => Vec::new(),
    };
    let search = |value| Expr::Among(Box::new(value), Box::new(Set::new(list.clone(), false)));
    match name {
        "ARRAY_CONTAINS_ANY" => Expr::Or(args.map(search).collect()),
        "ARRAY_CONTAINS_ALL" => Expr::And(args.map(search).collect()),
        // ARRAY_CONTAINS: the flag after the value is false, or the list has no objects that may
        // match partially.
        _ => args.next().map_or(Expr::Undefined, search),
    }
}

/// Returns whether an expression contains an aggregate.
pub(crate) fn has_aggregate(node: &Node) -> bool {
    count_aggregates(node) != 0
}

/// Returns the number of aggregates in an expression. Those of subqueries are not counted, since
/// they combine the rows of the subquery.
pub(super) fn count_aggregates(node: &Node) -> usize {
    let is_aggregate = matches!(
        &node.kind,
        NodeKind::Call { name, udf: false, .. } if AggregateKind::find_by_name(name).is_some()
    );
    let mut count = usize::from(is_aggregate);
    node.visit_inner(&mut |inner| count += count_aggregates(inner), &mut |_| {});
    count
}
