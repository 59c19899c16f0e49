//! A journal in memory with fault injection, for tests of its users.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use store::{Error, Kind};

use crate::{
    contract::{AppendFailure, Journal, JournalExtent, OpenJournal},
    entry::{EncodedEntry, Entry},
    errors::invalid,
    segment_header::FLOORS_BYTES_MAX,
    writer::check_numbers,
};

/// Maximum total size of a group's entries, in bytes.
const GROUP_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A fault that a test injects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An append is refused with `Full`; the following one succeeds.
    Full,
    /// An append is refused with `Unavailable`, and so is every call until the journal is reopened.
    Stopped,
    /// An append is not stored and fails as `Unknown`; the journal stops.
    WriteLost,
    /// An append is stored but fails as `Unknown`; the journal stops.
    AnswerLost,
    /// A read fails with `Unavailable`.
    Read,
    /// A truncation of the journal's start fails with `Unavailable`, and the journal stops.
    Truncate,
}

/// The kind of call that a fault makes fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Append,
    Read,
    Truncate,
}

impl Fault {
    fn call(self) -> Call {
        match self {
            Self::Full | Self::Stopped | Self::WriteLost | Self::AnswerLost => Call::Append,
            Self::Read => Call::Read,
            Self::Truncate => Call::Truncate,
        }
    }
}

/// A journal in memory. Clones share its state.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    state: Arc<Mutex<State>>,
}

#[derive(Clone, Debug, Default)]
struct State {
    groups: VecDeque<Vec<EncodedEntry>>,
    /// Number of the last acknowledged entry.
    end: u64,
    /// A group that was stored but not acknowledged; the next opening finds it.
    unanswered: Option<Vec<EncodedEntry>>,
    floors: Vec<u8>,
    /// Whether truncations drop nothing, because a user may need to reapply all entries.
    keeps_all: bool,
    stopped: bool,
    /// Pending faults, each with the number of matching calls before it fires.
    faults: Vec<(Fault, u64)>,
}

impl MemoryJournal {
    /// Creates an empty journal without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a journal whose truncations drop nothing, so that a user that has lost its state can
    /// reapply all entries.
    pub fn keeping_all() -> Self {
        let state = State { keeps_all: true, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Makes the `nth` matching call from now on (counted from 1) fail, once.
    pub fn fail_nth(&self, fault: Fault, nth: u64) {
        if let Some(before) = nth.checked_sub(1) {
            self.state.lock().faults.push((fault, before));
        }
    }

    /// Returns the journal after a reopening: with its groups, accepting appends, without pending
    /// faults.
    pub fn reopen(&self) -> Self {
        let mut kept = self.state.lock().clone();
        kept.stopped = false;
        kept.faults.clear();
        if let Some(group) = kept.unanswered.take() {
            kept.append_unsynced(&group);
        }
        Self { state: Arc::new(Mutex::new(kept)) }
    }
}

/// A journal in memory that can be reopened repeatedly; clones share its state.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournals {
    newest: Arc<Mutex<MemoryJournal>>,
}

impl MemoryJournals {
    /// Creates an opener whose first opening starts from `journal`.
    pub fn new(journal: MemoryJournal) -> Self {
        Self { newest: Arc::new(Mutex::new(journal)) }
    }

    /// Returns the journal that was opened most recently.
    pub fn newest(&self) -> MemoryJournal {
        self.newest.lock().clone()
    }
}

impl OpenJournal for MemoryJournals {
    fn open(&self, known_durable: u64, accept_loss: bool) -> Result<Arc<dyn Journal>, Error> {
        let mut newest = self.newest.lock();
        let opened = newest.reopen();
        if opened.end() < known_durable && !accept_loss {
            return Err(Error::new(
                Kind::Corrupt,
                "the journal ends before its last durable entry",
            ));
        }
        *newest = opened.clone();
        Ok(Arc::new(opened))
    }

