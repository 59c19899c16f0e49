//! Who is logged in on a connection, and a login that is under way. What a user may do is read again
//! whenever users or roles have changed, so that taking a right away, or removing the user, counts from
//! the next command on.

use std::sync::Arc;

use auth::scram::{Exchange, Mechanism};

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
    /// The number of the last conversation.
    pub(crate) last: i32,
}
