//! Opens trees. There are two configurations, since rows and entries are read differently:
//!
//! ```text
//!  rows     point lookups             each key stored whole, found by a hash index in its block
//!  others   range scans               prefix-compressed keys
//! ```
//!
//! In both, filters of tables are unpartitioned and stay in memory, like the top of their indexes.
//! The indexes are partitioned, since a compaction with an unpartitioned index would hold as much
//! memory as its largest table has data (see `outputs.rs`); this makes point reads 1 to 2 % slower.
//! All levels have the same configuration: a flushed table may be moved to the last level
//! unchanged, and nothing is rewritten just for its new level.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use lsm_tree::{
    AnyTree, Cache, CompressionType, Config, DescriptorTable, SequenceNumberCounter,
    config::{
        BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy,
        FilterPolicyEntry, HashRatioPolicy, PartitioningPolicy, PinningPolicy,
        RestartIntervalPolicy,
    },
};
use store::{Error, Kind, Space};

use crate::{
    errors::{from_io, from_tree},
    filter::{FilterFactory, PredicateInForce},
    inputs::CompactionInputs,
    manifest,
    outputs::{BLOCK_BYTES, Outputs},
    space_tree::{DroppedFolders, SpaceTree},
};

/// Filter bits per key: one in a hundred lookups of missing keys reads a block.
const FILTER_BITS: f32 = 10.0;
/// Restart interval of prefix compression in a block of entries.
const ENTRIES_APART: u8 = 16;
/// Number of hash index slots per row in a block.
const HASH_PLACES: f32 = 4.0;
/// Maximum number of open table files.
const OPEN_FILES: usize = 900;

/// State shared by all trees.
pub(crate) struct Trees {
    /// The directory of all trees.
    folder: PathBuf,
    cache: Arc<Cache>,
    descriptors: Arc<DescriptorTable>,
    /// The next sequence number, above those of all entries in the trees: see `published.rs`.
    pub(crate) counter: SequenceNumberCounter,
    predicate: PredicateInForce,
    pub(crate) dropped_folders: DroppedFolders,
}

impl Trees {
    /// Creates the state of the trees in this directory, which is created if missing.
    pub(crate) fn new(
        folder: PathBuf,
        cache_bytes: u64,
        predicate: &PredicateInForce,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(&folder).map_err(|error| from_io("create a directory", &error))?;
        Ok(Self {
            folder,
            cache: Arc::new(Cache::with_capacity_bytes(cache_bytes)),
            descriptors: Arc::new(DescriptorTable::new(OPEN_FILES)),
            counter: SequenceNumberCounter::default(),
            predicate: predicate.clone(),
            dropped_folders: DroppedFolders::default(),
        })
    }

