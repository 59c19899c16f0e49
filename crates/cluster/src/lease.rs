//! A node's lease. The node takes it as a new incarnation ("enters"); each applied heartbeat
//! extends the lease, counted from the tick that sent it. A heartbeat without a reply extends
//! nothing. An expired lease is resumed by the next applied heartbeat; a fenced one has ended.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::{
    outbox::{LedgerResult, Outbox, OutgoingRequest, Token},
    records::{NodeRecord, NodeState, TermRecord},
    request::{Reply, Request, Swapped},
    settings::Settings,
};

/// An event of the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeaseEvent {
    /// The node has taken the lease with this incarnation. Its record still has the terms of its
    /// preceding incarnation.
    Entered {
        /// Number of this start of the node; every start gets a new one.
        incarnation: u64,
        /// Terms that each heartbeat repeats until another node owns the shard, so that no
        /// checkpoint is lost.
        terms: Vec<TermRecord>,
    },
    /// A heartbeat with these terms was applied.
    Renewed {
        /// The terms that the heartbeat published.
        terms: Vec<TermRecord>,
    },
    /// This incarnation never sends a heartbeat again. The state machine takes the lease again with
    /// the next incarnation.
    Ended,
}

/// The request to send next, or the one in flight.
#[derive(Debug)]
enum Step {
    /// Reads the incarnation in the node's record.
    Look,
    /// Takes the lease with the incarnation after `before`.
    Enter { before: u64 },
    /// Reads the terms in the node's record.
    Terms,
    /// Sends a heartbeat; `asked_at` and `terms` are set when it is sent.
    Beat { asked_at: u64, terms: Vec<TermRecord> },
    /// Reads the node's record after a heartbeat that was refused or got no reply.
    Outcome,
}

/// The state machine of a node's lease.
#[derive(Debug)]
pub struct Lease {
    settings: Settings,
    outbox: Outbox,
    step: Step,
    pending: Option<Token>,
    due: u64,
    incarnation: u64,
    /// All incarnations that this node has had since the machine was booted.
    own: BTreeSet<u64>,
    beat: u64,
    until: u64,
    /// Whether to send the next heartbeat immediately instead of after the heartbeat interval.
    hurries: bool,
}

impl Lease {
    /// Creates the lease of a node that has just started.
    pub(crate) fn new(settings: Settings, machine: u64) -> Self {
        Self {
            settings,
            outbox: Outbox::new(machine),
            step: Step::Look,
            pending: None,
            due: 0,
            incarnation: 0,
            own: BTreeSet::new(),
            beat: 0,
            until: 0,
            hurries: false,
        }
    }

    /// Returns the current incarnation; 0 until the node first takes the lease.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Returns whether this node had this incarnation since its machine was booted. Such an
    /// incarnation has ended unless it is the current one.
    pub(crate) fn had_incarnation(&self, incarnation: u64) -> bool {
        self.own.contains(&incarnation)
    }

    /// Returns the time of the boot clock until which an owner may serve; 0 if it may not.
    pub fn until(&self) -> u64 {
        self.until
    }

