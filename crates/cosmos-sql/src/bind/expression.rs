//! Binds expressions. An expression that consists of constants becomes a constant here, so that it
//! is not built again for every row and indexes can use it.

use document::Value;
use select::{
    aggregate::AggregateKind,
    like::Like,
    plan::{DOCUMENT, Expr, Set},
};

use super::{
    Binder,
    frame::{Elements, Phase, RowSource},
    from::{path_in, step_value, stepped, whole_path},
};
use crate::{
    ast::{Field, Node, NodeKind, Operator, PathStep, Query, Subquery, TextPosition, Unary},
    error::{Fault, Span},
};

impl<'q> Binder<'q> {
    /// Binds an expression. An expression equal to a GROUP BY key becomes the slot of that key.
    pub(super) fn bind_expr(&mut self, node: &'q Node) -> Result<Expr, Fault> {
        // Keys are looked up first, because a key may contain names that clauses for groups cannot
        // use.
        if let Some(key) = self.group_key(node) {
            return Ok(key);
        }
        // Each arm only calls a function, to keep this stack frame small: the recursion has one per
        // level of the tree.
        match &node.kind {
            NodeKind::Literal(value) => Ok(Expr::Constant(value.clone())),
            NodeKind::Undefined => Ok(Expr::Undefined),
            NodeKind::Parameter(name) => self.bind_parameter(name, node),
            NodeKind::Name(name) => self.bind_name(name, node),
            NodeKind::Member { base, steps } => self.bind_member(node, base, steps),
            NodeKind::Array(items) => self.bind_array(items),
            NodeKind::Object(fields) => self.bind_object(fields),
            NodeKind::Not(inner) => self.bind_boxed(inner).map(Expr::Not),
            NodeKind::Unary(operator, inner) => self.bind_unary(*operator, inner),
            NodeKind::Chain { first, rest } => self.bind_chain(first, rest),
            NodeKind::Between { parts, negated } => self.bind_between(parts, *negated),
            NodeKind::In { value, items, negated } => self.bind_in(value, items, *negated),
            NodeKind::Like { value, pattern, escape, negated } => {
                self.bind_like(value, pattern, escape.as_ref(), *negated)
            }
            NodeKind::Coalesce(items) => self.bind_coalesce(items),
            NodeKind::Conditional(parts) => self.bind_conditional(parts),
            NodeKind::Call { name, udf, args } => self.bind_call(node, name, *udf, args),
            NodeKind::Query(kind, query) => self.bind_subquery(node, *kind, query),
        }
    }

    /// Replaces a parameter by its value as a constant.
    fn bind_parameter(&mut self, name: &str, node: &Node) -> Result<Expr, Fault> {
        let value = self.fill_in_parameter(name, node.span())?;
        Ok(match value {
            Value::Undefined => Expr::Undefined,
            value => Expr::Constant(value),
        })
    }

    /// Resolves a name to the slot that holds its value.
    fn bind_name(&mut self, name: &str, node: &Node) -> Result<Expr, Fault> {
        let value = self.resolve_name(name, node.span(), node.span());
        Ok(value.unwrap_or(Expr::Undefined))
    }

    /// Binds an array; an array of constants becomes a constant. Undefined elements are omitted, as
    /// at run time.
    fn bind_array(&mut self, items: &'q [Node]) -> Result<Expr, Fault> {
        let items = self.bind_all(items)?;
        Ok(match all_constants(&items) {
            Some(values) => Expr::Constant(Value::Array(values)),
            None => Expr::Array(items),
        })
    }

    /// Binds `??`: the result is the first operand that is not undefined. The operands after it are
    /// not evaluated.
    fn bind_coalesce(&mut self, items: &'q [Node]) -> Result<Expr, Fault> {
        self.bind_all(items).map(Expr::Coalesce)
    }

    fn bind_unary(&mut self, operator: Unary, inner: &'q Node) -> Result<Expr, Fault> {
        self.bind_boxed(inner).map(|inner| Expr::Unary(operator, inner))
    }

    /// Binds the three parts of BETWEEN or `?:`.
    fn bind_three(&mut self, parts: &'q [Node; 3]) -> Result<Box<[Expr; 3]>, Fault> {
        let [a, b, c] = parts;
        Ok(Box::new([self.bind_expr(a)?, self.bind_expr(b)?, self.bind_expr(c)?]))
    }

    /// Binds BETWEEN, whose bounds are inclusive.
    fn bind_between(&mut self, parts: &'q [Node; 3], negated: bool) -> Result<Expr, Fault> {
        self.bind_three(parts).map(|parts| negate_if(Expr::Between(parts), negated))
    }

    /// Binds `a ? b : c`; only the chosen side is evaluated.
    fn bind_conditional(&mut self, parts: &'q [Node; 3]) -> Result<Expr, Fault> {
        self.bind_three(parts).map(Expr::Conditional)
    }

