//! Bases: all that a store has at one moment, in pieces that an empty store is made of. A piece is an
//! entry of the journal, with the number of the last one that the base has: rows of places in their
//! order, before them the directory. Where the trees have versions of rows, a base has the newest; what a
//! compaction would drop it does not have.
//!
//! ```text
//!  store ──still view──▶ pieces ··▶ folder `base` of another ──its next opening──▶ trees, journal, mark
//! ```
//!
//! An opening that finds a folder with all pieces throws away what the directory has, and begins behind
//! the base: the journal has one entry with nothing in it, the last one of the base.

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
    directory::{self, DIRECTORY, Listed},
    durable_watermark::{DurableWatermark, Mark},
    errors::{from_io, from_tree},
    filter::PredicateInForce,
    inner::{Applied, OpenStore},
    options::{TREES, TreeOptions},
    piece_checker::PieceChecker,
    place::Place,
    published::View,
    replay::Replayed,
    trees::Trees,
    wiping,
};

/// The file in it that says how many there are, once all are there.
const COMPLETE: &str = "complete";
/// Memory of a tree that is made.
const MEMORY_BYTES: u64 = 64 << 20;

/// A store at one moment, to be read in pieces.
pub struct BaseReader {
    inner: Arc<OpenStore>,
    predicate: PredicateInForce,
    view: Arc<View>,
    at: Applied,
    next_place: u64,
    places: Vec<Arc<Place>>,
    /// A row that is said to be another, or not to be there.
    replaced: Option<(Space, Bytes, Option<Bytes>)>,
    /// How many places were read, and of the next one up to which key; nothing before the directory.
    read: Option<(usize, Option<Bytes>)>,
}

impl std::fmt::Debug for BaseReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BaseReader").field("at", &self.at).finish_non_exhaustive()
    }
}

impl BaseReader {
    /// Of what is visible now.
    pub(crate) fn new(inner: &Arc<OpenStore>, predicate: &PredicateInForce) -> Result<Self, Error> {
        let applying = inner.published.begin_applying();
        if let Some(why) = inner.stop_reason() {
            return Err(why);
        }
        inner.published.publish(&applying);
        let (at, view) = (*inner.applied.lock(), inner.published.view_to_keep());
        let next_place = inner.next_place.load(Ordering::SeqCst);
        drop(applying);
        let mut places: Vec<Arc<Place>> = view.places.values().cloned().collect();
        places.sort_by_key(|place| place.number);
        Ok(Self {
            inner: Arc::clone(inner),
            predicate: predicate.clone(),
            view,
            at,
            next_place,
            places,
            replaced: None,
            read: None,
        })
    }

    /// The same with this value of a key, whatever it is in the store; without one it is not there.
    pub fn replacing(self, space: Space, key: Bytes, value: Option<Bytes>) -> Self {
        Self { replaced: Some((space, key, value)), ..self }
    }

    /// The stamp of the last commit that it has.
    pub fn last_stamp(&self) -> Stamp {
        self.at.stamp
    }

    /// The number of the last entry that it has.
    pub fn last_entry(&self) -> u64 {
        self.at.n
    }

