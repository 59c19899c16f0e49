//! Choice of jobs: which files need work most.
//!
//! | need | job |
//! |---|---|
//! | a space was dropped | its files are removed |
//! | too many first runs | merged into level 1, or moved there if no keys overlap |
//! | a level is too large | one table is merged into the next level, or moved there |
//! | too many dead bodies | the file with the largest dead share is rewritten |
//! | versions that only closed snapshots saw | their table is rewritten |
//!
//! Needs are compared as ratios to their limits.

use std::sync::Arc;

use crate::{
    error::Result,
    job::{Job, MergeWork, Work},
    options::{LEVELS, Options},
    shared::Shared,
    space::Space,
    table::Table,
    tree::Tree,
    version::{TableList, Version, alone, tables_between},
};

/// Share of superseded versions in a table, one in this number, that is worth a rewrite.
const STALE_SHARE: u64 = 4;

/// Work that a space needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// Versions of closed snapshots; only when nothing else is needed.
    Stale,
    Bodies,
    /// The index of a sorted level that is too large.
    Level(usize),
    Runs,
}

impl Tree {
    /// Returns the most needed job that does not conflict with running ones. `first_runs` returns
    /// the number of first runs of a space from which they are merged: small, such as 4, for fast
    /// reads; larger during a burst of writes. For `None` it leaves the space alone, for a job that
    /// [`pick_whole`](Self::pick_whole) cannot have yet.
    pub fn pick(&self, first_runs: impl Fn(u64) -> Option<usize>) -> Option<Job> {
        let shared = &self.shared;
        if let Some(space) = shared.dropped.lock().first() {
            return Some(job(shared, space, Work::Forget, None));
        }
        let mut needs = Vec::new();
        for space in shared.all_spaces().values() {
            let Some(first_runs) = first_runs(space.number) else { continue };
            let version = Arc::clone(&space.load().version);
            for (ratio, need) in needs_of(&version, first_runs, &shared.maker.options) {
                needs.push((ratio, need, Arc::clone(space), Arc::clone(&version)));
            }
        }
        needs.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        needs.iter().find_map(|(_, need, space, version)| {
            let picker = Picker { shared, space, version };
            match need {
                Need::Runs => picker.merge_runs(),
                Need::Level(level) => picker.merge_level(*level),
                Need::Bodies => picker.rewrite_bodies(),
                Need::Stale => picker.rewrite_stale(),
            }
        })
    }

    /// Returns the job that merges all tables of a space into one level, so that the filter sees
    /// every version; `None` if another job uses one of them, or there are none. What the memtables
    /// contain is not included.
    pub fn pick_whole(&self, space: u64) -> Result<Option<Job>> {
        let space = self.shared.space(space)?;
        let version = Arc::clone(&space.load().version);
        let lists: Vec<TableList> = version.sorted_lists().cloned().collect();
        if lists.is_empty() {
            return Ok(None);
        }
        let bytes = version.tables().map(|table| table.meta.bytes).sum::<u64>();
        let options = &self.shared.maker.options;
        let deepest = version.levels.iter().rposition(|list| !list.is_empty()).unwrap_or(0);
        let large = (0..LEVELS).find(|level| bytes <= level_limit(*level, options));
        let target = deepest.max(large.unwrap_or(LEVELS - 1)) as u8 + 1;
        let picker = Picker { shared: &self.shared, space: &space, version: &version };
        Ok(picker.merge(lists, target))
    }
}

/// Returns how large a sorted level may be.
fn level_limit(level: usize, options: &Options) -> u64 {
    let growth = options.growth.saturating_pow(level as u32);
    options.level_bytes.saturating_mul(growth)
}

/// Returns the needs of a space, each with its ratio to the limit; only those above 1, and
/// stale versions with a ratio below 1, because they can wait.
fn needs_of(version: &Version, first_runs: usize, options: &Options) -> Vec<(f64, Need)> {
    let mut needs = Vec::new();
    let runs = version.runs.len() as f64 / first_runs.max(1) as f64;
    needs.push((runs, Need::Runs));
    for (level, bytes) in version.level_bytes.iter().enumerate().take(LEVELS - 1) {
        needs.push((*bytes as f64 / level_limit(level, options) as f64, Need::Level(level)));
    }
    let (all, used) = version.body_bytes;
    let allowed = all as f64 * options.garbage_percent as f64 / 100.0;
    if 0 < all {
        needs.push((all.saturating_sub(used) as f64 / allowed.max(1.0), Need::Bodies));
    }
    needs.retain(|(ratio, need)| {
        1.0 <= *ratio && (*need != Need::Bodies || options.group_bytes <= all - used)
    });
    if version.levels.iter().any(|list| list.iter().any(|table| is_stale(table))) {
        needs.push((0.0, Need::Stale));
    }
    needs
}

/// Returns whether a large part of a table was superseded when it was written.
fn is_stale(table: &Table) -> bool {
    table.meta.entries <= table.meta.superseded.saturating_mul(STALE_SHARE)
}

fn job(
    shared: &Arc<Shared>,
    space: &Arc<Space>,
    work: Work,
    claim: Option<crate::shared::Claim>,
) -> Job {
    Job { shared: Arc::clone(shared), space: Arc::clone(space), work, _claim: claim }
}

