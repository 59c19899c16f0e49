//! A node as the protocol sees it: its lease, what it sees of the others, and what it is to each shard,
//! which is a follower, a taker or the owner. Whoever runs it carries questions to the ledger and answers
//! back, calls [`Member::tick`] every few milliseconds, and acts on the facts before the next call.

mod claims;
mod common;
mod seat;
mod seen;

use bytes::Bytes;

use crate::{
    ask::{Answer, Ask, Token},
    fact::Fact,
    host::Host,
    lease::Lease,
    member::{common::Common, seat::Seat},
    owner::Owner,
    place::Place,
    records::BaseRecord,
    settings::Settings,
};

/// The machine.
#[derive(Debug)]
pub struct Member {
    common: Common,
    /// By the numbers of their shards.
    seats: Vec<Seat>,
    /// When the ledger answered last.
    heard_at: u64,
}

impl Member {
    /// Of a node that has just started, with a tree for each shard, in the order of their numbers, that
    /// stands here, or, where that is unsure, may have more: its place was noted before its last entries
    /// were.
    pub fn new(settings: Settings, trees: &[(Place, bool)]) -> Self {
        let mut common = Common::new(&settings);
        let seats = (0..).zip(trees).map(|(shard, (tree, unsure))| {
            let settings = Settings { shard, ..settings.clone() };
            Seat::new(settings, *tree, *unsure, &mut common)
        });
        let seats = seats.collect();
        Self { common, seats, heard_at: 0 }
    }

    /// Questions to be carried to the ledger.
    pub fn asks(&mut self) -> Vec<Ask> {
        let mut asks = self.common.lease.asks();
        asks.extend(self.common.watch.asks());
        asks.extend(self.seats.iter_mut().flat_map(Seat::asks));
        asks
    }

    /// What has come to be with which shard since the last call; of each in order.
    pub fn facts(&mut self) -> Vec<(u32, Fact)> {
        let facts = |seat: &mut Seat| {
            let shard = seat.settings.shard;
            seat.facts().into_iter().map(move |fact| (shard, fact))
        };
        self.seats.iter_mut().flat_map(facts).collect()
    }

    /// The lease.
    pub fn lease(&self) -> &Lease {
        &self.common.lease
    }

    /// The owner's part, while the node owns the shard.
    pub fn owner(&self, shard: u32) -> Option<&Owner> {
        self.seat(shard)?.owner()
    }

    /// The newest base, as it was seen before the node owned the shard.
    pub fn base(&self, shard: u32) -> Option<BaseRecord> {
        self.seat(shard)?.base
    }

    /// Whether a view of the shard may be opened at this moment of the boot clock.
    pub fn may_read(&self, shard: u32, now: u64) -> bool {
        self.seat(shard).is_some_and(Seat::serves) && now < self.common.lease.until()
    }

    /// Appends an entry as the owner; its number, or nothing where there is no room now.
    pub fn append(&mut self, shard: u32, body: Bytes, now: u64) -> Option<u64> {
        self.with(shard, |seat, _| seat.append(body, now)).flatten()
    }

    /// A shard's clock has something new to say: a beat carries it at once.
    pub fn hurry(&mut self, now: u64) {
        self.common.lease.hurry(now);
    }

    /// Lets others claim the shard until this moment of the boot clock.
    pub fn hold_back(&mut self, shard: u32, until: u64) {
        self.with(shard, |seat, _| seat.holds_until = until);
    }

    /// Claims the shard as soon as it is free, whatever it was asked to let others do.
    pub fn go_first(&mut self, shard: u32, now: u64) {
        self.with(shard, |seat, _| seat.go_first(now));
        self.look(shard, now);
    }

    /// Looks at the shard and the other nodes at once: something has changed.
    pub fn look(&mut self, shard: u32, now: u64) {
        self.with(shard, |seat, common| {
            common.watch.hurry(now);
            seat.look(now);
        });
    }

    /// Takes no more entries, and gives the shard up once all are committed.
    pub fn hand_over(&mut self, shard: u32) {
        self.with(shard, |seat, _| seat.hand_over());
    }

    /// The shard's tree cannot go on for now. An owner gives the shard up, with what it has appended so
    /// far; until that is done the lease is not renewed, so that others have the shard even where it cannot
    /// be given up.
    pub fn stand_down(&mut self, shard: u32, now: u64, host: &mut dyn Host) {
        self.with(shard, |seat, common| seat.stand_down(now, common, host));
    }

    /// The shard's tree goes on, from here: it is followed as at a start, once the node does not own it any
    /// more.
    pub fn go_on(&mut self, shard: u32, tree: Place, unsure: bool) {
        self.with(shard, |seat, common| seat.go_on(tree, unsure, common));
    }

    /// Asks what is due at this moment of the boot clock.
    pub fn tick(&mut self, now: u64, host: &mut dyn Host) {
        let Self { common, seats, .. } = self;
        seats.iter_mut().for_each(Seat::drop_former);
        if seats.iter().all(Seat::lets_renew) {
            let terms = || seats.iter().filter_map(|seat| seat.term(now, host)).collect();
            common.lease.tick(now, terms);
        }
        common.watch.tick(now);
        for seat in seats {
            seat.tick(now, common, host);
        }
    }

    /// Takes an answer.
    pub fn answer(&mut self, token: Token, answer: Answer, now: u64, host: &mut dyn Host) {
        let machine = token.machine();
        if answer.is_ok() {
            self.heard_at = now;
        }
        let Self { common, seats, .. } = self;
        if machine == common.lease_machine {
            if let Some(fact) = common.lease.answer(token, answer, now) {
                seats.iter_mut().for_each(|seat| seat.lease_fact(&fact, now, common));
            }
        } else if machine == common.watch_machine {
            if common.watch.answer(token, answer, now) {
                seats.iter_mut().for_each(|seat| seat.note_nodes(now, common));
            }
        // Otherwise it is of a machine that is gone.
        } else if let Some(seat) = seats.iter_mut().find(|seat| seat.machine() == machine) {
            seat.answer((token, answer), now, common, host);
        }
    }

    fn seat(&self, shard: u32) -> Option<&Seat> {
        self.seats.get(usize::try_from(shard).ok()?)
    }

    /// Does something at a seat; nothing where there is none.
    fn with<T>(&mut self, shard: u32, act: impl FnOnce(&mut Seat, &mut Common) -> T) -> Option<T> {
        let seat = self.seats.get_mut(usize::try_from(shard).ok()?)?;
        Some(act(seat, &mut self.common))
    }
}
