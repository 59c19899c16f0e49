//! The errors by which a transaction fails.

use crate::{
    catalog::Collection,
    error::{Error, Kind},
};

/// Returns the error of a conflict with another writer.
pub(crate) fn write_conflict() -> Error {
    let text = "Caused by :: Write conflict during plan execution and yielding is disabled. :: \
                Please retry your operation or multi-document transaction.";
    Error::new(Kind::Conflict, text)
}

/// Returns the error of a transaction that has met a document before and after its expiry, or
/// relies on a document that has expired.
pub(super) fn expired_meanwhile() -> Error {
    let text = "a document expired while the transaction was open; retry the transaction";
    Error::new(Kind::Conflict, text)
}

/// Returns the error of a collection that has changed since the snapshot.
pub(crate) fn snapshot_unavailable() -> Error {
    let text = "Unable to read from a snapshot due to pending collection catalog changes; please \
                retry the operation.";
    Error::new(Kind::SnapshotUnavailable, text)
}

/// Fails if a collection is capped, for a write in a transaction.
pub(crate) fn check_not_capped(collection: &Collection) -> Result<(), Error> {
    let state = collection.state();
    if state.record.capped.is_none() {
        return Ok(());
    }
    let text = format!(
        "Collection {} is a capped collection. Writes in transactions are not allowed on capped \
         collections.",
        state.record.namespace
    );
    Err(Error::new(Kind::OutsideTransactions, text))
}
