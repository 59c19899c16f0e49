//! The routing of messages by database. In a cluster of several shards each database belongs to one
//! shard, whose owner answers. This module determines the database of a message; the server assigns
//! databases to shards.

use std::{fmt, sync::Arc};

use document::{DocRef, ValueRef};

use crate::{
    arguments::OF_SHARD,
    command_row::Home,
    command_table::CommandTable,
    repeatable::{command_of, is_of_login},
    wire::{Header, OpCode},
};

/// A database that belongs to the first shard.
const FIRST: &str = "admin";

/// A predicate: whether this server owns the shard of a database.
#[derive(Clone)]
pub struct IsHome(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl IsHome {
    /// Creates the predicate from a function of database names.
    pub fn new(is_home: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_home))
    }

    /// Returns whether this server owns the shard of `database`.
    pub(crate) fn is(&self, database: &str) -> bool {
        (self.0)(database)
    }

    /// Returns the database of a message if another server owns that database; `None` if this
    /// server answers the message.
    pub(crate) fn elsewhere(
        &self,
        commands: &CommandTable,
        header: &Header,
        payload: &[u8],
    ) -> Option<String> {
        let database = database_of(commands, header, payload)?;
        (!self.is(database)).then(|| database.to_owned())
    }
}

impl fmt::Debug for IsHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IsHome")
    }
}

/// Returns whether a message is uncompressed, so that its database can be read. Servers that route
/// messages agree on no compression with their clients.
pub(crate) fn is_readable(header: &Header) -> bool {
    header.code != OpCode::Compressed as i32
}

/// Returns the database that a message is for; `None` if any server can answer the message. A
/// message that is not a command is such a message: it gets an error from any server.
fn database_of<'a>(commands: &CommandTable, header: &Header, payload: &'a [u8]) -> Option<&'a str> {
    let body = command_of(header, payload)?;
    database_of_command(commands, body, body.get("$db").and_then(text))
}

/// Returns the database that decides which server runs a command. `database` is the database in
/// which the command runs.
pub(crate) fn database_of_command<'a>(
    commands: &CommandTable,
    body: DocRef<'a>,
    database: Option<&'a str>,
) -> Option<&'a str> {
    // An unknown command fails on any server, so no database decides.
    let known = commands.find_body(body)?;
    match known.row.home {
        Home::Any => None,
        Home::Database => database,
        Home::First => body.get(OF_SHARD).is_none().then_some(FIRST),
        Home::FirstForLogins => has_login(body).then_some(FIRST),
        Home::Namespace => database_in(text(body.get(known.row.name)?)?),
        Home::Namespaces => {
            let spaces = body.get("nsInfo")?.as_array()?;
            let first: DocRef<'_> = spaces.iter().next()?.as_document()?;
            database_in(text(first.get("ns")?)?)
        }
    }
}

fn has_login(handshake: DocRef<'_>) -> bool {
    handshake.iter().any(|(name, _)| is_of_login(name))
}

/// Returns whether a command carries a login, alone or as part of a handshake.
pub(crate) fn carries_login(commands: &CommandTable, body: DocRef<'_>) -> bool {
    commands.find_body(body).is_some_and(|known| match known.row.home {
        Home::FirstForLogins => has_login(body),
        Home::First => known.row.hides_arguments && known.row.before_login(),
        Home::Database | Home::Namespace | Home::Namespaces | Home::Any => false,
    })
}

fn text(value: ValueRef<'_>) -> Option<&str> {
    if let ValueRef::String(text) = value { Some(text) } else { None }
}

/// Returns the database of a namespace `database.collection`.
fn database_in(namespace: &str) -> Option<&str> {
    namespace.split_once('.').map(|(database, _)| database)
}

#[cfg(test)]
mod tests {
    use document::{Document, Value, doc};

    use super::*;
    use crate::{
        commands::COMMANDS,
        wire::{HEADER_BYTES, msg_reply},
    };

