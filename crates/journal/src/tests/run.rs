//! A journal on a failing disk, compared with a list of the acknowledged entries: these exist,
//! refused ones do not, and unknown groups exist completely or not at all. Of groups kept without a
//! sync, a power cut leaves a prefix of whole groups.

use std::sync::Arc;

use bytes::Bytes;
use store::{Error, Kind, Stamp};

use super::sim_disk::SimDisk;
use crate::{
    contract::{AppendFailure, Journal},
    entry::{EncodedEntry, Entry, Mutation},
    local::LocalJournal,
    options::JournalOptions,
};

/// Segment size in these tests: a few small groups.
pub(super) const SEGMENT: u64 = 32 * 1024;

/// Creates an entry that differs from those of all other attempts to append number `n`.
pub(super) fn entry(n: u64, attempt: u64, bytes: usize) -> Entry {
    let value = (0..bytes).map(|at| (at as u64 * 7 + n + attempt) as u8).collect::<Vec<_>>();
    let mutation = Mutation { space: 1, key: "key".into(), value: Some(Bytes::from(value)) };
    let last = Stamp { seq: attempt, at_ms: 5 };
    Entry { n, last, under: n, dropped: Vec::new(), mutations: vec![mutation] }
}

pub(super) fn options(known_durable: u64) -> JournalOptions {
    let spare_segments = 1;
    JournalOptions {
        segment_bytes: SEGMENT,
        spare_segments,
        known_durable,
        ..JournalOptions::default()
    }
}

/// Opens the journal on a disk.
pub(super) fn open(disk: &SimDisk, options: &JournalOptions) -> Result<LocalJournal, Error> {
    LocalJournal::open_on(Arc::new(disk.clone()), options, false)
}

pub(super) fn encode(group: &[Entry]) -> Vec<EncodedEntry> {
    group.iter().map(|entry| entry.encode().unwrap()).collect()
}

/// Returns floors of several sectors, so that a header can be torn.
pub(super) fn floors_of(before: u64) -> Vec<u8> {
    before.to_le_bytes().repeat(90)
}

