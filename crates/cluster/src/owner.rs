//! An owner's writing: entries are numbered densely, two are under way, and one is committed when it
//! and all before it are written and the shard, read after that, still shows this claim. No clock takes
//! part in it: what is committed is in the journal of every later owner.

use std::collections::VecDeque;

use bytes::Bytes;
use uuid::Uuid;

use crate::{
    ask::{Answer, Ask, Asks, Token},
    entry::Entry,
    parts::split,
    place::{Found, Place},
    records::{Phase, ShardRecord},
    request::{Reply, Request, Swapped},
    settings::Settings,
};

/// Entries that are being written at once.
const WRITING_MAX: usize = 2;
/// Entries that are not committed yet, at most.
const UNDER_WAY_MAX: usize = 4;

/// What became of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnerFact {
    /// An entry is committed; all before it were told before.
    Committed {
        /// What is to be applied.
        entry: Entry,
        /// Where the tree stands then.
        place: Place,
    },
    /// The shard is another's. What is not committed yet may be adopted by it or not.
    Superseded,
    /// It was given up as it was asked for.
    Released,
}

/// An entry that is not committed yet.
#[derive(Debug)]
struct Flight {
    found: Found,
    /// When it was appended.
    since: u64,
    pending: Option<Token>,
    written: bool,
    due: u64,
}

/// How far a term is.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The first beat that carries it is not applied.
    Waiting,
    /// Entries are taken.
    Serving,
    /// It is being given up, with this clock.
    Releasing { clock: Bytes, look: bool, pending: Option<Token>, due: u64 },
    /// Over.
    Ended,
}

/// The machine.
#[derive(Debug)]
pub struct Owner {
    settings: Settings,
    asks: Asks,
    epoch: u64,
    claim: Uuid,
    /// Where its clock began at the least.
    clock: Bytes,
    stage: Stage,
    /// No more entries are taken; the shard is given up when all are committed.
    drains: bool,
    /// Behind the last committed entry.
    committed: Place,
    /// Behind the last numbered one.
    numbered: Place,
    /// Bytes in the segment so far.
    segment_bytes: usize,
    flights: VecDeque<Flight>,
    /// Checks under way, and up to which entry all were written when they were asked.
    checks: Vec<(Token, u64)>,
    /// What checks cover that are done or under way.
    checked: u64,
    check_due: u64,
}

impl Owner {
    /// Of an epoch that was opened behind this place.
    pub(crate) fn new(
        settings: Settings,
        machine: u64,
        epoch: u64,
        (claim, clock): (Uuid, Bytes),
        end: Place,
    ) -> Self {
        Self {
            settings,
            asks: Asks::new(machine),
            epoch,
            claim,
            clock,
            stage: Stage::Waiting,
            drains: false,
            committed: end,
            numbered: Place { epoch, segment: 0, ..end },
            segment_bytes: 0,
            flights: VecDeque::new(),
            checks: Vec::new(),
            checked: end.n,
            check_due: 0,
        }
    }

    /// The machine's number.
    pub(crate) fn machine(&self) -> u64 {
        self.asks.machine()
    }

    /// The epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Behind which entry its tree stands.
    pub fn place(&self) -> Place {
        self.committed
    }

    /// Whether it answers requests, as long as the lease lasts.
    pub fn serves(&self) -> bool {
        self.stage == Stage::Serving
    }

    /// Whether another entry may be appended now.
    pub fn has_room(&self) -> bool {
        let writing = self.flights.iter().filter(|flight| !flight.written).count();
        self.stage == Stage::Serving
            && !self.drains
            && writing < WRITING_MAX
            && self.flights.len() < UNDER_WAY_MAX
    }

    /// Since when the oldest entry that is not committed waits.
    pub(crate) fn waits_since(&self) -> Option<u64> {
        self.flights.front().map(|flight| flight.since)
    }

    /// Questions to be carried away.
    pub(crate) fn asks(&mut self) -> Vec<Ask> {
        self.asks.take()
    }

    /// A beat that carries this term was applied: an empty entry is written, and it serves.
    /// Nothing happens where it has begun.
    pub(crate) fn begin(&mut self, now: u64) -> bool {
        let begins = self.stage == Stage::Waiting;
        if begins {
            self.stage = Stage::Serving;
            self.append(Bytes::new(), now);
        }
        begins
    }

