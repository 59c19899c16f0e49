//! The self-description of a node in its record in the ledger: its location, of fixed length, and
//! JSON, so that older versions can read what newer ones write.
//!
//! ```text
//! boot id (32 hexadecimal digits) · device, inode of the directory's lock (16 each) · {"name": ..}
//! ```

use std::{io, os::unix::fs::MetadataExt};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use server::boot_id;
use server_base::data_dir::DataDir;

/// Length of the location in bytes. An earlier incarnation with the same location ran in the same
/// boot of this machine and on this directory, not on a copy.
pub(crate) const LOCATION_BYTES: usize = 64;

/// Description of a node for other nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct NodeDescription {
    /// Name of the node for people.
    pub(crate) name: String,
    /// `host:port` at which other nodes reach the node.
    pub(crate) peer: String,
    /// `host:port` of the MongoDB API; `None` if it is off.
    pub(crate) mongo: Option<String>,
    /// `host:port` of the NoSQL API; `None` if it is off.
    pub(crate) cosmos: Option<String>,
    /// `host:port` of the admin address; `None` if it is off.
    pub(crate) admin: Option<String>,
    /// Version of the program that the node runs.
    pub(crate) version: String,
}

/// Returns the location of this node as text: the boot id of the machine, and device and inode of
/// the lock of this data directory.
pub(crate) fn location_of(directory: &DataDir) -> io::Result<String> {
    let lock = directory.lock_metadata()?;
    let boot: String = boot_id().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{boot}{:016x}{:016x}", lock.dev(), lock.ino()))
}

impl NodeDescription {
    /// Encodes the description for the node's record.
    pub(crate) fn encode(&self, location: &str) -> Bytes {
        let mut bytes = location.as_bytes().to_vec();
        // Cannot fail, since a struct of strings always serializes.
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes.into()
    }

    /// Decodes a record. An unreadable one yields empty fields: the node is then listed by its id,
    /// and nothing is sent to it.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let json = bytes.get(LOCATION_BYTES..).unwrap_or_default();
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
        let location = location_of(&directory).unwrap();
        assert_eq!(location.len(), LOCATION_BYTES);
        let about = NodeDescription {
            name: "a".to_owned(),
            peer: "h:1".to_owned(),
            ..NodeDescription::default()
        };
        assert_eq!(NodeDescription::decode(&about.encode(&location)), about);
        let newer = format!("{location}{{\"name\":\"a\",\"peer\":\"h:1\",\"more\":[1]}}");
        assert_eq!(NodeDescription::decode(newer.as_bytes()), about);
        for noise in [&b"\xff"[..], b"", &[b'{'; 70]] {
            assert_eq!(NodeDescription::decode(noise), NodeDescription::default());
        }
    }
}
