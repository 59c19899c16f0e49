//! Expressions: each node to what evaluates it.

use document::Value;
use select::{
    like::Like,
    plan::{Expr, Set},
};

use super::Binder;
use crate::{
    ast::{Node, NodeKind, Operator, Place, Query, Step, Subquery, Unary},
    error::Fault,
};

impl<'q> Binder<'q> {
    pub(super) fn expr(&mut self, node: &'q Node) -> Result<Expr, Fault> {
        if let Some(key) = self.key(node) {
            return Ok(key);
        }
        // Each arm answers by itself: this frame stands once per level of a tree.
        match &node.kind {
            NodeKind::Literal(value) => Ok(Expr::Constant(value.clone())),
            NodeKind::Undefined => Ok(Expr::Undefined),
            NodeKind::Parameter(name) => self.constant(name, node),
            NodeKind::Name(name) => self.name(name, node),
            NodeKind::Member { base, steps } => self.member(node, base, steps),
            NodeKind::Array(items) => self.array(items),
            NodeKind::Object(fields) => self.object(fields, node),
            NodeKind::Not(inner) => self.boxed(inner).map(Expr::Not),
            NodeKind::Unary(operator, inner) => self.unary(*operator, inner),
            NodeKind::Chain { first, rest } => self.chain(first, rest),
            NodeKind::Between { parts, negated } => self.between(parts, *negated),
            NodeKind::In { value, items, negated } => self.among(value, items, *negated),
            NodeKind::Like { value, pattern, escape, negated } => {
                self.like(value, pattern, escape.as_ref(), *negated)
            }
            NodeKind::Coalesce(items) => self.coalesce(items),
            NodeKind::Conditional(parts) => self.conditional(parts),
            NodeKind::Call { name, udf, args } => self.call(node, name, *udf, args),
            NodeKind::Query(kind, query) => self.subquery(*kind, query),
        }
    }

    fn constant(&mut self, name: &str, node: &Node) -> Result<Expr, Fault> {
        self.filled_in(name, node.span()).map(Expr::Constant)
    }

    fn name(&mut self, name: &str, node: &Node) -> Result<Expr, Fault> {
        self.resolve(name, node.span(), node.span()).map(Expr::Slot)
    }

    fn array(&mut self, items: &'q [Node]) -> Result<Expr, Fault> {
        let items = self.exprs(items)?;
        Ok(match constants(&items) {
            Some(values) => Expr::Constant(Value::Array(values)),
            None => Expr::Array(items),
        })
    }

    fn coalesce(&mut self, items: &'q [Node]) -> Result<Expr, Fault> {
        self.exprs(items).map(Expr::Coalesce)
    }

    fn unary(&mut self, operator: Unary, inner: &'q Node) -> Result<Expr, Fault> {
        self.boxed(inner).map(|inner| Expr::Unary(operator, inner))
    }

    fn three(&mut self, parts: &'q [Node; 3]) -> Result<Box<[Expr; 3]>, Fault> {
        let [a, b, c] = parts;
        Ok(Box::new([self.expr(a)?, self.expr(b)?, self.expr(c)?]))
    }

    fn between(&mut self, parts: &'q [Node; 3], negated: bool) -> Result<Expr, Fault> {
        self.three(parts).map(|parts| negate(Expr::Between(parts), negated))
    }

    fn conditional(&mut self, parts: &'q [Node; 3]) -> Result<Expr, Fault> {
        self.three(parts).map(Expr::Conditional)
    }

    fn among(&mut self, value: &'q Node, items: &'q [Node], negated: bool) -> Result<Expr, Fault> {
        let value = self.boxed(value)?;
        Ok(negate(among(value, self.exprs(items)?), negated))
    }

    fn subquery(&mut self, kind: Subquery, query: &'q Query) -> Result<Expr, Fault> {
        self.query(query).map(|select| Expr::Subquery(kind, Box::new(select)))
    }

    fn boxed(&mut self, node: &'q Node) -> Result<Box<Expr>, Fault> {
        self.expr(node).map(Box::new)
    }

    pub(super) fn exprs(&mut self, nodes: &'q [Node]) -> Result<Vec<Expr>, Fault> {
        nodes.iter().map(|node| self.expr(node)).collect()
    }

    fn member(&mut self, node: &Node, base: &'q Node, steps: &'q [Step]) -> Result<Expr, Fault> {
        if let Some((key, length)) = self.key_of_path(base, steps) {
            let Expr::Slot(slot) = key else { return Ok(key) };
            return self.path(slot, steps.get(length..).unwrap_or_default());
        }
        if let NodeKind::Name(name) = &base.kind {
            let slot = self.resolve(name, base.span(), node.span())?;
            return self.path(slot, steps);
        }
        let base = self.expr(base)?;
        self.steps(base, steps)
    }

    fn object(&mut self, fields: &'q [(String, Node)], node: &Node) -> Result<Expr, Fault> {
        let mut names = std::collections::HashSet::new();
        let mut object = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            if !names.insert(name) {
                return Err(Fault::Duplicate(node.span(), name.clone()));
            }
            object.push((name.clone(), self.expr(value)?));
        }
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

    fn chain(&mut self, first: &'q Node, rest: &'q [(Operator, Node)]) -> Result<Expr, Fault> {
        let first = self.expr(first)?;
        let mut operands = Vec::with_capacity(rest.len() + 1);
        let kind = rest.first().map(|(operator, _)| *operator);
        if let Some(Operator::And | Operator::Or | Operator::Concat) = kind {
            operands.push(first);
            for (_, node) in rest {
                operands.push(self.expr(node)?);
            }
            return Ok(match kind {
                Some(Operator::And) => Expr::And(operands),
                Some(Operator::Or) => Expr::Or(operands),
                _ => Expr::Concat(operands),
            });
        }
        let mut chain = Vec::with_capacity(rest.len());
        for (operator, node) in rest {
            let Operator::Of(binary) = operator else { return Err(Fault::Syntax(node.span())) };
            chain.push((*binary, self.expr(node)?));
        }
        Ok(Expr::Chain(Box::new(first), chain))
    }

    fn like(
        &mut self,
        value: &'q Node,
        pattern: &'q Node,
        escape: Option<&(String, Place)>,
        negated: bool,
    ) -> Result<Expr, Fault> {
        let escape = match escape {
            None => None,
            Some((text, at)) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Some(c),
                    _ => return Err(Fault::Escape(at.0)),
                }
            }
        };
        let value = self.boxed(value)?;
        let like = match self.expr(pattern)? {
            Expr::Constant(Value::String(pattern)) => {
                Expr::Like(value, Like::new(&pattern, escape))
            }
            pattern => Expr::LikeAny(value, Box::new(pattern), escape),
        };
        Ok(negate(like, negated))
    }
}

fn negate(expr: Expr, negated: bool) -> Expr {
    if negated { Expr::Not(Box::new(expr)) } else { expr }
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(_) | Expr::Undefined)
}

/// The values of constants, without those that are nothing.
fn constants(exprs: &[Expr]) -> Option<Vec<Value>> {
    if !exprs.iter().all(is_constant) {
        return None;
    }
    let values = exprs.iter().filter_map(|expr| match expr {
        Expr::Constant(value) => Some(value.clone()),
        _ => None,
    });
    Some(values.collect())
}

fn among(value: Box<Expr>, items: Vec<Expr>) -> Expr {
    let Some(values) = constants(&items) else { return Expr::In(value, items) };
    let has_nothing = values.len() < items.len();
    Expr::Among(value, Box::new(Set::new(values, has_nothing)))
}
