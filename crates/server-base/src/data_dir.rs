//! The data directory: its format file with the format version, and a lock for one process. The
//! files in it are described in `docs/format.md`.

use std::{
    ffi::OsStr,
    fmt,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// Mode of the directory: accessible to its owner only.
const OWNER_ONLY: u32 = 0o700;
/// The file that marks a data directory; its text is [`FORMAT`].
const FORMAT_FILE: &str = "EBB";
/// The file whose lock makes one process the holder of the directory.
const LOCK: &str = "lock";
/// Name of the format file while it is being written; left over if a first start is interrupted.
const NEW_FORMAT_FILE: &str = "EBB.new";
/// The file that identifies a cluster node's directory, see `node/src/identity.rs`; absent for a
/// standalone server.
pub const NODE_FILE: &str = "node";
/// Folder for the certificate, its key and the token secret.
pub const SECRETS_FOLDER: &str = "nosql";
/// Folder for temporary files. They are unnamed if the system supports that; otherwise they are
/// named here briefly.
const TEMPORARY: &str = "tmp";
/// Content of the format file. The number changes when older versions could not read what this one
/// writes.
const FORMAT: &str = "ebb data directory, format 3\n";

/// Content of the format file while a restore or a dump fills the directory.
const FILLING: &str = "ebb data directory, being restored\n";

/// Reason why a data directory is refused, and what to do. The process exits with a dedicated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The directory was used with the other kind of clock, system or manual. A start with that
    /// kind succeeds.
    OtherClock,
    /// Any other reason, as a sentence for the operator.
    Unusable(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherClock => {
                "the data directory was created with the other clock mode; start with that \
                 --clock, or use another --data-dir"
            }
            Self::Unusable(why) => why,
        })
    }
}

impl std::error::Error for Refused {}

/// A data directory locked by this process until dropped.
#[derive(Debug)]
pub struct DataDir {
    /// Path of the data directory.
    pub path: PathBuf,
    /// The open file `lock`; the system releases the lock when it is closed, also after a crash.
    lock: File,
}

impl DataDir {
    /// Locks a directory, creating it if missing unless `must_exist`. A directory with foreign
    /// files is refused unchanged.
    pub fn open(path: &Path, must_exist: bool) -> Result<Self, Refused> {
        if must_exist && !path.join(FORMAT_FILE).exists() {
            return Err(Refused::Unusable(format!(
                "{} is not an ebb data directory",
                path.display()
            )));
        }
        refuse_foreign(path)?;
        let directory = Self::lock(path)?;
        // Under the lock: two concurrent first starts must not both mark the directory.
        check_format(path)?;
        Ok(directory)
    }

    /// Creates a directory if missing and locks it, without checking its contents.
    fn lock(path: &Path) -> Result<Self, Refused> {
        let failed = |what: &str, error: &io::Error| {
            Refused::Unusable(format!("cannot {what} {}: {error}", path.display()))
        };
        let made = DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(path);
        made.map_err(|error| failed("make", &error))?;
        // Fails if another user owns the directory, such as the root of a volume. That is no error:
        // the directory keeps its mode.
        let _ = fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY));
        let lock = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path.join(LOCK))
            .map_err(|error| failed("lock", &error))?;
        // A non-blocking lock, so that a second process is refused at once.
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
        Ok(Self { path: path.to_owned(), lock })
    }
}

impl DataDir {
    /// Locks an empty or missing directory for a restore or a dump. Until [`filled`](Self::filled)
    /// is called it is marked as incomplete, so that after a crash no server takes it for an empty
    /// directory.
    pub fn open_to_fill(path: &Path) -> Result<Self, Refused> {
        // Checked before anything is changed, and again under the lock, since another process may
        // have filled the directory in between.
        refuse_unless_only(path, is_of_file_system)?;
        let directory = Self::lock(path)?;
        refuse_unless_only(path, |name| name == LOCK || is_of_file_system(name))?;
        directory.mark(FILLING)?;
        Ok(directory)
    }

    /// Marks the directory as a complete data directory.
    pub fn filled(&self) -> Result<(), Refused> {
        self.mark(FORMAT)
    }

    fn mark(&self, text: &str) -> Result<(), Refused> {
        let file = self.path.join(FORMAT_FILE);
        write_mark(&self.path, &file, text)
            .map_err(|error| Refused::Unusable(format!("cannot write {}: {error}", file.display())))
    }
}

/// Returns whether this is a folder that file systems create at the root of a volume.
pub fn is_of_file_system(name: &OsStr) -> bool {
    name == "lost+found"
}

