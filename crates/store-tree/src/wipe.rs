//! Discards a store's contents when other nodes have a complete copy of them: a damaged copy is
//! rebuilt from the beginning. A marker file records the request, and each opening checks it first,
//! so that a crash cannot leave the wipe half done.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use journal::OpenJournal;
use store::Error;

use crate::{errors::from_io, options::TREES};

/// File in the store's directory that requests a wipe.
const FILE: &str = "wiped";
/// Directory of the pieces of a base, a complete copy of another store's contents (`base.rs`).
pub(crate) const BASE: &str = "base";
/// File of the durable watermark.
pub(crate) const MARK: &str = "mark";

fn file_of(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// Makes the next opening of this directory discard all contents.
pub(crate) fn request(directory: &Path) -> Result<(), Error> {
    let ordered = File::create(file_of(directory)).and_then(|file| file.sync_all());
    ordered
        .and_then(|()| sync(directory))
        .map_err(|error| from_io("mark the store for a wipe", &error))
}

/// Returns whether the next opening of this directory will discard all contents.
pub(crate) fn is_requested(directory: &Path) -> bool {
    file_of(directory).exists()
}

/// Performs the wipe, if one was requested.
pub(crate) fn execute(directory: &Path, journal: &dyn OpenJournal) -> Result<(), Error> {
    if !is_requested(directory) {
        return Ok(());
    }
    delete_contents(directory, journal)?;
    let context = |error| from_io("wipe the store", &error);
    // Removes the pieces of a base, too, so that they are not loaded after the wipe.
    present(std::fs::remove_dir_all(directory.join(BASE))).map_err(context)?;
    std::fs::remove_file(file_of(directory)).and_then(|()| sync(directory)).map_err(context)
}

/// Deletes a directory's journal, trees and watermark.
pub(crate) fn delete_contents(directory: &Path, journal: &dyn OpenJournal) -> Result<(), Error> {
    journal.wipe()?;
    let context = |error| from_io("wipe the store", &error);
    present(std::fs::remove_dir_all(directory.join(TREES))).map_err(context)?;
    present(std::fs::remove_file(directory.join(MARK))).map_err(context)?;
    sync(directory).map_err(context)
}

/// Converts the result of a removal: a missing file is not an error.
fn present(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
