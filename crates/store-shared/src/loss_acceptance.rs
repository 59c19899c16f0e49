//! Acceptance of data loss: a committed entry is missing in the journal, no node can read past it,
//! and an operator accepts the loss. The command takes the shard over with a claim of its own:
//!
//! 1. End the lease of the last owner, and compute a clock that starts after every used instant.
//! 2. Claim the shard, confirm the claim, and read the missing entry once more.
//! 3. Open the next epoch; the same swap shortens the ends of earlier epochs to the gap.
//! 4. Release the shard, which any node can then claim.
//!
//! Only the shortening of ends in step 3 differs from an ordinary take-over. It is safe because no
//! reader depends on the old ends: no owner is left whose check would succeed, and a node whose
//! copy goes, or may go, beyond the new ends finds that in the shard record first and wipes its
//! copy.

use std::time::Duration;

use bytes::Bytes;
use cluster::{
    JournalReader, Ledger, MissingEntry, NodeRecord, NodeState, Phase, Position, Reply, Request,
    ShardRecord, Swapped, TermRecord,
};
use store::{Error, Kind};
use uuid::Uuid;

use crate::requests::{all_nodes, pause, send_request, shard_of, swap};

/// Maximum number of attempts to claim the shard: nodes compete, since each claims a free shard
/// every few seconds.
const ATTEMPTS: u32 = 20;

/// Committed entries that are lost and that an operator may give up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first missing entry: its epoch, and the last entries of the epoch that can be read and
    /// that are known to be committed.
    pub missing: MissingEntry,
    /// Number of entries known to be committed that would be lost.
    pub given_up: u64,
    /// Entry number of the newest base, from which the journal was read; 0 without a base.
    pub base: u64,
    /// Position in the journal after the last entry before the gap.
    end: Position,
    /// The shard record when the loss was detected.
    record: ShardRecord,
}

/// An inspection of a shard's journal for lost entries.
#[derive(Debug)]
pub struct LossInspection<'a, L> {
    /// The ledger of the cluster.
    pub ledger: &'a L,
    /// Id of the inspected cluster.
    pub cluster: Uuid,
    /// Number of the inspected shard.
    pub shard: u32,
    /// Time after which the owner of an unchanged heartbeat counts as dead.
    pub silence: Duration,
}

