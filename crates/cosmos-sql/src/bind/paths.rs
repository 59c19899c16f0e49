//! Binds ORDER BY, and checks whether an expression is a path of the stored document, since Azure
//! Cosmos DB orders only by such paths.

use document::Value;
use select::{
    aggregate::AggregateKind,
    plan::{DOCUMENT, Expr, Input, Order, Projection, Select, Source, Subquery},
};

use super::{
    Binder, equality::have_same_value, frame::Phase, has_aggregate, properties::has_one_result,
    scope::reads_rid,
};
use crate::{
    ast::{Collection, Input as AstInput, Node, NodeKind, Query, Selection},
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
        // An ORDER BY with aggregates and without GROUP BY is refused only if FROM is a single row
        // for all documents.
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
            if !any && !one && (keys.is_some() || !from.is_empty()) {
                let keys = keys.into_iter().flatten().collect();
                let paths = Paths { from: vec![from], keys, reads_documents: true };
                self.orders_by_no_path |= !paths.is_document_path(&by, &[]);
            }
            order.push(Order { by, descending: item.descending });
        }
        Ok(order)
    }
}

/// The sources and keys through which the path of an expression is followed to the document.
#[derive(Clone)]
struct Paths<'a> {
    /// The sources of the outer queries, outermost first, and then those of the query itself.
    from: Vec<&'a [Source]>,
    /// The GROUP BY keys of the outer queries and of the query itself, with their slots.
    keys: Vec<&'a (Expr, usize)>,
    /// Whether the query itself and each outer query is the first source of the next outer query,
    /// so that its own first source is the documents or a path into them.
    reads_documents: bool,
}

