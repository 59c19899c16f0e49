//! How a local journal is opened.

/// How a local journal is opened.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// Bytes of each new segment, a multiple of 4,096 and at least [`Self::SEGMENT_BYTES_MIN`];
    /// those that are there keep their size.
    pub segment_bytes: u64,
    /// Segments that are kept ready; more that are cut off are kept as long as segments are taken
    /// and the device has plenty of room, and give their space back then.
    pub spare_segments: usize,
    /// The last entry that is known from elsewhere to have been durable: an end before it is
    /// damage. The journal itself cannot see that its last group is missing. 0 knows nothing.
    pub known_durable: u64,
    /// The number of the last entry where there is none: a new journal goes on after it.
    pub empty_after: u64,
    /// Bytes of the largest group; less than fits into a segment counts as that. One that needs more
    /// room than a segment has gets one of its own size, which is not used again.
    pub group_bytes: u64,
    /// What is behind `known_durable` is somewhere else, too: where it is damaged, that and all that
    /// follows is dropped, and nothing is said. For journals whose groups are kept
    /// ([`Journal::keep`](crate::Journal::keep)), of which a stop of the machine leaves any parts.
    pub kept_elsewhere: bool,
    /// Open although entries are lost: an operator has looked at it. What follows the damage is
    /// dropped; where the oldest entries are lost the journal begins later, which
    /// [`Held::first`](crate::Held::first) tells.
    pub accept_loss: bool,
}

impl JournalOptions {
    /// The smallest size of a segment, bytes.
    pub const SEGMENT_BYTES_MIN: u64 = 32 * 1024;
    /// The largest size of a segment, bytes: lengths of groups are 32 bits.
    pub const SEGMENT_BYTES_MAX: u64 = 1 << 31;

    /// The size that segments get: within the limits, in whole blocks.
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
            kept_elsewhere: false,
            accept_loss: false,
        }
    }
}
