//! The role of a node in one shard: follower, taker or owner. The lease under which it owns the
//! shard and the view of other nodes belong to the node ([`Common`]).

use bytes::Bytes;

use super::common::Common;
use crate::{
    ask::{Answer, Ask, Token},
    fact::Fact,
    follower::{Follower, FollowerFact},
    host::Host,
    lease::LeaseFact,
    owner::{Owner, OwnerFact},
    place::Place,
    records::{BaseRecord, ShardRecord, TermRecord},
    settings::Settings,
    taker::{Taker, TakerFact},
};

/// The current role.
#[derive(Debug)]
pub(super) enum Part {
    Following(Follower),
    Taking(Box<Taker>),
    Owning(Owner),
}

/// A node's role in one shard, with the state that outlives a change of role.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) settings: Settings,
    pub(super) part: Part,
    /// The last term, possibly of the former incarnation, until another node has taken the shard
    /// over.
    pub(super) former: Option<TermRecord>,
    /// The last term that ended while the ledger was unreachable, and when: only this node knows
    /// which instants it used.
    pub(super) abandoned: Option<(TermRecord, u64)>,
    /// The epoch in which the shard was found free to be claimed, and since when it has been free.
    pub(super) free_since: Option<(u64, u64)>,
    pub(super) stand_due: u64,
    /// Boot clock until which this node leaves a free shard to other nodes.
    pub(super) holds_until: u64,
    /// Whether the tree cannot continue for now, so that the seat neither reads nor claims.
    pub(super) stands_down: bool,
    /// Whether this incarnation may own the shard, through a claim that was not released.
    pub(super) has_claimed: bool,
    /// Position at which the tree will resume; `None` once entries are read from there.
    returns: Option<Place>,
    /// Whether the tree may contain entries after its recorded position.
    unsure: bool,
    /// The newest base, as seen before the node owned the shard.
    pub(super) base: Option<BaseRecord>,
    facts: Vec<Fact>,
    /// The shard record that the follower saw last.
    pub(super) shard: Option<ShardRecord>,
}

impl Seat {
    /// Creates the seat of a node that has just started, with a tree at this position.
    pub(super) fn new(settings: Settings, tree: Place, unsure: bool, common: &mut Common) -> Self {
        let follower = Follower::new(settings.clone(), common.machine(), tree, unsure);
        Self {
            part: Part::Following(follower),
            unsure,
            settings,
            former: None,
            abandoned: None,
            free_since: None,
            stand_due: 0,
            holds_until: 0,
            stands_down: false,
            has_claimed: false,
            returns: None,
            base: None,
            facts: Vec::new(),
            shard: None,
        }
    }

    /// Removes and returns the requests to send to the ledger.
    pub(super) fn asks(&mut self) -> Vec<Ask> {
        match &mut self.part {
            Part::Following(follower) => follower.asks(),
            Part::Taking(taker) => taker.asks(),
            Part::Owning(owner) => owner.asks(),
        }
    }

