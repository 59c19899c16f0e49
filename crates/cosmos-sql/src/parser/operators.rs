//! Which operators there are between two operands, and how tightly they bind.

use super::Parser;
use crate::{
    ast::{Binary, Operator},
    token::{Kind, Sign, Word},
};

/// How tightly an operator binds; the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Or,
    And,
    /// BETWEEN, IN, LIKE.
    Predicate,
    Compare,
    Shift,
    Concat,
    Add,
    Multiply,
}

impl Parser<'_> {
    /// The operator that stands here.
    pub(super) fn operator(&self) -> Option<(Operator, Level)> {
        use Binary as B;
        let of = |binary, level| Some((Operator::Of(binary), level));
        match self.kind() {
            Kind::Word(Word::Or) => Some((Operator::Or, Level::Or)),
            Kind::Word(Word::And) => Some((Operator::And, Level::And)),
            Kind::Sign(sign) => match sign {
                Sign::Equal => of(B::Equal, Level::Compare),
                Sign::NotEqual | Sign::Unequal => of(B::NotEqual, Level::Compare),
                Sign::Less => of(B::Less, Level::Compare),
                Sign::LessOrEqual => of(B::LessOrEqual, Level::Compare),
                Sign::Greater => of(B::Greater, Level::Compare),
                Sign::GreaterOrEqual => of(B::GreaterOrEqual, Level::Compare),
                Sign::ShiftLeft => of(B::ShiftLeft, Level::Shift),
                Sign::ShiftRight => of(B::ShiftRight, Level::Shift),
                Sign::ShiftRightZero => of(B::ShiftRightZero, Level::Shift),
                Sign::Concat => Some((Operator::Concat, Level::Concat)),
                Sign::Plus => of(B::Add, Level::Add),
                Sign::Minus => of(B::Subtract, Level::Add),
                Sign::Bar => of(B::BitOr, Level::Add),
                Sign::Ampersand => of(B::BitAnd, Level::Add),
                Sign::Caret => of(B::BitXor, Level::Add),
                Sign::Star => of(B::Multiply, Level::Multiply),
                Sign::Slash => of(B::Divide, Level::Multiply),
                Sign::Percent => of(B::Modulo, Level::Multiply),
                _ => None,
            },
            _ => None,
        }
    }
}
