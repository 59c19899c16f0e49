//! Bases: the complete contents of a store at one moment, in pieces from which another store is
//! created. A piece has the format of a journal entry, with the number of the last entry that the
//! base contains: first the store's directory of spaces, then the rows, space by space. A base has only
//! the newest version of each row, and no rows that a compaction would drop.
//!
//! ```text
//!  store --view--> pieces ..> folder `base` of another --next opening--> tree, journal, mark
//! ```
//!
//! An opening that finds a complete base discards the store's contents and continues after the
//! base: the journal then has one empty entry, the last one of the base.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use journal::{Entry, Mutation, OpenJournal};
use store::{Error, Kind, Space, Stamp};
use tree::{Caching, Direction, Tree};

use crate::{
    directory::{self, DirectoryContents},
    durable_watermark::{DurableWatermark, Watermark},
    errors::{from_io, from_tree},
    hooks::{PredicateInForce, StoreHooks},
    inner::{Applied, OpenStore},
    options::{TREES, TreeOptions},
    piece_checker::PieceChecker,
    published::{View, read_error},
    replay::Replayed,
    tree_folder, wipe,
};

/// File that contains the number of pieces; it is written once all pieces are stored.
const COMPLETE: &str = "complete";
/// Size at which memtables are flushed while a base is loaded.
const MEMORY_BYTES: u64 = 64 << 20;

/// Reads all data of a store, as of the reader's creation, in pieces.
pub struct BaseReader {
    inner: Arc<OpenStore>,
    predicate: PredicateInForce,
    view: Arc<View>,
    at: Applied,
    next_space_number: u64,
    /// The spaces with their numbers, in the order of these.
    spaces: Vec<(u64, Space)>,
    /// A key and the value that it has in the base instead of the store's; without a value, the
    /// base lacks the key.
    replaced: Option<(Space, Bytes, Option<Bytes>)>,
    /// Number of spaces read, and the last key read of the next one; `None` before the directory is
    /// read.
    read: Option<(usize, Option<Bytes>)>,
}

impl std::fmt::Debug for BaseReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BaseReader").field("at", &self.at).finish_non_exhaustive()
    }
}

impl BaseReader {
    /// Creates a reader of the data that is visible now.
    pub(crate) fn new(inner: &Arc<OpenStore>, predicate: &PredicateInForce) -> Result<Self, Error> {
        let applying = inner.published.begin_applying();
        if let Some(why) = inner.stop_reason() {
            return Err(why);
        }
        let at = *inner.applied.lock();
        inner.published.publish(&applying, inner.batch_of(at.n))?;
        let view = inner.published.view_to_keep();
        let next_space_number = inner.next_space_number.load(Ordering::SeqCst);
        drop(applying);
        let mut spaces: Vec<(u64, Space)> =
            view.numbers.iter().map(|(space, number)| (*number, *space)).collect();
        spaces.sort_unstable_by_key(|(number, _)| *number);
        Ok(Self {
            inner: Arc::clone(inner),
            predicate: predicate.clone(),
            view,
            at,
            next_space_number,
            spaces,
            replaced: None,
            read: None,
        })
    }

    /// Replaces the value of a key in the base; `None` removes it.
    pub fn replacing(self, space: Space, key: Bytes, value: Option<Bytes>) -> Self {
        Self { replaced: Some((space, key, value)), ..self }
    }

    /// Returns the stamp of the last commit in the base.
    pub fn last_stamp(&self) -> Stamp {
        self.at.stamp
    }

    /// Returns the number of the last entry in the base.
    pub fn last_entry(&self) -> u64 {
        self.at.n
    }

    /// Returns the next piece, of about this size; `None` after the last.
    pub fn next_piece(&mut self, bytes: usize) -> Result<Option<Bytes>, Error> {
        let mutations = match self.read.take() {
            None => {
                self.read = Some((0, None));
                self.directory()
            }
            Some((at, after)) => self.rows(at, after, bytes)?,
        };
        if mutations.is_empty() {
            return Ok(None);
        }
        let Applied { n, under, stamp } = self.at;
        let entry = Entry { n, last: stamp, under, dropped: Vec::new(), mutations };
        Ok(Some(entry.encode()?.bytes().clone()))
    }

    fn directory(&self) -> Vec<Mutation> {
        let made = |(number, space): &(u64, Space)| {
            directory::record_made(*number, *space).into_iter().next()
        };
        let mut rows: Vec<Mutation> = self.spaces.iter().filter_map(made).collect();
        // The next free number, since numbers of dropped spaces are never reused.
        rows.push(directory::record_next(self.next_space_number));
        rows
    }

