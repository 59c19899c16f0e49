//! Small files of the data directory that are replaced atomically and durably, such as the
//! features, the secrets of the NoSQL API and the portal's ended sessions. Not for the clock's
//! checkpoints, which have to be writable on a full disk.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Replaces a file readable only by its owner; durable on return. Until then readers, and the next
/// start after a crash, see the old content. A failure may leave `<name>.new` behind, which the
/// next call overwrites.
pub fn replace_atomically(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = folder.join(format!("{name}.new"));
    let mut options = File::options();
    let mut out = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    out.write_all(bytes)?;
    // Content before name: otherwise a crash could leave an empty file under the name.
    out.sync_all()?;
    fs::rename(&temporary, folder.join(name))?;
    // The sync of the directory makes the rename durable.
    File::open(folder)?.sync_all()
}
