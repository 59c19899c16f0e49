//! Messages between the store's threads: requests to the committer, and the batches that it passes
//! through the journal to the tree.

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc},
};

use journal::{EncodedEntry, Entry, Mutation};
use store::{Commit, Error, Fence, Outcome, Space, Stamp};
use tokio::sync::oneshot;

use crate::directory::DirectoryChange;

/// Receives one outcome per commit when these are durable and visible. The receiver may be dropped.
pub(crate) type OutcomeSender = oneshot::Sender<Result<Vec<Outcome>, Error>>;

/// Waiting commits and where to send their outcomes.
pub(crate) struct CommitRequest {
    /// The commits to execute; each is atomic, and all share a sync.
    pub(crate) commits: Vec<Commit>,
    pub(crate) reply: OutcomeSender,
}

/// Receives the result of a batch that contains no commits.
pub(crate) type CompletionSender = mpsc::Sender<Result<(), Error>>;

/// A message to the committer.
pub(crate) enum CommitterMessage {
    Commit(CommitRequest),
    MakeSpace(Space, CompletionSender),
    DropSpace(Space, CompletionSender),
    /// Apply an entry that another owner of the journal has appended.
    Follow(Box<FollowedEntry>, CompletionSender),
    /// Accept commits from now on, after all entries that were followed.
    Lead(CompletionSender),
    Leave(CompletionSender),
    /// The appender has become idle.
    Idle,
    Close,
}

/// An entry that another owner of the journal has appended.
pub(crate) struct FollowedEntry {
    pub(crate) entry: Entry,
    pub(crate) encoded: EncodedEntry,
}

/// A reply to a commit request.
pub(crate) struct CommitReply {
    pub(crate) outcome_sender: OutcomeSender,
    /// Outcomes of the request's commits, in order.
    pub(crate) outcomes: Vec<Outcome>,
    /// Whether an earlier batch contains other commits of the same request.
    pub(crate) continues: bool,
}

/// Requests whose commits are being ordered, until a batch contains the last commit of each.
#[derive(Default)]
pub(crate) struct PendingRequests {
    /// For each request, its number of commits and where to send their outcomes.
    pub(crate) waiting: VecDeque<(usize, OutcomeSender)>,
    /// Outcomes of the commits ordered so far whose requests have no reply yet.
    outcomes: VecDeque<Outcome>,
    /// Number of outcomes that belong to batches which were already passed on.
    handed_on: usize,
}

impl PendingRequests {
    pub(crate) fn begin_batch(&mut self) {
        self.handed_on = self.outcomes.len();
    }

    /// Adds the batch's outcomes, in commit order.
    pub(crate) fn add_outcomes(&mut self, outcomes: Vec<Outcome>) {
        self.outcomes.extend(outcomes);
    }

    /// Returns the replies to requests whose last commit is in the batch.
    pub(crate) fn take_complete(&mut self) -> Vec<CommitReply> {
        self.take_while(|count, ordered| count <= ordered)
    }

    /// Returns the replies to all remaining requests when nothing more is ordered.
    pub(crate) fn take_rest(&mut self) -> Vec<CommitReply> {
        self.take_while(|_, _| true)
    }

    /// Returns the replies to the first requests, as long as `takes` accepts the request's number
    /// of commits and the number of remaining outcomes.
    fn take_while(&mut self, takes: impl Fn(usize, usize) -> bool) -> Vec<CommitReply> {
        let mut replies = Vec::new();
        while let Some((count, outcome_sender)) =
            self.waiting.pop_front_if(|(count, _)| takes(*count, self.outcomes.len()))
        {
            let ordered = count.min(self.outcomes.len());
            let outcomes = self.outcomes.drain(..ordered).collect();
            replies.push(CommitReply { outcome_sender, outcomes, continues: 0 < self.handed_on });
            // Only the first request of a batch can have commits in an earlier batch.
            self.handed_on = 0;
        }
        replies
    }
}

/// An entry on its way through the journal to the tree.
pub(crate) struct PendingEntry {
    pub(crate) encoded: EncodedEntry,
    /// The stamp of the last commit in the entry.
    pub(crate) last: Stamp,
    /// The entry's sequence number: see [`Applied::under`](crate::inner::Applied::under).
    pub(crate) under: u64,
    /// Mutations of spaces that exist after the entry.
    pub(crate) mutations: Vec<Mutation>,
    /// Spaces that the entry creates or drops.
    pub(crate) changes: Vec<DirectoryChange>,
}

/// Commits that the committer has ordered and passes on together.
#[derive(Default)]
pub(crate) struct Batch {
    /// Entry to be made durable, if any.
    pub(crate) entry: Option<PendingEntry>,
    /// Whether the batch is an entry that another owner has appended and made durable.
    pub(crate) followed: bool,
    /// The committer's epoch: if an entry is refused, all later ones of the same epoch are, since
    /// they depend on it.
    pub(crate) epoch: u64,
    /// Number of accepted commits in the batch.
    pub(crate) committed: u64,
    /// Whether the batch is in the in-flight table.
    pub(crate) in_flight: bool,
    /// Fence to be lowered when the batch is done.
    pub(crate) fence: Option<(Arc<dyn Fence>, Outcome)>,
    /// The error, if the batch was not written.
    pub(crate) failed: Option<Error>,
    /// Replies to send when the batch is durable and visible, or has failed.
    pub(crate) replies: Vec<CommitReply>,
    /// Notified when the batch was applied or has failed.
    pub(crate) done: Option<CompletionSender>,
}

impl Batch {
    /// Returns the batch's size in the journal.
    pub(crate) fn bytes(&self) -> usize {
        self.entry.as_ref().map_or(0, |entry| entry.encoded.bytes().len())
    }

    /// Returns the batch's number of mutations.
    pub(crate) fn mutations(&self) -> usize {
        self.entry.as_ref().map_or(0, |entry| entry.mutations.len())
    }
}
