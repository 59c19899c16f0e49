//! Query plans for clients of queries with aggregates or GROUP BY: each partition returns partial
//! results, which the client combines.

use select::aggregate::AggregateKind;

use super::{ClientPlan, order};
use crate::{
    ast::{Collection, Input, Node, NodeKind, Query, Selection},
    bind, printer,
};

/// Returns whether a query selects an aggregate inside a larger expression. A client cannot combine
/// partial results of such an expression.
pub(super) fn is_composed(query: &Query) -> bool {
    selects(query, |node| bind::aggregates(node) && aggregate_item(node).is_none())
}

/// Returns whether a query selects an aggregate.
fn selects_aggregate(query: &Query) -> bool {
    selects(query, bind::aggregates)
}

/// Returns whether a query without GROUP BY has aggregates only in ORDER BY.
pub(super) fn orders_one_result(query: &Query) -> bool {
    query.group.is_empty() && bind::has_aggregate(query) && !selects_aggregate(query)
}

/// Returns whether one of the selected expressions meets the condition.
fn selects(query: &Query, is: impl Fn(&Node) -> bool) -> bool {
    match &query.selection {
        Selection::Star(_) => false,
        Selection::Value(node) => is(node),
        Selection::List(items) => items.iter().any(|item| is(&item.node)),
    }
}

/// Returns the plan of a query with aggregates or GROUP BY; `None` if the plan format cannot
/// express it. With GROUP BY, the rewritten query returns for each group of a partition the keys as
/// `groupByItems` and the selected values as `payload`; without keys, only `payload`. An ORDER BY
/// of groups is possible if there are no aggregates.
pub(super) fn plan_aggregate(query: &Query, mut plan: ClientPlan) -> Option<ClientPlan> {
    let one = query.group.is_empty();
    // Only ORDER BY has an aggregate: the one result contains no partial value to combine.
    if orders_one_result(query) {
        let mut plan = order::plan_order(query, plan)?;
        plan.non_streaming = true;
        return Some(plan);
    }
    plan.group_by_expressions = query.group.iter().map(printer::print_expression).collect();
    let payload = match &query.selection {
        // `*` selects no aggregate, and the binder refuses it for groups.
        Selection::Star(_) => return None,
        Selection::Value(node) => match aggregate_item(node) {
            Some((kind, item)) => {
                // The client combines one value per partition, which is sent in an array.
                plan.aggregates.push(kind.plan_name());
                format!("[{item}]")
            }
            None => printer::print_expression(node),
        },
        Selection::List(items) => {
            let mut fields = Vec::new();
            for (name, item) in bind::names_of(items).into_iter().zip(items) {
                let (kind, value) = match aggregate_item(&item.node) {
                    Some((kind, value)) => (Some(kind.plan_name()), value),
                    None => (None, printer::print_expression(&item.node)),
                };
                fields.push(format!("{}: {value}", printer::quoted_text(&name)));
                // Both lists contain every name; for a group key, the aggregate is `None`.
                plan.aggregate_of_alias.push((name.clone(), kind));
                plan.group_by_aliases.push(name);
            }
            format!("{{{}}}", fields.join(", "))
        }
    };
    if !query.order.is_empty() && !selects_aggregate(query) {
        return order::plan_order(query, plan);
    }
    let by_path = query.order.iter().all(|item| item.node.is_path());
    plan.non_streaming = (one && !by_path) || bind::orders_one_count(query);
    plan.rewritten = rewritten(query, &plan, &payload);
    Some(plan)
}

/// Returns the query that a client sends for groups. It selects `payload`, and the group keys if
/// there are any. TOP, OFFSET and LIMIT are kept only if all rows make one object; otherwise the
/// client applies them to the groups.
fn rewritten(query: &Query, plan: &ClientPlan, payload: &str) -> String {
    let distinct = if query.distinct { "DISTINCT " } else { "" };
    let is_value = matches!(query.selection, Selection::Value(_));
    let (head, window) = match query.group.as_slice() {
        [] if is_value => (format!("VALUE {payload}"), String::new()),
        [] if query.distinct => (format!("{payload} AS payload"), String::new()),
        [] => {
            let top = printer::print_top(query);
            (format!("{top}{payload} AS payload"), plan.window())
        }
        keys => {
            let keys = order::keys_of(keys);
            (format!("[{keys}] AS groupByItems, {payload} AS payload"), String::new())
        }
    };
    let filter = query.filter.as_ref().map(printer::print_expression);
    format!(
        "SELECT {distinct}{head}{}{}{}{}{window}",
        printer::print_from(&query.from),
        filter.map(|filter| format!("\nWHERE {filter}")).unwrap_or_default(),
        printer::print_group(&query.group),
        printer::print_order(query),
    )
}

/// Returns the aggregate that an expression consists of, and the partial result that the query
/// selects for it. The partial result of AVG is a sum and a count. MIN and MAX also have a count,
/// so that the client can ignore a partition without values. Returns `None` unless the expression
/// is a single call of an aggregate with one argument.
fn aggregate_item(node: &Node) -> Option<(AggregateKind, String)> {
    let NodeKind::Call { name, udf: false, args } = &node.kind else { return None };
    let (kind, [of]) = (AggregateKind::find_by_name(name)?, args.as_slice()) else { return None };
    let (of, written) = (printer::print_expression(of), name);
    let extreme = |name: &str, function: &str| {
        format!(
            "{{\"item\": {written}({of}), \
             \"item2\": {{\"{name}\": {function}({of}), \"count\": COUNT({of})}}}}"
        )
    };
    let item = match kind {
        AggregateKind::Avg => {
            format!("{{\"item\": {{\"sum\": SUM({of}), \"count\": COUNT({of})}}}}")
        }
        AggregateKind::Min => extreme("min", "MIN"),
        AggregateKind::Max => extreme("max", "MAX"),
        _ => format!("{{\"item\": {name}({of})}}"),
    };
    Some((kind, item))
}

/// Returns the plan of a query that counts the results of a DISTINCT subquery: each partition
/// returns its distinct results, and the client removes duplicates and counts. Returns `None` for
/// any other query.
pub(super) fn plan_distinct_count(query: &Query) -> Option<ClientPlan> {
    let plain = query.filter.is_none()
        && query.group.is_empty()
        && query.order.is_empty()
        && query.window.is_none();
    let [Input { of: Collection::Query(inner), iterates: false, .. }] = query.from.as_slice()
    else {
        return None;
    };
    let (node, alias) = match &query.selection {
        Selection::Value(node) => (node, String::new()),
        Selection::List(items) => match items.as_slice() {
            [item] => (&item.node, bind::names_of(items).pop()?),
            _ => return None,
        },
        Selection::Star(_) => return None,
    };
    let grouped = !inner.group.is_empty() || bind::has_aggregate(inner);
    let counts = plain && inner.distinct && !grouped && counts_rows(node);
    counts.then(|| ClientPlan {
        distinct: "Unordered",
        count_of_distinct: Some(alias),
        rewritten: printer::print_query(inner),
        ..ClientPlan::default()
    })
}

/// Returns whether an expression counts all rows: `COUNT` of a constant.
fn counts_rows(node: &Node) -> bool {
    match (&node.kind, aggregate_item(node)) {
        (NodeKind::Call { args, .. }, Some((AggregateKind::Count, _))) => {
            matches!(args.as_slice(), [Node { kind: NodeKind::Literal(_), .. }])
        }
        _ => false,
    }
}
