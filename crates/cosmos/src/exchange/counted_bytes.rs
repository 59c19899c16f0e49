//! Bytes together with their memory reservation.
//!
//! A response is passed to the connection in parts that share one buffer. A slow client may keep a
//! part, and with it the whole buffer, in memory for long. The reservation is therefore stored with
//! the buffer, and released with the last part.

use bytes::Bytes;
use memory::Share;

/// A buffer with its memory reservation.
struct CountedBuffer {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for CountedBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns the bytes as a shared buffer that owns the reservation, which is released when the last
/// slice is dropped. If the reservation is empty, none is stored.
pub(crate) fn count_bytes(bytes: Vec<u8>, share: Share) -> Bytes {
    match share.held_bytes() {
        0 => Bytes::from(bytes),
        _ => Bytes::from_owner(CountedBuffer { bytes, _share: share }),
    }
}

#[cfg(test)]
mod tests {
    use memory::Account;

    use super::*;

    #[test]
    fn a_part_of_them_holds_all() {
        let account = Account::new(1_000_000);
        let mut whole = count_bytes(vec![7; 300_000], account.share_of(300_000).unwrap());
        let part = whole.split_to(10);
        drop(whole);
        assert_eq!((part.len(), account.used_bytes()), (10, 300_000));
        drop(part);
        assert_eq!(account.used_bytes(), 0);
    }
}
