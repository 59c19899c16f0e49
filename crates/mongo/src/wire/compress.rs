//! OP_COMPRESSED. A message states its decompressed size. The output is bounded by this size, and
//! the size by the message limit, so that a small message cannot expand without bound. An output of
//! a different size is refused.
//!
//! ```text
//! original op code: i32, size without header: i32, compressor: u8, compressed bytes
//! ```

use std::io::Read;

use super::{HEADER_BYTES, Header, Malformed, OpCode};
use crate::limits::MAX_MESSAGE_BYTES;

/// A compression method, numbered as in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compressor {
    /// No compression, which the protocol defines for tests.
    Noop = 0,
    Snappy = 1,
    Zlib = 2,
    Zstd = 3,
}

impl Compressor {
    /// The offered methods, in order of preference.
    pub(crate) const OFFERED: [Self; 3] = [Self::Zstd, Self::Snappy, Self::Zlib];

    /// Returns the compressor's name in a handshake.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the compressor to which the protocol assigns this number.
    fn from_id(id: u8) -> Option<Self> {
        [Self::Noop, Self::Snappy, Self::Zlib, Self::Zstd].into_iter().find(|it| *it as u8 == id)
    }
}

/// Returns the decompressed size that a message states, in bytes; 0 if the message is not
/// compressed. Memory for this size is reserved before decompression.
pub(crate) fn claimed_size(header: &Header, payload: &[u8]) -> usize {
    if OpCode::from_number(header.code) != Some(OpCode::Compressed) {
        return 0;
    }
    let size = payload.get(4..8).and_then(|size| size.try_into().ok()).map(i32::from_le_bytes);
    let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    size.min(MAX_MESSAGE_BYTES)
}

/// Returns the message inside a compressed one: its header, its payload and the compressor, which
/// the reply uses, too. Nested compression is refused, since each level could expand the data to
/// the bound.
pub(super) fn decompress(
    header: &Header,
    payload: &[u8],
) -> Result<(Header, Vec<u8>, Compressor), Malformed> {
    let bad = || Malformed::fatal("a malformed compressed message");
    let number = |at: usize| -> Option<i32> {
        Some(i32::from_le_bytes(payload.get(at..at + 4)?.try_into().ok()?))
    };
    let code = number(0).ok_or_else(bad)?;
    let size = number(4).and_then(|size| usize::try_from(size).ok()).ok_or_else(bad)?;
    let compressor = payload.get(8).copied().and_then(Compressor::from_id).ok_or_else(bad)?;
    // Checked before anything is decompressed, since it determines the buffer size.
    if MAX_MESSAGE_BYTES < size.saturating_add(HEADER_BYTES) || code == OpCode::Compressed as i32 {
        return Err(bad());
    }
    let data = payload.get(9..).unwrap_or_default();
    let out = decompress_bytes(compressor, data, size).filter(|out| out.len() == size);
    let out = out.ok_or_else(bad)?;
    let inner = Header { len: HEADER_BYTES + size, code, ..*header };
    Ok((inner, out, compressor))
}

/// Decompresses at most `size` + 1 bytes. If the output has the last of these bytes, the data is
/// too long.
fn decompress_bytes(compressor: Compressor, data: &[u8], size: usize) -> Option<Vec<u8>> {
    let limit = u64::try_from(size).ok()?.checked_add(1)?;
    // The capacity is exactly the claimed size, so that no more than the reservation is allocated.
    let mut out = Vec::with_capacity(size.saturating_add(1));
    match compressor {
        Compressor::Noop => out.extend_from_slice(data),
        Compressor::Snappy => {
            // Snappy states its decompressed size before anything is allocated.
            if snap::raw::decompress_len(data).ok()? != size {
                return None;
            }
            out = snap::raw::Decoder::new().decompress_vec(data).ok()?;
        }
        Compressor::Zlib => {
            // Decompression stops one byte after the claimed size.
            flate2::read::ZlibDecoder::new(data).take(limit).read_to_end(&mut out).ok()?;
        }
        Compressor::Zstd => {
            let decoder = zstd::stream::read::Decoder::new(data).ok()?;
            decoder.take(limit).read_to_end(&mut out).ok()?;
        }
    }
    Some(out)
}

