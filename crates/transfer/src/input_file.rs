//! The file that an import reads, to be told from another one under its name.

use std::{fs::File, io, path::Path};

use crate::{
    identity::{Content, Version},
    state::ImportState,
};

/// The file that is imported, to be told from others.
pub(crate) struct InputFile<'a> {
    pub(crate) path: &'a Path,
    file: File,
    /// As it was when this run began.
    pub(crate) version: Version,
}

impl<'a> InputFile<'a> {
    /// Opens it.
    pub(crate) fn open(path: &'a Path) -> Result<Self, String> {
        let open = || -> io::Result<_> {
            let file = File::open(path)?;
            Ok((Version::of(&file)?, file))
        };
        let (version, file) = open().map_err(|error| cannot_read(path, &error))?;
        Ok(Self { path, file, version })
    }

    /// Its bytes up to an offset.
    pub(crate) fn content(&self, offset: u64) -> Result<Content, String> {
        Content::up_to(&self.file, offset).map_err(|error| cannot_read(self.path, &error))
    }

    /// Says how this file differs from the one that an earlier run has read.
    pub(crate) fn difference(&self, kept: &ImportState) -> Result<Option<String>, String> {
        // What a refusal has ended goes on when the file was mended there, which changes these.
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