impl Paths<'_> {
    /// Returns whether the path `steps` into the value of an expression leads to a part of the
    /// document.
    fn is_document_path(&self, expr: &Expr, steps: &[Value]) -> bool {
        match expr {
            Expr::Slot(slot) => self.leads_from_slot(*slot, steps),
            Expr::Path(slot, names) => {
                let names = names.iter().map(|name| Value::String(name.clone()));
                self.leads_from_slot(*slot, &names.chain(steps.iter().cloned()).collect::<Vec<_>>())
            }
            Expr::Steps(of, more) => {
                let more: Option<Vec<Value>> = more.iter().map(constant_step).collect();
                more.is_some_and(|more| {
                    self.is_document_path(of, &[more.as_slice(), steps].concat())
                })
            }
            Expr::Subquery(Subquery::Scalar, select) => self.leads_from_results(select, steps),
            Expr::Conditional(parts) => {
                chosen(parts.as_ref()).is_some_and(|part| self.is_document_path(part, steps))
            }
            Expr::Call(function, args) if function.name == "IIF" => {
                chosen(args).is_some_and(|part| self.is_document_path(part, steps))
            }
            Expr::Coalesce(values) => self.leads_from_first(values, steps),
            _ => steps
                .split_first()
                .is_some_and(|(step, rest)| self.leads_from_part(expr, step, rest)),
        }
    }

    /// Returns whether the path of `step` and `rest` into an object or a list leads to a part of
    /// the document. `step` selects the property or the element.
    fn leads_from_part(&self, expr: &Expr, step: &Value, rest: &[Value]) -> bool {
        let at = select::to_i64(step.as_ref()).and_then(|at| usize::try_from(at).ok());
        match (expr, step) {
            (Expr::Object(fields), Value::String(name)) => {
                let field = fields.iter().find(|(field, _)| field == name);
                field.is_some_and(|(_, of)| self.is_document_path(of, rest))
            }
            (Expr::Array(items), _) => {
                at.and_then(|at| items.get(at)).is_some_and(|of| self.is_document_path(of, rest))
            }
            // The list always has one result, which only index 0 selects.
            (Expr::Subquery(Subquery::Array, select), _) => {
                at == Some(0) && has_one_result(select) && self.leads_from_results(select, rest)
            }
            _ => false,
        }
    }

    /// Returns whether the first defined value of `values` is always the same one, and the path
    /// `steps` into this value leads to a part of the document.
    fn leads_from_first(&self, values: &[Expr], steps: &[Value]) -> bool {
        let mut rest = values.iter().filter(|value| !matches!(value, Expr::Undefined));
        let is_name = |expr: &Expr| match expr {
            Expr::Slot(slot) => self.key_in(*slot).is_none_or(is_slot),
            _ => false,
        };
        match (rest.next(), rest.next()) {
            // A name of a row is always defined, so that no later value is used.
            (Some(first), Some(_)) => is_name(first) && self.is_document_path(first, steps),
            (Some(only), None) => self.is_document_path(only, steps),
            (None, _) => false,
        }
    }

    /// Returns the key of GROUP BY in a slot.
    fn key_in(&self, slot: usize) -> Option<&Expr> {
        self.keys.iter().find(|(_, key)| *key == slot).map(|(key, _)| key)
    }

    /// Returns whether a path in a slot leads to a part of the document.
    fn leads_from_slot(&self, slot: usize, steps: &[Value]) -> bool {
        if let Some(key) = self.key_in(slot) {
            return self.is_document_path(key, steps);
        }
        let mut sources = self.from.iter().rev().flat_map(|sources| sources.iter());
        match sources.find(|source| source.slot == slot).map(|source| &source.input) {
            Some(Input::Root) => true,
            // The document needs no source here; any other slot without a source is that of an
            // aggregate.
            _ if slot == DOCUMENT => true,
            None => false,
            Some(Input::Value(of)) => self.is_document_path(of, steps),
            Some(Input::Elements(of)) => self.is_document_path(of, &[]),
            Some(Input::Results(select)) => self.leads_from_results(select, steps),
            Some(Input::Collected(select)) => self.leads_from_results(select, steps),
        }
    }

    /// Returns whether a path into the results of a query leads to a part of the document.
    fn leads_from_results(&self, select: &Select, steps: &[Value]) -> bool {
        let clauses = select.clauses();
        let mut paths = self.clone();
        paths.reads_documents = self.reads_documents && self.is_first_source(select);
        let is_value = |source: &Source| matches!(source.input, Input::Value(_));
        let one = !paths.reads_documents && clauses.from.iter().all(is_value);
        // A filter over a single row may leave no result, and then the path has no value.
        if one && clauses.filter.is_some() {
            return false;
        }
        paths.from.push(&clauses.from);
        paths.keys.extend(clauses.group.iter().flat_map(|group| &group.keys));
        // A source that is a path to a missing value yields no row: only the selected path itself
        // may be such a source, since any other would remove the selected value.
        let is_path = |source: &&Source| matches!(&source.input, Input::Value(of) if !is_slot(of));
        let is_whole = |of: Option<&Expr>| {
            let root = of.and_then(root_slot);
            !one || clauses.from.iter().filter(is_path).all(|source| Some(source.slot) == root)
        };
        match (&clauses.projection, steps) {
            // A subquery without FROM uses the row of its outer query, if any.
            (Projection::Star(slot), _) => {
                let gives = |source: &Source| source.slot == *slot;
                paths.from.iter().any(|sources| sources.iter().any(gives))
                    && paths.leads_from_slot(*slot, steps)
            }
            (Projection::Fields(fields), [Value::String(name), rest @ ..]) => {
                let field = fields.iter().find(|(field, _)| field == name);
                is_whole(None) && field.is_some_and(|(_, of)| paths.is_document_path(of, rest))
            }
            (Projection::Fields(_), _) => false,
            (Projection::Value(of), _) => is_whole(Some(of)) && paths.is_document_path(of, steps),
        }
    }

    /// Returns whether a query is the first source of its outer query's FROM, so that it reads the
    /// documents.
    fn is_first_source(&self, select: &Select) -> bool {
        match self.from.last().and_then(|from| from.first()).map(|source| &source.input) {
            Some(Input::Results(first)) => std::ptr::eq(first.as_ref(), select),
            Some(Input::Collected(first)) => std::ptr::eq(first.as_ref(), select),
            _ => false,
        }
    }
}

