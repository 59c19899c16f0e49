//! Detects whether a file is still the file that an earlier run has read or written.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Number of bytes that are hashed at the start of a file, and as many before an offset. Hashing
/// everything up to the offset would take as long as importing it.
const HASHED: u64 = 64 << 10;

/// Identifies the content of a file up to an offset, by hashes of its first and last bytes.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContentFingerprint {
    /// SHA-256 of the first bytes of the file.
    first: String,
    /// SHA-256 of the bytes before the offset.
    last: String,
}

impl ContentFingerprint {
    /// Hashes a file up to `offset`, or up to its end if it is shorter.
    pub(crate) fn up_to(file: &File, offset: u64) -> io::Result<Self> {
        let most = offset.min(HASHED);
        let first = hash(file, 0, most)?;
        let last = if offset <= HASHED { first.clone() } else { hash(file, offset - most, most)? };
        Ok(Self { first, last })
    }

    /// Describes how the content differs from the one with the fingerprint `now`; `None` if equal.
    pub(crate) fn difference(&self, now: &Self) -> Option<&'static str> {
        if self.first != now.first {
            return Some("its first bytes have changed");
        }
        (self.last != now.last)
            .then_some("the bytes before the position where the earlier run stopped have changed")
    }
}

fn hash(file: &File, from: u64, length: u64) -> io::Result<String> {
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, from + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Size and modification time of a file.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileVersion {
    size: u64,
    /// Modification time in seconds and nanoseconds.
    modified: (i64, i64),
}

impl FileVersion {
    /// Reads size and modification time.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let data = file.metadata()?;
        Ok(Self { size: data.len(), modified: (data.mtime(), data.mtime_nsec()) })
    }

    /// Describes how the version differs from the version `now`; `None` if it is the same.
    pub(crate) fn difference(&self, now: &Self) -> Option<String> {
        if self.size != now.size {
            return Some(format!("it had {} bytes and has {}", self.size, now.size));
        }
        (self.modified != now.modified).then(|| {
            let of = |it: &Self| match jiff::Timestamp::from_second(it.modified.0) {
                Ok(at) => at.to_string(),
                Err(_) => format!("{} s", it.modified.0),
            };
            format!("it was modified at {} and then at {}", of(self), of(now))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_differs_by_its_ends_and_not_by_what_follows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let of = |bytes: &[u8], offset: u64| {
            std::fs::write(&path, bytes).unwrap();
            ContentFingerprint::up_to(&File::open(&path).unwrap(), offset).unwrap()
        };
        let size = usize::try_from(HASHED * 3).unwrap();
        let mut bytes = vec![b'x'; size];
        let offset = HASHED * 2;
        let before = of(&bytes, offset);
        for (at, differs) in [(0, true), (131_071, true), (131_072, false), (size - 1, false)] {
            bytes[at] = b'y';
            assert_eq!(before.difference(&of(&bytes, offset)).is_some(), differs, "{at}");
            bytes[at] = b'x';
        }
        assert!(before.difference(&of(b"x", offset)).is_some());
        assert_eq!(of(b"", 0), of(b"abc", 0));
        assert!(of(b"abc", 2).difference(&of(b"abd", 2)).is_none());
        assert!(of(b"abc", 2).difference(&of(b"acc", 2)).is_some());
    }

    #[test]
    fn versions_differ_by_size_and_time() {
        let version = FileVersion { size: 5, modified: (1, 2) };
        assert_eq!(version.difference(&version), None);
        let longer = version.difference(&FileVersion { size: 6, ..version }).unwrap();
        assert!(longer.contains("had 5 bytes and has 6"), "{longer}");
        let later = version.difference(&FileVersion { modified: (1, 3), ..version }).unwrap();
        assert!(later.contains("modified at 1970-01-01T00:00:01Z"), "{later}");
    }
}
