//! What is written down of one thing that was done or refused. Names only, and none longer than a line
//! can bear; which things there are is the APIs' business.

use serde_json::{Map, Value};

/// Longest name in a line, bytes; a longer one is cut.
const MAX_NAME: usize = 1024;

/// Where something was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The MongoDB API.
    Mongo,
    /// The NoSQL API.
    NoSql,
    /// The admin address and the portal.
    Admin,
    /// Nobody asked: the server itself.
    Server,
}

impl Api {
    fn name(self) -> &'static str {
        match self {
            Self::Mongo => "mongodb",
            Self::NoSql => "nosql",
            Self::Admin => "admin",
            Self::Server => "server",
        }
    }
}

/// One thing that was done or refused.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Where it was asked for.
    pub api: Api,
    /// What was asked for: the name of a command, an operation or a change.
    pub action: &'a str,
    /// Where the sender is; empty where nobody is.
    pub peer: &'a str,
    /// Who it is, as far as that is known.
    pub user: Option<&'a str>,
    /// What it is about, such as `shop.orders`; empty for the whole server.
    pub object: &'a str,
    /// 0: it was done; else the number of the error that was answered.
    pub outcome: i64,
}

/// Whether an answer over HTTP refuses somebody: who is not known, or who may not.
pub fn is_refusal(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// What an answer over HTTP comes to in a line.
pub fn outcome_of(status: u16) -> i64 {
    if status < 400 { 0 } else { status.into() }
}

impl Event<'_> {
    /// The fields of the line, in the order of their names, but for the hashes.
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

/// A name that fits into a line.
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