impl<L: Ledger> LossInspection<'_, L> {
    /// Reads the journal after the newest base. Fails with `Refused` if nothing is missing or the
    /// owner is alive.
    pub async fn find(&self) -> Result<Loss, Error> {
        let record = self.record().await?;
        if let Some(owner) = self.owner(&record).await? {
            pause(self.silence).await;
            let after = self.owner(&record).await?;
            if after.is_some_and(|after| after.beat != owner.beat) {
                return Err(alive(self.shard));
            }
        }
        let terms = terms_of(&all_nodes(self.ledger).await?);
        let base = record.newest_base();
        let from = base.map(Position::from_base).unwrap_or_default();
        let mut reader = JournalReader::new(self.cluster, &record, &terms, from);
        let mut end = from;
        let missing = loop {
            let read = reader.read(&self.entries(&reader).await?);
            end = reader.take().last().map_or(end, |(_, position)| *position);
            match (read, reader.missing()) {
                (Ok(true), _) => {}
                (Ok(false), _) => return Err(nothing_missing(base.is_some())),
                (Err(_), Some(missing)) => break missing,
                (Err(error), None) => return Err(error),
            }
        };
        let of_ends = record.ends.iter().map(|(epoch, end)| (*epoch, *end));
        let of_terms = terms.iter().filter(|term| term.shard == self.shard);
        let of_terms = of_terms.map(|term| (term.epoch, term.committed));
        let known = of_ends.chain(of_terms).filter(|(epoch, _)| missing.epoch <= *epoch);
        let known = known.map(|(_, n)| n).max().unwrap_or(0).max(missing.committed);
        let (given_up, base) = (known - missing.end, base.map_or(0, |base| base.n));
        Ok(Loss { missing, given_up, base, end, record })
    }

    /// Gives up the entries after the gap and opens an epoch that continues from the last entry
    /// before it. `clock` computes the new clock from the shard record and all nodes. Fails with
    /// `Refused`, without any loss, if the shard has changed, the entry exists again, or another
    /// node was faster.
    pub async fn accept(
        &self,
        loss: &Loss,
        clock: impl Fn(&ShardRecord, &[NodeRecord]) -> Result<Bytes, Error>,
    ) -> Result<(), Error> {
        self.end_lease(&loss.record).await?;
        let (shard, claim) = (self.shard, Uuid::new_v4());
        let (epoch, clock) = self.claim(loss, claim, clock).await?;
        self.done(Request::Confirm { shard, claim }).await?;
        let record = self.record().await?;
        if record.claim != claim || !is_same(&record, &loss.record) {
            return Err(changed());
        }
        // No other node opens an epoch from here on. Checks once more that the entry was not
        // restored since the inspection.
        let terms = terms_of(&all_nodes(self.ledger).await?);
        let mut reader = JournalReader::new(self.cluster, &record, &terms, loss.end);
        let read = reader.read(&self.entries(&reader).await?);
        if let (Err(error), None) = (read, reader.missing()) {
            return Err(error);
        }
        if let Some((entry, _)) = reader.take().first() {
            let text = format!(
                "entry {} exists again: nothing was discarded, and nodes take over within seconds",
                entry.n
            );
            return Err(Error::new(Kind::Refused, text));
        }
        let MissingEntry { epoch: cut, end, .. } = loss.missing;
        let ends = record.truncated_ends(cut, end);
        self.done(Request::Open { shard, claim, epoch, ends }).await?;
        self.done(Request::Release { shard, claim, clock }).await
    }

    /// Claims the shard with the id of a new node whose lease was ended at once, so that others can
    /// take over if this process stops half way. Returns the epoch and the clock in the claim.
    async fn claim(
        &self,
        loss: &Loss,
        claim: Uuid,
        clock: impl Fn(&ShardRecord, &[NodeRecord]) -> Result<Bytes, Error>,
    ) -> Result<(u64, Bytes), Error> {
        let (shard, node, incarnation) = (self.shard, Uuid::new_v4(), 1);
        // Another attempt may have written the node record already, so the outcome is ignored.
        swap(self.ledger, Request::Enter { node, before: 0, about: Bytes::new() }).await?;
        self.done(Request::Forget { node, incarnation, beat: 0 }).await?;
        for _ in 0..ATTEMPTS {
            let record = self.record().await?;
            if !is_same(&record, &loss.record) {
                return Err(changed());
            }
            let before = record.epoch;
            let clock = clock(&record, &all_nodes(self.ledger).await?)?;
            let least = clock.clone();
            let request = Request::Claim { shard, before, claim, node, incarnation, clock: least };
            if swap(self.ledger, request).await? == Swapped::Done {
                return Ok((before + 1, clock));
            }
        }
        Err(changed())
    }

    /// Ends the lease of the owner of an open epoch; fails if the owner has renewed it during the
    /// wait. If a later incarnation of that node has taken a lease, nothing has to be ended: the
    /// owner's lease has expired after the wait.
    async fn end_lease(&self, record: &ShardRecord) -> Result<(), Error> {
        if record.phase != Phase::Open {
            return Ok(());
        }
        let owner = self.owner(record).await?;
        pause(self.silence).await;
        let Some(owner) = owner else { return Ok(()) };
        let NodeRecord { node, incarnation, beat, .. } = owner;
        match swap(self.ledger, Request::Fence { node, incarnation, beat }).await? {
            Swapped::Done => Ok(()),
            Swapped::Refused(_) if self.owner(record).await?.is_none() => Ok(()),
            Swapped::Refused(_) => Err(alive(self.shard)),
        }
    }

    /// Returns the node record of the owner of an open epoch, if it may hold a lease.
    async fn owner(&self, record: &ShardRecord) -> Result<Option<NodeRecord>, Error> {
        let nodes = all_nodes(self.ledger).await?;
        let owner =
            |node: &NodeRecord| (node.node, node.incarnation) == (record.node, record.incarnation);
        let is_open = record.phase == Phase::Open;
        let found = nodes.into_iter().find(|node| is_open && owner(node));
        Ok(found.filter(|node| node.state == NodeState::Up))
    }

    async fn record(&self) -> Result<ShardRecord, Error> {
        send_request(self.ledger, Request::ReadShardSerial { shard: self.shard }, shard_of).await
    }

    async fn entries(&self, reader: &JournalReader) -> Result<Vec<cluster::EntryPart>, Error> {
        send_request(self.ledger, reader.request(), |reply| match reply {
            Reply::Parts(parts) => Some(parts),
            _ => None,
        })
        .await
    }

    async fn done(&self, request: Request) -> Result<(), Error> {
        match swap(self.ledger, request).await? {
            Swapped::Done => Ok(()),
            Swapped::Refused(_) => Err(changed()),
        }
    }
}

/// Returns whether the shard's epochs and bases are the same in both records.
fn is_same(record: &ShardRecord, before: &ShardRecord) -> bool {
    (record.opened, &record.ends, record.base()) == (before.opened, &before.ends, before.base())
}

fn terms_of(nodes: &[NodeRecord]) -> Vec<TermRecord> {
    nodes.iter().flat_map(|node| node.terms.iter().cloned()).collect()
}

fn nothing_missing(has_base: bool) -> Error {
    let text = if has_base {
        "no committed entry is missing after the newest base: nodes without an older entry load \
         the base"
    } else {
        "no committed entry is missing"
    };
    Error::new(Kind::Refused, text)
}

fn alive(shard: u32) -> Error {
    let text = format!(
        "a node serves shard {shard}, so it has the missing entries: 'ebb admin cluster base \
         {shard}' writes a base, which the others load"
    );
    Error::new(Kind::Refused, text)
}

fn changed() -> Error {
    let text = "the shard has changed: a node has taken it over, or is trying to; check again";
    Error::new(Kind::Refused, text)
}
