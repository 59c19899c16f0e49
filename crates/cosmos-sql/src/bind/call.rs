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
    pub(super) fn call(
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
            return self.aggregate(node, name, kind, args);
        }
        if functions::is_later(name) {
            return Err(Fault::Unsupported(format!("the function '{}'", name.to_uppercase())));
        }
        let Some(function) = functions::find_function(name) else {
            return Err(Fault::Function(node.span(), name.to_owned()));
        };
        if !function.args.contains(&args.len()) {
            return Err(Fault::Arguments(node.span(), function.name, function.args.clone()));
        }
        Ok(Expr::Call(function, self.exprs(args)?))
    }

    fn aggregate(
        &mut self,
        node: &Node,
        name: &str,
        kind: AggregateKind,
        args: &'q [Node],
    ) -> Result<Expr, Fault> {
        if self.frame().phase != Phase::Groups {
            return Err(Fault::Aggregate(node.span(), name.to_uppercase()));
        }
        let [of] = args else {
            let name = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name));
            return Err(Fault::Arguments(node.span(), name.copied().unwrap_or_default(), 1..=1));
        };
        self.frame().phase = Phase::Aggregate;
        let of = self.expr(of);
        self.frame().phase = Phase::Groups;
        let slot = self.slot();
        self.frame().aggregates.push(Aggregate { kind, of: of?, slot });
        Ok(Expr::Slot(slot))
    }
}

const NAMES: [&str; 8] = ["COUNT", "COUNTIF", "SUM", "AVG", "MIN", "MAX", "MAKELIST", "MAKESET"];

/// Whether an expression has an aggregate that is not inside another query.
pub(crate) fn has_aggregate(node: &Node) -> bool {
    let mut has = matches!(
        &node.kind,
        NodeKind::Call { name, udf: false, .. } if AggregateKind::find_by_name(name).is_some()
    );
    node.inner(&mut |inner| has = has || has_aggregate(inner), &mut |_| {});
    has
}
