//! Parses the location of a backup: a file, a directory, S3, or standard input or output.

use std::{
    fmt,
    path::{Path, PathBuf},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Standard output or input, `-`.
    Standard,
    File(PathBuf),
    /// A directory of backups: an existing one, or a name that ends with a slash.
    Folder(PathBuf),
    Object {
        bucket: String,
        key: String,
    },
    /// All objects whose keys have this prefix. The prefix ends with a slash, or is empty for the
    /// whole bucket.
    Prefix {
        bucket: String,
        prefix: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.write_str("standard input"),
            Self::File(path) | Self::Folder(path) => path.display().fmt(f),
            Self::Object { bucket, key } => write!(f, "s3://{bucket}/{key}"),
            Self::Prefix { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}

impl Place {
    /// Returns whether the location can hold several backups.
    pub(super) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_) | Self::Prefix { .. })
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the location of the backup is empty".to_owned());
        }
        if text == "-" {
            return Ok(Self::Standard);
        }
        if let Some(rest) = text.strip_prefix("s3://") {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(format!("{text}: it is not s3://BUCKET/KEY"));
            }
            let (bucket, key) = (bucket.to_owned(), key.to_owned());
            return Ok(match key.is_empty() || key.ends_with('/') {
                true => Self::Prefix { bucket, prefix: key },
                false => Self::Object { bucket, key },
            });
        }
        if let Some((scheme, _)) = text.split_once("://") {
            return Err(format!("{text}: unsupported backup location '{scheme}'"));
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
        let of = |bucket: &str, prefix: &str| Place::Prefix {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
        };
        assert_eq!(Place::parse("s3://b").unwrap(), of("b", ""));
        assert_eq!(Place::parse("s3://b/a/").unwrap(), of("b", "a/"));
        let object = Place::Object { bucket: "b".to_owned(), key: "a/c.ebb".to_owned() };
        assert_eq!(Place::parse("s3://b/a/c.ebb").unwrap(), object);
        assert!(Place::parse("s3://").is_err());
        assert!(Place::parse("ftp://host/a").unwrap_err().contains("ftp"));
        assert!(Place::parse("").is_err());
    }
}
