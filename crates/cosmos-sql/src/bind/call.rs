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
    error::Fault,
};

impl<'q> Binder<'q> {
    /// A call: of an aggregate, or of a function with as many arguments as it takes. User-defined
    /// functions, and functions that are known but not there, are refused by name.
    /// Aggregates are looked for first: they are no functions of the table, as they see many rows.
    pub(super) fn bind_call(
        &mut self,
        node: &Node,
        name: &str,
        udf: bool,
        args: &'q [Node],
    ) -> Result<Expr, Fault> {
        if udf {
            return Err(Fault::Unsupported(format!("the user-defined function 'udf.{name}'")));
        }
        if let Some(kind) = AggregateKind::find_by_name(name) {
            return self.bind_aggregate(node, name, kind, args);
        }
        // Known to clients, so that the error says "not supported" and not "no such function".
        if functions::is_later(name) {
            return Err(Fault::Unsupported(format!("the function '{}'", name.to_uppercase())));
        }
        let Some(function) = functions::find_function(name) else {
            return Err(Fault::Function(node.span(), name.to_owned()));
        };
        if !function.args.contains(&args.len()) {
            return Err(Fault::Arguments(node.span(), function.name, function.args.clone()));
        }
        let args = self.bind_all(args)?;
        if is_search_in_constants(function.name, &args) {
            return Ok(search_in_set(function.name, args));
        }
        Ok(Expr::Call(function, args))
    }

    /// A call of an aggregate becomes the slot that its result goes to. Its argument sees rows
    /// again. An aggregate inside another one, in WHERE or in FROM has no group to aggregate.
    /// Each call has a slot of its own, also where two say the same.
    fn bind_aggregate(
        &mut self,
        node: &Node,
        name: &str,
        kind: AggregateKind,
        args: &'q [Node],
    ) -> Result<Expr, Fault> {
        // Also inside another aggregate, where the phase is a third one.
        if self.current_frame().phase != Phase::Groups {
            return Err(Fault::Aggregate(node.span(), name.to_uppercase()));
        }
        let [of] = args else {
            let name = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name));
            return Err(Fault::Arguments(node.span(), name.copied().unwrap_or_default(), 1..=1));
        };
        // The phase goes back before the result is looked at: other clauses are bound after an
        // error of this one is passed on, and the frame has to be right whoever reads it.
        self.current_frame().phase = Phase::Aggregate;
        let of = self.bind_expr(of);
        self.current_frame().phase = Phase::Groups;
        let slot = self.next_slot();
        self.current_frame().aggregates.push(Aggregate { kind, of: of?, slot });
        Ok(Expr::Slot(slot))
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

/// The names of aggregates, for messages.
/// A message shows the name in capitals however the query wrote it.
const NAMES: [&str; 8] = ["COUNT", "COUNTIF", "SUM", "AVG", "MIN", "MAX", "MAKELIST", "MAKESET"];

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