/// Refuses a directory with entries for which `ours` returns false.
fn refuse_unless_only(path: &Path, ours: impl Fn(&OsStr) -> bool) -> Result<(), Refused> {
    let refused = |why: String| Err(Refused::Unusable(why));
    match holds_only(path, ours) {
        Ok(true) => Ok(()),
        Ok(false) => refused(format!("{} is not empty: choose a new directory", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => refused(format!("cannot read {}: {error}", path.display())),
    }
}

/// Returns whether `ours` holds for every entry of the directory.
fn holds_only(path: &Path, ours: impl Fn(&OsStr) -> bool) -> io::Result<bool> {
    for entry in fs::read_dir(path)? {
        if !ours(&entry?.file_name()) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl DataDir {
    /// Returns the lock file's metadata, which identify the directory: a copy has another file.
    pub fn lock_metadata(&self) -> io::Result<fs::Metadata> {
        self.lock.metadata()
    }

    /// Returns the folder for temporary files, emptied of leftovers. Only the holder of the lock
    /// may do this, hence a method.
    pub fn temporary_folder(&self) -> io::Result<PathBuf> {
        let path = self.path.join(TEMPORARY);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => DirBuilder::new().mode(OWNER_ONLY).create(&path)?,
        }
        Ok(path)
    }
}

/// Checks the format file, or writes it into an empty directory. A different format and a foreign
/// file have different error texts, since they call for different actions.
fn check_format(path: &Path) -> Result<(), Refused> {
    let file = path.join(FORMAT_FILE);
    match fs::read_to_string(&file) {
        Ok(text) if text == FORMAT => Ok(()),
        Ok(text) if text == FILLING => Err(Refused::Unusable(format!(
            "a restore or dump into {} was interrupted and is incomplete: remove it, and start \
             again",
            path.display()
        ))),
        Ok(text) if text.starts_with("ebb data directory") => Err(Refused::Unusable(format!(
            "{} was written by another version ({}), and this one reads {}: take a backup with that \
             version's `ebb backup`, and restore it with `ebb restore` of this one",
            path.display(),
            text.trim(),
            FORMAT.trim().trim_start_matches("ebb data directory, ")
        ))),
        Ok(_) => Err(Refused::Unusable(format!(
            "{} is not an ebb data directory; choose another --data-dir",
            path.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_folder(path, &file),
        Err(error) => Err(Refused::Unusable(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Marks an empty directory as a data directory; refuses a directory with other content. The mark
/// is written under a temporary name, synced and renamed, so that it is always complete.
fn make_folder(path: &Path, file: &Path) -> Result<(), Refused> {
    let failed =
        |error: io::Error| Refused::Unusable(format!("cannot write {}: {error}", file.display()));
    if !holds_only(path, is_of_start).map_err(failed)? {
        return Err(foreign(path));
    }
    write_mark(path, file, FORMAT).map_err(failed)
}

/// Returns whether an entry may exist in an unmarked directory: the lock and the temporary mark of
/// an interrupted start, or a folder of the file system.
fn is_of_start(name: &OsStr) -> bool {
    name == LOCK || name == NEW_FORMAT_FILE || is_of_file_system(name)
}

/// Refuses a directory with foreign content before anything is created in it.
fn refuse_foreign(path: &Path) -> Result<(), Refused> {
    // Another first start may be in progress: this is checked again under the lock, and if a format
    // file has appeared the other files belong to that start.
    match holds_only(path, is_of_start) {
        Ok(false) if !path.join(FORMAT_FILE).exists() => Err(foreign(path)),
        _ => Ok(()),
    }
}

fn foreign(path: &Path) -> Refused {
    Refused::Unusable(format!(
        "{} contains other files; choose an empty --data-dir",
        path.display()
    ))
}

fn write_mark(path: &Path, file: &Path, text: &str) -> io::Result<()> {
    let temporary = path.join(NEW_FORMAT_FILE);
    let mut out = File::create(&temporary)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(&temporary, file)?;
    File::open(path)?.sync_all()
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
        for format in [1, 2, 4] {
            let other = format!("ebb data directory, format {format}\n");
            fs::write(ours.path().join(FORMAT_FILE), &other).unwrap();
            let refused = refusal(ours.path());
            assert!(refused.contains("another version") && refused.contains(other.trim()));
        }
        let restored = tempfile::tempdir().unwrap();
        let directory = DataDir::open_to_fill(restored.path()).unwrap();
        drop(directory);
        assert!(refusal(restored.path()).contains("was interrupted"));
        assert!(DataDir::open_to_fill(restored.path()).is_err());
        let foreign = tempfile::tempdir().unwrap();
        fs::write(foreign.path().join("thesis.txt"), "x").unwrap();
        assert!(refusal(foreign.path()).contains("other files"));
        // The refusal created nothing in the directory.
        assert_eq!(fs::read_dir(foreign.path()).unwrap().count(), 1);
        let missing = foreign.path().join("none");
        assert!(DataDir::open(&missing, true).is_err());
        assert!(!missing.exists());
    }

    #[test]
    fn the_root_of_a_new_volume_is_empty() {
        for fill in [false, true] {
            let volume = tempfile::tempdir().unwrap();
            fs::create_dir(volume.path().join("lost+found")).unwrap();
            let opened = match fill {
                true => DataDir::open_to_fill(volume.path()),
                false => DataDir::open(volume.path(), false),
            };
            assert!(opened.is_ok(), "{opened:?}");
        }
    }
}
