//! Starts writing tables to disk while they grow. The tree syncs a complete table; writing all of
//! it at once would keep the disk busy for tens of milliseconds and delay every sync of the
//! journal. Nothing is made durable here.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};

/// Interval at which the sizes of tables that are being written are checked.
const PAUSE: Duration = Duration::from_millis(5);
/// Minimum number of new bytes of a table for which write-back is started.
const WORTH_BYTES: u64 = 1024 * 1024;
/// Number of the newest tables of a tree that are checked. Only one of a flush and one of a
/// compaction can be growing; the others were finished since the last check.
const NEWEST: u64 = 8;

/// Tracks which trees are writing tables.
#[derive(Default)]
pub(crate) struct Writeback {
    /// Locked only briefly, never during writes.
    mailbox: Mutex<WritebackMailbox>,
    wake: Condvar,
}

/// State that the writing threads share with the writeback thread.
#[derive(Default)]
struct WritebackMailbox {
    /// Directories, and the number of running flushes and compactions in each.
    growing: HashMap<PathBuf, usize>,
    /// Whether the thread must stop.
    closed: bool,
}

/// A running flush or compaction.
pub(crate) struct MakingTables<'a> {
    of: &'a Writeback,
    folder: PathBuf,
}

impl Drop for MakingTables<'_> {
    fn drop(&mut self) {
        let mut news = self.of.mailbox.lock();
        if let Some(count) = news.growing.get_mut(&self.folder) {
            *count -= 1;
            if *count == 0 {
                news.growing.remove(&self.folder);
            }
        }
    }
}

impl Writeback {
    /// Marks the tree as one whose tables are being written, until the returned value is dropped.
    pub(crate) fn record_tables(&self, tree: &Path) -> MakingTables<'_> {
        let folder = tree.join("tables");
        // Counted, because a flush may run concurrently with a compaction.
        *self.mailbox.lock().growing.entry(folder.clone()).or_default() += 1;
        self.wake.notify_one();
        MakingTables { of: self, folder }
    }

    pub(crate) fn close(&self) {
        self.mailbox.lock().closed = true;
        self.wake.notify_one();
    }

    /// Waits until tables are being written; `None` if the thread must stop.
    fn wait_for_folders(&self) -> Option<HashSet<PathBuf>> {
        let mut news = self.mailbox.lock();
        loop {
            if news.closed {
                return None;
            }
            let folders: HashSet<_> = news.growing.keys().cloned().collect();
            if !folders.is_empty() {
                return Some(folders);
            }
            self.wake.wait(&mut news);
        }
    }

    /// Waits before the next check, unless the thread must stop.
    fn pause_briefly(&self) {
        let open = |news: &mut WritebackMailbox| !news.closed;
        self.wake.wait_while_for(&mut self.mailbox.lock(), open, PAUSE);
    }
}

/// Writes back tables while they grow; returns when the store is closed.
pub(crate) fn write_until_closed(writeback: &Writeback) {
    let mut seen: HashMap<PathBuf, StartedLengths> = HashMap::new();
    while let Some(folders) = writeback.wait_for_folders() {
        seen.retain(|folder, _| folders.contains(folder));
        for folder in folders {
            match seen.get_mut(&folder) {
                Some(lengths) => {
                    lengths.grown_ranges(&folder).iter().for_each(GrownRange::start_writing)
                }
                // Data from before the flush or compaction is ignored.
                None => drop(seen.insert(folder.clone(), StartedLengths::of_folder(&folder))),
            }
        }
        writeback.pause_briefly();
    }
}

/// For the newest tables of a directory, by table number: the length up to which writing to disk
/// was started.
#[derive(Debug, Default)]
struct StartedLengths(HashMap<u64, u64>);

/// A byte range that a table has grown by.
#[derive(Debug, PartialEq, Eq)]
struct GrownRange {
    path: PathBuf,
    from: u64,
    bytes: u64,
}

impl StartedLengths {
    /// Treats the current contents of the tables as already being written back.
    fn of_folder(folder: &Path) -> Self {
        Self(newest_tables(folder).into_iter().collect())
    }

