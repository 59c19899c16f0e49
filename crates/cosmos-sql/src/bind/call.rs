//! Calls: of built-in functions, and of aggregates, whose place in a query is checked.

use document::Value;
use select::{
    aggregate::AggregateKind,
    functions,
    plan::{Aggregate, Expr, Set},
};

use super::{Binder, scope::Phase};
use crate::{
    ast::{Node, NodeKind},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// A call: of an aggregate, or of a function with as many arguments as it takes. User-defined
    /// functions, and functions that are known but not there, are refused by name.
    /// Aggregates are looked for first: they are no functions of the table, as they see many rows.
    /// Arguments are bound before the call is looked at, so that what is wrong with them is told
    /// first.
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
        let properties = self.properties;
        let args = self.bind_all(args)?;
        if udf {
            let what = format!("the user-defined function 'udf.{name}'");
            return Ok(self.report(Fault::Unsupported(what)));
        }
        // Known to clients, so that the error says "not supported" and not "no such function".
        if functions::is_later(name) {
            let what = format!("the function '{}'", name.to_uppercase());
            return Ok(self.report(Fault::Unsupported(what)));
        }
        let Some(function) = functions::find_function(name) else {
            let start = node.span().start;
            let at = Span { start, end: start + name.len() };
            // What is no call has no properties.
            self.properties = properties;
            return Ok(self.report(Fault::Function(at, name.to_owned())));
        };
        if !function.args.contains(&args.len()) {
            let fault = Fault::Arguments(node.span(), name.to_owned(), function.args.clone());
            self.properties = properties;
            return Ok(self.report(fault));
        }
        if is_search_in_constants(function.name, &args) {
            return Ok(search_in_set(function.name, args));
        }
        Ok(Expr::Call(function, args))
    }

    /// A call of an aggregate becomes the slot that its result goes to. Its argument sees rows
    /// again. An aggregate inside another one, in WHERE or in GROUP BY has no group to aggregate:
    /// each of them is told, the inner one first.
    /// Each call has a slot of its own, also where two say the same.
    fn bind_aggregate(
        &mut self,
        node: &Node,
        name: &str,
        kind: AggregateKind,
        args: &'q [Node],
    ) -> Result<Expr, Fault> {
        let phase = self.current_frame().phase;
        // The phase goes back before the result is looked at: other clauses are bound after an
        // error of this one is passed on, and the frame has to be right whoever reads it.
        if matches!(phase, Phase::Groups(_)) {
            self.current_frame().phase = Phase::Aggregate;
        }
        let bound = self.bind_all(args);
        self.current_frame().phase = phase;
        let mut bound = bound?;
        let (Some(of), true) = (bound.pop(), bound.is_empty()) else {
            return Ok(self.report(Fault::Arguments(node.span(), name.to_owned(), 1..=1)));
        };
        match phase {
            Phase::Rows => Ok(self.report(Fault::AggregateInWhere(node.span()))),
            Phase::Key => Ok(self.report(Fault::AggregateInKey(node.span()))),
            _ if args.iter().any(has_aggregate) => Ok(self.report(Fault::Nested(node.span()))),
            Phase::Groups(_) => Ok(self.aggregate_of(kind, of)),
            // The aggregate around it tells.
            Phase::Aggregate => Ok(Expr::Undefined),
        }
    }

    /// The slot of an aggregate of the query that is bound.
    pub(super) fn aggregate_of(&mut self, kind: AggregateKind, of: Expr) -> Expr {
        let slot = self.next_slot();
        self.current_frame().aggregates.push(Aggregate { kind, of, slot });
        Expr::Slot(slot)
    }
}

/// Values that are looked for in one list of constants, at most, each with a set of its own.
const MAX_SEARCHED: usize = 4;

/// Whether a call looks for values in a list of constants, and can be done with sets as IN is: `IN` of
/// the same list comes to the same.
fn is_search_in_constants(name: &str, args: &[Expr]) -> bool {
    let Some((Expr::Constant(Value::Array(list)), values)) = args.split_first() else {
        return false;
    };
    match (name, values) {
        ("ARRAY_CONTAINS", [_] | [_, Expr::Constant(Value::Bool(false))]) => true,
        // Parts of objects are looked for: where the list has no object there are none.
        ("ARRAY_CONTAINS", [_, Expr::Constant(Value::Bool(true))]) => {
            !list.iter().any(|value| matches!(value, Value::Document(_)))
        }
        ("ARRAY_CONTAINS_ANY" | "ARRAY_CONTAINS_ALL", values) => values.len() <= MAX_SEARCHED,
        _ => false,
    }
}

/// Such a call as a search in sets.
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
        // What follows the value says nothing here.
        _ => args.next().map_or(Expr::Undefined, search),
    }
}

/// Whether an expression has an aggregate that is not inside another query.
/// The aggregate of an inner query belongs to that one's rows, so queries are not entered.
pub(crate) fn has_aggregate(node: &Node) -> bool {
    let mut has = matches!(
        &node.kind,
        NodeKind::Call { name, udf: false, .. } if AggregateKind::find_by_name(name).is_some()
    );
    node.visit_inner(&mut |inner| has = has || has_aggregate(inner), &mut |_| {});
    has
}
