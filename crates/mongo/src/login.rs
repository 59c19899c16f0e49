//! Who is logged in on a connection, and a login that is under way. What a user may do is read again
//! whenever users or roles have changed, so that taking a right away, or removing the user, counts from
//! the next command on.

use std::sync::Arc;

use auth::scram::{Exchange, Mechanism};
use document::{DocRef, Document, Value, ValueRef, doc};

use crate::access::{Privileges, RoleName, User, UserName};

/// A user who is logged in, with what the user may do.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) name: UserName,
    /// The user's id: one who is made anew under the same name is another.
    pub(crate) id: [u8; 16],
    /// All roles, those that come with others among them.
    pub(crate) roles: Vec<RoleName>,
    pub(crate) privileges: Privileges,
    /// How often users and roles had changed before these were read.
    pub(crate) seen: u64,
}

/// A user whom another server of the cluster has let in: what one server believes the other. Rights are not
/// in it, since whoever gets it looks them up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownUser {
    /// The name.
    pub user: String,
    /// The database of the name.
    pub database: String,
    /// The user's id: one who is made anew under the same name is another.
    pub id: [u8; 16],
}

impl KnownUser {
    /// The name as users have it here.
    pub(crate) fn name(&self) -> UserName {
        UserName { user: self.user.clone(), database: self.database.clone() }
    }

    /// As servers tell each other.
    pub(crate) fn to_document(&self) -> Document {
        let id = Value::Binary { subtype: 0, bytes: self.id.to_vec() };
        doc! { "user": self.user.as_str(), "db": self.database.as_str(), "id": id }
    }

    /// Reads that; `None`: nobody is logged in.
    pub(crate) fn from_document(told: DocRef<'_>) -> Option<Self> {
        let text = |name| told.get(name).and_then(ValueRef::as_str).map(str::to_owned);
        let Some(ValueRef::Binary { bytes, .. }) = told.get("id") else { return None };
        Some(Self { user: text("user")?, database: text("db")?, id: bytes.try_into().ok()? })
    }
}

impl Login {
    /// As another server of the cluster is told of it.
    fn known_user(&self) -> KnownUser {
        let UserName { user, database } = self.name.clone();
        KnownUser { user, database, id: self.id }
    }
}

/// A login between the client's first message and its last one.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// Its number on this connection, which every message of it names.
    pub(crate) id: i32,
    /// The user, or as whom somebody tries to log in.
    pub(crate) name: UserName,
    pub(crate) mechanism: Mechanism,
    /// The client has no need of an empty message at the end.
    pub(crate) skips_empty: bool,
    pub(crate) step: Step,
}

/// What comes next in a conversation.
#[derive(Debug)]
pub(crate) enum Step {
    /// The proof of the user's password. Without a user, nothing is one.
    Proof(Box<Exchange>, Option<Box<User>>),
    /// An empty message, after which the login of this user is over.
    Empty(Box<User>),
}

/// What a connection knows of logins.
#[derive(Debug, Default)]
pub(crate) struct Logins {
    pub(crate) current: Option<Arc<Login>>,
    pub(crate) under_way: Option<Conversation>,
    /// The user whom another server has let in and whose rights are not looked up yet.
    pub(crate) known: Option<KnownUser>,
    /// The number of the last conversation.
    pub(crate) last: i32,
}

impl Logins {
    /// Logs this user in, in the place of whoever was.
    pub(crate) fn log_in(&mut self, login: Arc<Login>) {
        (self.current, self.known) = (Some(login), None);
    }

    /// Whether anybody is logged in.
    pub(crate) fn is_anybody(&self) -> bool {
        self.current.is_some() || self.known.is_some()
    }

    /// The user who is logged in, as another server of the cluster is told of it.
    pub(crate) fn known_user(&self) -> Option<KnownUser> {
        self.current.as_ref().map(|login| login.known_user()).or_else(|| self.known.clone())
    }
}
