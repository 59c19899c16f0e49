//! How trees are opened. There are two kinds, since rows and entries are read in different ways:
//!
//! ```text
//!  rows     looked up one by one      each key whole, found by a hash inside its block
//!  others   walked in order           keys share what they begin with
//! ```
//!
//! For both, filters of tables are whole and stay in memory, and so does the top of their indexes. An
//! index itself is in parts, since a compaction with a whole one would hold as much memory as its
//! largest table has data (see `outputs.rs`). A point read takes 1 to 2 % longer for it. All levels are alike: a table that a flush wrote may be
//! moved to the last level as it is, and nothing is ever rewritten for its new level.

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
    inputs::Inputs,
    manifest,
    outputs::{BLOCK_BYTES, Outputs},
    place::{Graveyard, Place},
};

/// Bits of a filter for each key: one in a hundred look-ups of what is not there reads a block.
const FILTER_BITS: f32 = 10.0;
/// Keys that share what they begin with, in a block of entries.
const ENTRIES_APART: u8 = 16;
/// Places of the hash inside a block for each row.
const HASH_PLACES: f32 = 4.0;
/// Files of tables that are kept open.
const OPEN_FILES: usize = 900;

/// What all trees share.
pub(crate) struct Trees {
    /// The folder that has theirs.
    folder: PathBuf,
    cache: Arc<Cache>,
    descriptors: Arc<DescriptorTable>,
    /// Behind the number of the last entry that all trees have: see `published.rs`.
    pub(crate) counter: SequenceNumberCounter,
    predicate: PredicateInForce,
    pub(crate) graveyard: Graveyard,
}

impl Trees {
    /// Trees in this folder, which is made where it is missing.
    pub(crate) fn new(
        folder: PathBuf,
        cache_bytes: u64,
        predicate: &PredicateInForce,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(&folder).map_err(|error| from_io("make a folder", &error))?;
        Ok(Self {
            folder,
            cache: Arc::new(Cache::with_capacity_bytes(cache_bytes)),
            descriptors: Arc::new(DescriptorTable::new(OPEN_FILES)),
            counter: SequenceNumberCounter::default(),
            predicate: predicate.clone(),
            graveyard: Graveyard::default(),
        })
    }

