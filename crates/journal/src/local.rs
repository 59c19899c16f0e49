//! The journal in files of a local directory.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use store::{Error, Kind};

use crate::{
    contract::{AppendFailure, Journal, JournalExtent},
    disk::{Disk, Folder},
    entry::{EncodedEntry, Entry},
    errors::{from_io, invalid},
    group::{GroupHead, HEAD_BYTES},
    log::{GroupLocation, Log},
    options::JournalOptions,
    pool::{Pool, Preallocator},
    recovery::{self, RecoveredLog},
    repair::repair,
    segment_header::GROUPS_AT,
    writer::{Writer, group_bytes_max},
};

/// A journal in a folder that it locks.
///
/// A failed write or sync stops the journal: that group is `Unknown`, later groups are `Refused`,
/// and durable entries stay readable. Reopening the journal determines which groups are on disk. A
/// full disk does not stop it: a group that needs a new segment is `Refused` with `Full` until one
/// can be created.
#[derive(Debug)]
pub struct LocalJournal {
    writer: Mutex<Writer>,
    log: Arc<Mutex<Log>>,
    pool: Arc<Pool>,
    group_bytes_max: usize,
    /// When dropped, stops the thread that creates segments.
    _preallocator: Option<Preallocator>,
}

impl LocalJournal {
    /// Opens the journal in a folder, creating it if missing. Fails with `Refused` if another
    /// process has it open or its format version is unknown, and with `Corrupt`, naming file and
    /// byte, if entries that were durable cannot be read. A failed opening changes nothing.
    pub fn open(folder: &Path, options: &JournalOptions) -> Result<Self, Error> {
        let folder = Folder::open(folder)
            .map_err(|error| from_io("open the journal's directory", &error))?;
        Self::open_on(Arc::new(folder), options, true)
    }

    /// Opens the journal on a disk. Spare segments are created by a background thread if
    /// `in_background`, otherwise on demand.
    pub(crate) fn open_on(
        disk: Arc<dyn Disk>,
        options: &JournalOptions,
        in_background: bool,
    ) -> Result<Self, Error> {
        let mut recovered = recovery::scan_segments(&*disk)?;
        check_losses(&recovered, options)?;
        let kept_after = options.durable_elsewhere.then_some(options.known_durable);
        let spare = repair(&*disk, &mut recovered, kept_after)
            .map_err(|error| from_io("make the end of the journal durable", &error))?;
        let segment_bytes = options.whole_segment_bytes();
        let pool = Arc::new(Pool::new(
            disk,
            segment_bytes,
            options.spare_segments,
            Vec::new(),
            recovered.next_number,
        ));
        spare.into_iter().for_each(|segment| pool.release(segment));
        let log = Log { segments: recovered.live.into(), empty_after: options.empty_after };
        let generation = log.segments.back().map(|live| live.header.generation);
        let log = Arc::new(Mutex::new(log));
        let preallocator = if in_background {
            let started = Preallocator::start(&pool);
            Some(started.map_err(|error| from_io("start a thread", &error))?)
        } else {
            None
        };
        let largest = options.group_bytes.min(JournalOptions::SEGMENT_BYTES_MAX - GROUPS_AT);
        let group_bytes_max = group_bytes_max(segment_bytes.max(largest + GROUPS_AT));
        let writer = Writer {
            log: Arc::clone(&log),
            pool: Arc::clone(&pool),
            generation: generation.unwrap_or(0),
            floors: recovered.newest.map(|newest| newest.floors).unwrap_or_default(),
            group_bytes_max,
            unsynced: false,
            stopped: None,
        };
        Ok(Self {
            writer: Mutex::new(writer),
            log,
            pool,
            group_bytes_max,
            _preallocator: preallocator,
        })
    }

    /// Returns the error that stopped the journal, if any.
    pub fn stop_reason(&self) -> Option<Error> {
        self.writer.lock().stopped.clone()
    }

