//! Sets of sessions, for `killSessions` and related commands. A session belongs to its user: two
//! users may use the same session id without affecting each other.
//!
//! A user is identified by the SHA-256 digest of `user@database`, as in MongoDB; a client without a
//! login by the digest of the empty string.

use std::collections::HashSet;

use crate::{access::UserName, client::Sender, session::SessionId};

/// The digest of a user's name, which clients call `uid`.
pub(crate) type UserDigest = [u8; 32];

/// A session and its user.
pub(crate) type SessionKey = (SessionId, UserDigest);

/// Returns the digest of a user, or of a client without a login.
pub(crate) fn user_digest(user: Option<&UserName>) -> UserDigest {
    let name = user.map(|user| format!("{}@{}", user.user, user.database));
    auth::sha256(name.unwrap_or_default().as_bytes())
}

/// A set of sessions: all sessions, or the sessions of some users and single sessions.
#[derive(Debug, Default)]
pub(crate) struct SessionSet {
    pub(crate) all: bool,
    pub(crate) users: HashSet<UserDigest>,
    pub(crate) single: HashSet<(SessionId, UserDigest)>,
}

impl SessionSet {
    /// Returns whether a session is in the set.
    pub(crate) fn has_key(&self, key: &SessionKey) -> bool {
        self.all || self.users.contains(&key.1) || self.single.contains(key)
    }

    /// Returns whether the session of a sender is in the set; false for an operation without a
    /// session.
    pub(crate) fn has(&self, session: Option<SessionId>, sender: &Sender) -> bool {
        let Some(session) = session else { return false };
        if self.all {
            return true;
        }
        if self.users.is_empty() && self.single.is_empty() {
            return false;
        }
        let user = user_digest(sender.user.as_ref());
        self.users.contains(&user) || self.single.contains(&(session, user))
    }
}
