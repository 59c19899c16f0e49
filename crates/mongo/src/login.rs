//! The logged-in user of a connection, and a login in progress. The user's rights are read again
//! whenever users, roles or the account's keys have changed, so that a revoked right, a dropped user
//! or a replaced key takes effect with the next command.

use std::sync::Arc;

use auth::scram::{Exchange, Mechanism};
use document::{DocRef, Document, Value, ValueRef, doc};

use crate::access::{Privileges, RoleName, User, UserName};

/// A logged-in user and its rights.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) name: UserName,
    /// The user's id, which distinguishes it from a later user of the same name.
    pub(crate) id: [u8; 16],
    /// All roles, including inherited ones.
    pub(crate) roles: Vec<RoleName>,
    pub(crate) privileges: Privileges,
    /// Value of the change counter of users, roles and keys before the rights were read.
    pub(crate) seen: u64,
}

/// A user that another server of the cluster has authenticated. It does not contain rights, which
/// the receiving server looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownUser {
    /// Name of the user, without its database.
    pub user: String,
    /// The user's authentication database, such as `admin`.
    pub database: String,
    /// The user's id, which distinguishes it from a later user of the same name.
    pub id: [u8; 16],
}

impl KnownUser {
    /// Returns the user's name as a `UserName`.
    pub(crate) fn name(&self) -> UserName {
        UserName { user: self.user.clone(), database: self.database.clone() }
    }

    /// Returns the user as the document that servers send to each other.
    pub(crate) fn to_document(&self) -> Document {
        let id = Value::Binary { subtype: 0, bytes: self.id.to_vec() };
        doc! { "user": self.user.as_str(), "db": self.database.as_str(), "id": id }
    }

    /// Parses the result of `to_document`; returns `None` if no user is logged in.
    pub(crate) fn from_document(told: DocRef<'_>) -> Option<Self> {
        let text = |name| told.get(name).and_then(ValueRef::as_str).map(str::to_owned);
        let Some(ValueRef::Binary { bytes, .. }) = told.get("id") else { return None };
        Some(Self { user: text("user")?, database: text("db")?, id: bytes.try_into().ok()? })
    }
}

impl Login {
    /// Returns the user in the form that is sent to other servers of the cluster.
    fn known_user(&self) -> KnownUser {
        let UserName { user, database } = self.name.clone();
        KnownUser { user, database, id: self.id }
    }
}

/// A login between the client's first message and its last one.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// Id of the conversation on this connection, which every further message of the login
    /// contains.
    pub(crate) id: i32,
    /// The name that the client gave; the user may not exist.
    pub(crate) name: UserName,
    pub(crate) mechanism: Mechanism,
    /// Whether the client omits the empty message that otherwise ends the login.
    pub(crate) skips_empty: bool,
    pub(crate) step: Step,
}

/// The message that the client has to send next to log in.
#[derive(Debug)]
pub(crate) enum Step {
    /// The client-final message of SCRAM, which proves a password. An account has several keys that
    /// are valid as passwords, so the exchange may accept any of several passwords; the users are
    /// listed in the order of these passwords. With an empty list, every proof fails.
    Proof(Box<Exchange>, Vec<User>),
    /// An empty message, which completes the login of this user.
    Empty(Box<User>),
}

/// The login state of a connection.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    pub(crate) current: Option<Arc<Login>>,
    pub(crate) under_way: Option<Conversation>,
    /// A user that another server has authenticated and whose rights were not looked up yet.
    pub(crate) known: Option<KnownUser>,
    /// Id of the last login conversation.
    pub(crate) last: i32,
}

impl Logins {
    /// Logs a user in, replacing any previous one.
    pub(crate) fn log_in(&mut self, login: Arc<Login>) {
        (self.current, self.known) = (Some(login), None);
    }

    /// Returns whether a user is logged in.
    pub(crate) fn is_logged_in(&self) -> bool {
        self.current.is_some() || self.known.is_some()
    }

    /// Returns the logged-in user in the form that is sent to other servers of the cluster.
    pub(crate) fn known_user(&self) -> Option<KnownUser> {
        self.current.as_ref().map(|login| login.known_user()).or_else(|| self.known.clone())
    }
}
