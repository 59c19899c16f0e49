//! Makes the findings of recovery durable, since after a failed sync they may have been read from
//! the page cache only. Where a loss is accepted, everything after the damage is erased. A torn end
//! is left: the next group overwrites it, or the next header marks it as not part of the journal.

use std::{io, sync::Arc};

use crate::{
    disk::Disk,
    log::LiveSegment,
    recovery::{RecoveredLog, RecoveredSegment},
    segment::Segment,
    segment_header::SegmentHeader,
};

/// Makes the recovered segments durable; returns the segments that do not belong to the journal,
/// for reuse. With `kept_after`, the groups after that entry were appended without a sync and are
/// rewritten.
pub(crate) fn repair(
    disk: &dyn Disk,
    recovered: &mut RecoveredLog,
    kept_after: Option<u64>,
) -> io::Result<Vec<Arc<Segment>>> {
    repair_headers(recovered)?;
    let damaged = recovered.damage.is_some();
    let tail = recovered.live.first().map(|oldest| oldest.header.generation);
    if let Some(last) = recovered.live.last_mut() {
        if damaged && let Some((newest, tail)) = recovered.newest.as_ref().zip(tail) {
            // The newest header defines the start of the journal. The higher revision makes the
            // header of the last intact segment the newest one.
            last.header.tail = tail;
            last.header.floors.clone_from(&newest.floors);
            last.header.revision += 1;
        }
        if damaged {
            // No stale group may follow the end of a journal.
            last.segment.write_zeros(last.end.at, last.segment.bytes)?;
        }
        repair_tail(last, kept_after)?;
    }
    let mut spare: Vec<_> =
        recovered.spare.iter().map(|found| Arc::clone(&found.segment)).collect();
    // Newest first: as long as one of them remains, the next start finds the damage again.
    for found in recovered.behind.iter().rev() {
        let segment = &found.segment;
        segment.write_header(&SegmentHeader::spare(segment.number, segment.bytes))?;
        spare.push(Arc::clone(segment));
    }
    for name in &recovered.obsolete {
        disk.remove(name)?;
    }
    Ok(spare)
}

/// Rewrites headers of which one copy is outdated or damaged.
fn repair_headers(recovered: &RecoveredLog) -> io::Result<()> {
    let live = recovered.live.iter().map(|live| (&live.segment, &live.header));
    let others = recovered.spare.iter().chain(&recovered.behind);
    let others = others.map(|RecoveredSegment { segment, header, .. }| (segment, header));
    for (segment, header) in live.chain(others) {
        if recovered.mismatched.contains(&segment.number) {
            segment.write_header(header)?;
        }
    }
    Ok(())
}

/// Rewrites the newest header and the last group (or all unsynced ones), in case they were lost.
fn repair_tail(last: &LiveSegment, kept_after: Option<u64>) -> io::Result<()> {
    let segment = &last.segment;
    segment.write_header(&last.header)?;
    let synced =
        kept_after.map_or(usize::MAX, |n| last.groups.partition_point(|group| group.0 <= n));
    let first = synced.min(last.groups.len().saturating_sub(1));
    let begins = last.groups.iter().skip(first).map(|group| group.1);
    let ends = last.groups.iter().skip(first + 1).map(|group| group.1).chain([last.end.at]);
    for (at, end) in begins.zip(ends) {
        let mut group = vec![0; usize::try_from(end - at).map_err(io::Error::other)?];
        segment.file.read_at(&mut group, at)?;
        segment.file.write_at(&[&group], at)?;
    }
    segment.file.sync()
}