    /// Binds IN. A list of constants becomes a set, whose lookup does not depend on its length.
    fn bind_in(
        &mut self,
        value: &'q Node,
        items: &'q [Node],
        negated: bool,
    ) -> Result<Expr, Fault> {
        let value = self.bind_boxed(value)?;
        Ok(negate_if(in_or_among(value, self.bind_all(items)?), negated))
    }

    /// Binds a subquery in an expression, in a frame of its own. A scalar subquery must have at
    /// most one result. In a key of GROUP BY a subquery is a fault and is not bound.
    fn bind_subquery(
        &mut self,
        node: &Node,
        kind: Subquery,
        query: &'q Query,
    ) -> Result<Expr, Fault> {
        if self.current_frame().phase == Phase::Key {
            return Ok(self.report(Fault::AggregateInKey(node.written_span())));
        }
        let (select, rows) = self.bind_inner_query(query)?;
        let fault = Fault::Cardinality(query.places.whole.0);
        match kind {
            Subquery::Scalar
                if rows.elements == Elements::Joined && !self.take_elements(&fault) =>
            {
                self.record_row_fault(fault);
            }
            // Reported only if the groups of an outer query have faults: Azure Cosmos DB then does
            // not check that aggregates reduce the rows of the subquery to one result.
            Subquery::Scalar if rows.has_many => self.record_group_fault(fault),
            _ => {}
        }
        self.count_joins(&rows);
        Ok(Expr::Subquery(kind, Box::new(select)))
    }

    /// Binds an expression and returns it in a box.
    fn bind_boxed(&mut self, node: &'q Node) -> Result<Box<Expr>, Fault> {
        self.bind_expr(node).map(Box::new)
    }

    /// Binds several expressions in order.
    pub(super) fn bind_all(&mut self, nodes: &'q [Node]) -> Result<Vec<Expr>, Fault> {
        nodes.iter().map(|node| self.bind_expr(node)).collect()
    }

    /// Binds a path. Its first part may be a GROUP BY key, a name, or any expression. Steps in
    /// brackets must be constants. The last step that is not a constant is reported, and the rest
    /// of the path is not checked.
    fn bind_member(
        &mut self,
        node: &Node,
        base: &'q Node,
        steps: &'q [PathStep],
    ) -> Result<Expr, Fault> {
        let in_key = self.current_frame().phase == Phase::Key;
        let computed = |step| computed_index(step, in_key);
        if let Some((index, end)) = steps.iter().rev().find_map(computed) {
            self.bind_expr(index)?;
            return Ok(self.report(Fault::Indexer(node.span().up_to(end))));
        }
        // Keys come first: in a query with groups, `c.a` may be a key although `c` alone is an
        // error.
        let most = steps.len().saturating_sub(usize::from(self.is_key(node)));
        if let Some((key, length)) = self.key_of_path(base, steps, most, node.span()) {
            return Ok(path_in(key, steps.get(length..).unwrap_or_default()));
        }
        if let NodeKind::Name(name) = &base.kind {
            if let Some(rid) = self.rid_of(name, steps) {
                return Ok(rid);
            }
            let property = whole_path(base.span(), node.span(), steps);
            let value = self.resolve_name(name, base.span(), property);
            return Ok(value.map_or(Expr::Undefined, |value| path_in(value, steps)));
        }
        let base = self.bind_expr(base)?;
        Ok(stepped(base, steps.iter().map(step_value).collect()))
    }

    /// Binds `_rid` of a name, in the rewritten query of a client's plan. It is the `_rid` of the
    /// row's document or, for a group, the smallest `_rid` of its rows. It is empty if there is no
    /// document.
    fn rid_of(&mut self, name: &str, steps: &[PathStep]) -> Option<Expr> {
        let [PathStep::Name(property, _)] = steps else { return None };
        let [frame] = self.frames.as_slice() else { return None };
        let is_first = frame.names.first().is_some_and(|(first, _)| first == name);
        if !frame.reads_rid || !is_first || property != "_rid" {
            return None;
        }
        // A row that is computed from all documents has no resource id; the service returns an
        // empty string.
        let no_rid = Expr::Constant(Value::String(String::new()));
        if frame.start == RowSource::OneForAll {
            return Some(no_rid);
        }
        let rid = Expr::Path(DOCUMENT, vec![property.clone()]);
        let (phase, has_keys) = (frame.phase, frame.has_keys);
        if !matches!(phase, Phase::Groups(_)) {
            return Some(rid);
        }
        let least = self.aggregate_of(AggregateKind::Min, rid);
        // Without keys there is one result even if there are no rows and thus no smallest `_rid`.
        Some(if has_keys { least } else { Expr::Coalesce(vec![least, no_rid]) })
    }

