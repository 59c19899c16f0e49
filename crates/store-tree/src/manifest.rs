//! Verifies what lsm-tree 3.1 does not when it opens a tree: the list of the tree's tables, and the
//! contents list at the end of each table. Each has a checksum that is written but not verified
//! before the data is used. The parsers are also exposed to fuzz tests.
//!
//! ```text
//!  trees/N/current ─▶ v7 (list of tables, checksum in `current`) ─▶ tables/12, tables/15 …
//!                                                                         └ contents list at the end
//! ```

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use store::{Error, Kind};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::{errors::from_io, options::TREES};

/// Length of a table's trailer: `"SFA!"`, version, kind of checksum, checksum u128, offset and
/// length of the contents list u64.
const TRAILER_BYTES: usize = 4 + 1 + 1 + 16 + 8 + 8;
/// Number of bytes of a table that are read at once.
const READ_BYTES: usize = 256 * 1024;
/// Length of the start of a contents list: `"TOC!"` and the number of sections, u32.
const LIST_HEAD: usize = 4 + 4;
/// Maximum accepted length of a contents list; a table has a dozen sections.
const MOST_LIST_BYTES: u64 = 1024 * 1024;

/// Fails if the table list of a tree, or the contents list of a table, is damaged in a way that the
/// tree would not detect.
pub(crate) fn check_tables(folder: &Path) -> Result<(), Error> {
    for table in listed_tables(folder)? {
        if !has_good_end(&table.path).map_err(unreadable_error)? {
            return Err(damaged_error(&table.path));
        }
    }
    Ok(())
}

/// Returns the damaged tables of a closed store, by their checksums. Every byte is read, also bytes
/// that no scan of the rows needs.
pub fn damaged_tables(store: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for folder in tree_folders(&store.join(TREES))? {
        for table in listed_tables(&folder)? {
            if file_checksum(&table.path).map_err(unreadable_error)? != Some(table.checksum) {
                found.push(table.path);
            }
        }
    }
    Ok(found)
}

/// Returns the largest table number in a tree's directory; newer tables have larger numbers.
pub(crate) fn newest_table(folder: &Path) -> u64 {
    table_numbers(folder).into_iter().max().unwrap_or(0)
}

/// Removes unlisted tables with numbers above `newest`, left by a failed flush or compaction.
pub(crate) fn remove_unlisted(folder: &Path, newest: u64) -> Result<(), Error> {
    let listed = listed_tables(folder)?;
    for number in table_numbers(folder).into_iter().filter(|number| newest < *number) {
        let path = folder.join("tables").join(number.to_string());
        if listed.iter().all(|table| table.path != path) {
            std::fs::remove_file(path).map_err(|error| from_io("remove a table", &error))?;
        }
    }
    Ok(())
}

/// Returns the numbers of all existing tables.
pub(crate) fn table_numbers(folder: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(folder.join("tables")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the error for an unreadable file.
fn unreadable_error(error: io::Error) -> Error {
    from_io("read the lists of tables", &error)
}

/// Returns the error for a damaged file.
fn damaged_error(path: &Path) -> Error {
    Error::new(Kind::Corrupt, format!("{} is damaged", path.display()))
}

/// Returns the directories of all trees, except those being removed.
fn tree_folders(trees: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(trees) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable_error(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable_error)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.parse::<u64>().is_ok()) {
            folders.push(path);
        }
    }
    Ok(folders)
}

/// A table and the checksum of its whole file.
#[derive(Debug)]
struct ListedTable {
    path: PathBuf,
    checksum: u128,
}

/// Returns the tables of a tree.
fn listed_tables(folder: &Path) -> Result<Vec<ListedTable>, Error> {
    let current = folder.join("current");
    // A tree whose creation was interrupted has no table list.
    let Some(held) = read_if_there(&current).map_err(unreadable_error)? else {
        return Ok(Vec::new());
    };
    let (number, checksum) = parse_version(&held).ok_or_else(|| damaged_error(&current))?;
    let list = folder.join(format!("v{number}"));
    let bytes = match read_if_there(&list).map_err(unreadable_error)? {
        // The tree would trust a wrong list and lose the tables that are missing in it.
        Some(bytes) if xxh3_128(&bytes) == checksum => bytes,
        _ => return Err(damaged_error(&list)),
    };
    let tables = parse_tables(&bytes).ok_or_else(|| damaged_error(&list))?;
    let table = |(number, checksum): (u64, u128)| {
        let path = folder.join("tables").join(number.to_string());
        ListedTable { path, checksum }
    };
    Ok(tables.into_iter().map(table).collect())
}

