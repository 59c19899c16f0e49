//! Adds indexes for paths that queries request, and drops those unused for a long time.
//!
//! ```text
//!  a scan examines many items  --> demand  --> keep_wanted_paths: one commit, then an online build
//!  a scan reads an entry       --> uses    --> maintain_paths: one commit; compaction drops them
//! ```
//!
//! No query waits for either. Requests in memory are lost with the process and made again; the
//! record and a started build are durable.

use std::sync::Arc;

use select::sarg::PathSteps;
use store::Stamp;

use super::container::add_index;
use crate::{
    catalog::{
        Collection, CollectionState, IndexReason, IndexShape, IndexSpec, IndexUsage, IndexedPath,
        Policy, Record, policy_path,
    },
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
    limits::MAX_INDEXED_PATHS,
};

const DAY_S: i64 = 86_400;

/// Build state of a container's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathProgress {
    /// The index is complete and may be read.
    Ready,
    /// The index is being built.
    Building,
}

/// The status of a container's index, for operators.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Paths of the index as policies write them, each followed by its direction if it has one.
    pub paths: Vec<String>,
    /// Reason why the path is indexed: `query`, `named`, `composite`, `unique`, or `policy` for one
    /// of all paths.
    pub why: &'static str,
    /// Build state of the index.
    pub progress: PathProgress,
    /// Second in which the path was added to the index, if known.
    pub since_s: Option<i64>,
    /// Second of a recent use, at most a day before the last use; `None` for an index that is not
    /// dropped when unused.
    pub used_s: Option<i64>,
    /// Number of uses of the index since the server started.
    pub uses: IndexUsage,
}

impl Engine {
    /// Returns whether [`keep_wanted_paths`](Self::keep_wanted_paths) has anything to do.
    pub fn wants_paths(&self, collection: &Collection) -> bool {
        collection.demand.is_wanted()
    }

    /// Requests indexes of paths, like a query that examined many items for lack of them.
    pub fn want_paths(&self, collection: &Collection, paths: Vec<PathSteps>) {
        collection.demand.want(paths);
    }

    /// Adds and builds indexes of the requested paths. Query results are not affected during the
    /// build, and a start completes interrupted builds.
    pub async fn keep_wanted_paths(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let wanted = collection.demand.take_wanted();
        if wanted.is_empty() {
            return Ok(());
        }
        let asked = wanted.clone();
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let unkept = |path: &&PathSteps| state.record.is_unindexed(path);
            let room = MAX_INDEXED_PATHS.saturating_sub(indexed_for_queries(&state.record).count());
            let new: Vec<PathSteps> = asked.iter().filter(unkept).take(room).cloned().collect();
            if new.is_empty() {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                for path in &new {
                    add_index(record, &path_index(path, IndexReason::Query, stamp), false);
                }
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        if self.change_record(collection, &*edit).await?.is_none() {
            return Ok(());
        }
        // Other indexes are built by the operations that added them.
        self.build_indexes(collection, |index| {
            index.indexed_path().is_some_and(|kept| wanted.contains(&kept.steps))
        })
        .await
    }

    /// Records once a day, for all containers, which indexed paths were used. Drops indexes that
    /// queries requested and that no query has used for `unused_days`; drops none if that is
    /// `None`.
    pub async fn maintain_paths(&self, unused_days: Option<u32>) -> Result<(), Error> {
        let now_s = self.now().await?.ms.div_euclid(1000);
        let unused_s = unused_days.map(|days| i64::from(days.max(1)).saturating_mul(DAY_S));
        for collection in self.inner.map().all_collections().values() {
            let state = collection.state();
            if indexed_for_queries(&state.record).next().is_none() {
                continue;
            }
            let held = Arc::clone(collection);
            let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
                let uses = |id: u32| held.index_usage(id).map_or(0, |uses| uses.last_s);
                let (mut gone, mut used) = (Vec::new(), Vec::new());
                for (id, kept) in indexed_for_queries(&state.record) {
                    let last_s = kept.used_s.max(uses(id));
                    if unused_s.is_some_and(|unused_s| last_s.saturating_add(unused_s) <= now_s) {
                        gone.push(id);
                    } else if kept.used_s.saturating_add(DAY_S) <= last_s {
                        used.push((id, last_s));
                    }
                }
                let nothing = gone.is_empty() && used.is_empty();
                let apply = move |record: &mut Record, _: Stamp| retire(record, &gone, &used);
                Ok((!nothing).then(|| (Arc::new(apply) as Arc<RecordApply>, ())))
            });
            match self.change_record(collection, &*edit).await {
                // The collection has been dropped since.
                Err(_) if collection.is_dropped() => {}
                changed => changed.map(|_| ())?,
            }
        }
        Ok(())
    }

    /// Returns the included or excluded paths of a container's policy, as policies write them.
    /// Paths indexed under an included wildcard are in [`path_statuses`](Self::path_statuses) only.
    pub fn policy_paths(&self, collection: &Collection, included: bool) -> Vec<String> {
        let state = collection.state();
        let policy = state.record.indexes.iter().find_map(IndexSpec::policy);
        let rules = policy.into_iter().flat_map(|policy| &policy.0);
        let shown = rules.filter(|rule| rule.included == included).map(|rule| {
            let path = policy_path(&rule.steps);
            if rule.below { path.trim_end_matches('?').to_owned() + "*" } else { path }
        });
        shown.collect()
    }

    /// Returns the status of each index of a container that has entries.
    pub fn path_statuses(&self, collection: &Collection) -> Vec<PathStatus> {
        let state = collection.state();
        let shown = state.record.indexes.iter().filter_map(|index| {
            let (paths, why) = shown_paths(index)?;
            let kept = index.indexed_path();
            Some(PathStatus {
                paths,
                why,
                progress: match index.ready {
                    true => PathProgress::Ready,
                    false => PathProgress::Building,
                },
                since_s: kept.map(|kept| kept.since_s),
                used_s: kept.filter(|kept| kept.why == IndexReason::Query).map(|kept| kept.used_s),
                uses: collection.index_usage(index.id).unwrap_or_default(),
            })
        });
        shown.collect()
    }
}