/// Returns the value of a constant step of a path.
fn constant_step(step: &Expr) -> Option<Value> {
    match step {
        Expr::Constant(value) => Some(value.clone()),
        _ => None,
    }
}

/// Returns the branch that is always the value of a conditional expression: both branches have the
/// same value, or the condition is constant. `None` if there is no such branch.
fn chosen(parts: &[Expr]) -> Option<&Expr> {
    let [_, yes, no] = parts else { return None };
    constant_choice(parts).or_else(|| have_same_value(yes, no).then_some(yes))
}

/// Returns the branch of a conditional expression that its constant condition selects; `None` if
/// the condition is not constant.
pub(super) fn constant_choice(parts: &[Expr]) -> Option<&Expr> {
    let [condition, yes, no] = parts else { return None };
    match condition {
        Expr::Constant(Value::Bool(true)) => Some(yes),
        Expr::Constant(_) | Expr::Undefined => Some(no),
        _ => None,
    }
}

/// Returns whether FROM starts with a subquery that always has one result, a count or a list of all
/// documents. Azure Cosmos DB permits any expression in the ORDER BY of such a query, since clients
/// order after they have read the result. The query must not have a filter, except in the rewritten
/// form of a client's plan. If rows are joined with elements, it must have no groups.
pub(crate) fn orders_one_count(query: &Query) -> bool {
    let Some((first, joined)) = query.from.split_first() else { return false };
    let Collection::Query(of) = &first.of else { return false };
    let is_true = |filter: &Node| matches!(filter.kind, NodeKind::Literal(Value::Bool(true)));
    let is_plain = query.filter.as_ref().is_none_or(is_true) || reads_rid(query);
    let has_groups = has_aggregate(query) || !query.group.is_empty();
    let orders_by_elements = query.order.iter().any(|item| has_elements(&item.node));
    let joins_elements = !joined.is_empty() || joins_elements(of) || orders_by_elements;
    is_plain
        && !query.order.is_empty()
        && !first.iterates
        && joined.iter().all(|input| input.iterates)
        && !(has_groups && joins_elements)
        && counts_documents(of)
}

/// Returns whether a query selects one count or one list of all documents.
fn counts_documents(query: &Query) -> bool {
    let Selection::Value(Node { kind: NodeKind::Call { name, udf: false, .. }, .. }) =
        &query.selection
    else {
        return false;
    };
    let is_count = AggregateKind::find_by_name(name).is_some_and(|kind| {
        use AggregateKind::{Count, CountIf, MakeList, MakeSet};
        matches!(kind, Count | CountIf | MakeList | MakeSet)
    });
    let counts_one_row = match query.from.first() {
        Some(AstInput { of: Collection::Query(of), iterates: false, .. }) => has_one_row(of),
        _ => false,
    };
    is_count && !query.distinct && query.group.is_empty() && !counts_one_row
}

/// Returns whether a query has one result for all documents.
fn has_one_row(query: &Query) -> bool {
    has_aggregate(query) && query.group.is_empty() && !joins_elements(query)
}

/// Returns whether a query joins documents with elements of arrays, in FROM or by a subquery in an
/// expression.
fn joins_elements(query: &Query) -> bool {
    let in_from = query.from.iter().any(|input| match &input.of {
        _ if input.iterates => true,
        Collection::Path { .. } => false,
        Collection::Query(of) => joins_elements(of),
    });
    let in_selection = match &query.selection {
        Selection::Star(_) => false,
        Selection::Value(node) => has_elements(node),
        Selection::List(items) => items.iter().any(|item| has_elements(&item.node)),
    };
    in_from || in_selection || query.filter.as_ref().is_some_and(has_elements)
}

/// Returns whether an expression has a subquery over elements of arrays.
fn has_elements(node: &Node) -> bool {
    let (mut inner, mut joins) = (false, false);
    node.visit_inner(&mut |node| inner |= has_elements(node), &mut |of| {
        joins |= joins_elements(of)
    });
    inner || joins
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
