//! What a node is to one shard: a follower, a taker or the owner of it. The lease under which it owns the
//! shard, and what is seen of other nodes, are the node's ([`Common`]).

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

/// Which of the three it is.
#[derive(Debug)]
pub(super) enum Part {
    Following(Follower),
    Taking(Box<Taker>),
    Owning(Owner),
}

/// The node's seat at the shard.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) settings: Settings,
    pub(super) part: Part,
    /// Its last term, also of its former incarnation, as long as nobody has taken the shard over.
    pub(super) former: Option<TermRecord>,
    /// The last term that it gave up without the ledger, and when: nobody else knows what it used.
    pub(super) abandoned: Option<(TermRecord, u64)>,
    /// The epoch that is free to be claimed, and since when.
    pub(super) free_since: Option<(u64, u64)>,
    pub(super) stand_due: u64,
    /// Until then it lets others claim a shard that is free.
    pub(super) holds_until: u64,
    /// Its tree cannot go on for now: it reads and claims nothing.
    pub(super) stands_down: bool,
    /// The shard may be this incarnation's, by a claim that was not given up again.
    pub(super) has_claimed: bool,
    /// Where its tree goes on, until it follows from there.
    returns: Option<Place>,
    /// The tree may have more than its place says.
    unsure: bool,
    /// The newest base, as it was seen before the node owned the shard.
    pub(super) base: Option<BaseRecord>,
    facts: Vec<Fact>,
    /// The shard as a follower saw it last.
    pub(super) shard: Option<ShardRecord>,
}

impl Seat {
    /// Of a node that has just started, with a tree that stands here.
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

    /// Questions to be carried to the ledger.
    pub(super) fn asks(&mut self) -> Vec<Ask> {
        match &mut self.part {
            Part::Following(follower) => follower.asks(),
            Part::Taking(taker) => taker.asks(),
            Part::Owning(owner) => owner.asks(),
        }
    }

    /// What has come to be since the last call, in order.
    pub(super) fn facts(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.facts)
    }

    pub(super) fn tell(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// The number of the machine that asks for it.
    pub(super) fn machine(&self) -> u64 {
        match &self.part {
            Part::Following(follower) => follower.machine(),
            Part::Taking(taker) => taker.machine(),
            Part::Owning(owner) => owner.machine(),
        }
    }

    /// The owner's part, while the node owns the shard.
    pub(super) fn owner(&self) -> Option<&Owner> {
        if let Part::Owning(owner) = &self.part { Some(owner) } else { None }
    }

    /// Whether it may serve while the lease lasts.
    pub(super) fn serves(&self) -> bool {
        !self.stands_down && self.returns.is_none() && self.owner().is_some_and(Owner::serves)
    }

    /// Whether the lease may be renewed for all it knows. Otherwise others could not have a shard that
    /// this node has and cannot go on with.
    pub(super) fn lets_renew(&self) -> bool {
        !(self.stands_down && self.has_claimed)
    }

    /// What a beat says of the shard.
    pub(super) fn term(&self, now: u64, host: &mut dyn Host) -> Option<TermRecord> {
        let Part::Owning(owner) = &self.part else { return self.former.clone() };
        let shard = self.settings.shard;
        let clock = host.checkpoint(shard, now);
        Some(TermRecord { shard, epoch: owner.epoch(), committed: owner.place().n, clock })
    }

    /// Appends an entry as the owner; its number, or nothing where there is no room now.
    pub(super) fn append(&mut self, body: Bytes, now: u64) -> Option<u64> {
        if let Part::Owning(owner) = &mut self.part { owner.append(body, now) } else { None }
    }

    /// Looks at the shard at once: something has changed.
    pub(super) fn look(&mut self, now: u64) {
        if let Part::Following(follower) = &mut self.part {
            follower.hurry(now);
        }
    }

    /// Claims the shard as soon as it is free, whatever it was asked to let others do.
    pub(super) fn go_first(&mut self, now: u64) {
        (self.holds_until, self.stand_due) = (0, now);
    }

    /// Takes no more entries, and gives the shard up once all are committed.
    pub(super) fn hand_over(&mut self) {
        if let Part::Owning(owner) = &mut self.part {
            owner.drain();
        }
    }

    /// Its tree cannot go on for now. An owner gives the shard up, with what it has appended so far.
    pub(super) fn stand_down(&mut self, now: u64, common: &mut Common, host: &mut dyn Host) {
        self.stands_down = true;
        match &mut self.part {
            Part::Following(_) => {}
            Part::Taking(taker) => {
                let tree = taker.tree();
                self.follow(tree, common);
            }
            Part::Owning(owner) => {
                // No view opens from here on.
                let _ = host.finish(self.settings.shard, now);
                owner.drain();
            }
        }
    }

    /// Its tree goes on, from here: it follows as at a start, once it does not own the shard any more.
    pub(super) fn go_on(&mut self, tree: Place, unsure: bool, common: &mut Common) {
        (self.stands_down, self.unsure) = (false, unsure);
        self.returns = Some(tree);
        if !matches!(self.part, Part::Owning(_)) {
            self.follow(tree, common);
        }
    }

    /// Asks what is due.
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

    /// Takes the answer to a question of its machine.
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

    /// The other nodes were looked at.
    pub(super) fn note_nodes(&mut self, now: u64, common: &Common) {
        if let Part::Following(follower) = &mut self.part {
            let facts = follower.note_terms(common.watch.terms(), now);
            self.follower_facts(facts);
        }
    }

    /// Follows from here on, or from where the tree goes on.
    pub(super) fn follow(&mut self, tree: Place, common: &mut Common) {
        // It is older than what this node has just done.
        self.shard = None;
        let returns = self.returns.take();
        self.facts.extend(returns.map(|_| Fact::WentOn));
        let tree = returns.unwrap_or(tree);
        let mut follower =
            Follower::new(self.settings.clone(), common.machine(), tree, self.unsure);
        // It looks and reads at once by itself.
        let facts = follower.note_terms(common.watch.terms(), 0);
        self.part = Part::Following(follower);
        self.follower_facts(facts);
    }

    /// What became of the lease.
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
                // What was claimed so far is another incarnation's.
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
                // It may be repaired; nobody is in a hurry then.
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
                // Whoever gives a shard up lets others have it, as long as there are some.
                self.stand_due = now + self.settings.silence();
            }
            return self.follow(place, common);
        }
    }
}
