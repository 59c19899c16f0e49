//! Reads backups into a store: the pieces of a full one, the entries of those that follow it. Each is read
//! and unpacked on a thread of its own, and believed only once its end was read.

use std::{
    io::Read,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
};

use backup::{Header, Part, Reader};
use bytes::Bytes;
use clock::Checkpoint;
use journal::EncodedEntry;
use store_tree::{TreeOptions, TreeStore};

use super::run::Progress;
use crate::failure::{Failure, failed};

/// Parts that were unpacked and wait to be applied.
const WAITING: usize = 4;

/// What stands at the end of a backup.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    pub(super) clock: Option<Checkpoint>,
    pub(super) switches: Option<Bytes>,
}

impl Ending {
    /// Takes what is no piece and no entry.
    pub(super) fn note(&mut self, part: Part) -> Result<(), Failure> {
        match part {
            Part::Clock(bytes) => {
                let clock = Checkpoint::decode_whole(&bytes);
                let damaged = || Failure::Failed("the clock of the backup is damaged".to_owned());
                self.clock = Some(clock.ok_or_else(damaged)?);
            }
            Part::Switches(bytes) => self.switches = Some(bytes),
            Part::Piece(_) | Part::Entries(_) => {}
        }
        Ok(())
    }
}

/// Makes the store of a full backup.
pub(super) fn apply_pieces(
    options: &TreeOptions,
    reader: Reader<impl Read + Send>,
    progress: &mut Progress<'_>,
) -> Result<Ending, Failure> {
    let mut ending = Ending::default();
    let mut failure = None;
    let made = with_parts(reader, |parts| {
        let mut pieces = std::iter::from_fn(|| {
            loop {
                let part = match parts.recv() {
                    Ok(Ok(part)) => part,
                    Ok(Err(error)) => {
                        failure = Some(error);
                        return Some(Err(ended_early()));
                    }
                    Err(_) => return None,
                };
                if let Part::Piece(piece) = part {
                    match progress.note(piece.len()) {
                        Ok(()) => return Some(Ok(piece)),
                        Err(error) => failure = Some(error),
                    }
                    return Some(Err(ended_early()));
                }
                if let Err(error) = ending.note(part) {
                    failure = Some(error);
                    return Some(Err(ended_early()));
                }
            }
        });
        TreeStore::make_of_pieces(options, &mut pieces)
    });
    match (failure, made) {
        (Some(failure), _) => Err(failure),
        (None, made) => made.map(|()| ending).map_err(failed),
    }
}

/// What the store is told, which tells nobody.
fn ended_early() -> store::Error {
    store::Error::new(store::Kind::Invalid, "the backup ends early")
}

/// Applies the entries of a backup to a store that stands where it goes on, up to this instant.
pub(super) fn apply_entries(
    tree: &TreeStore,
    reader: Reader<impl Read + Send>,
    to: Option<i64>,
    progress: &mut Progress<'_>,
) -> Result<Ending, Failure> {
    let mut known = tree.last_entry().map_err(failed)?;
    let mut ending = Ending::default();
    let mut is_past = false;
    with_parts(reader, |parts| {
        for part in parts {
            let mut rest = match part? {
                Part::Entries(entries) => entries,
                other => {
                    ending.note(other)?;
                    continue;
                }
            };
            progress.note(rest.len())?;
            let mut wanted = Vec::new();
            while !rest.is_empty() && !is_past {
                let (entry, behind) = EncodedEntry::first_of(&rest).map_err(failed)?;
                rest = behind;
                is_past = entry.last().is_none_or(|last| to.is_some_and(|to| to < last.at_ms));
                if !is_past && known < entry.n() {
                    known = entry.n();
                    wanted.push(entry);
                }
            }
            if !wanted.is_empty() {
                tree.follow(wanted).map_err(failed)?;
            }
        }
        Ok(ending)
    })
}

/// Reads all parts on another thread.
pub(super) fn with_parts<T>(
    reader: Reader<impl Read + Send>,
    work: impl FnOnce(Receiver<Result<Part, Failure>>) -> T,
) -> T {
    std::thread::scope(|scope| {
        let (sender, parts) = sync_channel(WAITING);
        scope.spawn(move || read_parts(reader, &sender));
        work(parts)
    })
}

fn read_parts(mut reader: Reader<impl Read>, parts: &SyncSender<Result<Part, Failure>>) {
    while let Some(part) = reader.next_part().map_err(failed).transpose() {
        let is_last = part.is_err();
        // Whoever reads them may have ended.
        if parts.send(part).is_err() || is_last {
            return;
        }
    }
}

/// Opens a stream, and says which one it is where it cannot be read.
pub(super) fn open_reader<R: Read>(name: &str, input: R) -> Result<Reader<R>, Failure> {
    Reader::open(input).map_err(|error| Failure::Failed(format!("{name}: {error}")))
}

/// Refuses a backup that cannot stand here in a chain.
pub(super) fn check_place(
    name: &str,
    before: Option<&Header>,
    header: &Header,
) -> Result<(), Failure> {
    let refused = match before {
        None if header.kind == backup::Kind::Full => Ok(()),
        None => {
            Err("it is an incremental backup: give its directory, so that the backups before it \
                     are found"
                .to_owned())
        }
        Some(before) => backup::check_next(before, header),
    };
    refused.map_err(|why| Failure::Failed(format!("{name} cannot be used: {why}")))
}
