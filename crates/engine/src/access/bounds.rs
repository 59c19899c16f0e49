//! Ranges of encoded key components of one field: what one test of a filter says about it, and how
//! ranges are combined.
//!
//! ```text
//!  {a: 5}                    point   enc(5)
//!  {a: {$in: [1, 2]}}        points  enc(1), enc(2)
//!  {a: {$gt: 5}}             span    (enc(5), end of numbers)       comparisons never cross types
//!  {a: /^ab/}                spans   texts that begin with "ab", and patterns
//! ```
//!
//! Components are cut at a bound length, so a bound that is cut becomes inclusive.

use document::{
    Kind, Value, ValueRef,
    key::{TypeOrder, encode},
    limits::KEPT_KEY_COMPONENT_BYTES,
};
use pipeline::{
    Filter,
    filter::{Comparison, PathTest},
};

/// Behind all components, which never begin with this byte.
const END: [u8; 1] = [0xff];
/// Spans that a negation may leave; it says too little to be worth more.
const MAX_LEFT_SPANS: usize = 100;

/// Half-open range of components, ready to follow a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first component that may be in it.
    pub(crate) start: Vec<u8>,
    /// The first component after it.
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
pub(crate) fn collect_conjuncts<'a>(filter: &'a Filter, out: &mut Vec<&'a Filter>) {
    match filter {
        Filter::And(all) => all.iter().for_each(|part| collect_conjuncts(part, out)),
        other => out.push(other),
    }
}

