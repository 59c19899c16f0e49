//! Aggregates: what many values come to. The order they come in never counts: a list
//! is in the order of rows.

use std::{cmp::Ordering, collections::HashMap};

use document::{Value, ValueRef};
use evaluation::{Evaluated, memory};

use super::{form::precedes, identity::identity_of, order::compare};
use crate::{
    number::{integer, number},
    order::simple_class,
};

/// Which aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the language's own")]
pub enum Kind {
    Count,
    CountIf,
    Sum,
    Avg,
    Min,
    Max,
    MakeList,
    MakeSet,
}

impl Kind {
    /// The aggregate of this name; case does not count.
    pub fn find(name: &str) -> Option<Self> {
        const ALL: &[(&str, Kind)] = &[
            ("COUNT", Kind::Count),
            ("COUNTIF", Kind::CountIf),
            ("SUM", Kind::Sum),
            ("AVG", Kind::Avg),
            ("MIN", Kind::Min),
            ("MAX", Kind::Max),
            ("MAKELIST", Kind::MakeList),
            ("MAKESET", Kind::MakeSet),
        ];
        ALL.iter().find(|(listed, _)| listed.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
    }

    /// Its name as query plans write it.
    pub fn name(self) -> &'static str {
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

/// What an aggregate has come to so far.
#[derive(Debug)]
pub(super) enum State {
    Count(i64),
    CountIf(i64),
    Sum(Sum),
    Avg(Sum, i64),
    Extreme {
        want: Ordering,
        found: Option<Value>,
        spoilt: bool,
    },
    /// Values with the positions of their rows.
    List(Vec<(Box<[u8]>, Value)>),
    Set {
        values: Vec<Value>,
        keys: HashMap<Vec<u8>, usize, foldhash::fast::RandomState>,
    },
}

impl State {
    pub(super) fn new(kind: Kind) -> Self {
        let extreme = |want| Self::Extreme { want, found: None, spoilt: false };
        match kind {
            Kind::Count => Self::Count(0),
            Kind::CountIf => Self::CountIf(0),
            Kind::Sum => Self::Sum(Sum::default()),
            Kind::Avg => Self::Avg(Sum::default(), 0),
            Kind::Min => extreme(Ordering::Less),
            Kind::Max => extreme(Ordering::Greater),
            Kind::MakeList => Self::List(Vec::new()),
            Kind::MakeSet => Self::Set { values: Vec::new(), keys: HashMap::default() },
        }
    }

    /// Whether it reads values as a whole.
    pub(super) fn reads(&self) -> bool {
        matches!(self, Self::Extreme { .. } | Self::List(_) | Self::Set { .. })
    }

    /// One more row; answers about how many bytes more are held.
    pub(super) fn add(&mut self, value: &Evaluated<'_>, position: &[u8]) -> usize {
        let Some(inner) = value.value() else { return 0 };
        match self {
            Self::Count(count) => *count += 1,
            Self::CountIf(count) => *count += i64::from(inner.as_bool() == Some(true)),
            Self::Sum(sum) => sum.add(inner),
            Self::Avg(sum, count) => {
                sum.add(inner);
                *count += 1;
            }
            Self::Extreme { want, found, spoilt } => {
                if simple_class(inner).is_none() {
                    *spoilt = true;
                } else if found.as_ref().is_none_or(|found| {
                    let order = compare(inner, found.as_ref());
                    order == *want || (order.is_eq() && precedes(inner, found.as_ref()))
                }) {
                    *found = Some(inner.to_value());
                    return memory(inner);
                }
            }
            Self::List(values) => {
                values.push((position.into(), inner.to_value()));
                return position.len() + memory(inner);
            }
            Self::Set { values, keys } => {
                let key = identity_of(value);
                let bytes = key.len() + memory(inner);
                if let Some(at) = keys.get(&key) {
                    if let Some(known) = values.get_mut(*at)
                        && precedes(inner, known.as_ref())
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

    /// What it came to.
    pub(super) fn result(self) -> Evaluated<'static> {
        match self {
            Self::Count(count) | Self::CountIf(count) => integer(count),
            Self::Sum(sum) => sum.total(),
            Self::Avg(sum, count) => sum.over(count),
            Self::Extreme { found, spoilt, .. } => found.filter(|_| !spoilt).into(),
            Self::List(mut values) => {
                values.sort_by(|a, b| a.0.cmp(&b.0));
                Evaluated::Own(Value::Array(values.into_iter().map(|(_, value)| value).collect()))
            }
            Self::Set { mut values, .. } => {
                values.sort_by(|a, b| compare(a.as_ref(), b.as_ref()));
                Evaluated::Own(Value::Array(values))
            }
        }
    }
}

/// A sum that is rounded once, at its end: whole numbers exactly, doubles as parts that do not
/// overlap.
#[derive(Debug, Default)]
pub(super) struct Sum {
    whole: i128,
    parts: Vec<f64>,
    some: bool,
    spoilt: bool,
}

impl Sum {
    fn add(&mut self, value: ValueRef<'_>) {
        self.some = true;
        match value {
            ValueRef::Int64(v) => self.whole += i128::from(v),
            ValueRef::Int32(v) => self.whole += i128::from(v),
            ValueRef::Double(v) if v.is_finite() => self.part(v),
            _ => self.spoilt = true,
        }
    }

    fn part(&mut self, mut value: f64) {
        let mut kept = 0;
        for at in 0..self.parts.len() {
            let mut part = self.parts[at];
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

    fn value(mut self) -> Option<Result<i64, f64>> {
        if self.spoilt || !self.some {
            return None;
        }
        if self.parts.is_empty()
            && let Ok(whole) = i64::try_from(self.whole)
        {
            return Some(Ok(whole));
        }
        let high = self.whole as f64;
        let low = (self.whole - high as i128) as f64;
        self.part(low);
        self.part(high);
        Some(Err(self.parts.iter().sum()))
    }

    fn total(self) -> Evaluated<'static> {
        match self.value() {
            None => Evaluated::Missing,
            Some(Ok(whole)) => integer(whole),
            Some(Err(total)) => number(total),
        }
    }

    fn over(self, count: i64) -> Evaluated<'static> {
        match self.value() {
            None => Evaluated::Missing,
            Some(Ok(whole)) if whole % count.max(1) == 0 => integer(whole / count.max(1)),
            Some(Ok(whole)) => number(whole as f64 / count as f64),
            Some(Err(total)) => number(total / count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use document::json::{parse, to_string};

    use super::*;

    fn result(kind: Kind, values: &[&str]) -> String {
        let mut state = State::new(kind);
        for value in values {
            let value = match *value {
                "undefined" => Evaluated::Missing,
                text => Evaluated::Own(parse(text.as_bytes(), 9).unwrap()),
            };
            state.add(&value, b"");
        }
        state.result().value().map_or("undefined".to_owned(), to_string)
    }

    #[test]
    fn values_come_to() {
        use Kind as K;
        for (kind, values, want) in [
            (K::Count, &[][..], "0"),
            (K::Count, &["1", "null", "undefined", "\"a\""], "3"),
            (K::CountIf, &["true", "false", "1", "undefined"], "1"),
            (K::Sum, &[], "undefined"),
            (K::Sum, &["undefined"], "undefined"),
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
        let want = result(Kind::Sum, &values);
        for turn in 1..values.len() {
            let mut other = values;
            other.rotate_left(turn);
            assert_eq!(result(Kind::Sum, &other), want);
            other.reverse();
            assert_eq!(result(Kind::Sum, &other), want);
        }
    }

    #[test]
    fn names_are_found() {
        assert_eq!(Kind::find("count"), Some(Kind::Count));
        assert_eq!(Kind::find("MakeSet"), Some(Kind::MakeSet));
        assert_eq!(Kind::find("ABS"), None);
    }
}
