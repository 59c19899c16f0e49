//! The write path of an owner. Entries are numbered densely, and at most two are being written at a
//! time. An entry is committed when it and all entries before it are written and a read of the
//! shard record, sent after the writes (an *epoch check*), still shows the owner's claim. By this
//! rule alone, without clocks, every later owner finds all committed entries in the journal.

use std::collections::VecDeque;

use bytes::Bytes;
use uuid::Uuid;

use crate::{
    entry::Entry,
    outbox::{LedgerResult, Outbox, OutgoingRequest, Token},
    parts::split,
    position::{DecodedEntry, Position},
    records::{Phase, ShardRecord},
    request::{Reply, Request, Swapped},
    settings::Settings,
};

/// Maximum number of entries that are being written concurrently.
const WRITING_MAX: usize = 2;
/// Maximum number of uncommitted entries.
const UNDER_WAY_MAX: usize = 4;

/// An event of an owner's term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnerEvent {
    /// An entry is committed; all entries before it have been reported.
    Committed {
        entry: Entry,
        /// Position of the local tree after the entry is applied.
        position: Position,
    },
    /// Another node has claimed the shard. It may or may not adopt the uncommitted entries.
    Superseded,
    /// The shard was released as requested.
    Released,
}

/// An entry that was appended and is not committed yet.
#[derive(Debug)]
struct InFlightEntry {
    found: DecodedEntry,
    /// Time at which the entry was appended.
    since: u64,
    pending: Option<Token>,
    written: bool,
    due: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// Waits until a heartbeat with the term was applied.
    Waiting,
    /// The owner accepts entries to append.
    Serving,
    /// Releases the shard with this final checkpoint of the clock.
    Releasing { clock: Bytes, look: bool, pending: Option<Token>, due: u64 },
    /// The shard is no longer owned.
    Ended,
}

/// The state machine of an owner.
#[derive(Debug)]
pub struct Owner {
    settings: Settings,
    outbox: Outbox,
    epoch: u64,
    claim: Uuid,
    /// Lower bound of the clock at the start of the term.
    clock: Bytes,
    stage: Stage,
    /// Whether no more entries are accepted; the shard is released when all are committed.
    drains: bool,
    /// Position after the last committed entry.
    committed: Position,
    /// Position after the last numbered entry.
    numbered: Position,
    /// Bytes in the current segment.
    segment_bytes: usize,
    flights: VecDeque<InFlightEntry>,
    /// Epoch checks in flight, each with the number of the last entry up to which all entries had
    /// been written when the check was sent.
    checks: Vec<(Token, u64)>,
    /// The last entry covered by an epoch check that is done or in flight.
    checked: u64,
    check_due: u64,
}

impl Owner {
    /// Starts the term of an epoch that was opened after this position.
    pub(crate) fn new(
        settings: Settings,
        machine: u64,
        epoch: u64,
        (claim, clock): (Uuid, Bytes),
        end: Position,
    ) -> Self {
        Self {
            settings,
            outbox: Outbox::new(machine),
            epoch,
            claim,
            clock,
            stage: Stage::Waiting,
            drains: false,
            committed: end,
            numbered: Position { epoch, segment: 0, ..end },
            segment_bytes: 0,
            flights: VecDeque::new(),
            checks: Vec::new(),
            checked: end.n,
            check_due: 0,
        }
    }

    pub(crate) fn machine(&self) -> u64 {
        self.outbox.machine()
    }

    /// Returns the epoch of this term.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the position of the last committed entry.
    pub fn position(&self) -> Position {
        self.committed
    }

    /// Returns whether requests may be served while the lease is valid.
    pub fn serves(&self) -> bool {
        self.stage == Stage::Serving
    }

    /// Returns whether another entry may be appended now.
    pub fn has_room(&self) -> bool {
        let writing = self.flights.iter().filter(|flight| !flight.written).count();
        self.stage == Stage::Serving
            && !self.drains
            && writing < WRITING_MAX
            && self.flights.len() < UNDER_WAY_MAX
    }

    /// Returns when the oldest uncommitted entry was appended; `None` if all are committed.
    pub(crate) fn waits_since(&self) -> Option<u64> {
        self.flights.front().map(|flight| flight.since)
    }

