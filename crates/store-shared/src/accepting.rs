//! Going on without what is lost: a committed entry is missing in the journal, no node can read past it,
//! and a person accepts that. It is done by the swaps of a taking over, under a claim of its own:
//!
//! ```text
//! lease of the last owner ended → clock of all that was used → claim, confirmed → the entry looked for
//! again → epochs opened, the ends of those before cut at the gap → released: any node takes over
//! ```
//!
//! Nothing of it is more than a taking over may do, but for the ends: those that were set before are
//! shortened, once, by the swap that opens the next epoch. That is safe as nobody reads by the old ones:
//! no owner is left whose check would pass, and a node whose copy goes, or may go, behind the new ends
//! finds so in the shard's record before it does anything else, and throws its copy away.

use std::time::Duration;

use bytes::Bytes;
use cluster::{
    JournalReader, Ledger, MissingEntry, NodeRecord, NodeState, Phase, Place, Reply, Request,
    ShardRecord, Swapped, TermRecord,
};
use store::{Error, Kind};
use uuid::Uuid;

use crate::asking::{all_nodes, ask, pause, shard_of, swap};

/// How often the shard is claimed: nodes that try to take it over claim it every few seconds.
const ATTEMPTS: u32 = 20;

/// What would be given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first entry that is missing, and up to where its epoch can be read.
    pub missing: MissingEntry,
    /// Entries that are known to be committed and do not count any more then.
    pub given_up: u64,
    /// Behind which entry the newest base stands, from which the journal was read; 0: there is none.
    pub base: u64,
    /// Where a tree stands that has all that is left.
    end: Place,
    /// The shard as it was seen.
    record: ShardRecord,
}

/// The shard of a cluster that is looked at.
#[derive(Debug)]
pub struct Accepting<'a, L> {
    /// Its ledger.
    pub ledger: &'a L,
    /// Its id.
    pub cluster: Uuid,
    /// Which shard.
    pub shard: u32,
    /// For how long an owner that is gone says nothing.
    pub silence: Duration,
}

impl<L: Ledger> Accepting<'_, L> {
    /// Reads the newest base's place and all that the journal has behind it. Refused where nothing is
    /// missing, and where the owner lives.
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
        let from = base.map(Place::of).unwrap_or_default();
        let mut reader = JournalReader::new(self.cluster, &record, &terms, from);
        let mut end = from;
        let missing = loop {
            let read = reader.read(&self.entries(&reader).await?);
            end = reader.take().last().map_or(end, |(_, place)| *place);
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

    /// Goes on from the last entry before the gap. `clock` says where the clock goes on, of the shard's
    /// record and all nodes. Refused where the shard is not what it was, the entry is there again, or
    /// another was faster; then nothing is given up.
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
        // Nobody else opens an epoch from here on; what was repaired since is not given up.
        let terms = terms_of(&all_nodes(self.ledger).await?);
        let mut reader = JournalReader::new(self.cluster, &record, &terms, loss.end);
        let read = reader.read(&self.entries(&reader).await?);
        if let (Err(error), None) = (read, reader.missing()) {
            return Err(error);
        }
        if let Some((entry, _)) = reader.take().first() {
            let text = format!(
                "entry {} is there again: nothing was given up, and nodes take over within seconds",
                entry.n
            );
            return Err(Error::new(Kind::Refused, text));
        }
        let MissingEntry { epoch: cut, end, .. } = loss.missing;
        let ends = record.ends_cut(cut, end);
        self.done(Request::Open { shard, claim, epoch, ends }).await?;
        self.done(Request::Release { shard, claim, clock }).await
    }

    /// Claims the shard as a node that is fenced already, so that others take over where this ends half
    /// way. Returns the epoch and the clock in the claim.
    async fn claim(
        &self,
        loss: &Loss,
        claim: Uuid,
        clock: impl Fn(&ShardRecord, &[NodeRecord]) -> Result<Bytes, Error>,
    ) -> Result<(u64, Bytes), Error> {
        let (shard, node, incarnation) = (self.shard, Uuid::new_v4(), 1);
        // Also where an asking before had done it already.
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

    /// Ends the lease of the owner of an open epoch, which has to be silent. Where its record is of a later
    /// incarnation, its lease runs out meanwhile.
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

    /// The record of whoever may be the owner of an open epoch still.
    async fn owner(&self, record: &ShardRecord) -> Result<Option<NodeRecord>, Error> {
        let nodes = all_nodes(self.ledger).await?;
        let owner =
            |node: &NodeRecord| (node.node, node.incarnation) == (record.node, record.incarnation);
        let is_open = record.phase == Phase::Open;
        let found = nodes.into_iter().find(|node| is_open && owner(node));
        Ok(found.filter(|node| node.state == NodeState::Up))
    }

    async fn record(&self) -> Result<ShardRecord, Error> {
        ask(self.ledger, Request::ReadShardSerial { shard: self.shard }, shard_of).await
    }

    async fn entries(&self, reader: &JournalReader) -> Result<Vec<cluster::EntryPart>, Error> {
        ask(self.ledger, reader.request(), |reply| match reply {
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

/// Whether nobody has opened an epoch, or cut one, since.
fn is_same(record: &ShardRecord, before: &ShardRecord) -> bool {
    (record.opened, &record.ends, record.base()) == (before.opened, &before.ends, before.base())
}

fn terms_of(nodes: &[NodeRecord]) -> Vec<TermRecord> {
    nodes.iter().flat_map(|node| node.terms.iter().cloned()).collect()
}

fn nothing_missing(has_base: bool) -> Error {
    let text = if has_base {
        "no committed entry is missing behind the newest base: nodes that miss an older one load it"
    } else {
        "no committed entry is missing"
    };
    Error::new(Kind::Refused, text)
}

fn alive(shard: u32) -> Error {
    let text = format!(
        "a node serves shard {shard}, so it has what is missing: 'ebb admin cluster base {shard}' makes \
         a base of it, which the others load"
    );
    Error::new(Kind::Refused, text)
}

fn changed() -> Error {
    let text = "the shard is not what it was: a node has taken it over, or tries to; look again";
    Error::new(Kind::Refused, text)
}
