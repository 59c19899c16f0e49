//! Conversion between rows of Cassandra and the records of a cluster. Counters start at 0 and are
//! incremented by one, so they fit into Cassandra's signed integers.

use bytes::Bytes;
use cluster::{
    ClusterRecord, NodeRecord, NodeState, Phase, ShardRecord, Unanswered, decode_bases,
    decode_ends, decode_terms,
};
use secret::Secret;
use uuid::Uuid;

use crate::failure::unanswered;

pub(crate) type ClusterRow = (i32, Uuid, i32, String, Vec<u8>);
pub(crate) type NodeRow = (Uuid, i64, i64, String, Bytes, Bytes);
pub(crate) type ShardRow = (i32, i64, Uuid, Uuid, i64, String, i64, Bytes, Bytes, Bytes);

/// Converts a counter to a column value.
pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a column value to a counter.
pub(crate) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn cluster(row: ClusterRow) -> ClusterRecord {
    let (format, id, shards, clock, secret) = row;
    let (format, shards) = (format.cast_unsigned(), shards.cast_unsigned());
    ClusterRecord { format, id, shards, clock, secret: Secret::from_bytes(secret) }
}

pub(crate) fn node(row: NodeRow) -> Result<NodeRecord, Unanswered> {
    let (node, incarnation, beat, state, about, terms) = row;
    let state = match state.as_str() {
        "up" => NodeState::Up,
        "fenced" => NodeState::Fenced,
        other => return Err(unanswered(format!("node {node} has the state {other:?}"))),
    };
    let terms = decode_terms(&terms).map_err(unanswered)?;
    Ok(NodeRecord { node, incarnation: count(incarnation), beat: count(beat), state, about, terms })
}

pub(crate) fn shard(row: ShardRow) -> Result<ShardRecord, Unanswered> {
    let (shard, epoch, claim, node, incarnation, phase, opened, ends, clock, bases) = row;
    let phase = match phase.as_str() {
        "sealing" => Phase::Sealing,
        "open" => Phase::Open,
        "released" => Phase::Released,
        other => return Err(unanswered(format!("shard {shard} has the unknown phase {other:?}"))),
    };
    Ok(ShardRecord {
        shard: shard.cast_unsigned(),
        epoch: count(epoch),
        claim,
        node,
        incarnation: count(incarnation),
        phase,
        opened: count(opened),
        ends: decode_ends(&ends).map_err(unanswered)?,
        clock,
        bases: decode_bases(&bases).map_err(unanswered)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_says_what_it_cannot_is_no_answer() {
        let none = Bytes::from_static(&[1, 0, 0, 0, 0]);
        let nil = Uuid::nil();
        let of_node = |state: &str, terms: &Bytes| {
            node((nil, 1, 0, state.to_owned(), Bytes::new(), terms.clone()))
        };
        of_node("up", &none).unwrap();
        of_node("down", &none).unwrap_err();
        of_node("up", &Bytes::new()).unwrap_err();
        let of_shard = |phase: &str, ends: &Bytes| {
            shard((
                -1,
                1,
                nil,
                nil,
                1,
                phase.to_owned(),
                0,
                ends.clone(),
                Bytes::new(),
                none.clone(),
            ))
        };
        assert_eq!(of_shard("open", &none).unwrap().shard, u32::MAX);
        of_shard("shut", &none).unwrap_err();
        of_shard("open", &Bytes::new()).unwrap_err();
    }
}
