//! A follower reads the journal ahead of its tree and hands out committed entries. A commit mark,
//! the number of the last committed entry in a heartbeat of the owner, covers only the owner's
//! epoch, since entries of two epochs may have the same number; of a closed epoch everything up to
//! its end is committed. A follower buffers at most one read and the entries that an owner may have
//! in flight.

use std::collections::BTreeMap;

use crate::{
    event::FollowerEvent,
    host::Backlog,
    outbox::{LedgerResult, Outbox, OutgoingRequest, Token},
    position::{
        DecodedEntry, Epochs, MissingEntry, Position, ahead_error, broken_chain, divergence_error,
        found,
    },
    records::{BaseRecord, Phase, ShardRecord, TermRecord},
    request::{Reply, Request},
    settings::Settings,
};

/// A pending request that reads entries.
#[derive(Clone, Copy, Debug)]
struct Reading {
    token: Token,
    epoch: u64,
    segment: u64,
    first: u64,
    /// End of the epoch that is read, if the epoch was known to be closed when the read was sent.
    end: Option<u64>,
}

/// The state machine of a follower.
#[derive(Debug)]
pub(crate) struct Follower {
    settings: Settings,
    outbox: Outbox,
    position: Position,
    shard: Option<ShardRecord>,
    /// For each epoch, the number of the last entry that is known to be committed.
    commit_marks: BTreeMap<u64, u64>,
    /// Entries that were read and not yet reported as committed, by epoch and number.
    ahead: BTreeMap<(u64, u64), DecodedEntry>,
    reading: Option<Reading>,
    read_due: u64,
    /// Whether the tree may contain entries after its recorded position.
    may_have_diverged: bool,
    /// Whether the tree contains, or may contain, entries that are not part of the shard's
    /// committed history.
    has_diverged: bool,
    /// Whether a base has to be loaded before entries can be applied.
    awaits_base: bool,
    /// The entry that was reported as missing.
    missing: Option<MissingEntry>,
    /// Whether the last read reached the end of the epoch that was open when the read was sent.
    caught_up: bool,
    shard_read: Option<Token>,
    shard_creation: Option<Token>,
    shard_read_due: u64,
    /// Delay before the next read of the shard record. This delay and that of journal reads,
    /// `read_pause`, grow up to a bound while nothing changes.
    shard_read_pause: u64,
    read_pause: u64,
    /// Whether a node record has the term of the shard's owner; false once the shard was released.
    has_term: bool,
}

impl Follower {
    /// Creates a follower whose tree is at this position. If `may_have_diverged` is true, the tree
    /// may contain entries after the position.
    pub(crate) fn new(
        settings: Settings,
        machine: u64,
        position: Position,
        may_have_diverged: bool,
    ) -> Self {
        Self {
            shard_read_pause: settings.poll_interval,
            read_pause: settings.idle,
            settings,
            outbox: Outbox::new(machine),
            position,
            shard: None,
            commit_marks: BTreeMap::new(),
            ahead: BTreeMap::new(),
            reading: None,
            read_due: 0,
            may_have_diverged,
            has_diverged: false,
            awaits_base: false,
            missing: None,
            caught_up: false,
            shard_read: None,
            shard_creation: None,
            shard_read_due: 0,
            has_term: false,
        }
    }

    pub(crate) fn machine(&self) -> u64 {
        self.outbox.machine()
    }

    /// Returns the position of the last entry that was reported as committed.
    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Returns the shard record as last seen.
    pub(crate) fn shard(&self) -> Option<&ShardRecord> {
        self.shard.as_ref()
    }

    /// Requests shard record and journal immediately instead of at the next interval.
    pub(crate) fn refresh(&mut self, now: u64) {
        self.refresh_shard(now);
        self.read_at_once(now);
    }

    fn refresh_shard(&mut self, now: u64) {
        (self.shard_read_due, self.shard_read_pause) = (now, self.settings.poll_interval);
    }

    fn read_at_once(&mut self, now: u64) {
        (self.read_due, self.read_pause) = (now, self.settings.idle);
    }

    pub(crate) fn take_requests(&mut self) -> Vec<OutgoingRequest> {
        self.outbox.take()
    }

    /// Returns whether the last read reached the end of the journal and the tree has not diverged.
    pub(crate) fn is_caught_up(&self) -> bool {
        self.caught_up && !self.has_diverged
    }

    /// Records a missing entry that a taker has found and reported.
    pub(crate) fn record_missing(&mut self, missing: MissingEntry) {
        self.missing = Some(missing);
    }

