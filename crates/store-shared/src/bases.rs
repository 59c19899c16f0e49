//! Bases (full copies of a shard) in the ledger, the replicated database of the cluster: an owner
//! writes a base piece by piece while it reads the tree, and publishes it by a compare-and-swap of
//! the shard record. Nodes that are empty or lag too far load bases. The two newest bases and the
//! journal after the older one are kept, so that a node that is loading a base or lags by one can
//! continue.

use std::sync::Arc;

use cluster::{BaseRecord, Ledger, Position, Reply, Request, Settings, ShardRecord, Swapped};
use tokio::sync::{
    mpsc::{Receiver, UnboundedSender},
    oneshot,
};
use uuid::Uuid;

use crate::{
    feeder::FeederTask,
    local_copy::BaseMessage,
    requests::{retry_until_reply, shard_record, write},
};

/// Ticks of the driver between attempts to make a base, about 10 s.
const RETRY_TICKS: u32 = 2_000;
/// Number of consecutive empty segments after which an epoch is assumed to have no further
/// segments.
const EMPTY_MAX: u64 = 2;

/// Number of a shard, and the outcome of an attempt to make a base: the base, or `None` if it
/// failed.
pub(crate) type BaseOutcome = (u32, Option<BaseRecord>);

/// Decides when the owner makes the next base (full copy of the shard).
#[derive(Debug, Default)]
pub(crate) struct BaseSchedule {
    /// Bytes of the journal since the last base, as far as this node has seen them.
    bytes: u64,
    /// Number of the last entry in the newest base.
    n: u64,
    /// Size of the newest base in bytes.
    size: u64,
    /// Whether a base is being written now.
    is_made: bool,
    /// Number of checks for a due base to skip after an attempt to make one has failed.
    pause: u32,
    /// Callers that wait for a base, each with the entry that the base has to contain at least.
    wanted: Vec<(u64, oneshot::Sender<u64>)>,
}

impl BaseSchedule {
    /// Counts bytes of committed entries.
    pub(crate) fn count_bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Requests a base that contains this entry; `done` receives the number of the last entry in
    /// the base.
    pub(crate) fn request(&mut self, entry: u64, done: oneshot::Sender<u64>) {
        self.wanted.push((entry, done));
    }

    /// Notifies callers whose requested base exists.
    fn notify_waiting(&mut self) {
        let n = self.n;
        for (_, done) in self.wanted.extract_if(.., |(entry, _)| *entry <= n) {
            // Fails if the caller has stopped waiting.
            let _ = done.send(n);
        }
        self.wanted.retain(|(_, done)| !done.is_closed());
    }

    /// Returns whether an owner that has committed up to `n` should start to write a base; `seen`
    /// is the newest base known. The interval between bases grows with their size, so that each
    /// byte is written to about three bases at most.
    pub(crate) fn is_due(&mut self, n: u64, seen: Option<BaseRecord>, settings: &Settings) -> bool {
        if let Some(seen) = seen.filter(|seen| self.n < seen.n) {
            (self.n, self.size, self.bytes) = (seen.n, seen.bytes, 0);
        }
        self.notify_waiting();
        let is_due = settings.base_bytes.max(self.size / 2) <= self.bytes
            || settings.base_entries <= n.saturating_sub(self.n)
            || !self.wanted.is_empty();
        let begins = is_due && !self.is_made && self.pause == 0;
        self.pause = self.pause.saturating_sub(1);
        if begins {
            (self.is_made, self.bytes) = (true, 0);
        }
        begins
    }

    /// Records the end of an attempt to write a base: the base, or `None` if it failed.
    pub(crate) fn record_outcome(&mut self, base: Option<BaseRecord>) {
        self.is_made = false;
        match base {
            Some(base) if self.n <= base.n => (self.n, self.size) = (base.n, base.bytes),
            Some(_) => {}
            None => self.pause = RETRY_TICKS,
        }
    }
}

/// Writes the data read from a tree to the ledger and publishes the base. Returns the base if it
/// was published and `None` otherwise.
pub(crate) async fn put<L: Ledger>(
    ledger: Arc<L>,
    shard: u32,
    mut made: Receiver<BaseMessage>,
) -> Option<BaseRecord> {
    let ledger = &*ledger;
    let Some(BaseMessage::At(position)) = made.recv().await else { return None };
    let id = Uuid::new_v4().as_u64_pair().0.max(1);
    let Position { epoch, segment, n, checksum } = position;
    let mut base = BaseRecord { id, epoch, segment, n, checksum, pieces: 0, bytes: 0 };
    loop {
        match made.recv().await {
            Some(BaseMessage::Piece(body)) => {
                base.bytes += body.len() as u64;
                write(ledger, Request::PutPiece { shard, base: id, piece: base.pieces, body })
                    .await;
                base.pieces += 1;
            }
            Some(BaseMessage::End) => break,
            // The tree could not be read, so the base is incomplete.
            _ => {
                forget(ledger, shard, &base).await;
                return None;
            }
        }
    }
    let record = shard_record(ledger, shard).await;
    let newest = record.newest_base().copied();
    if newest.is_some_and(|newest| n <= newest.n) || !record.admits(position) {
        forget(ledger, shard, &base).await;
        return None;
    }
    let bases: Vec<BaseRecord> = newest.into_iter().chain([base]).collect();
    let request = Request::SetBase { shard, before: record.base(), bases: bases.clone() };
    let swapped = retry_until_reply(ledger, request, |reply| match reply {
        Reply::Swapped(swapped) => Some(swapped),
        _ => None,
    });
    if swapped.await != Swapped::Done {
        // A request without a reply may have published the base, and another may have followed.
        let shown = shard_record(ledger, shard).await;
        if shown.bases.iter().all(|shown| shown.id != id) {
            forget(ledger, shard, &base).await;
        }
        return None;
    }
    delete_obsolete(ledger, &record, &bases).await;
    Some(base)
}

