//! Storage of records in the folder `figures` of the data directory: one line of JSON each,
//! preceded by its checksum. Torn or damaged lines are skipped, since nothing depends on them.
//! Records are appended to the newer of two files. When this file has the maximum number of lines,
//! it replaces the older file, so that the size of both is bounded.
//!
//! ```text
//! 8f3a0c11 {"at_ms":1798761600000,"span_ms":60000,…}
//! ```

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};

/// Maximum bytes read of a file, far above its regular size.
const MOST_BYTES: u64 = 16 << 20;

/// Two files with records of one kind.
pub(super) struct LineFile {
    folder: PathBuf,
    /// Prefix of both file names.
    kind: &'static str,
    /// Number of lines in the newer file; `None` before they were counted.
    lines: Mutex<Option<usize>>,
}

impl LineFile {
    /// Creates the files' handle for a data directory.
    pub(super) fn new(directory: &Path, kind: &'static str) -> Self {
        Self { folder: directory.join("figures"), kind, lines: Mutex::new(None) }
    }

    fn newer(&self) -> PathBuf {
        self.folder.join(format!("{}newer", self.kind))
    }

    fn older(&self) -> PathBuf {
        self.folder.join(format!("{}older", self.kind))
    }

    /// Returns the newest `most` records, oldest first.
    pub(super) fn read<T: DeserializeOwned>(&self, most: usize) -> Vec<T> {
        let mut read = read_lines(&self.older());
        read.extend(read_lines(&self.newer()));
        let surplus = read.len().saturating_sub(most);
        read.drain(..surplus);
        read
    }

    /// Appends a record; after `most` records the files change their roles.
    pub(super) fn append(&self, noted: &impl Serialize, most: usize) -> io::Result<()> {
        let mut lines = self.lines.lock();
        // Creates only this folder: a deleted data directory must not be recreated.
        fs::create_dir(&self.folder).or_else(unless_there)?;
        let mut before = lines.unwrap_or_else(|| count_lines(&self.newer()));
        if most <= before {
            fs::rename(self.newer(), self.older())?;
            before = 0;
        }
        let mut options = File::options();
        let mut file =
            options.create(true).read(true).append(true).mode(0o600).open(self.newer())?;
        // Terminate a line torn by a kill or a full disk.
        let torn = if ends_a_line(&file)? { "" } else { "\n" };
        let json = serde_json::to_string(noted)?;
        let line = format!("{torn}{:08x} {json}\n", crc32c::crc32c(json.as_bytes()));
        // Counted before the write: a partly written line takes space too.
        *lines = Some(before + 1);
        file.write_all(line.as_bytes())
    }
}

/// Ignores the error that a folder exists already.
fn unless_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

/// Returns whether a file is empty or ends with a line break.
fn ends_a_line(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == [b'\n'])
}

/// Reads a file up to a limit; empty if it is unreadable.
fn read_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    read.map_or_else(|_| Vec::new(), |_| bytes)
}

/// Counts the lines of a file, including damaged ones, since they count towards its size.
fn count_lines(path: &Path) -> usize {
    read_bytes(path).iter().filter(|byte| **byte == b'\n').count()
}

/// Decodes the valid lines of a file.
fn read_lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    read_bytes(path).split(|byte| *byte == b'\n').filter_map(read_line).collect()
}

fn read_line<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let (checksum, json) = line.split_at_checked(8)?;
    let json = json.strip_prefix(b" ")?;
    let checksum = u32::from_str_radix(str::from_utf8(checksum).ok()?, 16).ok()?;
    (crc32c::crc32c(json) == checksum).then(|| serde_json::from_slice(json).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{super::sample::Sample, *};

    fn sample(at_ms: i64) -> Sample {
        Sample { at_ms, ..Sample::default() }
    }

    fn at(samples: &[Sample]) -> Vec<i64> {
        samples.iter().map(|it| it.at_ms).collect()
    }

    #[test]
    fn two_files_hold_what_is_kept_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = LineFile::new(folder.path(), "");
        for now in 0..20 {
            if now % 3 == 0 {
                file = LineFile::new(folder.path(), "");
            }
            file.append(&sample(now), 4).unwrap();
            let oldest = (now - 3).max(0);
            assert_eq!(at(&file.read(4)), (oldest..=now).collect::<Vec<_>>());
            assert!(file.read::<Sample>(100).len() <= 8);
        }
    }

    #[test]
    fn a_damaged_line_is_left_out_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = LineFile::new(folder.path(), "");
        (0..3).for_each(|now| file.append(&sample(now), 10).unwrap());
        let whole = fs::read(file.newer()).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            fs::write(file.newer(), &bytes).unwrap();
            for kept in file.read(10) {
                assert!([sample(0), sample(1), sample(2)].contains(&kept), "byte {at}");
            }
        }
        for cut in 0..whole.len() {
            fs::write(file.newer(), &whole[..cut]).unwrap();
            let after = LineFile::new(folder.path(), "");
            after.append(&sample(9), 10).unwrap();
            let read = at(&after.read(10));
            assert_eq!(read.last(), Some(&9), "cut at {cut}");
            assert!(read.len() <= 4);
        }
    }

    #[test]
    fn a_data_directory_that_was_removed_stays_removed() {
        let parent = tempfile::tempdir().unwrap();
        let removed = parent.path().join("data");
        fs::create_dir(&removed).unwrap();
        let file = LineFile::new(&removed, "");
        file.append(&sample(1), 10).unwrap();
        fs::remove_dir_all(&removed).unwrap();
        assert!(file.append(&sample(2), 10).is_err());
        assert!(!removed.exists());
    }

    #[test]
    fn a_line_that_a_full_disk_cut_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = LineFile::new(folder.path(), "");
        file.append(&sample(1), 10).unwrap();
        let mut whole = File::options().append(true).open(file.newer()).unwrap();
        whole.write_all(b"8f3a0c11 {\"at_ms\":").unwrap();
        file.append(&sample(2), 10).unwrap();
        assert_eq!(at(&file.read(10)), [1, 2]);
    }
}