    /// Binds an object; an object of constants becomes a constant, without its undefined
    /// properties. A repeated property is a fault.
    fn bind_object(&mut self, fields: &'q [Field]) -> Result<Expr, Fault> {
        let mut names = std::collections::HashSet::new();
        for Field { name, at, .. } in fields {
            if !names.insert(name) {
                self.record_fault(Fault::Property(at.0, name.clone()));
            }
        }
        let mut object = Vec::with_capacity(fields.len());
        for field in fields {
            object.push((field.name.clone(), self.bind_expr(&field.value)?));
        }
        // An undefined field counts as constant, because it is omitted.
        let known = |(_, value): &(String, Expr)| is_constant(value);
        if !object.iter().all(known) {
            return Ok(Expr::Object(object));
        }
        let fields = object.into_iter().filter_map(|(name, value)| match value {
            Expr::Constant(value) => Some((name, value)),
            _ => None,
        });
        Ok(Expr::Constant(Value::Document(fields.collect())))
    }

    /// Binds a chain of operators of one precedence. A chain of AND, of OR or of `||` has only
    /// equal operators and becomes one operation on all operands. Other operators are applied from
    /// left to right.
    fn bind_chain(&mut self, first: &'q Node, rest: &'q [(Operator, Node)]) -> Result<Expr, Fault> {
        let first = self.bind_expr(first)?;
        let mut operands = Vec::with_capacity(rest.len() + 1);
        let kind = rest.first().map(|(operator, _)| *operator);
        if let Some(Operator::And | Operator::Or | Operator::Concat) = kind {
            operands.push(first);
            for (_, node) in rest {
                operands.push(self.bind_expr(node)?);
            }
            return Ok(match kind {
                Some(Operator::And) => Expr::And(operands),
                Some(Operator::Or) => Expr::Or(operands),
                _ => Expr::Concat(operands),
            });
        }
        let mut chain = Vec::with_capacity(rest.len());
        for (operator, node) in rest {
            // The parser never mixes AND, OR or `||` with other operators in a chain.
            let Operator::Of(binary) = operator else { return Err(Fault::Syntax(node.span())) };
            chain.push((*binary, self.bind_expr(node)?));
        }
        Ok(Expr::Chain(Box::new(first), chain))
    }

    /// Binds LIKE. A constant pattern is compiled here, a computed one for every row. ESCAPE takes
    /// one character.
    fn bind_like(
        &mut self,
        value: &'q Node,
        pattern: &'q Node,
        escape: Option<&(String, TextPosition)>,
        negated: bool,
    ) -> Result<Expr, Fault> {
        let escape = match escape {
            None => None,
            Some((text, at)) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Some(c),
                    _ => return Ok(self.report(Fault::Escape(at.0, text.clone()))),
                }
            }
        };
        let value = self.bind_boxed(value)?;
        let like = match self.bind_expr(pattern)? {
            // A pattern that is not a string is evaluated at run time, where the result is
            // undefined.
            Expr::Constant(Value::String(pattern)) => {
                Expr::Like(value, Like::new(&pattern, escape))
            }
            pattern => Expr::LikeAny(value, Box::new(pattern), escape),
        };
        Ok(negate_if(like, negated))
    }
}

/// Returns the expression in brackets if it is not a constant, and a position that ends with the
/// closing bracket. In a key of GROUP BY (`in_key`), no subquery is a constant.
fn computed_index(step: &PathStep, in_key: bool) -> Option<(&Node, Span)> {
    let PathStep::Computed(index, end) = step else { return None };
    let is_query = matches!(index.kind, NodeKind::Query(..));
    (index.constant_index().is_none() || (in_key && is_query)).then_some((index, end.0))
}

/// Negates the expression if requested.
fn negate_if(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::Not(Box::new(expr)) } else { expr }
}

/// Returns whether an expression is a constant or undefined.
fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(_) | Expr::Undefined)
}

/// Returns the values of constant expressions, without undefined ones; `None` if one is not
/// constant.
fn all_constants(exprs: &[Expr]) -> Option<Vec<Value>> {
    if !exprs.iter().all(is_constant) {
        return None;
    }
    let values = exprs.iter().filter_map(|expr| match expr {
        Expr::Constant(value) => Some(value.clone()),
        _ => None,
    });
    Some(values.collect())
}

/// Binds IN to a set if all items are constants, otherwise to comparisons with each item. If no
/// item equals the value and an item is undefined, the result is undefined; the set therefore
/// records whether an item is undefined.
fn in_or_among(value: Box<Expr>, items: Vec<Expr>) -> Expr {
    let Some(values) = all_constants(&items) else { return Expr::In(value, items) };
    let has_nothing = values.len() < items.len();
    Expr::Among(value, Box::new(Set::new(values, has_nothing)))
}
