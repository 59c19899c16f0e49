//! The identity of a node: a small file, created at the first start, with the ids of node and
//! cluster. A directory of a standalone server is refused, since the cluster's data would replace
//! its documents.

use std::{fs, io};

use serde::{Deserialize, Serialize};
use server_base::{
    atomic_file::replace_atomically,
    data_dir::{DataDir, NODE_FILE, Refused},
    failure::{Failure, failed},
};
use uuid::Uuid;

/// Version of the file's format; other versions are refused.
const VERSION: u32 = 1;
/// Entries whose presence shows that a directory belongs to a standalone server.
const OWN_STORE: [&str; 2] = ["store", "clock"];

/// Content of the file `NODE_FILE`, JSON.
#[derive(Debug, Deserialize, Serialize)]
struct Stored {
    version: u32,
    node: String,
    cluster: String,
}

/// Returns the node's id in this cluster; generates it in an empty directory.
pub(crate) fn open_identity(directory: &DataDir, cluster: Uuid) -> Result<Uuid, Failure> {
    let file = directory.path.join(NODE_FILE);
    let refused =
        |why: String| Failure::Refused(Refused::Unusable(format!("{} {why}", file.display())));
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return make_identity(directory, cluster);
        }
        Err(error) => return Err(refused(format!("cannot be read: {error}"))),
    };
    let stored: Stored =
        serde_json::from_slice(&text).map_err(|error| refused(format!("is damaged: {error}")))?;
    let (node, of) = (Uuid::parse_str(&stored.node), Uuid::parse_str(&stored.cluster));
    match (stored.version, node, of) {
        (VERSION, Ok(node), Ok(of)) if of == cluster => Ok(node),
        (VERSION, Ok(_), Ok(of)) => Err(refused(format!(
            "belongs to cluster {of}, but the keyspace to cluster {cluster}: give the matching \
             keyspace, or an empty --data-dir"
        ))),
        (VERSION, ..) => Err(refused("is damaged: it contains no node".to_owned())),
        (version, ..) => Err(refused(format!("was written by another version ({version})"))),
    }
}

fn make_identity(directory: &DataDir, cluster: Uuid) -> Result<Uuid, Failure> {
    if OWN_STORE.iter().any(|name| directory.path.join(name).exists()) {
        return Err(Failure::Refused(Refused::Unusable(format!(
            "{} holds the data of a stand-alone server: a cluster node needs an empty --data-dir",
            directory.path.display()
        ))));
    }
    let node = Uuid::new_v4();
    let stored = Stored { version: VERSION, node: node.to_string(), cluster: cluster.to_string() };
    let text = serde_json::to_vec(&stored).map_err(failed)?;
    replace_atomically(&directory.path, NODE_FILE, &text).map_err(failed)?;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_one_node_of_one_cluster() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDir::open(folder.path(), false).unwrap();
        let (cluster, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let node = open_identity(&directory, cluster).unwrap();
        assert_eq!(open_identity(&directory, cluster).unwrap(), node);
        let refusal = open_identity(&directory, other).unwrap_err().to_string();
        assert!(refusal.contains(&cluster.to_string()), "{refusal}");
        for (text, want) in [
            (&b"{"[..], "damaged"),
            (br#"{"version":1,"node":"x","cluster":"y"}"#, "damaged"),
            (br#"{"version":2,"node":"x","cluster":"y"}"#, "another version"),
        ] {
            fs::write(folder.path().join(NODE_FILE), text).unwrap();
            let refusal = open_identity(&directory, cluster).unwrap_err().to_string();
            assert!(refusal.contains(want), "{refusal}");
        }
    }

    #[test]
    fn a_directory_with_data_of_its_own_is_no_node() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDir::open(folder.path(), false).unwrap();
        fs::create_dir(folder.path().join("store")).unwrap();
        let refusal = open_identity(&directory, Uuid::from_u128(1)).unwrap_err().to_string();
        assert!(refusal.contains("a stand-alone server"), "{refusal}");
    }
}