    /// Returns whether all entries known to be committed are applied to the tree, so that this node
    /// may claim the shard without delay.
    pub(crate) fn is_first(&self, backlog: Backlog) -> bool {
        let opened = self.shard.as_ref().map_or(0, |record| record.opened);
        let committed = self.commit_marks.get(&opened).copied().unwrap_or(0);
        backlog.entries == 0 && committed <= self.position.n
    }

    /// Enqueues the requests to the ledger that are due. Nothing is read while the tree is far
    /// behind, because entries that wait for it are held in memory.
    pub(crate) fn tick(&mut self, now: u64, backlog: Backlog) {
        let shard = self.settings.shard;
        if self.shard_read.is_none() && self.shard_creation.is_none() && self.shard_read_due <= now
        {
            self.shard_read_due = now + self.shard_read_pause;
            self.shard_read = Some(self.outbox.enqueue(Request::ReadShard { shard }));
        }
        if self.reading.is_some() || now < self.read_due || self.awaits_base || self.has_diverged {
            return;
        }
        let Some(record) = &self.shard else { return };
        let epochs = Epochs::from_record(record);
        let cursor = self.read_up_to(&epochs);
        let (epoch, segment) = cursor.next(&epochs);
        if epoch == 0 {
            self.caught_up = true;
            return;
        }
        if self.settings.hold_bytes <= backlog.bytes
            || self.settings.hold_entries <= backlog.entries
        {
            self.caught_up = false;
            return;
        }
        let limit = self.settings.read_bytes;
        let request = Request::ReadEntries { shard, epoch, segment, after: cursor.n, limit };
        let (_, end) = epochs.of_next(cursor.n);
        let (token, first) = (self.outbox.enqueue(request), cursor.n + 1);
        self.reading = Some(Reading { token, epoch, segment, first, end });
    }

    /// Returns the position up to which entries were read without a gap.
    fn read_up_to(&self, epochs: &Epochs) -> Position {
        let mut cursor = self.position;
        while let Some(found) = self.ahead.get(&(epochs.of_next(cursor.n).0, cursor.n + 1)) {
            cursor = Position::after(found);
        }
        cursor
    }

