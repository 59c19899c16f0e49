//! The folder of the tree: opening it, its size, and the verification of a closed store.

use std::{path::Path, sync::Arc};

use store::{Error, Kind, Space};
use tree::{Folder, Hooks, Layout, Options, Tree};

use crate::{
    errors::{from_io, from_tree},
    options::TREES,
};

/// Opens the tree in a folder, creating it if missing. `last_edit` is the last change of its list
/// of files that was recorded as durable.
pub(crate) fn open(
    folder: &Path,
    cache_bytes: u64,
    last_edit: u64,
    hooks: Arc<dyn Hooks>,
) -> Result<Tree, Error> {
    let disk = Folder::open(folder).map_err(|error| from_io("create a directory", &error))?;
    refuse_old(folder)?;
    let options = Options { cache_bytes, last_edit, ..Options::default() };
    let context = |error| from_tree(&format!("open the tree in {}", folder.display()), &error);
    Tree::open(Arc::new(disk), hooks, options).map_err(context)
}

/// Refuses the folder of an earlier version, which had a folder for each space.
fn refuse_old(folder: &Path) -> Result<(), Error> {
    let entries = std::fs::read_dir(folder).map_err(|error| from_io("list a directory", &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| from_io("list a directory", &error))?;
        if entry.path().is_dir() {
            let text = format!(
                "{} was written by an earlier version: take a backup with that version's `ebb \
                 backup` and restore it with `ebb restore` of this version",
                folder.display()
            );
            return Err(Error::new(Kind::Refused, text));
        }
    }
    Ok(())
}

/// Returns the layout of the tables of a space: rows are read by key, everything else in order.
pub(crate) fn layout_of(space: Space) -> Layout {
    if matches!(space, Space::Rows(_)) { Layout::Points } else { Layout::Ranges }
}

/// Returns the size of all tables in the folder, including unlisted ones.
pub(crate) fn file_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let tables = entries.flatten().filter(|file| file.path().extension().is_some());
    // A file may be deleted between listing and reading its size.
    tables.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}

/// Returns the damaged parts of the tables and the list of tables of a closed store, by file and
/// offset. Every byte is read, also bytes that no scan of the rows needs.
pub fn damaged_tables(store: &Path) -> Result<Vec<String>, Error> {
    let folder = store.join(TREES);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let disk = Folder::open(&folder).map_err(|error| from_io("open a directory", &error))?;
    let damages = tree::verify_closed(Arc::new(disk), 0);
    let damages = damages.map_err(|error| from_tree("verify the tables", &error))?;
    Ok(damages.iter().map(|damage| format!("{}/{damage}", folder.display())).collect())
}