    pub(crate) fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        self.outbox.take()
    }

    /// Sends the next heartbeat immediately, because there is new state to publish.
    pub(crate) fn hurry(&mut self, now: u64) {
        self.hurries = true;
        if matches!(self.step, Step::Beat { .. }) {
            self.due = now;
        }
    }

    /// Enqueues the request to the ledger that is due. A heartbeat carries the given terms.
    pub(crate) fn tick(&mut self, now: u64, terms: impl FnOnce() -> Vec<TermRecord>) {
        if self.pending.is_some() || now < self.due {
            return;
        }
        let node = self.settings.node;
        let request = match &mut self.step {
            Step::Look | Step::Terms | Step::Outcome => Request::ReadNodes,
            Step::Enter { before } => {
                Request::Enter { node, before: *before, about: self.settings.about.clone() }
            }
            Step::Beat { asked_at, terms: written } => {
                (*asked_at, *written) = (now, terms());
                self.hurries = false;
                let (incarnation, beat) = (self.incarnation, self.beat);
                Request::Beat { node, incarnation, beat, terms: written.clone() }
            }
        };
        self.pending = Some(self.outbox.enqueue(request));
    }

    pub(crate) fn handle_reply(
        &mut self,
        token: Token,
        answer: LedgerResult,
        now: u64,
    ) -> Option<LeaseEvent> {
        if self.pending != Some(token) {
            return None;
        }
        self.pending = None;
        let step = std::mem::replace(&mut self.step, Step::Look);
        self.due = now;
        match (step, answer) {
            (Step::Look, Ok(Reply::Nodes(nodes))) => {
                let record = own(&nodes, self.settings.node);
                let before = record.map_or(0, |own| own.incarnation);
                self.own.extend(
                    record.filter(|own| self.settings.is_former_self(&own.about)).map(|_| before),
                );
                self.step = Step::Enter { before };
            }
            (Step::Enter { before }, Ok(Reply::Swapped(Swapped::Done))) => {
                (self.incarnation, self.beat) = (before + 1, 0);
                self.own.insert(self.incarnation);
                self.step = Step::Terms;
            }
            (Step::Terms, Ok(Reply::Nodes(nodes))) => return self.terms_found(&nodes, now),
            (Step::Beat { asked_at, terms }, Ok(Reply::Swapped(Swapped::Done))) => {
                self.beat += 1;
                let by_tick = self.settings.rules.until_by_tick();
                let from = if by_tick { asked_at } else { now };
                self.until = self.until.max(from + self.settings.lease);
                self.step = beat();
                if !self.hurries {
                    self.due = asked_at + self.settings.beat;
                }
                return Some(LeaseEvent::Renewed { terms });
            }
            // A delayed heartbeat that was applied after all may have caused the refusal: only the
            // record can tell.
            (Step::Beat { .. }, Ok(Reply::Swapped(Swapped::Refused(_))) | Err(_)) => {
                self.step = Step::Outcome
            }
            (Step::Outcome, Ok(Reply::Nodes(nodes))) => return self.outcome(&nodes, now),
            // Whether an unanswered attempt to take the lease was applied is irrelevant: only an
            // acknowledgement makes an incarnation this node's own.
            (Step::Look | Step::Enter { .. }, _) => self.due = now + self.settings.again,
            (step, _) => {
                self.step = step;
                self.due = now + self.settings.again;
            }
        }
        None
    }

    /// Reads the terms of the preceding incarnation.
    fn terms_found(&mut self, nodes: &[NodeRecord], now: u64) -> Option<LeaseEvent> {
        match own(nodes, self.settings.node) {
            Some(own) if own.incarnation == self.incarnation => {
                self.step = beat();
                let (incarnation, terms) = (own.incarnation, own.terms.clone());
                Some(LeaseEvent::Entered { incarnation, terms })
            }
            Some(own) if self.incarnation < own.incarnation => Some(self.ended()),
            _ => {
                self.step = Step::Terms;
                self.due = now + self.settings.again;
                None
            }
        }
    }

    /// Determines, by the node's record, the outcome of a heartbeat that was refused or got no
    /// reply.
    fn outcome(&mut self, nodes: &[NodeRecord], now: u64) -> Option<LeaseEvent> {
        let incarnation = self.incarnation;
        match own(nodes, self.settings.node) {
            Some(own) if incarnation < own.incarnation => return Some(self.ended()),
            Some(own) if own.incarnation == incarnation && own.state == NodeState::Fenced => {
                return Some(self.ended());
            }
            Some(own) if own.incarnation == incarnation && self.beat <= own.beat => {
                self.beat = own.beat;
                self.step = beat();
            }
            _ => {
                self.step = Step::Outcome;
                self.due = now + self.settings.again;
            }
        }
        None
    }

    fn ended(&mut self) -> LeaseEvent {
        (self.incarnation, self.until, self.step) = (0, 0, Step::Look);
        LeaseEvent::Ended
    }
}

/// Returns the step in which a heartbeat has to be sent.
fn beat() -> Step {
    Step::Beat { asked_at: 0, terms: Vec::new() }
}