    fn database(body: Document) -> Option<String> {
        let message = msg_reply(1, 0, body.to_buf().bytes(), false, false);
        let (head, payload) = message.split_at(HEADER_BYTES);
        let header = Header::read(head.try_into().unwrap()).unwrap();
        database_of(&COMMANDS, &header, payload).map(str::to_owned)
    }

    #[test]
    fn a_message_is_about_the_database_that_its_command_works_on() {
        let spaces = Value::Array(vec![doc! { "ns": "one.c" }.into()]);
        for (body, wanted) in [
            (doc! { "find": "c", "$db": "one" }, Some("one")),
            (doc! { "dropDatabase": 1, "$db": "one" }, Some("one")),
            (doc! { "hello": 1, "$db": "admin" }, None),
            (doc! { "ping": 1, "$db": "one" }, None),
            // The first shard stores the users and handles logins.
            (doc! { "hello": 1, "saslSupportedMechs": "admin.ann", "$db": "admin" }, Some("admin")),
            (doc! { "isMaster": 1, "speculativeAuthenticate": doc! {}, "$db": "x" }, Some("admin")),
            (doc! { "saslStart": 1, "$db": "one" }, Some("admin")),
            (doc! { "saslContinue": 1, "$db": "one" }, Some("admin")),
            (doc! { "authenticate": 1, "$db": "$external" }, Some("admin")),
            (doc! { "logout": 1, "$db": "one" }, None),
            (doc! { "createUser": "ann", "$db": "one" }, Some("admin")),
            (doc! { "currentOp": 1, "$db": "admin" }, Some("admin")),
            (doc! { "ebbClock": 1, "$db": "one" }, Some("admin")),
            // With `$ebbShard`, which requests between shards have, a command of the first shard is
            // answered by the shard that receives it. Other commands are routed as without it.
            (doc! { "ebbClock": 1, "$ebbShard": true, "$db": "admin" }, None),
            (doc! { "insert": "c", "$ebbShard": true, "$db": "one" }, Some("one")),
            (doc! { "renameCollection": "one.c", "to": "one.d", "$db": "admin" }, Some("one")),
            (doc! { "bulkWrite": 1, "nsInfo": spaces, "$db": "admin" }, Some("one")),
            (doc! { "bulkWrite": 1, "$db": "admin" }, None),
            (doc! { "renameCollection": 1, "$db": "admin" }, None),
            (doc! { "nothing": 1, "$db": "one" }, None),
            (doc! { "find": "c" }, None),
        ] {
            assert_eq!(database(body.clone()).as_deref(), wanted, "{body:?}");
        }
    }

    /// Document sequences may precede the body.
    #[test]
    fn a_body_behind_other_sections_is_found() {
        let body = doc! { "insert": "c", "$db": "one" }.to_buf();
        let document = doc! { "_id": 1 }.to_buf();
        let name = b"documents\0";
        let section = [name, document.bytes()].concat();
        let length = u32::try_from(section.len() + 4).unwrap().to_le_bytes();
        let payload = [&[0; 4][..], &[1], &length, &section, &[0], body.bytes()].concat();
        let len = HEADER_BYTES + payload.len();
        let header = Header { len, request_id: 1, response_to: 0, code: OpCode::Msg as i32 };
        assert_eq!(database_of(&COMMANDS, &header, &payload), Some("one"));
        let is_home = IsHome::new(|database| database == "one");
        assert_eq!(is_home.elsewhere(&COMMANDS, &header, &payload), None);
        let is_home = IsHome::new(|database| database == "two");
        assert_eq!(is_home.elsewhere(&COMMANDS, &header, &payload).as_deref(), Some("one"));
        for end in 0..payload.len() {
            let cut = payload.get(..end).unwrap();
            assert_eq!(database_of(&COMMANDS, &header, cut), None, "{end}");
        }
    }
}