    /// Appends an entry; its number, or nothing where there is no room.
    pub fn append(&mut self, body: Bytes, now: u64) -> Option<u64> {
        if !self.has_room() {
            return None;
        }
        let n = self.numbered.n + 1;
        self.segment_bytes += body.len();
        let closes = self.settings.segment_bytes <= self.segment_bytes;
        let entry = Entry {
            cluster: self.settings.cluster,
            shard: self.settings.shard,
            epoch: self.epoch,
            n,
            before: self.numbered.checksum,
            committed: self.committed.n,
            closes,
            body,
        };
        let encoded = entry.encode();
        let (bytes, checksum) = (encoded.bytes, encoded.checksum);
        let found = Found { segment: self.numbered.segment, entry, bytes, checksum };
        if closes {
            self.segment_bytes = 0;
        }
        self.numbered = Place::behind(&found);
        let flight = Flight { found, since: now, pending: None, written: false, due: now };
        self.flights.push_back(flight);
        self.tick(now);
        Some(n)
    }

    /// Takes no more entries, and gives the shard up when all are committed.
    pub(crate) fn drain(&mut self) {
        self.drains = true;
    }

    /// Whether nothing is left but to release, with the last checkpoint of the clock.
    pub(crate) fn is_drained(&self) -> bool {
        self.drains
            && self.flights.is_empty()
            && matches!(self.stage, Stage::Waiting | Stage::Serving)
    }

    /// Stops serving, and gives the shard up with the last instant of its clock: where that has not
    /// begun, with what was inherited.
    pub(crate) fn release(&mut self, last: Bytes, now: u64) {
        if self.is_drained() {
            let clock = if last.is_empty() { self.clock.clone() } else { last };
            self.stage = Stage::Releasing { clock, look: false, pending: None, due: now };
            self.tick(now);
        }
    }

    /// Asks what is due.
    pub(crate) fn tick(&mut self, now: u64) {
        let shard = self.settings.shard;
        for flight in &mut self.flights {
            if flight.written || flight.pending.is_some() || now < flight.due {
                continue;
            }
            let found = &flight.found;
            let parts = split(found.entry.n, &found.bytes, self.settings.part_bytes);
            let (epoch, segment) = (self.epoch, found.segment);
            let request = Request::Append { shard, epoch, segment, parts };
            flight.pending = Some(self.asks.ask(request));
        }
        let written = self.written();
        if self.checked < written && self.check_due <= now {
            self.checked = written;
            self.checks.push((self.asks.ask(Request::ReadShard { shard }), written));
        }
        if let Stage::Releasing { clock, look, pending: pending @ None, due } = &mut self.stage
            && *due <= now
        {
            let release = Request::Release { shard, claim: self.claim, clock: clock.clone() };
            let look_up = Request::ReadShardSerial { shard };
            *pending = Some(self.asks.ask(if *look { look_up } else { release }));
        }
    }

    /// Up to which entry all are written.
    fn written(&self) -> u64 {
        let written = |flight: &&Flight| flight.written;
        let last = if self.settings.rules.commit_in_order() {
            self.flights.iter().take_while(written).last()
        } else {
            self.flights.iter().rfind(written)
        };
        last.map_or(self.committed.n, |flight| flight.found.entry.n)
    }

    /// Takes an answer.
    pub(crate) fn answer(&mut self, token: Token, answer: Answer, now: u64) -> Vec<OwnerFact> {
        let mut facts = Vec::new();
        let flight = self.flights.iter_mut().find(|flight| flight.pending == Some(token));
        if let Some(flight) = flight {
            flight.pending = None;
            flight.written = answer == Ok(Reply::Written);
            flight.due = now + self.settings.again;
            if !self.settings.rules.check_after_write() {
                self.commit(self.written(), &mut facts);
            }
        } else if let Some(at) = self.checks.iter().position(|(check, _)| *check == token) {
            let (_, covers) = self.checks.swap_remove(at);
            self.check(covers, answer, now, &mut facts);
        } else {
            self.released(token, answer, now, &mut facts);
        }
        self.tick(now);
        facts
    }

