//! A node's own copy of the data: its tree with the own journal, and up to which place of the cluster's
//! they go. It may fail, be behind or be damaged: what is committed is in the cluster's journal.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use cluster::{BaseRecord, Place};
use journal::OpenJournal;
use store::{Error, Health, Kind, Store as _, Timepiece};
use store_tree::{TreeOptions, TreeStore};
use tokio::sync::mpsc::Sender;

use crate::{
    journal::PlaceBook,
    place_file::{Noted, PlaceFile},
};

/// The entry that a store begins with by itself.
pub(crate) const FIRST: u64 = 1;

/// The copy.
pub(crate) struct OwnCopy {
    pub(crate) tree: Arc<TreeStore>,
    pub(crate) book: Arc<PlaceBook>,
    /// How often it was thrown away.
    pub(crate) wipes: Arc<AtomicU64>,
    place_file: PlaceFile,
    path: PathBuf,
}

/// Where the place is noted, which has to be known before the journal can be opened.
pub(crate) struct NotedPlace {
    pub(crate) book: Arc<PlaceBook>,
    file: PlaceFile,
    path: PathBuf,
}

impl NotedPlace {
    /// Reads it in the directory of a store.
    pub(crate) fn open(options: &TreeOptions) -> Result<Self, Error> {
        let path = options.path.join("place");
        let context = |error: std::io::Error| {
            Error::new(Kind::Unavailable, format!("open the place {}: {error}", path.display()))
        };
        std::fs::create_dir_all(&options.path).map_err(context)?;
        let file = PlaceFile::open(&path).map_err(context)?;
        Ok(Self { book: Arc::new(PlaceBook::new(file.noted)), file, path })
    }

    fn note(&mut self, noted: Noted) -> Result<(), Error> {
        write(&mut self.file, &self.path, noted)
    }
}

fn write(file: &mut PlaceFile, path: &std::path::Path, noted: Noted) -> Result<(), Error> {
    file.write(noted).map_err(|error| {
        let text = format!("note the place in {}: {error}", path.display());
        Error::new(Kind::Unavailable, text)
    })
}

/// What is read of a tree for a base.
#[derive(Debug)]
pub(crate) enum Made {
    /// First: where it stands.
    At(Place),
    /// A piece.
    Piece(Bytes),
    /// All was read.
    End,
}

/// Whether what a copy has cannot be believed, so that it is thrown away: it is damaged, or does not fit
/// to what it should follow.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind, Kind::Corrupt | Kind::Invalid)
}

/// What people read of a copy that was thrown away.
fn wiped(why: &Error) -> String {
    format!("the node's own copy is damaged and is made again from the cluster's journal: {why}")
}

impl OwnCopy {
    /// Opens it. A copy that is damaged is thrown away: why, as the second.
    pub(crate) fn open(
        mut place: NotedPlace,
        options: &TreeOptions,
        journal: &Arc<dyn OpenJournal>,
        time: &Arc<dyn Timepiece>,
    ) -> Result<(Self, Option<String>), Error> {
        let noted = place.book.newest();
        let open = || TreeStore::open_on(options, Arc::clone(journal), Arc::clone(time), false);
        let opened = open().and_then(|tree| match tree.last_entry()? {
            last if last < noted.n => {
                let text =
                    format!("entry {} of the own journal is lost, which ends at {last}", noted.n);
                Err(Error::new(Kind::Corrupt, text))
            }
            _ => Ok(tree),
        });
        let (tree, why) = match opened {
            Ok(tree) => (tree, None),
            Err(error) if is_damage(&error) => {
                place.note(Noted::default())?;
                place.book.forget();
                TreeStore::wipe_at_opening(&options.path)?;
                (open()?, Some(wiped(&error)))
            }
            Err(error) => return Err(error),
        };
        let NotedPlace { book, file: place_file, path } = place;
        let wipes = Arc::new(AtomicU64::new(u64::from(why.is_some())));
        Ok((Self { tree: Arc::new(tree), book, wipes, place_file, path }, why))
    }

