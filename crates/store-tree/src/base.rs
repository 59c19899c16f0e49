//! Bases: the complete contents of a store at one moment, in pieces from which another store is
//! created. A piece has the format of a journal entry, with the number of the last entry that the
//! base contains: first the store's catalog of spaces, then the rows, tree by tree. A base has only
//! the newest version of each row, and no rows that a compaction would drop.
//!
//! ```text
//!  store --view--> pieces ..> folder `base` of another --next opening--> trees, journal, mark
//! ```
//!
//! An opening that finds a complete base discards the store's contents and continues after the
//! base: the journal then has one empty entry, the last one of the base.

use std::{
    fs::File,
    io::Write as _,
    ops::Bound,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use bytes::Bytes;
use journal::{Entry, Mutation, OpenJournal};
use lsm_tree::{AbstractTree as _, Guard as _};
use store::{Error, Kind, Space, Stamp};

use crate::{
    directory::{self, DIRECTORY, DirectoryContents},
    durable_watermark::{DurableWatermark, Watermark},
    errors::{from_io, from_tree},
    filter::PredicateInForce,
    inner::{Applied, OpenStore},
    options::{TREES, TreeOptions},
    piece_checker::PieceChecker,
    published::View,
    replay::Replayed,
    space_tree::SpaceTree,
    trees::Trees,
    wipe,
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
    next_tree_number: u64,
    space_trees: Vec<Arc<SpaceTree>>,
    /// A key and the value that it has in the base instead of the store's; without a value, the
    /// base lacks the key.
    replaced: Option<(Space, Bytes, Option<Bytes>)>,
    /// Number of trees read, and the last key read of the next one; `None` before the directory is
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
        inner.published.publish(&applying);
        let (at, view) = (*inner.applied.lock(), inner.published.view_to_keep());
        let next_tree_number = inner.next_tree_number.load(Ordering::SeqCst);
        drop(applying);
        let mut space_trees: Vec<Arc<SpaceTree>> = view.space_trees.values().cloned().collect();
        space_trees.sort_by_key(|space_tree| space_tree.number);
        Ok(Self {
            inner: Arc::clone(inner),
            predicate: predicate.clone(),
            view,
            at,
            next_tree_number,
            space_trees,
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
            Some((at, after)) => {
                let rows = self.rows(at, after, bytes)?;
                self.view.check_kept()?;
                rows
            }
        };
        if mutations.is_empty() {
            return Ok(None);
        }
        let Applied { n, under, stamp } = self.at;
        let entry = Entry { n, last: stamp, under, dropped: Vec::new(), mutations };
        Ok(Some(entry.encode()?.bytes().clone()))
    }

    fn directory(&self) -> Vec<Mutation> {
        let made = |space_tree: &Arc<SpaceTree>| {
            directory::record_made(space_tree.number, space_tree.space?).into_iter().next()
        };
        let mut rows: Vec<Mutation> = self.space_trees.iter().filter_map(made).collect();
        // The next free number, since numbers of dropped trees are never reused.
        rows.push(directory::record_next(self.next_tree_number));
        rows
    }

    /// Returns rows of the tree at index `at` after this key, then rows of the following trees.
    fn rows(
        &mut self,
        mut at: usize,
        mut after: Option<Bytes>,
        limit: usize,
    ) -> Result<Vec<Mutation>, Error> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while let Some(space_tree) = self.space_trees.get(at) {
            if self.inner.closing.load(Ordering::Relaxed) {
                return Err(Error::new(Kind::Reopened, "the store was reopened"));
            }
            let start = after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let range = (start, Bound::<&[u8]>::Unbounded);
            let replaced =
                self.replaced.as_ref().filter(|(space, ..)| Some(*space) == space_tree.space);
            if let Some((_, key, Some(value))) = replaced.filter(|_| after.is_none()) {
                let (key, value) = (key.clone(), Some(value.clone()));
                rows.push(Mutation { space: space_tree.number, key, value });
            }
            let drops = space_tree.space.and_then(|space| self.predicate.filter_for(space));
            for row in space_tree.tree.range::<&[u8], _>(range, self.view.number, None) {
                let (key, value) =
                    row.into_inner().map_err(|error| from_tree("read a base", &error))?;
                let is_replaced = replaced.is_some_and(|(_, replaced, _)| *replaced == *key);
                if is_replaced || drops.as_ref().is_some_and(|drops| drops(&key, &value)) {
                    continue;
                }
                bytes += key.len() + value.len();
                let (key, value) = (Bytes::from(key), Some(Bytes::from(value)));
                rows.push(Mutation { space: space_tree.number, key: key.clone(), value });
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
    let trees = Trees::new(options.path.join(TREES), options.cache_bytes, predicate)?;
    let directory = trees.open_or_make(DIRECTORY, None)?;
    let mut replayed = Replayed::open(
        &trees,
        directory,
        &DirectoryContents { next: 1, ..DirectoryContents::default() },
    )?;
    let mut checker = PieceChecker::default();
    for piece in pieces {
        replayed.put(checker.take(&piece?)?, &trees)?;
        flush(&replayed, MEMORY_BYTES)?;
    }
    flush(&replayed, 0)?;
    let last = checker.finish()?;
    let opened = journal.open(last.n.saturating_sub(1), true)?;
    opened.follow(&[last.encode()?]).map_err(|failure| failure.error().clone())?;
    drop(opened);
    let mark = Watermark { durable: last.n, tail: last.n + 1, stamp: last.last };
    let marked = DurableWatermark::open(&options.path.join(wipe::MARK))
        .and_then(|mut watermark| watermark.move_to(mark));
    marked.map_err(|error| from_io("write the mark", &error))?;
    Ok((last.n, last.last))
}

/// Flushes all trees whose memtables have at least this size.
fn flush(replayed: &Replayed, bytes: u64) -> Result<(), Error> {
    let space_trees = replayed.space_trees.values().chain([&replayed.directory]);
    for space_tree in space_trees.filter(|space_tree| space_tree.buffer().floor().is_some()) {
        if bytes <= space_tree.buffer().bytes() {
            // Old versions need not be kept: no view is open, and the base contains each row once.
            space_tree.flush(|| Ok(0))?;
            space_tree.release().map_err(|error| from_tree("cannot release old files", &error))?;
        }
    }
    Ok(())
}
