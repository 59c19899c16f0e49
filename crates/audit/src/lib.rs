//! The audit log: logins, refusals, and changes of anything but documents. Lines of JSON are
//! appended to a file, each with a hash over itself and the previous hash, so that changed, removed
//! or inserted lines are detected. A line records an event, that is, an action that was executed or
//! refused. It contains only names, of limited length, and no documents, queries or passwords; the
//! APIs decide which events are recorded.
//!
//! Unless the last hash is also kept elsewhere, the chain does not protect against a person who can
//! write the file, since all hashes from a line on can be recomputed.

mod chain;
mod log;

pub use chain::{Broken, Checked, check};
pub use log::AuditLog;

use serde_json::{Map, Value};

/// Maximum length of a name in bytes; longer ones are truncated.
const MAX_NAME: usize = 1024;

/// The API of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The MongoDB wire protocol API.
    Mongo,
    /// The Cosmos DB NoSQL REST API.
    NoSql,
    /// The Cosmos DB NoSQL API in direct mode.
    NoSqlDirect,
    /// The admin address and the portal.
    Admin,
    /// The server itself, without a request.
    Server,
}

impl Api {
    fn name(self) -> &'static str {
        match self {
            Self::Mongo => "mongodb",
            Self::NoSql => "nosql",
            Self::NoSqlDirect => "nosql-direct",
            Self::Admin => "admin",
            Self::Server => "server",
        }
    }
}

/// An action that was executed or refused.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The API of the request.
    pub api: Api,
    /// The name of the command, operation or change.
    pub action: &'a str,
    /// The sender's address; empty without a sender.
    pub peer: &'a str,
    /// The sender's user name, if known.
    pub user: Option<&'a str>,
    /// The object of the action, such as `shop.orders`; empty for the whole server.
    pub object: &'a str,
    /// 0 if the action was executed, otherwise the error code of the reply.
    pub outcome: i64,
}

/// Returns whether an HTTP status is a refusal: not authenticated or not authorized.
pub fn is_refusal(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Returns the [`Event::outcome`] of a request that was answered with this HTTP status.
pub fn outcome_of(status: u16) -> i64 {
    if status < 400 { 0 } else { status.into() }
}

impl Event<'_> {
    /// Returns the fields of the event's line except the hashes, in the order of their names.
    pub(crate) fn fields(&self, number: u64, time: &str) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("number", number.into());
        put("time", time.into());
        put("api", self.api.name().into());
        put("action", cut(self.action).into());
        put("peer", cut(self.peer).into());
        put("user", self.user.map_or(Value::Null, |user| cut(user).into()));
        put("object", cut(self.object).into());
        put("outcome", self.outcome.into());
        fields
    }
}

/// Truncates a name to the maximum length.
fn cut(name: &str) -> &str {
    let mut end = name.len().min(MAX_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_at_a_character() {
        assert_eq!(cut("ann"), "ann");
        let long = "ä".repeat(MAX_NAME);
        assert_eq!(cut(&long).len(), MAX_NAME);
        assert_eq!(cut(&format!("x{long}")).len(), MAX_NAME - 1);
    }
}
