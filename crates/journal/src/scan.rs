//! Follows the chain of groups in a segment.

use std::io;

use crate::{
    group::{BLOCK, GroupHead, HEAD_BYTES},
    segment_header::SegmentId,
    window::Window,
};

/// A position in the journal between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Offset in the segment, in bytes.
    pub(crate) at: u64,
    /// Number of the last entry before the position.
    pub(crate) n: u64,
    /// Checksum of the last group before the position.
    pub(crate) chain: u32,
}

impl Place {
    /// Returns whether the group with this head continues the chain at this position.
    fn is_followed_by(self, head: &GroupHead) -> bool {
        Some(head.first) == self.n.checked_add(1) && head.before == self.chain
    }
}

/// Reads the head of the group at a position; `None` unless it is complete and continues the chain.
pub(crate) fn group_at(
    window: &mut Window<'_>,
    segment: SegmentId,
    place: Place,
) -> io::Result<Option<GroupHead>> {
    let Some(bytes) = window.bytes_at(place.at, HEAD_BYTES as u64)? else { return Ok(None) };
    let Some(head) = GroupHead::decode(bytes, segment) else { return Ok(None) };
    if !place.is_followed_by(&head) {
        return Ok(None);
    }
    let entries = window.bytes_at(place.at + HEAD_BYTES as u64, u64::from(head.length))?;
    Ok(entries.is_some_and(|entries| head.covers(entries)).then_some(head))
}

/// Returns whether a position without a valid group is damage rather than a torn end. It is damage
/// if another head follows, since that was written after this group was durable, or if the head
/// here belongs to another chain. A head here that continues the chain belongs to a torn group.
pub(crate) fn is_damaged_at(
    window: &mut Window<'_>,
    segment: SegmentId,
    place: Place,
) -> io::Result<bool> {
    let mut at = place.at;
    while let Some(bytes) = window.bytes_at(at, HEAD_BYTES as u64)? {
        if let Some(head) = GroupHead::decode(bytes, segment)
            && (place.at < at || !place.is_followed_by(&head))
        {
            return Ok(true);
        }
        at += BLOCK;
    }
    Ok(false)
}