    /// Whether it has, or may have, more than its place says.
    pub(crate) fn is_unsure(&self) -> bool {
        let noted = self.book.newest().n.max(FIRST);
        !self.tree.last_entry().is_ok_and(|last| last <= noted)
    }

    /// Makes the place durable, and before it what the own journal has up to there. A store that is being
    /// opened again has to wait with that.
    pub(crate) fn note_place(&mut self) -> Result<(), Error> {
        let noted = self.book.newest();
        if self.tree.sync_journal()? {
            write(&mut self.place_file, &self.path, noted)?;
        }
        Ok(())
    }

    /// Reads all that is visible on a thread of its own. Where nothing can be read now it says nothing.
    pub(crate) fn make_base(&self, made: Sender<Made>, piece_bytes: usize) {
        let Ok(mut reader) = self.tree.base() else { return };
        let Some(place) = self.book.place_at(reader.last_entry()) else { return };
        let read = move || {
            let mut go_on = made.blocking_send(Made::At(place)).is_ok();
            while go_on {
                let next = match reader.next_piece(piece_bytes) {
                    Ok(Some(piece)) => Made::Piece(piece),
                    Ok(None) => Made::End,
                    Err(_) => return,
                };
                go_on = !matches!(next, Made::End);
                go_on &= made.blocking_send(next).is_ok();
            }
        };
        // Without a thread there is no base this time.
        let _ = std::thread::Builder::new().name("base".to_owned()).spawn(read);
    }

    /// All pieces of a base are kept: the tree is made of them.
    pub(crate) fn begin_load(&mut self, base: &BaseRecord) -> Result<(), Error> {
        write(&mut self.place_file, &self.path, Noted::default())?;
        self.book.forget();
        self.tree.load_base(base.pieces)
    }

    /// Where the tree stands when it was made of a base; nothing before that.
    pub(crate) fn loaded(&mut self, base: &BaseRecord) -> Result<Option<Place>, Error> {
        if let Some(error) = self.tree.opening_failure().filter(is_damage) {
            return Err(error);
        }
        if self.tree.is_loading() {
            // An opening that was under way may have missed it.
            if !matches!(self.tree.health(), Health::Refusing(_)) {
                self.tree.load_base(base.pieces)?;
            }
            return Ok(None);
        }
        match self.tree.health() {
            Health::Refusing(_) => return Ok(None),
            Health::Anew => self.tree.resume_commits(),
            Health::Good => {}
        }
        let (n, place) = (self.tree.last_entry()?, Place::of(base));
        self.book.note(Noted { n, place });
        self.note_place()?;
        Ok(Some(place))
    }

    /// After a failure: from where it can be followed, or nothing while the store does not work yet. An
    /// error when it has to be thrown away first, and this was begun.
    pub(crate) fn mend(&mut self, failure: &Error) -> Result<Option<Place>, Error> {
        if self.tree.is_wiping() {
            // An opening that was under way may have missed it.
            if !matches!(self.tree.health(), Health::Refusing(_)) {
                self.tree.wipe(failure)?;
            }
            return Ok(None);
        }
        // Entries under way are in the own journal or not, then; and no opening takes commits.
        let left = self.tree.leave();
        let damage = [Some(failure.clone()), self.tree.opening_failure(), left.clone().err()];
        if let Some(damage) = damage.into_iter().flatten().find(is_damage) {
            // First, so that nobody ever takes the empty copy for what it was.
            write(&mut self.place_file, &self.path, Noted::default())?;
            self.book.forget();
            self.tree.wipe(&damage)?;
            self.wipes.fetch_add(1, Ordering::Relaxed);
            return Err(Error::new(Kind::Unavailable, wiped(&damage)));
        }
        if left.is_err() {
            return Ok(None);
        }
        match self.tree.health() {
            Health::Refusing(_) => return Ok(None),
            // Whoever served has to read all again; nobody serves.
            Health::Anew => self.tree.resume_commits(),
            Health::Good => {}
        }
        Ok(Some(self.book.newest().place))
    }
}
