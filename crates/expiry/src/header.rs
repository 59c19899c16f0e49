//! The header in front of every stored row and index entry: all that visibility depends on.
//!
//! ```text
//! format u8 | class u8 | dates u8 | stamp u64 | creation u64 | ts i64 | body checksum u32
//!   | deadline i64, class explicit only | dates x (index u32, date i64) | checksum u32
//! ```
//! All integers are big-endian. `class` is the rule of expiry; only class explicit has a
//! deadline of its own. `dates` is the number of pairs of a date index and a date. A stamp is the
//! sequence number of a commit: `stamp` and `ts` are stamp and second of the last write, `creation`
//! is the stamp of the document's creation. The last checksum covers the header, the first one the
//! body.

use std::fmt;

use crate::class::{Class, Lifetime};

/// First byte of every header; a header with another format is treated as damaged.
const FORMAT: u8 = 1;
/// Size of the fixed fields, up to the optional deadline.
const FIXED: usize = 3 + 8 + 8 + 8 + 4;
/// Encoded size of one date: index id and milliseconds.
const DATE: usize = 4 + 8;

/// Stored bytes do not match their checksum or format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored row is damaged")
    }
}

impl std::error::Error for Damaged {}

/// Returns the checksum of a body; writers compute it before their commits get sequence numbers.
pub fn body_checksum(body: &[u8]) -> u32 {
    crc32c::crc32c(body)
}

/// The dates in a header: date index id and date of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dates<'a>(&'a [u8]);

impl<'a> Dates<'a> {
    /// Iterates over index ids and dates in milliseconds.
    pub fn iter(self) -> impl Iterator<Item = (u32, i64)> + use<'a> {
        self.0.chunks_exact(DATE).filter_map(|chunk| {
            let (index, date) = chunk.split_first_chunk()?;
            Some((u32::from_be_bytes(*index), i64::from_be_bytes(*date.first_chunk()?)))
        })
    }
}

/// The header of a stored document, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// Stamp of the last write.
    pub stamp: u64,
    /// Stamp of the write that created the document.
    pub creation_stamp: u64,
    /// Second of the last write, since 1970.
    pub ts: i64,
    /// Expiry class, including the deadline of class explicit.
    pub class: Class,
    /// Earliest date of the document for each TTL index.
    pub dates: Dates<'a>,
    /// Checksum of the body that follows the header.
    pub body_checksum: u32,
}

impl<'a> Header<'a> {
    /// Splits stored bytes into the header and the rest, and verifies the header's checksum.
    pub fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Damaged> {
        Self::try_split(bytes).ok_or(Damaged)
    }

    fn try_split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let [FORMAT, class, dates, ..] = *bytes else { return None };
        let number = |at: usize| -> Option<[u8; 8]> { bytes.get(at..at + 8)?.try_into().ok() };
        let (class, start) = match class {
            0 => (Class::Inherit, FIXED),
            1 => (Class::Never, FIXED),
            2 => (Class::Explicit { deadline: i64::from_be_bytes(number(FIXED)?) }, FIXED + 8),
            _ => return None,
        };
        let end = start + usize::from(dates) * DATE;
        let stored: [u8; 4] = bytes.get(end..end + 4)?.try_into().ok()?;
        // No field is used before the checksum is verified.
        if crc32c::crc32c(bytes.get(..end)?) != u32::from_be_bytes(stored) {
            return None;
        }
        let header = Self {
            stamp: u64::from_be_bytes(number(3)?),
            creation_stamp: u64::from_be_bytes(number(11)?),
            ts: i64::from_be_bytes(number(19)?),
            class,
            dates: Dates(bytes.get(start..end)?),
            body_checksum: u32::from_be_bytes(bytes.get(27..31)?.try_into().ok()?),
        };
        Some((header, bytes.get(end + 4..)?))
    }

    /// Splits a row and verifies the checksums of both header and body.
    pub fn split_row(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Damaged> {
        let (header, body) = Self::split(bytes)?;
        if body_checksum(body) == header.body_checksum { Ok((header, body)) } else { Err(Damaged) }
    }

    /// Returns whether two headers agree in all that decides expiry; the headers of an index entry
    /// and of its row have to.
    pub fn same_expiry(&self, other: &Header<'_>) -> bool {
        self.stamp == other.stamp
            && self.creation_stamp == other.creation_stamp
            && self.ts == other.ts
            && self.class == other.class
            && self.dates == other.dates
    }
}

