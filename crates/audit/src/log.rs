//! The file of the audit log. A line is written with a single write before the request is answered.
//! It is not synced, so a power failure may lose the last seconds.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{Api, Event, chain::Place};

/// Number of bytes at the end of a file that are read to find its last line, which is far shorter.
const TAIL_BYTES: u64 = 64 * 1024;

/// Maximum number of refusal lines per second, so that a client that is refused repeatedly cannot
/// fill the disk. Further refusals are only counted; the next line is preceded by a line with their
/// number.
const REFUSALS_A_SECOND: u32 = 100;

/// An audit log file that is open for appending.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    place: Place,
    /// Whether the last write failed. Logged once until a write succeeds.
    fails: bool,
    refusals: Refusals,
}

/// Numbers of refusals in one second of the monotonic clock: how many were written to the log, and
/// how many were left out.
#[derive(Debug, Default)]
struct Refusals {
    second: u64,
    written: u32,
    left_out: u64,
}

impl Refusals {
    /// Counts an event in this second of the monotonic clock. Returns whether to write the event,
    /// and, if refusals were left out in an earlier second, their number, which is to be written
    /// first.
    fn count(&mut self, second: u64, is_refusal: bool) -> (bool, Option<u64>) {
        let mut left_out = None;
        if self.second != second {
            left_out = Some(self.left_out).filter(|left_out| 0 < *left_out);
            *self = Self { second, ..Self::default() };
        }
        let writes = !is_refusal || self.written < REFUSALS_A_SECOND;
        match (is_refusal, writes) {
            (true, true) => self.written += 1,
            (true, false) => self.left_out += 1,
            (false, _) => {}
        }
        (writes, left_out)
    }
}

impl AuditLog {
    /// Opens a file, or creates one that only its owner may read, and continues the chain after its
    /// last line. An unterminated line is truncated.
    ///
    /// # Errors
    ///
    /// Returns the errors of the file, and `InvalidData` if its last line was changed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (file, place) = open_file(path)?;
        let place = place.unwrap_or_default();
        let inner = Mutex::new(Inner { file, place, fails: false, refusals: Refusals::default() });
        Ok(Self { path: path.to_owned(), inner })
    }

    /// Opens the file again after it was moved away; the chain continues in the new file.
    pub fn reopen(&self) -> io::Result<()> {
        let mut inner = self.inner.lock();
        let (file, place) = open_file(&self.path)?;
        inner.file = file;
        inner.place = place.unwrap_or_else(|| inner.place.clone());
        Ok(())
    }

    /// Writes a line; refusals are limited to [`REFUSALS_A_SECOND`] lines per second. A failure is
    /// reported in the server's log and otherwise ignored.
    pub fn note(&self, event: &Event<'_>) {
        self.write_counted(event, event.outcome != 0);
    }

    /// Writes a line about an action that requires no right. Any client can cause such lines, so
    /// they are limited like refusals.
    pub fn note_unprivileged(&self, event: &Event<'_>) {
        self.write_counted(event, true);
    }

    fn write_counted(&self, event: &Event<'_>, is_bounded: bool) {
        let second = clock::monotonic_time().as_secs();
        let mut inner = self.inner.lock();
        let (writes, left_out) = inner.refusals.count(second, is_bounded);
        if let Some(left_out) = left_out {
            let (api, object) = (Api::Server, left_out.to_string());
            let action = "refusalsLeftOut";
            let left_out = Event { api, action, peer: "", user: None, object: &object, outcome: 0 };
            self.write(&mut inner, &left_out);
        }
        if writes {
            self.write(&mut inner, event);
        }
    }

    fn write(&self, inner: &mut Inner, event: &Event<'_>) {
        let time = Timestamp::from_millisecond(clock::wall_ms()).unwrap_or(Timestamp::UNIX_EPOCH);
        let (line, place) = inner.place.next_line(event, &time.to_string());
        match inner.file.write_all(line.as_bytes()) {
            Ok(()) => {
                inner.place = place;
                inner.fails = false;
            }
            Err(error) => {
                // Removes a partly written line, so that the next one starts a new line.
                let _ = cut_torn(&mut inner.file);
                if !std::mem::replace(&mut inner.fails, true) {
                    let path = self.path.display().to_string();
                    tracing::error!(path, %error, "cannot write the audit log");
                }
            }
        }
    }
}

