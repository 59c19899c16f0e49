//! What readers see: a snapshot of the tree, and the number of each space in it.
//!
//! Each entry is applied as one batch of the tree. While an entry is half applied, the published
//! number is still below its number, so no view contains a part of it. A view holds neither memory
//! nor files between reads; while it is open, the tree keeps the versions that it sees.

use std::{collections::HashMap, sync::Arc};

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Mutex, MutexGuard};
use store::{Error, Kind, Space};
use tree::{Snapshot, Tree};

use crate::errors::from_tree;

/// Numbers of the spaces in the tree.
pub(crate) type SpaceNumbers = HashMap<Space, u64, foldhash::fast::RandomState>;

/// The data that readers see at one moment.
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    pub(crate) numbers: Arc<SpaceNumbers>,
}

/// Converts an error of a read.
pub(crate) fn read_error(context: &str, error: &tree::Error) -> Error {
    if matches!(error, tree::Error::SnapshotEnded) {
        let text = "the read was aborted because the old document versions kept for it used too \
                    much disk space: try again, or raise --old-views-disk";
        return Error::new(Kind::ViewEnded, text);
    }
    from_tree(context, error)
}

/// Held while entries are applied until they are published, so that other threads that take the
/// lock find the tree and the newest view consistent.
pub(crate) struct Applying<'a>(#[expect(dead_code, reason = "held")] MutexGuard<'a, ()>);

/// Publishes views, and holds the newest one.
pub(crate) struct Published {
    tree: Tree,
    current: ArcSwap<View>,
    applying: Mutex<()>,
    /// The spaces after all applied entries.
    numbers: Mutex<Arc<SpaceNumbers>>,
}

impl Published {
    /// Creates the first view, of all that the tree has published.
    pub(crate) fn new(tree: &Tree, numbers: SpaceNumbers) -> Self {
        let numbers = Arc::new(numbers);
        let view = View { snapshot: tree.snapshot(), numbers: Arc::clone(&numbers) };
        Self {
            tree: tree.clone(),
            current: ArcSwap::from_pointee(view),
            applying: Mutex::default(),
            numbers: Mutex::new(numbers),
        }
    }

    /// Returns the newest view, for a single read.
    pub(crate) fn view(&self) -> Guard<Arc<View>> {
        self.current.load()
    }

    /// Returns an owned reference to the newest view, for a reader that keeps it.
    pub(crate) fn view_to_keep(&self) -> Arc<View> {
        self.current.load_full()
    }

    /// Takes the lock that is held while entries are applied and published.
    pub(crate) fn begin_applying(&self) -> Applying<'_> {
        Applying(self.applying.lock())
    }

    /// Publishes a view of all batches up to this number, the last one applied.
    pub(crate) fn publish(&self, _: &Applying<'_>, number: u64) -> Result<(), Error> {
        let published = self.tree.publish(number);
        published.map_err(|error| from_tree("publish an entry", &error))?;
        let view = View { snapshot: self.tree.snapshot(), numbers: self.space_numbers() };
        self.current.store(Arc::new(view));
        Ok(())
    }

    /// Changes the set of spaces; the next view that is published shows the change.
    pub(crate) fn change_spaces(&self, _: &Applying<'_>, change: impl FnOnce(&mut SpaceNumbers)) {
        let mut numbers = self.numbers.lock();
        let mut changed = SpaceNumbers::clone(&numbers);
        change(&mut changed);
        *numbers = Arc::new(changed);
    }

    /// Returns the numbers of all spaces.
    pub(crate) fn space_numbers(&self) -> Arc<SpaceNumbers> {
        Arc::clone(&self.numbers.lock())
    }
}
