//! Paths of a container begin to be kept when queries ask for them, and end when none does for long.
//!
//! ```text
//!  a walk looks at many items  ──▶ demand  ──▶ keep_wanted_paths: one commit, then an online build
//!  a walk reads an entry       ──▶ uses    ──▶ tend_paths: one commit, compaction frees entries
//! ```
//!
//! No query waits for either. What is noted in memory is lost with the process, and asked for anew;
//! the record and a build that has begun are not.

use std::sync::Arc;

use select::sarg::PathSteps;
use store::{Stamp, Store};

use super::container::add_index;
use crate::{
    catalog::{
        Collection, CollectionState, IndexShape, IndexSpec, IndexUsage, KeptFor, KeptPath, Policy,
        Record, policy_path,
    },
    engine::{Engine, RecordApply, RecordEdit},
    error::Error,
    limits::MAX_KEPT_PATHS,
};

/// Seconds of a day.
const DAY_S: i64 = 86_400;

/// Whether an index of a container is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathProgress {
    /// Complete.
    Ready,
    /// Being built.
    Building,
}

/// An index of a container, for those who look after it.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStatus {
    /// Its paths as policies write them, with the word for a direction where it has one.
    pub paths: Vec<String>,
    /// Why it is kept: `query`, `named`, `composite`, `unique`, or `policy` for one of all paths.
    pub why: &'static str,
    /// Whether it is there.
    pub progress: PathProgress,
    /// The second since when it is kept, where that is known.
    pub since_s: Option<i64>,
    /// The second of a use, not more than a day before the last one, where it may end for want of
    /// uses.
    pub used_s: Option<i64>,
    /// Its uses since the server started.
    pub uses: IndexUsage,
}

impl<S: Store> Engine<S> {
    /// Whether [`keep_wanted_paths`](Self::keep_wanted_paths) has anything to do.
    pub fn wants_paths(&self, collection: &Collection) -> bool {
        collection.demand.is_wanted()
    }

    /// Asks for paths to be kept, as a query does that looked at many items for want of them.
    pub fn want_paths(&self, collection: &Collection, paths: Vec<PathSteps>) {
        collection.demand.want(paths);
    }

    /// Begins to keep the paths that queries asked for, and builds them. Queries return the same
    /// meanwhile, and a start goes on with what is left undone.
    pub async fn keep_wanted_paths(&self, collection: &Arc<Collection>) -> Result<(), Error> {
        let wanted = collection.demand.take_wanted();
        if wanted.is_empty() {
            return Ok(());
        }
        let asked = wanted.clone();
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let unkept = |path: &&PathSteps| state.record.is_unkept(path);
            let room = MAX_KEPT_PATHS.saturating_sub(kept_for_queries(&state.record).count());
            let new: Vec<PathSteps> = asked.iter().filter(unkept).take(room).cloned().collect();
            if new.is_empty() {
                return Ok(None);
            }
            let apply = move |record: &mut Record, stamp: Stamp| {
                for path in &new {
                    add_index(record, &path_index(path, KeptFor::Query, stamp), false);
                }
            };
            Ok(Some((Arc::new(apply) as Arc<RecordApply>, ())))
        });
        if self.change_record(collection, &*edit).await?.is_none() {
            return Ok(());
        }
        // Others are built by whoever asked for them.
        self.build_indexes(collection, |index| {
            index.kept_path().is_some_and(|kept| wanted.contains(&kept.steps))
        })
        .await
    }

    /// Writes down, once a day, which paths of all containers were used, and stops keeping those
    /// that queries asked for once and none has used for so many days; `None`: they stay.
    pub async fn tend_paths(&self, unused_days: Option<u32>) -> Result<(), Error> {
        let now_s = self.now().await?.ms.div_euclid(1000);
        let unused_s = unused_days.map(|days| i64::from(days.max(1)).saturating_mul(DAY_S));
        for collection in self.inner.map().all_collections().values() {
            let state = collection.state();
            if kept_for_queries(&state.record).next().is_none() {
                continue;
            }
            let held = Arc::clone(collection);
            let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
                let uses = |id: u32| held.index_usage(id).map_or(0, |uses| uses.last_s);
                let (mut gone, mut used) = (Vec::new(), Vec::new());
                for (id, kept) in kept_for_queries(&state.record) {
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
                // It was dropped meanwhile.
                Err(_) if collection.is_dropped() => {}
                changed => changed.map(|_| ())?,
            }
        }
        Ok(())
    }

    /// The paths that a container's policy has, included or excluded, as policies write them. Of
    /// those that are included with a wildcard, what is kept is among the statuses.
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

    /// The indexes of a container that have entries.
    pub fn path_statuses(&self, collection: &Collection) -> Vec<PathStatus> {
        let state = collection.state();
        let shown = state.record.indexes.iter().filter_map(|index| {
            let (paths, why) = shown_paths(index)?;
            let kept = index.kept_path();
            Some(PathStatus {
                paths,
                why,
                progress: match index.ready {
                    true => PathProgress::Ready,
                    false => PathProgress::Building,
                },
                since_s: kept.map(|kept| kept.since_s),
                used_s: kept.filter(|kept| kept.why == KeptFor::Query).map(|kept| kept.used_s),
                uses: collection.index_usage(index.id).unwrap_or_default(),
            })
        });
        shown.collect()
    }
}

