//! Aggregates of the values of a group. The result must not depend on the order of rows, because an
//! index, a scan and several pages feed them in different orders. Sums are therefore exact until
//! they are read, lists are sorted by the position of their rows, and sets by their values.
//!
//! Undefined values are skipped. One value that an aggregate cannot use, such as a string in a SUM
//! or an object in a MIN, makes the whole result undefined.

use std::{cmp::Ordering, collections::HashMap};

use document::{Value, ValueRef};
use evaluation::{Evaluated, memory_of};

use super::{form::takes_precedence, identity::identity_of, order::compare_values};
use crate::{
    number::{integer_value, number_or_nothing},
    order::simple_class,
};

/// The kind of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the language's own")]
pub enum AggregateKind {
    Count,
    CountIf,
    Sum,
    Avg,
    Min,
    Max,
    MakeList,
    MakeSet,
}

impl AggregateKind {
    /// Returns the aggregate with this name, ignoring case.
    pub fn find_by_name(name: &str) -> Option<Self> {
        const ALL: &[(&str, AggregateKind)] = &[
            ("COUNT", AggregateKind::Count),
            ("COUNTIF", AggregateKind::CountIf),
            ("SUM", AggregateKind::Sum),
            ("AVG", AggregateKind::Avg),
            ("MIN", AggregateKind::Min),
            ("MAX", AggregateKind::Max),
            ("MAKELIST", AggregateKind::MakeList),
            ("MAKESET", AggregateKind::MakeSet),
        ];
        ALL.iter().find(|(listed, _)| listed.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
    }

    /// Returns the name that query plans use.
    pub fn plan_name(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::CountIf => "CountIf",
            Self::Sum => "Sum",
            Self::Avg => "Average",
            Self::Min => "Min",
            Self::Max => "Max",
            Self::MakeList => "MakeList",
            Self::MakeSet => "MakeSet",
        }
    }
}

/// The state of one aggregate in one group. An enum rather than a trait object, so that adding a
/// row needs no virtual call.
#[derive(Debug)]
pub(super) enum AggregateState {
    /// The number of defined values.
    Count(i64),
    /// The number of values that are true.
    CountIf(i64),
    /// The sum of the numbers.
    Sum(ExactSum),
    /// The sum and the number of values.
    Avg(ExactSum, i64),
    /// MIN and MAX. `want` is how a new value must compare with `found` to replace it.
    Extreme {
        want: Ordering,
        found: Option<Value>,
        /// Whether a value without an order (an array, an object) was added, which makes the result
        /// undefined.
        spoilt: bool,
    },
    /// Values with the positions of their rows. They are sorted only when the list is read.
    List(Vec<(Box<[u8]>, Value)>),
    /// Distinct values; `keys` maps the key of each to its index in `values`.
    Set { values: Vec<Value>, keys: HashMap<Vec<u8>, usize, foldhash::fast::RandomState> },
}

impl AggregateState {
    /// Returns the state of an empty group: 0 for a COUNT or SUM, an empty list or set, else
    /// undefined.
    pub(super) fn new(kind: AggregateKind) -> Self {
        let extreme = |want| Self::Extreme { want, found: None, spoilt: false };
        match kind {
            AggregateKind::Count => Self::Count(0),
            AggregateKind::CountIf => Self::CountIf(0),
            AggregateKind::Sum => Self::Sum(ExactSum::default()),
            AggregateKind::Avg => Self::Avg(ExactSum::default(), 0),
            AggregateKind::Min => extreme(Ordering::Less),
            AggregateKind::Max => extreme(Ordering::Greater),
            AggregateKind::MakeList => Self::List(Vec::new()),
            AggregateKind::MakeSet => Self::Set { values: Vec::new(), keys: HashMap::default() },
        }
    }

    /// Returns whether the aggregate reads whole values, so that the caller has to count that work
    /// before it adds a value.
    pub(super) fn reads_whole_values(&self) -> bool {
        matches!(self, Self::Extreme { .. } | Self::List(_) | Self::Set { .. })
    }

