//! Laws of shard records: claim, confirm, open and release are applied only under their conditions.

use bytes::Bytes;
use uuid::Uuid;

use super::{reply, swap};
use crate::{
    records::{BaseRecord, Phase, ShardRecord},
    request::{Ledger, Record, Reply, Request, Swapped},
};

/// The expected outcome of a compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Done,
    /// Reported as done, because an earlier attempt was applied; the record does not change.
    Before,
    /// Refused; the record does not change.
    Refused,
}

use Expected::{Before, Done, Refused};

type Row = (&'static str, Request, Expected);

const SHARD: u32 = u32::MAX;

pub(super) async fn check(ledger: &impl Ledger) {
    swaps_hold_their_conditions(ledger).await;
    shards_do_not_touch_each_other(ledger).await;
}

fn claim(claim: Uuid, before: u64) -> Request {
    let clock = Bytes::from(format!("from {before}"));
    Request::Claim {
        shard: SHARD,
        before,
        claim,
        node: Uuid::max(),
        incarnation: before + 3,
        clock,
    }
}

fn confirm(claim: Uuid) -> Request {
    Request::Confirm { shard: SHARD, claim }
}

fn open(claim: Uuid, epoch: u64, ends: &[(u64, u64)]) -> Request {
    Request::Open { shard: SHARD, claim, epoch, ends: ends.to_vec() }
}

fn release(claim: Uuid) -> Request {
    Request::Release { shard: SHARD, claim, clock: Bytes::from_static(b"the last") }
}

fn set_base(before: u64, ids: &[u64]) -> Request {
    let base = |id: &u64| {
        let (epoch, segment, n, checksum, pieces, bytes) = (id + 1, 2, 3, u32::MAX, 4, 5);
        BaseRecord { id: *id, epoch, segment, n, checksum, pieces, bytes }
    };
    Request::SetBase { shard: SHARD, before, bases: ids.iter().map(base).collect() }
}

fn rows() -> Vec<Row> {
    let [a, b, c, d] = [(); 4].map(|()| Uuid::new_v4());
    vec![
        ("a claim of a shard that does not exist", claim(a, 0), Refused),
        ("making the shard", Request::MakeShard { shard: SHARD }, Done),
        ("making the shard again", Request::MakeShard { shard: SHARD }, Refused),
        ("a base that follows one that does not exist", set_base(9, &[1]), Refused),
        ("a first base", set_base(0, &[1]), Done),
        ("the same base, again", set_base(0, &[1]), Before),
        ("a release of a shard that no node has claimed", release(a), Refused),
        ("a claim that expects a later epoch", claim(a, 1), Refused),
        ("a first claim", claim(a, 0), Done),
        ("the same claim, again", claim(a, 0), Before),
        ("another claim that expects the same epoch", claim(b, 0), Refused),
        ("a confirmation of another claim", confirm(b), Refused),
        ("a confirmation", confirm(a), Done),
        ("a confirmation, again", confirm(a), Done),
        ("a release of an epoch that was not opened", release(a), Refused),
        ("opening by another claim", open(b, 1, &[]), Refused),
        ("opening", open(a, 1, &[]), Done),
        ("the same opening, again", open(a, 1, &[]), Before),
        ("a confirmation that comes late", confirm(a), Before),
        ("the first claim, later", claim(a, 0), Before),
        ("a claim that follows an open epoch", claim(b, 1), Done),
        ("a release of the previous epoch", release(a), Refused),
        ("opening the previous epoch again", open(a, 1, &[]), Refused),
        ("a claim that replaces a claim that was not opened", claim(c, 2), Done),
        ("opening by the previous claim", open(b, 2, &[(1, 9)]), Refused),
        ("opening with an end", open(c, 3, &[(1, 9)]), Done),
        ("a claim that expects an old epoch", claim(d, 1), Refused),
        ("a base that follows a base other than the current one", set_base(3, &[1, 2]), Refused),
        ("a base that follows the first one", set_base(1, &[1, 2]), Done),
        ("the previous base, late", set_base(0, &[1]), Refused),
        ("a release by another claim", release(b), Refused),
        ("a release", release(c), Done),
        ("the same release, again", release(c), Before),
        ("opening that comes late", open(c, 3, &[(1, 9)]), Before),
        ("a confirmation after the release", confirm(c), Refused),
        ("a claim of the released shard", claim(d, 3), Done),
        ("opening with all ends", open(d, 4, &[(1, 9), (3, u64::MAX)]), Done),
    ]
}

async fn swaps_hold_their_conditions(ledger: &impl Ledger) {
    let mut held: Option<ShardRecord> = None;
    for (name, request, expected) in rows() {
        let answer = swap(ledger, request.clone()).await;
        match expected {
            Done => {
                assert_eq!(answer, Swapped::Done, "{name}");
                held = Some(after(held, request));
            }
            Before => assert_eq!(answer, Swapped::Done, "{name}"),
            Refused => {
                let shown = held.clone().map(Record::Shard);
                assert_eq!(answer, Swapped::Refused(shown), "{name}");
            }
        }
        for request in
            [Request::ReadShard { shard: SHARD }, Request::ReadShardSerial { shard: SHARD }]
        {
            let shown = reply(ledger, request.clone()).await;
            assert_eq!(shown, Reply::Shard(held.clone()), "{request:?} after {name}");
        }
    }
}

/// Returns the record that is expected after `request` was applied to the record `held`.
fn after(held: Option<ShardRecord>, request: Request) -> ShardRecord {
    match (request, held) {
        (Request::MakeShard { shard }, None) => ShardRecord {
            shard,
            epoch: 0,
            claim: Uuid::nil(),
            node: Uuid::nil(),
            incarnation: 0,
            phase: Phase::Released,
            opened: 0,
            ends: Vec::new(),
            clock: Bytes::new(),
            bases: Vec::new(),
        },
        (Request::Claim { before, claim, node, incarnation, clock, .. }, Some(held)) => {
            ShardRecord {
                epoch: before + 1,
                claim,
                node,
                incarnation,
                phase: Phase::Sealing,
                clock,
                ..held
            }
        }
        (Request::Confirm { .. }, Some(held)) => held,
        (Request::Open { epoch, ends, .. }, Some(held)) => {
            ShardRecord { opened: epoch, ends, phase: Phase::Open, ..held }
        }
        (Request::SetBase { bases, .. }, Some(held)) => ShardRecord { bases, ..held },
        (Request::Release { clock, .. }, Some(held)) => {
            ShardRecord { phase: Phase::Released, clock, ..held }
        }
        (request, held) => panic!("{request:?} is not done to {held:?}"),
    }
}

async fn shards_do_not_touch_each_other(ledger: &impl Ledger) {
    for shard in [0, 1] {
        assert_eq!(swap(ledger, Request::MakeShard { shard }).await, Swapped::Done);
    }
    let other = reply(ledger, Request::ReadShardSerial { shard: 1 }).await;
    let clock = Bytes::new();
    let (node, id) = (Uuid::new_v4(), Uuid::new_v4());
    let claim = Request::Claim { shard: 0, before: 0, claim: id, node, incarnation: 1, clock };
    assert_eq!(swap(ledger, claim).await, Swapped::Done);
    assert_eq!(reply(ledger, Request::ReadShardSerial { shard: 1 }).await, other);
    assert_eq!(reply(ledger, Request::ReadShard { shard: 2 }).await, Reply::Shard(None));
}
