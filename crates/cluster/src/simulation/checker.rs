//! Checks the global invariants against every event of the simulation.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{entry::Entry, request::EntryPart};

/// Checks the events of a simulation against the guarantees of the protocol.
#[derive(Debug, Default)]
pub(super) struct Checker {
    /// The entries that trees have applied, each as epoch and body. Every tree has to apply them in
    /// this order.
    history: Vec<(u64, Bytes)>,
    /// The body of each part of an entry, by epoch, entry number and part.
    bodies: BTreeMap<(u64, u64, u32), Bytes>,
    /// The number of the last acknowledged entry of each epoch.
    acknowledged: BTreeMap<u64, u64>,
    /// For each epoch, the number of the entry after which it was opened.
    opened: BTreeMap<u64, u64>,
    /// The highest entry number and the latest instant that a read has returned.
    read: (u64, u64),
    pub(super) takeovers: u64,
    pub(super) acknowledgements: u64,
    pub(super) reads: u64,
}

pub(super) type Checked = Result<(), String>;

fn expect(holds: bool, text: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(text()) }
}

impl Checker {
    /// Checks an entry applied to a tree that has `tree` entries.
    pub(super) fn applied(&mut self, tree: usize, entry: &Entry) -> Checked {
        let (epoch, n) = (entry.epoch, entry.n);
        expect(n == tree as u64 + 1, || {
            format!("entry {n} is applied to a tree of {tree} entries")
        })?;
        if self.history.len() == tree {
            self.history.push((epoch, entry.body.clone()));
            return Ok(());
        }
        let (of, body) = &self.history[tree];
        expect((*of, body) == (epoch, &entry.body), || {
            format!("a fork: entry {n} is of epoch {of} in one tree and of {epoch} in another")
        })
    }

    /// Checks an entry that an owner acknowledges after it has applied it.
    pub(super) fn acknowledged(&mut self, epoch: u64, n: u64) -> Checked {
        self.acknowledgements += 1;
        self.acknowledged.insert(epoch, n);
        let mut later = self.opened.range(epoch + 1..);
        match later.find(|(_, end)| **end < n) {
            Some((later, end)) => Err(format!(
                "entry {n} of epoch {epoch} is acknowledged, but epoch {later} began after entry {end}"
            )),
            None => Ok(()),
        }
    }

    /// Checks the start of an owner whose tree has `tree` entries.
    pub(super) fn opened(&mut self, epoch: u64, tree: usize) -> Checked {
        let end = tree as u64;
        self.takeovers += 1;
        self.opened.insert(epoch, end);
        let mut earlier = self.acknowledged.range(..epoch);
        match earlier.find(|(_, n)| end < **n) {
            Some((earlier, n)) => Err(format!(
                "epoch {epoch} began after entry {end}, but entry {n} of {earlier} was acknowledged"
            )),
            None => Ok(()),
        }
    }

    /// Checks a read at the owner that sees `tree` entries, at this instant of the shard's clock.
    pub(super) fn read(&mut self, epoch: u64, tree: usize, instant: u64) -> Checked {
        self.reads += 1;
        let (seen, clock) = self.read;
        let n = tree as u64;
        expect(seen <= n, || format!("a read in epoch {epoch} sees {n} entries after {seen}"))?;
        let acknowledged = self.acknowledged.values().max().copied().unwrap_or(0);
        expect(acknowledged <= n, || {
            format!("a read in epoch {epoch} sees {n} entries, {acknowledged} were acknowledged")
        })?;
        expect(clock <= instant, || {
            format!("the clock of epoch {epoch} is {} ns behind", clock.abs_diff(instant))
        })?;
        self.read = (n, instant);
        Ok(())
    }

    pub(super) fn written(&mut self, epoch: u64, part: &EntryPart) -> Checked {
        let body = self.bodies.entry((epoch, part.n, part.part)).or_insert(part.body.clone());
        expect(*body == part.body, || format!("entry {} of epoch {epoch} has two bodies", part.n))
    }

    /// Returns the number of entries applied by any node.
    pub(super) fn length(&self) -> usize {
        self.history.len()
    }
}
