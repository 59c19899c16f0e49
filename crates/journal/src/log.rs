//! Index of the journal's segments and their groups, in memory, about 16 bytes per group.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    scan::Position,
    segment::Segment,
    segment_header::{GROUPS_AT, SegmentHeader, SegmentId},
};

/// A segment with groups of entries that were synced together and that startup still reads.
#[derive(Clone, Debug)]
pub(crate) struct LiveSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) header: SegmentHeader,
    /// For each group, the number of its first entry and the group's offset.
    pub(crate) groups: Vec<(u64, u64)>,
    /// Position after the last group.
    pub(crate) end: Position,
}

impl LiveSegment {
    /// Creates the index of a segment without any groups yet.
    pub(crate) fn new(segment: Arc<Segment>, header: SegmentHeader) -> Self {
        let end =
            Position { at: GROUPS_AT, n: header.first.saturating_sub(1), chain: header.chain };
        Self { segment, header, groups: Vec::new(), end }
    }

    /// Adds a group that was found or written at the end and reaches up to `end`.
    pub(crate) fn push_group(&mut self, end: Position) {
        self.groups.push((self.end.n + 1, self.end.at));
        self.end = end;
    }

    /// Returns the start and end offset of the group at an index.
    fn span_of(&self, index: usize) -> Option<(u64, u64)> {
        let (_, at) = *self.groups.get(index)?;
        Some((at, self.groups.get(index + 1).map_or(self.end.at, |next| next.1)))
    }

    /// Returns the bytes of the segment's groups that hold entries after a number.
    fn bytes_after(&self, after: u64) -> u64 {
        if self.end.n <= after {
            return 0;
        }
        // The next entry is in the last group whose first entry is not larger.
        let index = self.groups.partition_point(|(first, _)| *first <= after.saturating_add(1));
        let from = self.groups.get(index.saturating_sub(1)).map_or(self.end.at, |group| group.1);
        self.end.at - from
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GroupLocation {
    pub(crate) segment: Arc<Segment>,
    pub(crate) id: SegmentId,
    /// Offset in the segment of the group's first byte.
    pub(crate) at: u64,
    /// Offset in the segment after the group's last block.
    pub(crate) end: u64,
}

/// All segments of the journal, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) segments: VecDeque<LiveSegment>,
    /// Number of the last entry, for a journal without segments.
    pub(crate) empty_after: u64,
}

impl Log {
    /// Returns the number of the last entry.
    pub(crate) fn last(&self) -> u64 {
        self.segments.back().map_or(self.empty_after, |newest| newest.end.n)
    }

    /// Returns the number of the first entry held, or of the next one to be appended if the journal
    /// is empty.
    pub(crate) fn first(&self) -> u64 {
        self.segments.front().map_or(self.empty_after + 1, |oldest| oldest.header.first)
    }

    /// Locates the group that contains an entry; `None` if it is not held.
    pub(crate) fn group_of(&self, n: u64) -> Option<GroupLocation> {
        let index = self.segments.partition_point(|live| live.header.first <= n);
        let live = self.segments.get(index.checked_sub(1)?)?;
        if live.end.n < n {
            return None;
        }
        let group = live.groups.partition_point(|(first, _)| *first <= n);
        let (at, end) = live.span_of(group.checked_sub(1)?)?;
        Some(GroupLocation { segment: Arc::clone(&live.segment), id: live.header.id(), at, end })
    }

    /// Returns how many of the oldest segments hold only entries below `before`; never the newest.
    pub(crate) fn segments_below(&self, before: u64) -> usize {
        let next_firsts = self.segments.iter().skip(1).map(|live| live.header.first);
        next_firsts.take_while(|first| *first <= before).count()
    }

    /// Returns the bytes of the groups that hold entries after a number.
    pub(crate) fn bytes_after(&self, after: u64) -> u64 {
        self.segments.iter().map(|live| live.bytes_after(after)).sum()
    }

    /// Returns the total size of the segment files.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.segments.iter().map(|live| live.segment.bytes).sum()
    }
}