async fn forget<L: Ledger>(ledger: &L, shard: u32, base: &BaseRecord) {
    for piece in (0..base.pieces).rev() {
        write(ledger, Request::DropPiece { shard, base: base.id, piece }).await;
    }
}

/// Deletes the base that was replaced, and the journal segments before the oldest base in `bases`.
async fn delete_obsolete<L: Ledger>(ledger: &L, before: &ShardRecord, bases: &[BaseRecord]) {
    let shard = before.shard;
    let is_gone = |base: &&BaseRecord| bases.iter().all(|kept| kept.id != base.id);
    let gone = before.bases.iter().find(is_gone);
    if let Some(gone) = gone {
        forget(ledger, shard, gone).await;
    }
    let [first, _, ..] = bases else { return };
    let from = gone.map_or((0, 0), |gone| (gone.epoch, gone.segment));
    let closed = before.ends.iter().filter(|(epoch, end)| *end <= first.n && from.0 <= *epoch);
    let mut epochs: Vec<(u64, u64)> = closed.map(|(epoch, _)| (*epoch, u64::MAX)).collect();
    if epochs.iter().all(|(epoch, _)| *epoch != first.epoch) {
        epochs.push((first.epoch, first.segment));
    }
    for (epoch, below) in epochs {
        let start = if epoch == from.0 { from.1 } else { 0 };
        let end = end_segment(ledger, shard, epoch, start).await.min(below);
        for segment in (start..end).rev() {
            write(ledger, Request::DropSegment { shard, epoch, segment }).await;
        }
    }
}

/// Returns the number that follows that of the last segment of an epoch, searching from segment
/// `start`.
async fn end_segment<L: Ledger>(ledger: &L, shard: u32, epoch: u64, start: u64) -> u64 {
    let (mut end, mut segment) = (start, start);
    while segment < end + EMPTY_MAX {
        let request = Request::ReadEntries { shard, epoch, segment, after: 0, limit: 1 };
        let parts = retry_until_reply(ledger, request, |reply| match reply {
            Reply::Parts(parts) => Some(parts),
            _ => None,
        });
        segment += 1;
        if !parts.await.is_empty() {
            end = segment;
        }
    }
    end
}

/// Loads a base from the ledger and passes its pieces one by one to the feeder, the thread that
/// writes to the shard's tree.
pub(crate) async fn load<L: Ledger>(
    ledger: Arc<L>,
    shard: u32,
    base: BaseRecord,
    tasks: UnboundedSender<FeederTask>,
) {
    for number in 0..base.pieces {
        let request = Request::LoadPiece { shard, base: base.id, piece: number };
        let loaded = retry_until_reply(&*ledger, request, |reply| match reply {
            Reply::Piece(piece) => Some(piece),
            _ => None,
        });
        let Some(body) = loaded.await else {
            // The base was deleted, because two newer bases have been published.
            let _ = tasks.send(FeederTask::BaseGone);
            return;
        };
        let (kept, keeping) = oneshot::channel();
        let _ = tasks.send(FeederTask::Piece { number, body, kept });
        if keeping.await.is_err() {
            return;
        }
    }
    let _ = tasks.send(FeederTask::BaseThere(base));
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn base(n: u64, bytes: u64) -> BaseRecord {
        BaseRecord { id: n, epoch: 1, segment: 0, n, checksum: 0, pieces: 1, bytes }
    }

    #[test]
    fn the_larger_a_base_the_longer_the_journal_behind_it() {
        let mut settings = Settings::new(Uuid::nil(), 0, Uuid::nil(), Bytes::new());
        settings.base_bytes = 100;
        for (size, wanted) in [(0, 100), (100, 100), (200, 100), (1_000, 500)] {
            let mut due = BaseSchedule::default();
            assert!(!due.is_due(7, Some(base(7, size)), &settings));
            due.count_bytes(wanted - 1);
            assert!(!due.is_due(8, Some(base(7, size)), &settings), "{size}");
            due.count_bytes(1);
            assert!(due.is_due(9, Some(base(7, size)), &settings), "{size}");
            // The interval before the next base starts at this base and depends on its size.
            due.record_outcome(Some(base(9, 2_000)));
            due.count_bytes(999);
            assert!(!due.is_due(10, Some(base(7, size)), &settings), "{size}");
            due.count_bytes(1);
            assert!(due.is_due(10, Some(base(7, size)), &settings), "{size}");
        }
    }
}
