//! Binds ORDER BY, and checks whether an expression is a path of the stored document, since Azure
//! Cosmos DB orders only by such paths.

use document::Value;
use select::{
    aggregate::AggregateKind,
    plan::{DOCUMENT, Expr, Input, Order, Projection, Select, Source, Subquery},
};

use super::{Binder, frame::Phase, has_aggregate, scope::reads_rid};
use crate::{
    ast::{Collection, Node, NodeKind, Query, Selection},
    error::Fault,
};

impl<'q> Binder<'q> {
    /// Binds ORDER BY; `keys` are the group keys of a query with groups. If all rows make a single
    /// result, their order has no effect; the paths are then only checked for faults.
    pub(super) fn bind_order(
        &mut self,
        query: &'q Query,
        keys: Option<&Vec<(Expr, usize)>>,
        from: &[Source],
    ) -> Result<Vec<Order>, Fault> {
        let one = keys.is_some() && query.group.is_empty();
        let any = orders_one_count(query);
        // Without GROUP BY, one row for all documents is the only one that cannot be ordered.
        self.orders_by_no_path |=
            one && !any && !query.order.is_empty() && self.current_frame().is_one_for_all();
        let only_paths = query.order.iter().all(|item| item.node.is_path());
        let mut order = Vec::with_capacity(query.order.len());
        for item in &query.order {
            if one && only_paths {
                let phase = std::mem::replace(&mut self.current_frame().phase, Phase::Aggregate);
                let checked = self.bind_expr(&item.node);
                self.current_frame().phase = phase;
                checked?;
                continue;
            }
            let by = self.bind_expr(&item.node)?;
            let is_path = |by: &Expr| is_document_path(by, &[from]);
            self.orders_by_no_path |= match keys {
                _ if any => false,
                Some(_) if one => false,
                Some(keys) => {
                    let key = key_of(&by, keys).filter(|_| item.node.is_path());
                    !key.is_some_and(is_path)
                }
                None => !from.is_empty() && !is_path(&by),
            };
            order.push(Order { by, descending: item.descending });
        }
        Ok(order)
    }
}

/// Returns whether an expression evaluates to a part of the document. `from` has the sources of the
/// outer queries, outermost first, and then those of the query itself.
fn is_document_path(expr: &Expr, from: &[&[Source]]) -> bool {
    match expr {
        Expr::Slot(slot) => is_path_in_slot(*slot, &[], from),
        Expr::Path(slot, names) => is_path_in_slot(*slot, names, from),
        Expr::Steps(of, steps) => {
            let are_known = steps.iter().all(|step| matches!(step, Expr::Constant(_)));
            are_known && is_document_path(of, from)
        }
        Expr::Subquery(Subquery::Scalar, select) => is_selected_path(select, &[], from),
        Expr::Conditional(parts) => {
            chosen(parts.as_ref()).is_some_and(|part| is_document_path(part, from))
        }
        Expr::Call(function, args) if function.name == "IIF" => {
            chosen(args).is_some_and(|part| is_document_path(part, from))
        }
        Expr::Coalesce(values) => is_path_first(values, from),
        _ => false,
    }
}

/// Returns the branch of a conditional expression that its constant condition selects; `None` if
/// the condition is not constant.
fn chosen(parts: &[Expr]) -> Option<&Expr> {
    let [condition, yes, no] = parts else { return None };
    match condition {
        Expr::Constant(Value::Bool(true)) => Some(yes),
        Expr::Constant(_) | Expr::Undefined => Some(no),
        _ => None,
    }
}

/// Returns whether a path of names in a slot leads to a part of the document.
fn is_path_in_slot(slot: usize, names: &[String], from: &[&[Source]]) -> bool {
    let mut sources = from.iter().rev().flat_map(|sources| sources.iter());
    match sources.find(|source| source.slot == slot).map(|source| &source.input) {
        // The document, or a name of an outer query.
        None | Some(Input::Root) => true,
        Some(Input::Value(of) | Input::Elements(of)) => {
            slot == DOCUMENT || is_document_path(of, from)
        }
        Some(Input::Results(select)) => is_selected_path(select, names, from),
        Some(Input::Collected(select)) => is_selected_path(select, names, from),
    }
}

/// Returns whether the first defined value of several is always the same path.
fn is_path_first(values: &[Expr], from: &[&[Source]]) -> bool {
    let mut rest = values.iter().skip_while(|value| matches!(value, Expr::Undefined));
    match (rest.next(), rest.next()) {
        // A name of a row is always defined.
        (Some(first), Some(_)) => matches!(first, Expr::Slot(_)) && is_document_path(first, from),
        (Some(only), None) => is_document_path(only, from),
        (None, _) => false,
    }
}

