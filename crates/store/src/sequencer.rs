//! The one order of commits: stamps them, checks their conditions against every commit before them,
//! visible or not, and folds sums. Shared by the embedded stores; does no I/O.
//!
//! "No later commit wrote this key" is answered from memory, without a read: the hashes of the keys
//! written lately, in two generations, each with the number of the last commit that wrote it. A
//! writer whose view is older than both is refused, as if the key had been written, and looks
//! again.
//!
//! ```text
//!  young:  key → seq       new writes go here; full: it becomes the old one
//!  old:    key → seq       forgotten as a whole when the young one is full
//! ```

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher},
};

use bytes::Bytes;
use foldhash::fast::RandomState;

use crate::{
    commit::{Commit, Condition, Mutation, Outcome, Refusal, Stamp},
    contract::Timepiece,
    in_flight::InFlight,
    space::Space,
};

/// How many keys a generation of recent writes holds before the older generation is forgotten.
const GENERATION_KEYS: usize = 1 << 18;

/// What is hashed is a hash already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The newest `seq` by the hash of a key.
type Newest = HashMap<u64, u64, BuildHasherDefault<AsItIs>>;

/// Which keys were written lately, by hash: a collision refuses a commit that could have passed,
/// and its writer looks again.
#[derive(Debug, Default)]
struct RecentWrites {
    hasher: RandomState,
    young: Newest,
    old: Newest,
    /// Writes up to this `seq` may have been forgotten.
    forgotten: u64,
    /// The newest `seq` in `old`.
    old_newest: u64,
}

impl RecentWrites {
    /// Keyed by the process, so that nobody can make keys collide.
    fn hash_key(&self, space: Space, key: &[u8]) -> u64 {
        self.hasher.hash_one((space, key))
    }

    /// Whether a commit after `seq` may have written the key.
    fn is_newer(&self, space: Space, key: &[u8], seq: u64) -> bool {
        if seq < self.forgotten {
            return true;
        }
        let hash = self.hash_key(space, key);
        let newest = self.young.get(&hash).or_else(|| self.old.get(&hash));
        newest.is_some_and(|newest| seq < *newest)
    }

    /// A commit has written the key.
    fn note_write(&mut self, space: Space, key: &[u8], seq: u64) {
        if GENERATION_KEYS <= self.young.len() {
            // Views from before that are refused from now on.
            self.forgotten = self.old_newest;
            // The room of the oldest is used again.
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
            self.old_newest = seq - 1;
        }
        let hash = self.hash_key(space, key);
        self.young.insert(hash, seq);
    }
}

/// Pairs of sums by their keys.
pub type FoldedSums = HashMap<(Space, Bytes), [i64; 2], RandomState>;

/// Commits in their order, ready to be written as one batch.
#[derive(Debug, Default)]
pub struct OrderedBatch {
    /// One a commit, in the order given.
    pub outcomes: Vec<Outcome>,
    /// Puts and deletes in order; a later one of the same key wins.
    pub mutations: Vec<Mutation>,
    /// Sums to add, folded.
    pub sums: FoldedSums,
    /// The last stamp given.
    pub last: Option<Stamp>,
    /// Where the commits that were not ordered begin: a fence ends a batch.
    pub rest: Vec<Commit>,
    /// Bytes of keys and values of the mutations.
    pub bytes: usize,
    /// What became of the commit in front of these.
    pub before: Option<Outcome>,
    /// The fence that was raised, to be lowered with this outcome.
    pub fence: Option<(std::sync::Arc<dyn crate::commit::Fence>, Outcome)>,
}

impl std::fmt::Debug for dyn crate::commit::Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fence")
    }
}

/// Gives stamps.
#[derive(Debug, Default)]
pub struct Sequencer {
    recent: RecentWrites,
    seq: u64,
    at_ms: i64,
}

impl Sequencer {
    /// Goes on after the last stamp of an earlier run.
    pub fn starting_after(last: Stamp) -> Self {
        let recent =
            RecentWrites { forgotten: last.seq, old_newest: last.seq, ..RecentWrites::default() };
        Self { recent, seq: last.seq, at_ms: last.at_ms }
    }