    /// The next piece, of about so many bytes; nothing behind the last.
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
        let made = |place: &Arc<Place>| {
            directory::record_made(place.number, place.space?).into_iter().next()
        };
        let mut rows: Vec<Mutation> = self.places.iter().filter_map(made).collect();
        // Numbers of places that are gone are not given again.
        rows.push(directory::record_next(self.next_place));
        rows
    }

    /// Rows behind this key of the place at `at`, and of those behind it.
    fn rows(
        &mut self,
        mut at: usize,
        mut after: Option<Bytes>,
        limit: usize,
    ) -> Result<Vec<Mutation>, Error> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while let Some(place) = self.places.get(at) {
            if self.inner.closing.load(Ordering::Relaxed) {
                return Err(Error::new(Kind::Reopened, "the store was opened again"));
            }
            let start = after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let range = (start, Bound::<&[u8]>::Unbounded);
            let replaced = self.replaced.as_ref().filter(|(space, ..)| Some(*space) == place.space);
            if let Some((_, key, Some(value))) = replaced.filter(|_| after.is_none()) {
                let (key, value) = (key.clone(), Some(value.clone()));
                rows.push(Mutation { space: place.number, key, value });
            }
            let drops = place.space.and_then(|space| self.predicate.filter_for(space));
            for row in place.tree.range::<&[u8], _>(range, self.view.number, None) {
                let (key, value) =
                    row.into_inner().map_err(|error| from_tree("read a base", &error))?;
                let is_replaced = replaced.is_some_and(|(_, replaced, _)| *replaced == *key);
                if is_replaced || drops.as_ref().is_some_and(|drops| drops(&key, &value)) {
                    continue;
                }
                bytes += key.len() + value.len();
                let (key, value) = (Bytes::from(key), Some(Bytes::from(value)));
                rows.push(Mutation { space: place.number, key: key.clone(), value });
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

/// Keeps a piece of a base for the next opening.
pub(crate) fn keep_piece(directory: &Path, number: u32, bytes: &[u8]) -> Result<(), Error> {
    let folder = directory.join(wiping::BASE);
    let kept = std::fs::create_dir_all(&folder)
        .and_then(|()| File::create(folder.join(number.to_string())))
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    kept.map_err(|error| from_io("keep a piece of a base", &error))
}

/// All pieces are there, as many as this.
pub(crate) fn complete(directory: &Path, pieces: u32) -> Result<(), Error> {
    let folder = directory.join(wiping::BASE);
    let completed = File::create(folder.join("new"))
        .and_then(|mut file| {
            file.write_all(pieces.to_string().as_bytes()).and_then(|()| file.sync_all())
        })
        .and_then(|()| std::fs::rename(folder.join("new"), folder.join(COMPLETE)))
        .and_then(|()| File::open(&folder)?.sync_all())
        .and_then(|()| File::open(directory)?.sync_all());
    completed.map_err(|error| from_io("complete a base", &error))
}

/// How many pieces the next opening makes a store of.
pub(crate) fn pieces(directory: &Path) -> Option<u32> {
    std::fs::read_to_string(directory.join(wiping::BASE).join(COMPLETE)).ok()?.parse().ok()
}

/// Makes the store of a base whose pieces are all there.
pub(crate) fn load(
    options: &TreeOptions,
    journal: &dyn OpenJournal,
    predicate: &PredicateInForce,
) -> Result<(), Error> {
    let Some(count) = pieces(&options.path) else { return Ok(()) };
    let folder = options.path.join(wiping::BASE);
    let mut kept = (0..count).map(|number| {
        let bytes = std::fs::read(folder.join(number.to_string()));
        bytes.map(Bytes::from).map_err(|error| from_io("read a piece of a base", &error))
    });
    make(options, journal, predicate, &mut kept)?;
    // First what makes it a base: half of one is none.
    let removed = std::fs::remove_file(folder.join(COMPLETE))
        .and_then(|()| File::open(&folder)?.sync_all())
        .and_then(|()| std::fs::remove_dir_all(&folder));
    removed.map_err(|error| from_io("remove a base", &error))
}

/// Makes a store of pieces, in place of what the directory has; half of one after a failure. Returns number and
/// stamp of the last entry that it has.
pub(crate) fn make(
    options: &TreeOptions,
    journal: &dyn OpenJournal,
    predicate: &PredicateInForce,
    pieces: &mut dyn Iterator<Item = Result<Bytes, Error>>,
) -> Result<(u64, Stamp), Error> {
    wiping::throw_away(&options.path, journal)?;
    let trees = Trees::new(options.path.join(TREES), options.cache_bytes, predicate)?;
    let directory = trees.open_or_make(DIRECTORY, None)?;
    let mut replayed = Replayed::open(&trees, directory, &Listed { next: 1, ..Listed::default() })?;
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
    let mark = Mark { durable: last.n, tail: last.n + 1, stamp: last.last };
    let marked = DurableWatermark::open(&options.path.join(wiping::MARK))
        .and_then(|mut watermark| watermark.move_to(mark));
    marked.map_err(|error| from_io("write the mark", &error))?;
    Ok((last.n, last.last))
}

/// Writes the memory of all trees that have this much.
fn flush(replayed: &Replayed, bytes: u64) -> Result<(), Error> {
    let places = replayed.places.values().chain([&replayed.directory]);
    for place in places.filter(|place| place.buffer().floor().is_some()) {
        if bytes <= place.buffer().bytes() {
            // Nobody reads, and rows come once each.
            place.flush(|| Ok(0))?;
            place.release().map_err(|error| from_tree("let go of old files", &error))?;
        }
    }
    Ok(())
}
