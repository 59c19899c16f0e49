//! The simulated ledger: three replicas, any two of which are a quorum. A register is a sequence of
//! versions decided by swaps; each replica receives each version at its own time. Entries reach
//! each replica part by part.

use std::collections::BTreeMap;

use bytes::Bytes;
use fastrand::Rng;
use uuid::Uuid;

use crate::{
    memory::whole_entries,
    records::{NodeRecord, ShardRecord},
    request::{EntryPart, Reply, Request, Swapped},
    swaps::{next_node, next_shard},
};

pub(super) const REPLICAS: usize = 3;

/// A register: all its versions, and the version each replica has.
#[derive(Debug)]
pub(super) struct Register<T> {
    versions: Vec<Option<T>>,
    at: [usize; REPLICAS],
}

impl<T: Clone> Register<T> {
    fn new() -> Self {
        Self { versions: vec![None], at: [0; REPLICAS] }
    }

    /// Returns the newest version that a compare-and-swap has decided.
    pub(super) fn latest(&self) -> Option<&T> {
        self.versions.last().and_then(Option::as_ref)
    }

    fn index(&self) -> usize {
        self.versions.len() - 1
    }

    /// Propagates the last decided version to a quorum, as each swap does before it decides.
    fn finish(&mut self, quorum: [usize; 2]) {
        for replica in quorum {
            self.at[replica] = self.index();
        }
    }

    fn decide(&mut self, value: T) -> usize {
        self.versions.push(Some(value));
        self.index()
    }

    fn learn(&mut self, replica: usize, version: usize) {
        self.at[replica] = self.at[replica].max(version);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Shard,
    Node(Uuid),
}

/// A replica's answer to a read.
#[derive(Debug)]
pub(super) enum Heard {
    Nodes(Vec<(Uuid, usize)>),
    Shard(usize),
    Parts(Vec<EntryPart>),
}

type Segment = BTreeMap<(u64, u32), Bytes>;

#[derive(Debug)]
pub(super) struct Replicas {
    pub(super) shard: Register<ShardRecord>,
    pub(super) nodes: BTreeMap<Uuid, Register<NodeRecord>>,
    journals: [BTreeMap<(u64, u64), Segment>; REPLICAS],
    pub(super) up: [bool; REPLICAS],
}

impl Replicas {
    pub(super) fn new(nodes: &[Uuid]) -> Self {
        Self {
            shard: Register::new(),
            nodes: nodes.iter().map(|node| (*node, Register::new())).collect(),
            journals: Default::default(),
            up: [true; REPLICAS],
        }
    }

    /// Returns two replicas that are up.
    pub(super) fn quorum(&self, rng: &mut Rng) -> Option<[usize; 2]> {
        let mut up: Vec<usize> = (0..REPLICAS).filter(|replica| self.up[*replica]).collect();
        rng.shuffle(&mut up);
        up.get(..2)?.try_into().ok()
    }

    /// Returns a replica's answer to a read.
    pub(super) fn hear(&self, replica: usize, request: &Request) -> Heard {
        match request {
            Request::ReadNodes => {
                let at = self.nodes.iter().map(|(node, register)| (*node, register.at[replica]));
                Heard::Nodes(at.collect())
            }
            Request::ReadEntries { epoch, segment, after, .. } => {
                let segment = self.journals[replica].get(&(*epoch, *segment));
                let parts = segment.into_iter().flatten().filter(|((n, _), _)| after < n);
                let part =
                    |(&(n, part), body): (_, &Bytes)| EntryPart { n, part, body: body.clone() };
                Heard::Parts(parts.map(part).collect())
            }
            _ => Heard::Shard(self.shard.at[replica]),
        }
    }

    /// Merges the answers of two replicas. With `repair`, both get the newer state.
    pub(super) fn merge(
        &mut self,
        request: &Request,
        quorum: [usize; 2],
        heard: [Heard; 2],
        repair: bool,
    ) -> Reply {
        match heard {
            [Heard::Nodes(one), Heard::Nodes(two)] => {
                let mut records = Vec::new();
                for ((node, one), (_, two)) in one.into_iter().zip(two) {
                    let Some(register) = self.nodes.get_mut(&node) else { continue };
                    let version = one.max(two);
                    records.extend(register.versions[version].clone());
                    if repair {
                        quorum.iter().for_each(|replica| register.learn(*replica, version));
                    }
                }
                Reply::Nodes(records)
            }
            [Heard::Shard(one), Heard::Shard(two)] => {
                let version = one.max(two);
                if repair {
                    quorum.iter().for_each(|replica| self.shard.learn(*replica, version));
                }
                Reply::Shard(self.shard.versions[version].clone())
            }
            [Heard::Parts(one), Heard::Parts(two)] => {
                let (Request::ReadEntries { epoch, segment, limit, .. }, mut parts) =
                    (request, one)
                else {
                    return Reply::Parts(Vec::new());
                };
                parts.extend(two);
                parts.sort_by_key(|part| (part.n, part.part));
                parts.dedup();
                if repair {
                    for part in &parts {
                        quorum.iter().for_each(|at| self.put(*at, *epoch, *segment, part.clone()));
                    }
                }
                Reply::Parts(whole_entries(parts.into_iter(), *limit))
            }
            _ => Reply::Parts(Vec::new()),
        }
    }

    /// Stores a part at a replica.
    pub(super) fn put(&mut self, replica: usize, epoch: u64, segment: u64, part: EntryPart) {
        let parts = self.journals[replica].entry((epoch, segment)).or_default();
        parts.insert((part.n, part.part), part.body);
    }

    /// Executes a swap or a serial read. Returns the register version to send to the replicas, and
    /// the reply.
    pub(super) fn swap(
        &mut self,
        request: &Request,
        quorum: [usize; 2],
    ) -> (Option<(Name, usize)>, Reply) {
        if let Some(node) = node_of(request) {
            let Some(register) = self.nodes.get_mut(&node) else {
                return (None, swapped(false));
            };
            register.finish(quorum);
            let next = next_node(register.latest(), request);
            let version = next.map(|next| (Name::Node(node), register.decide(next)));
            return (version, swapped(version.is_some()));
        }
        self.shard.finish(quorum);
        if matches!(request, Request::ReadShardSerial { .. }) {
            return (None, Reply::Shard(self.shard.latest().cloned()));
        }
        let next = next_shard(self.shard.latest(), request);
        let version = next.map(|next| (Name::Shard, self.shard.decide(next)));
        (version, swapped(version.is_some()))
    }

    /// Gives a replica a newer version of a record.
    pub(super) fn learn(&mut self, name: Name, replica: usize, version: usize) {
        match name {
            Name::Shard => self.shard.learn(replica, version),
            Name::Node(node) => {
                if let Some(register) = self.nodes.get_mut(&node) {
                    register.learn(replica, version);
                }
            }
        }
    }
}

/// Builds the reply to a swap, without the record: the protocol may not depend on it.
fn swapped(is_done: bool) -> Reply {
    Reply::Swapped(if is_done { Swapped::Done } else { Swapped::Refused(None) })
}

/// Returns the node whose record a compare-and-swap changes, if any.
fn node_of(request: &Request) -> Option<Uuid> {
    match request {
        Request::Enter { node, .. }
        | Request::Beat { node, .. }
        | Request::Fence { node, .. }
        | Request::Forget { node, .. } => Some(*node),
        _ => None,
    }
}
