//! The effect of compare-and-swap requests, as functions from a record and a request to the next
//! record. Used by ledgers that keep their records in memory; other ledgers have to behave the
//! same.

use bytes::Bytes;
use uuid::Uuid;

use crate::{
    records::{NodeRecord, NodeState, Phase, ShardRecord},
    request::Request,
};

/// Returns the node record after a compare-and-swap; `None` if its condition is not met.
pub(crate) fn next_node(record: Option<&NodeRecord>, request: &Request) -> Option<NodeRecord> {
    let is = |record: &&NodeRecord, i: u64, b: u64| {
        record.incarnation == i && record.beat == b && record.state == NodeState::Up
    };
    match request {
        Request::Enter { node, before, about } => {
            let terms = match record {
                Some(record) if record.incarnation == *before => record.terms.clone(),
                None if *before == 0 => Vec::new(),
                _ => return None,
            };
            let (node, about, state) = (*node, about.clone(), NodeState::Up);
            Some(NodeRecord { node, incarnation: before + 1, beat: 0, state, about, terms })
        }
        Request::Beat { incarnation, beat, terms, .. } => {
            let record = record.filter(|record| is(record, *incarnation, *beat))?;
            Some(NodeRecord { beat: beat + 1, terms: terms.clone(), ..record.clone() })
        }
        Request::Fence { incarnation, beat, .. } => {
            let record = record.filter(|record| is(record, *incarnation, *beat))?;
            Some(NodeRecord { state: NodeState::Fenced, ..record.clone() })
        }
        Request::Forget { incarnation, beat, .. } => {
            let seen =
                |record: &&NodeRecord| (record.incarnation, record.beat) == (*incarnation, *beat);
            let record = record.filter(seen)?.clone();
            Some(NodeRecord { state: NodeState::Fenced, about: Bytes::new(), ..record })
        }
        _ => None,
    }
}

/// Returns the shard record after a compare-and-swap; `None` if its condition is not met.
pub(crate) fn next_shard(record: Option<&ShardRecord>, request: &Request) -> Option<ShardRecord> {
    let mine = |id: &Uuid, phase: Phase| {
        record.filter(|record| record.claim == *id && record.phase == phase).cloned()
    };
    match request {
        Request::MakeShard { shard } if record.is_none() => Some(ShardRecord {
            shard: *shard,
            epoch: 0,
            claim: Uuid::nil(),
            node: Uuid::nil(),
            incarnation: 0,
            phase: Phase::Released,
            opened: 0,
            ends: Vec::new(),
            clock: Bytes::new(),
            bases: Vec::new(),
        }),
        Request::Claim { before, claim, node, incarnation, clock, .. } => {
            let record = record.filter(|record| record.epoch == *before)?.clone();
            let (claim, node, incarnation) = (*claim, *node, *incarnation);
            let (epoch, phase, clock) = (before + 1, Phase::Sealing, clock.clone());
            Some(ShardRecord { epoch, claim, node, incarnation, phase, clock, ..record })
        }
        Request::Confirm { claim, .. } => mine(claim, Phase::Sealing),
        Request::Open { claim, epoch, ends, .. } => {
            let record = mine(claim, Phase::Sealing)?;
            Some(ShardRecord { opened: *epoch, ends: ends.clone(), phase: Phase::Open, ..record })
        }
        Request::SetBase { before, bases, .. } => {
            let record = record.filter(|record| record.base() == *before)?.clone();
            Some(ShardRecord { bases: bases.clone(), ..record })
        }
        Request::Release { claim, clock, .. } => {
            let record = mine(claim, Phase::Open)?;
            Some(ShardRecord { phase: Phase::Released, clock: clock.clone(), ..record })
        }
        _ => None,
    }
}
