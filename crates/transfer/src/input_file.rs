//! The input file of an import, and its comparison with the state that an earlier run has saved.

use std::{fs::File, io, path::Path};

use crate::{
    identity::{ContentFingerprint, FileVersion},
    state::ImportState,
};

pub(crate) struct InputFile<'a> {
    pub(crate) path: &'a Path,
    file: File,
    /// Size and modification time of the file when this run started.
    pub(crate) version: FileVersion,
}

impl<'a> InputFile<'a> {
    pub(crate) fn open(path: &'a Path) -> Result<Self, String> {
        let open = || -> io::Result<_> {
            let file = File::open(path)?;
            Ok((FileVersion::of(&file)?, file))
        };
        let (version, file) = open().map_err(|error| cannot_read(path, &error))?;
        Ok(Self { path, file, version })
    }

    /// Hashes the bytes up to an offset.
    pub(crate) fn content(&self, offset: u64) -> Result<ContentFingerprint, String> {
        ContentFingerprint::up_to(&self.file, offset)
            .map_err(|error| cannot_read(self.path, &error))
    }

    /// Describes how this file differs from the file that an earlier run has read.
    pub(crate) fn difference(&self, kept: &ImportState) -> Result<Option<String>, String> {
        // After a refusal has ended the import, the user is expected to correct the file at that
        // document, which changes size and time.
        if !kept.is_stopped
            && let Some(how) = kept.version.difference(&self.version)
        {
            return Ok(Some(how));
        }
        let now = self.content(kept.offset)?;
        Ok(kept.content.difference(&now).map(str::to_owned))
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}