/// What is within both.
pub(super) fn intersect_bounds(a: Bounds, b: Bounds) -> Bounds {
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
        // Ascending and disjoint on both sides, and so are the intersections.
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

/// What is within one of both.
pub(super) fn union_bounds(a: Bounds, b: Bounds) -> Bounds {
    match (a, b) {
        (Bounds::Points(mut points), Bounds::Points(other)) => {
            points.extend(other);
            points.sort();
            points.dedup();
            Bounds::Points(points)
        }
        (a, b) => {
            let mut all = [spans_of(a), spans_of(b)].concat();
            all.sort_by(|a, b| a.start.cmp(&b.start));
            let mut spans: Vec<Span> = Vec::with_capacity(all.len());
            for span in all {
                match spans.last_mut() {
                    Some(last) if span.start <= last.end => {
                        last.end = last.end.clone().max(span.end);
                    }
                    _ => spans.push(span),
                }
            }
            Bounds::Spans(spans)
        }
    }
}

/// What is within neither of the bounds; `None` where that would be many spans.
pub(super) fn complement_bounds(bounds: Bounds) -> Option<Bounds> {
    let mut spans = Vec::new();
    let mut start = Vec::new();
    for taken in spans_of(bounds) {
        if start < taken.start {
            spans.push(Span { start, end: taken.start });
        }
        start = taken.end;
    }
    spans.push(Span { start, end: END.to_vec() });
    (spans.len() <= MAX_LEFT_SPANS).then_some(Bounds::Spans(spans))
}

/// Bounds as spans, in key order.
fn spans_of(bounds: Bounds) -> Vec<Span> {
    match bounds {
        Bounds::Points(points) => points
            .into_iter()
            .map(|point| Span { end: prefix_successor(&point), start: point })
            .collect(),
        Bounds::Spans(spans) => spans,
    }
}

/// A value as it stands in index keys.
pub(crate) fn encode_component(value: ValueRef<'_>, descending: bool) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, TypeOrder::Bson, descending, &mut out);
    out
}

/// The bounds that one test puts on a field; `None` where it puts none.
pub(super) fn bounds_of_test(test: &PathTest, descending: bool) -> Option<Bounds> {
    match test {
        PathTest::Compare(Comparison::Eq, value) => is_point(value)
            .then(|| Bounds::Points(vec![encode_component(value.as_ref(), descending)])),
        PathTest::Compare(comparison, value) => of_comparison(*comparison, value, descending),
        PathTest::In(set) if set.patterns().is_empty() && set.values().iter().all(is_point) => {
            let mut points: Vec<_> = set
                .values()
                .iter()
                .map(|value| encode_component(value.as_ref(), descending))
                .collect();
            points.sort();
            points.dedup();
            Some(Bounds::Points(points))
        }
        PathTest::Pattern(pattern) => {
            let prefix = pattern.required_prefix()?;
            let mut start = encode_component(ValueRef::String(&prefix), false);
            // Without its terminator, the component of a text is a prefix of those it begins.
            start.pop();
            if KEPT_KEY_COMPONENT_BYTES <= start.len() {
                return None;
            }
            if descending {
                start.iter_mut().for_each(|byte| *byte = !*byte);
            }
            // A pattern also matches stored patterns that are equal to it, which have a class of
            // their own.
            let own = ValueRef::Regex { pattern: "", options: "" };
            let mut spans =
                vec![Span { end: prefix_successor(&start), start }, class_span(own, descending)];
            spans.sort_by(|a, b| a.start.cmp(&b.start));
            Some(Bounds::Spans(spans))
        }
        _ => None,
    }
}

/// The component that every scalar has which meets the test, where the test is an equality with a
/// value. A document that lacks the value does not meet such a test; an array meets it by one of its
/// elements.
pub(crate) fn equality_component(test: &PathTest) -> Option<Vec<u8>> {
    match test {
        PathTest::Compare(Comparison::Eq, value)
            if is_point(value) && value.kind() != Kind::Null =>
        {
            Some(encode_component(value.as_ref(), false))
        }
        _ => None,
    }
}

/// Whether equality with this value is equality of one key component.
fn is_point(value: &Value) -> bool {
    !matches!(value.kind(), Kind::Array | Kind::Undefined | Kind::Regex)
}

/// The bounds of a comparison other than equality.
fn of_comparison(comparison: Comparison, value: &Value, descending: bool) -> Option<Bounds> {
    let nan = document::Number::of(value.as_ref()).is_some_and(document::Number::is_nan);
    // These compare across types, or match what is not there.
    let open = matches!(
        value.kind(),
        Kind::Array | Kind::Undefined | Kind::Regex | Kind::MinKey | Kind::MaxKey | Kind::Null
    );
    if nan || open || comparison == Comparison::Eq {
        return None;
    }
    let span = class_span(value.as_ref(), descending);
    Some(cut_span(span, comparison, value.as_ref(), descending))
}

/// The bounds of a comparison in the order over all types, where values of other types are less or
/// greater, too.
pub(super) fn bounds_over_types(
    comparison: Comparison,
    value: ValueRef<'_>,
    descending: bool,
) -> Bounds {
    if comparison == Comparison::Eq {
        return Bounds::Points(vec![encode_component(value, descending)]);
    }
    let all = Span { start: Vec::new(), end: END.to_vec() };
    cut_span(all, comparison, value, descending)
}

/// The part of a span that compares so with a value.
fn cut_span(
    mut span: Span,
    comparison: Comparison,
    value: ValueRef<'_>,
    descending: bool,
) -> Bounds {
    let mut edge = encode_component(value, descending);
    let cut = KEPT_KEY_COMPONENT_BYTES < edge.len();
    edge.truncate(KEPT_KEY_COMPONENT_BYTES);
    // Turned round when descending: what is greater comes first.
    let (from, included) = match comparison {
        Comparison::Gt => (!descending, false),
        Comparison::Gte | Comparison::Eq => (!descending, true),
        Comparison::Lt => (descending, false),
        Comparison::Lte => (descending, true),
    };
    let included = included || cut;
    match (from, included) {
        (true, true) => span.start = edge,
        (true, false) => span.start = prefix_successor(&edge),
        (false, true) => span.end = prefix_successor(&edge),
        (false, false) => span.end = edge,
    }
    Bounds::Spans(vec![span])
}

/// All components of a value's class that a value of it may be compared with.
fn class_span(value: ValueRef<'_>, descending: bool) -> Span {
    let class = encode_component(value, descending).first().copied().unwrap_or(0);
    let mut span = Span { start: vec![class], end: prefix_successor(&[class]) };
    if value.is_number() {
        // Not-a-number stands before all numbers, and is neither less nor greater than any.
        let nan = encode_component(ValueRef::Double(f64::NAN), descending);
        match descending {
            false => span.start = prefix_successor(&nan),
            true => span.end = nan,
        }
    }
    span
}

/// The first key after all keys with this prefix. Components never begin with 0xff.
pub(crate) fn prefix_successor(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last != 0xff {
            end.push(last + 1);
            break;
        }
    }
    end
}
