//! Merges several commits into one atomic commit. The caller must ensure that they do not depend on
//! each other's keys, which the conditions would not detect.

use store::{Commit, Stamp};

use crate::change_log::KeptLog;

/// Merges commits: all conditions, and all mutations in order.
/// Their records in the change log, if it is kept, are numbered in order.
pub(crate) fn as_one(mut commits: Vec<Commit>, log: Option<KeptLog>) -> Commit {
    if commits.len() == 1
        && let Some(commit) = commits.pop()
    {
        return commit;
    }
    // On a full disk, only commits that free space as a whole are accepted.
    let frees = commits.iter().all(|commit| commit.frees);
    let mut conditions = Vec::new();
    let mut writes = Vec::with_capacity(commits.len());
    for commit in commits {
        conditions.extend(commit.conditions);
        writes.push(commit.write);
    }
    let write = move |stamp: Stamp| {
        let mut out = writes.into_iter().flat_map(|write| write(stamp)).collect::<Vec<_>>();
        log.iter().for_each(|log| log.number_changes(stamp, &mut out));
        out
    };
    Commit { frees, ..Commit::new(conditions, write) }
}
