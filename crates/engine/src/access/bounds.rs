//! What a filter says about one field, as ranges of encoded key components.

use document::{
    Kind, Value, ValueRef,
    key::{TypeOrder, encode},
    limits::KEPT_KEY_COMPONENT_BYTES,
};
use pipeline::{
    Filter,
    filter::{Comparison, PathTest},
};

/// Half-open range of components, ready to follow a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

/// What is known about one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// One of these components, in key order.
    Points(Vec<Vec<u8>>),
    /// In one of these ranges, in key order.
    Spans(Vec<Span>),
}

/// The conjuncts of a filter: the parts all of which have to hold.
pub(crate) fn conjuncts<'a>(filter: &'a Filter, out: &mut Vec<&'a Filter>) {
    match filter {
        Filter::And(all) => all.iter().for_each(|part| conjuncts(part, out)),
        other => out.push(other),
    }
}

/// Bounds that the conjuncts put on a path. `single` says that no document has more than one value
/// there, so that several conjuncts may be combined.
pub(crate) fn bounds(
    conjuncts: &[&Filter],
    path: &str,
    descending: bool,
    single: bool,
) -> Option<Bounds> {
    if !single && path.split('.').any(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        // A filter reads the part as a position and as a name, an index holds one of the two.
        return None;
    }
    let tests = conjuncts.iter().filter_map(|part| match part {
        Filter::Path(at, test) if at.as_str() == path => Some(test),
        _ => None,
    });
    let mut best: Option<Bounds> = None;
    for test in tests {
        let Some(found) = of_test(test, descending) else { continue };
        best = Some(match best {
            None => found,
            Some(held) if single => both(held, found),
            Some(held) => narrower(held, found),
        });
    }
    best
}

fn narrower(held: Bounds, found: Bounds) -> Bounds {
    match (&held, &found) {
        (Bounds::Spans(_), Bounds::Points(_)) => found,
        (Bounds::Points(a), Bounds::Points(b)) if b.len() < a.len() => found,
        _ => held,
    }
}

fn both(a: Bounds, b: Bounds) -> Bounds {
    match (a, b) {
        (Bounds::Points(points), Bounds::Points(other)) => {
            Bounds::Points(points.into_iter().filter(|point| other.contains(point)).collect())
        }
        (Bounds::Points(points), Bounds::Spans(spans))
        | (Bounds::Spans(spans), Bounds::Points(points)) => {
            let inside = |point: &Vec<u8>| {
                spans.iter().any(|span| span.start <= *point && *point < span.end)
            };
            Bounds::Points(points.into_iter().filter(inside).collect())
        }
        (Bounds::Spans(a), Bounds::Spans(b)) => {
            let mut spans = Vec::new();
            for x in &a {
                for y in &b {
                    let span = Span {
                        start: x.start.clone().max(y.start.clone()),
                        end: x.end.clone().min(y.end.clone()),
                    };
                    if span.start < span.end {
                        spans.push(span);
                    }
                }
            }
            Bounds::Spans(spans)
        }
    }
}

fn component(value: ValueRef<'_>, descending: bool) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, TypeOrder::Bson, descending, &mut out);
    out
}

fn of_test(test: &PathTest, descending: bool) -> Option<Bounds> {
    match test {
        PathTest::Compare(Comparison::Eq, value) => {
            is_point(value).then(|| Bounds::Points(vec![component(value.as_ref(), descending)]))
        }
        PathTest::Compare(comparison, value) => of_comparison(*comparison, value, descending),
        PathTest::In(set) if set.patterns().is_empty() && set.values().iter().all(is_point) => {
            let mut points: Vec<_> =
                set.values().iter().map(|value| component(value.as_ref(), descending)).collect();
            points.sort();
            points.dedup();
            Some(Bounds::Points(points))
        }
        PathTest::Pattern(pattern) => {
            let prefix = pattern.required_prefix()?;
            let mut start = component(ValueRef::String(&prefix), false);
            // Without its terminator, the component of a text is a prefix of those it begins.
            start.pop();
            if KEPT_KEY_COMPONENT_BYTES <= start.len() {
                return None;
            }
            if descending {
                start.iter_mut().for_each(|byte| *byte = !*byte);
            }
            let own = ValueRef::Regex { pattern: "", options: "" };
            let mut spans =
                vec![Span { end: successor(&start), start }, class_span(own, descending)];
            spans.sort_by(|a, b| a.start.cmp(&b.start));
            Some(Bounds::Spans(spans))
        }
        _ => None,
    }
}

/// Whether equality with this value is equality of one key component.
fn is_point(value: &Value) -> bool {
    !matches!(value.kind(), Kind::Array | Kind::Undefined | Kind::Regex)
}

fn of_comparison(comparison: Comparison, value: &Value, descending: bool) -> Option<Bounds> {
    let nan = document::Number::of(value.as_ref()).is_some_and(document::Number::is_nan);
    let open = matches!(
        value.kind(),
        Kind::Array | Kind::Undefined | Kind::Regex | Kind::MinKey | Kind::MaxKey | Kind::Null
    );
    if nan || open {
        return None;
    }
    let mut span = class_span(value.as_ref(), descending);
    let mut edge = component(value.as_ref(), descending);
    let cut = KEPT_KEY_COMPONENT_BYTES < edge.len();
    edge.truncate(KEPT_KEY_COMPONENT_BYTES);
    // Turned round when descending: what is greater comes first.
    let (from, included) = match comparison {
        Comparison::Gt => (!descending, false),
        Comparison::Gte => (!descending, true),
        Comparison::Lt => (descending, false),
        Comparison::Lte => (descending, true),
        Comparison::Eq => return None,
    };
    let included = included || cut;
    match (from, included) {
        (true, true) => span.start = edge,
        (true, false) => span.start = successor(&edge),
        (false, true) => span.end = successor(&edge),
        (false, false) => span.end = edge,
    }
    Some(Bounds::Spans(vec![span]))
}

/// All components of a value's class.
fn class_span(value: ValueRef<'_>, descending: bool) -> Span {
    let class = component(value, descending).first().copied().unwrap_or(0);
    Span { start: vec![class], end: successor(&[class]) }
}

/// The first key behind all keys with this prefix. Components never begin with 0xff.
pub(crate) fn successor(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last != 0xff {
            end.push(last + 1);
            break;
        }
    }
    end
}
