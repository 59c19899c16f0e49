//! A node's local copy of the data: its tree and local journal, and the position in the cluster's
//! journal up to which both are complete. The copy may fail, lag or be damaged without loss:
//! committed data is in the cluster's journal.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use cluster::{BaseRecord, Position};
use journal::OpenJournal;
use store::{CommitClock, Error, Health, Kind, Store as _};
use store_tree::{TreeOptions, TreeStore};
use tokio::sync::mpsc::Sender;

use crate::{
    journal::PositionTable,
    position_file::{PositionFile, PositionRecord},
};

/// Number of the entry with which a new store starts.
pub(crate) const FIRST: u64 = 1;

/// The local copy of a shard.
pub(crate) struct LocalCopy {
    pub(crate) tree: Arc<TreeStore>,
    pub(crate) positions: Arc<PositionTable>,
    /// Number of times the copy was wiped.
    pub(crate) wipes: Arc<AtomicU64>,
    position_file: PositionFile,
    path: PathBuf,
}

/// The recorded position of the local copy, which is needed before the journal is opened.
pub(crate) struct SavedPosition {
    pub(crate) positions: Arc<PositionTable>,
    file: PositionFile,
    path: PathBuf,
}

impl SavedPosition {
    /// Reads the position from the position file in a store's directory.
    pub(crate) fn open(options: &TreeOptions) -> Result<Self, Error> {
        let path = options.path.join("place");
        let context = |error: std::io::Error| {
            Error::new(
                Kind::Unavailable,
                format!("open the position file {}: {error}", path.display()),
            )
        };
        std::fs::create_dir_all(&options.path).map_err(context)?;
        let file = PositionFile::open(&path).map_err(context)?;
        Ok(Self { positions: Arc::new(PositionTable::new(file.noted)), file, path })
    }

    fn record(&mut self, noted: PositionRecord) -> Result<(), Error> {
        write(&mut self.file, &self.path, noted)
    }
}

fn write(
    file: &mut PositionFile,
    path: &std::path::Path,
    noted: PositionRecord,
) -> Result<(), Error> {
    file.write(noted).map_err(|error| {
        let text = format!("write the position file {}: {error}", path.display());
        Error::new(Kind::Unavailable, text)
    })
}

/// A message to the task that publishes a base, from the thread that reads the tree for it.
#[derive(Debug)]
pub(crate) enum BaseMessage {
    /// The first message: the position of the base.
    At(Position),
    Piece(Bytes),
    /// The last message: all data was sent.
    End,
}

/// Returns whether the error means that the copy cannot be trusted and has to be wiped: it is
/// damaged or does not fit the journal.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind, Kind::Corrupt | Kind::Invalid)
}

/// Returns the log message about a wiped copy.
fn wiped(why: &Error) -> String {
    format!("the node's copy is damaged and is rebuilt from the cluster's journal: {why}")
}

impl LocalCopy {
    /// Opens the copy. A damaged copy is wiped, and the reason is returned as the second value.
    pub(crate) fn open(
        mut position: SavedPosition,
        options: &TreeOptions,
        journal: &Arc<dyn OpenJournal>,
        time: &Arc<dyn CommitClock>,
    ) -> Result<(Self, Option<String>), Error> {
        let noted = position.positions.newest();
        let open = || TreeStore::open_on(options, Arc::clone(journal), Arc::clone(time), false);
        let opened = open().and_then(|tree| match tree.last_entry()? {
            last if last < noted.n => {
                let text = format!(
                    "entry {} is missing from the local journal, which ends at {last}",
                    noted.n
                );
                Err(Error::new(Kind::Corrupt, text))
            }
            _ => Ok(tree),
        });
        let (tree, why) = match opened {
            Ok(tree) => (tree, None),
            Err(error) if is_damage(&error) => {
                position.record(PositionRecord::default())?;
                position.positions.forget();
                TreeStore::wipe_at_opening(&options.path)?;
                (open()?, Some(wiped(&error)))
            }
            Err(error) => return Err(error),
        };
        let SavedPosition { positions, file: position_file, path } = position;
        let wipes = Arc::new(AtomicU64::new(u64::from(why.is_some())));
        Ok((Self { tree: Arc::new(tree), positions, wipes, position_file, path }, why))
    }

