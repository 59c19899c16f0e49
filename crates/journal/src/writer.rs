//! The writer of the newest segment: appends groups, starts segments and writes their headers. The
//! first failed write or sync stops it, because the content of the disk is then unknown.
//!
//! A group never spans two segments: it is written with one call, verified in one place and
//! truncated as a whole. If the rest of a segment is too small for a group it stays empty; the next
//! header records that.

use std::{io, sync::Arc};

use parking_lot::Mutex;
use store::{Error, Kind};

use crate::{
    contract::AppendFailure,
    entry::EncodedEntry,
    errors::{from_io, invalid},
    group::{BLOCK, GroupHead, HEAD_BYTES, padded_bytes},
    log::{LiveSegment, Log},
    pool::Pool,
    scan::Position,
    segment::Segment,
    segment_header::{FLOORS_BYTES_MAX, GROUPS_AT, SegmentHeader, SegmentId, new_salt},
};

/// Padding from the end of a group to the next block.
const ZEROS: [u8; BLOCK as usize] = [0; BLOCK as usize];

/// The writer's state, held under a lock while writing.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) log: Arc<Mutex<Log>>,
    pub(crate) pool: Arc<Pool>,
    /// Generation of the newest segment so far.
    pub(crate) generation: u64,
    /// The floors that were set last, which each new segment header stores.
    pub(crate) floors: Vec<u8>,
    /// Maximum total size of a group's entries, in bytes.
    pub(crate) group_bytes_max: usize,
    /// Whether the newest segment has groups that are not synced; no other segment has.
    pub(crate) unsynced: bool,
    /// The error that stopped writing, if any.
    pub(crate) stopped: Option<Error>,
}

/// Position of the next group.
struct Target {
    segment: Arc<Segment>,
    id: SegmentId,
    position: Position,
}

/// Returns the bytes of entries that fit into a segment of this size.
pub(crate) fn group_bytes_max(segment_bytes: u64) -> usize {
    usize::try_from(segment_bytes - GROUPS_AT).unwrap_or(usize::MAX) - HEAD_BYTES
}

impl Writer {
    /// Appends and syncs a group; returns the number of its last entry.
    pub(crate) fn append(&mut self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        let written = self.write(group, true)?;
        self.unsynced = false;
        Ok(written)
    }