    /// A check that was asked when all up to `covers` were written.
    fn check(&mut self, covers: u64, answer: Answer, now: u64, facts: &mut Vec<OwnerFact>) {
        match answer {
            Ok(Reply::Shard(Some(shard))) if self.is_mine(&shard) => self.commit(covers, facts),
            Ok(Reply::Shard(_)) => self.end(OwnerFact::Superseded, facts),
            // Another check has to begin.
            _ => {
                let under_way = self.checks.iter().map(|(_, covers)| *covers).max();
                self.checked = under_way.unwrap_or(0).max(self.committed.n);
                self.check_due = now + self.settings.again;
            }
        }
    }

    fn is_mine(&self, shard: &ShardRecord) -> bool {
        (shard.epoch, shard.claim) == (self.epoch, self.claim)
    }

    /// Commits all up to this entry, in order.
    fn commit(&mut self, upto: u64, facts: &mut Vec<OwnerFact>) {
        while let Some(flight) = self.flights.pop_front_if(|flight| flight.found.entry.n <= upto) {
            let place = Place::behind(&flight.found);
            self.committed = place;
            facts.push(OwnerFact::Committed { entry: flight.found.entry, place });
        }
    }

    /// The answer to a release, or to the question what became of it.
    fn released(&mut self, token: Token, answer: Answer, now: u64, facts: &mut Vec<OwnerFact>) {
        let (epoch, claim) = (self.epoch, self.claim);
        let Stage::Releasing { look, pending, due, .. } = &mut self.stage else { return };
        if *pending != Some(token) {
            return;
        }
        *pending = None;
        *due = now + self.settings.again;
        match answer {
            Ok(Reply::Swapped(Swapped::Done)) => self.end(OwnerFact::Released, facts),
            Ok(Reply::Swapped(Swapped::Refused(_))) => (*look, *due) = (true, now),
            Ok(Reply::Shard(Some(shard))) if (shard.epoch, shard.claim) == (epoch, claim) => {
                *look = false;
                if shard.phase == Phase::Released {
                    self.end(OwnerFact::Released, facts);
                }
            }
            Ok(Reply::Shard(_)) => self.end(OwnerFact::Superseded, facts),
            _ => {}
        }
    }

    fn end(&mut self, fact: OwnerFact, facts: &mut Vec<OwnerFact>) {
        if self.stage != Stage::Ended {
            self.stage = Stage::Ended;
            facts.push(fact);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(asks: Vec<Ask>) -> Ask {
        let [ask] = <[Ask; 1]>::try_from(asks).unwrap();
        ask
    }

    fn shard(claim: u128) -> Answer {
        Ok(Reply::Shard(Some(ShardRecord {
            shard: 0,
            epoch: 1,
            claim: Uuid::from_u128(claim),
            node: Uuid::nil(),
            incarnation: 1,
            phase: Phase::Open,
            opened: 1,
            ends: Vec::new(),
            clock: Bytes::new(),
            bases: Vec::new(),
        })))
    }

    /// A check says nothing of what was written after it began.
    #[test]
    fn a_check_covers_what_was_written_before_it() {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::nil(), Bytes::new());
        let mut owner =
            Owner::new(settings, 1, 1, (Uuid::from_u128(5), Bytes::new()), Place::default());
        assert_eq!(owner.append(Bytes::new(), 0), None);
        assert!(owner.begin(0) && !owner.begin(0));
        let first = one(owner.asks());
        assert_eq!(owner.waits_since(), Some(0));
        assert_eq!(owner.answer(first.token, Ok(Reply::Written), 0), []);
        let first_check = one(owner.asks());
        assert_eq!(first_check.request, Request::ReadShard { shard: 0 });
        assert_eq!(owner.append(Bytes::from_static(b"body"), 5), Some(2));
        let second = one(owner.asks());
        assert_eq!(owner.answer(second.token, Ok(Reply::Written), 0), []);
        let second_check = one(owner.asks());
        let facts = owner.answer(first_check.token, shard(5), 0);
        assert!(matches!(&facts[..], [OwnerFact::Committed { entry, .. }] if entry.n == 1));
        assert_eq!(owner.waits_since(), Some(5));
        let facts = owner.answer(second_check.token, shard(6), 0);
        assert_eq!(facts, [OwnerFact::Superseded]);
        assert!(!owner.serves());
    }
}
