//! The refusals file: a JSON line for each refused document, with input line, reason and document.
//! The file is created with the first refusal, so a clean import leaves none. Documents with
//! existing ids are listed up to a limit; beyond it, a batch has one summary line for them, because
//! the file would otherwise contain all documents if a file is imported twice.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{files, texts::KEPT_LINE_BYTES};

/// Number of refused documents with existing ids that are listed individually.
pub(crate) const LISTED_EXISTING: u64 = 1000;

#[derive(Serialize)]
struct Refusal<'a> {
    line: u64,
    reason: &'a str,
    document: &'a str,
}

/// Summary of the documents of a batch that are not listed individually.
#[derive(Serialize)]
struct Summary {
    /// Line in the input at which the first of these documents starts.
    line: u64,
    /// Line in the input at which the last of these documents starts.
    to_line: u64,
    /// Number of documents that the line summarizes, all refused for `reason`.
    count: u64,
    reason: &'static str,
    document: &'static str,
}

#[derive(Debug)]
pub(crate) struct Refusals {
    path: PathBuf,
    file: Option<File>,
    /// Lines to be written by the next flush.
    pending: Vec<u8>,
    /// First line, last line and number of the documents that are not listed since the last flush.
    unlisted: Option<(u64, u64, u64)>,
    /// Length of the refusals file in bytes, including pending lines.
    pub(crate) bytes: u64,
}

impl Refusals {
    /// Opens the file of an earlier run, truncated to `bytes`. With 0 bytes, a file of an earlier
    /// import is removed.
    pub(crate) fn open(path: &Path, bytes: u64) -> Result<Self, String> {
        let mut refusals =
            Self { path: path.to_owned(), file: None, pending: Vec::new(), unlisted: None, bytes };
        let failed = refusals.failed();
        if 0 < bytes {
            let open = || -> io::Result<File> {
                let mut file = files::open_own(path, File::options().write(true))?;
                if file.metadata()?.len() < bytes {
                    return Err(io::Error::other("it is shorter than an earlier run left it"));
                }
                file.set_len(bytes)?;
                file.seek(SeekFrom::End(0))?;
                Ok(file)
            };
            refusals.file = Some(open().map_err(failed)?);
        } else {
            files::remove(path).map_err(failed)?;
        }
        Ok(refusals)
    }

    fn failed(&self) -> impl Fn(io::Error) -> String + use<> {
        let path = self.path.clone();
        move |error| format!("cannot write the refusals into {}: {error}", path.display())
    }

    /// Adds a refused document; a long one is truncated.
    pub(crate) fn push(&mut self, line: u64, reason: &str, document: &[u8]) -> Result<(), String> {
        let kept = document.get(..KEPT_LINE_BYTES).unwrap_or(document);
        let text = String::from_utf8_lossy(kept);
        self.append(&Refusal { line, reason, document: &text })
    }

    /// Counts a document that is not listed.
    pub(crate) fn count_unlisted(&mut self, line: u64) {
        let (first, _, count) = self.unlisted.unwrap_or((line, line, 0));
        self.unlisted = Some((first, line, count + 1));
    }

    fn append(&mut self, record: &impl Serialize) -> Result<(), String> {
        let start = self.pending.len();
        serde_json::to_writer(&mut self.pending, record).map_err(|error| error.to_string())?;
        self.pending.push(b'\n');
        self.bytes += (self.pending.len() - start) as u64;
        Ok(())
    }

    /// Writes the pending lines and makes them durable.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        if let Some((line, to_line, count)) = self.unlisted.take() {
            let reason = "the ids of these documents already exist; they are not listed \
                          individually";
            self.append(&Summary { line, to_line, count, reason, document: "" })?;
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        let failed = self.failed();
        let pending = std::mem::take(&mut self.pending);
        let mut write = || -> io::Result<()> {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(files::create_new(&self.path)?),
            };
            file.write_all(&pending)?;
            file.sync_data()
        };
        write().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_kept_for_good_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("refused");
        let mut refusals = Refusals::open(&path, 0).unwrap();
        refusals.flush().unwrap();
        assert!(!path.exists());
        refusals.push(3, "no", b"{\xff").unwrap();
        refusals.flush().unwrap();
        let first = std::fs::read_to_string(&path).unwrap();
        assert_eq!(first, "{\"line\":3,\"reason\":\"no\",\"document\":\"{\u{fffd}\"}\n");
        assert_eq!(refusals.bytes, first.len() as u64);
        let kept = refusals.bytes;
        refusals.push(4, "no", &[b'x'; 100_000]).unwrap();
        refusals.flush().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < 70_000);
        let mut again = Refusals::open(&path, kept).unwrap();
        again.push(5, "no", b"").unwrap();
        (6..=9).for_each(|line| again.count_unlisted(line));
        again.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!((text.lines().count(), text.len() as u64), (3, again.bytes));
        assert!(text.starts_with(&first) && text.contains("\"line\":5"), "{text}");
        assert!(text.contains("\"line\":6,\"to_line\":9,\"count\":4"), "{text}");
        let longer = Refusals::open(&path, again.bytes + 1).unwrap_err();
        assert!(longer.contains("shorter"), "{longer}");
        Refusals::open(&path, 0).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn the_file_of_another_is_not_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("refused"), folder.path().join("victim"));
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        let refused = Refusals::open(&path, 5).unwrap_err();
        assert!(refused.contains("symbolic link"), "{refused}");
        assert!(Refusals::open(&path, 0).unwrap_err().contains("symbolic link"));
        std::fs::remove_file(&path).unwrap();
        let mut refusals = Refusals::open(&path, 0).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        refusals.push(1, "no", b"").unwrap();
        assert!(refusals.flush().unwrap_err().contains("cannot write the refusals"));
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    }
}
