//! An in-memory ledger for nodes of one process, used in tests. It executes requests immediately
//! and can inject faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::{
    records::{ClusterRecord, NodeRecord, ShardRecord},
    request::{EntryPart, Ledger, Record, Reply, Request, Swapped, Unanswered},
    swaps::{next_node, next_shard},
};

/// Fault that a test injects into a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerFault {
    /// The request is executed and answered.
    None,
    /// The request is lost before it is executed.
    RequestLost,
    /// The request is executed, but its reply is lost.
    AnswerLost,
}

/// Chooses the injected fault of each request.
type Faults = Box<dyn FnMut(&Request) -> LedgerFault + Send>;

/// Key of a part: shard, epoch, segment, entry and part.
type PartKey = (u32, u64, u64, u64, u32);

/// Key of a deleted segment or piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Dropped {
    Segment(u32, u64, u64),
    Piece(u32, u64, u32),
}

#[derive(Default)]
struct State {
    cluster: Option<ClusterRecord>,
    nodes: BTreeMap<Uuid, NodeRecord>,
    shards: BTreeMap<u32, ShardRecord>,
    parts: BTreeMap<PartKey, Bytes>,
    pieces: BTreeMap<(u32, u64, u32), Bytes>,
    /// Deleted segments and pieces, to which later writes are ignored.
    dropped: BTreeSet<Dropped>,
    faults: Option<Faults>,
}

/// The ledger. Clones share their state.
#[derive(Clone, Default)]
pub struct MemoryLedger {
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryLedger").finish_non_exhaustive()
    }
}

impl MemoryLedger {
    /// Creates a ledger without any records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Deletes an entry to simulate that the database has lost it. Returns the requests that
    /// restore it.
    pub fn lose_entry(&self, shard: u32, epoch: u64, n: u64) -> Vec<Request> {
        let mut state = self.state.lock();
        let is_lost = |key: &PartKey| (key.0, key.1, key.3) == (shard, epoch, n);
        let lost: Vec<_> = state.parts.extract_if(.., |key, _| is_lost(key)).collect();
        let back = |((shard, epoch, segment, n, part), body)| {
            let parts = vec![EntryPart { n, part, body }];
            Request::Append { shard, epoch, segment, parts }
        };
        lost.into_iter().map(back).collect()
    }

    /// Installs the function that decides the fate of each request.
    pub fn set_faults(&self, faults: impl FnMut(&Request) -> LedgerFault + Send + 'static) {
        self.state.lock().faults = Some(Box::new(faults));
    }
}

impl Ledger for MemoryLedger {
    async fn execute(&self, request: Request) -> Result<Reply, Unanswered> {
        let mut state = self.state.lock();
        let fault = state.faults.as_mut().map_or(LedgerFault::None, |faults| faults(&request));
        let lost = || Err(Unanswered("fault on purpose".to_owned()));
        match fault {
            LedgerFault::RequestLost => lost(),
            LedgerFault::AnswerLost => state.answer(request).and(lost()),
            LedgerFault::None => state.answer(request),
        }
    }
}

impl State {
    fn answer(&mut self, request: Request) -> Result<Reply, Unanswered> {
        Ok(match request {
            Request::ReadCluster => Reply::Cluster(self.cluster.clone()),
            Request::MakeCluster(record) => {
                let held = self.cluster.clone().map(Record::Cluster);
                let done = held.is_none();
                self.cluster.get_or_insert(record);
                swapped(done, held)
            }
            Request::ReplaceCluster { before, record } => {
                let held = self.cluster.clone();
                let done = held.as_ref().is_some_and(|held| held.id == before || *held == record);
                if done {
                    self.cluster = Some(record);
                }
                swapped(done, held.map(Record::Cluster))
            }
            Request::ReadNodes => Reply::Nodes(self.nodes.values().cloned().collect()),
            Request::ReadShard { shard } | Request::ReadShardSerial { shard } => {
                Reply::Shard(self.shards.get(&shard).cloned())
            }
            Request::Enter { node, .. }
            | Request::Beat { node, .. }
            | Request::Fence { node, .. }
            | Request::Forget { node, .. } => {
                let held = self.nodes.get(&node);
                let (next, shown) = (next_node(held, &request), held.cloned().map(Record::Node));
                let done = next.is_some();
                self.nodes.extend(next.map(|next| (node, next)));
                swapped(done, shown)
            }
            Request::MakeShard { shard }
            | Request::Claim { shard, .. }
            | Request::Confirm { shard, .. }
            | Request::Open { shard, .. }
            | Request::SetBase { shard, .. }
            | Request::Release { shard, .. } => {
                let held = self.shards.get(&shard);
                let (next, shown) = (next_shard(held, &request), held.cloned().map(Record::Shard));
                // Whether an earlier attempt, whose reply was lost, was applied.
                let before = shown.as_ref().is_some_and(|shown| request.is_done_in(shown));
                let done = next.is_some() || before;
                self.shards.extend(next.map(|next| (shard, next)));
                swapped(done, shown)
            }
            other => return self.answer_for_bytes(other),
        })
    }

