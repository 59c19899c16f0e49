//! The clock's checkpoint: a fixed-size record from which a later start resumes database time.

/// Identifies one boot of the machine; readings of the boot clock compare only within one boot.
pub type BootId = [u8; 16];

/// The state of a database clock at one instant, from which a later start resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Increases by one with each checkpoint; of the two slots on disk, the one with the larger
    /// number is newer.
    pub number: u64,
    /// Boot id of the machine when `boot_ns` was read.
    pub boot_id: BootId,
    /// Reading of the boot clock at this checkpoint, nanoseconds.
    pub boot_ns: i64,
    /// Database time at this checkpoint, milliseconds since 1970.
    pub ms: i64,
    /// While a jump of the wall clock is unaccepted, rows that expired after this instant must not
    /// be reaped (removed from disk); otherwise `i64::MAX`.
    pub reap_until_ms: i64,
    /// Database time at which an unaccepted jump is accepted automatically.
    pub accepted_at_ms: i64,
    /// Whether this data directory uses a manual clock.
    pub manual: bool,
    /// Wall clock at this checkpoint, milliseconds; `None` in records of older versions.
    pub wall_ms: Option<i64>,
}

/// Encoded size in bytes of a record without the wall clock, as older versions wrote it. The
/// checksum is not included: the file format adds it.
const OLD_SIZE: usize = 8 + 16 + 8 + 8 + 8 + 8 + 1;
const SIZE: usize = OLD_SIZE + 8;

impl Checkpoint {
    /// Encodes the record in big-endian form; the wall clock is appended only when known.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; OLD_SIZE];
        out[..8].copy_from_slice(&self.number.to_be_bytes());
        out[8..24].copy_from_slice(&self.boot_id);
        out[24..32].copy_from_slice(&self.boot_ns.to_be_bytes());
        out[32..40].copy_from_slice(&self.ms.to_be_bytes());
        out[40..48].copy_from_slice(&self.reap_until_ms.to_be_bytes());
        out[48..56].copy_from_slice(&self.accepted_at_ms.to_be_bytes());
        out[56] = u8::from(self.manual);
        out.extend(self.wall_ms.iter().flat_map(|ms| ms.to_be_bytes()));
        out
    }

    /// Decodes a record from the start of `bytes` in each form that [`encode`](Self::encode) may
    /// have written, newest first. The caller selects the form whose checksum follows it.
    pub fn decode(bytes: &[u8]) -> [Option<Self>; 2] {
        let old = Self::decode_old(bytes);
        let wall = bytes.get(OLD_SIZE..SIZE).and_then(|wall| wall.try_into().ok());
        let wall_ms = wall.map(i64::from_be_bytes);
        [old.filter(|_| wall_ms.is_some()).map(|old| Self { wall_ms, ..old }), old]
    }

    /// Decodes a record that has no trailing bytes.
    pub fn decode_whole(bytes: &[u8]) -> Option<Self> {
        Self::decode(bytes).into_iter().flatten().next()
    }

    fn decode_old(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| -> Option<[u8; 8]> { bytes.get(at..at + 8)?.try_into().ok() };
        Some(Self {
            number: u64::from_be_bytes(number(0)?),
            boot_id: bytes.get(8..24)?.try_into().ok()?,
            boot_ns: i64::from_be_bytes(number(24)?),
            ms: i64::from_be_bytes(number(32)?),
            reap_until_ms: i64::from_be_bytes(number(40)?),
            accepted_at_ms: i64::from_be_bytes(number(48)?),
            manual: *bytes.get(56)? == 1,
            wall_ms: None,
        })
    }
}