    fn wipe(&self) -> Result<(), Error> {
        let mut newest = self.newest.lock();
        let keeps_all = newest.state.lock().keeps_all;
        *newest = if keeps_all { MemoryJournal::keeping_all() } else { MemoryJournal::new() };
        Ok(())
    }
}

impl State {
    /// Removes and returns the fault that applies to this call, if any.
    fn next_fault(&mut self, call: Call) -> Option<Fault> {
        let mut due = None;
        self.faults.retain_mut(|(fault, before)| {
            if fault.call() != call {
                return true;
            }
            if *before == 0 && due.is_none() {
                due = Some(*fault);
                return false;
            }
            *before = before.saturating_sub(1);
            true
        });
        due
    }

    fn check_running(&self) -> Result<(), Error> {
        if self.stopped { Err(fault_error("the journal was stopped")) } else { Ok(()) }
    }

    fn append_unsynced(&mut self, group: &[EncodedEntry]) -> u64 {
        self.end += group.len() as u64;
        self.groups.push_back(group.to_vec());
        self.end
    }

    /// Returns the number of the first stored entry.
    fn first(&self) -> u64 {
        self.groups.front().and_then(|group| group.first()).map_or(self.end + 1, EncodedEntry::n)
    }
}

fn fault_error(what: &str) -> Error {
    Error::new(Kind::Unavailable, format!("fault on purpose: {what}"))
}

fn last_of(group: &[EncodedEntry]) -> u64 {
    group.last().map_or(0, EncodedEntry::n)
}

fn bytes_of(group: &[EncodedEntry]) -> u64 {
    group.iter().map(|entry| entry.bytes().len() as u64).sum()
}

impl Journal for MemoryJournal {
    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        let mut state = self.state.lock();
        let check = |state: &State| {
            state.check_running()?;
            check_numbers(state.end, group)?;
            if (GROUP_BYTES_MAX as u64) < bytes_of(group) {
                return Err(invalid("a group is too large for the journal"));
            }
            Ok(())
        };
        check(&state).map_err(AppendFailure::Refused)?;
        let fault = state.next_fault(Call::Append);
        state.stopped = !matches!(fault, None | Some(Fault::Full));
        match fault {
            Some(Fault::Full) => {
                Err(AppendFailure::Refused(Error::new(Kind::Full, "fault on purpose: full")))
            }
            Some(Fault::WriteLost) => Err(AppendFailure::Unknown(fault_error("a write"))),
            Some(Fault::AnswerLost) => {
                state.unanswered = Some(group.to_vec());
                Err(AppendFailure::Unknown(fault_error("an answer")))
            }
            Some(Fault::Stopped | Fault::Read | Fault::Truncate) => {
                Err(AppendFailure::Refused(fault_error("the journal was stopped")))
            }
            None => Ok(state.append_unsynced(group)),
        }
    }

    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error> {
        let mut state = self.state.lock();
        if state.next_fault(Call::Read).is_some() {
            return Err(fault_error("a read"));
        }
        let first = state.first();
        if after.saturating_add(1) < first {
            return Err(invalid(format!("entries before {first} were truncated from the journal")));
        }
        let (mut page, mut bytes) = (Vec::new(), 0);
        for group in state.groups.iter().filter(|group| after < last_of(group)) {
            if !page.is_empty() && limit_bytes as u64 <= bytes {
                break;
            }
            bytes += bytes_of(group);
            for entry in group.iter().filter(|entry| after < entry.n()) {
                page.push(Entry::decode(entry.bytes())?);
            }
        }
        Ok(page)
    }

