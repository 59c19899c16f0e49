//! How long an append with its sync takes, by the size of the group, and how long a start takes:
//! `cargo run --release -p journal --example sync -- DIR`. It makes a folder in DIR, and removes it.
#![expect(clippy::print_stdout, reason = "its figures are what it is for")]

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};

use bytes::Bytes;
use journal::{Entry, Journal, JournalOptions, LocalJournal, Mutation};
use store::Stamp;

/// Bytes of a group, and how many of them are measured.
const GROUPS: [(usize, u64); 3] = [(200, 4_000), (16 * 1024, 4_000), (1024 * 1024, 600)];
/// Appends before the measurement: by then every segment was used once.
const WARM_BYTES: usize = 256 * 1024 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let parent = std::env::args_os().nth(1).ok_or("which folder? sync DIR")?;
    let folder = PathBuf::from(parent).join("journal-sync");
    let journal = LocalJournal::open(&folder, &JournalOptions::default())?;
    let mut appends = Appends { journal, n: 0 };
    // Not in the figures: segments are filled, and then begun again.
    for _ in 0..WARM_BYTES / (1024 * 1024) {
        appends.append_us(1024 * 1024)?;
    }
    println!(
        "{:>10} {:>8} {:>10} {:>10} {:>10}",
        "bytes", "groups", "median us", "p99 us", "most us"
    );
    for (bytes, count) in GROUPS {
        let mut taken = Vec::new();
        for _ in 0..count {
            taken.push(appends.append_us(bytes)?);
        }
        taken.sort_unstable();
        let at = |part: usize| taken.get(taken.len() * part / 1000).copied().unwrap_or(0);
        println!("{bytes:>10} {count:>8} {:>10} {:>10} {:>10}", at(500), at(990), at(999));
    }
    drop(appends);
    start(&folder)?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Opens the journal again and reads all of it, as a store does.
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn start(folder: &Path) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let journal = LocalJournal::open(folder, &JournalOptions::default())?;
    let opened_ms = began.elapsed().as_millis();
    let held = journal.held();
    let (mut after, mut entries) = (held.first - 1, 0);
    let began = Instant::now();
    loop {
        let page = journal.read(after, 4 * 1024 * 1024)?;
        let Some(last) = page.last() else { break };
        after = last.n;
        entries += page.len();
    }
    let read_ms = began.elapsed().as_millis();
    println!("start: {} bytes, {entries} entries:", held.group_bytes);
    println!("verified in {opened_ms} ms, read in {read_ms} ms");
    Ok(())
}

/// A journal that grows and is cut.
struct Appends {
    journal: LocalJournal,
    n: u64,
}

impl Appends {
    /// Appends a group of about this many bytes; microseconds until it is durable.
    #[expect(clippy::disallowed_methods, reason = "it measures")]
    fn append_us(&mut self, bytes: usize) -> Result<u128, Box<dyn Error>> {
        self.n += 1;
        // Nothing that a device could compress.
        let value: Vec<u8> = (0..bytes as u64)
            .map(|at| ((at + self.n).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect();
        let mutation = Mutation {
            space: 1,
            key: Bytes::copy_from_slice(&self.n.to_be_bytes()),
            value: Some(value.into()),
        };
        let entry = Entry {
            n: self.n,
            last: Stamp { seq: self.n, at_ms: 0 },
            under: self.n,
            dropped: Vec::new(),
            mutations: vec![mutation],
        };
        let group = [entry.encode()?];
        let began = Instant::now();
        self.journal.append(&group)?;
        let taken = began.elapsed().as_micros();
        // About two segments stay, as in a store that flushes.
        if self.journal.held().group_bytes > 128 * 1024 * 1024 {
            self.journal.cut(self.n, &[])?;
        }
        Ok(taken)
    }
}
