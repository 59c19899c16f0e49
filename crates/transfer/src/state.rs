//! How far a run came, in a small file beside the one that is written or read. It is replaced as a whole,
//! and durable before the run goes on.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// An export that is not finished.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub(crate) struct ExportState {
    /// What is exported, and how.
    pub(crate) job: String,
    /// Bytes of the file that are whole lines and durable.
    pub(crate) bytes: u64,
    /// Documents in them.
    pub(crate) documents: u64,
    /// Where the source goes on; `None`: from the beginning.
    pub(crate) mark: Option<String>,
}

/// An import.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub(crate) struct ImportState {
    /// What is imported, and how.
    pub(crate) job: String,
    /// Up to where everything was acknowledged or refused.
    pub(crate) offset: u64,
    /// The line there.
    pub(crate) line: u64,
    /// Documents so far, and what became of them.
    pub(crate) read: u64,
    pub(crate) created: u64,
    pub(crate) replaced: u64,
    pub(crate) refused: u64,
    /// Bytes of the file of refusals.
    pub(crate) refused_bytes: u64,
    /// Documents that were there before.
    pub(crate) before: Option<u64>,
    /// What the ids are made of that documents get which have none: they are the same in a later run.
    pub(crate) seconds: u32,
    pub(crate) random: [u8; 5],
    /// Whether nothing behind the offset has been sent: it was ended there, and not killed.
    pub(crate) is_settled: bool,
    /// Whether it is finished, and how many were not there in the end, where that is known.
    pub(crate) is_finished: bool,
    pub(crate) dead: Option<u64>,
}

/// The name of a file with something behind it.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// What an earlier run has left; `None`: there is nothing.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        format!("{} is not what a run has left ({error}): remove it and begin anew", path.display())
    })
}

/// Keeps it.
pub(crate) fn save<T: Serialize>(path: &Path, state: &T) -> Result<(), String> {
    let failed =
        |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
    let text = serde_json::to_vec(state).map_err(|error| failed(&error))?;
    let new = beside(path, ".new");
    let write = || {
        let mut file =
            File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&text)?;
        file.sync_data()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| failed(&error))
}

/// The run is finished.
pub(crate) fn remove(path: &Path) -> Result<(), String> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_and_damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("a"), ".export-state");
        assert_eq!(load::<ExportState>(&path), Ok(None));
        let state = ExportState { job: "x".to_owned(), bytes: 5, documents: 1, mark: None };
        for bytes in [5, 6] {
            let state = ExportState { bytes, ..state.clone() };
            save(&path, &state).unwrap();
            assert_eq!(load(&path), Ok(Some(state)));
        }
        fs::write(&path, b"{\"job\":").unwrap();
        let refused = load::<ExportState>(&path).unwrap_err();
        assert!(refused.contains("begin anew"), "{refused}");
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(load::<ExportState>(&path), Ok(None));
        let nowhere = save(&folder.path().join("none/x"), &state).unwrap_err();
        assert!(nowhere.contains("cannot write"), "{nowhere}");
    }
}