/// Chooses the files for a job in one space.
struct Picker<'a> {
    shared: &'a Arc<Shared>,
    space: &'a Arc<Space>,
    version: &'a Version,
}

impl Picker<'_> {
    /// Claims tables; `None` if another job uses one of them or has removed it.
    fn claim(&self, lists: &[TableList]) -> Option<crate::shared::Claim> {
        let mut tables = lists.iter().flat_map(|list| list.iter());
        let claim = self.shared.claim(tables.clone().map(|table| table.meta.id).collect())?;
        // A job may have ended since the version was loaded.
        let state = self.space.load();
        let listed =
            |table: &Arc<Table>| state.version.tables().any(|listed| Arc::ptr_eq(listed, table));
        tables.all(listed).then_some(claim)
    }

    fn merge(&self, lists: Vec<TableList>, target: u8) -> Option<Job> {
        let lists: Vec<_> = lists.into_iter().filter(|list| !list.is_empty()).collect();
        let claim = self.claim(&lists)?;
        // A run that was flushed since then is newer than all inputs and does not matter.
        let work = Work::Merge(MergeWork { lists, target });
        Some(job(self.shared, self.space, work, Some(claim)))
    }

    fn move_to(&self, tables: TableList, target: u8) -> Option<Job> {
        let claim = self.claim(std::slice::from_ref(&tables))?;
        Some(job(self.shared, self.space, Work::Move { tables, target }, Some(claim)))
    }

    fn merge_runs(&self) -> Option<Job> {
        let mut lists: Vec<_> = self.version.runs.iter().map(|run| run.tables.clone()).collect();
        let mut tables: Vec<_> = lists.iter().flat_map(|list| list.iter().cloned()).collect();
        tables.sort_by(|one, other| one.meta.first_key.cmp(&other.meta.first_key));
        let first = tables.first()?.meta.first_key.clone();
        let last = tables.iter().map(|table| table.meta.last_key.clone()).max()?;
        let below = tables_between(&self.version.levels[0], &first, &last);
        let apart = |pair: &[Arc<Table>]| pair[0].meta.last_key < pair[1].meta.first_key;
        let crosses = |table: &Arc<Table>| {
            below.iter().any(|of| of.meta.overlaps(&table.meta.first_key, &table.meta.last_key))
        };
        if tables.windows(2).all(apart) && !tables.iter().any(crosses) {
            return self.move_to(Arc::new(tables), 1);
        }
        lists.push(Arc::new(below.to_vec()));
        self.merge(lists, 1)
    }

    /// Merges the table of a level that has the least to merge with in the next level.
    fn merge_level(&self, level: usize) -> Option<Job> {
        let (upper, lower) = (&self.version.levels[level], &self.version.levels[level + 1]);
        let cost = |table: &Arc<Table>| {
            let below = tables_between(lower, &table.meta.first_key, &table.meta.last_key);
            let bytes: u64 = below.iter().map(|below| below.meta.bytes).sum();
            bytes as f64 / table.meta.bytes.max(1) as f64
        };
        let mut choices: Vec<(f64, &Arc<Table>)> =
            upper.iter().map(|table| (cost(table), table)).collect();
        choices.sort_by(|one, other| one.0.total_cmp(&other.0));
        let target = level as u8 + 2;
        choices.into_iter().find_map(|(_, table)| {
            let below = tables_between(lower, &table.meta.first_key, &table.meta.last_key);
            if below.is_empty() {
                return self.move_to(alone(table), target);
            }
            self.merge(vec![alone(table), Arc::new(below.to_vec())], target)
        })
    }

    /// Rewrites the body file with the largest share of dead bodies.
    fn rewrite_bodies(&self) -> Option<Job> {
        let dead = |body: &crate::metadata::BodyMeta, used: u64| {
            body.raw_bytes.saturating_sub(used) as f64 / body.raw_bytes.max(1) as f64
        };
        let mut choices: Vec<_> = self.version.bodies.values().collect();
        choices.sort_by(|one, other| {
            dead(&other.meta, other.used.1).total_cmp(&dead(&one.meta, one.used.1))
        });
        choices.into_iter().find_map(|body| {
            if dead(&body.meta, body.used.1) <= 0.0 {
                return None;
            }
            let claim = self.shared.claim(vec![body.meta.id])?;
            // Extended or rewritten since the version was loaded.
            let current = Arc::clone(self.space.load().version.bodies.get(&body.meta.id)?);
            let work = Work::Rewrite(current);
            Some(job(self.shared, self.space, work, Some(claim)))
        })
    }

    /// Rewrites a table whose superseded versions no open snapshot needs any more.
    fn rewrite_stale(&self) -> Option<Job> {
        let retention = self.shared.pins.retention();
        for (level, list) in self.version.levels.iter().enumerate() {
            for table in list.iter().filter(|table| is_stale(table)) {
                if retention.may_keep_superseded(table.meta.numbers) {
                    continue;
                }
                let job = self.merge(vec![alone(table)], level as u8 + 1);
                if job.is_some() {
                    return job;
                }
            }
        }
        None
    }
}
