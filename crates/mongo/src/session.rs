//! The session that a command names: cursors belong to the one they were opened in. Nothing else is
//! kept of a session, so any id is valid.

use document::{DocRef, ValueRef};

/// The id of a session, a UUID.
pub(crate) type SessionId = [u8; 16];

/// The id of the session that a command names. A malformed one counts as none: the arguments that
/// all commands share are checked before anybody asks.
pub(crate) fn session_id(body: DocRef<'_>) -> Option<SessionId> {
    match body.get("lsid")?.as_document()?.get("id")? {
        // The subtype is checked with the arguments that all commands
        // share.
        ValueRef::Binary { bytes, .. } => bytes.try_into().ok(),
        _ => None,
    }
}