    /// Returns the directory of a tree.
    fn folder_of(&self, number: u64) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Returns whether the directory of a tree exists.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.folder_of(number).exists()
    }

    /// Returns whether a tree was completely created. A killed first start leaves a directory
    /// without a tree.
    pub(crate) fn is_made(&self, number: u64) -> bool {
        self.folder_of(number).join("current").exists()
    }

    /// Returns the error for a tree whose directory is missing.
    pub(crate) fn missing_error(&self, number: u64) -> Error {
        let text = format!("the tree in {} is missing", self.folder_of(number).display());
        Error::new(Kind::Corrupt, text)
    }

    /// Opens an existing tree; refuses damage that the tree itself would not detect.
    pub(crate) fn open(&self, number: u64, space: Option<Space>) -> Result<SpaceTree, Error> {
        if !self.is_made(number) {
            return Err(self.missing_error(number));
        }
        let folder = self.folder_of(number);
        manifest::check_tables(&folder)?;
        self.open_folder(number, space, folder)
    }

    /// Opens a tree, or creates it, empty and durable.
    pub(crate) fn open_or_make(
        &self,
        number: u64,
        space: Option<Space>,
    ) -> Result<SpaceTree, Error> {
        if self.is_made(number) {
            return self.open(number, space);
        }
        let folder = self.folder_of(number);
        let space_tree = self.open_folder(number, space, folder)?;
        // The tree syncs the files in its directory, but not the parent.
        sync_folder(&self.folder)?;
        Ok(space_tree)
    }

    fn open_folder(
        &self,
        number: u64,
        space: Option<Space>,
        folder: PathBuf,
    ) -> Result<SpaceTree, Error> {
        let inputs = Arc::<CompactionInputs>::default();
        let outputs = Arc::new(Outputs::new(&folder, Arc::clone(&inputs)));
        let opened = self.config_of(space, &folder, &inputs, &outputs).open();
        match opened.map_err(|error| from_tree("open a tree", &error))? {
            AnyTree::Standard(tree) => {
                let dropped_folders = Arc::clone(&self.dropped_folders);
                Ok(SpaceTree::new(number, space, tree, folder, inputs, outputs, dropped_folders))
            }
            AnyTree::Blob(_) => Err(Error::new(Kind::Corrupt, "a tree is of the wrong kind")),
        }
    }

    fn config_of(
        &self,
        space: Option<Space>,
        folder: &Path,
        inputs: &Arc<CompactionInputs>,
        outputs: &Arc<Outputs>,
    ) -> Config {
        let rows = matches!(space, Some(Space::Rows(_)));
        let filter = BloomConstructionPolicy::BitsPerKey(FILTER_BITS);
        let (apart, space_trees) = if rows { (1, HASH_PLACES) } else { (ENTRIES_APART, 0.0) };
        let factory = FilterFactory::new(space, &self.predicate, inputs, outputs);
        // The tree numbers its own versions from 0, far below all entries, so that any view reads
        // the newest: see `published.rs`. The tree also raises a counter of visible sequence
        // numbers, even within an entry; this one is not used.
        let [states, visible] = [(); 2].map(|()| SequenceNumberCounter::default());
        Config::new(folder, states, visible)
            .use_cache(Arc::clone(&self.cache))
            .use_descriptor_table(Some(Arc::clone(&self.descriptors)))
            .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
            .data_block_restart_interval_policy(RestartIntervalPolicy::all(apart))
            .data_block_hash_ratio_policy(HashRatioPolicy::all(space_trees))
            // Blocks are cached decompressed, so that a hit costs nothing more.
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
            .filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(filter)))
            .filter_block_partitioning_policy(PartitioningPolicy::all(false))
            .index_block_partitioning_policy(PartitioningPolicy::all(true))
            .filter_block_pinning_policy(PinningPolicy::all(true))
            .index_block_pinning_policy(PinningPolicy::all(true))
            .with_compaction_filter_factory(Some(Arc::new(factory)))
    }

    /// Returns the numbers of all trees whose directories exist.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>, Error> {
        let names = names_in(&self.folder)?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Removes the directories of trees that are not `known`, which a crash has left.
    pub(crate) fn remove_others(&self, known: &[u64]) -> Result<(), Error> {
        for name in names_in(&self.folder)? {
            if name.parse().is_ok_and(|number| known.contains(&number)) {
                continue;
            }
            // The removal of an earlier name in the list may have removed this directory, too.
            let folder = self.folder.join(name);
            if folder.exists() {
                remove_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// Removes the directories of dropped spaces that no reader uses any more.
    pub(crate) fn remove_dropped(&self) -> Result<(), Error> {
        let dead = std::mem::take(&mut *self.dropped_folders.lock());
        dead.iter().try_for_each(|folder| remove_folder(folder))
    }

    /// Returns the size of all table files, including unlisted ones.
    pub(crate) fn file_bytes(&self) -> u64 {
        let Ok(numbers) = self.numbers() else { return 0 };
        let tables = numbers.iter().map(|number| self.folder_of(*number).join("tables"));
        let files = tables.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        // A file may be deleted between listing and reading its size.
        files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }
}

/// Returns the names in a directory.
fn names_in(folder: &Path) -> Result<Vec<String>, Error> {
    let context = |error: std::io::Error| from_io("list trees", &error);
    let entries = std::fs::read_dir(folder).map_err(context)?;
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(context)?.file_name().into_string());
    }
    Ok(names)
}

/// Removes a directory with its contents. It is renamed first, so that startup does not find half
/// of a tree under a valid name.
fn remove_folder(folder: &Path) -> Result<(), Error> {
    let context = |error: std::io::Error| from_io("remove a tree", &error);
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let gone = match name.strip_prefix("gone-") {
        Some(_) => folder.to_owned(),
        None => folder.with_file_name(format!("gone-{name}")),
    };
    if gone != folder {
        // A crash may have left a directory with this name, and the tree was created again since.
        if gone.exists() {
            std::fs::remove_dir_all(&gone).map_err(context)?;
        }
        match std::fs::rename(folder, &gone) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed.map_err(context)?,
        }
        if let Some(parent) = folder.parent() {
            sync_folder(parent)?;
        }
    }
    std::fs::remove_dir_all(&gone).map_err(context)
}

/// Makes the names in a directory durable.
fn sync_folder(folder: &Path) -> Result<(), Error> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| from_io("sync a directory", &error))
}
