//! Where and how a store is opened.

use std::path::{Path, PathBuf};

/// Folder of the tree, in the store's directory.
pub(crate) const TREE: &str = "tree";

/// Where and how a store is opened.
#[derive(Clone, Debug)]
pub struct LsmOptions {
    /// Its directory.
    pub path: PathBuf,
    /// Memory for blocks of the tree, bytes.
    pub cache_bytes: u64,
    /// Largest journal before old memory is flushed, bytes: what is only in memory is in it, and a
    /// start reads it.
    pub journal_bytes: u64,
    /// Open although commits are missing: an operator has looked at it.
    pub accept_loss: bool,
}

impl LsmOptions {
    /// A store in this directory.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            cache_bytes: 256 * 1024 * 1024,
            journal_bytes: 128 * 1024 * 1024,
            accept_loss: false,
        }
    }
}
