//! The state of an open tree, shared by its snapshots and jobs, and the one way in which files
//! enter and leave a version.
//!
//! | lock | held for | readers take it |
//! |---|---|---|
//! | `writer` | inserting a batch, publishing, changing the set of spaces | no |
//! | `Space::writing` | inserting into a space, sealing its memtable | no |
//! | `Space::exchange` | computing and storing a state | no |
//! | `editor` | writing an edit to the list of files | no |
//! | `claimed` | one operation of a set | no |
//! | `Pins` | one operation of a map | when the last clone of a snapshot is dropped |
//!
//! No file is read, written, synced or removed under a lock that a reader or the writer takes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::{
    error::{Error, Result},
    file_writer::FileMaker,
    files::Files,
    manifest::{self, Manifest},
    memtable::Memtable,
    pins::{Pin, Pins},
    space::{Space, State},
    version::{Edit, Version},
};

pub(crate) type SpaceMap = BTreeMap<u64, Arc<Space>>;

/// The state that a new snapshot sees.
#[derive(Debug)]
pub(crate) struct View {
    /// Number of the last visible batch.
    pub(crate) number: u64,
    pub(crate) spaces: Arc<SpaceMap>,
    pub(crate) pin: Pin,
}

/// An open tree without its public interface.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) maker: FileMaker,
    pub(crate) pins: Arc<Pins>,
    pub(crate) current: ArcSwap<View>,
    /// The spaces that exist, whether or not they are published yet. Changed only while `writer` is
    /// locked.
    pub(crate) spaces: ArcSwap<SpaceMap>,
    /// Held while a batch is applied or published, or the set of spaces is changed.
    pub(crate) writer: Mutex<()>,
    /// Number of the last applied batch.
    pub(crate) applied: AtomicU64,
    editor: Mutex<Manifest>,
    /// Sequence number of the last durable edit.
    last_edit: AtomicU64,
    /// Reason why the list of files cannot be written any more.
    stopped: OnceLock<Arc<Error>>,
    /// Tables and body files that a job uses.
    claimed: Mutex<BTreeSet<u64>>,
    /// Dropped spaces whose files are still listed.
    pub(crate) dropped: Mutex<Vec<Arc<Space>>>,
    /// Whether running jobs have to end early.
    pub(crate) closing: AtomicBool,
}

/// Tables and body files that only one job may change, until this value is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    shared: Arc<Shared>,
    files: Vec<u64>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claimed = self.shared.claimed.lock();
        for file in &self.files {
            claimed.remove(file);
        }
    }
}

impl Shared {
    pub(crate) fn new(maker: FileMaker, manifest: Manifest, spaces: SpaceMap) -> Self {
        let (pins, spaces) = (Arc::<Pins>::default(), Arc::new(spaces));
        // Nothing is visible until the owner has applied its log and publishes.
        let view = View { number: 0, spaces: Arc::clone(&spaces), pin: pins.pin(0) };
        Self {
            maker,
            pins,
            current: ArcSwap::from_pointee(view),
            spaces: ArcSwap::new(spaces),
            writer: Mutex::default(),
            applied: AtomicU64::new(0),
            last_edit: AtomicU64::new(manifest.sequence()),
            editor: Mutex::new(manifest),
            stopped: OnceLock::new(),
            claimed: Mutex::default(),
            dropped: Mutex::default(),
            closing: AtomicBool::new(false),
        }
    }

    pub(crate) fn files(&self) -> &Arc<Files> {
        &self.maker.files
    }

    /// Makes a view of all batches up to this number the current one. The caller holds `writer`.
    pub(crate) fn publish(&self, number: u64) {
        // Registered before the previous view can be released, so that its versions are kept.
        let pin = self.pins.pin(number);
        let view = View { number, spaces: self.all_spaces(), pin };
        drop(self.current.swap(Arc::new(view)));
    }

    /// Returns a space that exists, whether or not it is published yet.
    pub(crate) fn space(&self, number: u64) -> Result<Arc<Space>> {
        self.spaces.load().get(&number).cloned().ok_or(Error::UnknownSpace(number))
    }

    /// Returns all spaces that exist.
    pub(crate) fn all_spaces(&self) -> Arc<SpaceMap> {
        self.spaces.load_full()
    }

    /// Claims files for a job; `None` if another job uses one of them.
    pub(crate) fn claim(self: &Arc<Self>, files: Vec<u64>) -> Option<Claim> {
        let mut claimed = self.claimed.lock();
        if files.iter().any(|file| claimed.contains(file)) {
            return None;
        }
        claimed.extend(files.iter().copied());
        Some(Claim { shared: Arc::clone(self), files })
    }

    pub(crate) fn is_claimed(&self, file: u64) -> bool {
        self.claimed.lock().contains(&file)
    }

    /// Fails if files can no longer be changed.
    pub(crate) fn check_working(&self) -> Result<()> {
        self.stopped.get().map_or(Ok(()), |cause| Err(Error::Stopped(Arc::clone(cause))))
    }

    fn stop<T>(&self, error: Error) -> Result<T> {
        let cause = self.stopped.get_or_init(|| Arc::new(error));
        Err(Error::Stopped(Arc::clone(cause)))
    }

    /// Returns the sequence number of the last durable edit.
    pub(crate) fn last_edit(&self) -> u64 {
        self.last_edit.load(Ordering::SeqCst)
    }

