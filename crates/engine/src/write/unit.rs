//! Merges several commits into one atomic commit. The caller must ensure that they do not depend on
//! each other's keys, which the conditions would not detect.

use store::{Commit, Stamp};

/// Merges commits: all conditions, and all mutations in order.
pub(crate) fn as_one(mut commits: Vec<Commit>) -> Commit {
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
    let write =
        move |stamp: Stamp| writes.into_iter().flat_map(|write| write(stamp)).collect::<Vec<_>>();
    Commit { frees, ..Commit::new(conditions, write) }
}
