//! A follower: reads the journal ahead of its tree, and applies what is known to be committed. A mark
//! says so of entries of its own epoch only, since a number may lie in two epochs; of a closed epoch
//! all up to its end count.

use std::collections::BTreeMap;

use store::Error;

use crate::{
    ask::{Answer, Ask, Asks, Token},
    entry::Entry,
    place::{Epochs, Found, Place, ahead, broken_chain, found},
    records::{ShardRecord, TermRecord},
    request::{Reply, Request},
    settings::Settings,
};

/// What came of following.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FollowerFact {
    /// The next entry is committed.
    Committed {
        /// What is to be applied.
        entry: Entry,
        /// Where the tree stands then.
        place: Place,
    },
    /// The journal cannot be followed from this tree: it is damaged, or the tree is of something else.
    Damaged(Error),
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Follower {
    settings: Settings,
    asks: Asks,
    place: Place,
    shard: Option<ShardRecord>,
    /// Of each epoch, up to which entry all are committed.
    marks: BTreeMap<u64, u64>,
    /// What was read and not applied, by epoch and number.
    ahead: BTreeMap<(u64, u64), Found>,
    reading: Option<(Token, u64, u64)>,
    read_due: u64,
    looking: Option<Token>,
    making: Option<Token>,
    look_due: u64,
}

impl Follower {
    /// With a tree that stands here.
    pub(crate) fn new(settings: Settings, machine: u64, place: Place) -> Self {
        Self {
            settings,
            asks: Asks::new(machine),
            place,
            shard: None,
            marks: BTreeMap::new(),
            ahead: BTreeMap::new(),
            reading: None,
            read_due: 0,
            looking: None,
            making: None,
            look_due: 0,
        }
    }

    /// The machine's number.
    pub(crate) fn machine(&self) -> u64 {
        self.asks.machine()
    }

    /// Behind which entry its tree stands.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The shard as it was last seen.
    pub(crate) fn shard(&self) -> Option<&ShardRecord> {
        self.shard.as_ref()
    }

    /// Looks at the shard and the journal at once.
    pub(crate) fn hurry(&mut self, now: u64) {
        (self.look_due, self.read_due) = (now, now);
    }

    /// Questions to be carried away.
    pub(crate) fn asks(&mut self) -> Vec<Ask> {
        self.asks.take()
    }

    /// Asks what is due.
    pub(crate) fn tick(&mut self, now: u64) {
        let shard = self.settings.shard;
        if self.looking.is_none() && self.making.is_none() && self.look_due <= now {
            self.look_due = now + self.settings.watch;
            self.looking = Some(self.asks.ask(Request::ReadShard { shard }));
        }
        if self.reading.is_some() || now < self.read_due {
            return;
        }
        let Some(record) = &self.shard else { return };
        let cursor = self.read_up_to(&Epochs::of(record));
        let (epoch, segment) = cursor.next(&Epochs::of(record));
        if epoch == 0 || self.is_full() {
            return;
        }
        let limit = self.settings.read_bytes;
        let request = Request::ReadEntries { shard, epoch, segment, after: cursor.n, limit };
        self.reading = Some((self.asks.ask(request), epoch, segment));
    }

    /// Behind which entry nothing is read yet.
    fn read_up_to(&self, epochs: &Epochs) -> Place {
        let mut cursor = self.place;
        while let Some(found) = self.ahead.get(&(epochs.of_next(cursor.n).0, cursor.n + 1)) {
            cursor = Place::behind(found);
        }
        cursor
    }

    /// Whether so much was read that it waits for marks first.
    fn is_full(&self) -> bool {
        let bytes: usize = self.ahead.values().map(|found| found.bytes.len()).sum();
        4 * self.settings.read_bytes < bytes
    }

    /// Notes up to where the terms of nodes say all are committed.
    pub(crate) fn note_terms<'a>(
        &mut self,
        terms: impl Iterator<Item = &'a TermRecord>,
    ) -> Vec<FollowerFact> {
        let shard = self.settings.shard;
        for term in terms.filter(|term| term.shard == shard) {
            mark(&mut self.marks, term.epoch, term.committed);
        }
        self.advance()
    }

    /// Takes an answer.
    pub(crate) fn answer(&mut self, token: Token, answer: Answer, now: u64) -> Vec<FollowerFact> {
        if self.looking == Some(token) {
            self.looking = None;
            match answer {
                Ok(Reply::Shard(Some(record))) => self.note_shard(record),
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
        let Some((_, epoch, segment)) = self.reading.filter(|(reading, ..)| *reading == token)
        else {
            return Vec::new();
        };
        self.reading = None;
        self.read_due = now + self.settings.idle;
        let Ok(Reply::Parts(parts)) = answer else { return Vec::new() };
        let entries = match found(&self.settings, epoch, segment, &parts) {
            Ok(entries) => entries,
            Err(error) => return vec![FollowerFact::Damaged(error)],
        };
        if !entries.is_empty() {
            self.read_due = now + self.settings.read;
        }
        for found in entries {
            mark(&mut self.marks, epoch, found.entry.committed);
            self.ahead.insert((epoch, found.entry.n), found);
        }
        self.advance()
    }

    /// Notes what a shard's record says, unless something later was seen.
    fn note_shard(&mut self, record: ShardRecord) {
        let age = |record: &ShardRecord| (record.epoch, record.phase);
        if self.shard.as_ref().is_none_or(|seen| age(seen) < age(&record)) {
            let epochs = Epochs::of(&record);
            self.ahead.retain(|(epoch, n), _| epochs.holds(*epoch, *n));
            self.shard = Some(record);
        }
    }

    /// Hands out what is committed.
    fn advance(&mut self) -> Vec<FollowerFact> {
        let mut facts = Vec::new();
        let Some(record) = &self.shard else { return facts };
        let epochs = Epochs::of(record);
        // A record older than the tree says nothing of it.
        if self.place.epoch <= epochs.opened && !epochs.admit(self.place) {
            return vec![FollowerFact::Damaged(ahead(self.place))];
        }
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

/// Raises a mark.
fn mark(marks: &mut BTreeMap<u64, u64>, epoch: u64, committed: u64) {
    let mark = marks.entry(epoch).or_default();
    *mark = committed.max(*mark);
}
