//! Binary operators and their precedence.

use super::Parser;
use crate::{
    ast::{Binary, Node, NodeKind, Operator},
    token::{Keyword, Punctuation, TokenKind},
};

/// The precedence of an operator, lowest first. `a + b < c AND d` is `((a + b) < c) AND d`.
/// BETWEEN, IN and LIKE have a lower precedence than all operators but AND and OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    Or,
    And,
    /// `=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`, and `<<`, `>>`, `>>>`.
    Compare,
    /// The operator `||`, which concatenates strings.
    Concat,
    /// `+`, `-`, and the bitwise `|`, `&`, `^`.
    Add,
    /// The operators `*`, `/` and `%`.
    Multiply,
}

impl Parser<'_> {
    /// Returns the current token as a binary operator, without consuming it: the caller compares
    /// its precedence first. BETWEEN, IN and LIKE are not included, as they have a syntax of their
    /// own.
    pub(super) fn operator_here(&self) -> Option<(Operator, Precedence)> {
        use Binary as B;
        let of = |binary, level| Some((Operator::Of(binary), level));
        match self.current_kind() {
            TokenKind::Keyword(Keyword::Or) => Some((Operator::Or, Precedence::Or)),
            TokenKind::Keyword(Keyword::And) => Some((Operator::And, Precedence::And)),
            TokenKind::Punctuation(sign) => match sign {
                Punctuation::Equal => of(B::Equal, Precedence::Compare),
                Punctuation::NotEqual | Punctuation::Unequal => {
                    of(B::NotEqual, Precedence::Compare)
                }
                Punctuation::Less => of(B::Less, Precedence::Compare),
                Punctuation::LessOrEqual => of(B::LessOrEqual, Precedence::Compare),
                Punctuation::Greater => of(B::Greater, Precedence::Compare),
                Punctuation::GreaterOrEqual => of(B::GreaterOrEqual, Precedence::Compare),
                Punctuation::ShiftLeft => of(B::ShiftLeft, Precedence::Compare),
                Punctuation::ShiftRight => of(B::ShiftRight, Precedence::Compare),
                Punctuation::ShiftRightZero => of(B::ShiftRightZero, Precedence::Compare),
                Punctuation::Concat => Some((Operator::Concat, Precedence::Concat)),
                Punctuation::Plus => of(B::Add, Precedence::Add),
                Punctuation::Minus => of(B::Subtract, Precedence::Add),
                Punctuation::Bar => of(B::BitOr, Precedence::Add),
                Punctuation::Ampersand => of(B::BitAnd, Precedence::Add),
                Punctuation::Caret => of(B::BitXor, Precedence::Add),
                Punctuation::Star => of(B::Multiply, Precedence::Multiply),
                Punctuation::Slash => of(B::Divide, Precedence::Multiply),
                Punctuation::Percent => of(B::Modulo, Precedence::Multiply),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The stacks of operands and operators, with operators from the lowest precedence to the highest.
#[derive(Default)]
pub(super) struct OperatorStacks {
    pub(super) operands: Vec<Node>,
    pub(super) operators: Vec<(Operator, Precedence)>,
}

impl OperatorStacks {
    /// Makes nodes of all operators with a higher precedence than `level`.
    pub(super) fn close_level(&mut self, level: Precedence) {
        while let Some((_, tightest)) = self.operators.last().copied() {
            if tightest <= level {
                return;
            }
            self.close_last(tightest);
        }
    }

    /// Builds the nodes of all pending operators, whose right operands are now complete.
    pub(super) fn close_all(&mut self) {
        while let Some((_, level)) = self.operators.last().copied() {
            self.close_last(level);
        }
    }

    /// Builds one node from the last pending operators, which all have this precedence, and their
    /// operands.
    fn close_last(&mut self, level: Precedence) {
        let others = self.operators.iter().rposition(|(_, other)| *other != level);
        let start = others.map_or(0, |at| at + 1);
        let operators = self.operators.split_off(start);
        let mut operands = self.operands.split_off(start.min(self.operands.len())).into_iter();
        let Some(first) = operands.next() else { return };
        let rest: Vec<(Operator, Node)> =
            operators.into_iter().map(|(operator, _)| operator).zip(operands).collect();
        let end = rest.last().map_or(first.span(), |(_, node)| node.span());
        let span = first.span().up_to(end);
        self.operands.push(Node::new(NodeKind::Chain { first: Box::new(first), rest }, span));
    }
}
