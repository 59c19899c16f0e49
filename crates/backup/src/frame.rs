//! Frames: kind, lengths, checksum, compressed payload. The content of payloads is opaque here.
//!
//! ```text
//!  kind u8 | packed length u32 | plain length u32 | CRC-32C u32 of it all | payload, zstd
//! ```
//!
//! Numbers are little-endian. The checksum covers the kind, both lengths and the compressed
//! payload. Buffers grow as data arrive; a length field alone reserves no memory.

use std::io::{Read, Write};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::Error;

/// Bytes of a frame's head.
const HEAD: usize = 13;
/// Maximum uncompressed size of a [`FrameKind::Entries`]: a single journal entry may have a
/// gigabyte.
const ENTRIES_MAX: u32 = (1 << 30) + (128 << 20);
/// Maximum uncompressed size of a [`FrameKind::Piece`]: a few megabytes plus one row, which may
/// hold a document before and after a change.
const PIECE_MAX: u32 = 128 << 20;
/// Maximum uncompressed size of all other payloads.
const SMALL_MAX: u32 = 1 << 20;
/// Maximum memory that is reserved for a payload before its data arrive.
const AT_ONCE: usize = 8 << 20;
/// zstd compression level: the fastest regular one.
const LEVEL: i32 = 1;

/// The kind of data in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// The backup's header, encoded as JSON.
    Header,
    /// A piece of a store's image: one encoded journal entry.
    Piece,
    /// A concatenation of encoded journal entries.
    Entries,
    /// Checkpoint of the database clock.
    Clock,
    /// The server's feature switches, encoded as JSON.
    Switches,
    /// The backup's trailer, encoded as JSON.
    Trailer,
    /// The writer failed; the reason as text.
    Failed,
}

impl FrameKind {
    /// All kinds with their codes.
    const ALL: [(u8, Self); 7] = [
        (1, Self::Header),
        (2, Self::Piece),
        (3, Self::Entries),
        (4, Self::Clock),
        (5, Self::Switches),
        (6, Self::Trailer),
        (7, Self::Failed),
    ];

    fn byte(self) -> u8 {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or(0, |(byte, _)| *byte)
    }

    /// Maximum size of the uncompressed payload.
    fn plain_max(self) -> u32 {
        match self {
            Self::Piece => PIECE_MAX,
            Self::Entries => ENTRIES_MAX,
            Self::Header | Self::Clock | Self::Switches | Self::Trailer | Self::Failed => SMALL_MAX,
        }
    }

    /// Maximum size of the compressed payload: incompressible data may grow slightly.
    fn packed_max(self) -> u32 {
        self.plain_max() + (self.plain_max() >> 7)
    }

    fn of_byte(byte: u8) -> Result<Self, Error> {
        let found = Self::ALL.iter().find(|(known, _)| *known == byte);
        let unknown = || Error::damaged(format!("the backup has a frame of unknown kind {byte}"));
        found.map(|(_, kind)| *kind).ok_or_else(unknown)
    }
}

/// Kind and lengths in the head of a frame.
#[derive(Clone, Copy, Debug)]
struct Head {
    kind: FrameKind,
    packed: u32,
    plain: u32,
}

impl Head {
    fn decode(bytes: &[u8; HEAD]) -> Result<Self, Error> {
        let [kind, a, b, c, d, e, f, g, h, ..] = *bytes;
        let head = Self {
            kind: FrameKind::of_byte(kind)?,
            packed: u32::from_le_bytes([a, b, c, d]),
            plain: u32::from_le_bytes([e, f, g, h]),
        };
        if head.kind.packed_max() < head.packed || head.kind.plain_max() < head.plain {
            return Err(Error::damaged("a frame of the backup exceeds the size limit"));
        }
        Ok(head)
    }

