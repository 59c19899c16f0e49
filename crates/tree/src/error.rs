//! Errors of the tree, by what the caller does next: repair the cause and retry, restore the
//! data, take a new snapshot, or open the tree again.

use std::{fmt, io, sync::Arc};

/// A part of a file that does not contain the data written to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Name of the file in the tree's folder.
    pub file: String,
    /// Offset of the damaged part in bytes.
    pub offset: u64,
    /// Description of the problem, for people.
    pub problem: String,
}

/// Reason why an operation of the tree failed.
#[derive(Clone, Debug)]
pub enum Error {
    /// A call of the disk failed. The tree works on; a flush or job may be retried.
    Io {
        /// The operation that failed, such as "write a table".
        doing: &'static str,
        /// Name of the file in the tree's folder.
        file: String,
        /// The error of the disk.
        source: Arc<io::Error>,
    },
    /// A file is damaged or missing.
    Damaged(Damage),
    /// The snapshot was ended by [`Tree::end_snapshots`](crate::Tree::end_snapshots).
    SnapshotEnded,
    /// The list of files could not be written, so its state on the disk is unknown. The tree
    /// changes no more files until it is opened again. Contains the cause.
    Stopped(Arc<Error>),
    /// The tree has no space with this number.
    UnknownSpace(u64),
    /// The call contradicts the contract of the tree or was refused by the hooks.
    Refused(String),
}

/// The result of an operation of the tree.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Creates an error of the disk.
    pub(crate) fn io(doing: &'static str, file: &str, source: io::Error) -> Self {
        Self::Io { doing, file: file.to_owned(), source: Arc::new(source) }
    }

    /// Creates an error for a damaged file.
    pub(crate) fn damaged(file: &str, offset: u64, problem: impl Into<String>) -> Self {
        Self::Damaged(Damage { file: file.to_owned(), offset, problem: problem.into() })
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged at offset {}: {}", self.file, self.offset, self.problem)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, file, source } => write!(f, "cannot {doing} {file}: {source}"),
            Self::Damaged(damage) => damage.fmt(f),
            Self::SnapshotEnded => f.write_str("the snapshot was ended: take a new one"),
            Self::Stopped(cause) => {
                write!(f, "the list of files could not be written, open the tree again: {cause}")
            }
            Self::UnknownSpace(space) => write!(f, "space {space} does not exist"),
            Self::Refused(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
