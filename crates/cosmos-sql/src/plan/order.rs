//! Plans of ORDER BY: each result comes with its sort keys, and a filter can be put in where a
//! client goes on.

use super::ClientPlan;
use crate::{
    ast::{Collection, Node, NodeKind, PathStep, Query, Selection},
    bind, printer,
};

/// What a client replaces by `true` or by a filter.
/// It goes on from the sort keys of the last result that it has.
const FILTER: &str = "{documentdb-formattableorderbyquery-filter}";

/// The plan: each result comes with its sort keys as `orderByItems`, and with what was selected as
/// `payload`.
/// `_rid` comes with each result: a client uses it to order results with equal keys. `None` where
/// FROM has no document to take it from.
pub(super) fn plan_order(query: &Query, mut plan: ClientPlan) -> Option<ClientPlan> {
    for item in &query.order {
        plan.order_by.push(if item.descending { "Descending" } else { "Ascending" });
        plan.order_by_expressions.push(printer::print_expression(&item.node));
    }
    let (root, from) = root_and_from(query)?;
    // Results that a client finds to be the same do not count.
    let top = if query.distinct { String::new() } else { printer::print_top(query) };
    let window = if query.distinct { String::new() } else { plan.window() };
    let items: Vec<String> = plan
        .order_by_expressions
        .iter()
        .map(|expression| format!("{{\"item\": {expression}}}"))
        .collect();
    // In parentheses: what the client puts in shall not mix with the operators around.
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
    // Without a value there is no result, which the row around the payload would hide: TOP, here and
    // at the client, counts rows.
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

/// Keys of GROUP BY as the items that a client is sent.
pub(super) fn keys_of(group: &[Node]) -> String {
    let keys = group.iter().map(|key| format!("{{\"item\": {}}}", printer::print_expression(key)));
    keys.collect::<Vec<_>>().join(", ")
}

/// Whether the value that DISTINCT selects is what ORDER BY orders by, in the same words.
/// Then equal results come one after the other, and a client has to remember only the last one.
pub(super) fn decides_order(query: &Query) -> bool {
    match (&query.selection, query.order.as_slice()) {
        (Selection::Value(node), [item]) => {
            *node == item.node && steps_as_written(node) == steps_as_written(&item.node)
        }
        _ => false,
    }
}

/// Which steps of a path are names after a dot, and not in brackets.
fn steps_as_written(node: &Node) -> Vec<bool> {
    let NodeKind::Member { steps, .. } = &node.kind else { return Vec::new() };
    let after_dot = |step: &PathStep| match step {
        PathStep::Name(name, at) => at.0.end - at.0.start == name.len(),
        PathStep::Computed(..) => false,
    };
    steps.iter().map(after_dot).collect()
}

/// A result as one value, which the client unpacks.
/// `None` for a `*` over something without a name.
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

/// The name whose `_rid` clients ask for, and a FROM that has it: the first name. `FROM x IN c.list`
/// becomes `FROM c JOIN x IN c.list`, since the name of the document is asked for where there are only
/// its elements; a name of FROM is taken for that one.
/// `None` where FROM has no such name: for a path without one of its own, and for a query without one.
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

/// Whether FROM gives a name.
fn has_name(query: &Query, name: &str) -> bool {
    query.from.iter().any(|input| input.name().is_some_and(|(known, _)| known == name))
}
