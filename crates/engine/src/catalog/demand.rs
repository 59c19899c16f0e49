//! What queries have asked of a container's paths since the server started: paths that they looked
//! at many items for want of, and how often those that are kept were used. It is memory alone; what
//! comes of it is a change of the record.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use select::sarg::PathStep;

use crate::limits::MAX_KEPT_PATHS;

/// How often a path was used, and when last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathUses {
    /// Queries that read it.
    pub count: u64,
    /// The second of the last one.
    pub last_s: i64,
}

/// What queries asked for.
#[derive(Debug, Default)]
pub(crate) struct Demand(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    /// Paths to keep, each once.
    wanted: Vec<Vec<PathStep>>,
    /// By the id of a path's index.
    uses: BTreeMap<u32, PathUses>,
}

impl Demand {
    /// Notes paths that would have spared a query much.
    pub(crate) fn want(&self, paths: Vec<Vec<PathStep>>) {
        let mut asked = self.0.lock();
        for path in paths {
            // What is too much now is asked for again.
            if asked.wanted.len() < MAX_KEPT_PATHS && !asked.wanted.contains(&path) {
                asked.wanted.push(path);
            }
        }
    }

    /// The paths that were asked for; they are asked for no more.
    pub(crate) fn take_wanted(&self) -> Vec<Vec<PathStep>> {
        std::mem::take(&mut self.0.lock().wanted)
    }

    /// Whether a path is asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.0.lock().wanted.is_empty()
    }

    /// Counts a use of each of these indexes in this second.
    pub(crate) fn count_uses(&self, indexes: &[u32], now_s: i64) {
        let mut asked = self.0.lock();
        for id in indexes {
            let uses = asked.uses.entry(*id).or_default();
            uses.count += 1;
            uses.last_s = uses.last_s.max(now_s);
        }
    }

    /// The uses of an index.
    pub(crate) fn uses_of(&self, index: u32) -> PathUses {
        self.0.lock().uses.get(&index).copied().unwrap_or_default()
    }
    /// Forgets the uses of indexes that are there no more.
    pub(crate) fn forget_uses(&self, is_there: impl Fn(u32) -> bool) {
        self.0.lock().uses.retain(|id, _| is_there(*id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_of_what_has_gone_are_forgotten() {
        let demand = Demand::default();
        demand.count_uses(&[1, 2, 2], 7);
        demand.count_uses(&[1], 6);
        assert_eq!(demand.uses_of(1), PathUses { count: 2, last_s: 7 });
        demand.forget_uses(|id| id != 2);
        assert_eq!(demand.uses_of(1).count, 2);
        assert_eq!(demand.uses_of(2), PathUses::default());
        assert_eq!(demand.0.lock().uses.len(), 1);
    }
}
