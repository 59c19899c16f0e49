//! Length-prefixed messages on a link, for calls that forward no client's stream:
//!
//! ```text
//! length (u32), that many bytes
//! ```

use std::io;

use cosmos::Duplex;
use memory::Share;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Maximum size of a message between nodes. It is the maximum size of a message of the MongoDB API.
const PIECE_MAX: u32 = 48 << 20;

/// Writes a message without flushing.
pub(crate) async fn write_frame(
    stream: &mut (impl Duplex + ?Sized),
    piece: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(piece.len()).map_err(io::Error::other)?;
    stream.write_u32(length).await?;
    stream.write_all(piece).await
}

/// Reads a message. `held` reserves the memory of the message once its length is known.
pub(crate) async fn read_frame(
    stream: &mut (impl Duplex + ?Sized),
    held: &mut Share,
) -> io::Result<Vec<u8>> {
    let length = stream.read_u32().await?;
    if PIECE_MAX < length {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "piece too long"));
    }
    held.grow(usize::try_from(length).map_err(io::Error::other)?)?;
    // Grows as data arrive: a length alone allocates no memory.
    let mut piece = Vec::new();
    let read = stream.take(u64::from(length)).read_to_end(&mut piece).await?;
    if u32::try_from(read).ok() != Some(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use memory::Account;

    use super::*;

    #[tokio::test]
    async fn pieces_come_whole_and_count_while_they_come() {
        let account = Account::new(1_000_000);
        let (mut near, mut far) = tokio::io::duplex(2_000_000);
        let piece = vec![7; 300_000];
        write_frame(&mut near, &piece).await.unwrap();
        let mut held = account.share();
        assert_eq!(read_frame(&mut far, &mut held).await.unwrap(), piece);
        assert!(300_000 <= account.used_bytes());
        drop(held);
        for (head, body) in [(PIECE_MAX + 1, 0), (2_000_000, 0), (10, 9)] {
            let (mut near, mut far) = tokio::io::duplex(1_000);
            near.write_u32(head).await.unwrap();
            near.write_all(&vec![0; body]).await.unwrap();
            drop(near);
            // The messages are too long, larger than the account, and incomplete.
            assert!(read_frame(&mut far, &mut account.share()).await.is_err(), "{head}");
        }
        assert_eq!(account.used_bytes(), 0);
    }
}
