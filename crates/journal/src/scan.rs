//! Follows the chain of groups in a segment.

use std::io;

use crate::{
    group::{BLOCK, GroupHead, HEAD_BYTES},
    read_buffer::ReadBuffer,
    segment_header::SegmentId,
};

/// A position in the journal between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Offset in the segment, in bytes.
    pub(crate) at: u64,
    /// Number of the last entry before the position.
    pub(crate) n: u64,
    /// Checksum of the last group before the position.
    pub(crate) chain: u32,
}

impl Position {
    /// Returns whether the group with this head is the next one of the chain.
    fn is_followed_by(self, head: &GroupHead) -> bool {
        Some(head.first) == self.n.checked_add(1) && head.before == self.chain
    }
}

/// Reads the head of the group at a position; `None` unless it is complete and continues the chain.
pub(crate) fn group_at(
    read_buffer: &mut ReadBuffer<'_>,
    segment: SegmentId,
    position: Position,
) -> io::Result<Option<GroupHead>> {
    let Some(bytes) = read_buffer.bytes_at(position.at, HEAD_BYTES as u64)? else {
        return Ok(None);
    };
    let Some(head) = GroupHead::decode(bytes, segment) else { return Ok(None) };
    if !position.is_followed_by(&head) {
        return Ok(None);
    }
    let entries = read_buffer.bytes_at(position.at + HEAD_BYTES as u64, u64::from(head.length))?;
    Ok(entries.is_some_and(|entries| head.covers(entries)).then_some(head))
}

/// Returns whether a position without a valid group is damage rather than a torn end. It is damage
/// if another head follows, since that was written after this group was durable, or if the head
/// here belongs to another chain. A head here that continues the chain belongs to a torn group.
pub(crate) fn is_damaged_at(
    read_buffer: &mut ReadBuffer<'_>,
    segment: SegmentId,
    position: Position,
) -> io::Result<bool> {
    let mut at = position.at;
    while let Some(bytes) = read_buffer.bytes_at(at, HEAD_BYTES as u64)? {
        if let Some(head) = GroupHead::decode(bytes, segment)
            && (position.at < at || !position.is_followed_by(&head))
        {
            return Ok(true);
        }
        at += BLOCK;
    }
    Ok(false)
}