    /// Returns rows of the space at index `at` after this key, then rows of the following spaces.
    fn rows(
        &mut self,
        mut at: usize,
        mut after: Option<Bytes>,
        limit: usize,
    ) -> Result<Vec<Mutation>, Error> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while let Some((number, space)) = self.spaces.get(at).copied() {
            if self.inner.closing.load(Ordering::Relaxed) {
                return Err(Error::new(Kind::Reopened, "the store was reopened"));
            }
            // The least key that is greater.
            let start = after.as_ref().map(|after| [after.as_ref(), &[0]].concat());
            let replaced = self.replaced.as_ref().filter(|(of, ..)| *of == space);
            if let Some((_, key, Some(value))) = replaced.filter(|_| after.is_none()) {
                let (key, value) = (key.clone(), Some(value.clone()));
                rows.push(Mutation { space: number, key, value });
            }
            let drops = self.predicate.filter_for(space);
            let failed = |error: tree::Error| read_error("read a base", &error);
            let (start, direction) = (start.unwrap_or_default(), Direction::Forward);
            let found = self.view.snapshot.scan(number, &start, None, direction, Caching::Bypass);
            for row in found.map_err(failed)? {
                let (key, value) = row.map_err(failed)?;
                let is_replaced = replaced.is_some_and(|(_, replaced, _)| *replaced == *key);
                if is_replaced || drops.as_ref().is_some_and(|drops| drops(&key, &value)) {
                    continue;
                }
                bytes += key.len() + value.len();
                rows.push(Mutation { space: number, key: key.clone(), value: Some(value) });
                if limit <= bytes {
                    self.read = Some((at, Some(key)));
                    return Ok(rows);
                }
            }
            (at, after) = (at + 1, None);
        }
        self.read = Some((at, None));
        Ok(rows)
    }
}

/// Stores a piece of a base, which the next opening of the store loads.
pub(crate) fn store_piece(directory: &Path, number: u32, bytes: &[u8]) -> Result<(), Error> {
    let folder = directory.join(wipe::BASE);
    let kept = std::fs::create_dir_all(&folder)
        .and_then(|()| File::create(folder.join(number.to_string())))
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    kept.map_err(|error| from_io("store a piece of a base", &error))
}

/// Records that all pieces of a base were stored.
pub(crate) fn complete(directory: &Path, pieces: u32) -> Result<(), Error> {
    let folder = directory.join(wipe::BASE);
    let completed = File::create(folder.join("new"))
        .and_then(|mut file| {
            file.write_all(pieces.to_string().as_bytes()).and_then(|()| file.sync_all())
        })
        .and_then(|()| std::fs::rename(folder.join("new"), folder.join(COMPLETE)))
        .and_then(|()| File::open(&folder)?.sync_all())
        .and_then(|()| File::open(directory)?.sync_all());
    completed.map_err(|error| from_io("complete a base", &error))
}

/// Returns the number of pieces of a complete base for the next opening.
pub(crate) fn pieces(directory: &Path) -> Option<u32> {
    std::fs::read_to_string(directory.join(wipe::BASE).join(COMPLETE)).ok()?.parse().ok()
}

/// Loads the stored base if all of its pieces exist.
pub(crate) fn load(
    options: &TreeOptions,
    journal: &dyn OpenJournal,
    predicate: &PredicateInForce,
) -> Result<(), Error> {
    let Some(count) = pieces(&options.path) else { return Ok(()) };
    let folder = options.path.join(wipe::BASE);
    let mut kept = (0..count).map(|number| {
        let bytes = std::fs::read(folder.join(number.to_string()));
        bytes.map(Bytes::from).map_err(|error| from_io("read a piece of a base", &error))
    });
    make(options, journal, predicate, &mut kept)?;
    // The marker file is removed first: without it, a crash leaves only pieces that are ignored.
    let removed = std::fs::remove_file(folder.join(COMPLETE))
        .and_then(|()| File::open(&folder)?.sync_all())
        .and_then(|()| std::fs::remove_dir_all(&folder));
    removed.map_err(|error| from_io("remove a base", &error))
}

/// Creates a store from pieces, replacing the directory's contents; after a failure it is
/// incomplete. Returns number and stamp of its last entry.
pub(crate) fn make(
    options: &TreeOptions,
    journal: &dyn OpenJournal,
    predicate: &PredicateInForce,
    pieces: &mut dyn Iterator<Item = Result<Bytes, Error>>,
) -> Result<(u64, Stamp), Error> {
    wipe::delete_contents(&options.path, journal)?;
    let hooks = Arc::new(StoreHooks::new(predicate, None));
    let folder = options.path.join(TREES);
    let hooks_of_tree = Arc::clone(&hooks);
    let tree = tree_folder::open(&folder, options.cache_bytes, 0, hooks_of_tree)?;
    let none = DirectoryContents { next: 1, ..DirectoryContents::default() };
    let mut replayed = Replayed::new(&tree, &hooks, 0, &none)?;
    let mut checker = PieceChecker::default();
    for piece in pieces {
        replayed.put(checker.take(&piece?)?)?;
        flush(&tree, MEMORY_BYTES)?;
    }
    flush(&tree, 0)?;
    let last = checker.finish()?;
    let opened = journal.open(last.n.saturating_sub(1), true)?;
    opened.follow(&[last.encode()?]).map_err(|failure| failure.error().clone())?;
    drop(opened);
    let last_edit = tree.last_edit();
    let mark = Watermark { durable: last.n, tail: last.n + 1, stamp: last.last, last_edit };
    let marked = DurableWatermark::open(&options.path.join(wipe::MARK))
        .and_then(|mut watermark| watermark.move_to(mark));
    marked.map_err(|error| from_io("write the mark", &error))?;
    Ok((last.n, last.last))
}

/// Flushes all spaces whose memtables have at least this size.
fn flush(tree: &Tree, bytes: u64) -> Result<(), Error> {
    let failed = |error: tree::Error| from_tree("write tables", &error);
    for memory in tree.memory().iter().filter(|of| bytes <= of.bytes) {
        tree.flush(memory.space).map_err(failed)?;
        tree.sweep().map_err(failed)?;
    }
    Ok(())
}
