//! When memory is written to tables although its keyspace has room for more. The tree itself only
//! looks at each keyspace alone, so that many that are half full would hold any amount of memory,
//! and a journal as long as that: it begins a new file only when something is flushed.
//!
//! | what is seen | what is flushed |
//! |---|---|
//! | the newest file of the journal is full | the largest memory, so that a new file begins |
//! | all memory together is beyond its bound | the largest memory |
//! | a keyspace rests, and has more than a little in memory | this one: look-ups are cheaper in tables, and a start has nothing to replay |

use std::path::Path;

use fjall::{AbstractTree as _, Keyspace};
use rustix::fs::Stat;
use store::Error;

use crate::{
    filter_progress::journal_numbers,
    inner::{OpenTree, begin_flush},
};

/// Bytes of a file of the journal after which the tree begins the next one, if it flushes.
const JOURNAL_FILE_BYTES: u64 = 64_000_000;
/// Bytes of a block, as files are measured.
const STAT_BLOCK: u64 = 512;
/// Keys in memory that are not worth a table.
const FEW_KEYS: usize = 1_000;

/// Flushes the largest memory if that is due. One at a time: what is under way may be enough.
pub(crate) fn flush_where_due(inner: &OpenTree) -> Result<(), Error> {
    if 0 < inner.database.outstanding_flushes() {
        return Ok(());
    }
    let full = inner.memory_bound < inner.in_memory();
    if !full && newest_journal_bytes(&inner.tree) <= JOURNAL_FILE_BYTES {
        return Ok(());
    }
    let keyspaces = inner.spaces.all_keyspaces().into_iter().map(|(_, keyspace)| keyspace);
    let keyspaces = keyspaces.chain([inner.meta.clone()]);
    let largest = keyspaces.max_by_key(|keyspace| keyspace.tree.active_memtable().size());
    largest.map_or(Ok(()), |largest| begin_flush(&largest))
}

/// Flushes a keyspace that has not been written for a while.
pub(crate) fn flush_at_rest(keyspace: &Keyspace) -> Result<(), Error> {
    match keyspace.tree.active_memtable().len() {
        0..=FEW_KEYS => Ok(()),
        _ => begin_flush(keyspace),
    }
}

/// Bytes in the newest file of the journal. Its length says nothing: the tree makes it as long as
/// it may become.
fn newest_journal_bytes(tree: &Path) -> u64 {
    let Some((_, newest)) = journal_numbers(tree) else { return 0 };
    let stat: Result<Stat, _> = rustix::fs::stat(tree.join(format!("{newest}.jnl")));
    stat.map_or(0, |stat| u64::try_from(stat.st_blocks).unwrap_or(0) * STAT_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(newest_journal_bytes(folder.path()), 0);
        std::fs::write(folder.path().join("6.jnl"), vec![1; 1 << 20]).unwrap();
        let file = std::fs::File::create(folder.path().join("7.jnl")).unwrap();
        file.set_len(64 << 20).unwrap();
        assert_eq!(newest_journal_bytes(folder.path()), 0);
        std::fs::write(folder.path().join("8.jnl"), vec![1; 1 << 20]).unwrap();
        assert!((1 << 20..2 << 20).contains(&newest_journal_bytes(folder.path())));
    }
}