    /// Returns whether the copy contains, or may contain, entries after its recorded position.
    pub(crate) fn may_have_diverged(&self) -> bool {
        let noted = self.positions.newest().n.max(FIRST);
        !self.tree.last_entry().is_ok_and(|last| last <= noted)
    }

    /// Syncs the local journal, then saves the position in the cluster's journal up to which this
    /// copy is durable. Does not save it while the store is being reopened.
    pub(crate) fn save_position(&mut self) -> Result<(), Error> {
        let noted = self.positions.newest();
        if self.tree.sync_journal()? {
            write(&mut self.position_file, &self.path, noted)?;
        }
        Ok(())
    }

    /// Reads all visible data on a separate thread. Drops the sender if nothing can be read now.
    pub(crate) fn make_base(&self, made: Sender<BaseMessage>, piece_bytes: usize) {
        let Ok(mut reader) = self.tree.base() else { return };
        let Some(position) = self.positions.position_at(reader.last_entry()) else { return };
        let read = move || {
            let mut go_on = made.blocking_send(BaseMessage::At(position)).is_ok();
            while go_on {
                let next = match reader.next_piece(piece_bytes) {
                    Ok(Some(piece)) => BaseMessage::Piece(piece),
                    Ok(None) => BaseMessage::End,
                    Err(_) => return,
                };
                go_on = !matches!(next, BaseMessage::End);
                go_on &= made.blocking_send(next).is_ok();
            }
        };
        // If no thread can be started, no base is written now; a later attempt may succeed.
        let _ = std::thread::Builder::new().name("base".to_owned()).spawn(read);
    }

    /// Rebuilds the tree from a base whose pieces are all saved.
    pub(crate) fn begin_load(&mut self, base: &BaseRecord) -> Result<(), Error> {
        write(&mut self.position_file, &self.path, PositionRecord::default())?;
        self.positions.forget();
        self.tree.load_base(base.pieces)
    }

    /// Returns the position after the base once the tree was rebuilt from it; `None` before.
    pub(crate) fn loaded(&mut self, base: &BaseRecord) -> Result<Option<Position>, Error> {
        if let Some(error) = self.tree.opening_failure().filter(is_damage) {
            return Err(error);
        }
        if self.tree.is_loading() {
            // A reopening in progress may have missed the request to load.
            if !matches!(self.tree.health(), Health::Refusing(_)) {
                self.tree.load_base(base.pieces)?;
            }
            return Ok(None);
        }
        match self.tree.health() {
            Health::Refusing(_) => return Ok(None),
            Health::Reopened => self.tree.resume_commits(),
            Health::Good => {}
        }
        let (n, position) = (self.tree.last_entry()?, Position::from_base(base));
        self.positions.record(PositionRecord { n, position });
        self.save_position()?;
        Ok(Some(position))
    }

    /// Tries to recover from a failure. Returns the position from which to follow the journal, or
    /// `None` while the store does not work yet. If the copy is damaged, starts to wipe it and
    /// fails.
    pub(crate) fn try_recover(&mut self, failure: &Error) -> Result<Option<Position>, Error> {
        if self.tree.is_wiping() {
            // A reopening in progress may have missed the request to wipe.
            if !matches!(self.tree.health(), Health::Refusing(_)) {
                self.tree.wipe(failure)?;
            }
            return Ok(None);
        }
        // Settles entries in flight, and makes a reopened store reject commits.
        let left = self.tree.leave();
        let damage = [Some(failure.clone()), self.tree.opening_failure(), left.clone().err()];
        if let Some(damage) = damage.into_iter().flatten().find(is_damage) {
            // Written before the wipe, so that the empty copy is never taken for the former one.
            write(&mut self.position_file, &self.path, PositionRecord::default())?;
            self.positions.forget();
            self.tree.wipe(&damage)?;
            self.wipes.fetch_add(1, Ordering::Relaxed);
            return Err(Error::new(Kind::Unavailable, wiped(&damage)));
        }
        if left.is_err() {
            return Ok(None);
        }
        match self.tree.health() {
            Health::Refusing(_) => return Ok(None),
            // The store was reopened, so services would have to reread it, but none is running.
            Health::Reopened => self.tree.resume_commits(),
            Health::Good => {}
        }
        Ok(Some(self.positions.newest().position))
    }
}
