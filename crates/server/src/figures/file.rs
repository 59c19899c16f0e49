//! What is noted in the folder `figures` of the data directory: a line of JSON for each, with its checksum before
//! it. A line that is torn or damaged is left out, since nothing depends on it. Of two files one is added to
//! until it has as many lines as are kept; then it takes the place of the other, so that both are bounded.
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

/// Bytes of a file that are read at most: far more than what is kept ever has.
const MOST_BYTES: u64 = 16 << 20;

/// Two files of lines of one kind.
pub(super) struct LineFile {
    folder: PathBuf,
    /// Begins the names of both.
    kind: &'static str,
    /// Lines in the newer file; `None` until it is known.
    lines: Mutex<Option<usize>>,
}

impl LineFile {
    /// Files below a data directory.
    pub(super) fn new(directory: &Path, kind: &'static str) -> Self {
        Self { folder: directory.join("figures"), kind, lines: Mutex::new(None) }
    }

    fn newer(&self) -> PathBuf {
        self.folder.join(format!("{}newer", self.kind))
    }

    fn older(&self) -> PathBuf {
        self.folder.join(format!("{}older", self.kind))
    }

    /// The newest, so many at most, oldest first.
    pub(super) fn read<T: DeserializeOwned>(&self, most: usize) -> Vec<T> {
        let mut read = read_lines(&self.older());
        read.extend(read_lines(&self.newer()));
        let surplus = read.len().saturating_sub(most);
        read.drain(..surplus);
        read
    }

    /// Adds a line; begins another file after `most` of them.
    pub(super) fn append(&self, noted: &impl Serialize, most: usize) -> io::Result<()> {
        let mut lines = self.lines.lock();
        // Of this folder alone: where the data directory was removed, nothing brings it back.
        fs::create_dir(&self.folder).or_else(unless_there)?;
        let mut before = lines.unwrap_or_else(|| count_lines(&self.newer()));
        if most <= before {
            fs::rename(self.newer(), self.older())?;
            before = 0;
        }
        let mut options = File::options();
        let mut file =
            options.create(true).read(true).append(true).mode(0o600).open(self.newer())?;
        // What is left of a line that was torn, by a kill or a full disk, ends here.
        let torn = if ends_a_line(&file)? { "" } else { "\n" };
        let json = serde_json::to_string(noted)?;
        let line = format!("{torn}{:08x} {json}\n", crc32c::crc32c(json.as_bytes()));
        // Counted before it is known to be whole: what was written of it is a line too.
        *lines = Some(before + 1);
        file.write_all(line.as_bytes())
    }
}

/// No error where what is to be made is there.
fn unless_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

/// Whether a file is empty or ends with the end of a line.
fn ends_a_line(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == [b'\n'])
}

/// The bytes of a file, up to a bound; none of one that cannot be read.
fn read_bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut bytes));
    read.map_or_else(|_| Vec::new(), |_| bytes)
}

/// How many lines a file has, the damaged ones too: they take room.
fn count_lines(path: &Path) -> usize {
    read_bytes(path).iter().filter(|byte| **byte == b'\n').count()
}

/// What the lines of a file say.
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
