//! A scripted history that random runs hardly ever find: a claim that only one replica has. The
//! taker sees it, the owner does not, and acknowledges an entry that the taker has not read.

use bytes::Bytes;
use uuid::Uuid;

use super::replicas::{Name, Replicas};
use crate::{
    host::{ClockLowerBounds, Host},
    node_monitor::ClaimReason,
    outbox::OutgoingRequest,
    owner::{Owner, OwnerEvent},
    position::Position,
    records::{Phase, ShardRecord},
    request::{Reply, Request, Unanswered},
    rules::Rules,
    settings::Settings,
    takeover::{ClaimBasis, Takeover},
};

struct NoClock;

impl Host for NoClock {
    fn begin(&mut self, _: u32, _: &ClockLowerBounds, _: u64) -> Bytes {
        Bytes::new()
    }

    fn checkpoint(&mut self, _: u32, _: u64) -> Bytes {
        Bytes::new()
    }

    fn finish(&mut self, _: u32, _: u64) -> Bytes {
        Bytes::new()
    }

    fn claim(&mut self) -> Uuid {
        Uuid::from_u128(77)
    }
}

/// Executes the request on the two replicas of the quorum and returns their reply; the third
/// replica misses the request.
fn answer(replicas: &mut Replicas, request: &Request, quorum: [usize; 2]) -> Reply {
    match request {
        Request::Append { epoch, segment, parts, .. } => {
            for (replica, part) in quorum.iter().flat_map(|at| parts.iter().map(|part| (*at, part)))
            {
                replicas.put(replica, *epoch, *segment, part.clone());
            }
            Reply::Written
        }
        Request::ReadShard { .. } | Request::ReadEntries { .. } => {
            let heard = quorum.map(|replica| replicas.hear(replica, request));
            replicas.merge(request, quorum, heard, false)
        }
        _ => {
            let (version, reply) = replicas.swap(request, quorum);
            if let Some((name, version)) = version {
                quorum.iter().for_each(|replica| replicas.learn(name, *replica, version));
            }
            reply
        }
    }
}

fn one(requests: Vec<OutgoingRequest>) -> OutgoingRequest {
    let [ask] = <[OutgoingRequest; 1]>::try_from(requests).unwrap();
    ask
}

/// Returns whether the owner acknowledges an entry that the taker's history does not contain.
fn is_lost(rules: Rules) -> bool {
    let [old, new] = [1, 2].map(Uuid::from_u128);
    let mut settings = Settings::new(Uuid::nil(), 0, new, Bytes::new());
    settings.rules = rules;
    let mut replicas = Replicas::new(&[old, new]);
    let claim = Uuid::from_u128(11);
    let mut swap = |request| answer(&mut replicas, &request, [0, 1]);
    let (shard, clock) = (0, Bytes::new());
    swap(Request::MakeShard { shard });
    swap(Request::Claim { shard, before: 0, claim, node: old, incarnation: 1, clock });
    swap(Request::Open { shard, claim, epoch: 1, ends: Vec::new() });
    let record: ShardRecord = replicas.shard.latest().unwrap().clone();
    assert_eq!((record.epoch, record.phase), (1, Phase::Open));
    (0..3).for_each(|replica| replicas.learn(Name::Shard, replica, 3));

    let tree = Position::default();
    let mut owner = Owner::new(settings.clone(), 1, 1, (claim, Bytes::new()), tree);
    let (free, beat, terms) = (ClaimReason::Now, None, Vec::new());
    let before = ClaimBasis { shard: record, free, beat, terms, incarnation: 1, tree };
    let mut takeover = Takeover::new(settings, 2, before, Uuid::from_u128(12));
    takeover.tick(0);
    let mut now = 0;
    loop {
        let ask = one(takeover.take_requests());
        if matches!(ask.request, Request::Open { .. }) {
            break;
        }
        let reply = if matches!(ask.request, Request::Claim { .. }) {
            let (version, _) = replicas.swap(&ask.request, [0, 1]);
            let (name, version) = version.unwrap();
            replicas.learn(name, 0, version);
            Err(Unanswered("only one replica has the entry".into()))
        } else {
            Ok(answer(&mut replicas, &ask.request, [0, 1]))
        };
        now += 1_000_000_000;
        assert_eq!(takeover.handle_reply(ask.token, reply, now, &mut NoClock), None);
        takeover.tick(now + 1_000_000_000);
    }
    // The taker has read everything. The owner, which is alive, writes through replicas that do not
    // have the claim.
    assert!(owner.begin(now));
    let append = one(owner.take_requests());
    let reply = answer(&mut replicas, &append.request, [1, 2]);
    assert_eq!(owner.handle_reply(append.token, Ok(reply), now), []);
    let check = one(owner.take_requests());
    let reply = answer(&mut replicas, &check.request, [1, 2]);
    let events = owner.handle_reply(check.token, Ok(reply), now);
    let is_acknowledged = matches!(events[..], [OwnerEvent::Committed { .. }]);
    assert!(is_acknowledged || events == [OwnerEvent::Superseded]);
    is_acknowledged
}

#[test]
fn a_claim_that_is_not_confirmed_may_not_be_seen() {
    assert!(is_lost(Rules { confirm_claim: false, ..Rules::default() }));
    assert!(!is_lost(Rules::default()));
}
