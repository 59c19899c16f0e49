//! What has to be durable so that time goes on where it was: a fixed-size record.

/// Which boot of the machine a reading of the boot clock belongs to.
pub type BootId = [u8; 16];

/// A durable point of database time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Counts checkpoints; the larger of two slots is the newer.
    pub number: u64,
    /// The boot that `boot_ns` belongs to.
    pub boot_id: BootId,
    /// Nanoseconds of the boot clock when this was true.
    pub boot_ns: i64,
    /// Database time then, milliseconds since 1970.
    pub ms: i64,
    /// The last instant that may be reaped while a jump waits to be accepted, or `i64::MAX`.
    pub reap_until_ms: i64,
    /// Database time at which the jump counts as accepted by itself.
    pub accepted_at_ms: i64,
    /// Whether this data directory lives on a manual clock.
    pub manual: bool,
    /// The wall clock when this was true, milliseconds; `None` where an older version wrote it.
    pub wall_ms: Option<i64>,
}

/// Encoded size in bytes without the wall clock, as older versions wrote it, and without a
/// checksum: that belongs to the file.
const OLD_SIZE: usize = 8 + 16 + 8 + 8 + 8 + 8 + 1;
/// Encoded size in bytes.
const SIZE: usize = OLD_SIZE + 8;

impl Checkpoint {
    /// Big-endian form.
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

    /// The forms that [`encode`](Self::encode) may have written, the newest first, by what the
    /// bytes begin with. The checksum after them says which one it was.
    pub fn decode(bytes: &[u8]) -> [Option<Self>; 2] {
        let old = Self::decode_old(bytes);
        let wall = bytes.get(OLD_SIZE..SIZE).and_then(|wall| wall.try_into().ok());
        let wall_ms = wall.map(i64::from_be_bytes);
        [old.filter(|_| wall_ms.is_some()).map(|old| Self { wall_ms, ..old }), old]
    }

    /// What [`encode`](Self::encode) wrote, where nothing stands behind it.
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