    /// Handles the requests about entries and pieces.
    fn answer_for_bytes(&mut self, request: Request) -> Result<Reply, Unanswered> {
        Ok(match request {
            Request::PutPiece { shard, base, piece, body } => {
                if !self.dropped.contains(&Dropped::Piece(shard, base, piece)) {
                    self.pieces.insert((shard, base, piece), body);
                }
                Reply::Written
            }
            Request::LoadPiece { shard, base, piece } => {
                Reply::Piece(self.pieces.get(&(shard, base, piece)).cloned())
            }
            Request::DropPiece { shard, base, piece } => {
                self.pieces.remove(&(shard, base, piece));
                self.dropped.insert(Dropped::Piece(shard, base, piece));
                Reply::Written
            }
            Request::DropSegment { shard, epoch, segment } => {
                self.parts.retain(|key, _| (key.0, key.1, key.2) != (shard, epoch, segment));
                self.dropped.insert(Dropped::Segment(shard, epoch, segment));
                Reply::Written
            }
            Request::Append { shard, epoch, segment, parts } => {
                let dropped = self.dropped.contains(&Dropped::Segment(shard, epoch, segment));
                let parts = if dropped { Vec::new() } else { parts };
                for EntryPart { n, part, body } in parts {
                    self.parts.insert((shard, epoch, segment, n, part), body);
                }
                Reply::Written
            }
            Request::ReadEntries { shard, epoch, segment, after, limit } => {
                let from = (shard, epoch, segment, after.saturating_add(1), 0);
                let to = (shard, epoch, segment, u64::MAX, u32::MAX);
                let parts = self
                    .parts
                    .range(from..=to)
                    .map(|(&(_, _, _, n, part), body)| EntryPart { n, part, body: body.clone() });
                Reply::Parts(whole_entries(parts, limit))
            }
            other => return Err(Unanswered(format!("{other:?} is of records"))),
        })
    }
}

/// Builds the reply to a compare-and-swap; `shown` is the stored record.
fn swapped(is_done: bool, shown: Option<Record>) -> Reply {
    Reply::Swapped(if is_done { Swapped::Done } else { Swapped::Refused(shown) })
}

/// Returns complete entries of about `limit` bytes, at least one if any exists.
pub(crate) fn whole_entries(
    parts: impl Iterator<Item = EntryPart>,
    limit: usize,
) -> Vec<EntryPart> {
    let mut bytes = 0;
    let mut kept: Vec<EntryPart> = Vec::new();
    for part in parts {
        if limit <= bytes && kept.last().is_some_and(|last| last.n != part.n) {
            break;
        }
        bytes += part.body.len();
        kept.push(part);
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::*;

    #[test]
    fn it_keeps_the_laws() {
        let ledger = MemoryLedger::new();
        let checked = pin!(crate::laws::check(&ledger));
        // The future is ready at once.
        assert!(matches!(checked.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(())));
    }

    #[test]
    fn what_is_lost_is_done_or_not_as_it_was_said() {
        for (fault, done) in [(LedgerFault::RequestLost, false), (LedgerFault::AnswerLost, true)] {
            let ledger = MemoryLedger::new();
            let mut first = Some(fault);
            ledger.set_faults(move |_| first.take().unwrap_or(LedgerFault::None));
            let ask = |request| {
                let asked = pin!(ledger.execute(request));
                match asked.poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(answer) => answer,
                    Poll::Pending => panic!("it waits"),
                }
            };
            ask(Request::MakeShard { shard: 1 }).unwrap_err();
            let read = ask(Request::ReadShard { shard: 1 }).unwrap();
            assert_eq!(matches!(read, Reply::Shard(Some(_))), done, "{fault:?}");
        }
    }
}