/// Opens the file. Returns it with the end of the chain after its last line; `None` in place of the
/// latter if the file has no lines.
fn open_file(path: &Path) -> io::Result<(File, Option<Place>)> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).mode(0o600).open(path)?;
    cut_torn(&mut file)?;
    let tail = read_tail(&mut file)?;
    let Some(last) = tail.lines().last() else { return Ok((file, None)) };
    let Some((place, _)) = Place::behind(last) else {
        let text = format!("the last line of {} was changed", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    };
    Ok((file, Some(place)))
}

/// Truncates an unterminated last line.
fn cut_torn(file: &mut File) -> io::Result<()> {
    let len = file.metadata()?.len();
    let tail = read_tail(file)?;
    let whole = tail.rfind('\n').map_or(0, |at| at + 1);
    let torn = u64::try_from(tail.len() - whole).unwrap_or(0);
    if 0 < torn {
        file.set_len(len.saturating_sub(torn))?;
    }
    Ok(())
}

/// Returns the last `TAIL_BYTES` of a file as text.
fn read_tail(file: &mut File) -> io::Result<String> {
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // The bytes may start within a character, in a line that is not the last.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::{fs, io::BufReader};

    use super::*;
    use crate::{Api, chain::check};

    fn note(log: &AuditLog, action: &str) {
        log.note(&Event { api: Api::Server, action, peer: "", user: None, object: "", outcome: 0 });
    }

    fn lines(path: &Path) -> u64 {
        check(BufReader::new(File::open(path).unwrap())).unwrap().unwrap().lines
    }

    #[test]
    fn a_log_goes_on_after_a_start_a_tear_and_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let log = AuditLog::open(&path).unwrap();
        (0..300).for_each(|_| note(&log, "one"));
        drop(log);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"action\":\"torn").unwrap();
        let log = AuditLog::open(&path).unwrap();
        note(&log, "two");
        assert_eq!(lines(&path), 301);
        let moved = folder.path().join("audit.log.1");
        fs::rename(&path, &moved).unwrap();
        log.reopen().unwrap();
        note(&log, "three");
        assert_eq!((lines(&moved), lines(&path)), (301, 1));
        let both = fs::read_to_string(&moved).unwrap() + &fs::read_to_string(&path).unwrap();
        assert_eq!(check(both.as_bytes()).unwrap().unwrap().lines, 302, "one chain");
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o077, 0);
    }

    #[test]
    fn refusals_beyond_a_bound_are_counted() {
        let mut refusals = Refusals::default();
        for at in 0..REFUSALS_A_SECOND + 7 {
            assert_eq!(refusals.count(5, true), (at < REFUSALS_A_SECOND, None));
        }
        // Successful actions are written regardless of refusals.
        assert_eq!(refusals.count(5, false), (true, None));
        assert_eq!(refusals.count(6, true), (true, Some(7)));
        assert_eq!(refusals.count(7, false), (true, None));
    }

    #[test]
    fn what_requires_no_right_is_bounded_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let log = AuditLog::open(&path).unwrap();
        let (api, action) = (Api::Mongo, "killSessions");
        let event = Event { api, action, peer: "", user: None, object: "", outcome: 0 };
        let before = clock::monotonic_time().as_secs();
        (0..10 * REFUSALS_A_SECOND).for_each(|_| log.note_unprivileged(&event));
        // If the loop takes several seconds, each second may have the maximum of lines, and one
        // more line with the number of those left out.
        let seconds = clock::monotonic_time().as_secs() - before + 1;
        assert!(lines(&path) <= seconds * u64::from(REFUSALS_A_SECOND + 1));
    }

    #[test]
    fn a_changed_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        note(&AuditLog::open(&path).unwrap(), "one");
        let text = fs::read_to_string(&path).unwrap().replace("one", "eno");
        fs::write(&path, text).unwrap();
        assert_eq!(AuditLog::open(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
