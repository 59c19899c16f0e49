//! MongoDB's total order over all BSON values: by the rank of their type first, then by value.
//! `$sort`, indexes and equality use it.
//!
//! ```text
//! MinKey < undefined < null < numbers < strings < documents < arrays < binary < ObjectId
//!        < booleans < dates < timestamps < regex < DBPointer < code < code with scope < MaxKey
//! ```

use std::cmp::Ordering;

use crate::{
    kind::Kind,
    number::{Number, compare_numbers},
    value::{ArrayRef, DocRef, Value, ValueRef},
};

/// Returns the rank of a type in the order. All types of numbers have the same rank, and so have
/// strings and symbols. The ranks are only compared, never stored.
pub fn canonical_class(kind: Kind) -> u8 {
    match kind {
        Kind::MinKey => 1,
        Kind::Undefined => 2,
        Kind::Null => 5,
        Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Decimal128 => 10,
        Kind::String | Kind::Symbol => 15,
        Kind::Document => 20,
        Kind::Array => 25,
        Kind::Binary => 30,
        Kind::ObjectId => 35,
        Kind::Bool => 40,
        Kind::DateTime => 45,
        Kind::Timestamp => 47,
        Kind::Regex => 50,
        Kind::DbPointer => 55,
        Kind::JavaScript => 60,
        Kind::JavaScriptWithScope => 65,
        Kind::MaxKey => 127,
    }
}

/// Compares two values. Numbers of all four types compare by their numeric value; other values with
/// the same rank compare by their contents. Texts compare by their bytes, which is the order of code
/// points.
pub fn compare(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    compare_with_texts(a, b, &str::cmp)
}

/// Compares two values as [`compare`] does, but compares texts, also those inside documents and
/// arrays, with `texts`. Code, patterns and names of fields still compare by their bytes.
pub fn compare_with_texts<T>(a: ValueRef<'_>, b: ValueRef<'_>, texts: &T) -> Ordering
where
    T: Fn(&str, &str) -> Ordering,
{
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return compare_numbers(a, b);
    }
    canonical_class(a.kind()).cmp(&canonical_class(b.kind())).then_with(|| same_class(a, b, texts))
}

/// Compares two values with the same rank that are not numbers. Types with a single value, such as
/// null, are equal.
fn same_class<T>(a: ValueRef<'_>, b: ValueRef<'_>, texts: &T) -> Ordering
where
    T: Fn(&str, &str) -> Ordering,
{
    use ValueRef as V;
    match (a, b) {
        (V::String(a) | V::Symbol(a), V::String(b) | V::Symbol(b)) => texts(a, b),
        (V::Document(a), V::Document(b)) => compare_fields(a, b, texts),
        (V::Array(a), V::Array(b)) => compare_arrays(a, b, texts),
        // Length first: a shorter value is smaller, independently of its bytes.
        (V::Binary { subtype: s, bytes: a }, V::Binary { subtype: t, bytes: b }) => {
            a.len().cmp(&b.len()).then(s.cmp(&t)).then_with(|| a.cmp(b))
        }
        (V::ObjectId(a), V::ObjectId(b)) => a.cmp(&b),
        (V::Bool(a), V::Bool(b)) => a.cmp(&b),
        (V::DateTime(a), V::DateTime(b)) => a.cmp(&b),
        (V::Timestamp(a), V::Timestamp(b)) => a.cmp(&b),
        (V::Regex { pattern: a, options: s }, V::Regex { pattern: b, options: t }) => {
            a.cmp(b).then_with(|| s.cmp(t))
        }
        (V::DbPointer { namespace: a, id: i }, V::DbPointer { namespace: b, id: j }) => {
            a.cmp(b).then(i.cmp(&j))
        }
        (V::JavaScript(a), V::JavaScript(b)) => a.cmp(b),
        (
            V::JavaScriptWithScope { code: a, scope: s },
            V::JavaScriptWithScope { code: b, scope: t },
        ) => a.cmp(b).then_with(|| compare_documents(s, t)),
        _ => Ordering::Equal,
    }
}

/// Compares two documents field by field: by rank of the type, then name, then value. A document
/// that is a prefix of the other is smaller.
pub fn compare_documents(a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
    compare_fields(a, b, &str::cmp)
}

/// Compares two documents as [`compare_documents`] does, with another order of texts.
fn compare_fields<T>(a: DocRef<'_>, b: DocRef<'_>, texts: &T) -> Ordering
where
    T: Fn(&str, &str) -> Ordering,
{
    let mut rest = b.iter();
    for (name, value) in a.iter() {
        let Some((other_name, other)) = rest.next() else { return Ordering::Greater };
        let order = canonical_class(value.kind())
            .cmp(&canonical_class(other.kind()))
            .then_with(|| name.cmp(other_name))
            .then_with(|| compare_with_texts(value, other, texts));
        if order.is_ne() {
            return order;
        }
    }
    if rest.next().is_some() { Ordering::Less } else { Ordering::Equal }
}

/// Compares two arrays by their first elements that differ. An array that is a prefix of the other
/// is smaller.
fn compare_arrays<T>(a: ArrayRef<'_>, b: ArrayRef<'_>, texts: &T) -> Ordering
where
    T: Fn(&str, &str) -> Ordering,
{
    let mut rest = b.iter();
    for value in a.iter() {
        let Some(other) = rest.next() else { return Ordering::Greater };
        let order = compare_with_texts(value, other, texts);
        if order.is_ne() {
            return order;
        }
    }
    if rest.next().is_some() { Ordering::Less } else { Ordering::Equal }
}

/// Equality by BSON's order: `1`, `1.0` and `Decimal128("1")` are equal.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        compare(self.as_ref(), other.as_ref()).is_eq()
    }
}

impl Eq for Value {}

/// A value that sorts by BSON's order, for sets and maps. It is a wrapper so that `<` on plain
/// values does not compile and the choice of this order is explicit.
#[derive(Clone, Debug)]
pub struct BsonOrder(pub Value);

impl PartialEq for BsonOrder {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for BsonOrder {}

impl PartialOrd for BsonOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BsonOrder {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.0.as_ref(), other.0.as_ref())
    }
}
