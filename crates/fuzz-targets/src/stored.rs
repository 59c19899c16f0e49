//! Fuzz targets of the parsers of the server's own files, and of a cluster's journal.

use std::{ffi::OsString, fs, path::Path, sync::LazyLock};

use bytes::Bytes;
use expiry::Header;
use journal::{EncodedEntry, Entry, Journal, JournalOptions, LocalJournal, Mutation};
use tempfile::TempDir;

/// Parses the header of a stored document. It is refused, or it splits the row into header and
/// document.
pub(crate) fn rows(bytes: &[u8]) {
    if let Ok((header, body)) = Header::split(bytes) {
        assert!(body.len() < bytes.len());
        assert!(header.same_expiry(&header));
    }
    let _ = Header::split_row(bytes);
}

/// Parses a journal entry, a cluster entry and the records of a cluster. Each is refused, or
/// survives a round trip.
pub(crate) fn entries(bytes: &[u8]) {
    let shared = Bytes::copy_from_slice(bytes);
    if let Ok((first, rest)) = EncodedEntry::first_of(&shared) {
        assert_eq!(first.bytes().len() + rest.len(), bytes.len());
    }
    if let Ok(entry) = Entry::decode(&shared) {
        let again = entry.encode().expect("a decoded entry can be encoded");
        assert_eq!(again.bytes(), &shared);
    }
    if let Ok((entry, _)) = cluster::Entry::decode(&shared) {
        assert_eq!(entry.encode().bytes, shared);
    }
    let _ = cluster::decode_terms(bytes);
    let _ = cluster::decode_bases(bytes);
    if let Ok(ends) = cluster::decode_ends(bytes) {
        assert_eq!(cluster::encode_ends(&ends), bytes);
    }
}

/// A small journal: its files by name, and the entries that were appended to it.
struct Sample {
    files: Vec<(OsString, Vec<u8>)>,
    entries: Vec<Entry>,
}

/// Creates a temporary folder, in memory if possible.
fn memory_folder() -> TempDir {
    let folder = Path::new("/dev/shm");
    let made = if folder.is_dir() { TempDir::new_in(folder) } else { TempDir::new() };
    made.expect("a folder for temporary files")
}

fn options() -> JournalOptions {
    JournalOptions { segment_bytes: 32 * 1024, spare_segments: 0, ..JournalOptions::default() }
}

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let folder = memory_folder();
    let journal = LocalJournal::open(folder.path(), &options()).expect("an empty journal");
    let mut entries = Vec::new();
    for (n, size) in (1..).zip([10, 5_000, 9_000, 12_000, 40, 9_000, 3, 15_000, 7]) {
        let entry = made_entry(n, size);
        let encoded = entry.encode().expect("an entry is written");
        journal.append(&[encoded]).expect("an entry is appended");
        entries.push(entry);
    }
    drop(journal);
    let files = fs::read_dir(folder.path()).expect("the files").flatten();
    let files = files.map(|file| (file.file_name(), fs::read(file.path()).expect("a file")));
    Sample { files: files.collect(), entries }
});

fn made_entry(n: u64, size: usize) -> Entry {
    let value: Vec<u8> = (0_u8..=255).cycle().take(size).collect();
    let mutation = Mutation { space: 1, key: "key".into(), value: Some(value.into()) };
    let last = store::Stamp { seq: n, at_ms: 5 };
    Entry { n, last, under: n, dropped: Vec::new(), mutations: vec![mutation] }
}

/// Damages the files of a journal, five bytes per change: file, position (two bytes), content,
/// kind. The journal is refused, or returns entries exactly as they were appended.
pub(crate) fn segments(bytes: &[u8]) {
    let sample = &*SAMPLE;
    let folder = memory_folder();
    let mut files = sample.files.clone();
    for piece in bytes.chunks_exact(5) {
        let [file, low, high, what, how] = *piece else { return };
        let count = files.len().max(1);
        let Some((_, content)) = files.get_mut(usize::from(file) % count) else { return };
        damage(content, usize::from(u16::from_le_bytes([low, high])), what, how);
    }
    for (name, content) in &files {
        fs::write(folder.path().join(name), content).expect("a file is written");
    }
    let Ok(journal) = LocalJournal::open(folder.path(), &options()) else { return };
    let mut after = journal.extent().first.saturating_sub(1);
    while let Ok(page) = journal.read(after, 5_000) {
        for entry in &page {
            let index = usize::try_from(entry.n - 1).expect("a small number");
            assert_eq!(Some(entry), sample.entries.get(index), "entry {} is another", entry.n);
            after = entry.n;
        }
        if page.is_empty() {
            return;
        }
    }
}

/// Changes a byte, overwrites or misplaces a sector, or truncates a file.
fn damage(content: &mut Vec<u8>, at: usize, what: u8, how: u8) {
    const SECTOR: usize = 512;
    let sector = at / SECTOR * SECTOR;
    let other = usize::from(what) * SECTOR;
    match how % 4 {
        0 => content.iter_mut().skip(at).take(1).for_each(|byte| *byte = what),
        1 => content.iter_mut().skip(sector).take(SECTOR).for_each(|byte| *byte = what),
        2 if other + SECTOR <= content.len() && sector + SECTOR <= content.len() => {
            content.copy_within(other..other + SECTOR, sector);
        }
        _ => content.truncate(at.max(1)),
    }
}

/// Parses a list of the tree's files, and parts of its tables and body files. Each is refused or
/// parsed without a panic.
pub(crate) fn tables(bytes: &[u8]) {
    tree::parse_untrusted(bytes);
}