    /// Removes and returns the events since the last call, in order.
    pub(super) fn facts(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.facts)
    }

    pub(super) fn tell(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// Returns the number of the state machine that plays the current role.
    pub(super) fn machine(&self) -> u64 {
        match &self.part {
            Part::Following(follower) => follower.machine(),
            Part::Taking(taker) => taker.machine(),
            Part::Owning(owner) => owner.machine(),
        }
    }

    /// Returns the owner state if the node owns the shard.
    pub(super) fn owner(&self) -> Option<&Owner> {
        if let Part::Owning(owner) = &self.part { Some(owner) } else { None }
    }

    /// Returns whether requests may be served while the lease is valid.
    pub(super) fn serves(&self) -> bool {
        !self.stands_down && self.returns.is_none() && self.owner().is_some_and(Owner::serves)
    }

    /// Returns whether this seat permits renewing the lease. It does not while the node may own the
    /// shard but cannot serve it, so that other nodes can take it over.
    pub(super) fn lets_renew(&self) -> bool {
        !(self.stands_down && self.has_claimed)
    }

    /// Returns the shard's term for a heartbeat.
    pub(super) fn term(&self, now: u64, host: &mut dyn Host) -> Option<TermRecord> {
        let Part::Owning(owner) = &self.part else { return self.former.clone() };
        let shard = self.settings.shard;
        let clock = host.checkpoint(shard, now);
        Some(TermRecord { shard, epoch: owner.epoch(), committed: owner.place().n, clock })
    }

    /// Appends an entry as the owner. Returns its number, or `None` if no entry can be taken now.
    pub(super) fn append(&mut self, body: Bytes, now: u64) -> Option<u64> {
        if let Part::Owning(owner) = &mut self.part { owner.append(body, now) } else { None }
    }

    /// Reads the shard's record immediately, for callers that know of a change.
    pub(super) fn look(&mut self, now: u64) {
        if let Part::Following(follower) = &mut self.part {
            follower.hurry(now);
        }
    }

    /// Claims the shard as soon as it is free, even if an earlier request made this node wait for
    /// other nodes to claim first.
    pub(super) fn go_first(&mut self, now: u64) {
        (self.holds_until, self.stand_due) = (0, now);
    }

    /// Stops accepting entries and releases the shard once all are committed.
    pub(super) fn hand_over(&mut self) {
        if let Part::Owning(owner) = &mut self.part {
            owner.drain();
        }
    }

    /// Suspends the seat because its tree cannot continue. An owner releases the shard once all
    /// entries that it has appended are committed.
    pub(super) fn stand_down(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        self.stands_down = true;
        match &mut self.part {
            Part::Following(_) => {}
            Part::Taking(taker) => {
                let tree = taker.tree();
                self.follow(tree, common);
            }
            Part::Owning(owner) => {
                // Ends the clock, so that no further view opens.
                let _ = host.finish(self.settings.shard, now);
                owner.drain();
            }
        }
    }

    /// Resumes with the tree at this position. The shard is followed as after a start, once the
    /// node does not own it any more.
    pub(super) fn go_on(&mut self, tree: Place, unsure: bool, common: &mut Common) {
        (self.stands_down, self.unsure) = (false, unsure);
        self.returns = Some(tree);
        if !matches!(self.part, Part::Owning(_)) {
            self.follow(tree, common);
        }
    }

    /// Enqueues the requests to the ledger that are due.
    pub(super) fn tick(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        self.stand(now, common, host);
        self.abandon(now, common, host);
        let shard = self.settings.shard;
        match &mut self.part {
            Part::Following(_) if self.stands_down => {}
            Part::Following(follower) => follower.tick(now, host.backlog(shard)),
            Part::Taking(taker) => taker.tick(now),
            Part::Owning(owner) => {
                if owner.is_drained() {
                    owner.release(host.finish(shard, now), now);
                }
                owner.tick(now);
            }
        }
    }

    /// Processes the reply to a request of the current state machine.
    pub(super) fn answer(
        &mut self,
        (token, answer): (Token, Answer),
        now: u64,
        common: &mut Common,
        host: &mut dyn Host,
    ) {
        match &mut self.part {
            Part::Following(follower) => {
                let facts = follower.answer(token, answer, now);
                self.follower_facts(facts);
            }
            Part::Taking(taker) => {
                if let Some(fact) = taker.answer(token, answer, now, host) {
                    self.taker_fact(fact, now, common);
                }
            }
            Part::Owning(owner) => {
                let facts = owner.answer(token, answer, now);
                self.owner_facts(facts, now, common);
            }
        }
    }

    /// Notifies the seat that the node records were read.
    pub(super) fn note_nodes(&mut self, now: u64, common: &Common) {
        if let Part::Following(follower) = &mut self.part {
            let facts = follower.note_terms(common.watch.terms(), now);
            self.follower_facts(facts);
        }
    }

    /// Becomes a follower at this position, or at the one at which the tree resumes.
    pub(super) fn follow(&mut self, tree: Place, common: &mut Common) {
        // The saved record is older than what this node has just done.
        self.shard = None;
        let returns = self.returns.take();
        self.facts.extend(returns.map(|_| Fact::WentOn));
        let tree = returns.unwrap_or(tree);
        let mut follower =
            Follower::new(self.settings.clone(), common.machine(), tree, self.unsure);
        // No need to hurry: a new follower reads at once.
        let facts = follower.note_terms(common.watch.terms(), 0);
        self.part = Part::Following(follower);
        self.follower_facts(facts);
    }

    /// Handles an event of the lease.
    pub(super) fn lease_fact(&mut self, fact: &LeaseFact, now: u64, common: &mut Common) {
        match fact {
            LeaseFact::Entered { terms, .. } => {
                let own = |term: &&TermRecord| term.shard == self.settings.shard;
                self.former = terms.iter().find(own).cloned();
            }
            LeaseFact::Renewed { terms } => {
                let may = !self.stands_down && self.returns.is_none();
                if let Part::Owning(owner) = &mut self.part
                    && may
                    && !owner.serves()
                    && terms.iter().any(|term| {
                        (term.shard, term.epoch) == (self.settings.shard, owner.epoch())
                    })
                    && owner.begin(now)
                {
                    let epoch = owner.epoch();
                    self.facts.push(Fact::Serving { epoch });
                }
            }
            LeaseFact::Ended => {
                // Earlier claims belong to an ended incarnation.
                (self.former, self.has_claimed) = (None, false);
                match &self.part {
                    Part::Following(_) => {}
                    Part::Taking(taker) => self.follow(taker.tree(), common),
                    Part::Owning(owner) => {
                        let (epoch, place) = (owner.epoch(), owner.place());
                        self.facts.push(Fact::TermEnded { epoch, released: false });
                        self.follow(place, common);
                    }
                }
            }
        }
    }

    fn follower_facts(&mut self, facts: Vec<FollowerFact>) {
        self.facts.extend(facts.into_iter().map(|fact| match fact {
            FollowerFact::Committed { entry, place } => Fact::Apply { entry, place },
            FollowerFact::Load(base) => Fact::Load(base),
            FollowerFact::Missing(missing) => Fact::Missing(missing),
            FollowerFact::Astray(error) => Fact::Astray(error),
            FollowerFact::Damaged(error) => Fact::Damaged(error),
        }));
    }

    fn taker_fact(&mut self, fact: TakerFact, now: u64, common: &mut Common) {
        let Part::Taking(taker) = &self.part else { return };
        let mut place = taker.tree();
        self.stand_due = now + self.settings.watch;
        match fact {
            TakerFact::GaveUp => self.follow(place, common),
            TakerFact::Missing(missing) => {
                // An operator may restore the entry, which takes time: do not retry at once.
                self.stand_due = now + self.settings.lease;
                self.facts.push(Fact::Missing(missing));
                self.follow(place, common);
                if let Part::Following(follower) = &mut self.part {
                    follower.note_missing(missing);
                }
            }
            TakerFact::Damaged(error) => {
                self.facts.push(Fact::Damaged(error));
                self.follow(place, common);
            }
            TakerFact::Opened { epoch, claim, entries, heritage } => {
                for (entry, behind) in entries {
                    place = behind;
                    self.facts.push(Fact::Apply { entry, place });
                }
                self.facts.push(Fact::Opened { epoch, heritage });
                let settings = self.settings.clone();
                self.former = None;
                common.lease.hurry(now);
                self.part =
                    Part::Owning(Owner::new(settings, common.machine(), epoch, claim, place));
            }
        }
    }

    fn owner_facts(&mut self, facts: Vec<OwnerFact>, now: u64, common: &mut Common) {
        let Part::Owning(owner) = &self.part else { return };
        let (epoch, place) = (owner.epoch(), owner.place());
        for fact in facts {
            let released = match fact {
                OwnerFact::Committed { entry, place } => {
                    self.facts.push(Fact::Apply { entry, place });
                    continue;
                }
                OwnerFact::Superseded => false,
                OwnerFact::Released => true,
            };
            self.facts.push(Fact::TermEnded { epoch, released });
            self.has_claimed = false;
            if released {
                // A node that releases a shard lets others claim it first, as long as there are
                // any.
                self.stand_due = now + self.settings.silence();
            }
            return self.follow(place, common);
        }
    }
}
