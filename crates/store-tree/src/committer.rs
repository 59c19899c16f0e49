//! The one thread that orders commits: it takes what is waiting, stamps it, checks conditions, makes
//! an entry of it and hands that to the appender, which makes it durable while the next is ordered.
//! Nobody waits for a writer of another document longer than that.
//!
//! The longer a sync takes, the more commits wait for the next entry: throughput grows with the
//! load, and a single writer waits for one sync. An entry that holds little waits for more while a
//! sync is under way ([`commits_worth_a_batch`]), since each costs threads their turns.
//!
//! A commit with a fence (a change of settings) ends its entry: nothing is ordered before the fence
//! is lowered. After an entry that the journal refused (a full disk) all that were made behind it
//! are refused too, and ordering begins again behind the last durable one.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering, mpsc},
};

use store::{Commit, Error, Kind, Outcome, Sequencer, Space, Timepiece};

use crate::{
    entry_maker::EntryMaker,
    inner::OpenStore,
    messages::{Askers, Batch, CommitRequest, CommitterMessage, DoneSender, FollowedEntry},
};

/// Commits of one turn at most; what waits beyond comes with the next.
const TURN_COMMITS: usize = 4_096;
/// Puts and deletes that are worth an entry of their own while another is synced; fewer wait for
/// more. A commit that indexes an item has thirty times those of one that stores a document.
const WORTH_MUTATIONS: usize = 64;
/// Bytes of an entry that takes no more commits: it has to fit into the journal, and into memory
/// several times.
const ENTRY_BYTES: usize = 2 * 1024 * 1024;

/// The committer's own state.
pub(crate) struct Committer {
    inner: Arc<OpenStore>,
    /// Database time, for stamps.
    time: Arc<dyn Timepiece>,
    /// Takes batches, in their order.
    appender: mpsc::Sender<Batch>,
    /// Gives stamps and checks conditions.
    sequencer: Sequencer,
    entries: EntryMaker,
    /// The run of entries that follow each other.
    epoch: u64,
    /// Whether commits are taken: the journal's entries are made here, and not followed.
    leads: bool,
    /// Whether the appender has something to do.
    syncing: bool,
    /// Puts and deletes of a commit of the last entry, on average.
    commit_mutations: usize,
    /// Requests that came since the last turn.
    waiting: Vec<CommitRequest>,
}

