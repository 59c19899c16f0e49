//! How an entry is stored: its row's header, then a body that finds the row's key at the end of the
//! entry's own. Entries of unique indexes have the row's key itself for a body.
//!
//! ```text
//!  key    index | components … | row key        index | components …          (unique)
//!  value  header | length of the row key u16    header | row key
//! ```

use bytes::Bytes;
use expiry::{Header, body_checksum};

use crate::error::Error;

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
