//! Plans of aggregates and GROUP BY: partial results, which a client adds up.

use select::aggregate::AggregateKind;

use super::ClientPlan;
use crate::{
    ast::{Node, NodeKind, Query, Selection},
    bind, printer,
};

/// The plan; nothing when a client could not add the results up: aggregates inside expressions, or
/// with DISTINCT or ORDER BY.
/// A query with GROUP BY sends, for each group of a partition, its keys as `groupByItems` and the
/// selected values as `payload`; one without keys sends the payload alone.
pub(super) fn plan_aggregate(query: &Query, mut plan: ClientPlan) -> Option<ClientPlan> {
    // Both would have to be done after the parts are added up.
    if query.distinct || !query.order.is_empty() {
        return None;
    }
    let filter = query.filter.as_ref().map(printer::print_expression);
    let rest = format!(
        "{}{}{}",
        printer::print_from(&query.from),
        filter.map(|filter| format!("\nWHERE {filter}")).unwrap_or_default(),
        printer::print_group(&query.group),
    );
    let items = match &query.selection {
        // There is no aggregate in it, and the binder refuses it for groups.
        Selection::Star(_) => return None,
        Selection::Value(node) => {
            let (kind, item) = aggregate_item(node).filter(|_| query.group.is_empty())?;
            // The client adds up one value, which each partition sends in an array.
            plan.aggregates.push(kind.plan_name());
            plan.rewritten = format!("SELECT VALUE [{item}]{rest}");
            return Some(plan);
        }
        Selection::List(items) => items,
    };
    let mut fields = Vec::new();
    for (name, item) in bind::names_of(items).into_iter().zip(items) {
        let (kind, value) = match aggregate_item(&item.node) {
            Some((kind, value)) => (Some(kind.plan_name()), value),
            // Such as `SUM(c.a) + 1`: the parts of it do not add up.
            None if bind::aggregates(&item.node) => return None,
            None => (None, printer::print_expression(&item.node)),
        };
        fields.push(format!("{}: {value}", printer::quoted_text(&name)));
        // Every name stands in both lists, a key without an aggregate.
        plan.aggregate_of_alias.push((name.clone(), kind));
        plan.group_by_aliases.push(name);
    }
    plan.group_by_expressions = query.group.iter().map(printer::print_expression).collect();
    let keys: Vec<String> =
        plan.group_by_expressions.iter().map(|key| format!("{{\"item\": {key}}}")).collect();
    let keys = match keys.as_slice() {
        // One group: there is nothing to tell groups apart by.
        [] => String::new(),
        keys => format!("[{}] AS groupByItems, ", keys.join(", ")),
    };
    plan.rewritten = format!("SELECT {keys}{{{}}} AS payload{rest}", fields.join(", "));
    Some(plan)
}

/// The aggregate that an expression is, and what a client is sent of it. AVG is sent as a sum and a
/// count; MIN and MAX with a count, so that a partition without values does not count.
/// `None` for what is not one call of an aggregate with one argument.
fn aggregate_item(node: &Node) -> Option<(AggregateKind, String)> {
    let NodeKind::Call { name, udf: false, args } = &node.kind else { return None };
    let (kind, [of]) = (AggregateKind::find_by_name(name)?, args.as_slice()) else { return None };
    let of = printer::print_expression(of);
    let extreme = |name: &str, function: &str| {
        format!(
            "{{\"item\": {function}({of}), \
             \"item2\": {{\"{name}\": {function}({of}), \"count\": COUNT({of})}}}}"
        )
    };
    let item = match kind {
        AggregateKind::Avg => {
            format!("{{\"item\": {{\"sum\": SUM({of}), \"count\": COUNT({of})}}}}")
        }
        AggregateKind::Min => extreme("min", "MIN"),
        AggregateKind::Max => extreme("max", "MAX"),
        _ => format!("{{\"item\": {}({of})}}", name.to_uppercase()),
    };
    Some((kind, item))
}