    /// Encodes the head with the checksum for this payload.
    fn encode(self, payload: &[u8]) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[0] = self.kind.byte();
        bytes[1..5].copy_from_slice(&self.packed.to_le_bytes());
        bytes[5..9].copy_from_slice(&self.plain.to_le_bytes());
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..9]), payload);
        bytes[9..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// A frame as stored in the stream, with a verified checksum.
pub(crate) struct PackedFrame {
    pub(crate) kind: FrameKind,
    plain: u32,
    head: [u8; HEAD],
    payload: Vec<u8>,
}

impl PackedFrame {
    pub(crate) fn unpack(&self) -> Result<Bytes, Error> {
        let wrong = || Error::damaged("a frame of the backup cannot be decompressed");
        let plain = usize::try_from(self.plain).map_err(|_| wrong())?;
        let mut out = Vec::with_capacity(plain.min(AT_ONCE));
        let unpacking = zstd::stream::read::Decoder::new(self.payload.as_slice());
        let mut unpacking = unpacking.map_err(|_| wrong())?;
        (&mut unpacking).take(AT_ONCE as u64).read_to_end(&mut out).map_err(|_| wrong())?;
        if AT_ONCE <= out.len() {
            // Reserve exactly the rest: an automatically growing vector takes up to twice that.
            out.reserve_exact(plain.saturating_sub(out.len()));
            let rest = plain.saturating_sub(out.len()) as u64;
            (&mut unpacking).take(rest).read_to_end(&mut out).map_err(|_| wrong())?;
        }
        let has_ended = unpacking.read(&mut [0]).map_err(|_| wrong())? == 0;
        if has_ended && out.len() == plain { Ok(out.into()) } else { Err(wrong()) }
    }

    pub(crate) fn write_to(&self, out: &mut impl Write) -> Result<(), Error> {
        out.write_all(&self.head)?;
        out.write_all(&self.payload)?;
        Ok(())
    }

    /// Returns the frame's size in the stream in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (HEAD + self.payload.len()) as u64
    }
}

/// Writes frames and hashes everything written.
pub struct FrameWriter<W> {
    out: W,
    hash: Sha256,
    packer: zstd::bulk::Compressor<'static>,
    /// Number of bytes written to `out`.
    pub(crate) written: u64,
}

impl<W> std::fmt::Debug for FrameWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameWriter").field("written", &self.written).finish_non_exhaustive()
    }
}

impl<W: Write> FrameWriter<W> {
    /// Starts a stream with the line that names the format.
    pub fn begin(mut out: W, line: &str) -> Result<Self, Error> {
        out.write_all(line.as_bytes())?;
        let hash = Sha256::new_with_prefix(line);
        let packer = zstd::bulk::Compressor::new(LEVEL)?;
        Ok(Self { out, hash, packer, written: line.len() as u64 })
    }

    /// Compresses a payload and writes it as one frame.
    pub fn write_frame(&mut self, kind: FrameKind, payload: &[u8]) -> Result<(), Error> {
        let too_large = || Error::Refused("a commit is too large for a backup".to_owned());
        let plain = u32::try_from(payload.len()).ok().filter(|plain| *plain <= kind.plain_max());
        let plain = plain.ok_or_else(too_large)?;
        let packed = self.packer.compress(payload)?;
        let length = u32::try_from(packed.len()).map_err(|_| too_large())?;
        let head = Head { kind, packed: length, plain }.encode(&packed);
        for part in [&head[..], &packed] {
            self.hash.update(part);
            self.out.write_all(part)?;
            self.written += part.len() as u64;
        }
        Ok(())
    }

    /// Returns the hash of everything written so far, in hexadecimal.
    pub fn hash(&self) -> String {
        hex(&self.hash.clone().finalize())
    }

    /// Flushes and returns the underlying writer.
    pub fn finish(mut self) -> Result<W, Error> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads frames and hashes everything read.
pub struct FrameReader<R> {
    input: R,
    hash: Sha256,
    /// Hash of everything before the last frame that was read.
    before: Sha256,
    /// Number of bytes read from `input`.
    pub(crate) read: u64,
}

impl<R> std::fmt::Debug for FrameReader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameReader").field("read", &self.read).finish_non_exhaustive()
    }
}

