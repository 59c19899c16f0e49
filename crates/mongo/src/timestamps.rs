//! Timestamps set by the server. As in MongoDB, an empty timestamp at the root of a document that
//! is stored as a whole, by an insert or a replacement, is replaced by the current time, except in
//! `_id`.

use document::{DocBuf, DocRef, Document, Value, ValueRef};
use parking_lot::Mutex;
use pipeline::edit::Edit;

/// Generates strictly increasing timestamps: the upper 32 bits are seconds since 1970, the lower
/// ones a counter.
#[derive(Debug, Default)]
pub(crate) struct Timestamps(Mutex<u64>);

impl Timestamps {
    /// Returns the next timestamp, which is greater than all before even if the clock went back.
    fn next_timestamp(&self, now_ms: i64) -> u64 {
        let seconds = u32::try_from(now_ms.div_euclid(1000)).unwrap_or(0);
        let mut last = self.0.lock();
        *last = (u64::from(seconds) << 32).max(*last) + 1;
        *last
    }

    /// Returns a document with its empty timestamps filled in.
    pub(crate) fn fill_empty(&self, document: DocRef<'_>, now_ms: i64) -> DocBuf {
        let mut tree = document.to_tree();
        self.fill_tree(&mut tree, now_ms);
        tree.to_buf()
    }

    /// Fills in the empty timestamps of a replacement. Documents changed by update operators are
    /// left as they are, as in mongod.
    pub(crate) fn fill_edit(&self, edit: &mut Edit, now_ms: i64) {
        if let Edit::Replacement(document) = edit {
            self.fill_tree(document, now_ms);
        }
    }

    /// Fills in the empty timestamps at the root, each with a different value.
    fn fill_tree(&self, document: &mut Document, now_ms: i64) {
        let empty = |(name, value): &(String, Value)| {
            is_present(name, value.as_ref()).then(|| name.clone())
        };
        let names: Vec<String> = document.fields().iter().filter_map(empty).collect();
        for name in names {
            document.insert(name, Value::Timestamp(self.next_timestamp(now_ms)));
        }
    }
}

/// Returns whether a root field is an empty timestamp to fill in.
pub(crate) fn is_present(name: &str, value: ValueRef<'_>) -> bool {
    matches!(value, ValueRef::Timestamp(0)) && name != "_id"
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[test]
    fn empty_timestamps_at_the_root_are_the_present() {
        let timestamps = Timestamps::default();
        let inner = doc! { "t": Value::Timestamp(0) };
        let document = doc! {
            "_id": Value::Timestamp(0), "a": Value::Timestamp(0), "b": inner.clone(),
            "c": Value::Timestamp(0), "d": Value::Timestamp(7),
        };
        let want = doc! {
            "_id": Value::Timestamp(0), "a": Value::Timestamp(5 << 32 | 1), "b": inner,
            "c": Value::Timestamp(5 << 32 | 2), "d": Value::Timestamp(7),
        };
        assert_eq!(timestamps.fill_empty(document.to_buf().as_ref(), 5_999), want.to_buf());
        // Timestamps never decrease, even if the clock goes back.
        assert_eq!(timestamps.next_timestamp(4_000), 5 << 32 | 3);
        assert_eq!(timestamps.next_timestamp(6_000), 6 << 32 | 1);
    }
}
