//! Bytes that count as memory of the door until nobody has any of them any more.
//!
//! A response is handed to the connection in parts that share one buffer. The connection may hold a
//! part for long when its client reads slowly, and the whole buffer lives for as long. So the share
//! of memory is inside the bytes, and is given back with the last part.

use bytes::Bytes;
use memory::Share;

/// Bytes with what was taken for them.
struct Held {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The same bytes, which hold the share until the last part of them is dropped. Small ones hold
/// none and cost nothing.
pub(super) fn count_bytes(bytes: Vec<u8>, share: Share) -> Bytes {
    match share.held_bytes() {
        0 => Bytes::from(bytes),
        _ => Bytes::from_owner(Held { bytes, _share: share }),
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