    /// Adds the value of one row and returns the additional bytes held, approximately. `position`
    /// is the row's position in the canonical order, which decides its index in a list.
    ///
    /// Equal values may have several representations (`1` and `1.0`). The representation that
    /// `takes_precedence` prefers is kept, so that the result does not depend on the order of rows.
    pub(super) fn add_row(&mut self, value: &Evaluated<'_>, position: &[u8]) -> usize {
        let Some(inner) = value.value() else { return 0 };
        match self {
            Self::Count(count) => *count += 1,
            Self::CountIf(count) => *count += i64::from(inner.as_bool() == Some(true)),
            Self::Sum(sum) => sum.add_number(inner),
            Self::Avg(sum, count) => {
                sum.add_number(inner);
                *count += 1;
            }
            Self::Extreme { want, found, spoilt } => {
                if simple_class(inner).is_none() {
                    *spoilt = true;
                } else if found.as_ref().is_none_or(|found| {
                    let order = compare_values(inner, found.as_ref());
                    order == *want || (order.is_eq() && takes_precedence(inner, found.as_ref()))
                }) {
                    *found = Some(inner.to_value());
                    return memory_of(inner);
                }
            }
            Self::List(values) => {
                values.push((position.into(), inner.to_value()));
                return position.len() + memory_of(inner);
            }
            Self::Set { values, keys } => {
                let key = identity_of(value);
                let bytes = key.len() + memory_of(inner);
                if let Some(at) = keys.get(&key) {
                    if let Some(known) = values.get_mut(*at)
                        && takes_precedence(inner, known.as_ref())
                    {
                        *known = inner.to_value();
                    }
                } else {
                    keys.insert(key, values.len());
                    values.push(inner.to_value());
                    return bytes;
                }
            }
        }
        0
    }

    /// Returns the result of the aggregate.
    pub(super) fn into_value(self) -> Evaluated<'static> {
        match self {
            Self::Count(count) | Self::CountIf(count) => integer_value(count),
            Self::Sum(sum) => sum.into_total(),
            Self::Avg(sum, count) => sum.into_mean(count),
            Self::Extreme { found, spoilt, .. } => found.filter(|_| !spoilt).into(),
            Self::List(mut values) => {
                values.sort_by(|a, b| a.0.cmp(&b.0));
                Evaluated::Owned(Value::Array(values.into_iter().map(|(_, value)| value).collect()))
            }
            Self::Set { mut values, .. } => {
                values.sort_by(|a, b| compare_values(a.as_ref(), b.as_ref()));
                Evaluated::Owned(Value::Array(values))
            }
        }
    }
}

/// A sum that is rounded only once, when it is read.
///
/// Integers are added in 128 bits, which no number of rows can overflow. Doubles are kept as
/// non-overlapping parts: each new number is added to every part, and the rounding error becomes a
/// part of its own. The sum of the parts is exact and independent of the order of the numbers:
///
/// ```text
/// parts [1e-20, 1.0]   + 1e16   ->   parts [1e-20, 1.0, 1e16]
/// ```
#[derive(Debug, Default)]
pub(super) struct ExactSum {
    whole: i128,
    /// The sum of all doubles, as parts in ascending order of magnitude, without rounding errors.
    parts: Vec<f64>,
    /// Whether a value that is not a finite number was added.
    spoilt: bool,
}