    /// Records which entries are committed according to the terms in the node records.
    pub(crate) fn record_terms<'a>(
        &mut self,
        terms: impl Iterator<Item = &'a TermRecord>,
        now: u64,
    ) -> Vec<FollowerEvent> {
        let shard = self.settings.shard;
        let (mut is_new_epoch, mut has_term, mut committed) = (false, false, 0);
        let seen = self.shard.as_ref().map_or(0, |record| record.epoch);
        for term in terms.filter(|term| term.shard == shard) {
            mark(&mut self.commit_marks, term.epoch, term.committed);
            is_new_epoch |= seen < term.epoch;
            has_term |= seen == term.epoch;
            committed = committed.max(term.committed);
        }
        let was_released = self.has_term && !has_term;
        self.has_term = has_term;
        // Shortens only a long delay, not the one after a failed read.
        if (is_new_epoch || was_released) && now + self.settings.poll_interval < self.shard_read_due
        {
            self.refresh_shard(now);
        }
        let read = self.end_of_read().map_or(u64::MAX, |(_, _, n)| n);
        if (is_new_epoch || read < committed) && now + self.settings.idle < self.read_due {
            // A missing entry is read at a slow rate.
            if self.missing.is_none_or(|missing| missing.end < self.position.n) {
                self.read_at_once(now);
            }
        }
        self.advance()
    }

    pub(crate) fn handle_reply(
        &mut self,
        token: Token,
        answer: LedgerResult,
        now: u64,
    ) -> Vec<FollowerEvent> {
        if self.shard_read == Some(token) {
            self.shard_read = None;
            match answer {
                Ok(Reply::Shard(Some(record))) => {
                    self.record_shard(record, now);
                    if let Some(event) = self.find_divergence() {
                        return vec![event];
                    }
                    if let Some(base) = self.missed_base() {
                        (self.awaits_base, self.caught_up) = (true, false);
                        return vec![FollowerEvent::Load(base)];
                    }
                }
                Ok(Reply::Shard(None)) => {
                    let shard = self.settings.shard;
                    self.shard_creation = Some(self.outbox.enqueue(Request::MakeShard { shard }));
                }
                _ => {}
            }
            return self.advance();
        }
        if self.shard_creation == Some(token) {
            self.shard_creation = None;
            self.shard_read_due = now;
        }
        let Some(reading) = self.reading.take_if(|reading| reading.token == token) else {
            return Vec::new();
        };
        let Reading { epoch, segment, .. } = reading;
        self.read_due = now + self.settings.idle;
        let Ok(Reply::Parts(parts)) = answer else { return Vec::new() };
        if parts.is_empty() && self.caught_up {
            self.read_due = now + self.read_pause;
            self.read_pause = (self.read_pause * 2).min(self.settings.rest);
        } else {
            self.read_pause = self.settings.idle;
        }
        let entries = match found(&self.settings, epoch, segment, &parts) {
            Ok(entries) => entries,
            Err(error) => return vec![FollowerEvent::Damaged(error)],
        };
        if !entries.is_empty() {
            self.read_due = now + self.settings.read;
        }
        let read: usize = parts.iter().map(|part| part.body.len()).sum();
        // Entries after a gap are returned by every read, so their arrival is not progress.
        let before = self.end_of_read();
        for found in entries {
            mark(&mut self.commit_marks, epoch, found.entry.committed);
            self.ahead.insert((epoch, found.entry.n), found);
        }
        let end = self.end_of_read();
        let is_all = read < self.settings.read_bytes || before == end;
        self.caught_up =
            is_all && end.is_some_and(|(opened, next, _)| (opened, next) == (epoch, segment));
        let mut events = self.advance();
        if events.is_empty() {
            events.extend(self.find_missing(reading, now));
        }
        events
    }

    /// Returns the event for an entry that a read should have found but did not: if an epoch is
    /// closed, a quorum has all entries up to its end. Each missing entry is reported once.
    fn find_missing(&mut self, reading: Reading, now: u64) -> Option<FollowerEvent> {
        let Reading { epoch, end, .. } = reading;
        let committed = end.filter(|_| self.position.n + 1 == reading.first)?;
        self.read_due = now + self.settings.lease;
        let missing = MissingEntry { epoch, end: self.position.n, committed };
        let is_new = self.missing.replace(missing) != Some(missing);
        is_new.then_some(FollowerEvent::Missing(missing))
    }

    /// If the first unread entry belongs to the open epoch, returns its epoch, its segment, and the
    /// number of the entry before it.
    fn end_of_read(&self) -> Option<(u64, u64, u64)> {
        let epochs = Epochs::from_record(self.shard.as_ref()?);
        let cursor = self.read_up_to(&epochs);
        let (epoch, segment) = cursor.next(&epochs);
        (epoch == epochs.opened).then_some((epoch, segment, cursor.n))
    }

    /// Returns the base to load, unless it was already reported. A base is loaded if the tree is
    /// empty, since that is faster than the journal, or if an entry that the tree needs was
    /// deleted. Two bases are kept, and the journal has all entries after the older base.
    fn missed_base(&self) -> Option<BaseRecord> {
        let record = self.shard.as_ref().filter(|_| !self.awaits_base)?;
        let (bases, newest) = (&record.bases, record.newest_base()?);
        let is_cut = 1 < bases.len() && bases.first().is_some_and(|base| self.position.n < base.n);
        let is_stuck = self.missing.is_some_and(|missing| self.position.n <= missing.end)
            && self.position.n < newest.n;
        (is_cut || is_stuck || self.position.n == 0).then_some(*newest)
    }

    /// Returns the event for a tree that has, or may have, diverged from the shard's committed
    /// history; it is returned once. A tree that is about to be replaced by a base is not checked.
    fn find_divergence(&mut self) -> Option<FollowerEvent> {
        let record = self.shard.as_ref().filter(|_| !self.has_diverged && !self.awaits_base)?;
        let epochs = Epochs::from_record(record);
        // A record older than the tree does not apply to it.
        let error = if self.position.epoch <= epochs.opened && !epochs.admit(self.position) {
            ahead_error(self.position)
        } else if self.may_have_diverged && epochs.has_loss_after(self.position) {
            divergence_error(self.position)
        } else {
            return None;
        };
        self.has_diverged = true;
        Some(FollowerEvent::Diverged(error))
    }

    /// Stores the shard record, unless a later one was seen, and schedules the next read.
    fn record_shard(&mut self, record: ShardRecord, now: u64) {
        let age = |record: &ShardRecord| {
            (record.epoch, record.phase, record.newest_base().map_or(0, |base| base.n))
        };
        let is_new = self.shard.as_ref().is_none_or(|seen| age(seen) < age(&record));
        // A shard without an owner may be claimed at any time, so its record is read often.
        self.shard_read_pause = match record.phase == Phase::Open && !is_new {
            true => (self.shard_read_pause * 2).min(self.settings.rest),
            false => self.settings.poll_interval,
        };
        if is_new {
            let epochs = Epochs::from_record(&record);
            self.ahead.retain(|(epoch, n), _| epochs.holds(*epoch, *n));
            self.shard = Some(record);
            self.read_at_once(now);
        }
    }

    fn advance(&mut self) -> Vec<FollowerEvent> {
        if let Some(event) = self.find_divergence() {
            return vec![event];
        }
        let mut events = Vec::new();
        let Some(record) = self.shard.as_ref().filter(|_| !self.has_diverged) else {
            return events;
        };
        let epochs = Epochs::from_record(record);
        loop {
            let n = self.position.n + 1;
            let (epoch, end) = epochs.of_next(self.position.n);
            let marked = self.commit_marks.get(&epoch).is_some_and(|mark| n <= *mark);
            if end.is_none() && !marked && self.settings.rules.follow_committed() {
                break;
            }
            let Some(found) = self.ahead.remove(&(epoch, n)) else { break };
            if found.entry.before != self.position.checksum {
                events.push(FollowerEvent::Damaged(broken_chain(&found.entry)));
                break;
            }
            self.position = Position::after(&found);
            events.push(FollowerEvent::Committed { entry: found.entry, position: self.position });
        }
        self.ahead.retain(|(_, n), _| self.position.n < *n);
        events
    }
}

