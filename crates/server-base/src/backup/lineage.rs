//! The lineage: the id of a database, by which incremental backups are matched to earlier ones. It
//! is stored in the data directory and not in backups, so a restored database is a different one.
//! It also changes after a start that accepted lost commits, since entry numbers are then reused.

use std::{io, path::Path};

use uuid::Uuid;

use crate::{
    checksummed,
    data_dir::Refused,
    failure::{Failure, failed},
};

/// File in the data directory that contains the id.
const FILE: &str = "lineage";

/// Returns the id of the database in this directory, generating it if missing.
pub fn lineage_of(folder: &Path) -> Result<Uuid, Failure> {
    let path = folder.join(FILE);
    let damaged = || {
        Failure::Refused(Refused::Unusable(format!(
            "{} is damaged: remove it, and start with a full backup",
            path.display()
        )))
    };
    match checksummed::read_text(&path) {
        Ok(text) => Uuid::try_parse(text.trim()).map_err(|_| damaged()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => begin_lineage(folder),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(damaged()),
        Err(error) => Err(failed(error)),
    }
}

/// Gives the database in this directory a new id, so that no incremental backup can continue an
/// earlier backup.
pub fn begin_lineage(folder: &Path) -> Result<Uuid, Failure> {
    let id = Uuid::new_v4();
    checksummed::write_text(folder, FILE, format!("{id}\n").as_bytes()).map_err(failed)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_keeps_its_id_and_damage_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let id = lineage_of(folder.path()).unwrap();
        assert_eq!(lineage_of(folder.path()).unwrap(), id);
        let other = begin_lineage(folder.path()).unwrap();
        assert!(other != id && lineage_of(folder.path()).unwrap() == other);
        std::fs::write(folder.path().join(FILE), "nothing").unwrap();
        assert!(lineage_of(folder.path()).unwrap_err().to_string().contains("full backup"));
    }
}
