//! `ebb verify`: walks every row, index entry and count of a closed data directory. It opens and
//! locks the directory as a server does, so no server can use it during the check, but does not
//! listen.

use std::path::Path;

use engine::Model;
use server_base::{
    config::{ClockMode, Config},
    data_dir::{DataDir, Refused},
    failure::Failure,
    features::Features,
};

use crate::{nosql, open::open_store};

/// Result of checking one collection, or the files outside the collections.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Database and collection name; `files` for files that belong to no collection.
    pub namespace: String,
    /// Display name of the collection's API; `None` if it belongs to no API.
    pub api: Option<&'static str>,
    /// Number of rows that have not expired.
    pub rows: u64,
    /// Number of index entries of expired documents that are not removed yet; not damage.
    pub dead_entries: u64,
    /// Inconsistencies as sentences, at most the first hundred.
    pub differences: Vec<String>,
    /// Total number of inconsistencies, listed or not.
    pub count: u64,
}

/// Walks a data directory and returns a result for each collection, preceded by a result for
/// damaged files if files are damaged. Inconsistencies are part of a result; an error means that
/// the directory was refused or could not be read.
pub fn verify(data_dir: &Path) -> Result<Vec<Difference>, Failure> {
    // A killed first start may have created only the directory: it holds no data, and opening it
    // would create a store with a clock.
    let directory = DataDir::open(data_dir, true).map_err(Failure::Refused)?;
    if !directory.path.join("store").exists() {
        return Ok(Vec::new());
    }
    drop(directory);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(error.to_string()))?;
    runtime.block_on(async {
        let mut config = Config {
            data_dir: Some(data_dir.to_owned()),
            clock: ClockMode::System,
            ..Config::for_tests()
        };
        // Checked before the store is opened, which cleans up and could remove damaged files.
        let beside = damage_beside_store(data_dir)?;
        // Expiry has to be judged by the kind of clock that the directory was created with.
        let opened = match open_store(&config, true).await {
            Err(Failure::Refused(Refused::OtherClock)) => {
                config.clock = ClockMode::Manual;
                open_store(&config, true).await?
            }
            opened => opened?,
        };
        // The file of feature switches is opened only to check that it is readable.
        Features::open(Some(data_dir), None).map_err(Failure::Refused)?;
        let mut found = Vec::from_iter(beside);
        for model in [Model::Documents, Model::Items, Model::Receipts, Model::Changes] {
            for (namespace, collection) in opened.engine.collections(model) {
                let checked = opened.engine.check_collection(&collection).await;
                let api = match model {
                    Model::Documents => Some("MongoDB"),
                    Model::Items => Some("NoSQL"),
                    Model::Receipts | Model::Changes => None,
                };
                found.push(Difference { api, ..to_difference(namespace.to_string(), checked)? });
            }
        }
        Ok(found)
    })
}

/// Returns damage that walking the rows would not find: in blocks of table files that the walk does
/// not read, and in the files of the NoSQL API.
fn damage_beside_store(data_dir: &Path) -> Result<Option<Difference>, Failure> {
    let tables = match store_tree::damaged_tables(&data_dir.join("store")) {
        Ok(tables) => tables,
        // A damaged store is refused later, when it is opened, with instructions.
        Err(error) if error.kind == store::Kind::Corrupt => Vec::new(),
        Err(error) => return Err(Failure::Failed(error.to_string())),
    };
    let differences: Vec<String> = tables.into_iter().chain(nosql::find_damage(data_dir)).collect();
    let count = differences.len() as u64;
    let namespace = "files".to_owned();
    let found = Difference { namespace, api: None, rows: 0, dead_entries: 0, differences, count };
    Ok((0 < count).then_some(found))
}

/// Converts the result of a walk. Damage that ended the walk counts as an inconsistency, so that
/// the other collections are still walked.
fn to_difference(
    namespace: String,
    checked: Result<engine::CheckReport, engine::Error>,
) -> Result<Difference, Failure> {
    match checked {
        Ok(checked) => Ok(Difference {
            namespace,
            api: None,
            rows: checked.rows,
            dead_entries: checked.dead_entries,
            differences: checked.differences.listed,
            count: checked.differences.count,
        }),
        Err(error) if error.kind == engine::Kind::Corrupt => Ok(Difference {
            namespace,
            api: None,
            rows: 0,
            dead_entries: 0,
            differences: vec![format!("verification ended at damaged data: {error}")],
            count: 1,
        }),
        Err(error) => Err(Failure::Failed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::start;

    #[test]
    fn a_directory_without_a_store_stays_without_one() {
        let directory = tempfile::tempdir().unwrap();
        drop(DataDir::open(directory.path(), false).unwrap());
        assert!(verify(directory.path()).unwrap().is_empty());
        assert!(!directory.path().join("store").exists());
    }

    #[tokio::test]
    async fn a_directory_is_verified_with_its_own_clock() {
        for clock in [ClockMode::Manual, ClockMode::System] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("data");
            let config = Config { data_dir: Some(path.clone()), clock, ..Config::for_tests() };
            start(&config).await.unwrap().stop().await.unwrap();
            let verified = tokio::task::spawn_blocking(move || verify(&path));
            assert!(verified.await.unwrap().unwrap().is_empty(), "{clock:?}");
        }
    }
}