    /// Returns the byte ranges that grew by at least `WORTH_BYTES`, and marks them as started.
    fn grown_ranges(&mut self, folder: &Path) -> Vec<GrownRange> {
        let found = newest_tables(folder);
        self.0.retain(|number, _| found.iter().any(|(there, _)| there == number));
        let mut grown = Vec::new();
        for (number, length) in found {
            let started = self.0.entry(number).or_default();
            let bytes = length.saturating_sub(*started);
            if WORTH_BYTES <= bytes {
                grown.push(GrownRange {
                    path: folder.join(number.to_string()),
                    from: *started,
                    bytes,
                });
                *started = length;
            }
        }
        grown
    }
}

/// Returns numbers and lengths of the newest tables; unreadable ones are skipped.
fn newest_tables(folder: &Path) -> Vec<(u64, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut numbers: Vec<u64> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // Numbers increase, so tables in progress are among the last few.
    let least = numbers.iter().max().map_or(0, |newest| newest.saturating_sub(NEWEST));
    numbers.retain(|number| least < *number || least == 0);
    let length =
        |number: u64| Some((number, folder.join(number.to_string()).metadata().ok()?.len()));
    numbers.into_iter().filter_map(length).collect()
}

impl GrownRange {
    /// Makes the kernel start to write the range. This is only advice; if ignored, the sync takes
    /// longer.
    ///
    /// Errors are ignored, since only the duration of a later sync depends on it.
    fn start_writing(&self) {
        let Ok(file) = File::open(&self.path) else { return };
        #[cfg(target_os = "linux")]
        {
            // Linux starts writing dirty pages and drops clean ones; these are dirty.
            let (length, advice) =
                (std::num::NonZeroU64::new(self.bytes), rustix::fs::Advice::DontNeed);
            let _ = rustix::fs::fadvise(&file, self.from, length, advice);
        }
        #[cfg(not(target_os = "linux"))]
        drop(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, number: u64, bytes: usize) {
        std::fs::write(folder.join(number.to_string()), vec![0; bytes]).unwrap();
    }

    #[test]
    fn what_grew_is_started_once() {
        const MIB: usize = 1024 * 1024;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, 7, 3 * MIB);
        std::fs::write(folder.join("other"), "").unwrap();
        let mut lengths = StartedLengths::of_folder(folder);
        assert_eq!(lengths.grown_ranges(folder), []);
        write(folder, 8, MIB - 1);
        assert_eq!(lengths.grown_ranges(folder), [], "too little");
        write(folder, 8, MIB);
        let grown = |from: usize, bytes: usize| {
            let path = folder.join("8");
            [GrownRange { path, from: from as u64, bytes: bytes as u64 }]
        };
        assert_eq!(lengths.grown_ranges(folder), grown(0, MIB));
        assert_eq!(lengths.grown_ranges(folder), []);
        write(folder, 8, 3 * MIB);
        let rest = lengths.grown_ranges(folder);
        assert_eq!(rest, grown(MIB, 2 * MIB));
        rest[0].start_writing();
        std::fs::remove_file(folder.join("8")).unwrap();
        assert_eq!(lengths.grown_ranges(folder), []);
        rest[0].start_writing();
    }

    #[test]
    fn only_the_newest_tables_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        (0..20).for_each(|number| write(folder.path(), number, 1));
        let mut numbers: Vec<u64> =
            newest_tables(folder.path()).into_iter().map(|(number, _)| number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, Vec::from_iter(12..20));
        assert_eq!(newest_tables(&folder.path().join("none")), []);
    }

    #[test]
    fn it_waits_for_compactions_and_ends_when_it_is_closed() {
        let writeback = Writeback::default();
        let of = PathBuf::from("tables");
        writeback.mailbox.lock().growing.insert(of.clone(), 2);
        assert_eq!(writeback.wait_for_folders(), Some(HashSet::from([of.clone()])));
        drop(MakingTables { of: &writeback, folder: of.clone() });
        assert_eq!(writeback.wait_for_folders(), Some(HashSet::from([of.clone()])));
        drop(MakingTables { of: &writeback, folder: of });
        assert!(writeback.mailbox.lock().growing.is_empty());
        writeback.close();
        assert_eq!(writeback.wait_for_folders(), None);
    }
}
