//! Validity checks of a backup's data, shared by restore and verify, so that both refuse the same
//! backups. `ending.rs` checks the records at the end, the store the pieces that it is built from.

use backup::{Header, Kind};
use bytes::Bytes;
use journal::EncodedEntry;
use server_base::failure::{Failure, failed};
use store::Stamp;

/// Checks that a backup's header has valid values.
pub(super) fn check_header(header: &Header) -> Result<(), Failure> {
    let Header { kind, after_entry, last_entry, began_ms, .. } = *header;
    let why = match kind {
        _ if began_ms < 0 => format!("its start time is {began_ms} ms, before 1970"),
        Kind::Full if after_entry != 0 => {
            "it is a full backup but refers to a previous one".to_owned()
        }
        Kind::Incremental if last_entry < after_entry => {
            format!("it claims to follow entry {after_entry} and to end with {last_entry}")
        }
        _ => return Ok(()),
    };
    Err(Failure::Failed(why))
}

/// Checks that the data end with the entry and the commit stamp that the header states.
pub(super) fn check_end(header: &Header, last: u64, stamp: Option<Stamp>) -> Result<(), Failure> {
    let want = header.last_entry;
    if last != want {
        let why = format!("its last entry is {last}, but its header says {want}");
        return Err(Failure::Failed(why));
    }
    let said = Stamp { seq: header.last_stamp.seq, at_ms: header.last_stamp.at_ms };
    match stamp.is_none_or(|stamp| stamp == said) {
        true => Ok(()),
        false => Err(Failure::Failed("its last commit does not match its header".to_owned())),
    }
}

/// Checks that journal entries are consecutive.
#[derive(Debug)]
pub(super) struct EntryOrder {
    last: u64,
}

impl EntryOrder {
    /// Creates the check for entries that must follow number `entry`.
    pub(super) fn behind(entry: u64) -> Self {
        Self { last: entry }
    }

    /// Returns the number of the last entry that was checked.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Removes and returns the first entry of these bytes; `None` if there are none left.
    pub(super) fn next_of(&mut self, bytes: &mut Bytes) -> Result<Option<EncodedEntry>, Failure> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let (entry, behind) = EncodedEntry::first_of(bytes).map_err(failed)?;
        *bytes = behind;
        let want = self.last.saturating_add(1);
        if entry.n() != want {
            let n = entry.n();
            return Err(Failure::Failed(format!("found entry {n} instead of {want}")));
        }
        self.last = want;
        Ok(Some(entry))
    }
}