/// Returns the checksum of a whole file; `None` if it does not exist.
fn file_checksum(path: &Path) -> io::Result<Option<u128>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut hash, mut buffer) = (Xxh3::new(), vec![0; READ_BYTES]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Some(hash.digest128())),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// Reads a whole file; `None` if it does not exist.
fn read_if_there(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Parses number and checksum of the current table list from the file `current`.
pub(crate) fn parse_version(current: &[u8]) -> Option<(u64, u128)> {
    let (number, rest) = current.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    (rest == [0]).then(|| (u64::from_le_bytes(*number), u128::from_le_bytes(*checksum)))
}

/// Parses the trailer of a file: checksum, offset and length of the contents list.
pub(crate) fn parse_trailer(bytes: &[u8], len: u64) -> Option<(u128, u64, u64)> {
    let rest = bytes.strip_prefix(b"SFA!\x01\x00")?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let (at, rest) = rest.split_first_chunk()?;
    let list = u64::from_le_bytes(*rest.first_chunk()?);
    let at = u64::from_le_bytes(*at);
    let end = at.checked_add(list)?.checked_add(TRAILER_BYTES as u64)?;
    (end == len).then(|| (u128::from_le_bytes(*checksum), at, list))
}

/// Returns a part of a file, given an untrusted offset and length.
fn part_at(bytes: &[u8], at: u64, len: u64) -> Option<&[u8]> {
    let end = usize::try_from(at.checked_add(len)?).ok()?;
    bytes.get(usize::try_from(at).ok()?..end)
}

/// Parses numbers and checksums of the tables in a list whose checksum was verified.
pub(crate) fn parse_tables(bytes: &[u8]) -> Option<Vec<(u64, u128)>> {
    let end = bytes.get(bytes.len().checked_sub(TRAILER_BYTES)?..)?;
    let (_, at, len) = parse_trailer(end, bytes.len() as u64)?;
    // Each section: offset u64, length u64, length of the name u16, name.
    let mut sections = part_at(bytes, at, len)?.get(LIST_HEAD..)?;
    let mut list = None;
    while !sections.is_empty() {
        let (at, rest) = sections.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (name_len, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*name_len)))?;
        if name == b"tables" {
            list = part_at(bytes, u64::from_le_bytes(*at), u64::from_le_bytes(*len));
        }
        sections = rest;
    }
    let (levels, mut rest) = list?.split_first()?;
    let mut found = Vec::new();
    // The list contains the number of levels, then per level its runs, and per run its tables.
    for _ in 0..*levels {
        let (runs, behind) = rest.split_first()?;
        rest = behind;
        for _ in 0..*runs {
            let (count, behind) = rest.split_first_chunk()?;
            rest = behind;
            for _ in 0..u32::from_le_bytes(*count) {
                // Of each table: number, kind of checksum, checksum, sequence number.
                let (table, behind) = rest.split_at_checked(8 + 1 + 16 + 8)?;
                let (number, table) = table.split_first_chunk()?;
                let (_kind, table) = table.split_first()?;
                let checksum = u128::from_le_bytes(*table.first_chunk()?);
                found.push((u64::from_le_bytes(*number), checksum));
                rest = behind;
            }
        }
    }
    Some(found)
}

/// Returns whether the trailer and contents list of a table are intact.
fn has_good_end(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let len = file.metadata()?.len();
    let Some(at) = len.checked_sub(TRAILER_BYTES as u64) else { return Ok(false) };
    let mut end = [0; TRAILER_BYTES];
    file.read_exact_at(&mut end, at)?;
    let Some((checksum, at, list)) = parse_trailer(&end, len).filter(|of| of.2 < MOST_LIST_BYTES)
    else {
        return Ok(false);
    };
    let mut bytes = vec![0; usize::try_from(list).unwrap_or(0)];
    file.read_exact_at(&mut bytes, at)?;
    Ok(xxh3_128(&bytes) == checksum)
}

/// Parses bytes as a version pointer, as a file trailer and as a table list, for fuzz tests.
pub fn read_lists(bytes: &[u8]) {
    let _ = parse_version(bytes);
    let _ = parse_trailer(bytes, bytes.len() as u64);
    let _ = parse_tables(bytes);
}

