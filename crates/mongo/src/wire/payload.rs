//! Reads the payload of a message. Memory for the payload is reserved from an account before the
//! payload is read. This module does not interpret the payload.

use memory::{InsufficientMemory, Share};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::{CLAIMED_BYTES, ROOM_AHEAD, TRUSTED_BYTES};

/// The result of reading a payload.
#[derive(Debug)]
pub(crate) enum PayloadRead {
    Whole(Vec<u8>),
    /// The message was read completely, but memory was short: only the beginning of the message was
    /// kept.
    Refused(Vec<u8>, InsufficientMemory),
    /// The stream ended before the message was complete.
    Cut,
}

/// Reads `len` bytes. Beyond a typical batch the buffer and its reservation `held` grow with the
/// data that arrives, not with the length in the header: a client that announces much and sends
/// little holds little memory. If memory is short, the data is read and discarded, so that the next
/// message can be read.
pub(crate) async fn read_payload(
    stream: &mut (impl AsyncRead + Unpin),
    len: usize,
    held: &mut Share,
) -> std::io::Result<PayloadRead> {
    let mut payload = Vec::new();
    let mut step = CLAIMED_BYTES;
    while payload.len() < len {
        let wanted = step.min(len - payload.len());
        if let Err(short) = held.set(payload.len() + wanted) {
            // The beginning is kept: its flags tell whether the client wants a reply.
            let rest = (len - payload.len()) as u64;
            held.shrink(usize::MAX);
            payload.truncate(CLAIMED_BYTES);
            payload.shrink_to_fit();
            let forgotten = tokio::io::copy(&mut stream.take(rest), &mut tokio::io::sink()).await?;
            return Ok(match forgotten == rest {
                true => PayloadRead::Refused(payload, short),
                false => PayloadRead::Cut,
            });
        }
        make_room(&mut payload, wanted, len);
        let before = payload.len();
        (&mut *stream).take(wanted as u64).read_to_end(&mut payload).await?;
        if payload.len() < before + wanted {
            return Ok(PayloadRead::Cut);
        }
        // The reservation doubles from here on: a client holds at most twice the bytes that it
        // sent.
        step = TRUSTED_BYTES.max(payload.len());
    }
    Ok(PayloadRead::Whole(payload))
}

/// Grows the buffer by `wanted` bytes, for a message of `len` bytes. Once data has arrived it grows
/// further, up to [`ROOM_AHEAD`] times as much, so that a typical batch is not copied repeatedly.
/// The growth is address space only: memory is taken by the bytes written, which are reserved.
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
        // No excess capacity is kept.
        assert!(
            matches!(whole, PayloadRead::Whole(read) if read == bytes && read.capacity() == read.len())
        );
        assert_eq!(held.held_bytes(), bytes.len());
        let cut = read_payload(&mut &bytes[..20_000], bytes.len(), &mut held).await.unwrap();
        assert!(matches!(cut, PayloadRead::Cut));
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
        assert!(
            matches!(refused, PayloadRead::Refused(kept, InsufficientMemory) if kept == vec![7; CLAIMED_BYTES])
        );
        assert_eq!((stream, account.used_bytes()), (&[8; 10][..], 0));
    }
}