fn mark(commit_marks: &mut BTreeMap<u64, u64>, epoch: u64, committed: u64) {
    let mark = commit_marks.entry(epoch).or_default();
    *mark = committed.max(*mark);
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use uuid::Uuid;

    use super::*;

    const MS: u64 = 1_000_000;

    fn term(epoch: u64, committed: u64) -> TermRecord {
        TermRecord { shard: 0, epoch, committed, clock: Bytes::new() }
    }

    fn open_shard() -> ShardRecord {
        ShardRecord {
            shard: 0,
            epoch: 3,
            claim: Uuid::nil(),
            node: Uuid::nil(),
            incarnation: 1,
            phase: Phase::Open,
            opened: 3,
            ends: Vec::new(),
            clock: Bytes::new(),
            bases: Vec::new(),
        }
    }

    /// Lets time pass on an unchanged shard; returns the numbers of reads of the record and of the
    /// journal.
    fn pass(follower: &mut Follower, now: &mut u64, ms: u64) -> (usize, usize) {
        let (mut looks, mut readings) = (0, 0);
        for _ in 0..ms / 10 {
            follower.tick(*now, Backlog::default());
            for ask in follower.take_requests() {
                let answer = match ask.request {
                    Request::ReadShard { .. } => {
                        looks += 1;
                        Reply::Shard(Some(open_shard()))
                    }
                    _ => {
                        readings += 1;
                        Reply::Parts(Vec::new())
                    }
                };
                follower.handle_reply(ask.token, Ok(answer), *now);
            }
            *now += 10 * MS;
        }
        (looks, readings)
    }

    /// An unchanged shard is read rarely, and immediately when the node records show a change.
    #[test]
    fn what_does_not_change_is_looked_at_seldom() {
        let settings = Settings::new(Uuid::nil(), 0, Uuid::from_u128(1), Bytes::new());
        let rest = settings.rest / MS;
        let (mut follower, mut now) = (Follower::new(settings, 1, Position::default(), false), 0);
        follower.record_terms([term(3, 0)].iter(), now);
        pass(&mut follower, &mut now, 60_000);
        follower.record_terms([term(3, 0)].iter(), now);
        let (looks, readings) = pass(&mut follower, &mut now, 10 * rest);
        assert!((9..12).contains(&looks) && (9..12).contains(&readings), "{looks} {readings}");
        for (terms, expected) in [
            (vec![term(3, 0)], (0, 0)),
            // An entry was committed.
            (vec![term(3, 1)], (0, 1)),
            // The shard was released.
            (vec![], (1, 0)),
            // Another node owns it.
            (vec![term(4, 0)], (1, 1)),
        ] {
            let is_at_rest = pass(&mut follower, &mut now, rest) <= (2, 2);
            assert!(is_at_rest || terms.len() == 1);
            // A time at which no regular read is due soon.
            while now + 500 * MS > follower.shard_read_due.min(follower.read_due) {
                pass(&mut follower, &mut now, 100);
            }
            follower.record_terms(terms.iter(), now);
            assert_eq!(pass(&mut follower, &mut now, 10), expected, "{terms:?}");
        }
    }
}
