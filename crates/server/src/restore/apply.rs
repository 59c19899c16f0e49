//! Reads backups into a store: the pieces of the store's image in a full backup, or the journal
//! entries of an incremental one. The data count as valid only when the backup's end was read.

use std::io::Read;

use backup::{Header, Part, Reader};
use server_base::failure::{Failure, failed};
use store_tree::{TreeOptions, TreeStore};

use super::{
    ending::Ending,
    parts::with_parts,
    run::Progress,
    whole::{EntryOrder, check_end, check_header},
};

/// Creates the store from a full backup.
pub(super) fn apply_pieces(
    options: &TreeOptions,
    reader: Reader<impl Read + Send>,
    progress: &mut Progress<'_>,
) -> Result<Ending, Failure> {
    check_header(reader.header())?;
    let header = reader.header().clone();
    let mut ending = Ending::default();
    let mut failure = None;
    let made = with_parts(reader, |mut parts| {
        let mut pieces = std::iter::from_fn(|| {
            loop {
                let part = match parts.next()? {
                    Ok(part) => part,
                    Err(error) => {
                        failure = Some(error);
                        return Some(Err(ended_early()));
                    }
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
        TreeStore::create_from_pieces(options, &mut pieces)
    });
    match (failure, made) {
        (Some(failure), _) => Err(failure),
        (None, made) => {
            let (last, stamp) = made.map_err(failed)?;
            check_end(&header, last, Some(stamp))?;
            ending.check(&header)?;
            Ok(ending)
        }
    }
}

/// Returns the error that makes the store stop reading pieces when the backup has no more. Its text
/// is never shown: the caller reports why the backup ended.
fn ended_early() -> store::Error {
    store::Error::new(store::Kind::Invalid, "the backup ends early")
}

/// Applies the entries of an incremental backup, up to the instant `to`. The store must contain
/// everything up to the entry at which the backup starts.
pub(super) fn apply_entries(
    tree: &TreeStore,
    reader: Reader<impl Read + Send>,
    to: Option<i64>,
    progress: &mut Progress<'_>,
) -> Result<Ending, Failure> {
    check_header(reader.header())?;
    let header = reader.header().clone();
    let mut known = tree.last_entry().map_err(failed)?;
    let (mut ending, mut order) = (Ending::default(), EntryOrder::behind(header.after_entry));
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
            while let Some(entry) = order.next_of(&mut rest)? {
                is_past |= entry.last().is_none_or(|last| to.is_some_and(|to| to < last.at_ms));
                if !is_past && known < entry.n() {
                    known = entry.n();
                    wanted.push(entry);
                }
            }
            if !wanted.is_empty() {
                tree.follow(wanted).map_err(failed)?;
            }
        }
        check_end(&header, order.last(), None)?;
        ending.check(&header)?;
        Ok(ending)
    })
}

/// Opens a backup for reading; an error contains the name of the backup.
pub(super) fn open_reader<R: Read>(name: &str, input: R) -> Result<Reader<R>, Failure> {
    Reader::open(input).map_err(|error| Failure::Failed(format!("{name}: {error}")))
}

/// Refuses a backup that does not continue where the previous one ends.
pub(super) fn check_continuity(
    name: &str,
    before: Option<&Header>,
    header: &Header,
) -> Result<(), Failure> {
    let refused = match before {
        None if header.kind == backup::Kind::Full => Ok(()),
        None => Err(
            "it is an incremental backup: give its directory, so that the previous backups are \
             found"
                .to_owned(),
        ),
        Some(before) => backup::check_next(before, header),
    };
    refused.map_err(|why| Failure::Failed(format!("{name} cannot be used: {why}")))
}
