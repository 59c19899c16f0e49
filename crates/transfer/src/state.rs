//! How far a run came, in a small file beside the one that is written or read. It is replaced as a whole,
//! and durable before the run goes on. It names the file by its content, so that another one is not taken
//! for it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    files,
    identity::{Content, Version},
};

/// The longest state that is read.
const LONGEST: u64 = 1 << 20;

/// An export that is not finished.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportState {
    /// What is exported, and how.
    pub(crate) job: String,
    /// The id that the server gives the collection; `None`: it gives none.
    pub(crate) collection: Option<String>,
    /// Bytes of the file that are whole lines and durable.
    pub(crate) bytes: u64,
    /// Those bytes.
    pub(crate) content: Content,
    /// Documents in them.
    pub(crate) documents: u64,
    /// Where the source goes on; `None`: from the beginning.
    pub(crate) mark: Option<String>,
    /// Whether all documents are in them.
    pub(crate) is_finished: bool,
}

/// An import.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportState {
    /// What is imported, and how.
    pub(crate) job: String,
    /// The file as it was at first.
    pub(crate) version: Version,
    /// Up to where everything was acknowledged or refused.
    pub(crate) offset: u64,
    /// The bytes up to there.
    pub(crate) content: Content,
    /// The line there.
    pub(crate) line: u64,
    /// Documents so far, and what became of them.
    pub(crate) read: u64,
    pub(crate) created: u64,
    pub(crate) replaced: u64,
    pub(crate) refused: u64,
    /// Those of the refused ones whose ids existed.
    pub(crate) existing: u64,
    /// Bytes of the file of refusals.
    pub(crate) refused_bytes: u64,
    /// Documents that were there before.
    pub(crate) before: Option<u64>,
    /// What the ids are made of that documents get which have none: they are the same in a later run.
    pub(crate) seconds: u32,
    pub(crate) random: [u8; 5],
    /// Whether nothing behind the offset has been sent: it was ended there, and not killed.
    pub(crate) is_settled: bool,
    /// Whether a refusal ended it: what stands at the offset may be mended before a later run.
    pub(crate) is_stopped: bool,
    /// Whether it is finished, and how many were not there in the end, where that is known.
    pub(crate) is_finished: bool,
    pub(crate) dead: Option<u64>,
}

/// Reads what an earlier run has left; `None`: there is nothing.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = files::open_own(path, File::options().read(true))?;
        file.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = match read() {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        format!(
            "{} is damaged, or another version of ebb wrote it ({error}): remove it and begin anew",
            path.display()
        )
    })
}

/// Keeps it.
pub(crate) fn save<T: Serialize>(path: &Path, state: &T) -> Result<(), String> {
    let text = serde_json::to_vec(state).map_err(io::Error::other);
    let saved = text.and_then(|text| files::replace(path, &text));
    saved.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Removes it: the run is finished.
pub(crate) fn remove(path: &Path) -> Result<(), String> {
    files::remove(path).map_err(|error| format!("cannot remove {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::beside;

    #[test]
    fn what_was_kept_is_read_and_damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = beside(&folder.path().join("a"), ".export-state");
        assert_eq!(load::<ExportState>(&path), Ok(None));
        let state = ExportState { job: "x".to_owned(), documents: 1, ..ExportState::default() };
        for bytes in [5, 6] {
            let state = ExportState { bytes, ..state.clone() };
            save(&path, &state).unwrap();
            assert_eq!(load(&path), Ok(Some(state)));
        }
        // That of a version without the content of the file.
        let older = "{\"job\":\"x\",\"bytes\":5,\"documents\":1,\"mark\":null}";
        for text in ["{\"job\":", older] {
            fs::write(&path, text).unwrap();
            let refused = load::<ExportState>(&path).unwrap_err();
            assert!(refused.contains("begin anew"), "{refused}");
        }
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(load::<ExportState>(&path), Ok(None));
        let nowhere = save(&folder.path().join("none/x"), &state).unwrap_err();
        assert!(nowhere.contains("cannot write"), "{nowhere}");
        std::os::unix::fs::symlink(folder.path().join("b"), &path).unwrap();
        let refused = load::<ExportState>(&path).unwrap_err();
        assert!(refused.contains("symbolic link"), "{refused}");
    }
}
