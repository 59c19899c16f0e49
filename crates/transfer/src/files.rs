//! Creation of files next to the user's file. Nothing is written through a symbolic link, or to a
//! device or pipe: another user with write access to the directory could otherwise choose which
//! file is overwritten.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Mode of created files: readable by the owner only.
const MODE: u32 = 0o600;
const LINK: &str = "it is a symbolic link, which is not followed for writing: remove it";
const NO_FILE: &str = "it is not a regular file";

/// Returns the path with `ending` appended to the file name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Returns whether a file of this name exists, even if it is a dangling link.
pub(crate) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Creates a file, which must not exist, for writing and reading.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create_new(true).mode(MODE).open(path)
}

/// Creates an empty file, replacing an existing regular one.
pub(crate) fn create_anew(path: &Path) -> io::Result<File> {
    remove(path)?;
    create_new(path)
}

/// Opens a file that an earlier run has created. Fails if the path is not a regular file or is a
/// link.
pub(crate) fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // NONBLOCK, because opening a pipe would wait until another process opens it.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = options.custom_flags(flags).open(path).map_err(|error| {
        match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::LOOP) => io::Error::other(LINK),
            _ => error,
        }
    })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(NO_FILE)),
    }
}

/// Replaces a file atomically: after a crash it has either the old or the new content.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = beside(path, ".new");
    let mut file = create_anew(&new)?;
    file.write_all(content)?;
    file.sync_data()?;
    fs::rename(&new, path)
}

/// Renames a finished file; the new name must not exist.
pub(crate) fn publish(part: &Path, path: &Path) -> io::Result<()> {
    // A hard link fails if the new name exists, whereas a rename would replace that file. Some file
    // systems do not support links; there the file is renamed.
    match fs::hard_link(part, path) {
        Ok(()) => fs::remove_file(part)?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => fs::rename(part, path)?,
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Removes a regular file if it exists; fails for anything else, such as `/dev/null`.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let kind = match path.symlink_metadata() {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    match (kind.is_file(), kind.is_symlink()) {
        (true, _) => fs::remove_file(path),
        (_, true) => Err(io::Error::other(LINK)),
        _ => Err(io::Error::other(NO_FILE)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("victim"), "precious").unwrap();
        for name in ["a", "b", "c.new", "c"] {
            symlink(at("victim"), at(name)).unwrap();
        }
        for refused in [
            open_own(&at("c"), File::options().append(true)).map(drop),
            create_anew(&at("a")).map(drop),
            remove(&at("a")),
            replace(&at("c"), b"c"),
        ] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("symbolic link"), "{refused}");
        }
        assert!(create_new(&at("c")).is_err());
        replace(&at("b"), b"b").unwrap();
        fs::write(at("part"), "part").unwrap();
        assert!(publish(&at("part"), &at("c")).is_err() && at("part").exists());
        publish(&at("part"), &at("d")).unwrap();
        assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
        for (name, content) in [("b", "b"), ("d", "part")] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), content);
        }
        assert!(!at("part").exists() && is_there(&at("c")));
        let refused = open_own(folder.path(), File::options().read(true)).unwrap_err();
        assert!(refused.to_string().contains("not a regular file"), "{refused}");
        assert!(remove(folder.path()).is_err() && remove(&at("none")).is_ok());
    }
}
