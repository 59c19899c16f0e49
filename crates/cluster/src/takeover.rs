//! A take-over: fences the owner's lease, claims the shard, reads the last epoch to its end,
//! rewrites entries that may not be on a quorum, and opens the new epoch. Each step is a request
//! that may be repeated. A taker that finds the claim of another node gives up.

use std::ops::ControlFlow::{self, Break, Continue};

use bytes::Bytes;
use store::Error;
use uuid::Uuid;

use crate::{
    entry::Entry,
    host::{ClockLowerBounds, Host},
    node_monitor::ClaimReason,
    outbox::{LedgerResult, Outbox, OutgoingRequest, Token},
    parts::split,
    position::{DecodedEntry, Epochs, MissingEntry, Position},
    records::{NodeRecord, NodeState, Phase, ShardRecord, TermRecord},
    request::{EntryPart, Reply, Request, Swapped},
    settings::Settings,
    tail_read::{Reading, TailRead},
};

/// The outcome of a take-over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TakeoverEvent {
    /// The epoch is open: the entries have to be applied, then the owner starts.
    Opened {
        epoch: u64,
        /// Id of the claim that opened the epoch, and the clock in the claim.
        claim: (Uuid, Bytes),
        /// Committed entries after the tree's position, each with the position after it.
        entries: Vec<(Entry, Position)>,
        /// Clock state inherited from the preceding owner.
        lower_bounds: ClockLowerBounds,
    },
    /// The owner is alive, or another node claimed the shard first.
    GaveUp,
    /// A committed entry is missing; the shard stays closed until an operator accepts the loss.
    Missing(MissingEntry),
    /// The journal is damaged, or the tree belongs to another journal.
    Damaged(Error),
}

/// The request to send next, or the one in flight.
#[derive(Debug)]
enum Step {
    Fence,
    FenceOutcome,
    ReadBefore,
    Claim { clock: Bytes },
    ClaimOutcome { clock: Bytes },
    Confirm { clock: Bytes },
    ReadEnds,
    Read(TailRead),
    WriteAgain { tail_read: TailRead, tail: Vec<DecodedEntry> },
    Open(TailRead),
    OpenOutcome(TailRead),
    Over,
}

/// The state on which a claim is based.
#[derive(Clone, Debug)]
pub(crate) struct ClaimBasis {
    pub(crate) shard: ShardRecord,
    /// The reason why the shard may be claimed.
    pub(crate) free: ClaimReason,
    /// The owner's last term; when this node first read the term's current checkpoint; and whether
    /// this node has seen the owner renew it.
    pub(crate) beat: Option<(TermRecord, u64, bool)>,
    /// The terms of all nodes.
    pub(crate) terms: Vec<TermRecord>,
    /// The incarnation of this node.
    pub(crate) incarnation: u64,
    /// Position of this node's tree.
    pub(crate) tree: Position,
}

/// The state machine of a take-over.
#[derive(Debug)]
pub(crate) struct Takeover {
    settings: Settings,
    outbox: Outbox,
    before: ClaimBasis,
    claim: Uuid,
    lower_bounds: ClockLowerBounds,
    /// Lower bound of the new owner's clock, which the claim stores.
    clock: Bytes,
    step: Step,
    pending: Option<Token>,
    due: u64,
}

impl Takeover {
    pub(crate) fn new(settings: Settings, machine: u64, before: ClaimBasis, claim: Uuid) -> Self {
        let fence = before.free != ClaimReason::Now && settings.rules.fence_first();
        let lower_bounds = ClockLowerBounds {
            beat: None,
            seen_alive: false,
            released: false,
            least: Bytes::new(),
        };
        Self {
            settings,
            outbox: Outbox::new(machine),
            before,
            claim,
            lower_bounds,
            clock: Bytes::new(),
            step: if fence { Step::Fence } else { Step::ReadBefore },
            pending: None,
            due: 0,
        }
    }

    pub(crate) fn machine(&self) -> u64 {
        self.outbox.machine()
    }

    /// Returns the position of this node's tree.
    pub(crate) fn tree(&self) -> Position {
        self.before.tree
    }

