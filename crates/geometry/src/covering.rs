//! Coverings: few cells that together contain a shape or a region.

use std::collections::VecDeque;

use crate::{
    cells::{Cell, Space},
    flat::Position,
};

/// Returns at most about `most` cells that together contain everything that is not `Outside`.
pub(crate) fn cover(
    space: &Space,
    most: usize,
    position: &mut dyn FnMut(Cell) -> Position,
) -> Vec<Cell> {
    let mut whole = Vec::new();
    // Cells of one level follow each other, so the largest are divided first.
    let mut open: VecDeque<(Cell, Position)> = VecDeque::new();
    let mut keep = |cell: Cell, open: &mut VecDeque<_>| match position(cell) {
        Position::Outside => 0,
        found => {
            open.push_back((cell, found));
            1
        }
    };
    for root in space.roots() {
        keep(root, &mut open);
    }
    while let Some((cell, found)) = open.pop_front() {
        if found == Position::Inside || cell.is_leaf() || most <= whole.len() + open.len() + 1 {
            whole.push(cell);
            continue;
        }
        let kept: usize = cell.children().map(|child| keep(child, &mut open)).iter().sum();
        // The parts together are no smaller than the cell.
        if kept == 4 && most < whole.len() + open.len() {
            open.truncate(open.len() - kept);
            whole.push(cell);
        }
    }
    whole.sort_unstable();
    whole
}

/// Returns the ranges of ids in which a covered shape has entries: the cells within the covering,
/// and the cells of which it is a part, since a large shape has large cells.
pub(crate) fn ranges_of(cells: &[Cell]) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = cells.iter().map(|cell| cell.range()).collect();
    let mut above: Vec<Cell> = Vec::new();
    for cell in cells {
        let mut parent = cell.parent();
        while let Some(cell) = parent {
            above.push(cell);
            parent = cell.parent();
        }
    }
    above.sort_unstable();
    above.dedup();
    ranges.extend(above.into_iter().map(|cell| (cell.0, cell.0)));
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = (*end).max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}