impl<R: Read> FrameReader<R> {
    /// Reads the first line, of at most `longest` bytes, which names the format. Fails if `known`
    /// refuses the line.
    pub fn begin(
        mut input: R,
        longest: usize,
        known: impl FnOnce(&[u8]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut line = Vec::new();
        let mut byte = [0];
        while line.len() < longest && line.last() != Some(&b'\n') {
            if input.read(&mut byte)? == 0 {
                break;
            }
            line.push(byte[0]);
        }
        known(&line)?;
        let hash = Sha256::new_with_prefix(&line);
        Ok(Self { input, before: hash.clone(), hash, read: line.len() as u64 })
    }

    /// Reads the next frame and verifies its checksum; `None` at the end of the stream.
    pub(crate) fn next_packed(&mut self) -> Result<Option<PackedFrame>, Error> {
        self.next_packed_in(&mut |_| {})
    }

    /// Reads the next frame and verifies its checksum; `None` at the end of the stream. `admit` is
    /// called with the sum of the frame's compressed and uncompressed sizes before memory is
    /// reserved.
    fn next_packed_in(&mut self, admit: &mut dyn FnMut(u64)) -> Result<Option<PackedFrame>, Error> {
        let Some(head) = self.read_head()? else { return Ok(None) };
        let decoded = Head::decode(&head)?;
        admit(u64::from(decoded.packed) + u64::from(decoded.plain));
        self.payload_of(head).map(Some)
    }

    /// Reads the payload for a head, and verifies both.
    fn payload_of(&mut self, head: [u8; HEAD]) -> Result<PackedFrame, Error> {
        let decoded = Head::decode(&head)?;
        let length = usize::try_from(decoded.packed).unwrap_or(usize::MAX);
        let mut payload = Vec::with_capacity(length.min(AT_ONCE));
        (&mut self.input).take(u64::from(decoded.packed)).read_to_end(&mut payload)?;
        if payload.len() < length {
            return Err(Error::damaged("the backup ends early"));
        }
        if decoded.encode(&payload) != head {
            let at = self.read;
            return Err(Error::damaged(format!("the backup is damaged at byte {at}")));
        }
        self.before = self.hash.clone();
        self.hash.update(head);
        self.hash.update(&payload);
        self.read += (HEAD + payload.len()) as u64;
        Ok(PackedFrame { kind: decoded.kind, plain: decoded.plain, head, payload })
    }

    /// Reads the next frame, decompressed if `wanted` accepts its kind; otherwise `skip` skips the
    /// payload, after which the hash is no longer valid.
    pub(crate) fn read_or_skip(
        &mut self,
        wanted: impl Fn(FrameKind) -> bool,
        skip: impl FnOnce(&mut R, u64) -> std::io::Result<()>,
    ) -> Result<Option<(FrameKind, Option<Bytes>)>, Error> {
        let Some(head) = self.read_head()? else { return Ok(None) };
        let decoded = Head::decode(&head)?;
        if wanted(decoded.kind) {
            let packed = self.payload_of(head)?;
            return Ok(Some((decoded.kind, Some(packed.unpack()?))));
        }
        skip(&mut self.input, u64::from(decoded.packed))?;
        Ok(Some((decoded.kind, None)))
    }

    fn read_head(&mut self) -> Result<Option<[u8; HEAD]>, Error> {
        let mut head = [0; HEAD];
        let mut filled = 0;
        while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.input.read(rest) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(Error::damaged("the backup ends early")),
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(head))
    }

    /// Reads and decompresses the next frame; `None` at the end of the stream.
    pub fn next_frame(&mut self) -> Result<Option<(FrameKind, Bytes)>, Error> {
        self.next_frame_in(&mut |_| {})
    }

    /// Reads and decompresses the next frame; `None` at the end of the stream. `admit` is called
    /// with the sum of the frame's compressed and uncompressed sizes before memory is reserved.
    pub(crate) fn next_frame_in(
        &mut self,
        admit: &mut dyn FnMut(u64),
    ) -> Result<Option<(FrameKind, Bytes)>, Error> {
        let Some(packed) = self.next_packed_in(admit)? else { return Ok(None) };
        Ok(Some((packed.kind, packed.unpack()?)))
    }

    /// Returns the hash of everything before the last frame.
    pub fn hash_before(&self) -> String {
        hex(&self.before.clone().finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
