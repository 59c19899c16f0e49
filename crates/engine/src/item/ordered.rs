//! Whether an index gives the order that a walk over a whole container asks for.

use store::{Direction, Range};

use super::Scan;
use crate::{IndexSpec, Record, Shape, keys};

/// An index that holds every item in the order that was asked for.
pub(super) struct Ordered<'a> {
    pub(super) index: &'a IndexSpec,
    pub(super) range: Range,
    pub(super) direction: Direction,
}

/// The index of these paths, in these directions or all of them turned round.
pub(super) fn find<'a>(record: &'a Record, scan: &Scan) -> Option<Ordered<'a>> {
    if scan.order.is_empty() || !scan.range.is_all() {
        return None;
    }
    let wanted = IndexSpec::tuple("", &scan.order, false).key;
    let turned: Vec<_> = wanted.iter().map(|(path, down)| (path.clone(), !down)).collect();
    record.indexes.iter().find_map(|index| {
        let direction = match &index.key {
            key if *key == wanted => Direction::Forward,
            key if *key == turned => Direction::Backward,
            _ => return None,
        };
        let usable = index.ready && index.shape == Shape::Tuple { scoped: false };
        let range = Range::prefix(&keys::index(index.id));
        usable.then_some(Ordered { index, range, direction })
    })
}
