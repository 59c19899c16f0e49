//! The data directory: whose it is, in which format, and that one process has it.

use std::{
    fmt,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Nobody but its owner may look into it.
const OWNER_ONLY: u32 = 0o700;
const FORMAT_FILE: &str = "EBB";
/// The same while it is written; left over when a first start ends in the middle.
const NEW_FORMAT_FILE: &str = "EBB.new";
/// Temporary files have no names; those of a system that needs one for a moment are here.
const TEMPORARY: &str = "tmp";
const FORMAT: &str = "ebb data directory, format 1\n";

/// Why a data directory is not used, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It was used with the other kind of clock, and opens with that one.
    OtherClock,
    /// The other clock would not open it either; in words.
    Unusable(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherClock => {
                "the data directory was used with the other kind of clock; start with the --clock \
                 it was made with, or use another --data-dir"
            }
            Self::Unusable(why) => why,
        })
    }
}

impl std::error::Error for Refused {}

/// A data directory that this process holds.
#[derive(Debug)]
pub(crate) struct DataDir {
    pub(crate) path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Takes a directory, made when it is missing (unless it has to exist).
    pub(crate) fn open(path: &Path, must_exist: bool) -> Result<Self, Refused> {
        if must_exist && !path.join(FORMAT_FILE).exists() {
            return Err(Refused::Unusable(format!("{} holds no data of ebb", path.display())));
        }
        let failed = |what: &str, error: &io::Error| {
            Refused::Unusable(format!("cannot {what} {}: {error}", path.display()))
        };
        let made = DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(path);
        made.map_err(|error| failed("make", &error))?;
        // One that is somebody else's, like the root of a volume, stays as it is.
        let _ = fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY));
        let lock = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join("lock"))
            .map_err(|error| failed("lock", &error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(Refused::Unusable(format!(
                    "{} is in use by another process; stop it or choose another --data-dir",
                    path.display()
                )));
            }
            Err(fs::TryLockError::Error(error)) => return Err(failed("lock", &error)),
        }
        check_format(path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }
}

impl DataDir {
    /// The folder of temporary files, empty: what an earlier process may have left there is removed.
    pub(crate) fn temporary_folder(&self) -> io::Result<PathBuf> {
        let path = self.path.join(TEMPORARY);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => DirBuilder::new().mode(OWNER_ONLY).create(&path)?,
        }
        Ok(path)
    }
}

fn check_format(path: &Path) -> Result<(), Refused> {
    let file = path.join(FORMAT_FILE);
    match fs::read_to_string(&file) {
        Ok(text) if text == FORMAT => Ok(()),
        Ok(text) if text.starts_with("ebb data directory") => Err(Refused::Unusable(format!(
            "{} was written by another version ({}); use that version or a newer one",
            path.display(),
            text.trim()
        ))),
        Ok(_) => Err(Refused::Unusable(format!(
            "{} is not a data directory of ebb; choose another --data-dir",
            path.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(path, &file),
        Err(error) => Err(Refused::Unusable(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Marks an empty directory as ours; one with other things in it is left alone.
fn make_folder(path: &Path, file: &Path) -> Result<(), Refused> {
    let failed =
        |error: io::Error| Refused::Unusable(format!("cannot write {}: {error}", file.display()));
    let foreign = fs::read_dir(path)
        .map_err(failed)?
        .filter_map(Result::ok)
        .any(|entry| entry.file_name() != "lock" && entry.file_name() != NEW_FORMAT_FILE);
    if foreign {
        return Err(Refused::Unusable(format!(
            "{} holds files of something else; choose an empty --data-dir",
            path.display()
        )));
    }
    let temporary = path.join(NEW_FORMAT_FILE);
    let write = || -> io::Result<()> {
        let mut out = File::create(&temporary)?;
        out.write_all(FORMAT.as_bytes())?;
        out.sync_all()?;
        fs::rename(&temporary, file)?;
        File::open(path)?.sync_all()
    };
    write().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_newer_and_held_directories_are_refused() {
        let refusal = |path: &Path| DataDir::open(path, false).unwrap_err().to_string();
        let ours = tempfile::tempdir().unwrap();
        let held = DataDir::open(ours.path(), false).unwrap();
        assert!(refusal(ours.path()).contains("in use"));
        drop(held);
        DataDir::open(ours.path(), true).unwrap();
        let newer = "ebb data directory, format 2\n";
        fs::write(ours.path().join(FORMAT_FILE), newer).unwrap();
        assert!(refusal(ours.path()).contains("another version"));
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join("thesis.txt"), "x").unwrap();
        assert!(refusal(foreign.path()).contains("something else"));
        let missing = foreign.path().join("none");
        assert!(DataDir::open(&missing, true).is_err());
        assert!(!missing.exists());
    }
}