    /// Reads and checks a group's entries; returns `None` if the bytes are not that group.
    fn read_group(position: &GroupLocation) -> Result<Option<Vec<Entry>>, Error> {
        let len = usize::try_from(position.end - position.at).unwrap_or(0);
        let mut bytes = vec![0; len];
        let read = position.segment.file.read_at(&mut bytes, position.at);
        read.map_err(|error| from_io("read the journal", &error))?;
        let bytes = Bytes::from(bytes);
        let Some(head) = GroupHead::decode(&bytes, position.id) else { return Ok(None) };
        let end = HEAD_BYTES.saturating_add(usize::try_from(head.length).unwrap_or(usize::MAX));
        if len < end {
            return Ok(None);
        }
        let entries = bytes.slice(HEAD_BYTES..end);
        Ok(if head.covers(&entries) { head.entries(&entries) } else { None })
    }
}

impl Journal for LocalJournal {
    fn has_single_user(&self) -> bool {
        true
    }

    fn append(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.writer.lock().append(group)
    }

    fn append_unsynced(&self, group: &[EncodedEntry]) -> Result<u64, AppendFailure> {
        self.writer.lock().append_unsynced(group)
    }

    fn sync(&self) -> Result<(), Error> {
        self.writer.lock().sync()
    }

    fn read(&self, after: u64, limit_bytes: usize) -> Result<Vec<Entry>, Error> {
        let (mut page, mut bytes, mut next) = (Vec::new(), 0, after.saturating_add(1));
        while page.is_empty() || bytes < limit_bytes as u64 {
            let position = {
                let log = self.log.lock();
                if log.last() < next {
                    break;
                }
                let first = log.first();
                let cut =
                    || invalid(format!("entries before {first} were truncated from the journal"));
                log.group_of(next).ok_or_else(cut)?
            };
            let Some(entries) = Self::read_group(&position)? else {
                // The segment may have been truncated and reused in the meantime.
                if self.log.lock().first() <= next {
                    let (name, at) = (position.segment.name(), position.at);
                    let text = format!("{name} of the journal is damaged at byte {at}");
                    return Err(Error::new(Kind::Corrupt, text));
                }
                continue;
            };
            bytes += position.end - position.at;
            let count = page.len();
            page.extend(entries.into_iter().filter(|entry| next <= entry.n));
            if page.len() == count {
                let text = format!("the journal has no entry {next}");
                return Err(Error::new(Kind::Corrupt, text));
            }
            next = page.last().map_or(next, |entry: &Entry| entry.n + 1);
        }
        Ok(page)
    }

    fn truncate_before(&self, before: u64, floors: &[u8]) -> Result<(), Error> {
        self.writer.lock().truncate_before(before, floors)
    }

    fn end(&self) -> u64 {
        self.log.lock().last()
    }

    fn floors(&self) -> Vec<u8> {
        self.writer.lock().floors.clone()
    }

    fn extent(&self) -> JournalExtent {
        let (first, group_bytes, live_bytes) = {
            let log = self.log.lock();
            (log.first(), log.bytes_after(0), log.file_bytes())
        };
        JournalExtent { first, group_bytes, disk_bytes: live_bytes + self.pool.file_bytes() }
    }

    fn bytes_after(&self, after: u64) -> u64 {
        self.log.lock().bytes_after(after)
    }

    fn group_bytes_max(&self) -> usize {
        self.group_bytes_max
    }
}

/// Refuses a journal that has lost entries, unless an operator accepts the loss or the entries
/// exist in another journal.
fn check_losses(recovered: &RecoveredLog, options: &JournalOptions) -> Result<(), Error> {
    let last = recovered.live.last().map_or(options.empty_after, |live| live.end.n);
    let missing = || {
        let known = options.known_durable;
        let text = format!("the journal ends with entry {last}, but entry {known} was durable");
        (last < known).then_some(text)
    };
    let is_elsewhere =
        options.durable_elsewhere && !recovered.has_lost_start && options.known_durable <= last;
    match recovered.damage.clone().or_else(missing) {
        Some(damage) if !options.accept_loss && !is_elsewhere => {
            Err(Error::new(Kind::Corrupt, damage))
        }
        _ => Ok(()),
    }
}