    fn truncate_before(&self, before: u64, floors: &[u8]) -> Result<(), Error> {
        let mut state = self.state.lock();
        state.check_running()?;
        if FLOORS_BYTES_MAX < floors.len() {
            return Err(invalid("the floors are too large"));
        }
        if state.next_fault(Call::Truncate).is_some() {
            state.stopped = true;
            return Err(fault_error("a cut"));
        }
        floors.clone_into(&mut state.floors);
        while !state.keeps_all
            && 1 < state.groups.len()
            && state.groups.front().is_some_and(|group| last_of(group) < before)
        {
            state.groups.pop_front();
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.state.lock().end
    }

    fn floors(&self) -> Vec<u8> {
        self.state.lock().floors.clone()
    }

    fn extent(&self) -> JournalExtent {
        let bytes = self.bytes_after(0);
        JournalExtent { first: self.state.lock().first(), group_bytes: bytes, disk_bytes: bytes }
    }

    fn bytes_after(&self, after: u64) -> u64 {
        let state = self.state.lock();
        state
            .groups
            .iter()
            .filter(|group| after < last_of(group))
            .map(|group| bytes_of(group))
            .sum()
    }

    fn group_bytes_max(&self) -> usize {
        GROUP_BYTES_MAX
    }

    fn has_single_user(&self) -> bool {
        !self.state.lock().keeps_all
    }
}

#[cfg(test)]
mod tests {
    use store::Stamp;

    use super::*;

    fn entry(n: u64) -> EncodedEntry {
        let last = Stamp { seq: n, at_ms: 0 };
        Entry { n, last, under: 0, dropped: Vec::new(), mutations: Vec::new() }.encode().unwrap()
    }

    #[test]
    fn faults_do_what_they_say() {
        // The columns: refused rather than unknown, keeps running, stored.
        for (fault, refused, goes_on, kept) in [
            (Fault::Full, true, true, false),
            (Fault::Stopped, true, false, false),
            (Fault::WriteLost, false, false, false),
            (Fault::AnswerLost, false, false, true),
        ] {
            let journal = MemoryJournal::new();
            journal.fail_nth(fault, 2);
            assert_eq!(journal.append(&[entry(1)]), Ok(1));
            let failure = journal.append(&[entry(2)]).unwrap_err();
            assert_eq!(matches!(failure, AppendFailure::Refused(_)), refused, "{fault:?}");
            assert_eq!(failure.error().kind == Kind::Full, fault == Fault::Full);
            assert_eq!(journal.end(), 1, "{fault:?}: only what was answered is known");
            assert_eq!(journal.read(0, 1000).unwrap().len(), 1);
            assert_eq!(journal.append(&[entry(2)]).is_ok(), goes_on, "{fault:?}");
            if !goes_on {
                let again = journal.reopen();
                assert_eq!(again.end(), 1 + u64::from(kept), "{fault:?}");
                again.append(&[entry(again.end() + 1)]).unwrap();
            }
        }
    }

    #[test]
    fn an_opening_finds_what_was_kept_and_misses_what_was_lost() {
        let journals = MemoryJournals::new(MemoryJournal::keeping_all());
        let first = journals.open(0, false).unwrap();
        first.append(&[entry(1)]).unwrap();
        first.append(&[entry(2)]).unwrap();
        first.truncate_before(2, b"").unwrap();
        assert_eq!(first.extent().first, 1, "it keeps all");
        journals.newest().fail_nth(Fault::AnswerLost, 1);
        first.append(&[entry(3)]).unwrap_err();
        assert_eq!(journals.open(3, false).unwrap().end(), 3);
        let lost = journals.open(4, false).map(|_| ()).unwrap_err();
        assert_eq!(lost.kind, Kind::Corrupt);
        assert_eq!(journals.open(4, true).unwrap().end(), 3);
    }

    #[test]
    fn reads_and_cuts_fail_once() {
        let journal = MemoryJournal::new();
        journal.append(&[entry(1)]).unwrap();
        journal.fail_nth(Fault::Read, 2);
        let reads = [(); 3].map(|()| journal.read(0, 1).is_ok());
        assert_eq!(reads, [true, false, true]);
        journal.fail_nth(Fault::Truncate, 1);
        journal.truncate_before(1, b"x").unwrap_err();
        journal.truncate_before(1, b"x").unwrap_err();
        journal.reopen().truncate_before(1, b"x").unwrap();
    }
}
