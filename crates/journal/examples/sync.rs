//! Measures the latency of an append with its sync by group size, and the startup time: `cargo
//! run --release -p journal --example sync -- DIR`. Creates a folder in DIR and removes it.
#![expect(clippy::print_stdout, reason = "the example prints its measurements")]

use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};

use bytes::Bytes;
use journal::{Entry, Journal, JournalOptions, LocalJournal, Mutation};
use store::Stamp;

/// Size of the groups in bytes, and number of groups to measure.
const GROUPS: [(usize, u64); 3] = [(200, 4_000), (16 * 1024, 4_000), (1024 * 1024, 600)];
/// Bytes appended before the measurement, so that every segment was used once.
const WARM_BYTES: usize = 256 * 1024 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let parent = std::env::args_os().nth(1).ok_or("which folder? sync DIR")?;
    let folder = PathBuf::from(parent).join("journal-sync");
    let journal = LocalJournal::open(&folder, &JournalOptions::default())?;
    let mut appends = Appends { journal, n: 0 };
    // Warm up: first use of a segment is slower than reuse.
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

/// Reopens the journal and reads all of it, as a store does.
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn start(folder: &Path) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let journal = LocalJournal::open(folder, &JournalOptions::default())?;
    let opened_ms = began.elapsed().as_millis();
    let held = journal.extent();
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

/// A journal that is appended to and truncated.
struct Appends {
    journal: LocalJournal,
    n: u64,
}

impl Appends {
    /// Appends a group of about this many bytes; returns the microseconds until it is durable.
    #[expect(clippy::disallowed_methods, reason = "it measures")]
    fn append_us(&mut self, bytes: usize) -> Result<u128, Box<dyn Error>> {
        self.n += 1;
        // Incompressible, in case the device compresses.
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
        // Keep about two segments, as a store that flushes does.
        if self.journal.extent().group_bytes > 128 * 1024 * 1024 {
            self.journal.truncate_before(self.n, &[])?;
        }
        Ok(taken)
    }
}