/// Returns a finished message in compressed form, or unchanged if compression fails.
pub(crate) fn compress(message: Vec<u8>, compressor: Compressor) -> Vec<u8> {
    let Some((head, body)) = message.split_first_chunk::<HEADER_BYTES>() else { return message };
    let Ok(header) = Header::read(head) else { return message };
    let Some(data) = compress_bytes(compressor, body) else { return message };
    let len = HEADER_BYTES + 9 + data.len();
    let mut out = Vec::with_capacity(len);
    // The ids are those of the original message.
    Header { len, code: OpCode::Compressed as i32, ..header }.write(&mut out);
    out.extend_from_slice(&header.code.to_le_bytes());
    out.extend_from_slice(&i32::try_from(body.len()).unwrap_or(i32::MAX).to_le_bytes());
    out.push(compressor as u8);
    out.extend_from_slice(&data);
    out
}

/// Compresses the payload of a message at the fastest level: a reply is read only once.
fn compress_bytes(compressor: Compressor, body: &[u8]) -> Option<Vec<u8>> {
    match compressor {
        Compressor::Noop => Some(body.to_vec()),
        Compressor::Snappy => snap::raw::Encoder::new().compress_vec(body).ok(),
        Compressor::Zlib => {
            let mut out = Vec::new();
            let level = flate2::Compression::fast();
            flate2::read::ZlibEncoder::new(body, level).read_to_end(&mut out).ok()?;
            Some(out)
        }
        Compressor::Zstd => zstd::stream::encode_all(body, 1).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let len = HEADER_BYTES + body.len();
        Header { len, request_id: 1, response_to: 2, code: OpCode::Msg as i32 }.write(&mut out);
        out.extend_from_slice(body);
        out
    }

    fn split(message: &[u8]) -> (Header, &[u8]) {
        let (head, payload) = message.split_first_chunk().unwrap();
        (Header::read(head).unwrap(), payload)
    }

    #[test]
    fn every_compressor_round_trips_and_lies_about_sizes_are_refused() {
        let body = b"abcabcabcabcabcabc".repeat(50);
        for compressor in [Compressor::Noop, Compressor::Snappy, Compressor::Zlib, Compressor::Zstd]
        {
            let packed = compress(message(&body), compressor);
            let (header, payload) = split(&packed);
            let (inner, out, found) = decompress(&header, payload).unwrap();
            assert_eq!((inner.code, found), (OpCode::Msg as i32, compressor));
            assert_eq!(out, body);
            for lie in [0, 1, body.len() as i32 - 1, body.len() as i32 + 1, -1, i32::MAX] {
                let mut payload = payload.to_vec();
                payload[4..8].copy_from_slice(&lie.to_le_bytes());
                assert!(decompress(&header, &payload).is_err(), "{compressor:?} {lie}");
            }
            for end in 0..payload.len() {
                assert!(decompress(&header, &payload[..end]).is_err(), "{compressor:?} {end}");
            }
        }
    }

    #[test]
    fn bombs_nesting_and_unknown_compressors_are_refused() {
        let bomb = compress(message(&vec![0; 40_000_000]), Compressor::Zlib);
        let (header, payload) = split(&bomb);
        let mut small = payload.to_vec();
        small[4..8].copy_from_slice(&1000_i32.to_le_bytes());
        assert!(decompress(&header, &small).is_err());
        let mut nested = payload.to_vec();
        nested[..4].copy_from_slice(&(OpCode::Compressed as i32).to_le_bytes());
        assert!(decompress(&header, &nested).is_err());
        let mut unknown = payload.to_vec();
        unknown[8] = 9;
        assert!(decompress(&header, &unknown).is_err());
    }
}
