//! The items of the REST workloads as JSON. All functions are pure; the caller provides the random
//! generator.

use std::fmt::Write;

use fastrand::Rng;

use crate::{limits::FIELD_BYTES, records};

/// Number of items per partition key.
pub(crate) const PARTITION_ITEMS: u64 = 1000;
/// Exclusive upper bound of the values by which items are sorted.
const ORDER: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// The container's default; no `ttl`.
    Default,
    /// Never expires (`ttl` is -1).
    Endless,
    /// Until the start of this second since 1970. The `ttl` is the difference between this second
    /// and the second of the write.
    Until(i64),
}

impl Lifetime {
    /// Returns the `ttl` of an item that is written in this second since 1970.
    pub(crate) fn ttl_at(self, now: i64) -> Option<i64> {
        match self {
            Self::Default => None,
            Self::Endless => Some(-1),
            Self::Until(second) => Some((second - now).max(1)),
        }
    }
}

/// Returns the `id` of an item.
pub(crate) fn item_id(number: u64) -> String {
    format!("user{number}")
}

/// Returns the partition key of an item; consecutive numbers share it.
pub(crate) fn partition_key(number: u64) -> String {
    format!("p{}", number / PARTITION_ITEMS)
}

/// Returns the number of partition keys of `count` items.
pub(crate) fn count_partitions(count: u64) -> u64 {
    count.div_ceil(PARTITION_ITEMS)
}

/// Returns a partition key in its header form, a JSON array.
pub(crate) fn partition_header(partition: &str) -> String {
    format!("[\"{partition}\"]")
}

/// Appends an item of 1 KB: a number to sort by and ten texts. Formatted directly, because no text
/// needs escaping.
pub(crate) fn write_item(
    out: &mut String,
    id: &str,
    partition: &str,
    ttl: Option<i64>,
    rng: &mut Rng,
) {
    let order = rng.u32(..ORDER);
    // Writing to memory cannot fail.
    let _ = write!(out, r#"{{"id":"{id}","pk":"{partition}","n":{order}"#);
    for name in records::FIELD_NAMES {
        let _ = write!(out, r#","{name}":"{}""#, records::random_text(FIELD_BYTES, rng));
    }
    let _ = match ttl {
        None => write!(out, "}}"),
        Some(ttl) => write!(out, r#","ttl":{ttl}}}"#),
    };
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn items_are_json() {
        for (life, ttl) in [
            (Lifetime::Default, Value::Null),
            (Lifetime::Endless, Value::from(-1)),
            (Lifetime::Until(160), Value::from(60)),
            (Lifetime::Until(90), Value::from(1)),
        ] {
            let mut text = String::new();
            write_item(
                &mut text,
                &item_id(1999),
                &partition_key(1999),
                life.ttl_at(100),
                &mut Rng::with_seed(1),
            );
            let item: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&item["id"], &item["pk"]), (&"user1999".into(), &"p1".into()));
            assert_eq!(item["ttl"], ttl);
            assert!(item["n"].as_u64().unwrap() < u64::from(ORDER));
            assert!((1000..1300).contains(&text.len()), "{}", text.len());
        }
    }

    #[test]
    fn partitions_are_counted() {
        for (count, want) in [(1, 1), (1000, 1), (1001, 2), (100_000, 100)] {
            assert_eq!(count_partitions(count), want);
            assert_eq!(partition_key(count - 1), format!("p{}", want - 1));
        }
        assert_eq!(partition_header("p1"), "[\"p1\"]");
    }
}
