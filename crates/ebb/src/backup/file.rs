//! Writes a backup into a file. The file has a temporary name until it is complete, and is removed
//! if the backup fails.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use backup::Header;

use super::kind_name;

/// Suffix of the names of backup files.
pub(super) const ENDING: &str = ".ebb";
/// Suffix of a file that is still being written.
const PART: &str = ".part";

/// The final location of the file.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A file of this name, which must not exist.
    File(PathBuf),
    /// A file in this directory. Its name is derived from its contents.
    Folder(PathBuf),
}

/// A backup file being written.
#[derive(Debug)]
pub(super) struct BackupFile {
    target: Target,
    folder: PathBuf,
    part: PathBuf,
    file: File,
    is_whole: bool,
}

impl BackupFile {
    pub(super) fn begin(target: Target) -> Result<Self, String> {
        let (folder, stem) = match &target {
            Target::Folder(folder) => {
                let made = fs::create_dir_all(folder);
                made.map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
                (folder.clone(), "backup".to_owned())
            }
            Target::File(path) => {
                if path.exists() {
                    return Err(format!(
                        "{} already exists: remove it, or choose another name",
                        path.display()
                    ));
                }
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new("."));
                (folder.to_owned(), name.unwrap_or_default())
            }
        };
        let part = folder.join(format!(".{stem}.{}{PART}", std::process::id()));
        let mut options = File::options();
        // The data must not be readable by other users.
        let opened = options.write(true).create_new(true).mode(0o600).open(&part);
        let file = opened.map_err(|error| format!("cannot write {}: {error}", part.display()))?;
        Ok(Self { target, folder, part, file, is_whole: false })
    }

    pub(super) fn part(&self) -> &Path {
        &self.part
    }

    /// Returns a buffered writer of the file.
    pub(super) fn writer(&self) -> Result<io::BufWriter<File>, String> {
        let file = self.file.try_clone();
        let file = file.map_err(|error| format!("cannot write {}: {error}", self.part.display()));
        Ok(io::BufWriter::with_capacity(1 << 20, file?))
    }

    /// Makes the file durable under its final name and returns that name.
    pub(super) fn finish(mut self, header: &Header) -> Result<PathBuf, String> {
        let path = match &self.target {
            Target::File(path) => path.clone(),
            Target::Folder(folder) => folder.join(name_of(header)),
        };
        let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
        self.file.sync_all().map_err(failed)?;
        // A hard link does not replace an existing file, as a rename would; not every file system
        // supports links.
        match fs::hard_link(&self.part, &path) {
            Ok(()) => fs::remove_file(&self.part).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            Err(_) => fs::rename(&self.part, &path).map_err(failed)?,
        }
        self.is_whole = true;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(path)
    }
}

impl Drop for BackupFile {
    fn drop(&mut self) {
        if !self.is_whole {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Returns the name of a backup: its start time, kind and last journal entry, so that names sort by
/// time.
pub(super) fn name_of(header: &Header) -> String {
    let at = jiff::Timestamp::from_millisecond(header.began_ms).unwrap_or_default();
    let (at, ms) = (at.strftime("%Y%m%dT%H%M%S"), header.began_ms.rem_euclid(1000));
    let kind = kind_name(header.kind);
    format!("ebb-{at}.{ms:03}Z-{kind}-{}{ENDING}", header.last_entry)
}
