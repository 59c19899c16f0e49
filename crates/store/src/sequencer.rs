//! Orders commits: stamps them, checks their conditions against every earlier commit, visible or
//! not, and folds sums. Shared by all stores; does no I/O.
//!
//! "No later commit wrote this key" is decided in memory, without a read, from the hashes of
//! recently written keys. These are kept in two generations, each with the `seq` of the last commit
//! that wrote the key. A writer whose view is older than both generations is refused as if the key
//! had been written, and retries in a new view.
//!
//! ```text
//!  young:  key -> seq       receives new writes; when full, it replaces the old generation
//!  old:    key -> seq       discarded as a whole at that moment
//! ```

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher},
    time::Duration,
};

use bytes::Bytes;
use foldhash::fast::RandomState;

use crate::{
    cluster_time::NUMBERS,
    commit::{Commit, Condition, Mutation, Outcome, Refusal, Stamp},
    contract::CommitClock,
    in_flight::InFlight,
    space::Space,
};

/// Maximum number of keys in each of the two generations of recently written keys.
const GENERATION_KEYS: usize = 1 << 18;

/// Maximum number of times that the sequencer waits for the clock to advance.
const CLOCK_WAITS: usize = 4;
/// Duration of each of these waits.
const CLOCK_WAIT: Duration = Duration::from_micros(500);

/// A hasher that returns its input unchanged, since the keys of the maps are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
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

/// The newest `seq` of each key, by the key's hash.
type Newest = HashMap<u64, u64, BuildHasherDefault<IdentityHasher>>;

/// The recently written keys, by hash. A hash collision refuses a commit that could have succeeded;
/// its writer then retries.
#[derive(Debug, Default)]
struct RecentWrites {
    hasher: RandomState,
    young: Newest,
    old: Newest,
    /// Writes up to this `seq` may have been evicted from the record of recent writes.
    forgotten: u64,
    /// The newest `seq` of all keys in `old`.
    old_newest: u64,
}

impl RecentWrites {
    /// Hashes with a random seed per process, so that clients cannot construct collisions.
    fn hash_key(&self, space: Space, key: &[u8]) -> u64 {
        self.hasher.hash_one((space, key))
    }

    /// Returns whether a commit after `seq` may have written the key.
    fn is_newer(&self, space: Space, key: &[u8], seq: u64) -> bool {
        if seq < self.forgotten {
            return true;
        }
        let hash = self.hash_key(space, key);
        let newest = self.young.get(&hash).or_else(|| self.old.get(&hash));
        newest.is_some_and(|newest| seq < *newest)
    }

    /// Records that the commit with this `seq` has written the key.
    fn record_write(&mut self, space: Space, key: &[u8], seq: u64) {
        if GENERATION_KEYS <= self.young.len() {
            // Conditions on views before the newest discarded write are refused from now on.
            self.forgotten = self.old_newest;
            // Swapping reuses the allocation of the discarded generation.
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
            self.old_newest = seq - 1;
        }
        let hash = self.hash_key(space, key);
        self.young.insert(hash, seq);
    }
}

/// Pairs of amounts to add, by space and key.
pub type FoldedSums = HashMap<(Space, Bytes), [i64; 2], RandomState>;

/// Ordered commits, ready to be written as one batch.
#[derive(Debug, Default)]
pub struct OrderedBatch {
    /// One outcome per commit, in the order of the commits.
    pub outcomes: Vec<Outcome>,
    /// Puts and deletes in order, of which the last one for a key applies.
    pub mutations: Vec<Mutation>,
    /// Amounts to add, summed by key.
    pub sums: FoldedSums,
    /// Stamp of the last ordered commit; `None` if none was ordered.
    pub last: Option<Stamp>,
    /// Commits that were not ordered, because a fence or the size limit has ended the batch.
    pub rest: Vec<Commit>,
    /// Size of the keys and values of the mutations.
    pub bytes: usize,
    /// Outcome of the preceding commit of the same call, if an earlier batch has ordered it.
    pub before: Option<Outcome>,
    /// The fence that was raised, and the outcome to pass to it when it is lowered.
    pub fence: Option<(std::sync::Arc<dyn crate::commit::Fence>, Outcome)>,
}

impl std::fmt::Debug for dyn crate::commit::Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fence")
    }
}

/// Assigns stamps to commits and checks their conditions.
#[derive(Debug, Default)]
pub struct Sequencer {
    recent: RecentWrites,
    seq: u64,
    at_ms: i64,
}

impl Sequencer {
    /// Creates a sequencer that continues after the last stamp of an earlier run.
    pub fn starting_after(last: Stamp) -> Self {
        let recent =
            RecentWrites { forgotten: last.seq, old_newest: last.seq, ..RecentWrites::default() };
        Self { recent, seq: last.seq, at_ms: last.at_ms }
    }

