//! A follower reads the journal ahead of its tree and hands out committed entries. A commit mark,
//! the number of the last committed entry in a heartbeat of the owner, covers only the owner's
//! epoch, since entries of two epochs may have the same number; of a closed epoch everything up to
//! its end is committed. It buffers at most one read plus what an owner may have in flight.

use std::collections::BTreeMap;

use store::Error;

use crate::{
    ask::{Answer, Ask, Asks, Token},
    entry::Entry,
    host::Backlog,
    place::{Epochs, Found, MissingEntry, Place, ahead, broken_chain, found, unsure},
    records::{BaseRecord, Phase, ShardRecord, TermRecord},
    request::{Reply, Request},
    settings::Settings,
};

/// An event of a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FollowerFact {
    /// The next entry is committed.
    Committed {
        /// The entry to apply.
        entry: Entry,
        /// Position of the local tree after the entry is applied.
        place: Place,
    },
    /// The journal after the tree's position was truncated, or the tree is empty: this base has to
    /// be loaded. The follower stops reading.
    Load(BaseRecord),
    /// An entry of a closed epoch is missing. It is read again at a slow rate; reported once.
    Missing(MissingEntry),
    /// The tree contains, or may contain, entries that are not part of the history. The follower
    /// stops reading; reported once.
    Astray(Error),
    /// The journal cannot be followed from this tree: it is damaged, or the tree belongs to another
    /// journal.
    Damaged(Error),
}

/// A read request for entries whose reply is pending.
#[derive(Clone, Copy, Debug)]
struct Reading {
    token: Token,
    epoch: u64,
    segment: u64,
    /// The first requested entry.
    first: u64,
    /// End of the epoch, if it was known to be closed when the read was sent.
    end: Option<u64>,
}

/// The state machine of a follower.
#[derive(Debug)]
pub(crate) struct Follower {
    settings: Settings,
    asks: Asks,
    place: Place,
    shard: Option<ShardRecord>,
    /// The last entry of each epoch that is known to be committed.
    marks: BTreeMap<u64, u64>,
    /// Entries that were read and not yet reported as committed, by epoch and number.
    ahead: BTreeMap<(u64, u64), Found>,
    reading: Option<Reading>,
    read_due: u64,
    /// Whether the tree may contain entries after its recorded position.
    unsure: bool,
    /// Whether the tree contains, or may contain, entries that are not part of the history.
    astray: bool,
    /// Whether a base has to be loaded before entries can be applied.
    loads: bool,
    /// The entry that was reported as missing.
    missing: Option<MissingEntry>,
    /// Whether the last read reached the end of the open epoch, as of when it was sent.
    level: bool,
    looking: Option<Token>,
    making: Option<Token>,
    look_due: u64,
    /// Delays after a read of the record and of the journal without news; they grow up to a bound.
    look_pause: u64,
    read_pause: u64,
    /// Whether a node record has the term of the shard's owner; false once it was released.
    has_term: bool,
}

impl Follower {
    /// Creates a follower with the tree's position; an unsure tree may contain entries after it.
    pub(crate) fn new(settings: Settings, machine: u64, place: Place, unsure: bool) -> Self {
        Self {
            look_pause: settings.watch,
            read_pause: settings.idle,
            settings,
            asks: Asks::new(machine),
            place,
            shard: None,
            marks: BTreeMap::new(),
            ahead: BTreeMap::new(),
            reading: None,
            read_due: 0,
            unsure,
            astray: false,
            loads: false,
            missing: None,
            level: false,
            looking: None,
            making: None,
            look_due: 0,
            has_term: false,
        }
    }

    pub(crate) fn machine(&self) -> u64 {
        self.asks.machine()
    }

    /// Returns the position of the last entry that was reported as committed.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Returns the shard record as last seen.
    pub(crate) fn shard(&self) -> Option<&ShardRecord> {
        self.shard.as_ref()
    }