    /// Appends a group that the next sync makes durable; returns the number of its last entry.
    pub(crate) fn append_unsynced(&mut self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        let written = self.write(group, false)?;
        self.unsynced = true;
        Ok(written)
    }

    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        if !self.unsynced {
            return Ok(());
        }
        self.check_running()?;
        let newest = self.log.lock().segments.back().map(|live| Arc::clone(&live.segment));
        let synced = newest.map_or(Ok(()), |segment| segment.file.sync());
        synced.map_err(|error| self.stop("sync the journal", &error))?;
        self.unsynced = false;
        Ok(())
    }

    fn write(&mut self, group: &[EncodedEntry], sync: bool) -> Result<u64, AppendFailure> {
        self.check_running().map_err(AppendFailure::Refused)?;
        let bytes = self.check_group(group).map_err(AppendFailure::Refused)?;
        let room = padded_bytes(bytes as u64);
        let target = self.target_with(room).map_err(AppendFailure::Refused)?;
        let Target { segment, id, position } = target;
        let too_large = || AppendFailure::Refused(invalid("a group is too large"));
        let head = GroupHead::new(id, position.chain, group).ok_or_else(too_large)?;
        let head_bytes = head.encode();
        let mut pieces = Vec::with_capacity(group.len() + 2);
        pieces.push(&head_bytes[..]);
        pieces.extend(group.iter().map(|entry| &entry.bytes()[..]));
        let padding = usize::try_from(room).unwrap_or(0).saturating_sub(HEAD_BYTES + bytes);
        pieces.push(ZEROS.get(..padding).unwrap_or_default());
        let synced = || if sync { segment.file.sync() } else { Ok(()) };
        let written = segment.file.write_at(&pieces, position.at).and_then(|()| synced());
        if let Err(error) = written {
            return Err(AppendFailure::Unknown(self.stop("write to the journal", &error)));
        }
        let end = Position { at: position.at + room, n: head.last, chain: head.checksum };
        if let Some(newest) = self.log.lock().segments.back_mut() {
            newest.push_group(end);
        }
        Ok(head.last)
    }

    /// Drops segments with only entries below `before` and stores these floors.
    pub(crate) fn truncate_before(&mut self, before: u64, floors: &[u8]) -> Result<(), Error> {
        self.check_running()?;
        if FLOORS_BYTES_MAX < floors.len() {
            let text = format!(
                "the floors have {} bytes; the maximum is {FLOORS_BYTES_MAX}",
                floors.len()
            );
            return Err(invalid(text));
        }
        floors.clone_into(&mut self.floors);
        let (count, newest) = {
            let log = self.log.lock();
            let count = log.segments_below(before);
            let tail = log.segments.get(count).map(|live| live.header.generation);
            let newest = log.segments.back().zip(tail).map(|(live, tail)| {
                let revision = live.header.revision + 1;
                let floors = self.floors.clone();
                let header = SegmentHeader { revision, tail, floors, ..live.header };
                (Arc::clone(&live.segment), header)
            });
            (count, newest)
        };
        let Some((segment, header)) = newest.filter(|_| 0 < count) else { return Ok(()) };
        // Durable before a dropped segment is reused or deleted: else startup would miss entries.
        let written = segment.write_header(&header);
        written.map_err(|error| self.stop("write to the journal", &error))?;
        let released: Vec<LiveSegment> = {
            let mut log = self.log.lock();
            if let Some(newest) = log.segments.back_mut() {
                newest.header = header;
            }
            log.segments.drain(..count).collect()
        };
        released.into_iter().for_each(|live| self.pool.release(live.segment));
        Ok(())
    }

    fn check_running(&self) -> Result<(), Error> {
        let Some(why) = &self.stopped else { return Ok(()) };
        let text = format!("the journal is closed to writes until it is reopened: {why}");
        Err(Error::new(Kind::Unavailable, text))
    }

    /// Stops all writing with this error, because the contents of the disk are unknown.
    fn stop(&mut self, context: &str, error: &io::Error) -> Error {
        // Not `Full` even on a full disk: `Full` would mean that nothing was written.
        let error = Error::new(Kind::Unavailable, from_io(context, error).message);
        self.stopped = Some(error.clone());
        error
    }

    /// Checks that a group continues at the journal's end and fits; returns its bytes.
    fn check_group(&self, group: &[EncodedEntry]) -> Result<usize, Error> {
        let last = self.log.lock().last();
        check_numbers(last, group)?;
        let bytes: usize = group.iter().map(|entry| entry.bytes().len()).sum();
        let most = self.group_bytes_max;
        if most < bytes {
            let text =
                format!("a group of {bytes} bytes is too large for the journal: {most} at most");
            return Err(invalid(text));
        }
        Ok(bytes)
    }

    /// Returns the newest segment, or starts the next if this many bytes do not fit.
    fn target_with(&mut self, room: u64) -> Result<Target, Error> {
        let newest = self.log.lock().segments.back().map(|live| Target {
            segment: Arc::clone(&live.segment),
            id: live.header.id(),
            position: live.end,
        });
        match newest {
            Some(newest) if newest.position.at + room <= newest.segment.bytes => Ok(newest),
            _ => self.begin_segment(GROUPS_AT + room),
        }
    }

    /// Starts a new segment of at least this many bytes. If none can be created, nothing changes.
    fn begin_segment(&mut self, bytes: u64) -> Result<Target, Error> {
        let spare = self.pool.take(bytes);
        let segment = spare.map_err(|error| from_io("create a segment of the journal", &error))?;
        // The new header records where the groups before it end, so they have to be durable.
        self.sync()?;
        let header = {
            let log = self.log.lock();
            let generation = self.generation + 1;
            let oldest = log.segments.front();
            let newest = log.segments.back();
            SegmentHeader {
                number: segment.number,
                generation,
                revision: 0,
                salt: new_salt(),
                bytes: segment.bytes,
                first: log.last() + 1,
                before_end: newest.map_or(0, |live| live.end.at),
                tail: oldest.map_or(generation, |live| live.header.generation),
                chain: newest.map_or(0, |live| live.end.chain),
                floors: self.floors.clone(),
            }
        };
        let written = segment.write_header(&header);
        written.map_err(|error| self.stop("start a segment of the journal", &error))?;
        self.generation = header.generation;
        let live = LiveSegment::new(Arc::clone(&segment), header);
        let target = Target { segment, id: live.header.id(), position: live.end };
        self.log.lock().segments.push_back(live);
        Ok(target)
    }
}

/// Checks that the group's entries are numbered consecutively after `last`.
pub(crate) fn check_numbers(last: u64, group: &[EncodedEntry]) -> Result<(), Error> {
    if group.is_empty() {
        return Err(invalid("a group has no entries"));
    }
    let mut expected = last;
    for entry in group {
        expected += 1;
        if entry.n() != expected {
            let text =
                format!("the next entry of the journal must be {expected}, not {}", entry.n());
            return Err(invalid(text));
        }
    }
    Ok(())
}
