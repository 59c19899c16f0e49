//! Calls: of built-in functions, and of aggregates, whose place in a query is checked.

use select::{
    aggregate::AggregateKind,
    functions,
    plan::{Aggregate, Expr},
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
        Ok(Expr::Call(function, self.bind_all(args)?))
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
