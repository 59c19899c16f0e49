//! Small files of the data directory that are written whole or not at all, and durably. The features,
//! the secrets of the NoSQL API and the portal's ended sessions are written so; the clock's
//! checkpoints are not, as they have to be writable on a full disk.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Replaces a file that only its owner may read; durable when this returns. Until then a reader, or
/// the next start after a crash, finds the old content. A failure may leave `<name>.new` behind; the
/// next call writes over it.
pub(crate) fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = folder.join(format!("{name}.new"));
    let mut options = File::options();
    let mut out = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    out.write_all(bytes)?;
    // The content before the name: else a crash could leave the new name with no content.
    out.sync_all()?;
    fs::rename(&temporary, folder.join(name))?;
    // A rename is durable when its folder is.
    File::open(folder)?.sync_all()
}
