//! Where a backup goes to or comes from, as it is typed.

use std::path::{Path, PathBuf};

/// A place for backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Standard output or input, `-`.
    Standard,
    /// One file.
    File(PathBuf),
    /// A directory of them: it is there, or a slash ends its name.
    Folder(PathBuf),
}

impl Place {
    /// Whether it has several.
    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    /// What was typed.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the place of a backup has no name".to_owned());
        }
        if text == "-" {
            return Ok(Self::Standard);
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(format!("{text}: backups are not kept in places of kind '{scheme}'"));
        }
        let path = Path::new(text);
        match text.ends_with('/') || path.is_dir() {
            true => Ok(Self::Folder(path.to_owned())),
            false => Ok(Self::File(path.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart() {
        let there = tempfile::tempdir().unwrap();
        let folder = there.path().to_str().unwrap();
        for (text, want) in [
            ("-", Place::Standard),
            ("a.ebb", Place::File("a.ebb".into())),
            ("none/", Place::Folder("none/".into())),
            (folder, Place::Folder(there.path().to_owned())),
        ] {
            assert_eq!(Place::parse(text).unwrap(), want);
        }
        assert!(Place::parse("ftp://host/a").unwrap_err().contains("ftp"));
        assert!(Place::parse("").is_err());
    }
}
