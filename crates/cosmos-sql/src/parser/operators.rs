//! Which operators there are between two operands, and how tightly they bind.

use super::Parser;
use crate::{
    ast::{Binary, Node, NodeKind, Operator},
    token::{Sign, TokenKind, Word},
};

/// How tightly an operator binds; the loosest first, so that levels compare. `a + b < c AND d` is
/// `((a + b) < c) AND d`. BETWEEN, IN and LIKE are looser than all but AND and OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    /// OR.
    Or,
    /// AND.
    And,
    /// `=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`, and `<<`, `>>`, `>>>`.
    Compare,
    /// `||`, for texts.
    Concat,
    /// `+`, `-`, and the bitwise `|`, `&`, `^`.
    Add,
    /// `*`, `/`, `%`.
    Multiply,
}

impl Parser<'_> {
    /// The operator that stands here.
    /// It is not taken: the caller compares its precedence first. BETWEEN, IN and LIKE are no
    /// operators here, as they have a form of their own.
    pub(super) fn operator_here(&self) -> Option<(Operator, Precedence)> {
        use Binary as B;
        let of = |binary, level| Some((Operator::Of(binary), level));
        match self.current_kind() {
            TokenKind::Word(Word::Or) => Some((Operator::Or, Precedence::Or)),
            TokenKind::Word(Word::And) => Some((Operator::And, Precedence::And)),
            TokenKind::Sign(sign) => match sign {
                Sign::Equal => of(B::Equal, Precedence::Compare),
                Sign::NotEqual | Sign::Unequal => of(B::NotEqual, Precedence::Compare),
                Sign::Less => of(B::Less, Precedence::Compare),
                Sign::LessOrEqual => of(B::LessOrEqual, Precedence::Compare),
                Sign::Greater => of(B::Greater, Precedence::Compare),
                Sign::GreaterOrEqual => of(B::GreaterOrEqual, Precedence::Compare),
                Sign::ShiftLeft => of(B::ShiftLeft, Precedence::Compare),
                Sign::ShiftRight => of(B::ShiftRight, Precedence::Compare),
                Sign::ShiftRightZero => of(B::ShiftRightZero, Precedence::Compare),
                Sign::Concat => Some((Operator::Concat, Precedence::Concat)),
                Sign::Plus => of(B::Add, Precedence::Add),
                Sign::Minus => of(B::Subtract, Precedence::Add),
                Sign::Bar => of(B::BitOr, Precedence::Add),
                Sign::Ampersand => of(B::BitAnd, Precedence::Add),
                Sign::Caret => of(B::BitXor, Precedence::Add),
                Sign::Star => of(B::Multiply, Precedence::Multiply),
                Sign::Slash => of(B::Divide, Precedence::Multiply),
                Sign::Percent => of(B::Modulo, Precedence::Multiply),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Operands and the operators between them, from the loosest to the tightest.
#[derive(Default)]
pub(super) struct Chains {
    pub(super) operands: Vec<Node>,
    pub(super) operators: Vec<(Operator, Precedence)>,
}

impl Chains {
    /// Makes nodes of what binds more tightly than a level.
    pub(super) fn close_level(&mut self, level: Precedence) {
        while let Some((_, tightest)) = self.operators.last().copied() {
            if tightest <= level {
                return;
            }
            self.close_last(tightest);
        }
    }

    /// Makes nodes of everything that is left.
    pub(super) fn close_all(&mut self) {
        while let Some((_, level)) = self.operators.last().copied() {
            self.close_last(level);
        }
    }

    /// Makes one node of the last operators, which all are of this precedence, and of their
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