    pub(crate) fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        self.outbox.take()
    }

    /// Enqueues the requests to the ledger that are due.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.pending.is_none()
            && self.due <= now
            && let Some(request) = self.request()
        {
            self.pending = Some(self.outbox.enqueue(request));
        }
    }

    fn request(&self) -> Option<Request> {
        let (shard, claim) = (self.settings.shard, self.claim);
        Some(match &self.step {
            Step::Fence => {
                let ClaimReason::Silent { node, incarnation, beat } = self.before.free else {
                    return None;
                };
                Request::Fence { node, incarnation, beat }
            }
            Step::FenceOutcome => Request::ReadNodes,
            Step::ReadBefore | Step::OpenOutcome(_) => Request::ReadShardSerial { shard },
            Step::ClaimOutcome { .. } if self.settings.rules.confirm_claim() => {
                Request::ReadShardSerial { shard }
            }
            Step::ClaimOutcome { .. } | Step::ReadEnds => Request::ReadShard { shard },
            Step::Claim { clock } => Request::Claim {
                shard,
                before: self.before.shard.epoch,
                claim,
                node: self.settings.node,
                incarnation: self.before.incarnation,
                clock: clock.clone(),
            },
            Step::Confirm { .. } => Request::Confirm { shard, claim },
            Step::Read(tail_read) => tail_read.request(),
            Step::WriteAgain { tail, .. } => {
                let found = tail.last()?;
                let parts = split(found.entry.n, &found.bytes, self.settings.part_bytes);
                let (epoch, segment) = (found.entry.epoch, found.segment);
                Request::Append { shard, epoch, segment, parts }
            }
            Step::Open(tail_read) => {
                Request::Open { shard, claim, epoch: self.epoch(), ends: tail_read.ends() }
            }
            Step::Over => return None,
        })
    }

    fn epoch(&self) -> u64 {
        self.before.shard.epoch + 1
    }

    pub(crate) fn handle_reply(
        &mut self,
        token: Token,
        answer: LedgerResult,
        now: u64,
        host: &mut dyn Host,
    ) -> Option<TakeoverEvent> {
        if self.pending != Some(token) {
            return None;
        }
        self.pending = None;
        self.due = now;
        let step = std::mem::replace(&mut self.step, Step::Over);
        let next = match (step, answer) {
            (Step::Read(tail_read), Ok(Reply::Parts(parts))) => self.read(tail_read, &parts),
            (Step::WriteAgain { tail_read, mut tail }, Ok(Reply::Written)) => {
                tail.pop();
                Continue(write_again(tail_read, tail))
            }
            (step @ (Step::Open(_) | Step::OpenOutcome(_)), answer) => {
                self.opened(step, answer, now)
            }
            (step, Err(_)) => {
                self.due = now + self.settings.again;
                Continue(unanswered(step, self.settings.rules.confirm_claim()))
            }
            (step, Ok(reply)) => match self.claimed(step, reply, now, host) {
                Some(step) => Continue(step),
                None => Break(TakeoverEvent::GaveUp),
            },
        };
        match next {
            Continue(step) => self.step = step,
            Break(event) => return Some(event),
        }
        self.tick(now);
        None
    }

    /// Handles replies before the journal is read; returns `None` if another node has claimed the
    /// shard first.
    fn claimed(&mut self, step: Step, reply: Reply, now: u64, host: &mut dyn Host) -> Option<Step> {
        match (step, reply) {
            (Step::Fence, Reply::Swapped(Swapped::Done)) => Some(Step::ReadBefore),
            (Step::Fence, Reply::Swapped(Swapped::Refused(_))) => Some(Step::FenceOutcome),
            (Step::FenceOutcome, Reply::Nodes(nodes)) => self.fenced(&nodes),
            (Step::ReadBefore, Reply::Shard(Some(shard))) => {
                let seen = &self.before.shard;
                let owner = |shard: &ShardRecord| (shard.epoch, shard.node, shard.incarnation);
                if owner(&shard) != owner(seen) {
                    return None;
                }
                let released = shard.phase == Phase::Released;
                let of_beat = self.settings.rules.clock_of_beat();
                let beat = self.before.beat.clone().filter(|_| of_beat);
                let seen_alive = beat.as_ref().is_some_and(|(.., renewed)| *renewed);
                let beat = beat.map(|(term, noted, _)| (term, noted));
                self.lower_bounds =
                    ClockLowerBounds { beat, seen_alive, released, least: shard.clock };
                self.clock = host.begin(self.settings.shard, &self.lower_bounds, now);
                Some(Step::Claim { clock: self.clock.clone() })
            }
            // The acknowledgement means that a quorum has the claim.
            (Step::Claim { .. } | Step::Confirm { .. }, Reply::Swapped(Swapped::Done)) => {
                Some(Step::ReadEnds)
            }
            (
                Step::Claim { clock } | Step::Confirm { clock },
                Reply::Swapped(Swapped::Refused(_)),
            ) => Some(Step::ClaimOutcome { clock }),
            (Step::ClaimOutcome { clock }, Reply::Shard(Some(shard))) => {
                if self.is_mine(&shard) {
                    let confirm = self.settings.rules.confirm_claim();
                    Some(if confirm { Step::Confirm { clock } } else { Step::ReadEnds })
                } else {
                    let not_yet = shard.epoch == self.before.shard.epoch;
                    not_yet.then_some(Step::Claim { clock })
                }
            }
            (Step::ReadEnds, Reply::Shard(Some(shard))) if self.is_mine(&shard) => {
                let opened = shard.opened;
                let of_opened =
                    |term: &&TermRecord| (term.shard, term.epoch) == (self.settings.shard, opened);
                let terms = self.before.terms.iter().filter(of_opened);
                let committed = terms.map(|term| term.committed).max().unwrap_or(0);
                let epochs = Epochs::from_record(&shard);
                let tree = self.before.tree;
                let tail_read = TailRead::new(self.settings.clone(), epochs, tree, committed);
                let nothing = tail_read.is_nothing();
                Some(if nothing { Step::Open(tail_read) } else { Step::Read(tail_read) })
            }
            _ => None,
        }
    }

    /// Determines, by the owner's record, the outcome of a fence that was refused or got no reply.
    fn fenced(&self, nodes: &[NodeRecord]) -> Option<Step> {
        let ClaimReason::Silent { node, incarnation, beat } = self.before.free else { return None };
        let record = nodes.iter().find(|record| record.node == node)?;
        if record.incarnation != incarnation || record.beat != beat {
            return None;
        }
        Some(match record.state {
            NodeState::Fenced => Step::ReadBefore,
            NodeState::Up => Step::Fence,
        })
    }

    /// Returns whether the record has this taker's claim and the claimed epoch is not open yet.
    fn is_mine(&self, shard: &ShardRecord) -> bool {
        (shard.epoch, shard.claim) == (self.epoch(), self.claim) && shard.phase == Phase::Sealing
    }

    fn read(
        &self,
        mut tail_read: TailRead,
        parts: &[EntryPart],
    ) -> ControlFlow<TakeoverEvent, Step> {
        match tail_read.read(parts) {
            Reading::More => Continue(Step::Read(tail_read)),
            Reading::Missing(missing) => Break(TakeoverEvent::Missing(missing)),
            Reading::Damaged(error) => Break(TakeoverEvent::Damaged(error)),
            Reading::Done => {
                let mut tail: Vec<DecodedEntry> = tail_read.end().1.cloned().collect();
                tail.reverse();
                if !self.settings.rules.write_tail_again() {
                    tail.clear();
                }
                Continue(write_again(tail_read, tail))
            }
        }
    }

    /// Processes the reply to the request that opens the epoch, or to the read that determines
    /// whether this request was applied.
    fn opened(
        &mut self,
        step: Step,
        answer: LedgerResult,
        now: u64,
    ) -> ControlFlow<TakeoverEvent, Step> {
        let (Step::Open(tail_read) | Step::OpenOutcome(tail_read)) = step else {
            return Break(TakeoverEvent::GaveUp);
        };
        if !self.settings.rules.end_by_swap() {
            return Break(self.open(tail_read));
        }
        match answer {
            Ok(Reply::Swapped(Swapped::Done)) => Break(self.open(tail_read)),
            Ok(Reply::Swapped(Swapped::Refused(_))) => Continue(Step::OpenOutcome(tail_read)),
            Ok(Reply::Shard(Some(shard))) if self.is_mine(&shard) => {
                Continue(Step::Open(tail_read))
            }
            Ok(Reply::Shard(Some(shard))) if shard.claim == self.claim => {
                Break(self.open(tail_read))
            }
            Ok(_) => Break(TakeoverEvent::GaveUp),
            Err(_) => {
                self.due = now + self.settings.again;
                Continue(Step::Open(tail_read))
            }
        }
    }

    fn open(&self, tail_read: TailRead) -> TakeoverEvent {
        let entries = tail_read.into_entries().into_iter();
        let applied = entries.map(|found| {
            let position = Position::after(&found);
            (found.entry, position)
        });
        TakeoverEvent::Opened {
            epoch: self.epoch(),
            claim: (self.claim, self.clock.clone()),
            entries: applied.collect(),
            lower_bounds: self.lower_bounds.clone(),
        }
    }
}

/// Returns the next step after a request got no reply; most requests are repeated.
fn unanswered(step: Step, confirm: bool) -> Step {
    match step {
        Step::Fence => Step::FenceOutcome,
        Step::Claim { clock } if confirm => Step::Confirm { clock },
        Step::Claim { clock } => Step::ClaimOutcome { clock },
        step => step,
    }
}

/// Returns the step that rewrites the last of these entries or, if none is left, the step that
/// opens the epoch.
fn write_again(tail_read: TailRead, tail: Vec<DecodedEntry>) -> Step {
    if tail.is_empty() { Step::Open(tail_read) } else { Step::WriteAgain { tail_read, tail } }
}
