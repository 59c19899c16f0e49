//! Which operators there are between two operands, and how tightly they bind.

use super::Parser;
use crate::{
    ast::{Binary, Operator},
    token::{Sign, TokenKind, Word},
};

/// How tightly an operator binds; the loosest first, so that levels compare. `a + b < c AND d` is
/// `((a + b) < c) AND d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    /// OR.
    Or,
    /// AND.
    And,
    /// BETWEEN, IN, LIKE.
    /// They take the value on their left, which the loop over operators has read by then.
    Predicate,
    /// `=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`.
    Compare,
    /// `<<`, `>>`, `>>>`.
    Shift,
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
                Sign::ShiftLeft => of(B::ShiftLeft, Precedence::Shift),
                Sign::ShiftRight => of(B::ShiftRight, Precedence::Shift),
                Sign::ShiftRightZero => of(B::ShiftRightZero, Precedence::Shift),
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
