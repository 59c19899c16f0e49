//! One opening of the tree, as its threads share it: what is open, what is durable, whom to tell.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use store::{Error, Flight};

use crate::{
    compactor_mailbox::CompactorMailbox,
    errors::{from_fjall, from_io},
    judged::Judged,
    mark::Mark,
    measured::Measured,
    memory::Memory,
    open_view::OpenView,
    pins::Pins,
    room::Room,
    spaces::Spaces,
    writeback::Writeback,
};

/// How often somebody who waits for the tree looks again.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// An open tree.
pub(crate) struct Inner {
    pub(crate) database: Database,
    pub(crate) meta: Keyspace,
    pub(crate) spaces: Spaces,
    pub(crate) flight: Arc<Flight>,
    pub(crate) published: Arc<AtomicU64>,
    /// Number of the last batch that is durable.
    pub(crate) batch: AtomicU64,
    /// Number of the last batch that the tree has.
    pub(crate) written: AtomicU64,
    pub(crate) mark: Mutex<Mark>,
    pub(crate) pins: Arc<Pins>,
    pub(crate) compactor: CompactorMailbox,
    pub(crate) writeback: Writeback,
    pub(crate) memory: Memory,
    /// What readers see: all that is durable.
    pub(crate) current: ArcSwap<OpenView>,
    /// Why no commit is accepted any more.
    pub(crate) stopped: OnceLock<Error>,
    /// Where the tree is.
    pub(crate) tree: PathBuf,
    pub(crate) judged: Judged,
    pub(crate) measured: Arc<Measured>,
    pub(crate) room: Arc<Room>,
    /// It is about to be closed: reads end.
    pub(crate) closing: AtomicBool,
}

impl Inner {
    /// A snapshot of all that the tree has.
    pub(crate) fn open(&self) -> Arc<OpenView> {
        OpenView::new(&self.database, &self.pins)
    }

    /// Accepts no commit any more: what is on disk is not known.
    pub(crate) fn stop(&self, error: &Error) {
        let _ = self.stopped.set(error.clone());
    }

    /// Why no commit is accepted any more.
    pub(crate) fn stopped(&self) -> Option<Error> {
        self.stopped.get().cloned()
    }

    /// Finds out whether the tree has given up, which its workers do without a word: then it
    /// answers the reason from now on.
    pub(crate) fn check_tree(&self) -> Result<(), Error> {
        if let Some(why) = self.stopped() {
            return Err(why);
        }
        let asked = self.database.persist(PersistMode::Buffer);
        asked.map_err(|error| {
            let error = from_fjall("write tables", &error);
            self.stop(&error);
            error
        })
    }

    /// Bytes that are in memory and not yet in tables.
    pub(crate) fn in_memory(&self) -> u64 {
        self.database.write_buffer_size()
    }

    /// Writes the memory of a keyspace to tables and waits for it, unless the tree gives up.
    pub(crate) fn flush(&self, keyspace: &Keyspace) -> Result<(), Error> {
        let rotated = keyspace.rotate_memtable();
        rotated.map_err(|error| from_fjall("write tables", &error))?;
        while 0 < keyspace.tree.sealed_memtable_count() {
            self.check_tree()?;
            std::thread::park_timeout(LOOK_EVERY);
        }
        Ok(())
    }

    /// Writes all that is only in memory into tables.
    pub(crate) fn flush_all(&self) -> Result<(), Error> {
        self.check_tree()?;
        for (_, keyspace) in self.spaces.all() {
            self.flush(&keyspace)?;
        }
        self.flush(&self.meta)
    }

    /// Moves the mark to what is durable now.
    pub(crate) fn move_mark(&self) -> Result<(), Error> {
        let batch = self.batch.load(Ordering::SeqCst);
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        mark.set(batch).map_err(|error| from_io("write the mark", &error))
    }
}
