//! What a start finds: which segments belong to the journal, whether the chain of groups holds from
//! the first to the last, and whether its end was torn or damaged. It only reads; `settle` writes.
//!
//! ```text
//!  good  good  good  ?????              nothing of this generation behind it: a torn end
//!  good  good  ????? good               the later one was written after it was durable: damage
//!  good  good  good* good               * an older one of this place: the next does not follow it
//!  good  good  ????? │ next segment     the next header says where the groups ended: damage
//! ```
//!
//! Only the last group can be torn, since each is written after the one before was synced; or any behind
//! the last sync, where groups were kept without one.

use std::sync::Arc;

use store::{Error, Kind};

use crate::{
    disk::Disk,
    errors::from_io,
    log::LiveSegment,
    scan::{Place, group_at, is_damaged_at},
    segment::{FileKind, Segment, kind_of_file},
    segment_header::{HeaderFault, SegmentHeader},
    window::Window,
};

/// A segment with a header that can be read.
#[derive(Debug)]
pub(crate) struct FoundSegment {
    pub(crate) segment: Arc<Segment>,
    pub(crate) header: SegmentHeader,
    /// Its two copies differ, or one cannot be read.
    pub(crate) uneven: bool,
}

/// What the folder holds.
#[derive(Debug, Default)]
struct FoundFiles {
    segments: Vec<FoundSegment>,
    /// Segments without a header: their files' names.
    headless: Vec<String>,
    unfinished: Vec<String>,
    next_number: u64,
}

/// What a start found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The journal up to its end or to the damage.
    pub(crate) live: Vec<LiveSegment>,
    /// The newest header: floors and the tail of the journal are in it.
    pub(crate) newest: Option<SegmentHeader>,
    /// Segments of the journal behind the damage, oldest first.
    pub(crate) behind: Vec<FoundSegment>,
    /// Segments that do not belong to the journal.
    pub(crate) spare: Vec<FoundSegment>,
    /// Names of files that are of no use.
    pub(crate) useless: Vec<String>,
    /// Segments whose two headers are not alike, by number.
    pub(crate) uneven: Vec<u64>,
    /// No file has this number or a larger one.
    pub(crate) next_number: u64,
    /// Its oldest entries are lost.
    pub(crate) begins_late: bool,
    /// Where entries are lost, in words.
    pub(crate) damage: Option<String>,
}

/// Looks at all files and follows the chain.
pub(crate) fn look(disk: &dyn Disk) -> Result<Findings, Error> {
    let found = find_files(disk)?;
    let uneven = found.segments.iter().filter(|found| found.uneven);
    let mut findings = Findings {
        next_number: found.next_number,
        uneven: uneven.map(|found| found.segment.number).collect(),
        damage: found.headless.first().map(|name| damaged_at(name, 0)),
        ..Findings::default()
    };
    findings.useless = found.headless;
    findings.useless.extend(found.unfinished);
    let mut segments = found.segments;
    segments.sort_by_key(|found| found.header.generation);
    let newest = segments.last().map(|found| found.header.clone());
    findings.newest = newest.filter(|newest| 0 < newest.generation);
    let Some(tail) = findings.newest.as_ref().map(|newest| newest.tail) else {
        findings.spare = segments;
        return Ok(findings);
    };
    let split = segments.partition_point(|found| found.header.generation < tail);
    let chained = segments.split_off(split);
    findings.spare = segments;
    findings.follow_segments(chained, tail)?;
    Ok(findings)
}

impl Findings {
    /// Follows the chain through segments by generation, up to its end or to the damage.
    fn follow_segments(&mut self, chained: Vec<FoundSegment>, tail: u64) -> Result<(), Error> {
        let headers: Vec<SegmentHeader> =
            chained.iter().map(|found| found.header.clone()).collect();
        let missing = |generation: u64| {
            format!("the journal's segment of generation {generation} is missing")
        };
        let start = headers.first().map_or(tail, |first| first.generation);
        if start != tail {
            // What is there may be all there was: the header that says so may be the one that is
            // lost. So it is kept where a loss is accepted.
            self.begins_late = true;
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
            // The next one says where this one ends, if it is the next.
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

/// Follows the groups of a segment; false when some of them are lost.
fn follow_groups(live: &mut LiveSegment, next: Option<&SegmentHeader>) -> std::io::Result<bool> {
    let segment = Arc::clone(&live.segment);
    let end = next.map_or(segment.bytes, |next| next.before_end.min(segment.bytes));
    let mut window = Window::new(&*segment.file, end);
    let id = live.header.id();
    while let Some(head) = group_at(&mut window, id, live.end)? {
        let at = head.end_from(live.end.at);
        live.push_group(Place { at, n: head.last, chain: head.checksum });
    }
    match next {
        Some(next) => Ok((live.end.at, live.end.chain) == (next.before_end, next.chain)
            && Some(next.first) == live.end.n.checked_add(1)),
        None => Ok(!is_damaged_at(&mut window, id, live.end)?),
    }
}

/// Opens every segment of the folder and reads its header.
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
            let text = format!("{name} of the journal is of version {version}, which is not known");
            return Err(Error::new(Kind::Refused, text));
        }
        let (header, uneven) = match copies {
            [Ok(one), Ok(other)] => {
                let uneven = one != other;
                (one.newer(other), uneven)
            }
            [Ok(one), Err(_)] | [Err(_), Ok(one)] => (one, true),
            [Err(_), Err(_)] => {
                found.headless.push(name);
                continue;
            }
        };
        found.segments.push(FoundSegment { segment: Arc::new(segment), header, uneven });
    }
    // The same at each start, whatever order the folder gives.
    found.segments.sort_by_key(|found| found.segment.number);
    found.headless.sort();
    Ok(found)
}

/// The version of a header that another program wrote.
fn unknown_version(copies: &[Result<SegmentHeader, HeaderFault>]) -> Option<u32> {
    copies.iter().find_map(|copy| match copy {
        Err(HeaderFault::Version(version)) => Some(*version),
        _ => None,
    })
}

/// Where damage is, in words.
fn damaged_at(name: &str, byte: u64) -> String {
    format!("{name} of the journal is damaged at byte {byte}")
}