impl Committer {
    /// A committer that goes on behind what is in the trees.
    pub(crate) fn new(
        inner: Arc<OpenStore>,
        time: Arc<dyn Timepiece>,
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

    /// Serves messages until it is told to stop.
    pub(crate) fn run(mut self, messages: &mpsc::Receiver<CommitterMessage>) {
        while let Ok(first) = messages.recv() {
            let mut next = Some(first);
            // All that is in the mailbox by now is served in one turn.
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
            // `Idle` wakes this thread when the sync ends, so what waits does not wait for long.
            let worth = if self.syncing { commits_worth_a_batch(self.commit_mutations) } else { 1 };
            if worth <= self.waiting_commits()
                || self.waiting.iter().any(|request| request.commits.is_empty())
            {
                self.serve_waiting();
            }
        }
    }

    /// Commits of all requests that wait.
    fn waiting_commits(&self) -> usize {
        self.waiting.iter().map(|request| request.commits.len()).sum()
    }

    /// Hands a batch to the appender.
    fn enqueue(&mut self, batch: Batch) {
        self.syncing = true;
        // The appender ends after the committer.
        let _ = self.appender.send(Batch { epoch: self.epoch, ..batch });
    }

    /// Waits until all that was handed on is visible or has failed; returns what became of the last.
    fn drain(&mut self, batch: Batch) -> Result<(), Error> {
        let (done, wait) = mpsc::channel();
        self.enqueue(Batch { done: Some(done), ..batch });
        let ended = |_| Error::new(Kind::Unavailable, "the store is closed");
        wait.recv().map_err(ended)?
    }

    /// Before anything is ordered: the reason why nothing can be.
    fn prepare_commit(&mut self, needs_room: bool) -> Result<(), Error> {
        if !self.leads {
            return Err(Error::new(Kind::Moved, "this node is not the owner of the data"));
        }
        self.prepare(needs_room)
    }

    /// Before an entry is made: the reason why none can be, and a new beginning where the journal
    /// refused one.
    fn prepare(&mut self, needs_room: bool) -> Result<(), Error> {
        let inner = Arc::clone(&self.inner);
        let stopped = || inner.stop_reason().map_or(Ok(()), Err);
        stopped()?;
        if self.epoch <= inner.refused_epoch.load(Ordering::SeqCst) {
            self.begin_again();
        }
        let ended = || inner.stop_reason().is_some() || inner.ending.load(Ordering::SeqCst);
        if needs_room {
            inner.budget.wait_for_room(ended)?;
        }
        stopped()
    }

    /// Goes on behind the last entry that is durable.
    fn begin_again(&mut self) {
        let _ = self.drain(Batch::default());
        self.epoch += 1;
        let stamp = self.inner.applied.lock().stamp;
        self.sequencer = Sequencer::starting_after(stamp);
        self.entries = EntryMaker::new(&self.inner);
    }

    /// Takes another owner's entry; whoever asked hears of it when it is visible.
    fn serve_followed(&mut self, followed: FollowedEntry, done: DoneSender) {
        let made = match self.leads {
            true => Err(Error::new(Kind::Invalid, "an owner follows nobody")),
            false => self.prepare(true).and_then(|()| self.entries.follow(followed)),
        };
        let batch = match made {
            Ok(entry) => Batch { entry: Some(entry), followed: true, ..Batch::default() },
            Err(error) => Batch { failed: Some(error), ..Batch::default() },
        };
        self.enqueue(Batch { done: Some(done), ..batch });
    }

    /// Begins or ends to take commits, behind all that is under way. What waits is refused when it
    /// ends.
    fn serve_role(&mut self, leads: bool, done: &DoneSender) {
        if !self.waiting.is_empty() {
            self.serve_waiting();
        }
        self.begin_again();
        self.leads = leads;
        // An opening after this one goes on so.
        self.inner.leads.store(leads, Ordering::SeqCst);
        let _ = done.send(Ok(()));
    }

    /// Makes or drops a space; whoever asked hears of it when that is durable and visible.
    fn serve_space(&mut self, space: Space, make: bool, done: DoneSender) {
        if !self.waiting.is_empty() {
            self.serve_waiting();
        }
        let made = self.prepare_commit(make).and_then(|()| self.change_space(space, make));
        let batch = made.unwrap_or_else(|error| Batch { failed: Some(error), ..Batch::default() });
        self.enqueue(Batch { done: Some(done), ..batch });
    }

    /// The batch that makes or drops a space; one of nothing where that is not needed.
    fn change_space(&mut self, space: Space, make: bool) -> Result<Batch, Error> {
        let last = self.sequencer.last_stamp();
        let entry = match (self.entries.place_of(space).cloned(), make) {
            (None, true) => {
                // Made before the entry is durable: what fails here has left no trace.
                let number = self.inner.next_place.fetch_add(1, Ordering::SeqCst);
                let place = Arc::new(self.inner.trees.open_or_make(number, Some(space))?);
                self.entries.make_space(&place, space, last)?
            }
            (Some(place), false) => self.entries.drop_space(&place, space, last)?,
            (Some(_), true) | (None, false) => return Ok(Batch::default()),
        };
        Ok(Batch { entry: Some(entry), ..Batch::default() })
    }

    /// Takes all requests that wait. Each is answered with the batch that has the last of its
    /// commits, whatever becomes of those behind it.
    fn serve_waiting(&mut self) {
        let mut commits = Vec::new();
        let mut askers = Askers::default();
        for request in std::mem::take(&mut self.waiting) {
            askers.waiting.push_back((request.commits.len(), request.answer));
            commits.extend(request.commits);
        }
        // The closures of commits run here. One that panics may have left a batch half-ordered: the
        // store is stopped, and opened again from what is durable.
        let ordered =
            catch_unwind(AssertUnwindSafe(|| self.order_and_hand_on(commits, &mut askers)));
        let last = ordered.unwrap_or_else(|_| {
            let error = Error::new(Kind::Unavailable, "a commit failed in an unforeseen way");
            self.inner.stop_commits(&error);
            Batch { failed: Some(error), in_flight: true, ..Batch::default() }
        });
        self.enqueue(Batch { answers: askers.take_rest(), ..last });
    }

    /// Orders all; returns the last batch, which answers those who are left.
    fn order_and_hand_on(&mut self, commits: Vec<Commit>, askers: &mut Askers) -> Batch {
        let mut commits = commits;
        let mut before = None;
        loop {
            askers.begin_batch();
            // Nothing was entered in the in-flight table yet, so there is nothing to finish.
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
            askers.add_outcomes(std::mem::take(&mut ordered.outcomes));
            let fence = ordered.fence.take();
            let mut batch = match self.entries.make(ordered) {
                Ok(entry) => Batch { entry, committed: committed as u64, ..Batch::default() },
                Err(error) => {
                    // Stamps of this batch are in the sequencer, but nothing of it will be written.
                    self.inner.refused_epoch.store(self.epoch, Ordering::SeqCst);
                    Batch { failed: Some(error), ..Batch::default() }
                }
            };
            batch.in_flight = true;
            if fence.is_some() {
                // Nothing is ordered before the fence is lowered, after the batch is visible or has
                // failed.
                let answers = askers.take_complete();
                let failed = self.drain(Batch { fence, answers, ..batch }).err();
                batch = Batch { failed, ..Batch::default() };
            }
            if commits.is_empty() || batch.failed.is_some() {
                return batch;
            }
            if batch.in_flight {
                self.enqueue(Batch { answers: askers.take_complete(), ..batch });
            }
        }
    }
}

/// Commits of this many puts and deletes each that are worth an entry while another is synced; never
/// none, or there would be no end of empty entries.
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
