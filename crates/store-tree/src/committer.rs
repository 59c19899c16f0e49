//! The single thread that orders commits: it takes the waiting commits, stamps them, checks their
//! conditions, and passes them as an entry to the appender, which makes it durable while the next
//! entry is ordered. Writers of different documents wait for each other only while one entry is
//! ordered.
//!
//! The longer a sync takes, the more commits share the next entry: throughput grows with the load,
//! and a single writer waits for one sync. A small entry waits for more commits while a sync is in
//! progress ([`commits_worth_a_batch`]), since each entry costs context switches.
//!
//! A commit with a fence (a change of settings) ends its entry: nothing is ordered before the fence
//! is lowered. If the journal refuses an entry (a full disk), all later ones are refused too, and
//! ordering restarts after the last durable entry.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering, mpsc},
};

use store::{Commit, CommitClock, Error, Kind, Outcome, Sequencer, Space};

use crate::{
    entry_maker::EntryMaker,
    inner::OpenStore,
    messages::{
        Batch, CommitRequest, CommitterMessage, CompletionSender, FollowedEntry, PendingRequests,
    },
};

/// Maximum number of commits in a batch; the rest waits for the next one.
const TURN_COMMITS: usize = 4_096;
/// Number of puts and deletes that justify an entry while another one is synced. A commit that
/// indexes an item has thirty times as many as one that stores a document.
const WORTH_MUTATIONS: usize = 64;
/// Size at which an entry accepts no more commits: an entry must fit into the journal, and several
/// of them into memory.
const ENTRY_BYTES: usize = 2 * 1024 * 1024;

/// State of the committer thread.
pub(crate) struct Committer {
    inner: Arc<OpenStore>,
    time: Arc<dyn CommitClock>,
    /// Receives ordered batches, in order.
    appender: mpsc::Sender<Batch>,
    /// Assigns stamps and checks conditions.
    sequencer: Sequencer,
    entries: EntryMaker,
    /// Number of the current sequence of entries that depend on one another. Increased after a
    /// failed batch, which all later entries of its sequence depend on.
    epoch: u64,
    /// Whether commits are accepted; otherwise the store applies another node's entries.
    leads: bool,
    /// Whether the appender is busy.
    syncing: bool,
    /// Average number of puts and deletes per commit of the last entry.
    commit_mutations: usize,
    /// Requests that have arrived since the last batch.
    waiting: Vec<CommitRequest>,
}

impl Committer {
    /// Creates a committer that continues after the last applied entry.
    pub(crate) fn new(
        inner: Arc<OpenStore>,
        time: Arc<dyn CommitClock>,
        appender: mpsc::Sender<Batch>,
    ) -> Self {
        let stamp = inner.applied.lock().stamp;
        let inner_leads = inner.leads.load(Ordering::SeqCst);
        Self {
            entries: EntryMaker::new(&inner),
            inner,
            time,
            appender,
            sequencer: Sequencer::starting_after(stamp),
            epoch: 1,
            leads: inner_leads,
            syncing: false,
            commit_mutations: 1,
            waiting: Vec::new(),
        }
    }

    /// Handles messages until [`CommitterMessage::Close`] arrives.
    pub(crate) fn run(mut self, messages: &mpsc::Receiver<CommitterMessage>) {
        while let Ok(first) = messages.recv() {
            let mut next = Some(first);
            // All messages in the mailbox are handled before commits are ordered.
            while let Some(message) = next {
                match message {
                    CommitterMessage::Commit(request) => self.waiting.push(request),
                    CommitterMessage::MakeSpace(space, done) => self.serve_space(space, true, done),
                    CommitterMessage::DropSpace(space, done) => {
                        self.serve_space(space, false, done);
                    }
                    CommitterMessage::Follow(followed, done) => {
                        self.serve_followed(*followed, done)
                    }
                    CommitterMessage::Lead(done) => self.serve_role(true, &done),
                    CommitterMessage::Leave(done) => self.serve_role(false, &done),
                    CommitterMessage::Idle => self.syncing = false,
                    CommitterMessage::Close => return,
                }
                let full = TURN_COMMITS <= self.waiting_commits();
                next = if full { None } else { messages.try_recv().ok() };
            }
            // `Idle` arrives when the sync ends, so waiting commits are not delayed for long.
            let worth = if self.syncing { commits_worth_a_batch(self.commit_mutations) } else { 1 };
            if worth <= self.waiting_commits()
                || self.waiting.iter().any(|request| request.commits.is_empty())
            {
                self.serve_waiting();
            }
        }
    }

