//! Recovery: determines which segments belong to the journal, whether the chain of groups is
//! unbroken, and whether its end is torn or damaged. Read-only; `repair` does the writing.
//!
//! ```text
//! good  good  good  ?????              nothing of this generation after it: a torn end
//! good  good  ????? good               the later one was written after it was durable: damage
//! good  good  good* good               * a stale group of this position: the chain breaks: damage
//! good  good  ????? | next segment     the next header records where the groups ended: damage
//! ```
//!
//! Only the last group can be torn, since each is written after the previous one was synced. Where
//! groups were appended without a sync, all groups after the last sync can be torn.

use std::sync::Arc;

use store::{Error, Kind};

use crate::{
    disk::Disk,
    errors::from_io,
    log::LiveSegment,
    read_buffer::ReadBuffer,
    scan::{Position, group_at, is_damaged_at},
    segment::{FileKind, Segment, kind_of_file},
    segment_header::{HeaderFault, SegmentHeader},
};

/// A segment with a readable header.
#[derive(Debug)]
pub(crate) struct RecoveredSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) header: SegmentHeader,
    /// Whether the two copies of the segment's header differ, or one of them is unreadable.
    pub(crate) mismatched: bool,
}

#[derive(Debug, Default)]
struct FoundFiles {
    segments: Vec<RecoveredSegment>,
    /// File names of segments whose header cannot be read.
    headless: Vec<String>,
    unfinished: Vec<String>,
    next_number: u64,
}

/// The result of a recovery scan.
#[derive(Debug, Default)]
pub(crate) struct RecoveredLog {
    /// The journal's segments up to its end or the first damage.
    pub(crate) live: Vec<LiveSegment>,
    /// The newest header, which contains the floors and the generation of the journal's oldest
    /// segment.
    pub(crate) newest: Option<SegmentHeader>,
    /// Segments of the journal after the damaged one, oldest first.
    pub(crate) behind: Vec<RecoveredSegment>,
    /// Readable segments that hold no part of the journal, for reuse.
    pub(crate) spare: Vec<RecoveredSegment>,
    /// Names of files to delete.
    pub(crate) obsolete: Vec<String>,
    /// Numbers of the segments whose two header copies differ.
    pub(crate) mismatched: Vec<u64>,
    /// A number larger than that of every existing file.
    pub(crate) next_number: u64,
    /// Whether the oldest entries are lost.
    pub(crate) has_lost_start: bool,
    /// Description of the first damage.
    pub(crate) damage: Option<String>,
}

/// Scans all segment files and follows the chain of groups to its end.
pub(crate) fn scan_segments(disk: &dyn Disk) -> Result<RecoveredLog, Error> {
    let found = find_files(disk)?;
    let mismatched = found.segments.iter().filter(|found| found.mismatched);
    let mut recovered = RecoveredLog {
        next_number: found.next_number,
        mismatched: mismatched.map(|found| found.segment.number).collect(),
        damage: found.headless.first().map(|name| damaged_at(name, 0)),
        ..RecoveredLog::default()
    };
    recovered.obsolete = found.headless;
    recovered.obsolete.extend(found.unfinished);
    let mut segments = found.segments;
    segments.sort_by_key(|found| found.header.generation);
    let newest = segments.last().map(|found| found.header.clone());
    recovered.newest = newest.filter(|newest| 0 < newest.generation);
    let Some(tail) = recovered.newest.as_ref().map(|newest| newest.tail) else {
        recovered.spare = segments;
        return Ok(recovered);
    };
    let split = segments.partition_point(|found| found.header.generation < tail);
    let chained = segments.split_off(split);
    recovered.spare = segments;
    recovered.follow_segments(chained, tail)?;
    Ok(recovered)
}

