//! Opens the store: the tree, the position of commits, the mark, the committer.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64, mpsc},
    thread::JoinHandle,
};

use fjall::{Database, Keyspace};
use store::{Error, Flight, Kind, Space, Timepiece};

use crate::{
    committer::{Committer, Request},
    errors::{from_fjall, from_io},
    filter::{Filters, Predicate},
    judged::Judged,
    mark::Mark,
    measured::Measured,
    meta,
    spaces::{Spaces, keyspace},
};

/// Largest journal before old memory is flushed, bytes: it bounds the time of a start.
const MAX_JOURNAL_BYTES: u64 = 128 * 1024 * 1024;
const META: &str = "meta";
const TREE: &str = "tree";

/// Where and how a store is opened.
#[derive(Clone, Debug)]
pub struct LsmOptions {
    /// Its directory.
    pub path: PathBuf,
    /// Memory for blocks of the tree, bytes.
    pub cache_bytes: u64,
    /// Open although commits are missing: an operator has looked at it.
    pub accept_loss: bool,
}

impl LsmOptions {
    /// A store in this directory.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), cache_bytes: 256 * 1024 * 1024, accept_loss: false }
    }
}

pub(crate) struct Inner {
    pub(crate) database: Database,
    pub(crate) meta: Keyspace,
    pub(crate) spaces: Spaces,
    pub(crate) flight: Flight,
    pub(crate) published: AtomicU64,
    /// Number of the last batch that is durable.
    pub(crate) batch: AtomicU64,
    pub(crate) predicate: Predicate,
    pub(crate) mark: Mutex<Mark>,
    /// Where the tree is.
    pub(crate) tree: PathBuf,
    pub(crate) judged: Judged,
    pub(crate) measured: Measured,
}

impl Inner {
    /// Moves the mark to what is durable now.
    pub(crate) fn move_mark(&self) -> Result<(), Error> {
        let batch = self.batch.load(std::sync::atomic::Ordering::SeqCst);
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        mark.set(batch).map_err(|error| from_io("write the mark", &error))
    }
}

/// The embedded store.
pub struct LsmStore {
    pub(crate) inner: Arc<Inner>,
    pub(crate) sender: mpsc::Sender<Request>,
    pub(crate) committer: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for LsmStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LsmStore").finish_non_exhaustive()
    }
}

impl LsmStore {
    /// Opens or makes a store whose commits are stamped by this clock.
    pub fn open(options: &LsmOptions, time: Arc<dyn Timepiece>) -> Result<Self, Error> {
        let path = &options.path;
        std::fs::create_dir_all(path).map_err(|error| from_io("make the directory", &error))?;
        let predicate = Predicate::default();
        let database = open_tree(options, &predicate)?;
        let meta = keyspace(&database, META)?;
        let spaces = Spaces::open(&database)?;
        spaces.create(&database, Space::Catalog)?;
        spaces.create(&database, Space::Counts)?;
        let position = meta::read(&meta, options.accept_loss)?;
        let mark =
            Mark::open(&path.join("mark")).map_err(|error| from_io("open the mark", &error))?;
        if position.batch < mark.batch && !options.accept_loss {
            return Err(Error::new(
                Kind::Refused,
                format!(
                    "commits are missing: the journal ends at batch {}, but batch {} was durable",
                    position.batch, mark.batch
                ),
            ));
        }
        let inner = Arc::new(Inner {
            database,
            meta,
            spaces,
            flight: Flight::default(),
            published: AtomicU64::new(position.stamp.seq),
            batch: AtomicU64::new(position.batch),
            predicate,
            mark: Mutex::new(mark),
            tree: path.join(TREE),
            judged: Judged::default(),
            measured: Measured::default(),
        });
        let (sender, requests) = mpsc::channel();
        let committer = Committer::new(Arc::clone(&inner), time, position);
        let thread = std::thread::Builder::new()
            .name("committer".to_owned())
            .spawn(move || committer.run(&requests))
            .map_err(|error| from_io("start the committer", &error))?;
        Ok(Self { inner, sender, committer: Mutex::new(Some(thread)) })
    }

    /// What was measured since it was opened.
    pub fn measured(&self) -> &Measured {
        &self.inner.measured
    }
}

fn open_tree(options: &LsmOptions, predicate: &Predicate) -> Result<Database, Error> {
    let predicate = predicate.clone();
    Database::builder(options.path.join(TREE))
        .cache_size(options.cache_bytes)
        .max_journaling_size(MAX_JOURNAL_BYTES)
        .manual_journal_persist(true)
        .worker_threads(2)
        .with_compaction_filter_factories(Arc::new(move |name| Filters::of(name, &predicate)))
        .open()
        .map_err(|error| match &error {
            fjall::Error::Locked => Error::new(
                Kind::Refused,
                format!("{} is in use by another process", options.path.display()),
            ),
            _ => from_fjall("open the tree", &error),
        })
}