/// Reads all entries that a journal holds.
pub(super) fn read_all(journal: &LocalJournal) -> Result<Vec<Entry>, Error> {
    let mut all: Vec<Entry> = Vec::new();
    loop {
        let after = all.last().map_or(journal.extent().first - 1, |last| last.n);
        let page = journal.read(after, 5_000)?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// Compares entries; failures print numbers only.
pub(super) fn assert_same(read: &[Entry], expected: &[Entry], context: &str) {
    let numbers = |entries: &[Entry]| entries.iter().map(|entry| entry.n).collect::<Vec<_>>();
    assert_eq!(numbers(read), numbers(expected), "{context}");
    let differs = read.iter().zip(expected).find(|(read, expected)| read != expected);
    assert_eq!(differs.map(|(read, _)| read.n), None, "{context}");
}

/// A journal and its expected contents.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) disk: SimDisk,
    pub(super) journal: Option<LocalJournal>,
    pub(super) list: Vec<Entry>,
    /// Number of acknowledged entries that are durable.
    synced: usize,
    /// Numbers of the last entries of the groups that were appended without a sync.
    unsynced_ends: Vec<usize>,
    /// Groups are appended without a sync, as copies of another journal's.
    pub(super) unsynced: bool,
    /// The power was cut since the journal was last open.
    powerless: bool,
    unknown: Vec<Entry>,
    /// Entries below this number may have been truncated.
    truncated_below: u64,
    /// Number of appends so far.
    attempts: u64,
    /// The error kind that is injected at present.
    fault: Option<Kind>,
}

impl Run {
    /// Creates a run with an empty disk and no open journal.
    pub(super) fn new() -> Self {
        Self {
            disk: SimDisk::default(),
            journal: None,
            list: Vec::new(),
            synced: 0,
            unsynced_ends: Vec::new(),
            unsynced: false,
            powerless: false,
            unknown: Vec::new(),
            truncated_below: 1,
            attempts: 0,
            fault: None,
        }
    }

    /// Makes the nth disk call from now fail; with `stays`, all later calls fail too.
    pub(super) fn fail_nth(&mut self, nth: u64, full: bool, stays: bool) {
        let (error, kind) = if full { (28, Kind::Full) } else { (5, Kind::Unavailable) };
        self.fault = Some(kind);
        self.disk.fail_nth(nth, error, stays);
    }

    /// Ends the injected failure; returns whether a call failed.
    pub(super) fn heal(&mut self) -> bool {
        self.fault = None;
        self.disk.heal()
    }

    /// Opens the journal unless open, and compares; returns false if the disk failed during that.
    pub(super) fn open(&mut self) -> bool {
        if self.journal.is_some() {
            return true;
        }
        let durable_elsewhere = self.unsynced;
        let options = JournalOptions { durable_elsewhere, ..options(self.synced as u64) };
        let journal = match open(&self.disk, &options) {
            Ok(journal) => journal,
            Err(error) => {
                assert_eq!(Some(error.kind), self.fault, "{error}");
                return false;
            }
        };
        let end = journal.end();
        let whole = self.synced as u64 == end || self.unsynced_ends.contains(&(end as usize));
        if self.powerless && whole && self.synced as u64 <= end && end < self.list.len() as u64 {
            self.list.truncate(end as usize);
        } else if end != self.list.len() as u64 {
            assert_eq!(end, (self.list.len() + self.unknown.len()) as u64, "all of it or nothing");
            self.list.append(&mut self.unknown);
        }
        self.unknown.clear();
        self.synced = self.list.len();
        self.unsynced_ends.clear();
        self.powerless = false;
        assert!(journal.extent().first <= self.truncated_below);
        self.journal = Some(journal);
        self.compare()
    }

    /// Compares all entries with the list; returns false if the disk failed during the reads.
    pub(super) fn compare(&mut self) -> bool {
        let Some(journal) = &self.journal else { return true };
        let first = journal.extent().first;
        match read_all(journal) {
            Ok(read) => assert_same(&read, &self.list[first as usize - 1..], "all that is held"),
            Err(error) => {
                assert_eq!(Some(error.kind), self.fault, "{error}");
                return false;
            }
        }
        true
    }

    /// Appends a group of entries of these sizes.
    pub(super) fn append(&mut self, sizes: &[usize]) {
        if self.write(sizes, LocalJournal::append) {
            self.synced = self.list.len();
        }
    }

    /// Appends a group of entries of these sizes without a sync.
    pub(super) fn append_unsynced(&mut self, sizes: &[usize]) {
        if self.write(sizes, LocalJournal::append_unsynced) {
            self.unsynced_ends.push(self.list.len());
        }
    }

    pub(super) fn sync(&mut self) {
        if !self.open() {
            return;
        }
        let Some(journal) = &self.journal else { return };
        match journal.sync() {
            Ok(()) => self.synced = self.list.len(),
            Err(error) => {
                assert_eq!(error.kind, Kind::Unavailable);
                assert!(journal.stop_reason().is_some());
            }
        }
    }

    /// Writes a group of entries of these sizes; returns whether it was acknowledged.
    fn write(
        &mut self,
        sizes: &[usize],
        how: impl FnOnce(&LocalJournal, &[EncodedEntry]) -> Result<u64, AppendFailure>,
    ) -> bool {
        if !self.open() {
            return false;
        }
        self.attempts += 1;
        let end = self.list.len() as u64;
        let group: Vec<_> = (1..)
            .zip(sizes)
            .map(|(more, bytes)| entry(end + more, self.attempts, *bytes))
            .collect();
        let Some(journal) = &self.journal else { return false };
        let stopped = journal.stop_reason().is_some();
        let written = how(journal, &encode(&group));
        let answered = written.is_ok();
        match written {
            Ok(last) => {
                self.list.extend(group);
                assert_eq!(last, self.list.len() as u64);
                assert!(!stopped);
            }
            Err(AppendFailure::Refused(error)) => {
                assert!(
                    stopped || Some(error.kind) == self.fault || journal.stop_reason().is_some()
                );
            }
            Err(AppendFailure::Unknown(error)) => {
                assert_eq!(error.kind, Kind::Unavailable);
                assert!(self.fault.is_some() && !stopped && journal.stop_reason().is_some());
                self.unknown = group;
            }
        }
        assert_eq!(journal.end(), self.list.len() as u64);
        answered
    }

    pub(super) fn truncate_before(&mut self, before: u64) {
        if !self.open() {
            return;
        }
        self.truncated_below = self.truncated_below.max(before);
        let Some(journal) = &self.journal else { return };
        if let Err(error) = journal.truncate_before(before, &floors_of(before)) {
            assert_eq!(error.kind, Kind::Unavailable);
            assert!(journal.stop_reason().is_some());
        }
    }

    /// Simulates a crash of the process.
    pub(super) fn kill(&mut self) {
        self.journal = None;
        self.disk = self.disk.after_kill();
        self.fault = None;
    }

    pub(super) fn cut_power(&mut self, random: &mut fastrand::Rng) {
        self.journal = None;
        self.disk = self.disk.after_power_cut(random);
        self.powerless = true;
        self.fault = None;
    }

    /// Reopens a stopped journal in the same process.
    pub(super) fn reopen_if_stopped(&mut self) {
        self.journal.take_if(|journal| journal.stop_reason().is_some());
    }
}
