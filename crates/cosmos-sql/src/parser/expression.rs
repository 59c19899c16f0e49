//! Expressions. Operators of one level make one node, however many they are, so that only nesting
//! makes a tree deep.

use document::Value;

use super::{Parser, operators::Level};
use crate::{
    ast::{Node, NodeKind, Operator, Place, Step, Subquery, Unary},
    error::{Fault, Span},
    limits::{MAX_IN_ITEMS, MAX_LOGIC, MAX_WRAPS},
    token::{Kind, Sign, Word},
};

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result<Node, Fault> {
        self.enter()?;
        let mut node = self.binary(Level::Or)?;
        if *self.kind() == Kind::Sign(Sign::Coalesce) {
            node = self.coalesce(node)?;
        }
        if *self.kind() == Kind::Sign(Sign::Question) {
            node = self.conditional(node)?;
        }
        self.depth -= 1;
        Ok(node)
    }

    fn conditional(&mut self, condition: Node) -> Result<Node, Fault> {
        self.sign(Sign::Question)?;
        let yes = self.expression()?;
        self.sign(Sign::Colon)?;
        let no = self.expression()?;
        let span = condition.span().to(no.span());
        Ok(Node::new(NodeKind::Conditional(Box::new([condition, yes, no])), span))
    }

    fn coalesce(&mut self, first: Node) -> Result<Node, Fault> {
        let start = first.span();
        let mut items = vec![first];
        while self.take_sign(Sign::Coalesce) {
            items.push(self.binary(Level::Or)?);
        }
        Ok(Node::new(NodeKind::Coalesce(items), start.to(self.before())))
    }

    /// Operands and operators that bind at least so tightly.
    fn binary(&mut self, least: Level) -> Result<Node, Fault> {
        let mut chains = Chains::default();
        let mut predicates = 0;
        chains.operands.push(self.unary()?);
        loop {
            if least <= Level::Predicate
                && let Some(negated) = self.predicate()
            {
                self.wrap(predicates)?;
                predicates += 1;
                chains.close(Level::Predicate);
                let Some(value) = chains.operands.pop() else { return Err(self.wrong()) };
                let node = self.predicate_of(value, negated)?;
                chains.operands.push(node);
                continue;
            }
            let Some((operator, level)) = self.operator().filter(|(_, level)| least <= *level)
            else {
                break;
            };
            if level <= Level::And {
                self.count_logic()?;
                predicates = 0;
            }
            self.at += 1;
            chains.close(level);
            chains.operators.push((operator, level));
            chains.operands.push(self.unary()?);
        }
        chains.close_all();
        chains.operands.pop().ok_or_else(|| self.wrong())
    }

    /// A predicate about a predicate makes the tree deeper.
    fn wrap(&mut self, predicates: usize) -> Result<(), Fault> {
        if predicates == 0 {
            return Ok(());
        }
        self.wraps += 1;
        if MAX_WRAPS < self.wraps { Err(self.wrong()) } else { Ok(()) }
    }

    fn count_logic(&mut self) -> Result<(), Fault> {
        self.logic += 1;
        if MAX_LOGIC < self.logic {
            let message = format!(
                "The SQL query exceeded the maximum number of AND and OR operators. \
                 The allowed limit is {MAX_LOGIC}."
            );
            return Err(Fault::Limit(self.span(), "SC3053", message));
        }
        Ok(())
    }

    /// Whether BETWEEN, IN or LIKE stands here, and whether it is negated.
    fn predicate(&self) -> Option<bool> {
        let is = |kind: &Kind| matches!(kind, Kind::Word(Word::Between | Word::In | Word::Like));
        if is(self.kind()) {
            return Some(false);
        }
        (self.is_word(Word::Not) && is(self.kind_after(1))).then_some(true)
    }

    fn predicate_of(&mut self, value: Node, negated: bool) -> Result<Node, Fault> {
        self.at += usize::from(negated);
        let start = value.span();
        let kind = if self.take_word(Word::Between) {
            let low = self.binary(Level::Compare)?;
            self.word(Word::And)?;
            let high = self.binary(Level::Compare)?;
            NodeKind::Between { parts: Box::new([value, low, high]), negated }
        } else if self.take_word(Word::In) {
            self.sign(Sign::Open)?;
            let items = self.list(Self::expression)?;
            self.sign(Sign::Close)?;
            if MAX_IN_ITEMS < items.len() {
                let message = format!(
                    "The SQL query exceeded the maximum number of IN items. \
                     The allowed limit is {MAX_IN_ITEMS}."
                );
                return Err(Fault::Limit(start.to(self.before()), "SC3055", message));
            }
            NodeKind::In { value: Box::new(value), items, negated }
        } else {
            self.word(Word::Like)?;
            let pattern = Box::new(self.binary(Level::Compare)?);
            let mut escape = None;
            if self.take_word(Word::Escape) {
                let Kind::Text(text) = self.kind() else { return Err(self.wrong()) };
                escape = Some((text.clone(), Place(self.span())));
                self.at += 1;
            }
            NodeKind::Like { value: Box::new(value), pattern, escape, negated }
        };
        Ok(Node::new(kind, start.to(self.before())))
    }

    fn unary(&mut self) -> Result<Node, Fault> {
        let start = self.span();
        let operator = match self.kind() {
            Kind::Word(Word::Not) => None,
            Kind::Sign(Sign::Minus) => Some(Unary::Negate),
            Kind::Sign(Sign::Plus) => Some(Unary::Plus),
            Kind::Sign(Sign::Tilde) => Some(Unary::BitNot),
            _ => return self.postfix(),
        };
        self.at += 1;
        self.enter()?;
        let inner = self.unary()?;
        self.depth -= 1;
        Ok(prefixed(start, operator, inner))
    }

    fn postfix(&mut self) -> Result<Node, Fault> {
        let start = self.span();
        let base = match self.kind() {
            Kind::Sign(Sign::Open) => self.parenthesised(start)?,
            _ => self.primary(start)?,
        };
        if !matches!(self.kind(), Kind::Sign(Sign::Dot | Sign::OpenBracket)) {
            return Ok(base);
        }
        self.path(base)
    }

    fn path(&mut self, base: Node) -> Result<Node, Fault> {
        let mut steps = Vec::new();
        loop {
            if self.take_sign(Sign::Dot) {
                steps.push(Step::Name(self.name()?));
            } else if self.take_sign(Sign::OpenBracket) {
                let step = self.expression()?;
                self.sign(Sign::CloseBracket)?;
                steps.push(match step.kind {
                    NodeKind::Literal(Value::String(name)) => Step::Name(name),
                    _ => Step::Computed(step),
                });
            } else {
                break;
            }
        }
        let span = base.span().to(self.before());
        Ok(Node::new(NodeKind::Member { base: Box::new(base), steps }, span))
    }

    fn primary(&mut self, start: Span) -> Result<Node, Fault> {
        let kind = match self.kind() {
            Kind::Number(value) => NodeKind::Literal(value.clone()),
            Kind::Text(text) => NodeKind::Literal(Value::String(text.clone())),
            Kind::Word(Word::True) => NodeKind::Literal(Value::Bool(true)),
            Kind::Word(Word::False) => NodeKind::Literal(Value::Bool(false)),
            Kind::Word(Word::Null) => NodeKind::Literal(Value::Null),
            Kind::Word(Word::Undefined) => NodeKind::Undefined,
            Kind::Parameter(name) => NodeKind::Parameter(name.clone()),
            _ => return self.compound(start),
        };
        self.at += 1;
        Ok(Node::new(kind, start))
    }

    fn compound(&mut self, start: Span) -> Result<Node, Fault> {
        let kind = match self.kind() {
            Kind::Sign(Sign::OpenBracket) => {
                self.at += 1;
                NodeKind::Array(self.items(Sign::CloseBracket, Self::expression)?)
            }
            Kind::Sign(Sign::OpenBrace) => {
                self.at += 1;
                NodeKind::Object(self.items(Sign::CloseBrace, Self::property)?)
            }
            Kind::Word(Word::Exists) => self.query_of(Subquery::Exists)?,
            Kind::Word(Word::Array) => self.query_of(Subquery::Array)?,
            Kind::Word(Word::Udf) => {
                self.at += 1;
                self.sign(Sign::Dot)?;
                let name = self.name()?;
                self.sign(Sign::Open)?;
                let args = self.items(Sign::Close, Self::expression)?;
                NodeKind::Call { name, udf: true, args }
            }
            Kind::Name(name) => {
                let calls = *self.kind_after(1) == Kind::Sign(Sign::Open);
                let queries = calls && *self.kind_after(2) == Kind::Word(Word::Select);
                match of_results(name).filter(|_| queries) {
                    Some(kind) => self.query_of(kind)?,
                    None if calls => {
                        self.at += 2;
                        let args = self.items(Sign::Close, Self::expression)?;
                        NodeKind::Call { name: name.clone(), udf: false, args }
                    }
                    None => {
                        self.at += 1;
                        NodeKind::Name(name.clone())
                    }
                }
            }
            _ => return Err(self.wrong()),
        };
        Ok(Node::new(kind, start.to(self.before())))
    }

    fn parenthesised(&mut self, start: Span) -> Result<Node, Fault> {
        self.at += 1;
        if self.is_word(Word::Select) {
            let query = self.query()?;
            self.sign(Sign::Close)?;
            let kind = NodeKind::Query(Subquery::Scalar, query);
            return Ok(Node::new(kind, start.to(self.before())));
        }
        let inner = self.expression()?;
        self.sign(Sign::Close)?;
        Ok(inner)
    }

    fn query_of(&mut self, kind: Subquery) -> Result<NodeKind, Fault> {
        self.at += 1;
        self.sign(Sign::Open)?;
        let query = self.query()?;
        self.sign(Sign::Close)?;
        Ok(NodeKind::Query(kind, query))
    }

    fn property(&mut self) -> Result<(String, Node), Fault> {
        let name = match self.kind() {
            Kind::Text(name) | Kind::Name(name) => name.clone(),
            _ => return Err(self.wrong()),
        };
        self.at += 1;
        self.sign(Sign::Colon)?;
        Ok((name, self.expression()?))
    }

    /// None or more, with commas between them, up to a sign.
    fn items<T>(
        &mut self,
        end: Sign,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        if self.take_sign(end) {
            return Ok(Vec::new());
        }
        let items = self.list(item)?;
        self.sign(end)?;
        Ok(items)
    }
}

