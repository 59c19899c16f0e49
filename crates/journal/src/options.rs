//! Options for opening a local journal.

/// Options for opening a local journal.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// Bytes of each new segment: a multiple of 4,096, at least [`Self::SEGMENT_BYTES_MIN`].
    /// Existing segments keep their size.
    pub segment_bytes: u64,
    /// Number of spare segments kept ready. Further segments released by truncations are kept while
    /// segments are being taken and the device has ample free space, and are deleted afterwards.
    pub spare_segments: usize,
    /// The last entry known from another source to have been durable; 0 if unknown. A journal that
    /// ends before it is damaged: the journal alone cannot detect that its last group is missing.
    pub known_durable: u64,
    /// Number of the last entry if the journal is empty: a new journal continues after it.
    pub empty_after: u64,
    /// Bytes of the largest group; at least as many as fit into a segment. A group larger than a
    /// segment gets a segment of its own size, which is not reused.
    pub group_bytes: u64,
    /// Entries after `known_durable` also exist in another journal: if they are damaged, the
    /// journal silently drops them and everything after them. For journals whose groups are
    /// appended unsynced ([`Journal::append_unsynced`](crate::Journal::append_unsynced)), of which
    /// a machine crash may leave any part.
    pub durable_elsewhere: bool,
    /// Open despite lost entries, by an operator's decision. Everything after the damage is
    /// dropped; if the oldest entries are lost the journal starts later, see
    /// [`JournalExtent::first`](crate::JournalExtent::first).
    pub accept_loss: bool,
}

impl JournalOptions {
    /// Minimum size of a segment, in bytes.
    pub const SEGMENT_BYTES_MIN: u64 = 32 * 1024;
    /// Maximum size of a segment, in bytes: lengths of groups are 32 bits.
    pub const SEGMENT_BYTES_MAX: u64 = 1 << 31;

    /// Returns the segment size: clamped to the limits, in whole blocks.
    pub(crate) fn whole_segment_bytes(&self) -> u64 {
        let bytes = self.segment_bytes.clamp(Self::SEGMENT_BYTES_MIN, Self::SEGMENT_BYTES_MAX);
        bytes / 4096 * 4096
    }
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 64 * 1024 * 1024,
            spare_segments: 2,
            known_durable: 0,
            empty_after: 0,
            group_bytes: 0,
            durable_elsewhere: false,
            accept_loss: false,
        }
    }
}