/// A header whose commit is not stamped yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderDraft {
    /// The lifetime that the document's `ttl` requests.
    pub lifetime: Lifetime,
    /// Creation stamp of the replaced version; `None` for a new document.
    pub creation_stamp: Option<u64>,
    /// Earliest date of the document for each TTL index.
    pub dates: Vec<(u32, i64)>,
    /// Checksum of the document's body.
    pub body_checksum: u32,
}

impl HeaderDraft {
    /// Returns the size of the encoded header, which does not depend on the stamp.
    pub fn header_len(&self) -> usize {
        // A header contains a deadline only for class explicit.
        let deadline = if matches!(self.lifetime, Lifetime::After(_)) { 8 } else { 0 };
        FIXED + deadline + self.dates.len().min(usize::from(u8::MAX)) * DATE + 4
    }

    /// Encodes the header for a write with this stamp in second `ts`.
    pub fn encode_stamped(&self, stamp: u64, ts: i64) -> Vec<u8> {
        let class = self.lifetime.class_at(ts);
        encode_header(
            stamp,
            self.creation_stamp.unwrap_or(stamp),
            ts,
            class,
            &self.dates,
            self.body_checksum,
        )
    }
}

impl Header<'_> {
    /// Encodes this header with other dates, for building a date index.
    pub fn with_dates(&self, dates: &[(u32, i64)]) -> Vec<u8> {
        encode_header(
            self.stamp,
            self.creation_stamp,
            self.ts,
            self.class,
            dates,
            self.body_checksum,
        )
    }

    /// Encodes this header for another body, such as an index entry's.
    pub fn with_body(&self, body_checksum: u32) -> Vec<u8> {
        let dates: Vec<_> = self.dates.iter().collect();
        encode_header(self.stamp, self.creation_stamp, self.ts, self.class, &dates, body_checksum)
    }
}

/// Encodes a header with its checksum.
fn encode_header(
    stamp: u64,
    creation_stamp: u64,
    ts: i64,
    class: Class,
    dates: &[(u32, i64)],
    body_checksum: u32,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(FIXED + 12 + dates.len() * DATE);
    let code = match class {
        Class::Inherit => 0,
        Class::Never => 1,
        Class::Explicit { .. } => 2,
    };
    // The number of date indexes of a collection is limited well below 256.
    out.extend_from_slice(&[FORMAT, code, u8::try_from(dates.len()).unwrap_or(u8::MAX)]);
    out.extend_from_slice(&stamp.to_be_bytes());
    out.extend_from_slice(&creation_stamp.to_be_bytes());
    out.extend_from_slice(&ts.to_be_bytes());
    out.extend_from_slice(&body_checksum.to_be_bytes());
    if let Class::Explicit { deadline } = class {
        out.extend_from_slice(&deadline.to_be_bytes());
    }
    for (index, date) in dates.iter().take(usize::from(u8::MAX)) {
        out.extend_from_slice(&index.to_be_bytes());
        out.extend_from_slice(&date.to_be_bytes());
    }
    let checksum = crc32c::crc32c(&out);
    out.extend_from_slice(&checksum.to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip_and_every_flipped_bit_is_noticed() {
        for (lifetime, dates) in [
            (Lifetime::Inherit, vec![]),
            (Lifetime::Never, vec![(3, -5)]),
            (Lifetime::After(20), vec![(1, 7), (u32::MAX, i64::MAX)]),
        ] {
            let body = b"body";
            let draft = HeaderDraft {
                lifetime,
                creation_stamp: Some(4),
                dates: dates.clone(),
                body_checksum: body_checksum(body),
            };
            let mut row = draft.encode_stamped(9, 1000);
            assert_eq!(row.len(), draft.header_len());
            row.extend_from_slice(body);
            let (header, rest) = Header::split_row(&row).unwrap();
            assert_eq!(
                (header.stamp, header.creation_stamp, header.ts, rest),
                (9, 4, 1000, &body[..])
            );
            assert_eq!(header.class, lifetime.class_at(1000));
            assert_eq!(header.dates.iter().collect::<Vec<_>>(), dates);
            for bit in 0..row.len() * 8 {
                let mut flipped = row.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Header::split_row(&flipped), Err(Damaged), "bit {bit}");
            }
            for end in 0..row.len() {
                assert_eq!(Header::split_row(&row[..end]), Err(Damaged), "cut at {end}");
            }
        }
    }
}
