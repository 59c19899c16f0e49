//! The state file: progress of a run, in a small file next to the one written or read. The state
//! file is replaced atomically and synced before the run continues. It contains hashes of the
//! content of the other file, so that a change of that file is detected.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    files,
    identity::{ContentFingerprint, FileVersion},
};

/// Maximum size of a state file.
const LONGEST: u64 = 1 << 20;

/// State of an unfinished export.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportState {
    pub(crate) job: String,
    /// Server-side id of the collection; `None` if the server has none.
    pub(crate) collection: Option<String>,
    /// Length of the durable part of the output file, which ends with a complete line.
    pub(crate) bytes: u64,
    /// Hashes of the durable part of the output file.
    pub(crate) content: ContentFingerprint,
    /// Number of documents in the durable part of the output file.
    pub(crate) documents: u64,
    /// Resume position of the source; `None` for the start.
    #[serde(rename = "mark")]
    pub(crate) resume_position: Option<String>,
    /// Whether the export is complete.
    pub(crate) is_finished: bool,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportState {
    pub(crate) job: String,
    /// Size and modification time of the input file when the import started.
    pub(crate) version: FileVersion,
    /// Offset in the input file up to which every document was acknowledged or refused.
    pub(crate) offset: u64,
    /// Hashes of the input file up to `offset`.
    pub(crate) content: ContentFingerprint,
    /// Line number of the input file at `offset`.
    pub(crate) line: u64,
    /// Number of documents read so far.
    pub(crate) read: u64,
    pub(crate) created: u64,
    pub(crate) replaced: u64,
    pub(crate) refused: u64,
    /// Number of refused documents whose ids exist.
    pub(crate) existing: u64,
    /// Length of the refusals file.
    pub(crate) refused_bytes: u64,
    /// Number of documents that the collection had when the import started.
    pub(crate) before: Option<u64>,
    /// Seed of generated ids, so that a resumed run generates the same ids.
    pub(crate) seconds: u32,
    pub(crate) random: [u8; 5],
    /// Whether no document after `offset` was sent: the run ended there and was not killed.
    pub(crate) is_settled: bool,
    /// Whether a refusal ended the import, so that the text at `offset` may be edited before the
    /// import is resumed.
    pub(crate) is_stopped: bool,
    /// Whether the import is finished. `dead` is then the number of documents that had expired on
    /// arrival, if known.
    pub(crate) is_finished: bool,
    pub(crate) dead: Option<u64>,
}

/// Reads the state of an earlier run; `None` if none was saved.
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
            "{} is damaged, or another version of ebb wrote it ({error}): remove it and start over",
            path.display()
        )
    })
}

pub(crate) fn save<T: Serialize>(path: &Path, state: &T) -> Result<(), String> {
    let text = serde_json::to_vec(state).map_err(io::Error::other);
    let saved = text.and_then(|text| files::replace(path, &text));
    saved.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Removes the state of a finished run.
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
        // An earlier version did not record hashes of the file's content.
        let older = "{\"job\":\"x\",\"bytes\":5,\"documents\":1,\"mark\":null}";
        for text in ["{\"job\":", older] {
            fs::write(&path, text).unwrap();
            let refused = load::<ExportState>(&path).unwrap_err();
            assert!(refused.contains("start over"), "{refused}");
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