    /// Returns the last stamp assigned.
    pub fn last_stamp(&self) -> Stamp {
        Stamp { seq: self.seq, at_ms: self.at_ms }
    }

    /// Orders commits up to and including the first with a fence. The batch must already be in the
    /// in-flight table.
    pub fn order_commits(
        &mut self,
        commits: Vec<Commit>,
        time: &dyn CommitClock,
        in_flight: &InFlight,
    ) -> OrderedBatch {
        self.order_within(commits, None, usize::MAX, time, in_flight)
    }

    /// Orders commits like `order_commits`, but stops once they write `limit_bytes` bytes. `before`
    /// is the outcome of the preceding commit of the same call, if an earlier batch has ordered it.
    pub fn order_within(
        &mut self,
        commits: Vec<Commit>,
        before: Option<Outcome>,
        limit_bytes: usize,
        time: &dyn CommitClock,
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
            // The fence was raised before, so no view opens between stamp and publication.
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

    /// Returns the instant of the next stamp. It is never before the last one, even if the clock
    /// goes back, and is after it where the numbers of cluster times start over. This happens once
    /// in a million commits; a clock that stands still is then left one millisecond behind.
    #[expect(
        clippy::disallowed_methods,
        reason = "the sequencer waits for the clock to advance, about once per million commits"
    )]
    fn next_instant(&self, time: &dyn CommitClock) -> i64 {
        let now = time.now_ms();
        if self.seq % NUMBERS + 1 < NUMBERS || self.at_ms < now {
            return now.max(self.at_ms);
        }
        for _ in 0..CLOCK_WAITS {
            std::thread::sleep(CLOCK_WAIT);
            let now = time.now_ms();
            if self.at_ms < now {
                return now;
            }
        }
        self.at_ms.saturating_add(1)
    }

    /// Checks the conditions of one commit and, if they hold, stamps it and takes its mutations.
    fn order_one(
        &mut self,
        commit: Commit,
        time: &dyn CommitClock,
        in_flight: &InFlight,
        ordered: &mut OrderedBatch,
    ) -> Outcome {
        let at_ms = self.next_instant(time);
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
        // Recorded before the mutations are created: a view that opens from now on must not be
        // older than this commit.
        in_flight.record_stamp(at_ms);
        let stamp = Stamp { seq: self.seq, at_ms };
        for mutation in (commit.write)(stamp) {
            match mutation {
                Mutation::Add { space, key, by } => {
                    let sum = ordered.sums.entry((space, key)).or_default();
                    sum[0] = sum[0].saturating_add(by[0]);
                    sum[1] = sum[1].saturating_add(by[1]);
                }
                Mutation::Put { space, ref key, .. } | Mutation::Delete { space, ref key } => {
                    // Additions to sums are not recorded, because no condition refers to a sum.
                    self.recent.record_write(space, key, stamp.seq);
                    ordered.bytes += mutation.bytes();
                    ordered.mutations.push(mutation);
                }
            }
        }
        ordered.last = Some(stamp);
        Outcome::Committed(stamp)
    }
}

/// Encodes a pair of sums as stored.
pub fn encode_count(sums: [i64; 2]) -> Bytes {
    let mut out = Vec::with_capacity(16);
    out.extend_from_slice(&sums[0].to_be_bytes());
    out.extend_from_slice(&sums[1].to_be_bytes());
    Bytes::from(out)
}

/// Decodes a pair of sums as encoded by [`encode_count`]; missing bytes count as zero.
pub fn decode_count(bytes: &[u8]) -> [i64; 2] {
    let sum = |at: usize| -> Option<i64> {
        Some(i64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
    };
    [sum(0).unwrap_or(0), sum(8).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cluster_time::ClusterTime, laws::ManualTime};

    #[test]
    fn cluster_times_increase_while_the_clock_stands_still() {
        let (time, in_flight) = (ManualTime::default(), InFlight::default());
        time.set(1_000);
        let start = Stamp { seq: NUMBERS - 3, at_ms: 1_000 };
        let mut sequencer = Sequencer::starting_after(start);
        let commits = (0..4).map(|_| Commit::new(Vec::new(), |_| Vec::new())).collect();
        let ordered = sequencer.order_commits(commits, &time, &in_flight);
        let mut times = vec![ClusterTime::of_commit(start)];
        for outcome in ordered.outcomes {
            let Outcome::Committed(stamp) = outcome else { panic!("a commit was refused") };
            times.push(ClusterTime::of_commit(stamp));
        }
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
        assert_eq!(sequencer.last_stamp(), Stamp { seq: NUMBERS + 1, at_ms: 1_001 });
    }
}
