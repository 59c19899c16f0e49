//! A node's lease: it enters as a new incarnation, and each beat that is applied lets it serve for a
//! while longer, counted from the tick that asked for it. A beat without an answer extends nothing.
//! A lease that ran out goes on with the next beat that is applied; one that was fenced is over.

use uuid::Uuid;

use crate::{
    ask::{Answer, Ask, Asks, Token},
    records::{NodeRecord, NodeState, TermRecord},
    request::{Reply, Request},
    settings::Settings,
};

/// What became of the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeaseFact {
    /// The node is in, as this incarnation; its record has the terms of the one before.
    Entered {
        /// The incarnation.
        incarnation: u64,
        /// What it goes on writing until somebody else has the shard.
        terms: Vec<TermRecord>,
    },
    /// A beat with these terms was applied.
    Renewed {
        /// The terms.
        terms: Vec<TermRecord>,
    },
    /// This incarnation never beats again. The machine enters again as the next one.
    Ended,
}

/// What is asked next, or was asked last.
#[derive(Debug)]
enum Step {
    /// Which incarnation the record has.
    Look,
    /// To be the one after it.
    Enter { before: u64 },
    /// What terms the record has.
    Terms,
    /// A beat; what it says, once it was asked.
    Beat { asked_at: u64, terms: Vec<TermRecord> },
    /// What became of a beat.
    Outcome,
}

/// The machine.
#[derive(Debug)]
pub struct Lease {
    settings: Settings,
    asks: Asks,
    step: Step,
    pending: Option<Token>,
    due: u64,
    incarnation: u64,
    beat: u64,
    until: u64,
}

impl Lease {
    /// Of a node that has just started.
    pub(crate) fn new(settings: Settings, machine: u64) -> Self {
        Self {
            settings,
            asks: Asks::new(machine),
            step: Step::Look,
            pending: None,
            due: 0,
            incarnation: 0,
            beat: 0,
            until: 0,
        }
    }

    /// The incarnation that is in; 0 where none is.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Until when an owner may serve, by the boot clock; 0 where it may not.
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Questions to be carried away.
    pub(crate) fn asks(&mut self) -> Vec<Ask> {
        self.asks.take()
    }

    /// Asks what is due. The terms are those that a beat carries.
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
                let (incarnation, beat) = (self.incarnation, self.beat);
                Request::Beat { node, incarnation, beat, terms: written.clone() }
            }
        };
        self.pending = Some(self.asks.ask(request));
    }

    /// Takes an answer.
    pub(crate) fn answer(&mut self, token: Token, answer: Answer, now: u64) -> Option<LeaseFact> {
        if self.pending != Some(token) {
            return None;
        }
        self.pending = None;
        let step = std::mem::replace(&mut self.step, Step::Look);
        self.due = now;
        match (step, answer) {
            (Step::Look, Ok(Reply::Nodes(nodes))) => {
                let before = own(&nodes, self.settings.node).map_or(0, |own| own.incarnation);
                self.step = Step::Enter { before };
            }
            (Step::Enter { before }, Ok(Reply::Swapped(true))) => {
                (self.incarnation, self.beat) = (before + 1, 0);
                self.step = Step::Terms;
            }
            (Step::Terms, Ok(Reply::Nodes(nodes))) => return self.terms_found(&nodes, now),
            (Step::Beat { asked_at, terms }, Ok(Reply::Swapped(true))) => {
                self.beat += 1;
                let by_tick = self.settings.rules.until_by_tick();
                let from = if by_tick { asked_at } else { now };
                self.until = self.until.max(from + self.settings.lease);
                self.step = beat();
                self.due = asked_at + self.settings.beat;
                return Some(LeaseFact::Renewed { terms });
            }
            // A beat that came late may be what refused this one: only the record tells.
            (Step::Beat { .. }, Ok(Reply::Swapped(false)) | Err(_)) => self.step = Step::Outcome,
            (Step::Outcome, Ok(Reply::Nodes(nodes))) => return self.outcome(&nodes, now),
            // Whether an unanswered attempt to enter was its own or another's does not matter: only
            // an answer makes an incarnation its own.
            (Step::Look | Step::Enter { .. }, _) => self.due = now + self.settings.again,
            (step, _) => {
                self.step = step;
                self.due = now + self.settings.again;
            }
        }
        None
    }

    /// The terms of the incarnation before.
    fn terms_found(&mut self, nodes: &[NodeRecord], now: u64) -> Option<LeaseFact> {
        match own(nodes, self.settings.node) {
            Some(own) if own.incarnation == self.incarnation => {
                self.step = beat();
                let (incarnation, terms) = (own.incarnation, own.terms.clone());
                Some(LeaseFact::Entered { incarnation, terms })
            }
            Some(own) if self.incarnation < own.incarnation => Some(self.ended()),
            _ => {
                self.step = Step::Terms;
                self.due = now + self.settings.again;
                None
            }
        }
    }

    /// What became of a beat that was refused or got no answer.
    fn outcome(&mut self, nodes: &[NodeRecord], now: u64) -> Option<LeaseFact> {
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

    fn ended(&mut self) -> LeaseFact {
        (self.incarnation, self.until, self.step) = (0, 0, Step::Look);
        LeaseFact::Ended
    }
}

/// A beat that is not asked yet.
fn beat() -> Step {
    Step::Beat { asked_at: 0, terms: Vec::new() }
}

/// A node's record.
fn own(nodes: &[NodeRecord], node: Uuid) -> Option<&NodeRecord> {
    nodes.iter().find(|record| record.node == node)
}
