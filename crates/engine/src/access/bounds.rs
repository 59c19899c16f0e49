//! Ranges of encoded key components for one field: the range that a single test of a filter
//! implies, and operations that combine ranges.
//!
//! ```text
//!  {a: 5}                    point   enc(5)
//!  {a: {$in: [1, 2]}}        points  enc(1), enc(2)
//!  {a: {$gt: 5}}             span    (enc(5), end of numbers)       comparisons stay within a type
//!  {a: /^ab/}                spans   texts that start with "ab", and patterns
//! ```
//!
//! Components are truncated at a maximum length; a truncated bound becomes inclusive.

use document::{Kind, Value, ValueRef, key::KEPT_KEY_COMPONENT_BYTES};
use pipeline::{
    Filter,
    filter::{Comparison, PathTest},
};

use super::key_texts::KeyTexts;

/// A key component that sorts after all others: no component starts with this byte.
const END: [u8; 1] = [0xff];
/// Maximum number of spans in a complement; more would not be selective enough to be worth it.
const MAX_LEFT_SPANS: usize = 100;

/// A half-open range of encoded values, to be appended to a key prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First key component of the range, inclusive.
    pub(crate) start: Vec<u8>,
    /// End of the range of key components, exclusive.
    pub(crate) end: Vec<u8>,
}

/// The encoded values that the conditions allow for one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// The field has one of these components, in key order.
    Points(Vec<Vec<u8>>),
    /// The field has a component within one of these ranges, in key order.
    Spans(Vec<Span>),
}

/// Appends the conjuncts of a filter, flattening nested conjunctions.
pub(crate) fn collect_conjuncts<'a>(filter: &'a Filter, out: &mut Vec<&'a Filter>) {
    match filter {
        Filter::And(all) => all.iter().for_each(|part| collect_conjuncts(part, out)),
        other => out.push(other),
    }
}

/// Returns the intersection of two bounds.
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
        // The spans of each input are in order and disjoint, so their intersections are, too.
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

/// Returns the union of two bounds.
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

/// Returns the complement of the bounds, or `None` if it has too many spans.
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

/// Converts bounds to spans, in key order.
fn spans_of(bounds: Bounds) -> Vec<Span> {
    match bounds {
        Bounds::Points(points) => points
            .into_iter()
            .map(|point| Span { end: prefix_successor(&point), start: point })
            .collect(),
        Bounds::Spans(spans) => spans,
    }
}

/// Returns the bounds that a test implies for its field, or `None` if it implies none.
pub(super) fn bounds_of_test(
    test: &PathTest,
    descending: bool,
    texts: KeyTexts<'_>,
) -> Option<Bounds> {
    let is_point = |value: &Value| is_point(value) && texts.hold(value.as_ref());
    match test {
        PathTest::Compare(Comparison::Eq, value) => is_point(value)
            .then(|| Bounds::Points(vec![texts.encode_component(value.as_ref(), descending)])),
        PathTest::Compare(comparison, value) => {
            of_comparison(*comparison, value, descending, texts)
        }
        PathTest::In(set) if set.patterns().is_empty() && set.values().iter().all(is_point) => {
            let mut points: Vec<_> = set
                .values()
                .iter()
                .map(|value| texts.encode_component(value.as_ref(), descending))
                .collect();
            points.sort();
            points.dedup();
            Some(Bounds::Points(points))
        }
        // A pattern matches the bytes of a text, of which a sort key shows nothing.
        PathTest::Pattern(pattern) if texts.are_bytes() => {
            let prefix = pattern.required_prefix()?;
            let mut start = texts.encode_component(ValueRef::String(&prefix), false);
            // Without its terminator, the encoding of a string is a prefix of the encodings of all
            // strings that start with it.
            start.pop();
            if KEPT_KEY_COMPONENT_BYTES <= start.len() {
                return None;
            }
            if descending {
                start.iter_mut().for_each(|byte| *byte = !*byte);
            }
            // A pattern also matches stored regular expressions equal to it, which have a separate
            // type class.
            let own = ValueRef::Regex { pattern: "", options: "" };
            let mut spans = vec![
                Span { end: prefix_successor(&start), start },
                class_span(own, descending, texts),
            ];
            spans.sort_by(|a, b| a.start.cmp(&b.start));
            Some(Bounds::Spans(spans))
        }
        _ => None,
    }
}

/// Returns the key component of every scalar that matches an equality test; `None` for other tests.
/// Documents without the field do not match; an array matches if one of its elements does.
pub(crate) fn equality_component(test: &PathTest, texts: KeyTexts<'_>) -> Option<Vec<u8>> {
    match test {
        PathTest::Compare(Comparison::Eq, value)
            if is_point(value) && value.kind() != Kind::Null && texts.hold(value.as_ref()) =>
        {
            Some(texts.encode_component(value.as_ref(), false))
        }
        _ => None,
    }
}

/// Returns whether equality with this value fixes a single key component.
fn is_point(value: &Value) -> bool {
    !matches!(value.kind(), Kind::Array | Kind::Undefined | Kind::Regex)
}

/// Returns the bounds that a comparison other than equality implies.
fn of_comparison(
    comparison: Comparison,
    value: &Value,
    descending: bool,
    texts: KeyTexts<'_>,
) -> Option<Bounds> {
    let nan = document::Number::of(value.as_ref()).is_some_and(document::Number::is_nan);
    // Comparisons with values of these types also match values of other types, or missing fields.
    let open = matches!(
        value.kind(),
        Kind::Array | Kind::Undefined | Kind::Regex | Kind::MinKey | Kind::MaxKey | Kind::Null
    );
    if nan || open || comparison == Comparison::Eq || !texts.hold(value.as_ref()) {
        return None;
    }
    let span = class_span(value.as_ref(), descending, texts);
    Some(cut_span(span, comparison, value.as_ref(), descending, texts))
}

/// Returns the bounds of a comparison in the total order over all types, in which values of other
/// types also compare as less or greater.
pub(super) fn bounds_over_types(
    comparison: Comparison,
    value: ValueRef<'_>,
    descending: bool,
    texts: KeyTexts<'_>,
) -> Bounds {
    if comparison == Comparison::Eq {
        return Bounds::Points(vec![texts.encode_component(value, descending)]);
    }
    let all = Span { start: Vec::new(), end: END.to_vec() };
    cut_span(all, comparison, value, descending, texts)
}

/// Narrows a span to the components that satisfy a comparison with a value.
fn cut_span(
    mut span: Span,
    comparison: Comparison,
    value: ValueRef<'_>,
    descending: bool,
    texts: KeyTexts<'_>,
) -> Bounds {
    let mut edge = texts.encode_component(value, descending);
    let cut = KEPT_KEY_COMPONENT_BYTES < edge.len();
    edge.truncate(KEPT_KEY_COMPONENT_BYTES);
    // Descending encodings invert the order: greater values come first.
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

/// Returns the span of the key components of all values that have the same type as this value; a
/// comparison with the value matches nothing outside of it.
fn class_span(value: ValueRef<'_>, descending: bool, texts: KeyTexts<'_>) -> Span {
    let class = texts.encode_component(value, descending).first().copied().unwrap_or(0);
    let mut span = Span { start: vec![class], end: prefix_successor(&[class]) };
    if value.is_number() {
        // NaN sorts before all numbers and is neither less nor greater than any.
        let nan = texts.encode_component(ValueRef::Double(f64::NAN), descending);
        match descending {
            false => span.start = prefix_successor(&nan),
            true => span.end = nan,
        }
    }
    span
}

/// Returns the first key after all keys with this prefix. Components never start with 0xff.
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
