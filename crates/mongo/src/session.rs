//! The session id of a command. A cursor belongs to the session that it was opened in. Sessions
//! have no other state, so any id is valid.

use document::{DocRef, ValueRef};

/// The id of a session, a UUID.
pub(crate) type SessionId = [u8; 16];

/// Returns the id of the session that a command names; `None` for a malformed id, since the check
/// of the arguments that all commands share has already rejected it.
pub(crate) fn session_id(body: DocRef<'_>) -> Option<SessionId> {
    match body.get("lsid")?.as_document()?.get("id")? {
        ValueRef::Binary { bytes, .. } => bytes.try_into().ok(),
        _ => None,
    }
}
