//! The session and the transaction in which a cursor may be continued: those in which it was opened.

use crate::{
    errors::{Error, Result},
    session::SessionId,
};

/// Fails with one of mongod's three error codes unless a cursor is continued in the session that it
/// was opened in, or without a session if it was opened without one.
pub(crate) fn same_session(
    id: i64,
    opened: Option<SessionId>,
    asking: Option<SessionId>,
) -> Result<()> {
    let (code, message) = match (opened, asking) {
        (opened, asking) if opened == asking => return Ok(()),
        (None, _) => (50736, "which was not created in a session, in a session"),
        (Some(_), None) => (50737, "which was created in a session, without an lsid"),
        (Some(_), Some(_)) => (50738, "which was created in another session"),
    };
    Err(Error::new(code, format!("Cannot run getMore on cursor {id}, {message}")))
}

/// Fails unless a cursor is continued in the transaction that it was opened in, or outside of
/// transactions if it was opened outside.
pub(crate) fn same_transaction(id: i64, opened: Option<i64>, asking: Option<i64>) -> Result<()> {
    let (code, message) = match (opened, asking) {
        (opened, asking) if opened == asking => return Ok(()),
        (None, _) => (50739, "which was not created in a transaction, in a transaction"),
        (Some(_), None) => (50740, "which was created in a transaction, outside of it"),
        (Some(_), Some(_)) => (50741, "which was created in another transaction"),
    };
    Err(Error::new(code, format!("Cannot run getMore on cursor {id}, {message}")))
}
