//! Comparisons of one value with an operand. They hold only for values of types that MongoDB
//! compares with the operand's type (type bracketing): `{$lt: 5}` matches numbers only.

use std::cmp::Ordering;

use collation::Collation;
use document::{Kind, Number, ValueRef, canonical_class, compare};
use evaluation::compare_by;

/// A comparison operator. "Not equal" is a negated `Eq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal to the operand; a missing value is equal to null.
    Eq,
    /// Less than the operand, and of a type that is compared with the operand's type.
    Lt,
    /// Less than or equal to the operand, and of a type that is compared with the operand's type.
    Lte,
    /// Greater than the operand, and of a type that is compared with the operand's type.
    Gt,
    /// Greater than or equal to the operand, and of a type that is compared with the operand's
    /// type.
    Gte,
}

impl Comparison {
    /// Returns the comparison of an expression function with this name, if it is one.
    pub fn of_function(name: &str) -> Option<Self> {
        Some(match name {
            "$eq" => Self::Eq,
            "$lt" => Self::Lt,
            "$lte" => Self::Lte,
            "$gt" => Self::Gt,
            "$gte" => Self::Gte,
            _ => return None,
        })
    }

    /// Returns whether the comparison holds, given the order of the value relative to the operand.
    pub fn holds_for(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Lt => order.is_lt(),
            Self::Lte => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Gte => order.is_ge(),
        }
    }
}

/// Returns whether a value (`None`: missing) meets a comparison. Missing equals null; NaN equals
/// only NaN and is neither less nor greater than a number; only `MinKey` and `MaxKey` compare with
/// values of all types. Texts compare by the collation or, without one, by their bytes.
pub fn meets_comparison(
    comparison: Comparison,
    value: Option<ValueRef<'_>>,
    operand: ValueRef<'_>,
    collation: Option<&Collation>,
) -> bool {
    let Some(value) = value else {
        // A missing value equals null, is between `MinKey` and `MaxKey`, and matches no other
        // operand.
        return match operand.kind() {
            Kind::Null => comparison.holds_for(Ordering::Equal),
            Kind::MinKey => comparison.holds_for(Ordering::Greater),
            Kind::MaxKey => comparison.holds_for(Ordering::Less),
            _ => false,
        };
    };
    if let (Some(a), Some(b)) = (Number::of(value), Number::of(operand)) {
        if a.is_nan() || b.is_nan() {
            return a.is_nan() && b.is_nan() && comparison.holds_for(Ordering::Equal);
        }
        return comparison.holds_for(compare(value, operand));
    }
    // All number types form one class; null and undefined are separate classes.
    let comparable = canonical_class(value.kind()) == canonical_class(operand.kind())
        || matches!(operand.kind(), Kind::MinKey | Kind::MaxKey);
    comparable && comparison.holds_for(compare_by(collation, value, operand))
}
