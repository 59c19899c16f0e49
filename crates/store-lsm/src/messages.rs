//! What the store's threads tell each other: requests to the committer, and the batches that it
//! hands to the syncer.

use std::sync::{Arc, mpsc};

use store::{Commit, Error, Fence, Outcome};
use tokio::sync::oneshot;

use crate::{meta::Position, open_view::OpenView};

/// Commits that wait, and who wants to know.
pub(crate) struct CommitRequest {
    /// Each all or nothing; they share a sync.
    pub(crate) commits: Vec<Commit>,
    /// Gets one outcome a commit, when these are durable and visible.
    pub(crate) answer: oneshot::Sender<Result<Vec<Outcome>, Error>>,
}

/// What the committer is told.
pub(crate) enum CommitterMessage {
    /// Commit this.
    Commit(CommitRequest),
    /// Publish a snapshot of what is durable, so that older ones pin nothing.
    Refresh(mpsc::Sender<()>),
    /// The syncer has nothing to do.
    Idle,
    /// Stop.
    Close,
}

/// Whom to tell what.
pub(crate) struct CommitAnswer {
    /// May have gone.
    pub(crate) asker: oneshot::Sender<Result<Vec<Outcome>, Error>>,
    /// Of this request's commits, in their order.
    pub(crate) outcomes: Vec<Outcome>,
}

/// A batch that the tree has, but perhaps not the disk.
#[derive(Default)]
pub(crate) struct WrittenBatch {
    /// A snapshot that ends with it.
    pub(crate) open: Option<Arc<OpenView>>,
    /// Its position; `None` when there is nothing to sync.
    pub(crate) position: Option<Position>,
    /// Commits that were not refused.
    pub(crate) committed: u64,
    /// It has a place in the in-flight table.
    pub(crate) in_flight: bool,
    /// What was closed while it was under way.
    pub(crate) fence: Option<(Arc<dyn Fence>, Outcome)>,
    /// Why it was not written.
    pub(crate) failed: Option<Error>,
    /// One a commit, until they are dealt out.
    pub(crate) outcomes: Vec<Outcome>,
    /// Sent when the batch is durable and visible, or has failed.
    pub(crate) answers: Vec<CommitAnswer>,
    /// Told when all is done.
    pub(crate) done: Option<mpsc::Sender<()>>,
}
