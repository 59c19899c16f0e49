//! Composite scans: uses an index over several paths that yields the order of a scan over a whole
//! container. Such an index contains every item, including those with missing values, so nothing
//! has to be sorted or added.

use store::{Direction, KeyRange};

use super::Scan;
use crate::{
    catalog::{IndexSpec, Record},
    keys,
};

/// A scan of an index that contains every item in the requested order.
pub(super) struct CompositeScan<'a> {
    pub(super) index: &'a IndexSpec,
    /// Entries to scan: all entries of the index, or the entries from a position on.
    pub(super) range: KeyRange,
    /// Direction of the scan: backward if the requested order is the reverse of the index's order.
    pub(super) direction: Direction,
}

/// Returns a scan of an index over the paths of the requested order, whose directions are the
/// requested ones or all inverted. Items with equal values are ordered by creation, reversed if the
/// first path is descending.
pub(super) fn plan_composite<'a>(record: &'a Record, scan: &Scan) -> Option<CompositeScan<'a>> {
    if scan.order.is_empty() || !scan.range.is_all() {
        return None;
    }
    let turned = scan.order.first().is_some_and(|(_, descending)| *descending);
    let direction = if turned { Direction::Backward } else { Direction::Forward };
    record.indexes.iter().find_map(|index| {
        let usable = index.ready && index.by_creation && index.has_order(&scan.order);
        let range = seek_range(index.id, direction, scan.seek.as_deref());
        usable.then_some(CompositeScan { index, range, direction })
    })
}

/// Returns the range of entries from a position on, in scan direction.
fn seek_range(index: u32, direction: Direction, seek: Option<&[u8]>) -> KeyRange {
    let prefix = keys::index_prefix(index);
    let mut range = KeyRange::with_prefix(&prefix);
    match (seek, direction) {
        (None, _) => {}
        (Some(place), Direction::Forward) => range.start = [&prefix, place].concat(),
        (Some(place), Direction::Backward) => {
            let turned: Vec<u8> = place.iter().map(|byte| !byte).collect();
            range.end = KeyRange::with_prefix(&[prefix, turned].concat()).end;
        }
    }
    range
}