/// Returns whether FROM is a subquery that always has one result, a count or a list of all
/// documents. Azure Cosmos DB permits any expression in the ORDER BY of such a query, since clients
/// order after they have read the result. The query must not have a filter, except in the rewritten
/// form of a client's plan.
pub(crate) fn orders_one_count(query: &Query) -> bool {
    let [input] = query.from.as_slice() else { return false };
    let Collection::Query(of) = &input.of else { return false };
    let is_true = |filter: &Node| matches!(filter.kind, NodeKind::Literal(Value::Bool(true)));
    let is_plain = query.filter.as_ref().is_none_or(is_true) || reads_rid(query);
    is_plain && !query.order.is_empty() && !input.iterates && counts_documents(of)
}

/// Returns whether a query selects one count or one list of all documents.
fn counts_documents(query: &Query) -> bool {
    let Selection::Value(Node { kind: NodeKind::Call { name, udf: false, args }, .. }) =
        &query.selection
    else {
        return false;
    };
    let is_count = AggregateKind::find_by_name(name).is_some_and(|kind| {
        use AggregateKind::{Count, CountIf, MakeList, MakeSet};
        matches!(kind, Count | CountIf | MakeList | MakeSet)
    });
    let is_plain = !query.distinct && query.group.is_empty();
    is_count && is_plain && has_no_elements(query) && !args.iter().any(has_subquery)
}

/// Returns whether FROM of a query has at most one row per document.
fn has_no_elements(query: &Query) -> bool {
    query.from.iter().all(|input| match &input.of {
        _ if input.iterates => false,
        Collection::Path { .. } => true,
        Collection::Query(of) => {
            (!has_aggregate(of) || !of.group.is_empty()) && has_no_elements(of)
        }
    })
}

/// Returns whether an expression has a subquery.
fn has_subquery(node: &Node) -> bool {
    let (mut inner, mut has) = (false, false);
    node.visit_inner(&mut |node| inner = inner || has_subquery(node), &mut |_| has = true);
    has || inner
}

/// Returns the GROUP BY key with which an expression starts; `None` if it starts with none.
fn key_of<'k>(expr: &Expr, keys: &'k [(Expr, usize)]) -> Option<&'k Expr> {
    let slot = root_slot(expr)?;
    keys.iter().find(|(_, key)| *key == slot).map(|(key, _)| key)
}

/// Returns whether a path inside the results of a query leads to a part of the document.
fn is_selected_path(select: &Select, names: &[String], around: &[&[Source]]) -> bool {
    let clauses = select.clauses();
    let from = [around, &[clauses.from.as_slice()]].concat();
    // A filter over a single row may leave no result.
    let one = clauses.from.iter().all(|source| matches!(source.input, Input::Value(_)));
    if one && clauses.filter.is_some() {
        return false;
    }
    // A path to a missing value leaves no row, and no other value.
    let leads = |source: &&Source| matches!(&source.input, Input::Value(of) if !is_slot(of));
    let is_whole = |of: Option<&Expr>| {
        let root = of.and_then(root_slot);
        !one || is_first_source(select, around)
            || clauses.from.iter().filter(leads).all(|source| Some(source.slot) == root)
    };
    let is_path = |of: &Expr| match &clauses.group {
        None => is_document_path(of, &from),
        Some(group) => key_of(of, &group.keys).is_some_and(|key| is_document_path(key, &from)),
    };
    match &clauses.projection {
        // A subquery without FROM uses the row of its outer query, if any.
        Projection::Star(slot) => {
            let gives = |source: &Source| source.slot == *slot;
            from.iter().any(|sources| sources.iter().any(gives))
                && is_path_in_slot(*slot, names, &from)
        }
        Projection::Value(Expr::Object(fields)) | Projection::Fields(fields) => {
            let first = names.first();
            let field = first.and_then(|first| fields.iter().find(|(name, _)| name == first));
            is_whole(None) && field.is_some_and(|(_, of)| is_path(of))
        }
        Projection::Value(of) => is_whole(Some(of)) && is_path(of),
    }
}

/// Returns the slot of the name with which a path expression starts.
fn root_slot(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Slot(slot) | Expr::Path(slot, _) => Some(*slot),
        Expr::Steps(of, _) => root_slot(of),
        _ => None,
    }
}

/// Returns whether an expression is a name.
fn is_slot(expr: &Expr) -> bool {
    matches!(expr, Expr::Slot(_))
}

/// Returns whether a query is the first source of its FROM, which reads the documents.
fn is_first_source(select: &Select, around: &[&[Source]]) -> bool {
    match around.last().and_then(|from| from.first()).map(|source| &source.input) {
        Some(Input::Results(first)) => std::ptr::eq(first.as_ref(), select),
        Some(Input::Collected(first)) => std::ptr::eq(first.as_ref(), select),
        _ => false,
    }
}