    /// The last stamp given.
    pub fn last_stamp(&self) -> Stamp {
        Stamp { seq: self.seq, at_ms: self.at_ms }
    }

    /// Orders commits up to and including the first with a fence. The batch has to be in the
    /// in-flight table already.
    pub fn order_commits(
        &mut self,
        commits: Vec<Commit>,
        time: &dyn Timepiece,
        in_flight: &InFlight,
    ) -> OrderedBatch {
        self.order_within(commits, None, usize::MAX, time, in_flight)
    }

    /// The same, and no more commits once there are this many bytes to be written. `before` is what
    /// became of the commit in front of them, which an earlier batch has.
    pub fn order_within(
        &mut self,
        commits: Vec<Commit>,
        before: Option<Outcome>,
        limit_bytes: usize,
        time: &dyn Timepiece,
        in_flight: &InFlight,
    ) -> OrderedBatch {
        let mut ordered = OrderedBatch { before, ..OrderedBatch::default() };
        let mut commits = commits.into_iter();
        while ordered.bytes < limit_bytes
            && let Some(commit) = commits.next()
        {
            let fence = commit.fence.clone();
            if let Some(fence) = &fence {
                fence.raise();
            }
            // A fence is raised by now: no view opens between the stamp and the publication.
            let outcome = self.order_one(commit, time, in_flight, &mut ordered);
            ordered.outcomes.push(outcome);
            if let Some(fence) = fence {
                ordered.fence = Some((fence, outcome));
                break;
            }
        }
        ordered.rest = commits.collect();
        ordered
    }

    /// Checks the conditions of one commit and, where they hold, stamps it and takes its mutations.
    fn order_one(
        &mut self,
        commit: Commit,
        time: &dyn Timepiece,
        in_flight: &InFlight,
        ordered: &mut OrderedBatch,
    ) -> Outcome {
        // Stamps never go back, whatever the clock says.
        let at_ms = time.now_ms().max(self.at_ms);
        for condition in &commit.conditions {
            let refusal = match condition {
                Condition::NotNewer { space, key, seq } => {
                    self.recent.is_newer(*space, key, *seq).then_some(Refusal::Newer)
                }
                Condition::Before(instant_ms) => (*instant_ms <= at_ms).then_some(Refusal::Late),
                Condition::AfterPrevious => {
                    match ordered.outcomes.last().or(ordered.before.as_ref()) {
                        Some(Outcome::Refused(refusal)) => Some(*refusal),
                        _ => None,
                    }
                }
            };
            if let Some(refusal) = refusal {
                return Outcome::Refused(refusal);
            }
        }
        self.seq += 1;
        self.at_ms = at_ms;
        // Before the closure makes anything of the stamp: a view that opens now must not be older.
        in_flight.note_stamp(at_ms);
        let stamp = Stamp { seq: self.seq, at_ms };
        for mutation in (commit.write)(stamp) {
            match mutation {
                Mutation::Add { space, key, by } => {
                    let sum = ordered.sums.entry((space, key)).or_default();
                    sum[0] = sum[0].saturating_add(by[0]);
                    sum[1] = sum[1].saturating_add(by[1]);
                }
                Mutation::Put { space, ref key, .. } | Mutation::Delete { space, ref key } => {
                    // Sums are left out: adding meets no condition.
                    self.recent.note_write(space, key, stamp.seq);
                    ordered.bytes += mutation.bytes();
                    ordered.mutations.push(mutation);
                }
            }
        }
        ordered.last = Some(stamp);
        Outcome::Committed(stamp)
    }
}

/// A pair of sums as stored.
pub fn encode_count(sums: [i64; 2]) -> Bytes {
    let mut out = Vec::with_capacity(16);
    out.extend_from_slice(&sums[0].to_be_bytes());
    out.extend_from_slice(&sums[1].to_be_bytes());
    Bytes::from(out)
}

/// Reads what [`encode_count`] wrote; anything else is zero.
pub fn decode_count(bytes: &[u8]) -> [i64; 2] {
    let sum = |at: usize| -> Option<i64> {
        Some(i64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    };
    [sum(0).unwrap_or(0), sum(8).unwrap_or(0)]
}