    /// Requests shard record and journal immediately instead of at the next interval.
    pub(crate) fn hurry(&mut self, now: u64) {
        self.look_at_once(now);
        self.read_at_once(now);
    }

    fn look_at_once(&mut self, now: u64) {
        (self.look_due, self.look_pause) = (now, self.settings.watch);
    }

    fn read_at_once(&mut self, now: u64) {
        (self.read_due, self.read_pause) = (now, self.settings.idle);
    }

    pub(crate) fn asks(&mut self) -> Vec<Ask> {
        self.asks.take()
    }

    /// Returns whether the follower has read everything that a non-owner can read.
    pub(crate) fn is_level(&self) -> bool {
        self.level && !self.astray
    }

    /// Records a missing entry that a taker has found and reported.
    pub(crate) fn note_missing(&mut self, missing: MissingEntry) {
        self.missing = Some(missing);
    }

    /// Returns whether the tree has all entries known to be committed and nothing to apply.
    pub(crate) fn is_first(&self, backlog: Backlog) -> bool {
        let opened = self.shard.as_ref().map_or(0, |record| record.opened);
        let committed = self.marks.get(&opened).copied().unwrap_or(0);
        backlog.entries == 0 && committed <= self.place.n
    }

    /// Enqueues the requests to the ledger that are due. Nothing is read while the tree is far
    /// behind, because entries that wait for it are held in memory.
    pub(crate) fn tick(&mut self, now: u64, backlog: Backlog) {
        let shard = self.settings.shard;
        if self.looking.is_none() && self.making.is_none() && self.look_due <= now {
            self.look_due = now + self.look_pause;
            self.looking = Some(self.asks.ask(Request::ReadShard { shard }));
        }
        if self.reading.is_some() || now < self.read_due || self.loads || self.astray {
            return;
        }
        let Some(record) = &self.shard else { return };
        let epochs = Epochs::of(record);
        let cursor = self.read_up_to(&epochs);
        let (epoch, segment) = cursor.next(&epochs);
        if epoch == 0 {
            self.level = true;
            return;
        }
        if self.settings.hold_bytes <= backlog.bytes
            || self.settings.hold_entries <= backlog.entries
        {
            self.level = false;
            return;
        }
        let limit = self.settings.read_bytes;
        let request = Request::ReadEntries { shard, epoch, segment, after: cursor.n, limit };
        let (_, end) = epochs.of_next(cursor.n);
        let (token, first) = (self.asks.ask(request), cursor.n + 1);
        self.reading = Some(Reading { token, epoch, segment, first, end });
    }

    /// Returns the position up to which entries were read without a gap.
    fn read_up_to(&self, epochs: &Epochs) -> Place {
        let mut cursor = self.place;
        while let Some(found) = self.ahead.get(&(epochs.of_next(cursor.n).0, cursor.n + 1)) {
            cursor = Place::behind(found);
        }
        cursor
    }

