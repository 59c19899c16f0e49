//! What a node tells the others of itself, in its record of the ledger: JSON, so that an older version
//! reads what a newer one writes.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// What others should know of a node. An incarnation that said the same is this node in this boot of
/// its machine, which `boot` makes true.
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
    /// Names this boot of its machine, in hexadecimal digits.
    pub(crate) boot: String,
}

impl About {
    /// As the record has it.
    pub(crate) fn encode(&self) -> Bytes {
        // A struct of texts always becomes JSON.
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Reads a record; what cannot be read is empty: the node is shown by its id then, and nothing is
    /// sent to it.
    pub(crate) fn decode(bytes: &[u8]) -> Self {
        serde_json::from_slice(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_by_other_versions() {
        let about = About { name: "a".to_owned(), peer: "h:1".to_owned(), ..About::default() };
        assert_eq!(About::decode(&about.encode()), about);
        let newer = br#"{"name":"a","peer":"h:1","more":[1]}"#;
        assert_eq!(About::decode(newer), about);
        assert_eq!(About::decode(b"\xff"), About::default());
    }
}
