//! How an entry is stored: its row's header, then a body that finds the row's key at the end of the
//! entry's own. Entries of unique indexes have the row's key itself for a body. In an index that is
//! by birth the number of the row's creation stands in front of the row's key, so that entries of
//! equal values are in the order in which their items were created.
//!
//! ```text
//!  key    index | components … | row key            index | components …          (unique)
//!         index | components … | birth u64 | row key                              (by birth)
//!  value  header | length of the row key u16        header | row key
//! ```

use bytes::Bytes;
use expiry::{Header, body_checksum};

use crate::{catalog::IndexSpec, error::Error};

/// Bytes of a birth in the key of an entry.
const BIRTH_BYTES: usize = size_of::<u64>();

/// The row that entries are of, as the keys of its entries name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedRow<'a> {
    /// The row's key.
    pub(crate) key: &'a [u8],
    /// The number of its creation; zero while that is not known.
    pub(crate) birth: u64,
}

impl NamedRow<'_> {
    /// Appends the end of an entry's key, which names the row.
    pub(crate) fn push_name(self, index: &IndexSpec, key: &mut Vec<u8>) {
        if index.by_birth {
            key.extend_from_slice(&self.birth.to_be_bytes());
        }
        key.extend_from_slice(self.key);
    }
}

/// The key of an entry in front of the end that names its row.
pub(crate) fn unnamed_key<'a>(index: &IndexSpec, key: &'a [u8], row_key: &[u8]) -> &'a [u8] {
    let named = row_key.len() + if index.by_birth { BIRTH_BYTES } else { 0 };
    key.get(..key.len().saturating_sub(named)).unwrap_or_default()
}

/// Puts the birth of a row into the key of an entry that was made before it was known. The entry is
/// one of an index that is by birth.
pub(crate) fn set_birth(key: &mut Bytes, row_key: &[u8], birth: u64) {
    // The bytes are copied only where something else holds them too.
    let mut bytes = match std::mem::take(key).try_into_mut() {
        Ok(bytes) => bytes,
        Err(shared) => shared.as_ref().into(),
    };
    let at = bytes.len().checked_sub(row_key.len() + BIRTH_BYTES);
    if let Some(place) = at.and_then(|at| bytes.get_mut(at..at + BIRTH_BYTES)) {
        place.copy_from_slice(&birth.to_be_bytes());
    }
    *key = bytes.freeze();
}

/// The body of an entry whose key ends with its row's key: how long that is.
pub(crate) fn naming_body(row_key: &[u8]) -> Bytes {
    let len = u16::try_from(row_key.len()).unwrap_or(u16::MAX);
    Bytes::copy_from_slice(&len.to_be_bytes())
}

/// The row's key at the end of such an entry's key.
pub(crate) fn named_row_key(key: &Bytes, body: &[u8]) -> Result<Bytes, Error> {
    let len = body.first_chunk().map(|len| usize::from(u16::from_be_bytes(*len)));
    let start = len.and_then(|len| key.len().checked_sub(len));
    let start = start.ok_or_else(|| Error::corrupt("an index entry is damaged"))?;
    Ok(key.slice(start..))
}

/// The value of an entry: the header that its row has, in front of its body.
pub(crate) fn entry_value(header: &Header<'_>, body: &[u8]) -> Bytes {
    let mut value = header.with_body(body_checksum(body));
    value.extend_from_slice(body);
    value.into()
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