    /// Returns the number of waiting commits.
    fn waiting_commits(&self) -> usize {
        self.waiting.iter().map(|request| request.commits.len()).sum()
    }

    /// Passes a batch to the appender.
    fn enqueue(&mut self, batch: Batch) {
        self.syncing = true;
        // Cannot fail, since the appender ends after the committer.
        let _ = self.appender.send(Batch { epoch: self.epoch, ..batch });
    }

    /// Passes on a batch and waits until it and all earlier batches are visible or have failed;
    /// returns its result.
    fn drain(&mut self, batch: Batch) -> Result<(), Error> {
        let (done, wait) = mpsc::channel();
        self.enqueue(Batch { done: Some(done), ..batch });
        let ended = |_| Error::new(Kind::Unavailable, "the store is closed");
        wait.recv().map_err(ended)?
    }

    /// Checks whether commits can be accepted now. With `needs_room`, first waits while memtables
    /// or the journal exceed their budgets.
    fn prepare_commit(&mut self, needs_room: bool) -> Result<(), Error> {
        if !self.leads {
            return Err(Error::new(Kind::Moved, "this node is not the owner of the data"));
        }
        self.prepare(needs_room)
    }

    /// Checks whether an entry can be built; continues after the last applied entry if the journal
    /// has refused one. With `needs_room`, waits while memtables or the journal exceed their
    /// budgets.
    fn prepare(&mut self, needs_room: bool) -> Result<(), Error> {
        let inner = Arc::clone(&self.inner);
        let stopped = || inner.stop_reason().map_or(Ok(()), Err);
        stopped()?;
        if self.epoch <= inner.refused_epoch.load(Ordering::SeqCst) {
            self.restart_after_applied();
        }
        let ended = || inner.stop_reason().is_some() || inner.ending.load(Ordering::SeqCst);
        if needs_room {
            inner.budget.wait_for_room(ended)?;
        }
        stopped()
    }

    /// Waits for all batches, and continues after the last applied entry with a new `epoch`.
    fn restart_after_applied(&mut self) {
        let _ = self.drain(Batch::default());
        self.epoch += 1;
        let stamp = self.inner.applied.lock().stamp;
        self.sequencer = Sequencer::starting_after(stamp);
        self.entries = EntryMaker::new(&self.inner);
    }

    /// Applies another owner's entry; `done` is notified when it is visible.
    fn serve_followed(&mut self, followed: FollowedEntry, done: CompletionSender) {
        let made = match self.leads {
            true => Err(Error::new(Kind::Invalid, "the owner does not follow another node")),
            false => self.prepare(true).and_then(|()| self.entries.follow(followed)),
        };
        let batch = match made {
            Ok(entry) => Batch { entry: Some(entry), followed: true, ..Batch::default() },
            Err(error) => Batch { failed: Some(error), ..Batch::default() },
        };
        self.enqueue(Batch { done: Some(done), ..batch });
    }

    /// Starts or stops accepting commits, after everything in progress. When the store stops
    /// accepting commits, waiting ones are refused.
    fn serve_role(&mut self, leads: bool, done: &CompletionSender) {
        if !self.waiting.is_empty() {
            self.serve_waiting();
        }
        self.restart_after_applied();
        self.leads = leads;
        // Later openings of the store keep this role.
        self.inner.leads.store(leads, Ordering::SeqCst);
        let _ = done.send(Ok(()));
    }

    /// Creates or drops a space; `done` is notified when the change is durable and visible.
    fn serve_space(&mut self, space: Space, make: bool, done: CompletionSender) {
        if !self.waiting.is_empty() {
            self.serve_waiting();
        }
        let made = self.prepare_commit(make).and_then(|()| self.change_space(space, make));
        let batch = made.unwrap_or_else(|error| Batch { failed: Some(error), ..Batch::default() });
        self.enqueue(Batch { done: Some(done), ..batch });
    }

