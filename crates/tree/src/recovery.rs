//! Opening of a tree.
//!
//! 1. The list of files is read, and the names on the disk are compared with it.
//! 2. A new list is begun, before any file number is used.
//! 3. Files that no list contains are removed; a crash has left them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::AtomicU64},
};

use crate::{
    disk::Disk,
    error::{Error, Result},
    file_writer::FileMaker,
    files::{Files, file_id, file_name},
    hooks::Hooks,
    manifest::{self, Listed, Manifest},
    options::{Layout, Options},
    shared::{Shared, SpaceMap},
    space::Space,
    trash::Trash,
    version::{Edit, Version},
};

/// Opens the tree on a disk, creating it if the disk has no files.
pub(crate) fn open(disk: Arc<dyn Disk>, hooks: Arc<dyn Hooks>, options: Options) -> Result<Shared> {
    let files = Arc::new(Files::new(Arc::clone(&disk), &options));
    let Found { names, listed, versions } = find(&*disk, &files.trash, options.last_edit)?;
    let present: BTreeSet<u64> = names.iter().filter_map(|name| file_id(name)).collect();
    let wanted: BTreeSet<u64> = versions.values().flat_map(Version::file_ids).collect();
    // Numbers of ended body files are still in use by tables.
    let ended = versions.values().flat_map(|version| version.ended.keys().copied());
    let bodies = versions.values().flat_map(|version| version.bodies.keys().copied());
    let used = present.iter().copied().chain(ended).chain(bodies).max().unwrap_or(0);
    let edits: Vec<Edit> =
        versions.iter().flat_map(|(space, version)| version.as_edits(*space)).collect();
    let number = manifest::greatest_number(&names) + 1;
    let manifest = Manifest::create(&disk, number, listed.sequence + 1, &edits)?;
    manifest.remove_others(&names);
    for orphan in present.difference(&wanted) {
        let name = file_name(*orphan);
        disk.remove(&name).map_err(|error| Error::io("remove", &name, error))?;
    }
    let spaces: SpaceMap = versions
        .into_iter()
        .map(|(number, version)| {
            (number, Arc::new(Space::new(number, Layout::default(), version, &files.trash)))
        })
        .collect();
    let (options, next_file) = (Arc::new(options), Arc::new(AtomicU64::new(used + 1)));
    let maker = FileMaker { files, hooks, options, next_file };
    Ok(Shared::new(maker, manifest, spaces))
}

/// The contents of a disk before an opening changes them.
pub(crate) struct Found {
    /// The names of all files.
    pub(crate) names: Vec<String>,
    pub(crate) listed: Listed,
    pub(crate) versions: BTreeMap<u64, Version>,
}

/// Reads the list of files, and fails if a listed file is missing or the list ends before this
/// edit. Nothing is changed.
pub(crate) fn find(disk: &dyn Disk, trash: &Arc<Trash>, last_edit: u64) -> Result<Found> {
    let names = disk.names().map_err(|error| Error::io("list", "the folder", error))?;
    let listed = manifest::read(disk, &names)?;
    if listed.sequence < last_edit {
        let name = format!("manifest-{}", listed.number);
        return Err(Error::damaged(&name, 0, "its last records are missing"));
    }
    let versions = versions_of(&listed, trash)?;
    let present: BTreeSet<u64> = names.iter().filter_map(|name| file_id(name)).collect();
    let wanted: BTreeSet<u64> = versions.values().flat_map(Version::file_ids).collect();
    if let Some(missing) = wanted.difference(&present).next() {
        return Err(Error::damaged(&file_name(*missing), 0, "the file is missing"));
    }
    Ok(Found { names, listed, versions })
}

/// Applies the listed edits, space by space.
fn versions_of(listed: &Listed, trash: &Arc<Trash>) -> Result<BTreeMap<u64, Version>> {
    let mut by_space = BTreeMap::<u64, Vec<Edit>>::new();
    for edit in &listed.edits {
        by_space.entry(edit.space()).or_default().push(edit.clone());
    }
    let mut versions = BTreeMap::new();
    for (space, edits) in by_space {
        let version = Version::default().after(&edits, trash).map_err(|problem| {
            Error::damaged(&format!("manifest-{}", listed.number), 0, problem)
        })?;
        if !version.is_empty() || !version.ended.is_empty() {
            versions.insert(space, version);
        }
    }
    Ok(versions)
}