impl ExactSum {
    fn add_number(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Int64(v) => self.whole += i128::from(v),
            ValueRef::Int32(v) => self.whole += i128::from(v),
            ValueRef::Double(v) if v.is_finite() => self.add_part(v),
            _ => self.spoilt = true,
        }
    }

    /// Adds a double to the parts without losing a bit. Each step splits a sum of two numbers into
    /// the rounded sum (`high`), which is added to the next part, and the rounding error (`low`),
    /// which is kept.
    fn add_part(&mut self, mut value: f64) {
        let mut kept = 0;
        for at in 0..self.parts.len() {
            let mut part = self.parts[at];
            // The error below is exact only if the first operand is the larger one.
            if value.abs() < part.abs() {
                std::mem::swap(&mut value, &mut part);
            }
            let high = value + part;
            let low = part - (high - value);
            if low != 0.0 {
                self.parts[kept] = low;
                kept += 1;
            }
            value = high;
        }
        self.parts.truncate(kept);
        self.parts.push(value);
    }

    /// Returns the sum: an integer if only integers were added and it fits 64 bits, else the
    /// nearest double; `None` if it is undefined.
    fn exact_total(mut self) -> Option<Result<i64, f64>> {
        if self.spoilt {
            return None;
        }
        if self.parts.is_empty()
            && let Ok(whole) = i64::try_from(self.whole)
        {
            return Some(Ok(whole));
        }
        let high = self.whole as f64;
        // A double holds 53 bits of the integer; the remainder is added as a second part.
        let low = (self.whole - high as i128) as f64;
        self.add_part(low);
        self.add_part(high);
        Some(Err(self.parts.iter().sum()))
    }

    fn into_total(self) -> Evaluated<'static> {
        match self.exact_total() {
            None => Evaluated::Missing,
            Some(Ok(whole)) => integer_value(whole),
            Some(Err(total)) => number_or_nothing(total),
        }
    }

    /// Returns the result of AVG, which is an integer if the division has no remainder.
    fn into_mean(self, count: i64) -> Evaluated<'static> {
        if count == 0 {
            return Evaluated::Missing;
        }
        match self.exact_total() {
            None => Evaluated::Missing,
            Some(Ok(whole)) if whole % count == 0 => integer_value(whole / count),
            Some(Ok(whole)) => number_or_nothing(whole as f64 / count as f64),
            Some(Err(total)) => number_or_nothing(total / count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use document::json::{parse, to_string};

    use super::*;

    fn result(kind: AggregateKind, values: &[&str]) -> String {
        let mut state = AggregateState::new(kind);
        for value in values {
            let value = match *value {
                "undefined" => Evaluated::Missing,
                text => Evaluated::Owned(parse(text.as_bytes(), 9).unwrap()),
            };
            state.add_row(&value, b"");
        }
        state.into_value().value().map_or("undefined".to_owned(), to_string)
    }

    #[test]
    fn values_come_to() {
        use AggregateKind as K;
        for (kind, values, want) in [
            (K::Count, &[][..], "0"),
            (K::Count, &["1", "null", "undefined", "\"a\""], "3"),
            (K::CountIf, &["true", "false", "1", "undefined"], "1"),
            (K::Sum, &[], "0"),
            (K::Sum, &["undefined"], "0"),
            (K::Avg, &["undefined"], "undefined"),
            (K::Max, &[], "undefined"),
            (K::CountIf, &[], "0"),
            (K::MakeList, &[], "[]"),
            (K::MakeSet, &["undefined"], "[]"),
            (K::Sum, &["1", "2.5", "undefined"], "3.5"),
            (K::Sum, &["1", "\"2\""], "undefined"),
            (K::Sum, &["1", "null"], "undefined"),
            (K::Sum, &["0.1", "0.2", "0.3", "-0.6"], "2.7755575615628914e-17"),
            (K::Sum, &["1e100", "1", "-1e100"], "1"),
            (K::Sum, &["9223372036854775807", "9223372036854775807"], "1.8446744073709552e+19"),
            (K::Sum, &["9007199254740993", "0"], "9007199254740993"),
            (K::Sum, &["1.5e308", "1.5e308"], "undefined"),
            (K::Avg, &[], "undefined"),
            (K::Avg, &["1", "2"], "1.5"),
            (K::Avg, &["1", "3"], "2"),
            (K::Avg, &["1", "undefined", "4"], "2.5"),
            (K::Avg, &["1", "true"], "undefined"),
            (K::Min, &[], "undefined"),
            (K::Min, &["3", "1", "undefined", "2"], "1"),
            (K::Min, &["\"a\"", "1", "null"], "null"),
            (K::Max, &["\"a\"", "1", "true"], "\"a\""),
            (K::Max, &["1", "[2]"], "undefined"),
            (K::MakeList, &["1", "undefined", "1", "null"], "[1,1,null]"),
            (K::MakeSet, &["2", "1", "undefined", "1.0", "{\"a\":1}"], "[1,2,{\"a\":1}]"),
        ] {
            assert_eq!(result(kind, values), want, "{kind:?} {values:?}");
        }
    }

    #[test]
    fn order_does_not_count() {
        let values = ["1e16", "1", "-1e16", "0.1", "3e-9", "7", "1e300", "-1e300", "0.7"];
        let want = result(AggregateKind::Sum, &values);
        for turn in 1..values.len() {
            let mut other = values;
            other.rotate_left(turn);
            assert_eq!(result(AggregateKind::Sum, &other), want);
            other.reverse();
            assert_eq!(result(AggregateKind::Sum, &other), want);
        }
    }

    #[test]
    fn names_are_found() {
        assert_eq!(AggregateKind::find_by_name("count"), Some(AggregateKind::Count));
        assert_eq!(AggregateKind::find_by_name("MakeSet"), Some(AggregateKind::MakeSet));
        assert_eq!(AggregateKind::find_by_name("ABS"), None);
    }
}
