//! Reads a backup to its end without restoring it: every frame, every entry, the hash.

use std::io::Read;

use backup::{Header, Part};
use bytes::Bytes;
use clock::Checkpoint;
use journal::{EncodedEntry, Entry};

use super::apply::{Ending, open_reader, with_parts};
use crate::failure::{Failure, failed};

/// A backup that is whole.
#[derive(Clone, Debug)]
pub struct BackupChecked {
    /// What it says of itself.
    pub header: Header,
    /// The instant of its clock at its end, milliseconds since 1970.
    pub clock_ms: i64,
    /// Rows and changes in it.
    pub rows: u64,
    /// Bytes of them, before they were compressed.
    pub bytes: u64,
}

/// The instant that the clock of a backup says, milliseconds since 1970.
pub fn clock_of_backup(bytes: &[u8]) -> Option<i64> {
    Some(Checkpoint::decode_whole(bytes)?.ms)
}

/// Reads a backup; an error says what is wrong with it. `tell` hears how many bytes were unpacked.
pub fn verify_backup(
    name: &str,
    input: Box<dyn Read + Send>,
    goes_on: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(u64),
) -> Result<BackupChecked, Failure> {
    let reader = open_reader(name, input)?;
    let header = reader.header().clone();
    let (mut rows, mut bytes) = (0, 0);
    let (mut ending, mut last) = (Ending::default(), header.after_entry);
    let read = with_parts(reader, |parts| -> Result<(), Failure> {
        for part in parts {
            match part? {
                Part::Piece(piece) => {
                    bytes += piece.len() as u64;
                    rows += Entry::decode(&piece).map_err(failed)?.mutations.len() as u64;
                }
                Part::Entries(entries) => {
                    bytes += entries.len() as u64;
                    rows += check_entries(entries, &mut last)?;
                }
                other => ending.note(other)?,
            }
            tell(bytes);
            if !goes_on() {
                return Err(Failure::Failed("interrupted".to_owned()));
            }
        }
        Ok(())
    });
    let wrong = |why: String| Failure::Failed(format!("{name}: {why}"));
    read.map_err(|failure| wrong(failure.to_string()))?;
    if header.kind == backup::Kind::Incremental && last != header.last_entry {
        let want = header.last_entry;
        return Err(wrong(format!("it ends with entry {last}, and says that {want} is the last")));
    }
    let clock = ending.clock.ok_or_else(|| wrong("it has no clock".to_owned()))?;
    Ok(BackupChecked { header, clock_ms: clock.ms, rows, bytes })
}

/// Decodes entries, which have to follow each other; returns how many changes they have.
fn check_entries(mut rest: Bytes, last: &mut u64) -> Result<u64, Failure> {
    let mut changes = 0;
    while !rest.is_empty() {
        let (entry, behind) = EncodedEntry::first_of(&rest).map_err(failed)?;
        rest = behind;
        if entry.n() != *last + 1 {
            let (want, n) = (*last + 1, entry.n());
            return Err(Failure::Failed(format!("entry {n} stands where {want} has to")));
        }
        *last = entry.n();
        changes += Entry::decode(entry.bytes()).map_err(failed)?.mutations.len() as u64;
    }
    Ok(changes)
}