/// Creates the index of a path, dated by this stamp; its id is set when it is added to the record.
fn path_index(path: &PathSteps, why: IndexReason, stamp: Stamp) -> IndexSpec {
    let now_s = stamp.at_ms.div_euclid(1000);
    IndexSpec::over_path(IndexedPath { steps: path.clone(), why, since_s: now_s, used_s: now_s })
}

/// Returns the ids and paths of the indexes that were created because queries needed them.
fn indexed_for_queries(record: &Record) -> impl Iterator<Item = (u32, &IndexedPath)> {
    let kept = record.indexes.iter().filter_map(|index| Some((index.id, index.indexed_path()?)));
    kept.filter(|(_, kept)| kept.why == IndexReason::Query)
}

/// Adds indexes for the paths that the policy names, and marks the indexes of paths that it no
/// longer names as requested by queries. `ready` is true if no entries have to be built.
pub(super) fn index_named_paths(record: &mut Record, stamp: Stamp, ready: bool) {
    let policy = record.indexes.iter().find_map(|index| match &index.shape {
        IndexShape::Allowed(policy) => Some(policy.clone()),
        _ => None,
    });
    let policy = policy.unwrap_or_else(|| Policy(Vec::new()));
    let named: Vec<PathSteps> = policy.named_paths().map(<[_]>::to_vec).collect();
    for index in &mut record.indexes {
        let IndexShape::Path(kept) = &mut index.shape else { continue };
        match (kept.why, named.contains(&kept.steps)) {
            (IndexReason::Query, true) => kept.why = IndexReason::Name,
            // The policy no longer names the path. Its complete index stays as long as queries use
            // it.
            (IndexReason::Name, false) => {
                kept.why = IndexReason::Query;
                kept.used_s = stamp.at_ms.div_euclid(1000);
            }
            (IndexReason::Query, false) | (IndexReason::Name, true) => {}
        }
    }
    for path in &named {
        if record.index_of_path(path).is_none() {
            add_index(record, &path_index(path, IndexReason::Name, stamp), ready);
        }
    }
}

/// Removes the indexes `gone` from a record, and records the last use of the indexes in `used`.
fn retire(record: &mut Record, gone: &[u32], used: &[(u32, i64)]) {
    record.indexes.retain(|index| !gone.contains(&index.id));
    // Compactions drop the entries of the removed indexes.
    record.dropped.extend(gone);
    for (id, last_s) in used {
        let index = record.indexes.iter_mut().find(|index| index.id == *id);
        if let Some(IndexShape::Path(kept)) = index.map(|index| &mut index.shape) {
            kept.used_s = *last_s;
        }
    }
}

/// Returns the paths of an index and why it exists; `None` for an index without entries of values.
fn shown_paths(index: &IndexSpec) -> Option<(Vec<String>, &'static str)> {
    match &index.shape {
        IndexShape::Path(kept) => {
            let why = match kept.why {
                IndexReason::Query => "query",
                IndexReason::Name => "named",
            };
            Some((vec![policy_path(&kept.steps)], why))
        }
        IndexShape::Wild(_) => Some((vec!["/*".to_owned()], "policy")),
        IndexShape::Tuple { .. } if index.unique => {
            Some((index.key.iter().map(|(path, _)| path.clone()).collect(), "unique"))
        }
        IndexShape::Tuple { .. } => {
            let direction = |down: bool| if down { "DESC" } else { "ASC" };
            let path = |(path, down): &(String, bool)| format!("{path} {}", direction(*down));
            Some((index.key.iter().map(path).collect(), "composite"))
        }
        IndexShape::Fields
        | IndexShape::Hashed(_)
        | IndexShape::Wildcard(_)
        | IndexShape::Text(_)
        | IndexShape::Geo(_)
        | IndexShape::Allowed(_)
        | IndexShape::Timeline
        | IndexShape::InsertionOrder => None,
    }
}
