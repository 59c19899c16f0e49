//! A node in the protocol: its lease, its view of the other nodes, and its role for each shard
//! (follower, taker or owner). The driver passes requests to the ledger and replies back, calls
//! [`Member::tick`] every few milliseconds, and handles the events before the next call.

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

/// The state machine of a node. A *seat* is its role in one shard.
#[derive(Debug)]
pub struct Member {
    common: Common,
    /// Seats by shard number.
    seats: Vec<Seat>,
    /// Time of the ledger's last reply.
    heard_at: u64,
}

impl Member {
    /// Creates the member of a node that has just started. `trees[i]` is the position of shard i's
    /// tree, and whether the tree is unsure: it may contain entries applied after the position was
    /// saved.
    pub fn new(settings: Settings, trees: &[(Place, bool)]) -> Self {
        let mut common = Common::new(&settings);
        let seats = (0..).zip(trees).map(|(shard, (tree, unsure))| {
            let settings = Settings { shard, ..settings.clone() };
            Seat::new(settings, *tree, *unsure, &mut common)
        });
        let seats = seats.collect();
        Self { common, seats, heard_at: 0 }
    }

    /// Removes and returns the requests to send to the ledger.
    pub fn asks(&mut self) -> Vec<Ask> {
        let mut asks = self.common.lease.asks();
        asks.extend(self.common.watch.asks());
        asks.extend(self.seats.iter_mut().flat_map(Seat::asks));
        asks
    }

    /// Removes and returns the events since the last call, with their shards. Events of one shard
    /// are in order.
    pub fn facts(&mut self) -> Vec<(u32, Fact)> {
        let facts = |seat: &mut Seat| {
            let shard = seat.settings.shard;
            seat.facts().into_iter().map(move |fact| (shard, fact))
        };
        self.seats.iter_mut().flat_map(facts).collect()
    }

    /// Returns the lease.
    pub fn lease(&self) -> &Lease {
        &self.common.lease
    }

    /// Returns the owner state if the node owns the shard.
    pub fn owner(&self, shard: u32) -> Option<&Owner> {
        self.seat(shard)?.owner()
    }

    /// Returns the newest base, as seen before the node owned the shard.
    pub fn base(&self, shard: u32) -> Option<BaseRecord> {
        self.seat(shard)?.base
    }

    /// Returns whether a view of the shard may be opened at this boot clock.
    pub fn may_read(&self, shard: u32, now: u64) -> bool {
        self.seat(shard).is_some_and(Seat::serves) && now < self.common.lease.until()
    }

    /// Appends an entry as the owner. Returns its number, or `None` if no entry can be taken now.
    pub fn append(&mut self, shard: u32, body: Bytes, now: u64) -> Option<u64> {
        self.with(shard, |seat, _| seat.append(body, now)).flatten()
    }

    /// Sends a heartbeat immediately, because the state of a shard's clock has changed.
    pub fn hurry(&mut self, now: u64) {
        self.common.lease.hurry(now);
    }

    /// Lets other nodes claim the shard until this boot clock.
    pub fn hold_back(&mut self, shard: u32, until: u64) {
        self.with(shard, |seat, _| seat.holds_until = until);
    }

    /// Claims the shard as soon as it is free, regardless of an earlier `hold_back`.
    pub fn go_first(&mut self, shard: u32, now: u64) {
        self.with(shard, |seat, _| seat.go_first(now));
        self.look(shard, now);
    }

    /// Reads the shard and the node records immediately, for callers that know of a change.
    pub fn look(&mut self, shard: u32, now: u64) {
        self.with(shard, |seat, common| {
            common.watch.hurry(now);
            seat.look(now);
        });
    }

    /// Stops accepting entries and releases the shard once all are committed.
    pub fn hand_over(&mut self, shard: u32) {
        self.with(shard, |seat, _| seat.hand_over());
    }

    /// Suspends a shard whose tree cannot continue. An owner releases the shard once all entries
    /// that it has appended are committed. Until then the lease is not renewed, so that other nodes
    /// can take the shard over even if the release fails.
    pub fn stand_down(&mut self, shard: u32, now: u64, host: &mut dyn Host) {
        self.with(shard, |seat, common| seat.stand_down(now, common, host));
    }

    /// Resumes a suspended shard with its tree at this position. The shard is followed as after a
    /// start, once the node does not own it any more.
    pub fn go_on(&mut self, shard: u32, tree: Place, unsure: bool) {
        self.with(shard, |seat, common| seat.go_on(tree, unsure, common));
    }

    /// Enqueues the requests to the ledger that are due at this boot clock.
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

    /// Processes a reply.
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
        // Otherwise the machine no longer exists.
        } else if let Some(seat) = seats.iter_mut().find(|seat| seat.machine() == machine) {
            seat.answer((token, answer), now, common, host);
        }
    }

    fn seat(&self, shard: u32) -> Option<&Seat> {
        self.seats.get(usize::try_from(shard).ok()?)
    }

    /// Calls `act` with a seat; returns `None` if the shard has none.
    fn with<T>(&mut self, shard: u32, act: impl FnOnce(&mut Seat, &mut Common) -> T) -> Option<T> {
        let seat = self.seats.get_mut(usize::try_from(shard).ok()?)?;
        Some(act(seat, &mut self.common))
    }
}