/// An index of a path that is kept from a commit on.
fn path_index(path: &PathSteps, why: KeptFor, stamp: Stamp) -> IndexSpec {
    let now_s = stamp.at_ms.div_euclid(1000);
    IndexSpec::over_path(KeptPath { steps: path.clone(), why, since_s: now_s, used_s: now_s })
}

/// The paths that queries asked for, with the ids of their indexes.
fn kept_for_queries(record: &Record) -> impl Iterator<Item = (u32, &KeptPath)> {
    let kept = record.indexes.iter().filter_map(|index| Some((index.id, index.kept_path()?)));
    kept.filter(|(_, kept)| kept.why == KeptFor::Query)
}

/// Keeps the paths that the policy of a record names, and lets others stay for the queries that use
/// them; `ready` where there is nothing to build.
pub(super) fn keep_named_paths(record: &mut Record, stamp: Stamp, ready: bool) {
    let policy = record.indexes.iter().find_map(|index| match &index.shape {
        IndexShape::Allowed(policy) => Some(policy.clone()),
        _ => None,
    });
    let policy = policy.unwrap_or_else(|| Policy(Vec::new()));
    let named: Vec<PathSteps> = policy.named_paths().map(<[_]>::to_vec).collect();
    for index in &mut record.indexes {
        let IndexShape::Path(kept) = &mut index.shape else { continue };
        match (kept.why, named.contains(&kept.steps)) {
            (KeptFor::Query, true) => kept.why = KeptFor::Name,
            // It has all it needs already, and somebody wanted it.
            (KeptFor::Name, false) => {
                kept.why = KeptFor::Query;
                kept.used_s = stamp.at_ms.div_euclid(1000);
            }
            (KeptFor::Query, false) | (KeptFor::Name, true) => {}
        }
    }
    for path in &named {
        if record.index_of_path(path).is_none() {
            add_index(record, &path_index(path, KeptFor::Name, stamp), ready);
        }
    }
}

/// Takes indexes out of a record, and notes the last uses of others.
fn retire(record: &mut Record, gone: &[u32], used: &[(u32, i64)]) {
    record.indexes.retain(|index| !gone.contains(&index.id));
    // Compaction frees their entries.
    record.dropped.extend(gone);
    for (id, last_s) in used {
        let index = record.indexes.iter_mut().find(|index| index.id == *id);
        if let Some(IndexShape::Path(kept)) = index.map(|index| &mut index.shape) {
            kept.used_s = *last_s;
        }
    }
}

/// The paths of an index and why there is one; none for what has no entries of values.
fn shown_paths(index: &IndexSpec) -> Option<(Vec<String>, &'static str)> {
    match &index.shape {
        IndexShape::Path(kept) => {
            let why = match kept.why {
                KeptFor::Query => "query",
                KeptFor::Name => "named",
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
        IndexShape::Fields | IndexShape::Allowed(_) | IndexShape::Timeline => None,
    }
}