    /// Returns the batch that creates or drops a space; an empty one if nothing changes.
    fn change_space(&mut self, space: Space, make: bool) -> Result<Batch, Error> {
        let last = self.sequencer.last_stamp();
        let entry = match (self.entries.number_of(space), make) {
            (None, true) => {
                // Not used again, also if the entry fails.
                let number = self.inner.next_space_number.fetch_add(1, Ordering::SeqCst);
                self.entries.make_space(number, space, last)?
            }
            (Some(number), false) => self.entries.drop_space(number, space, last)?,
            (Some(_), true) | (None, false) => return Ok(Batch::default()),
        };
        Ok(Batch { entry: Some(entry), ..Batch::default() })
    }

    /// Orders all waiting requests. Each gets its reply with the batch that contains its last
    /// commit, regardless of later commits.
    fn serve_waiting(&mut self) {
        let mut commits = Vec::new();
        let mut pending_requests = PendingRequests::default();
        for request in std::mem::take(&mut self.waiting) {
            pending_requests.waiting.push_back((request.commits.len(), request.reply));
            commits.extend(request.commits);
        }
        // The closures that create mutations run here. A panic may leave a batch half ordered, so
        // the store is stopped and reopened from its durable data.
        let ordered = catch_unwind(AssertUnwindSafe(|| {
            self.order_and_hand_on(commits, &mut pending_requests)
        }));
        let last = ordered.unwrap_or_else(|_| {
            let error = Error::new(Kind::Unavailable, "panic in a commit");
            self.inner.stop_commits(&error);
            Batch { failed: Some(error), in_flight: true, ..Batch::default() }
        });
        self.enqueue(Batch { replies: pending_requests.take_rest(), ..last });
    }

    /// Orders all commits and passes them on in batches. Returns the last batch, which the caller
    /// passes on together with the replies to all requests that earlier batches have not completed.
    fn order_and_hand_on(
        &mut self,
        commits: Vec<Commit>,
        pending_requests: &mut PendingRequests,
    ) -> Batch {
        let mut commits = commits;
        let mut before = None;
        loop {
            pending_requests.begin_batch();
            // This batch was not entered into the in-flight table yet, so nothing has to be removed
            // from it.
            if let Err(error) = self.prepare_commit(true) {
                return Batch { failed: Some(error), ..Batch::default() };
            }
            let now = self.time.now_ms().max(self.sequencer.last_stamp().at_ms);
            self.inner.in_flight.enter_batch(now);
            let mut ordered = self.sequencer.order_within(
                commits,
                before,
                ENTRY_BYTES,
                &*self.time,
                &self.inner.in_flight,
            );
            commits = std::mem::take(&mut ordered.rest);
            let committed = |outcome: &&Outcome| matches!(outcome, Outcome::Committed(_));
            let committed = ordered.outcomes.iter().filter(committed).count();
            self.commit_mutations = ordered.mutations.len() / committed.max(1);
            before = ordered.outcomes.last().copied().or(before);
            pending_requests.add_outcomes(std::mem::take(&mut ordered.outcomes));
            let fence = ordered.fence.take();
            let mut batch = match self.entries.make(ordered) {
                Ok(entry) => Batch { entry, committed: committed as u64, ..Batch::default() },
                Err(error) => {
                    // The stamped batch is not written, so the epoch ends and the sequencer
                    // restarts.
                    self.inner.refused_epoch.store(self.epoch, Ordering::SeqCst);
                    Batch { failed: Some(error), ..Batch::default() }
                }
            };
            batch.in_flight = true;
            if fence.is_some() {
                // Waits until the batch is visible or has failed, which lowers the fence; no commit
                // is ordered before that.
                let replies = pending_requests.take_complete();
                let failed = self.drain(Batch { fence, replies, ..batch }).err();
                batch = Batch { failed, ..Batch::default() };
            }
            if commits.is_empty() || batch.failed.is_some() {
                return batch;
            }
            if batch.in_flight {
                self.enqueue(Batch { replies: pending_requests.take_complete(), ..batch });
            }
        }
    }
}

/// Returns how many commits with this many mutations justify an entry while another is synced; at
/// least one, to avoid empty entries.
fn commits_worth_a_batch(commit_mutations: usize) -> usize {
    (WORTH_MUTATIONS / commit_mutations.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_large_commits_are_worth_a_batch_and_nothing_never_is() {
        let commits = [0, 1, 2, 30, 64, 65, usize::MAX].map(commits_worth_a_batch);
        assert_eq!(commits, [64, 64, 32, 2, 1, 1, 1]);
    }
}