    /// Makes edits of a space durable, publishes its new version and releases the memtables that
    /// were flushed. New files must be durable; their names are made durable here. Returns the
    /// replaced state; `None` if nothing was changed, because the space was dropped or `fits`
    /// refuses the current version.
    pub(crate) fn edit(
        &self,
        space: &Space,
        mut edits: Vec<Edit>,
        flushed: &[Arc<Memtable>],
        fits: impl FnOnce(&Version) -> bool,
    ) -> Result<Option<Arc<State>>> {
        let mut manifest = self.editor.lock();
        self.check_working()?;
        let old = Arc::clone(&space.load().version);
        if space.is_dropped() || !fits(&old) {
            return Ok(None);
        }
        let trash = &self.files().trash;
        let mut next = old.after(&edits, trash).map_err(Error::Refused)?;
        let unused = self.unused_bodies(space.number, &next);
        if !unused.is_empty() {
            next = next.after(&unused, trash).map_err(Error::Refused)?;
            edits.extend(unused);
        }
        if edits.iter().any(|edit| matches!(edit, Edit::AddTable { .. } | Edit::SetBody { .. })) {
            let synced = self.files().disk().sync_names();
            synced.map_err(|error| Error::io("sync the names in", "the folder", error))?;
        }
        if !edits.is_empty() {
            self.append(&mut manifest, &edits)?;
        }
        let next = Arc::new(next);
        let replaced = space.exchange(|state| {
            let is_new = |memtable: &&Arc<Memtable>| {
                !flushed.iter().any(|flushed| Arc::ptr_eq(flushed, memtable))
            };
            let sealed = state.sealed.iter().filter(is_new).cloned().collect();
            State { active: Arc::clone(&state.active), sealed, version: Arc::clone(&next) }
        });
        old.record_removed(&next);
        drop(manifest);
        drop(old);
        Ok(Some(replaced))
    }

    /// Makes it durable that a dropped space has no files any more, and releases them.
    pub(crate) fn forget(&self, space: &Space) -> Result<()> {
        let mut manifest = self.editor.lock();
        self.check_working()?;
        let old = Arc::clone(&space.load().version);
        if !old.is_empty() || !old.ended.is_empty() {
            self.append(&mut manifest, &[Edit::DropSpace { space: space.number }])?;
        }
        let next = Arc::<Version>::default();
        let replaced = space.exchange(|state| State {
            active: Arc::clone(&state.active),
            sealed: Vec::new(),
            version: Arc::clone(&next),
        });
        old.record_removed(&next);
        drop(manifest);
        drop((replaced, old));
        Ok(())
    }

    /// Returns the edits that remove body files to which no table refers.
    fn unused_bodies(&self, space: u64, version: &Version) -> Vec<Edit> {
        // A flush may be about to refer to a file that it has claimed.
        let bodies = version.bodies.values().filter(|body| body.used.0 == 0);
        let bodies = bodies.map(|body| body.meta.id).filter(|body| !self.is_claimed(*body));
        let ended = version.ended.iter().filter(|(_, used)| **used == 0).map(|(body, _)| *body);
        bodies.chain(ended).map(|body| Edit::RemoveBody { space, body }).collect()
    }

    /// Appends edits to the list of files. After a failure the tree is stopped: what the disk
    /// contains is unknown, so neither old nor new files may be removed.
    fn append(&self, manifest: &mut Manifest, edits: &[Edit]) -> Result<()> {
        match manifest.append(edits) {
            Ok(sequence) => self.last_edit.store(sequence, Ordering::SeqCst),
            Err(error) => return self.stop(error),
        }
        Ok(())
    }

    /// Writes the list of files anew if it has grown long.
    pub(crate) fn shorten_manifest(&self) -> Result<()> {
        let mut manifest = self.editor.lock();
        if !manifest.is_long(self.maker.options.manifest_bytes) {
            return Ok(());
        }
        self.check_working()?;
        let listed: Vec<Arc<Space>> = {
            // Excludes a drop between the two reads. A dropped space is still listed until its drop
            // is recorded.
            let _no_change = self.writer.lock();
            self.all_spaces().values().chain(&*self.dropped.lock()).cloned().collect()
        };
        let listed = listed.iter();
        let edits: Vec<Edit> =
            listed.flat_map(|space| space.load().version.as_edits(space.number)).collect();
        let disk = self.files().disk();
        let created =
            Manifest::create(disk, manifest.number() + 1, manifest.sequence() + 1, &edits);
        match created {
            Ok(new) => *manifest = new,
            // The marker of the new list may exist, so nothing may be added to the old one.
            Err(error) => return self.stop(error),
        }
        self.last_edit.store(manifest.sequence(), Ordering::SeqCst);
        if let Ok(names) = disk.names() {
            manifest.remove_others(&names);
        }
        Ok(())
    }

    /// Removes the files that these edits would have added; listed ones stay.
    pub(crate) fn discard(&self, space: &Space, edits: &[Edit]) {
        let version = Arc::clone(&space.load().version);
        let listed: BTreeSet<u64> = version.file_ids().collect();
        for edit in edits {
            let file = match edit {
                Edit::AddTable { meta, .. } => meta.id,
                Edit::SetBody { meta, .. } => meta.file,
                _ => continue,
            };
            if !listed.contains(&file) {
                self.files().trash.push_file(file);
            }
        }
    }

    /// Reads the list of files again, and fails if it differs from the written one.
    pub(crate) fn check_manifest(&self) -> Result<()> {
        let manifest = self.editor.lock();
        let disk = self.files().disk();
        let names = disk.names().map_err(|error| Error::io("list", "the folder", error))?;
        let listed = manifest::read(&**disk, &names)?;
        if (listed.number, listed.sequence) != (manifest.number(), manifest.sequence()) {
            let name = format!("manifest-{}", manifest.number());
            return Err(Error::damaged(&name, 0, "its last records are missing"));
        }
        Ok(())
    }
}