#[cfg(test)]
mod tests {
    use lsm_tree::{AbstractTree as _, Config, SequenceNumberCounter};

    use super::*;

    #[test]
    fn a_list_at_a_place_that_no_file_has_is_none() {
        for (at, len) in [(u64::MAX, 2), (2, u64::MAX), (u64::MAX, u64::MAX), (40, 1 << 40)] {
            let mut bytes = b"TOC!\x01\0\0\0".to_vec();
            bytes.extend([at.to_le_bytes(), len.to_le_bytes()].concat());
            bytes.extend(b"\x06\0tables");
            let contents = bytes.len() as u64;
            bytes.extend(b"SFA!\x01\0");
            bytes.extend([0; 16]);
            bytes.extend([0_u64.to_le_bytes(), contents.to_le_bytes()].concat());
            assert_eq!(parse_tables(&bytes), None, "{at} {len}");
        }
    }

    #[test]
    fn every_flipped_bit_of_a_list_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join(TREES).join("7");
        let counter = SequenceNumberCounter::default();
        let tree = Config::new(&folder, counter.clone(), counter).open().unwrap();
        for n in 0..3_u8 {
            tree.insert([n], [n; 2_000], 1 + u64::from(n));
            tree.rotate_memtable();
            tree.flush(&tree.get_flush_lock(), 0).unwrap();
        }
        drop(tree);
        check_tables(&folder).unwrap();
        assert!(damaged_tables(directory.path()).unwrap().is_empty());
        let current = std::fs::read(folder.join("current")).unwrap();
        let (number, _) = parse_version(&current).unwrap();
        for name in ["current".to_owned(), format!("v{number}")] {
            flip_each(&folder, &folder.join(name), 0);
        }
        let list = std::fs::read(folder.join(format!("v{number}"))).unwrap();
        let tables = super::parse_tables(&list).unwrap();
        assert_eq!(tables.len(), 3);
        for (table, _) in tables {
            let path = folder.join("tables").join(table.to_string());
            let bytes = std::fs::read(&path).unwrap();
            let end = &bytes[bytes.len() - TRAILER_BYTES..];
            let (_, at, _) = parse_trailer(end, bytes.len() as u64).unwrap();
            flip_each(&folder, &path, usize::try_from(at).unwrap());
            flip_some(directory.path(), &path);
        }
        check_tables(&folder).unwrap();
    }

    #[test]
    fn only_new_tables_that_are_not_listed_are_left_over() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path();
        let counter = SequenceNumberCounter::default();
        let tree = Config::new(folder, counter.clone(), counter).open().unwrap();
        tree.insert("a", "b", 1);
        tree.rotate_memtable();
        tree.flush(&tree.get_flush_lock(), 0).unwrap();
        let table = |number: u64| folder.join("tables").join(number.to_string());
        let newest = newest_table(folder);
        // Simulates an older table that a view still reads, and remains of a failure.
        std::fs::write(table(newest + 5), "older").unwrap();
        std::fs::write(table(newest + 6), "half").unwrap();
        remove_unlisted(folder, newest + 5).unwrap();
        assert!(table(newest).exists() && table(newest + 5).exists());
        assert!(!table(newest + 6).exists());
    }

    /// Changes sampled bytes of a table, each of which the full verification must detect.
    fn flip_some(store: &Path, path: &Path) {
        let bytes = std::fs::read(path).unwrap();
        // The end of the table is skipped: its damage is found first and reported in another way.
        for at in (0..bytes.len() - 500).step_by(61) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            std::fs::write(path, changed).unwrap();
            assert_eq!(damaged_tables(store).unwrap(), [path.to_owned()], "byte {at}");
        }
        std::fs::write(path, bytes).unwrap();
    }

    /// Changes every byte of a file from an offset on, each of which must be detected.
    fn flip_each(folder: &Path, path: &Path, from: usize) {
        let bytes = std::fs::read(path).unwrap();
        for at in from..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            std::fs::write(path, changed).unwrap();
            let refused = check_tables(folder).unwrap_err();
            assert_eq!(refused.kind, Kind::Corrupt, "byte {at} of {}", path.display());
        }
        std::fs::write(path, bytes).unwrap();
    }
}
