//! Frames: the checksummed pieces of which tables and body files consist.
//!
//! ```text
//! kind u8 | compression u8 | raw length u32 | stored length u32 | CRC-32C u32 | payload
//! ```
//!
//! The checksum covers the number of the file, the offset of the frame, the fields before it and the
//! payload, so that a frame that was written elsewhere is not taken for this one. A frame is checked
//! before any of its lengths is used.

use bytes::Bytes;

/// Size of the fields before the payload.
pub(crate) const HEADER_BYTES: usize = 14;
/// A compressed payload must be smaller than the raw one by this fraction.
const LEAST_SAVING: usize = 8;

/// The contents of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Data = 1,
    Index = 2,
    Filter = 3,
    Metadata = 4,
    Bodies = 5,
    BodyMap = 6,
}

/// The compression of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None = 0,
    Lz4 = 1,
}

/// Position of a frame: number of the file and offset.
pub(crate) type Place = (u64, u64);

/// Appends a frame that will be written to this place; returns its length in bytes. The payload is
/// compressed if that saves enough and `try_lz4` is set.
pub(crate) fn encode(
    out: &mut Vec<u8>,
    place: Place,
    kind: FrameKind,
    raw: &[u8],
    try_lz4: bool,
) -> u32 {
    let start = out.len();
    out.resize(start + HEADER_BYTES, 0);
    let mut compression = Compression::None;
    if try_lz4 {
        let payload = out.len();
        out.resize(payload + lz4_flex::block::get_maximum_output_size(raw.len()), 0);
        let packed = lz4_flex::block::compress_into(raw, &mut out[payload..]).unwrap_or(usize::MAX);
        if packed <= raw.len() - raw.len() / LEAST_SAVING {
            compression = Compression::Lz4;
            out.truncate(payload + packed);
        } else {
            out.truncate(payload);
        }
    }
    if compression == Compression::None {
        out.extend_from_slice(raw);
    }
    let stored = out.len() - start - HEADER_BYTES;
    let header = &mut out[start..start + HEADER_BYTES];
    header[0] = kind as u8;
    header[1] = compression as u8;
    header[2..6].copy_from_slice(&(raw.len() as u32).to_le_bytes());
    header[6..10].copy_from_slice(&(stored as u32).to_le_bytes());
    let checksum = checksum_of(place, &out[start..]);
    out[start + 10..start + HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    (out.len() - start) as u32
}

fn checksum_of((file, offset): Place, frame: &[u8]) -> u32 {
    let mut covered = [0; 26];
    covered[..8].copy_from_slice(&file.to_le_bytes());
    covered[8..16].copy_from_slice(&offset.to_le_bytes());
    covered[16..].copy_from_slice(&frame[..10]);
    crc32c::crc32c_append(crc32c::crc32c(&covered), &frame[HEADER_BYTES..])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Returns the length of a frame according to its header, which is not verified yet.
pub(crate) fn length_of(header: &[u8; HEADER_BYTES]) -> u64 {
    HEADER_BYTES as u64 + u64::from(u32_at(header, 6))
}

/// Verifies a whole frame from this place and returns the raw payload, or the problem.
pub(crate) fn decode(place: Place, kind: FrameKind, frame: &Bytes) -> Result<Bytes, &'static str> {
    if frame.len() < HEADER_BYTES {
        return Err("the frame is truncated");
    }
    if u32_at(frame, 10) != checksum_of(place, frame) {
        return Err("the checksum is wrong");
    }
    if frame[0] != kind as u8 {
        return Err("the frame has a different kind than expected");
    }
    if u32_at(frame, 6) as usize != frame.len() - HEADER_BYTES {
        return Err("the length of the frame is wrong");
    }
    let payload = frame.slice(HEADER_BYTES..);
    let raw_len = u32_at(frame, 2) as usize;
    match frame[1] {
        0 if payload.len() == raw_len => Ok(payload),
        // The checksum has verified the raw length, so that the allocation is the written one.
        1 => match lz4_flex::block::decompress(&payload, raw_len) {
            Ok(raw) if raw.len() == raw_len => Ok(Bytes::from(raw)),
            _ => Err("the payload cannot be decompressed"),
        },
        _ => Err("the compression is unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = (7, 4_096);

    #[test]
    fn frames_are_read_back_and_every_flipped_bit_is_detected() {
        for (raw, lz4) in [(vec![7; 900], true), ((0..=255).collect(), true), (vec![], false)] {
            let mut out = Vec::new();
            let len = encode(&mut out, PLACE, FrameKind::Data, &raw, lz4);
            assert_eq!(len as usize, out.len());
            assert_eq!(length_of(out[..HEADER_BYTES].try_into().unwrap()), u64::from(len));
            let frame = Bytes::from(out);
            assert_eq!(decode(PLACE, FrameKind::Data, &frame).unwrap(), raw);
            assert!(decode(PLACE, FrameKind::Index, &frame).is_err());
            for place in [(6, 4_096), (7, 0), (4_096, 7)] {
                assert!(decode(place, FrameKind::Data, &frame).is_err());
            }
            for bit in 0..frame.len() * 8 {
                let mut flipped = frame.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(decode(PLACE, FrameKind::Data, &Bytes::from(flipped)).is_err());
            }
            for len in 0..frame.len() {
                assert!(decode(PLACE, FrameKind::Data, &frame.slice(..len)).is_err());
            }
        }
    }

    #[test]
    fn only_what_shrinks_is_stored_compressed() {
        let (mut small, mut large) = (Vec::new(), Vec::new());
        encode(&mut small, PLACE, FrameKind::Data, &[7; 900], true);
        encode(&mut large, PLACE, FrameKind::Data, &[7; 900], false);
        assert!(small.len() < 100 && large.len() == 900 + HEADER_BYTES);
    }
}
