//! The journal on a simulated disk with failures, power cuts and damage. The laws run on it too,
//! since a disk in memory allows many histories.

mod damage;
mod faults;
mod kept;
mod run;
mod sim_disk;
mod spare;
mod torn;

use run::{SEGMENT, open, options};
use sim_disk::SimDisk;

use crate::{
    contract::Journal,
    laws::{Bench, check},
    local::LocalJournal,
    options::JournalOptions,
};

struct Simulated(SimDisk, fastrand::Rng);

fn larger(known_durable: u64) -> JournalOptions {
    JournalOptions { segment_bytes: SEGMENT * 3 / 2, ..options(known_durable) }
}

impl Bench for Simulated {
    type Journal = LocalJournal;

    fn open(&mut self) -> LocalJournal {
        self.0 = SimDisk::default();
        open(&self.0, &larger(0)).unwrap()
    }

    fn crash(&mut self, journal: LocalJournal) -> LocalJournal {
        let end = journal.end();
        drop(journal);
        self.0 = self.0.after_power_cut(&mut self.1);
        open(&self.0, &larger(end)).unwrap()
    }
}

#[test]
fn the_local_journal_passes_the_laws_on_a_disk_in_memory() {
    check(&mut Simulated(SimDisk::default(), fastrand::Rng::with_seed(9)), 60);
}