    pub(crate) fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        self.outbox.take()
    }

    /// Starts serving after the first applied heartbeat with this term, by appending an empty
    /// entry. Returns false, without effect, if it has started already.
    pub(crate) fn begin(&mut self, now: u64) -> bool {
        let begins = self.stage == Stage::Waiting;
        if begins {
            self.stage = Stage::Serving;
            self.append(Bytes::new(), now);
        }
        begins
    }

    /// Appends an entry. Returns its number, or `None` if no entry can be taken now.
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
        let found = DecodedEntry { segment: self.numbered.segment, entry, bytes, checksum };
        if closes {
            self.segment_bytes = 0;
        }
        self.numbered = Position::after(&found);
        let flight = InFlightEntry { found, since: now, pending: None, written: false, due: now };
        self.flights.push_back(flight);
        self.tick(now);
        Some(n)
    }

    /// Stops accepting entries and releases the shard when all are committed.
    pub(crate) fn drain(&mut self) {
        self.drains = true;
    }

    /// Returns whether everything is committed, so that the shard can be released.
    pub(crate) fn is_drained(&self) -> bool {
        self.drains
            && self.flights.is_empty()
            && matches!(self.stage, Stage::Waiting | Stage::Serving)
    }

    /// Stops serving and releases the shard with the clock's last instant, or with the inherited
    /// lower bound if the clock has not started.
    pub(crate) fn release(&mut self, last: Bytes, now: u64) {
        if self.is_drained() {
            let clock = if last.is_empty() { self.clock.clone() } else { last };
            self.stage = Stage::Releasing { clock, look: false, pending: None, due: now };
            self.tick(now);
        }
    }

    /// Enqueues the requests to the ledger that are due.
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
            flight.pending = Some(self.outbox.enqueue(request));
        }
        let written = self.written();
        if self.checked < written && self.check_due <= now {
            self.checked = written;
            self.checks.push((self.outbox.enqueue(Request::ReadShard { shard }), written));
        }
        if let Stage::Releasing { clock, look, pending: pending @ None, due } = &mut self.stage
            && *due <= now
        {
            let release = Request::Release { shard, claim: self.claim, clock: clock.clone() };
            let look_up = Request::ReadShardSerial { shard };
            *pending = Some(self.outbox.enqueue(if *look { look_up } else { release }));
        }
    }

    /// Returns the number of the last entry up to which all entries have been written.
    fn written(&self) -> u64 {
        let written = |flight: &&InFlightEntry| flight.written;
        let last = if self.settings.rules.commit_in_order() {
            self.flights.iter().take_while(written).last()
        } else {
            self.flights.iter().rfind(written)
        };
        last.map_or(self.committed.n, |flight| flight.found.entry.n)
    }

    pub(crate) fn handle_reply(
        &mut self,
        token: Token,
        answer: LedgerResult,
        now: u64,
    ) -> Vec<OwnerEvent> {
        let mut events = Vec::new();
        let flight = self.flights.iter_mut().find(|flight| flight.pending == Some(token));
        if let Some(flight) = flight {
            flight.pending = None;
            flight.written = answer == Ok(Reply::Written);
            flight.due = now + self.settings.again;
            if !self.settings.rules.check_after_write() {
                self.commit(self.written(), &mut events);
            }
        } else if let Some(at) = self.checks.iter().position(|(check, _)| *check == token) {
            let (_, covers) = self.checks.swap_remove(at);
            self.check(covers, answer, now, &mut events);
        } else {
            self.released(token, answer, now, &mut events);
        }
        self.tick(now);
        events
    }

    /// Processes the reply to an epoch check that was sent when all entries up to `covers` were
    /// written.
    fn check(&mut self, covers: u64, answer: LedgerResult, now: u64, events: &mut Vec<OwnerEvent>) {
        match answer {
            Ok(Reply::Shard(Some(shard))) if self.is_mine(&shard) => self.commit(covers, events),
            Ok(Reply::Shard(_)) => self.end(OwnerEvent::Superseded, events),
            // Without a valid reply, another check has to be sent later.
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

    /// Commits all entries up to this number, in order.
    fn commit(&mut self, upto: u64, events: &mut Vec<OwnerEvent>) {
        while let Some(flight) = self.flights.pop_front_if(|flight| flight.found.entry.n <= upto) {
            let position = Position::after(&flight.found);
            self.committed = position;
            events.push(OwnerEvent::Committed { entry: flight.found.entry, position });
        }
    }

    /// Processes the reply to a release, or to the read that determines whether the release was
    /// applied.
    fn released(
        &mut self,
        token: Token,
        answer: LedgerResult,
        now: u64,
        events: &mut Vec<OwnerEvent>,
    ) {
        let (epoch, claim) = (self.epoch, self.claim);
        let Stage::Releasing { look, pending, due, .. } = &mut self.stage else { return };
        if *pending != Some(token) {
            return;
        }
        *pending = None;
        *due = now + self.settings.again;
        match answer {
            Ok(Reply::Swapped(Swapped::Done)) => self.end(OwnerEvent::Released, events),
            Ok(Reply::Swapped(Swapped::Refused(_))) => (*look, *due) = (true, now),
            Ok(Reply::Shard(Some(shard))) if (shard.epoch, shard.claim) == (epoch, claim) => {
                *look = false;
                if shard.phase == Phase::Released {
                    self.end(OwnerEvent::Released, events);
                }
            }
            Ok(Reply::Shard(_)) => self.end(OwnerEvent::Superseded, events),
            _ => {}
        }
    }

    fn end(&mut self, event: OwnerEvent, events: &mut Vec<OwnerEvent>) {
        if self.stage != Stage::Ended {
            self.stage = Stage::Ended;
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(requests: Vec<OutgoingRequest>) -> OutgoingRequest {
        let [ask] = <[OutgoingRequest; 1]>::try_from(requests).unwrap();
        ask
    }

    fn shard(claim: u128) -> LedgerResult {
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

    /// A check does not cover entries written after it was sent.
    #[test]
    fn a_check_covers_what_was_written_before_it() {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::nil(), Bytes::new());
        let mut owner =
            Owner::new(settings, 1, 1, (Uuid::from_u128(5), Bytes::new()), Position::default());
        assert_eq!(owner.append(Bytes::new(), 0), None);
        assert!(owner.begin(0) && !owner.begin(0));
        let first = one(owner.take_requests());
        assert_eq!(owner.waits_since(), Some(0));
        assert_eq!(owner.handle_reply(first.token, Ok(Reply::Written), 0), []);
        let first_check = one(owner.take_requests());
        assert_eq!(first_check.request, Request::ReadShard { shard: 0 });
        assert_eq!(owner.append(Bytes::from_static(b"body"), 5), Some(2));
        let second = one(owner.take_requests());
        assert_eq!(owner.handle_reply(second.token, Ok(Reply::Written), 0), []);
        let second_check = one(owner.take_requests());
        let events = owner.handle_reply(first_check.token, shard(5), 0);
        assert!(matches!(&events[..], [OwnerEvent::Committed { entry, .. }] if entry.n == 1));
        assert_eq!(owner.waits_since(), Some(5));
        let events = owner.handle_reply(second_check.token, shard(6), 0);
        assert_eq!(events, [OwnerEvent::Superseded]);
        assert!(!owner.serves());
    }
}
