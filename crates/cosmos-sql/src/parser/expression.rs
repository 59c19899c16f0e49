//! Parses expressions. Any number of operators of one precedence makes one node, so that only
//! nesting deepens the tree: `a AND b AND c ...` with two thousand operands is one level.
//!
//! Binary operators are parsed with two stacks, operands and operators (shunting yard), instead of
//! a function per precedence. When an operator of lower precedence is read, the preceding operators
//! are turned into a node:
//!
//! ```text
//! a * b + c     operands  a b        operators  *
//!               `+` is looser: close `*`  ->  operands (a*b) c   operators  +
//! ```

use document::Value;

use super::{
    Parser,
    operators::{OperatorStacks, Precedence},
};
use crate::{
    ast::{Field, Node, NodeKind, PathStep, Subquery, TextPosition, Unary},
    error::{Fault, Span},
    token::{Keyword, Punctuation, TokenKind},
};

/// Maximum number of AND and OR operators. They do not deepen the tree, but each operand is bound
/// and evaluated.
const MAX_LOGIC: usize = 2_000;
/// Maximum number of items of one IN.
const MAX_IN_ITEMS: usize = 16_000;

impl Parser<'_> {
    /// Parses an expression: predicates with AND and OR or one BETWEEN, then `??`, then `?:`, from
    /// the highest precedence to the lowest.
    pub(super) fn parse_expression(&mut self) -> Result<Node, Fault> {
        self.enter_level()?;
        let mut node = self.parse_operand()?;
        if *self.current_kind() == TokenKind::Punctuation(Punctuation::Coalesce) {
            node = self.parse_coalesce(node)?;
        }
        if *self.current_kind() == TokenKind::Punctuation(Punctuation::Question) {
            node = self.parse_conditional(node)?;
        }
        self.depth -= 1;
        Ok(node)
    }

    fn parse_conditional(&mut self, condition: Node) -> Result<Node, Fault> {
        self.expect_punctuation(Punctuation::Question)?;
        let yes = self.parse_expression()?;
        self.expect_punctuation(Punctuation::Colon)?;
        let no = self.parse_expression()?;
        let span = condition.span().up_to(no.span());
        Ok(Node::new(NodeKind::Conditional(Box::new([condition, yes, no])), span))
    }

    fn parse_coalesce(&mut self, first: Node) -> Result<Node, Fault> {
        let start = first.span();
        let mut items = vec![first];
        while self.take_punctuation(Punctuation::Coalesce) {
            items.push(self.parse_operand()?);
        }
        Ok(Node::new(NodeKind::Coalesce(items), start.up_to(self.span_before())))
    }

    /// Parses a BETWEEN, or predicates connected by AND and OR. As an operand of AND or OR, BETWEEN
    /// needs parentheses.
    fn parse_operand(&mut self) -> Result<Node, Fault> {
        let first = self.parse_binary(Precedence::Compare)?;
        if let Some(negated) = self.predicate_here(&[Keyword::Between]) {
            return self.parse_between(first, negated);
        }
        let mut chains = OperatorStacks::default();
        chains.operands.push(self.parse_predicate(first)?);
        while let Some((operator, level)) =
            self.operator_here().filter(|(_, level)| *level <= Precedence::And)
        {
            self.count_logic()?;
            self.at += 1;
            chains.close_level(level);
            chains.operators.push((operator, level));
            let operand = self.parse_binary(Precedence::Compare)?;
            chains.operands.push(self.parse_predicate(operand)?);
        }
        chains.close_all();
        chains.operands.pop().ok_or_else(|| self.syntax_error())
    }

    /// Parses operands and the operators between them whose precedence is at least `least`.
    fn parse_binary(&mut self, least: Precedence) -> Result<Node, Fault> {
        let mut chains = OperatorStacks::default();
        chains.operands.push(self.parse_unary()?);
        while let Some((operator, level)) =
            self.operator_here().filter(|(_, level)| least <= *level)
        {
            self.at += 1;
            chains.close_level(level);
            chains.operators.push((operator, level));
            chains.operands.push(self.parse_unary()?);
        }
        chains.close_all();
        chains.operands.pop().ok_or_else(|| self.syntax_error())
    }

    /// Counts an AND or OR operator.
    fn count_logic(&mut self) -> Result<(), Fault> {
        self.logic += 1;
        if MAX_LOGIC < self.logic {
            let message = format!(
                "The SQL query exceeded the maximum number of AND and OR operators. \
                 The allowed limit is {MAX_LOGIC}."
            );
            return Err(Fault::Limit(self.current_span(), "SC3053", message));
        }
        Ok(())
    }

    /// Looks for one of `words`, optionally after NOT, at the current position. Returns whether NOT
    /// precedes the word; `None` if there is no such word.
    fn predicate_here(&self, words: &[Keyword]) -> Option<bool> {
        let is =
            |kind: &TokenKind| matches!(kind, TokenKind::Keyword(word) if words.contains(word));
        if is(self.current_kind()) {
            return Some(false);
        }
        (self.is_keyword(Keyword::Not) && is(self.kind_after(1))).then_some(true)
    }

    /// Parses a BETWEEN after its value; its AND is not a logical operator.
    fn parse_between(&mut self, value: Node, negated: bool) -> Result<Node, Fault> {
        self.at += usize::from(negated);
        let start = value.span();
        self.expect_keyword(Keyword::Between)?;
        let low = self.parse_binary(Precedence::Compare)?;
        self.expect_keyword(Keyword::And)?;
        let high = self.parse_binary(Precedence::Compare)?;
        let kind = NodeKind::Between { parts: Box::new([value, low, high]), negated };
        Ok(Node::new(kind, start.up_to(self.span_before())))
    }

    /// Parses the IN or LIKE that follows a value, if any.
    fn parse_predicate(&mut self, value: Node) -> Result<Node, Fault> {
        let Some(negated) = self.predicate_here(&[Keyword::In, Keyword::Like]) else {
            // The error is reported at the token after NOT.
            if self.take_keyword(Keyword::Not) {
                return Err(self.syntax_error());
            }
            return Ok(value);
        };
        self.at += usize::from(negated);
        let start = value.span();
        let kind = if self.take_keyword(Keyword::In) {
            self.expect_punctuation(Punctuation::Open)?;
            let items = self.parse_list(Self::parse_expression)?;
            self.expect_punctuation(Punctuation::Close)?;
            if MAX_IN_ITEMS < items.len() {
                let message = format!(
                    "The SQL query exceeded the maximum number of IN items. \
                     The allowed limit is {MAX_IN_ITEMS}."
                );
                return Err(Fault::Limit(start.up_to(self.span_before()), "SC3055", message));
            }
            NodeKind::In { value: Box::new(value), items, negated }
        } else {
            self.expect_keyword(Keyword::Like)?;
            let pattern = Box::new(self.parse_binary(Precedence::Compare)?);
            let mut escape = None;
            if self.take_keyword(Keyword::Escape) {
                let TokenKind::Text(text) = self.current_kind() else {
                    return Err(self.syntax_error());
                };
                escape = Some((text.clone(), TextPosition(self.current_span())));
                self.at += 1;
            }
            NodeKind::Like { value: Box::new(value), pattern, escape, negated }
        };
        Ok(Node::new(kind, start.up_to(self.span_before())))
    }

    /// Parses an operand with an optional prefix operator.
    fn parse_unary(&mut self) -> Result<Node, Fault> {
        let start = self.current_span();
        let operator = match self.current_kind() {
            TokenKind::Keyword(Keyword::Not) => None,
            TokenKind::Punctuation(Punctuation::Minus) => Some(Unary::Negate),
            TokenKind::Punctuation(Punctuation::Plus) => Some(Unary::Plus),
            TokenKind::Punctuation(Punctuation::Tilde) => Some(Unary::BitNot),
            _ => return self.parse_postfix(),
        };
        self.at += 1;
        self.enter_level()?;
        let inner = self.parse_unary()?;
        self.depth -= 1;
        Ok(prefixed_node(start, operator, inner))
    }

    /// Parses an operand and the path that follows it.
    fn parse_postfix(&mut self) -> Result<Node, Fault> {
        let start = self.current_span();
        let base = match self.current_kind() {
            TokenKind::Punctuation(Punctuation::Open) => self.parse_parenthesised(start)?,
            _ => self.parse_primary(start)?,
        };
        if !matches!(
            self.current_kind(),
            TokenKind::Punctuation(Punctuation::Dot | Punctuation::OpenBracket)
        ) {
            return Ok(base);
        }
        self.parse_path(base)
    }

    /// Parses the steps of a path: `.name` or `[expression]`; a string in brackets is a name. The
    /// binder distinguishes numbers in brackets from other expressions.
    fn parse_path(&mut self, base: Node) -> Result<Node, Fault> {
        let mut steps = Vec::new();
        loop {
            let start = self.span_before().end;
            if self.take_punctuation(Punctuation::Dot) {
                let (name, at) = self.expect_placed_name()?;
                steps.push(PathStep::Name(name, at));
            } else if self.take_punctuation(Punctuation::OpenBracket) {
                let step = self.parse_expression()?;
                self.expect_punctuation(Punctuation::CloseBracket)?;
                let at = Span { start, end: self.span_before().end };
                steps.push(match step.kind {
                    NodeKind::Literal(Value::String(name)) => PathStep::Name(name, step.at),
                    _ => PathStep::Computed(step, TextPosition(at)),
                });
            } else {
                break;
            }
        }
        let span = base.span().up_to(self.span_before());
        Ok(Node::new(NodeKind::Member { base: Box::new(base), steps }, span))
    }

    /// Parses a constant, a parameter, or a compound operand.
    fn parse_primary(&mut self, start: Span) -> Result<Node, Fault> {
        let kind = match self.current_kind() {
            TokenKind::Number(value) => NodeKind::Literal(value.clone()),
            TokenKind::Text(text) => NodeKind::Literal(Value::String(text.clone())),
            TokenKind::Keyword(Keyword::True) => NodeKind::Literal(Value::Bool(true)),
            TokenKind::Keyword(Keyword::False) => NodeKind::Literal(Value::Bool(false)),
            TokenKind::Keyword(Keyword::Null) => NodeKind::Literal(Value::Null),
            TokenKind::Keyword(Keyword::Undefined) => NodeKind::Undefined,
            TokenKind::Parameter(name) => NodeKind::Parameter(name.clone()),
            _ => return self.parse_compound(start),
        };
        self.at += 1;
        Ok(Node::new(kind, start))
    }

    /// Parses an array, an object, a function call, a subquery after a keyword, or a name.
    fn parse_compound(&mut self, start: Span) -> Result<Node, Fault> {
        let kind = match self.current_kind() {
            TokenKind::Punctuation(Punctuation::OpenBracket) => {
                self.at += 1;
                NodeKind::Array(
                    self.parse_items(Punctuation::CloseBracket, Self::parse_expression)?,
                )
            }
            TokenKind::Punctuation(Punctuation::OpenBrace) => {
                self.at += 1;
                NodeKind::Object(self.parse_items(Punctuation::CloseBrace, Self::parse_property)?)
            }
            TokenKind::Keyword(Keyword::Exists) => self.query_of(Subquery::Exists)?,
            TokenKind::Keyword(Keyword::Array) => self.query_of(Subquery::Array)?,
            TokenKind::Keyword(Keyword::Udf) => {
                self.at += 1;
                self.expect_punctuation(Punctuation::Dot)?;
                let name = self.expect_name()?;
                self.expect_punctuation(Punctuation::Open)?;
                let args = self.parse_items(Punctuation::Close, Self::parse_expression)?;
                NodeKind::Call { name, udf: true, args }
            }
            // Reserved words that are also names of functions.
            TokenKind::Keyword(word @ (Keyword::Left | Keyword::Right)) => {
                self.at += 1;
                self.expect_punctuation(Punctuation::Open)?;
                let args = self.parse_items(Punctuation::Close, Self::parse_expression)?;
                let name = if *word == Keyword::Left { "LEFT" } else { "RIGHT" };
                NodeKind::Call { name: name.to_owned(), udf: false, args }
            }
            TokenKind::Name(name) => {
                let calls = *self.kind_after(1) == TokenKind::Punctuation(Punctuation::Open);
                let queries = calls && *self.kind_after(2) == TokenKind::Keyword(Keyword::Select);
                match of_results(name).filter(|_| queries) {
                    Some(kind) => self.query_of(kind)?,
                    // The name takes no subquery. This is reported at the end of the subquery,
                    // whose own faults take precedence.
                    None if queries => {
                        self.at += 2;
                        self.parse_query()?;
                        return Err(self.syntax_error());
                    }
                    None if calls => {
                        self.at += 2;
                        let args = self.parse_items(Punctuation::Close, Self::parse_expression)?;
                        NodeKind::Call { name: name.clone(), udf: false, args }
                    }
                    None => {
                        self.at += 1;
                        NodeKind::Name(name.clone())
                    }
                }
            }
            _ => return Err(self.syntax_error()),
        };
        Ok(Node::new(kind, start.up_to(self.span_before())))
    }

    /// Parses an expression or a query in parentheses.
    fn parse_parenthesised(&mut self, start: Span) -> Result<Node, Fault> {
        self.at += 1;
        if self.is_keyword(Keyword::Select) {
            let query = self.parse_query()?;
            self.expect_punctuation(Punctuation::Close)?;
            let kind = NodeKind::Query(Subquery::Scalar, query);
            return Ok(Node::new(kind, start.up_to(self.span_before())));
        }
        let inner = self.parse_expression()?;
        self.expect_punctuation(Punctuation::Close)?;
        Ok(inner)
    }

    /// Parses a query in parentheses after the keyword that selects how its results are used.
    fn query_of(&mut self, kind: Subquery) -> Result<NodeKind, Fault> {
        self.at += 1;
        self.expect_punctuation(Punctuation::Open)?;
        let query = self.parse_query()?;
        self.expect_punctuation(Punctuation::Close)?;
        Ok(NodeKind::Query(kind, query))
    }

    /// Parses a property of an object: a name or a string, and its value.
    fn parse_property(&mut self) -> Result<Field, Fault> {
        let name = match self.current_kind() {
            TokenKind::Text(name) | TokenKind::Name(name) => name.clone(),
            _ => return Err(self.syntax_error()),
        };
        let at = TextPosition(self.current_span());
        self.at += 1;
        self.expect_punctuation(Punctuation::Colon)?;
        Ok(Field { name, at, value: self.parse_expression()? })
    }

    /// Parses zero or more items separated by commas, up to the sign `end`, which is consumed.
    fn parse_items<T>(
        &mut self,
        end: Punctuation,
        item: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        if self.take_punctuation(end) {
            return Ok(Vec::new());
        }
        let items = self.parse_list(item)?;
        self.expect_punctuation(end)?;
        Ok(items)
    }
}

