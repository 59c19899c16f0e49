//! Several commits as one, which takes place as a whole or not at all. It decides nothing about what
//! may stand together: of two that depend on each other's keys, conditions would see neither.

use store::{Commit, Stamp};

/// All of these as one commit: under all of their conditions, with all that they write.
pub(crate) fn as_one(mut commits: Vec<Commit>) -> Commit {
    if commits.len() == 1
        && let Some(commit) = commits.pop()
    {
        return commit;
    }
    // On a full disk only commits that give space back as a whole are taken.
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
