//! What a node tells the others of itself, in its record of the ledger: the place where it runs, of
//! fixed length, and JSON, so that an older version reads what a newer one writes.
//!
//! ```text
//! boot id (32 hexadecimal digits) · device, inode of the directory's lock (16 each) · {"name": ..}
//! ```

use std::{io, os::unix::fs::MetadataExt};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{checkpoint::boot_id, data_dir::DataDir};

/// Bytes of the place. An incarnation that said the same place is this node in this boot of its machine,
/// in this directory and in no copy of it.
pub(crate) const PLACE_BYTES: usize = 64;

/// What others should know of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct About {
    /// What people call it.
    pub(crate) name: String,
    /// `host:port` where other nodes reach it.
    pub(crate) peer: String,
    /// `host:port` of the MongoDB API; `None`: it is off.
    pub(crate) mongo: Option<String>,
    /// `host:port` of the NoSQL API; `None`: it is off.
    pub(crate) cosmos: Option<String>,
    /// `host:port` of the admin address; `None`: it is off.
    pub(crate) admin: Option<String>,
    /// Of the program.
    pub(crate) version: String,
}

/// The place of a node with this data directory.
pub(crate) fn place_of(directory: &DataDir) -> io::Result<String> {
    let lock = directory.lock_metadata()?;
    let boot: String = boot_id().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{boot}{:016x}{:016x}", lock.dev(), lock.ino()))
}

impl About {
    /// As the record has it.
    pub(crate) fn encode(&self, place: &str) -> Bytes {
        let mut bytes = place.as_bytes().to_vec();
        // A struct of texts always becomes JSON.
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes.into()
    }

    /// Reads a record; what cannot be read is empty: the node is shown by its id then, and nothing is
    /// sent to it.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let json = bytes.get(PLACE_BYTES..).unwrap_or_default();
        serde_json::from_slice(json).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_by_other_versions() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDir::open(folder.path(), false).unwrap();
        let place = place_of(&directory).unwrap();
        assert_eq!(place.len(), PLACE_BYTES);
        let about = About { name: "a".to_owned(), peer: "h:1".to_owned(), ..About::default() };
        assert_eq!(About::decode(&about.encode(&place)), about);
        let newer = format!("{place}{{\"name\":\"a\",\"peer\":\"h:1\",\"more\":[1]}}");
        assert_eq!(About::decode(newer.as_bytes()), about);
        for noise in [&b"\xff"[..], b"", &[b'{'; 70]] {
            assert_eq!(About::decode(noise), About::default());
        }
    }
}