fn prefixed(start: Span, operator: Option<Unary>, inner: Node) -> Node {
    let span = start.to(inner.span());
    let kind = match (operator, inner.kind) {
        (Some(Unary::Negate), NodeKind::Literal(value)) if is_unsigned(&value) => {
            NodeKind::Literal(negated(value))
        }
        (None, kind) => NodeKind::Not(Box::new(Node { kind, at: inner.at })),
        (Some(operator), kind) => NodeKind::Unary(operator, Box::new(Node { kind, at: inner.at })),
    };
    Node::new(kind, span)
}

/// Operands and the operators between them, from the loosest to the tightest.
#[derive(Default)]
struct Chains {
    operands: Vec<Node>,
    operators: Vec<(Operator, Level)>,
}

impl Chains {
    /// Makes nodes of what binds more tightly than a level.
    fn close(&mut self, level: Level) {
        while let Some((_, tightest)) = self.operators.last().copied() {
            if tightest <= level {
                return;
            }
            self.close_last(tightest);
        }
    }

    fn close_all(&mut self) {
        while let Some((_, level)) = self.operators.last().copied() {
            self.close_last(level);
        }
    }

    /// One node of the last operators, which are of this level.
    fn close_last(&mut self, level: Level) {
        let others = self.operators.iter().rposition(|(_, other)| *other != level);
        let start = others.map_or(0, |at| at + 1);
        let operators = self.operators.split_off(start);
        let mut operands = self.operands.split_off(start.min(self.operands.len())).into_iter();
        let Some(first) = operands.next() else { return };
        let rest: Vec<(Operator, Node)> =
            operators.into_iter().map(|(operator, _)| operator).zip(operands).collect();
        let end = rest.last().map_or(first.span(), |(_, node)| node.span());
        let span = first.span().to(end);
        self.operands.push(Node::new(NodeKind::Chain { first: Box::new(first), rest }, span));
    }
}

fn of_results(name: &str) -> Option<Subquery> {
    [("ALL", Subquery::All), ("FIRST", Subquery::First), ("LAST", Subquery::Last)]
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, kind)| *kind)
}

fn is_unsigned(value: &Value) -> bool {
    matches!(value, Value::Int64(0..)) || matches!(value, Value::Double(v) if v.is_sign_positive())
}

fn negated(value: Value) -> Value {
    match value {
        Value::Int64(v) => Value::Int64(-v),
        // The least integer has no positive counterpart.
        Value::Double(9_223_372_036_854_775_808.0) => Value::Int64(i64::MIN),
        Value::Double(v) => Value::Double(-v),
        other => other,
    }
}