    /// The folder of a place.
    fn folder_of(&self, number: u64) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Whether the folder of a place is there.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.folder_of(number).exists()
    }

    /// Whether a place was made to its end. A first start that was killed leaves a folder of which no tree
    /// says anything.
    pub(crate) fn is_made(&self, number: u64) -> bool {
        self.folder_of(number).join("current").exists()
    }

    /// The error of a folder that has to be there.
    pub(crate) fn missing_error(&self, number: u64) -> Error {
        let text = format!("the tree in {} is missing", self.folder_of(number).display());
        Error::new(Kind::Corrupt, text)
    }

    /// Opens a place that has to be there; what nobody else would notice to be damaged is refused.
    pub(crate) fn open(&self, number: u64, space: Option<Space>) -> Result<Place, Error> {
        if !self.is_made(number) {
            return Err(self.missing_error(number));
        }
        let folder = self.folder_of(number);
        manifest::check_tables(&folder)?;
        self.open_folder(number, space, folder)
    }

    /// Opens a place, or makes it, empty and durable.
    pub(crate) fn open_or_make(&self, number: u64, space: Option<Space>) -> Result<Place, Error> {
        if self.is_made(number) {
            return self.open(number, space);
        }
        let folder = self.folder_of(number);
        let place = self.open_folder(number, space, folder)?;
        // The tree makes durable what is in its folder, not the folder.
        sync_folder(&self.folder)?;
        Ok(place)
    }

    fn open_folder(
        &self,
        number: u64,
        space: Option<Space>,
        folder: PathBuf,
    ) -> Result<Place, Error> {
        let inputs = Arc::<Inputs>::default();
        let outputs = Arc::new(Outputs::new(&folder, Arc::clone(&inputs)));
        let opened = self.config_of(space, &folder, &inputs, &outputs).open();
        match opened.map_err(|error| from_tree("open a tree", &error))? {
            AnyTree::Standard(tree) => {
                let graveyard = Arc::clone(&self.graveyard);
                Ok(Place::new(number, space, tree, folder, inputs, outputs, graveyard))
            }
            AnyTree::Blob(_) => Err(Error::new(Kind::Corrupt, "a tree is of another kind")),
        }
    }

    fn config_of(
        &self,
        space: Option<Space>,
        folder: &Path,
        inputs: &Arc<Inputs>,
        outputs: &Arc<Outputs>,
    ) -> Config {
        let rows = matches!(space, Some(Space::Rows(_)));
        let filter = BloomConstructionPolicy::BitsPerKey(FILTER_BITS);
        let (apart, places) = if rows { (1, HASH_PLACES) } else { (ENTRIES_APART, 0.0) };
        let factory = FilterFactory::new(space, &self.predicate, inputs, outputs);
        // The tree numbers its flushes and compactions from 0, far below all entries, so that any
        // view reads the newest of its states: see `published.rs`. It raises a visible number by
        // itself, also amid an entry: nobody reads this one.
        let [states, visible] = [(); 2].map(|()| SequenceNumberCounter::default());
        Config::new(folder, states, visible)
            .use_cache(Arc::clone(&self.cache))
            .use_descriptor_table(Some(Arc::clone(&self.descriptors)))
            .data_block_size_policy(BlockSizePolicy::all(BLOCK_BYTES))
            .data_block_restart_interval_policy(RestartIntervalPolicy::all(apart))
            .data_block_hash_ratio_policy(HashRatioPolicy::all(places))
            // Blocks are in the cache as they are read: a hit costs nothing more.
            .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
            .filter_policy(FilterPolicy::all(FilterPolicyEntry::Bloom(filter)))
            .filter_block_partitioning_policy(PartitioningPolicy::all(false))
            .index_block_partitioning_policy(PartitioningPolicy::all(true))
            .filter_block_pinning_policy(PinningPolicy::all(true))
            .index_block_pinning_policy(PinningPolicy::all(true))
            .with_compaction_filter_factory(Some(Arc::new(factory)))
    }

    /// Numbers of all folders that are there.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>, Error> {
        let names = names_in(&self.folder)?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Removes folders of places that are none of these, which a crash left behind.
    pub(crate) fn remove_others(&self, known: &[u64]) -> Result<(), Error> {
        for name in names_in(&self.folder)? {
            if name.parse().is_ok_and(|number| known.contains(&number)) {
                continue;
            }
            // It may have gone with the one that had its name before.
            let folder = self.folder.join(name);
            if folder.exists() {
                remove_folder(&folder)?;
            }
        }
        Ok(())
    }

    /// Removes the folders of dropped spaces that nobody reads any more.
    pub(crate) fn bury(&self) -> Result<(), Error> {
        let dead = std::mem::take(&mut *self.graveyard.lock());
        dead.iter().try_for_each(|folder| remove_folder(folder))
    }

    /// Bytes of all files of tables, those too that no tree lists any more.
    pub(crate) fn file_bytes(&self) -> u64 {
        let Ok(numbers) = self.numbers() else { return 0 };
        let tables = numbers.iter().map(|number| self.folder_of(*number).join("tables"));
        let files = tables.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        // A file may go between the two looks.
        files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }
}

/// Names of what is in a folder.
fn names_in(folder: &Path) -> Result<Vec<String>, Error> {
    let context = |error: std::io::Error| from_io("look for trees", &error);
    let entries = std::fs::read_dir(folder).map_err(context)?;
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(context)?.file_name().into_string());
    }
    Ok(names)
}

/// Removes a folder with all in it. Under another name first: a start must not find half of a tree
/// under the name of a whole one.
fn remove_folder(folder: &Path) -> Result<(), Error> {
    let context = |error: std::io::Error| from_io("remove a tree", &error);
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let gone = match name.strip_prefix("gone-") {
        Some(_) => folder.to_owned(),
        None => folder.with_file_name(format!("gone-{name}")),
    };
    if gone != folder {
        // One that a crash kept from being removed, before the same was made again.
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

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), Error> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| from_io("sync a folder", &error))
}
