//! Throwing away what a directory has, where others have all of it too: a copy that is damaged is made
//! again from the beginning. What is to go is said in a file, so that a crash in between leaves nothing
//! by halves: each opening looks for it first.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use journal::OpenJournal;
use store::Error;

use crate::{errors::from_io, options::TREES};

/// The file that says so, in the store's directory.
const FILE: &str = "wiped";
/// The folder of the pieces of a base.
pub(crate) const BASE: &str = "base";
/// The file of the durable watermark.
pub(crate) const MARK: &str = "mark";

fn file_of(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// Has the next opening of this directory throw away all that it has.
pub(crate) fn order(directory: &Path) -> Result<(), Error> {
    let ordered = File::create(file_of(directory)).and_then(|file| file.sync_all());
    ordered.and_then(|()| sync(directory)).map_err(|error| from_io("order a wipe", &error))
}

/// Whether the next opening does.
pub(crate) fn is_ordered(directory: &Path) -> bool {
    file_of(directory).exists()
}

/// Does what was ordered.
pub(crate) fn carry_out(directory: &Path, journal: &dyn OpenJournal) -> Result<(), Error> {
    if !is_ordered(directory) {
        return Ok(());
    }
    throw_away(directory, journal)?;
    let context = |error| from_io("wipe the store", &error);
    // One that could not be loaded.
    present(std::fs::remove_dir_all(directory.join(BASE))).map_err(context)?;
    std::fs::remove_file(file_of(directory)).and_then(|()| sync(directory)).map_err(context)
}

/// Throws away all that a directory has.
pub(crate) fn throw_away(directory: &Path, journal: &dyn OpenJournal) -> Result<(), Error> {
    journal.wipe()?;
    let context = |error| from_io("wipe the store", &error);
    present(std::fs::remove_dir_all(directory.join(TREES))).map_err(context)?;
    present(std::fs::remove_file(directory.join(MARK))).map_err(context)?;
    sync(directory).map_err(context)
}

/// What is not there need not go.
fn present(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