/// Creates the node of an operand with a prefix operator. A minus directly before a number becomes
/// part of the number.
fn prefixed_node(start: Span, operator: Option<Unary>, inner: Node) -> Node {
    let span = start.up_to(inner.span());
    let kind = match (operator, inner.kind) {
        (Some(Unary::Negate), NodeKind::Literal(value))
            if start.end == inner.at.0.start && is_unsigned(&value) =>
        {
            NodeKind::Literal(negated_number(value))
        }
        (None, kind) => NodeKind::Not(Box::new(Node { kind, at: inner.at })),
        (Some(operator), kind) => NodeKind::Unary(operator, Box::new(Node { kind, at: inner.at })),
    };
    Node::new(kind, span)
}

/// Returns the kind of subquery that a function-like keyword denotes.
fn of_results(name: &str) -> Option<Subquery> {
    [("ALL", Subquery::All), ("FIRST", Subquery::First), ("LAST", Subquery::Last)]
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, kind)| *kind)
}

/// Returns whether a number was written without a sign.
fn is_unsigned(value: &Value) -> bool {
    matches!(value, Value::Int64(0..)) || matches!(value, Value::Double(v) if v.is_sign_positive())
}

fn negated_number(value: Value) -> Value {
    match value {
        Value::Int64(v) => Value::Int64(-v),
        // The smallest integer has no positive counterpart, so it was read as a double.
        Value::Double(9_223_372_036_854_775_808.0) => Value::Int64(i64::MIN),
        Value::Double(v) => Value::Double(-v),
        other => other,
    }
}
