//! A composite scan: whether an index over several paths gives the order that a walk over a whole
//! container asks for. Such an index holds every item, with a place for values that are missing, so
//! that nothing has to be sorted or added.

use store::{Direction, KeyRange};

use super::Scan;
use crate::{
    catalog::{IndexSpec, Record},
    keys,
};

/// An index that holds every item in the order that was asked for.
pub(super) struct CompositeScan<'a> {
    /// Its paths are those of the order.
    pub(super) index: &'a IndexSpec,
    /// All of its entries, or those from a place on.
    pub(super) range: KeyRange,
    /// Backward where the order is the index's, turned round.
    pub(super) direction: Direction,
}

/// The index of these paths, in these directions or all of them turned round. Items with the same
/// values come in the order of their births, turned where the first path descends.
pub(super) fn plan_composite<'a>(record: &'a Record, scan: &Scan) -> Option<CompositeScan<'a>> {
    if scan.order.is_empty() || !scan.range.is_all() {
        return None;
    }
    let turned = scan.order.first().is_some_and(|(_, descending)| *descending);
    let direction = if turned { Direction::Backward } else { Direction::Forward };
    record.indexes.iter().find_map(|index| {
        let usable = index.ready && index.by_birth && index.has_order(&scan.order);
        let range = seek_range(index.id, direction, scan.seek.as_deref());
        usable.then_some(CompositeScan { index, range, direction })
    })
}

/// The entries of an index from a place on, in the order of the walk.
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
