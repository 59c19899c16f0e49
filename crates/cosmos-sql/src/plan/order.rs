//! Query plans for clients, with ORDER BY: each result is returned with its sort keys, and the
//! query has a placeholder for the filter with which a client resumes.

use document::Value;

use super::ClientPlan;
use crate::{
    ast::{Collection, Node, NodeKind, PathStep, Query, Selection},
    bind, printer,
};

/// A placeholder that the client replaces by `true`, or by a filter that resumes after the sort
/// keys of its last result.
const FILTER: &str = "{documentdb-formattableorderbyquery-filter}";

/// Returns the plan of a query with ORDER BY. Each result then has three parts: `orderByItems` with
/// the sort keys, `payload` with the selected value, and `_rid`, by which the client orders results
/// with equal keys. `None` if FROM has no document that provides the `_rid`.
pub(super) fn plan_order(query: &Query, mut plan: ClientPlan) -> Option<ClientPlan> {
    for item in &query.order {
        plan.order_by.push(if item.descending { "Descending" } else { "Ascending" });
        plan.order_by_expressions.push(printer::print_expression(&item.node));
    }
    plan.non_streaming = bind::orders_one_count(query);
    let (root, from) = root_and_from(query)?;
    // The client applies TOP and the limits, after it has removed duplicates across partitions.
    let top = if query.distinct { String::new() } else { printer::print_top(query) };
    let window = if query.distinct { String::new() } else { plan.window() };
    let items: Vec<String> = plan
        .order_by_expressions
        .iter()
        .map(|expression| format!("{{\"item\": {expression}}}"))
        .collect();
    // The client's filter is in parentheses, so that its operators do not combine with those
    // of the query.
    let mut filter = match &query.filter {
        Some(filter) => format!("({} AND ({FILTER}))", printer::print_expression(filter)),
        None => format!("({FILTER})"),
    };
    let payload = payload_of(query)?;
    if !query.group.is_empty() {
        let keys = keys_of(&query.group);
        plan.rewritten = format!(
            "SELECT {root}._rid, [{}] AS orderByItems, {{\"groupByItems\": [{keys}], \"payload\": \
             {payload}}} AS payload{from}\nWHERE {filter}{}{}",
            items.join(", "),
            printer::print_group(&query.group),
            printer::print_order(query),
        );
        return Some(plan);
    }
    // An undefined value is not a result. It is filtered out, since TOP, here and at the client,
    // would count the object that contains the value and its sort keys.
    if matches!(query.selection, Selection::Value(_)) {
        filter = format!("({filter} AND IS_DEFINED({payload}))");
    }
    plan.rewritten = format!(
        "SELECT {top}{root}._rid, [{}] AS orderByItems, {payload} AS payload{from}\nWHERE {filter}{}{window}",
        items.join(", "),
        printer::print_order(query),
    );
    Some(plan)
}

/// Returns the keys of GROUP BY in the form that a client receives.
pub(super) fn keys_of(group: &[Node]) -> String {
    let keys = group.iter().map(|key| format!("{{\"item\": {}}}", printer::print_expression(key)));
    keys.collect::<Vec<_>>().join(", ")
}

/// Returns whether DISTINCT selects the value by which ORDER BY sorts, written the same way. Equal
/// results are then adjacent, so that a client has to keep only the last result to remove
/// duplicates.
pub(super) fn decides_order(query: &Query) -> bool {
    match (&query.selection, query.order.as_slice()) {
        (Selection::Value(node), [item]) => {
            *node == item.node && steps_as_written(node) == steps_as_written(&item.node)
        }
        _ => false,
    }
}

/// Returns the steps of a path as they are written.
fn steps_as_written(node: &Node) -> Vec<(bool, Option<&Value>)> {
    let NodeKind::Member { steps, .. } = &node.kind else { return Vec::new() };
    steps.iter().map(step_as_written).collect()
}

/// Returns whether a step is written after a dot instead of in brackets, and the constant in the
/// brackets, since equal steps may be written as different numbers.
fn step_as_written(step: &PathStep) -> (bool, Option<&Value>) {
    match step {
        PathStep::Name(name, at) => (at.0.end - at.0.start == name.len(), None),
        PathStep::Computed(index, _) => (false, index.constant_index()),
    }
}

/// Returns an expression that contains the whole result in one value, which the client unpacks.
/// `None` for a `*` over a source without a name.
fn payload_of(query: &Query) -> Option<String> {
    Some(match &query.selection {
        Selection::Star(_) => query.from.first()?.name()?.0.to_owned(),
        Selection::Value(node) => printer::print_expression(node),
        Selection::List(items) => {
            let names = bind::names_of(items);
            let fields: Vec<String> = names
                .iter()
                .zip(items)
                .map(|(name, item)| {
                    format!(
                        "{}: {}",
                        printer::quoted_text(name),
                        printer::print_expression(&item.node)
                    )
                })
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    })
}

/// Returns the name of the source whose `_rid` clients need, and a FROM clause that defines this
/// name first. `FROM x IN c.list` becomes `FROM c JOIN x IN c.list`, because the `_rid` is that of
/// the document. Returns `None` if FROM has no such name, which is so for a path or a subquery
/// without an alias.
fn root_and_from(query: &Query) -> Option<(String, String)> {
    let first = query.from.first()?;
    let from = printer::print_from(&query.from);
    let (name, _) = first.name()?;
    match &first.of {
        Collection::Path { root, .. } if root != name && has_name(query, root) => {
            Some((root.clone(), from))
        }
        Collection::Path { root, .. } if first.iterates && root != name => {
            Some((root.clone(), format!("\nFROM {root}{}", from.replacen("\nFROM ", "\nJOIN ", 1))))
        }
        Collection::Path { root, .. } if first.alias.is_none() && root != name => None,
        _ => Some((name.to_owned(), from)),
    }
}

/// Returns whether FROM defines a name.
fn has_name(query: &Query, name: &str) -> bool {
    query.from.iter().any(|input| input.name().is_some_and(|(known, _)| known == name))
}