    /// Records the commit marks in the nodes' terms.
    pub(crate) fn note_terms<'a>(
        &mut self,
        terms: impl Iterator<Item = &'a TermRecord>,
        now: u64,
    ) -> Vec<FollowerFact> {
        let shard = self.settings.shard;
        let (mut is_new_epoch, mut has_term, mut committed) = (false, false, 0);
        let seen = self.shard.as_ref().map_or(0, |record| record.epoch);
        for term in terms.filter(|term| term.shard == shard) {
            mark(&mut self.marks, term.epoch, term.committed);
            is_new_epoch |= seen < term.epoch;
            has_term |= seen == term.epoch;
            committed = committed.max(term.committed);
        }
        let was_released = self.has_term && !has_term;
        self.has_term = has_term;
        // Does not shorten the delay after a failed read.
        if (is_new_epoch || was_released) && now + self.settings.watch < self.look_due {
            self.look_at_once(now);
        }
        let read = self.end_of_read().map_or(u64::MAX, |(_, _, n)| n);
        if (is_new_epoch || read < committed) && now + self.settings.idle < self.read_due {
            // A missing entry is read at a slow rate.
            if self.missing.is_none_or(|missing| missing.end < self.place.n) {
                self.read_at_once(now);
            }
        }
        self.advance()
    }

    pub(crate) fn answer(&mut self, token: Token, answer: Answer, now: u64) -> Vec<FollowerFact> {
        if self.looking == Some(token) {
            self.looking = None;
            match answer {
                Ok(Reply::Shard(Some(record))) => {
                    self.note_shard(record, now);
                    if let Some(fact) = self.find_astray() {
                        return vec![fact];
                    }
                    if let Some(base) = self.missed_base() {
                        (self.loads, self.level) = (true, false);
                        return vec![FollowerFact::Load(base)];
                    }
                }
                Ok(Reply::Shard(None)) => {
                    let shard = self.settings.shard;
                    self.making = Some(self.asks.ask(Request::MakeShard { shard }));
                }
                _ => {}
            }
            return self.advance();
        }
        if self.making == Some(token) {
            self.making = None;
            self.look_due = now;
        }
        let Some(reading) = self.reading.take_if(|reading| reading.token == token) else {
            return Vec::new();
        };
        let Reading { epoch, segment, .. } = reading;
        self.read_due = now + self.settings.idle;
        let Ok(Reply::Parts(parts)) = answer else { return Vec::new() };
        if parts.is_empty() && self.level {
            self.read_due = now + self.read_pause;
            self.read_pause = (self.read_pause * 2).min(self.settings.rest);
        } else {
            self.read_pause = self.settings.idle;
        }
        let entries = match found(&self.settings, epoch, segment, &parts) {
            Ok(entries) => entries,
            Err(error) => return vec![FollowerFact::Damaged(error)],
        };
        if !entries.is_empty() {
            self.read_due = now + self.settings.read;
        }
        let read: usize = parts.iter().map(|part| part.body.len()).sum();
        // Entries after a gap are returned by every read, so their arrival is not progress.
        let before = self.end_of_read();
        for found in entries {
            mark(&mut self.marks, epoch, found.entry.committed);
            self.ahead.insert((epoch, found.entry.n), found);
        }
        let end = self.end_of_read();
        let is_all = read < self.settings.read_bytes || before == end;
        self.level =
            is_all && end.is_some_and(|(opened, next, _)| (opened, next) == (epoch, segment));
        let mut facts = self.advance();
        if facts.is_empty() {
            facts.extend(self.find_missing(reading, now));
        }
        facts
    }

    /// Returns the entry that a read should have found: of a closed epoch, everything up to its end
    /// is on a quorum.
    fn find_missing(&mut self, reading: Reading, now: u64) -> Option<FollowerFact> {
        let Reading { epoch, end, .. } = reading;
        let committed = end.filter(|_| self.place.n + 1 == reading.first)?;
        self.read_due = now + self.settings.lease;
        let missing = MissingEntry { epoch, end: self.place.n, committed };
        let is_new = self.missing.replace(missing) != Some(missing);
        is_new.then_some(FollowerFact::Missing(missing))
    }

    /// Returns epoch and segment of the first unread entry, and the number of the entry before it,
    /// if that epoch is open.
    fn end_of_read(&self) -> Option<(u64, u64, u64)> {
        let epochs = Epochs::of(self.shard.as_ref()?);
        let cursor = self.read_up_to(&epochs);
        let (epoch, segment) = cursor.next(&epochs);
        (epoch == epochs.opened).then_some((epoch, segment, cursor.n))
    }

    /// Returns the base to load, unless it was already reported. A base is loaded if the tree is
    /// empty, since that is faster than the journal, or if an entry that the tree needs was
    /// deleted. Two bases are kept, and the journal has all entries after the older base.
    fn missed_base(&self) -> Option<BaseRecord> {
        let record = self.shard.as_ref().filter(|_| !self.loads)?;
        let (bases, newest) = (&record.bases, record.newest_base()?);
        let is_cut = 1 < bases.len() && bases.first().is_some_and(|base| self.place.n < base.n);
        let is_stuck = self.missing.is_some_and(|missing| self.place.n <= missing.end)
            && self.place.n < newest.n;
        (is_cut || is_stuck || self.place.n == 0).then_some(*newest)
    }

    /// Returns the event for a tree that has, or may have, diverged from the history; reported
    /// once. A tree that is about to be replaced by a base is not checked.
    fn find_astray(&mut self) -> Option<FollowerFact> {
        let record = self.shard.as_ref().filter(|_| !self.astray && !self.loads)?;
        let epochs = Epochs::of(record);
        // A record older than the tree does not apply to it.
        let error = if self.place.epoch <= epochs.opened && !epochs.admit(self.place) {
            ahead(self.place)
        } else if self.unsure && epochs.is_cut_behind(self.place) {
            unsure(self.place)
        } else {
            return None;
        };
        self.astray = true;
        Some(FollowerFact::Astray(error))
    }

    /// Stores the shard record, unless a later one was seen, and schedules the next read.
    fn note_shard(&mut self, record: ShardRecord, now: u64) {
        let age = |record: &ShardRecord| {
            (record.epoch, record.phase, record.newest_base().map_or(0, |base| base.n))
        };
        let is_new = self.shard.as_ref().is_none_or(|seen| age(seen) < age(&record));
        // A shard without an owner may be claimed at any time.
        self.look_pause = match record.phase == Phase::Open && !is_new {
            true => (self.look_pause * 2).min(self.settings.rest),
            false => self.settings.watch,
        };
        if is_new {
            let epochs = Epochs::of(&record);
            self.ahead.retain(|(epoch, n), _| epochs.holds(*epoch, *n));
            self.shard = Some(record);
            self.read_at_once(now);
        }
    }

    /// Hands out committed entries.
    fn advance(&mut self) -> Vec<FollowerFact> {
        if let Some(fact) = self.find_astray() {
            return vec![fact];
        }
        let mut facts = Vec::new();
        let Some(record) = self.shard.as_ref().filter(|_| !self.astray) else { return facts };
        let epochs = Epochs::of(record);
        loop {
            let n = self.place.n + 1;
            let (epoch, end) = epochs.of_next(self.place.n);
            let marked = self.marks.get(&epoch).is_some_and(|mark| n <= *mark);
            if end.is_none() && !marked && self.settings.rules.follow_committed() {
                break;
            }
            let Some(found) = self.ahead.remove(&(epoch, n)) else { break };
            if found.entry.before != self.place.checksum {
                facts.push(FollowerFact::Damaged(broken_chain(&found.entry)));
                break;
            }
            self.place = Place::behind(&found);
            facts.push(FollowerFact::Committed { entry: found.entry, place: self.place });
        }
        self.ahead.retain(|(_, n), _| self.place.n < *n);
        facts
    }
}

fn mark(marks: &mut BTreeMap<u64, u64>, epoch: u64, committed: u64) {
    let mark = marks.entry(epoch).or_default();
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
            for ask in follower.asks() {
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
                follower.answer(ask.token, Ok(answer), *now);
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
        let (mut follower, mut now) = (Follower::new(settings, 1, Place::default(), false), 0);
        follower.note_terms([term(3, 0)].iter(), now);
        pass(&mut follower, &mut now, 60_000);
        follower.note_terms([term(3, 0)].iter(), now);
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
            while now + 500 * MS > follower.look_due.min(follower.read_due) {
                pass(&mut follower, &mut now, 100);
            }
            follower.note_terms(terms.iter(), now);
            assert_eq!(pass(&mut follower, &mut now, 10), expected, "{terms:?}");
        }
    }
}
