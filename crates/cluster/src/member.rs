//! A node's part in a shard: its lease, what it sees of the others, and what it is to the shard, which
//! is a follower, a taker or the owner. Whoever runs it carries questions to the ledger and answers
//! back, calls [`Member::tick`] every few milliseconds, and acts on the facts before the next call.

mod claims;
mod seen;

use bytes::Bytes;

use crate::{
    ask::{Answer, Ask, Token},
    fact::Fact,
    follower::{Follower, FollowerFact},
    host::Host,
    lease::{Lease, LeaseFact},
    owner::{Owner, OwnerFact},
    place::Place,
    records::{ShardRecord, TermRecord},
    settings::Settings,
    taker::{Taker, TakerFact},
    watch::Watch,
};

/// What the node is to the shard.
#[derive(Debug)]
enum Seat {
    Following(Follower),
    Taking(Box<Taker>),
    Owning(Owner),
}

/// The machine.
#[derive(Debug)]
pub struct Member {
    settings: Settings,
    /// Machines that were made.
    machines: u64,
    lease: Lease,
    lease_machine: u64,
    watch: Watch,
    watch_machine: u64,
    seat: Seat,
    /// Terms that are over, its former incarnation's too, for shards that nobody has taken over.
    former: Vec<TermRecord>,
    /// The last term that it gave up without the ledger, and when: nobody else knows what it used.
    abandoned: Option<(TermRecord, u64)>,
    /// The epoch that is free to be claimed, and since when.
    free_since: Option<(u64, u64)>,
    stand_due: u64,
    /// Until then it lets others claim a shard that is free.
    holds_until: u64,
    /// Its tree cannot go on for now: it reads, claims and renews nothing.
    stands_down: bool,
    /// Where its tree goes on, until it follows from there.
    returns: Option<Place>,
    /// The tree may have more than its place says.
    unsure: bool,
    /// Behind which entry the newest base stands.
    base_entry: u64,
    facts: Vec<Fact>,
    /// The shard as a follower saw it last.
    shard: Option<ShardRecord>,
    /// When the ledger answered last.
    heard_at: u64,
}

impl Member {
    /// Of a node that has just started, with a tree that stands here, or, where that is unsure, may have
    /// more: its place was noted before its last entries were.
    pub fn new(settings: Settings, tree: Place, unsure: bool) -> Self {
        let (lease_machine, watch_machine, follower) = (1, 2, 3);
        Self {
            lease: Lease::new(settings.clone(), lease_machine),
            lease_machine,
            watch: Watch::new(settings.clone(), watch_machine),
            watch_machine,
            seat: Seat::Following(Follower::new(settings.clone(), follower, tree, unsure)),
            unsure,
            settings,
            machines: follower,
            former: Vec::new(),
            abandoned: None,
            free_since: None,
            stand_due: 0,
            holds_until: 0,
            stands_down: false,
            returns: None,
            base_entry: 0,
            facts: Vec::new(),
            shard: None,
            heard_at: 0,
        }
    }

    /// Questions to be carried to the ledger.
    pub fn asks(&mut self) -> Vec<Ask> {
        let mut asks = self.lease.asks();
        asks.extend(self.watch.asks());
        asks.extend(match &mut self.seat {
            Seat::Following(follower) => follower.asks(),
            Seat::Taking(taker) => taker.asks(),
            Seat::Owning(owner) => owner.asks(),
        });
        asks
    }

