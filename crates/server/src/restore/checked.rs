//! Verifies a backup by reading all of it: every frame, every entry, the hash.

use std::io::Read;

use backup::{Header, Kind, Part};
use clock::Checkpoint;
use journal::Entry;
use server_base::failure::{Failure, failed};
use store_tree::PieceChecker;

use super::{
    apply::open_reader,
    ending::Ending,
    parts::with_parts,
    whole::{EntryOrder, check_end, check_header},
};

/// Result of verifying a complete backup.
#[derive(Clone, Debug)]
pub struct BackupChecked {
    /// Header of the verified backup.
    pub header: Header,
    /// Clock at the end of the backup, milliseconds since 1970.
    pub clock_ms: i64,
    /// Number of rows in a full backup, or of changes in the entries of an incremental one.
    pub rows: u64,
    /// Uncompressed bytes of the data.
    pub bytes: u64,
}

/// Returns the instant of a backup's clock record, milliseconds since 1970.
pub fn clock_of_backup(bytes: &[u8]) -> Option<i64> {
    Some(Checkpoint::decode_whole(bytes)?.ms)
}

/// Verifies a backup; the error describes the damage. `tell` gets the uncompressed bytes read so
/// far.
pub fn verify_backup(
    name: &str,
    input: Box<dyn Read + Send>,
    goes_on: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(u64),
) -> Result<BackupChecked, Failure> {
    let reader = open_reader(name, input)?;
    let header = reader.header().clone();
    let (mut rows, mut bytes) = (0, 0);
    let (mut ending, mut pieces) = (Ending::default(), PieceChecker::default());
    let mut order = EntryOrder::behind(header.after_entry);
    let read = with_parts(reader, |parts| -> Result<Checkpoint, Failure> {
        check_header(&header)?;
        for part in parts {
            match part? {
                Part::Piece(piece) => {
                    bytes += piece.len() as u64;
                    rows += pieces.take(&piece).map_err(failed)?.mutations.len() as u64;
                }
                Part::Entries(mut entries) => {
                    bytes += entries.len() as u64;
                    while let Some(entry) = order.next_of(&mut entries)? {
                        let entry = Entry::decode(entry.bytes()).map_err(failed)?;
                        rows += entry.mutations.len() as u64;
                    }
                }
                other => ending.note(other)?,
            }
            tell(bytes);
            if !goes_on() {
                return Err(Failure::Failed("interrupted".to_owned()));
            }
        }
        let (last, stamp) = match header.kind {
            Kind::Full => {
                let last = pieces.finish().map_err(failed)?;
                (last.n, Some(last.last))
            }
            Kind::Incremental => (order.last(), None),
        };
        check_end(&header, last, stamp)?;
        ending.check(&header)?;
        ending.clock()
    });
    let wrong = |failure: Failure| Failure::Failed(format!("{name}: {failure}"));
    let clock = read.map_err(wrong)?;
    Ok(BackupChecked { header, clock_ms: clock.ms, rows, bytes })
}