fn own(nodes: &[NodeRecord], node: Uuid) -> Option<&NodeRecord> {
    nodes.iter().find(|record| record.node == node)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::request::Unanswered;

    const NODE: Uuid = Uuid::from_u128(1);
    const LEASE: u64 = 3_000_000_000;

    fn record(incarnation: u64, beat: u64, state: NodeState) -> NodeRecord {
        let (about, terms) = (Bytes::from_static(b"here"), Vec::new());
        NodeRecord { node: NODE, incarnation, beat, state, about, terms }
    }

    /// Sends the request that is due and processes this answer to it.
    fn step(lease: &mut Lease, now: u64, answer: LedgerResult) -> (Request, Option<LeaseEvent>) {
        lease.tick(now, Vec::new);
        let [ask] = <[OutgoingRequest; 1]>::try_from(lease.take_requests()).unwrap();
        let event = lease.handle_reply(ask.token, answer, now + 1);
        (ask.request, event)
    }

    /// A lease that was taken with incarnation 4.
    fn entered() -> Lease {
        let about = Bytes::from_static(b"here");
        let mut lease = Lease::new(Settings::new(Uuid::nil(), 0, NODE, about), 1);
        let nodes = |incarnation| Ok(Reply::Nodes(vec![record(incarnation, 0, NodeState::Up)]));
        step(&mut lease, 1, nodes(3));
        step(&mut lease, 2, Ok(Reply::Swapped(Swapped::Done)));
        let (_, event) = step(&mut lease, 3, nodes(4));
        assert!(matches!(event, Some(LeaseEvent::Entered { incarnation: 4, .. })));
        assert!(lease.had_incarnation(3) && lease.had_incarnation(4) && !lease.had_incarnation(2));
        lease
    }

    #[test]
    fn a_node_knows_its_former_incarnation_by_its_place_whatever_its_addresses() {
        for (said, is_own) in
            [("here, port 1", true), ("here", true), ("elsewhere", false), ("her", false)]
        {
            let about = Bytes::from_static(b"here, port 2");
            let mut settings = Settings::new(Uuid::nil(), 0, NODE, about);
            settings.place_bytes = 4;
            let mut lease = Lease::new(settings, 1);
            let about = Bytes::from(said);
            let before = NodeRecord { about, ..record(3, 0, NodeState::Up) };
            step(&mut lease, 1, Ok(Reply::Nodes(vec![before])));
            assert_eq!(lease.had_incarnation(3), is_own, "{said}");
        }
    }

    #[test]
    fn a_beat_counts_from_its_tick() {
        let mut lease = entered();
        assert_eq!(lease.until(), 0);
        let (request, event) = step(&mut lease, 10, Ok(Reply::Swapped(Swapped::Done)));
        assert!(matches!(request, Request::Beat { incarnation: 4, beat: 0, .. }));
        assert!(matches!(event, Some(LeaseEvent::Renewed { .. })));
        assert_eq!(lease.until(), 10 + LEASE);
    }

    #[test]
    fn a_beat_without_an_answer_extends_nothing_and_ends_nothing() {
        let mut lease = entered();
        step(&mut lease, 10, Err(Unanswered(String::new())));
        // The heartbeat was applied nevertheless.
        let nodes = vec![record(4, 1, NodeState::Up)];
        let (request, event) = step(&mut lease, 20, Ok(Reply::Nodes(nodes)));
        assert_eq!((request, event, lease.until()), (Request::ReadNodes, None, 0));
        let (request, _) = step(&mut lease, 30, Ok(Reply::Swapped(Swapped::Done)));
        assert!(matches!(request, Request::Beat { incarnation: 4, beat: 1, .. }));
        assert_eq!(lease.until(), 30 + LEASE);
    }

    #[test]
    fn only_the_record_says_that_a_lease_is_over() {
        for (last, is_over) in [
            (record(4, 1, NodeState::Up), false),
            (record(4, 0, NodeState::Fenced), true),
            (record(5, 0, NodeState::Up), true),
        ] {
            let mut lease = entered();
            let (_, event) = step(&mut lease, 10, Ok(Reply::Swapped(Swapped::Refused(None))));
            assert_eq!(event, None);
            let (_, event) = step(&mut lease, 20, Ok(Reply::Nodes(vec![last])));
            assert_eq!(event, is_over.then_some(LeaseEvent::Ended));
            assert_eq!(lease.incarnation(), if is_over { 0 } else { 4 });
        }
    }
}