    /// What has come to be since the last call, in order.
    pub fn facts(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.facts)
    }

    /// The lease.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// The owner's part, while the node owns the shard.
    pub fn owner(&self) -> Option<&Owner> {
        if let Seat::Owning(owner) = &self.seat { Some(owner) } else { None }
    }

    /// The entry behind which the newest base stands, as it was seen before the node owned the shard.
    pub fn base_entry(&self) -> u64 {
        self.base_entry
    }

    /// Whether a view may be opened at this moment of the boot clock.
    pub fn may_read(&self, now: u64) -> bool {
        !self.stands_down
            && self.returns.is_none()
            && self.owner().is_some_and(Owner::serves)
            && now < self.lease.until()
    }

    /// Appends an entry as the owner; its number, or nothing where there is no room now.
    pub fn append(&mut self, body: Bytes, now: u64) -> Option<u64> {
        if let Seat::Owning(owner) = &mut self.seat { owner.append(body, now) } else { None }
    }

    /// The shard's clock has something new to say: a beat carries it at once.
    pub fn hurry(&mut self, now: u64) {
        self.lease.hurry(now);
    }

    /// Lets others claim the shard until this moment of the boot clock.
    pub fn hold_back(&mut self, until: u64) {
        self.holds_until = until;
    }

    /// Claims the shard as soon as it is free, whatever it was asked to let others do.
    pub fn go_first(&mut self, now: u64) {
        (self.holds_until, self.stand_due) = (0, now);
        self.look(now);
    }

    /// Looks at the shard and the other nodes at once: something has changed.
    pub fn look(&mut self, now: u64) {
        self.watch.hurry(now);
        if let Seat::Following(follower) = &mut self.seat {
            follower.hurry(now);
        }
    }

    /// Takes no more entries, and gives the shard up once all are committed.
    pub fn hand_over(&mut self) {
        if let Seat::Owning(owner) = &mut self.seat {
            owner.drain();
        }
    }

    /// Its tree cannot go on for now. An owner gives the shard up, with what it has appended so far, and
    /// renews its lease no more, so that others have the shard even where it cannot be given up.
    pub fn stand_down(&mut self, now: u64, host: &mut dyn Host) {
        self.stands_down = true;
        match &mut self.seat {
            Seat::Following(_) => {}
            Seat::Taking(taker) => {
                let tree = taker.tree();
                self.follow(tree);
            }
            Seat::Owning(owner) => {
                // No view opens from here on.
                let _ = host.finish(now);
                owner.drain();
            }
        }
    }

    /// Its tree goes on, from here: it follows as at a start, once it does not own the shard any more.
    pub fn go_on(&mut self, tree: Place, unsure: bool) {
        (self.stands_down, self.unsure) = (false, unsure);
        self.returns = Some(tree);
        if !matches!(self.seat, Seat::Owning(_)) {
            self.follow(tree);
        }
    }

    /// Asks what is due at this moment of the boot clock.
    pub fn tick(&mut self, now: u64, host: &mut dyn Host) {
        self.drop_former();
        let (seat, former, shard) = (&self.seat, &self.former, self.settings.shard);
        let terms = || match seat {
            Seat::Owning(owner) => {
                let clock = host.checkpoint(now);
                let (epoch, committed) = (owner.epoch(), owner.place().n);
                vec![TermRecord { shard, epoch, committed, clock }]
            }
            _ => former.clone(),
        };
        if !self.stands_down {
            self.lease.tick(now, terms);
        }
        self.watch.tick(now);
        self.stand(now, host);
        self.abandon(now, host);
        match &mut self.seat {
            Seat::Following(_) if self.stands_down => {}
            Seat::Following(follower) => follower.tick(now, host.backlog()),
            Seat::Taking(taker) => taker.tick(now),
            Seat::Owning(owner) => {
                if owner.is_drained() {
                    owner.release(host.finish(now), now);
                }
                owner.tick(now);
            }
        }
    }

    /// Takes an answer.
    pub fn answer(&mut self, token: Token, answer: Answer, now: u64, host: &mut dyn Host) {
        let machine = token.machine();
        if answer.is_ok() {
            self.heard_at = now;
        }
        if machine == self.lease_machine {
            let fact = self.lease.answer(token, answer, now);
            self.lease_fact(fact, now);
            return;
        }
        if machine == self.watch_machine {
            if self.watch.answer(token, answer, now)
                && let Seat::Following(follower) = &mut self.seat
            {
                let facts = follower.note_terms(self.watch.terms());
                self.follower_facts(facts);
            }
            return;
        }
        match &mut self.seat {
            Seat::Following(follower) if follower.machine() == machine => {
                let facts = follower.answer(token, answer, now);
                self.follower_facts(facts);
            }
            Seat::Taking(taker) if taker.machine() == machine => {
                if let Some(fact) = taker.answer(token, answer, now, host) {
                    self.taker_fact(fact, now);
                }
            }
            Seat::Owning(owner) if owner.machine() == machine => {
                let facts = owner.answer(token, answer, now);
                self.owner_facts(facts, now);
            }
            // Of a machine that is gone.
            _ => {}
        }
    }

    /// Follows from here on, or from where the tree goes on.
    fn follow(&mut self, tree: Place) {
        // It is older than what this node has just done.
        self.shard = None;
        self.machines += 1;
        let returns = self.returns.take();
        self.facts.extend(returns.map(|_| Fact::WentOn));
        let tree = returns.unwrap_or(tree);
        let mut follower = Follower::new(self.settings.clone(), self.machines, tree, self.unsure);
        let facts = follower.note_terms(self.watch.terms());
        self.seat = Seat::Following(follower);
        self.follower_facts(facts);
    }

    fn lease_fact(&mut self, fact: Option<LeaseFact>, now: u64) {
        match fact {
            None => {}
            Some(LeaseFact::Entered { terms, .. }) => self.former = terms,
            Some(LeaseFact::Renewed { terms }) => {
                if let Seat::Owning(owner) = &mut self.seat
                    && !self.stands_down
                    && self.returns.is_none()
                    && !owner.serves()
                    && terms.iter().any(|term| term.epoch == owner.epoch())
                    && owner.begin(now)
                {
                    self.facts.push(Fact::Serving { epoch: owner.epoch() });
                }
            }
            Some(LeaseFact::Ended) => {
                self.former.clear();
                match &self.seat {
                    Seat::Following(_) => {}
                    Seat::Taking(taker) => self.follow(taker.tree()),
                    Seat::Owning(owner) => {
                        let (epoch, place) = (owner.epoch(), owner.place());
                        self.facts.push(Fact::TermEnded { epoch, released: false });
                        self.follow(place);
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

    fn taker_fact(&mut self, fact: TakerFact, now: u64) {
        let Seat::Taking(taker) = &self.seat else { return };
        let mut place = taker.tree();
        self.stand_due = now + self.settings.watch;
        match fact {
            TakerFact::GaveUp => self.follow(place),
            TakerFact::Missing(missing) => {
                // It may be repaired; nobody is in a hurry then.
                self.stand_due = now + self.settings.lease;
                self.facts.push(Fact::Missing(missing));
                self.follow(place);
                if let Seat::Following(follower) = &mut self.seat {
                    follower.note_missing(missing);
                }
            }
            TakerFact::Damaged(error) => {
                self.facts.push(Fact::Damaged(error));
                self.follow(place);
            }
            TakerFact::Opened { epoch, claim, entries, heritage } => {
                for (entry, behind) in entries {
                    place = behind;
                    self.facts.push(Fact::Apply { entry, place });
                }
                self.facts.push(Fact::Opened { epoch, heritage });
                self.machines += 1;
                let settings = self.settings.clone();
                self.former.clear();
                self.lease.hurry(now);
                self.seat = Seat::Owning(Owner::new(settings, self.machines, epoch, claim, place));
            }
        }
    }

    fn owner_facts(&mut self, facts: Vec<OwnerFact>, now: u64) {
        let Seat::Owning(owner) = &self.seat else { return };
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
            if released {
                // Whoever gives a shard up lets others have it, as long as there are some.
                self.stand_due = now + self.settings.silence();
            }
            return self.follow(place);
        }
    }
}
