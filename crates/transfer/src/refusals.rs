//! The file of what was refused: a line of JSON each, with the line of the input, the reason and the
//! document. It is made when something is refused, so that a clean import leaves none.

use std::{
    fs::File,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::limits::KEPT_LINE_BYTES;

#[derive(Serialize)]
struct Refusal<'a> {
    line: u64,
    reason: &'a str,
    document: &'a str,
}

/// The file.
#[derive(Debug)]
pub(crate) struct Refusals {
    path: PathBuf,
    file: Option<File>,
    /// What is not written yet.
    pending: Vec<u8>,
    /// How long the file is with it.
    pub(crate) bytes: u64,
}

impl Refusals {
    /// Goes on behind what an earlier run has kept for good; with 0 bytes nothing is kept.
    pub(crate) fn open(path: &Path, bytes: u64) -> Result<Self, String> {
        let mut refusals = Self { path: path.to_owned(), file: None, pending: Vec::new(), bytes };
        if 0 < bytes || path.exists() {
            let failed = refusals.failed();
            refusals.file().and_then(|file| file.set_len(bytes)).map_err(failed)?;
        }
        Ok(refusals)
    }

    fn failed(&self) -> impl Fn(std::io::Error) -> String + use<> {
        let path = self.path.clone();
        move |error| format!("cannot write the refusals into {}: {error}", path.display())
    }

    fn file(&mut self) -> std::io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut options = File::options();
                options.append(true).create(true).mode(0o600).open(&self.path)?
            }
        };
        Ok(self.file.insert(file))
    }

    /// Adds one. Of a long document the beginning is kept.
    pub(crate) fn push(&mut self, line: u64, reason: &str, document: &[u8]) -> Result<(), String> {
        let kept = document.get(..KEPT_LINE_BYTES).unwrap_or(document);
        let text = String::from_utf8_lossy(kept);
        let start = self.pending.len();
        let refusal = Refusal { line, reason, document: &text };
        serde_json::to_writer(&mut self.pending, &refusal).map_err(|error| error.to_string())?;
        self.pending.push(b'\n');
        self.bytes += (self.pending.len() - start) as u64;
        Ok(())
    }

    /// Writes what was added; it is durable when this returns.
    pub(crate) fn flush(&mut self) -> Result<(), String> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let failed = self.failed();
        let pending = std::mem::take(&mut self.pending);
        let write = |file: &mut File| {
            file.write_all(&pending)?;
            file.sync_data()
        };
        self.file().and_then(write).map_err(failed)
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
        again.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with(&first) && text.contains("\"line\":5"), "{text}");
        Refusals::open(&path, 0).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }
}
