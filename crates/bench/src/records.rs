//! The documents of the workloads. All functions are pure. The caller provides the random
//! generator, so that the same seed yields the same documents on every server.

use document::{DocBuf, DocBuilder, ValueRef};
use fastrand::Rng;

use crate::limits::{CATEGORIES, CUSTOMERS, EVENT_TEXT, FIELD_BYTES, FIELDS, KINDS, LOT};

/// The 64 characters of random texts; six random bits select one.
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
/// Field names of a YCSB record.
pub(crate) const FIELD_NAMES: [&str; FIELDS] = [
    "field0", "field1", "field2", "field3", "field4", "field5", "field6", "field7", "field8",
    "field9",
];
/// Values of an order's `status`.
const STATUSES: [&str; 4] = ["open", "paid", "shipped", "returned"];

/// Returns a text of `length` characters that does not compress well, so that compressing servers
/// have no advantage.
pub(crate) fn random_text(length: usize, rng: &mut Rng) -> String {
    let mut text = String::with_capacity(length);
    let mut chance = 0;
    for index in 0..length {
        // 64 random bits are enough for ten characters.
        if index % 10 == 0 {
            chance = rng.u64(..);
        }
        text.push(char::from(LETTERS[(chance & 63) as usize]));
        chance >>= 6;
    }
    text
}

/// Returns the `_id` of a YCSB record.
pub(crate) fn user_id(number: u64) -> String {
    format!("user{number}")
}

/// Returns a YCSB record: ten texts of 100 letters, about 1.1 KB.
pub(crate) fn user_record(number: u64, rng: &mut Rng) -> DocBuf {
    let mut builder = DocBuilder::with_buffer(Vec::with_capacity(1300));
    builder.append("_id", ValueRef::String(&user_id(number)));
    for name in FIELD_NAMES {
        builder.append(name, ValueRef::String(&random_text(FIELD_BYTES, rng)));
    }
    builder.finish()
}

/// Returns an order of about 400 bytes. Applications list orders by customer, newest first.
pub(crate) fn make_order(number: u64, rng: &mut Rng) -> DocBuf {
    let mut builder = DocBuilder::with_buffer(Vec::with_capacity(500));
    builder.append("_id", ValueRef::Int64(number.cast_signed()));
    builder.append("customer", ValueRef::Int32(rng.i32(0..CUSTOMERS)));
    let at = 1_700_000_000_000 + rng.i64(0..31_536_000_000);
    builder.append("at", ValueRef::DateTime(at));
    builder.append("status", ValueRef::String(STATUSES[rng.usize(..STATUSES.len())]));
    builder.append("total", ValueRef::Double(f64::from(rng.i32(100..100_000)) / 100.0));
    builder.document("address", |address| {
        address.append("street", ValueRef::String(&random_text(24, rng)));
        address.append("city", ValueRef::String(&random_text(12, rng)));
    });
    builder.array("lines", |lines| {
        for _ in 0..3 {
            lines.document(|line| {
                line.append("sku", ValueRef::String(&random_text(12, rng)));
                line.append("quantity", ValueRef::Int32(rng.i32(1..10)));
            });
        }
    });
    builder.finish()
}

/// Returns a sale of about 250 bytes. Reports sum up sales by category.
pub(crate) fn make_sale(number: u64, rng: &mut Rng) -> DocBuf {
    let mut builder = DocBuilder::with_buffer(Vec::with_capacity(300));
    builder.append("_id", ValueRef::Int64(number.cast_signed()));
    builder.append("category", ValueRef::Int32(rng.i32(0..CATEGORIES)));
    builder.append("amount", ValueRef::Double(f64::from(rng.i32(1..100_000)) / 100.0));
    builder.append("quantity", ValueRef::Int32(rng.i32(1..10)));
    builder.append("note", ValueRef::String(&random_text(150, rng)));
    builder.finish()
}

/// A prime larger than any number of documents. Its multiples modulo the number of documents are
/// therefore a permutation.
const STRIDE: u64 = 2_147_483_647;

/// Returns one of `count` events, about 1 KB. Its `shuffled` is a unique number in 0..count that is
/// independent of the `_id`, so that neighbors in an index on `shuffled` are scattered over the
/// collection.
pub(crate) fn make_event(number: u64, count: u64, rng: &mut Rng) -> DocBuf {
    let shuffled = u128::from(number) * u128::from(STRIDE) % u128::from(count.max(1));
    let shuffled = i64::try_from(shuffled).unwrap_or(i64::MAX);
    let mut builder = DocBuilder::with_buffer(Vec::with_capacity(1100));
    builder.append("_id", ValueRef::Int64(number.cast_signed()));
    builder.append("shuffled", ValueRef::Int64(shuffled));
    builder.append("lot", ValueRef::Int64(shuffled / LOT.cast_signed()));
    builder.append("rank", ValueRef::Int32(rng.i32(0..1_000_000)));
    builder.append("kind", ValueRef::String(&format!("kind of event {}", rng.usize(..KINDS))));
    builder.append("amount", ValueRef::Double(f64::from(rng.i32(1..100_000)) / 100.0));
    builder.append("text", ValueRef::String(&random_text(EVENT_TEXT, rng)));
    builder.finish()
}

#[cfg(test)]
mod tests {
    use document::validate;

    use super::*;

    #[test]
    fn documents_are_well_formed_and_as_large_as_said() {
        let rng = &mut Rng::with_seed(1);
        for (bytes, smallest, largest) in [
            (user_record(0, rng), 1000, 1200),
            (user_record(99_999, rng), 1000, 1200),
            (make_order(5, rng), 200, 500),
            (make_sale(5, rng), 200, 300),
            (make_event(5, 100, rng), 950, 1100),
        ] {
            validate(bytes.bytes()).unwrap();
            let length = bytes.bytes().len();
            assert!((smallest..=largest).contains(&length), "{length} bytes: {bytes:?}");
        }
    }

    #[test]
    fn a_record_has_its_id_and_ten_fields() {
        let record = user_record(17, &mut Rng::with_seed(1));
        assert_eq!(record.get("_id").and_then(ValueRef::as_str), Some("user17"));
        for name in FIELD_NAMES {
            let text = record.get(name).and_then(ValueRef::as_str).unwrap();
            assert_eq!(text.len(), FIELD_BYTES, "{name}");
        }
        assert_eq!(record.as_ref().len(), 1 + FIELDS);
    }

    #[test]
    fn each_place_has_one_event() {
        for count in [1, 2, 100, 1000] {
            let shuffled = |number| {
                let event = make_event(number, count, &mut Rng::with_seed(1));
                let Some(ValueRef::Int64(shuffled)) = event.get("shuffled") else {
                    panic!("{event:?} has no field shuffled");
                };
                shuffled
            };
            let mut places: Vec<i64> = (0..count).map(shuffled).collect();
            places.sort_unstable();
            assert_eq!(places, (0..count.cast_signed()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn texts_differ() {
        let rng = &mut Rng::with_seed(1);
        for length in [0, 1, 9, 10, 11, 100] {
            assert_eq!(random_text(length, rng).len(), length);
        }
        assert_ne!(random_text(20, rng), random_text(20, rng));
    }
}
