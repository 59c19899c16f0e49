//! The rest of a message as it arrives: what it holds is taken from the account before it is read.
//! What it means is not its business.

use memory::{Share, Short};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::{CLAIMED_BYTES, ROOM_AHEAD, TRUSTED_BYTES};

/// How the rest of a message came.
#[derive(Debug)]
pub(crate) enum Arrived {
    /// Whole.
    Whole(Vec<u8>),
    /// Whole, but there was no room for it: only its beginning was kept.
    Refused(Vec<u8>, Short),
    /// It ended early.
    Cut,
}

/// Reads `len` bytes. Beyond a usual batch, memory grows with what arrives, not with what the
/// header claims, and `held` with it: a client that claims much and sends little holds little. What
/// there is no room for is read and forgotten, so that the next message is found.
pub(crate) async fn read_payload(
    stream: &mut (impl AsyncRead + Unpin),
    len: usize,
    held: &mut Share,
) -> std::io::Result<Arrived> {
    let mut payload = Vec::new();
    let mut step = CLAIMED_BYTES;
    while payload.len() < len {
        let wanted = step.min(len - payload.len());
        if let Err(short) = held.set(payload.len() + wanted) {
            // The beginning is kept: its flags say whether the client wants to hear of the refusal.
            let rest = (len - payload.len()) as u64;
            held.shrink(usize::MAX);
            payload.truncate(CLAIMED_BYTES);
            payload.shrink_to_fit();
            let forgotten = tokio::io::copy(&mut stream.take(rest), &mut tokio::io::sink()).await?;
            return Ok(match forgotten == rest {
                true => Arrived::Refused(payload, short),
                false => Arrived::Cut,
            });
        }
        make_room(&mut payload, wanted, len);
        let before = payload.len();
        (&mut *stream).take(wanted as u64).read_to_end(&mut payload).await?;
        if payload.len() < before + wanted {
            return Ok(Arrived::Cut);
        }
        // What is charged doubles from here on: a client holds no more than twice what it sent.
        step = TRUSTED_BYTES.max(payload.len());
    }
    Ok(Arrived::Whole(payload))
}

/// Makes room for `wanted` bytes more of a message of `len`, and when some of it has arrived for up to
/// [`ROOM_AHEAD`] times as much, so that a usual batch is not copied again and again. That is address
/// space: memory is what was written to, and no more of it than the account was charged with.
fn make_room(payload: &mut Vec<u8>, wanted: usize, len: usize) {
    if payload.capacity() - payload.len() < wanted {
        let ahead = (payload.len() * ROOM_AHEAD).min(len - payload.len());
        payload.reserve_exact(wanted.max(ahead));
    }
}

#[cfg(test)]
mod tests {
    use memory::Account;

    use super::*;

    #[tokio::test]
    async fn memory_is_taken_as_it_arrives() {
        let bytes = vec![7; 3_000_000];
        let account = Account::new(10_000_000);
        let mut held = account.share();
        let whole = read_payload(&mut bytes.as_slice(), bytes.len(), &mut held).await.unwrap();
        // No more room than it needs stays beside it.
        assert!(
            matches!(whole, Arrived::Whole(read) if read == bytes && read.capacity() == read.len())
        );
        assert_eq!(held.held_bytes(), bytes.len());
        let cut = read_payload(&mut &bytes[..20_000], bytes.len(), &mut held).await.unwrap();
        assert!(matches!(cut, Arrived::Cut));
        assert!(
            account.used_bytes() <= 16_384 + TRUSTED_BYTES + 65_536,
            "{}",
            account.used_bytes()
        );
    }

    #[tokio::test]
    async fn what_has_no_room_is_forgotten_and_the_next_message_is_found() {
        let bytes = [vec![7; 3_000_000], vec![8; 10]].concat();
        let account = Account::new(1_000_000);
        let (mut stream, mut held) = (bytes.as_slice(), account.share());
        let refused = read_payload(&mut stream, 3_000_000, &mut held).await.unwrap();
        assert!(matches!(refused, Arrived::Refused(kept, Short) if kept == vec![7; CLAIMED_BYTES]));
        assert_eq!((stream, account.used_bytes()), (&[8; 10][..], 0));
    }
}
