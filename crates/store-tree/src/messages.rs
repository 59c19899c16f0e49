//! What the store's threads tell each other: requests to the committer, and the batches that go
//! from it through the journal to the trees.

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc},
};

use journal::{EncodedEntry, Entry, Mutation};
use store::{Commit, Error, Fence, Outcome, Space, Stamp};
use tokio::sync::oneshot;

use crate::place::Place;

/// Gets one outcome a commit, when these are durable and visible. May have gone.
pub(crate) type Asker = oneshot::Sender<Result<Vec<Outcome>, Error>>;

/// Commits that wait, and who wants to know.
pub(crate) struct CommitRequest {
    /// Each all or nothing; they share a sync.
    pub(crate) commits: Vec<Commit>,
    pub(crate) answer: Asker,
}

/// Who waits for a batch that is no commit.
pub(crate) type DoneSender = mpsc::Sender<Result<(), Error>>;

/// What the committer is told.
pub(crate) enum CommitterMessage {
    /// Commit this.
    Commit(CommitRequest),
    /// Make a space.
    MakeSpace(Space, DoneSender),
    /// Drop a space.
    DropSpace(Space, DoneSender),
    /// Take an entry that another owner of the journal has appended.
    Follow(Box<FollowedEntry>, DoneSender),
    /// From here on commits are taken, behind all that was followed.
    Lead(DoneSender),
    /// No commits are taken any more.
    Leave(DoneSender),
    /// The journal has nothing to do.
    Idle,
    /// Stop.
    Close,
}

/// An entry as another owner of the journal has appended it.
pub(crate) struct FollowedEntry {
    pub(crate) entry: Entry,
    pub(crate) encoded: EncodedEntry,
}

/// Whom to tell what.
pub(crate) struct CommitAnswer {
    pub(crate) asker: Asker,
    /// Of this request's commits, in their order.
    pub(crate) outcomes: Vec<Outcome>,
    /// An earlier batch has commits of the same request.
    pub(crate) continues: bool,
}

/// Requests whose commits are being ordered, until a batch has the last of each.
#[derive(Default)]
pub(crate) struct Askers {
    /// How many commits each has.
    pub(crate) waiting: VecDeque<(usize, Asker)>,
    /// Of their commits, as far as these were ordered.
    outcomes: VecDeque<Outcome>,
    /// So many of the outcomes are of batches that were handed on.
    handed_on: usize,
}

impl Askers {
    /// Begins a batch.
    pub(crate) fn begin_batch(&mut self) {
        self.handed_on = self.outcomes.len();
    }

    /// Outcomes of the batch, in the order of the commits.
    pub(crate) fn add_outcomes(&mut self, outcomes: Vec<Outcome>) {
        self.outcomes.extend(outcomes);
    }

    /// The answers to requests whose last commit is in the batch.
    pub(crate) fn take_complete(&mut self) -> Vec<CommitAnswer> {
        self.take_while(|count, ordered| count <= ordered)
    }

    /// The answers to all requests that are left, when no more is ordered.
    pub(crate) fn take_rest(&mut self) -> Vec<CommitAnswer> {
        self.take_while(|_, _| true)
    }

    /// The answers to the first requests for which this holds of their commits and of the outcomes
    /// that are left.
    fn take_while(&mut self, takes: impl Fn(usize, usize) -> bool) -> Vec<CommitAnswer> {
        let mut answers = Vec::new();
        while let Some((count, asker)) =
            self.waiting.pop_front_if(|(count, _)| takes(*count, self.outcomes.len()))
        {
            let ordered = count.min(self.outcomes.len());
            let outcomes = self.outcomes.drain(..ordered).collect();
            answers.push(CommitAnswer { asker, outcomes, continues: 0 < self.handed_on });
            // Only the first of a batch can have begun before it.
            self.handed_on = 0;
        }
        answers
    }
}

/// Mutations of one tree.
pub(crate) struct Run {
    pub(crate) place: Arc<Place>,
    pub(crate) mutations: Vec<Mutation>,
}

/// An entry on its way through the journal to the trees.
pub(crate) struct PendingEntry {
    pub(crate) encoded: EncodedEntry,
    /// The last stamp in it.
    pub(crate) last: Stamp,
    /// The number it has in the trees.
    pub(crate) under: u64,
    pub(crate) runs: Vec<Run>,
    /// A space that it makes.
    pub(crate) made: Option<Arc<Place>>,
    /// One that it drops.
    pub(crate) dropped: Option<Arc<Place>>,
}

/// A batch: what the committer hands on in one piece.
#[derive(Default)]
pub(crate) struct Batch {
    /// What is to be made durable; `None` when nothing is.
    pub(crate) entry: Option<PendingEntry>,
    /// Another owner's entry, which its journal has made durable.
    pub(crate) followed: bool,
    /// Of which run of entries it is: when one of a run is refused, all later ones are.
    pub(crate) epoch: u64,
    /// Commits that were not refused.
    pub(crate) committed: u64,
    /// It has a place in the in-flight table.
    pub(crate) in_flight: bool,
    /// What was closed while it was under way.
    pub(crate) fence: Option<(Arc<dyn Fence>, Outcome)>,
    /// Why it was not written.
    pub(crate) failed: Option<Error>,
    /// Sent when the batch is durable and visible, or has failed.
    pub(crate) answers: Vec<CommitAnswer>,
    /// Told when all is done.
    pub(crate) done: Option<DoneSender>,
}

impl Batch {
    /// Bytes that it takes in the journal.
    pub(crate) fn bytes(&self) -> usize {
        self.entry.as_ref().map_or(0, |entry| entry.encoded.bytes().len())
    }

    /// Mutations in it.
    pub(crate) fn mutations(&self) -> usize {
        let runs = self.entry.iter().flat_map(|entry| &entry.runs);
        runs.map(|run| run.mutations.len()).sum()
    }
}
