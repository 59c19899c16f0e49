//! The format of index entries: the value is the row's header and a body that locates the row's key
//! at the end of the entry's key. Entries of unique indexes store the row's key in the body. In an
//! index ordered by creation, the stamp of the row's creation precedes the row's key, so that
//! entries with equal values are ordered by the creation of their items.
//!
//! ```text
//!  key    index | components … | row key            index | components …          (unique)
//!         index | components … | creation u64 | row key                        (by creation)
//!  value  header | length of the row key u16        header | row key
//! ```

use bytes::Bytes;
use expiry::{Header, HeaderDraft, Lifetime, body_checksum};
use store::Stamp;

use crate::{catalog::IndexSpec, error::Error};

/// Size of the creation stamp in an entry's key.
const CREATION_BYTES: usize = size_of::<u64>();

/// The parts of a row that the keys of its index entries contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedRow<'a> {
    pub(crate) key: &'a [u8],
    /// Stamp of the row's creation; zero while unknown.
    pub(crate) creation_stamp: u64,
}

impl NamedRow<'_> {
    /// Appends the suffix of an index entry's key that identifies its row.
    pub(crate) fn push_name(self, index: &IndexSpec, key: &mut Vec<u8>) {
        if index.by_creation {
            key.extend_from_slice(&self.creation_stamp.to_be_bytes());
        }
        key.extend_from_slice(self.key);
    }
}

/// Returns the key of an index entry without the suffix that identifies its row.
pub(crate) fn unnamed_key<'a>(index: &IndexSpec, key: &'a [u8], row_key: &[u8]) -> &'a [u8] {
    let named = row_key.len() + if index.by_creation { CREATION_BYTES } else { 0 };
    key.get(..key.len().saturating_sub(named)).unwrap_or_default()
}

/// Sets the creation stamp in an entry's key, for an index that orders equal values by creation;
/// the key was made before the stamp was known.
pub(crate) fn set_creation_stamp(key: &mut Bytes, row_key: &[u8], creation_stamp: u64) {
    // Copied only if the bytes are shared.
    let mut bytes = match std::mem::take(key).try_into_mut() {
        Ok(bytes) => bytes,
        Err(shared) => shared.as_ref().into(),
    };
    let at = bytes.len().checked_sub(row_key.len() + CREATION_BYTES);
    if let Some(place) = at.and_then(|at| bytes.get_mut(at..at + CREATION_BYTES)) {
        place.copy_from_slice(&creation_stamp.to_be_bytes());
    }
    *key = bytes.freeze();
}

/// Returns the body of an entry whose key ends with its row's key: the length of that key.
pub(crate) fn naming_body(row_key: &[u8]) -> Bytes {
    let len = u16::try_from(row_key.len()).unwrap_or(u16::MAX);
    Bytes::copy_from_slice(&len.to_be_bytes())
}

/// Returns the body of an entry in the index of upcoming expirations, which also has the instant of
/// the write in milliseconds; a header has its second only.
pub(crate) fn timed_body(row_key: &[u8], written_ms: i64) -> Bytes {
    Bytes::from([&naming_body(row_key)[..], &written_ms.to_be_bytes()].concat())
}

/// Returns the instant in the body of an entry in the index of upcoming expirations; `MIN` if the
/// body has none.
pub(crate) fn written_ms(body: &[u8]) -> i64 {
    body.get(2..).and_then(<[u8]>::first_chunk).map_or(i64::MIN, |ms| i64::from_be_bytes(*ms))
}

/// Returns the row's key from the end of an index entry's key; `body` has its length.
pub(crate) fn named_row_key(key: &Bytes, body: &[u8]) -> Result<Bytes, Error> {
    let len = body.first_chunk().map(|len| usize::from(u16::from_be_bytes(*len)));
    let start = len.and_then(|len| key.len().checked_sub(len));
    let start = start.ok_or_else(|| Error::corrupt("an index entry is damaged"))?;
    Ok(key.slice(start..))
}

/// Returns the value of an index entry: the row's header, then the entry's body.
pub(crate) fn entry_value(header: &Header<'_>, body: &[u8]) -> Bytes {
    let mut value = header.with_body(body_checksum(body));
    value.extend_from_slice(body);
    value.into()
}

/// Encodes a record that never expires: a header of the expiry class never, and a body.
pub(crate) fn never_expiring(body: &[u8], entered: Stamp) -> Vec<u8> {
    let draft = HeaderDraft {
        lifetime: Lifetime::Never,
        creation_stamp: None,
        dates: Vec::new(),
        body_checksum: body_checksum(body),
    };
    let mut out = draft.encode_stamped(entered.seq, entered.at_ms.div_euclid(1000));
    out.extend_from_slice(body);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_its_row_at_its_end() {
        let key = Bytes::from_static(b"value row");
        assert_eq!(named_row_key(&key, &naming_body(b"row")).unwrap(), "row");
        for damaged in [&b""[..], &[0], &[0, 10], &[255, 255]] {
            assert!(named_row_key(&key, damaged).is_err(), "{damaged:?}");
        }
    }
}
