//! Walking along the chain of groups in a segment, as far as it holds.

use std::io;

use crate::{
    group::{BLOCK, GroupHead, HEAD_BYTES},
    segment_header::SegmentId,
    window::Window,
};

/// A place between two groups: where the next one begins, and what was before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Byte of the segment.
    pub(crate) at: u64,
    /// Number of the last entry before it.
    pub(crate) n: u64,
    /// Checksum of the last group before it.
    pub(crate) chain: u32,
}

impl Place {
    /// Whether a group with this head was written after what is before the place.
    fn is_followed_by(self, head: &GroupHead) -> bool {
        Some(head.first) == self.n.checked_add(1) && head.before == self.chain
    }
}

/// The group at a place, when it is whole and follows what was before.
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

/// Whether a head tells that a place without a group had one: another stands behind it, which was
/// written when that one was durable, or one that follows other groups than those before it. Only
/// a head at the place itself that follows is of a torn group.
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