impl RecoveredLog {
    /// Follows the chain through segments by generation, from the generation `tail` of the oldest
    /// one up to the end of the journal or the first damage.
    fn follow_segments(&mut self, chained: Vec<RecoveredSegment>, tail: u64) -> Result<(), Error> {
        let headers: Vec<SegmentHeader> =
            chained.iter().map(|found| found.header.clone()).collect();
        let missing = |generation: u64| {
            format!("the journal's segment of generation {generation} is missing")
        };
        let start = headers.first().map_or(tail, |first| first.generation);
        if start != tail {
            // The segments found may be the entire journal, with only the header lost that would
            // confirm it. They are kept if the loss is accepted.
            self.has_lost_start = true;
            self.damage.get_or_insert(missing(tail));
        }
        let mut broken = false;
        for (at, found) in chained.into_iter().enumerate() {
            let expected = start + at as u64;
            if !broken && found.header.generation != expected {
                broken = true;
                self.damage.get_or_insert(missing(expected));
            }
            if broken {
                self.behind.push(found);
                continue;
            }
            let mut live = LiveSegment::new(Arc::clone(&found.segment), found.header);
            // The header of the following generation, if present, records where this one ends.
            let next = headers.get(at + 1).filter(|next| next.generation == expected + 1);
            let whole = follow_groups(&mut live, next)
                .map_err(|error| from_io("read the journal", &error))?;
            if !whole {
                broken = true;
                let text = damaged_at(&found.segment.name(), live.end.at);
                self.damage.get_or_insert(text);
            }
            self.live.push(live);
        }
        Ok(())
    }
}

/// Follows the groups of a segment; returns false if groups are lost.
fn follow_groups(live: &mut LiveSegment, next: Option<&SegmentHeader>) -> std::io::Result<bool> {
    let segment = Arc::clone(&live.segment);
    let end = next.map_or(segment.bytes, |next| next.before_end.min(segment.bytes));
    let mut read_buffer = ReadBuffer::new(&*segment.file, end);
    let id = live.header.id();
    while let Some(head) = group_at(&mut read_buffer, id, live.end)? {
        let at = head.end_from(live.end.at);
        live.push_group(Position { at, n: head.last, chain: head.checksum });
    }
    match next {
        Some(next) => Ok((live.end.at, live.end.chain) == (next.before_end, next.chain)
            && Some(next.first) == live.end.n.checked_add(1)),
        None => Ok(!is_damaged_at(&mut read_buffer, id, live.end)?),
    }
}

/// Opens every segment in the folder and reads its header.
fn find_files(disk: &dyn Disk) -> Result<FoundFiles, Error> {
    let context = |error: std::io::Error| from_io("open the journal", &error);
    let mut found = FoundFiles { next_number: 1, ..FoundFiles::default() };
    for name in disk.names().map_err(context)? {
        let number = match kind_of_file(&name) {
            FileKind::Segment(number) => number,
            FileKind::Unfinished(number) => {
                found.next_number = found.next_number.max(number.saturating_add(1));
                found.unfinished.push(name);
                continue;
            }
            FileKind::Other => continue,
        };
        found.next_number = found.next_number.max(number.saturating_add(1));
        let segment = Segment::open(disk, number).map_err(context)?;
        let copies = segment.read_header().map_err(context)?;
        if let Some(version) = unknown_version(&copies) {
            let text = format!("{name} of the journal has the unknown version {version}");
            return Err(Error::new(Kind::Refused, text));
        }
        let (header, mismatched) = match copies {
            [Ok(one), Ok(other)] => {
                let mismatched = one != other;
                (one.newer(other), mismatched)
            }
            [Ok(one), Err(_)] | [Err(_), Ok(one)] => (one, true),
            [Err(_), Err(_)] => {
                found.headless.push(name);
                continue;
            }
        };
        found.segments.push(RecoveredSegment { segment: Arc::new(segment), header, mismatched });
    }
    // Directory order varies; make every start see the same order.
    found.segments.sort_by_key(|found| found.segment.number);
    found.headless.sort();
    Ok(found)
}

/// Returns a header's format version if this program does not support it.
fn unknown_version(copies: &[Result<SegmentHeader, HeaderFault>]) -> Option<u32> {
    copies.iter().find_map(|copy| match copy {
        Err(HeaderFault::Version(version)) => Some(*version),
        _ => None,
    })
}

fn damaged_at(name: &str, byte: u64) -> String {
    format!("{name} of the journal is damaged at byte {byte}")
}
