//! Runs one command for a caller that the portal has authenticated: bytes in, bytes out, on the
//! same path as a message from a socket. It has no code for particular commands.
//!
//! A page of the portal has no socket of its own, so each of its commands runs on a connection that
//! lives as long as the command. A cursor, which outlives the command, belongs to the caller's
//! session.

use std::{fmt, pin::pin, sync::Arc};

use bytes::Bytes;
use document::{DocBuf, DocRef, ValueRef, validate};

use crate::{
    api::MongoApi,
    call::Call,
    client::{Connection, RelayedSender},
    commands::{self, COMMANDS, Response},
    counters::Counters,
    errors::{Error, Unauthorized},
    homes::database_of_command,
    limits::MAX_COMMAND_BYTES,
    operation::{Operation, StopReason},
    parsed_command,
    wire::{self, HEADER_BYTES, Header, Message, OpCode},
};

/// Operations that the sender of a command may execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// The sender may run every command.
    Write,
    /// The sender may run only commands that change nothing, according to the command table.
    Read,
}

/// The sender of a command.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Whether the sender may write or only read.
    pub right: Right,
    /// Address of the sender, as `currentOp` shows it.
    pub peer: String,
    /// Identifies the sender's session across its commands, each of which has its own connection. A
    /// read-only sender cannot use the cursors of other sessions.
    pub session: [u8; 32],
}

/// Reason why a command has no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// The bytes are not a valid command; the text is the reason.
    Malformed(String),
    /// The command exceeds the size limit.
    TooLarge,
    /// A client's connection would have been closed without a reply, for example by a fail point.
    Closed,
}

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => f.write_str(why),
            Self::TooLarge => write!(f, "a command may have at most {MAX_COMMAND_BYTES} bytes"),
            Self::Closed => f.write_str("the server ended the command without a reply"),
        }
    }
}

impl std::error::Error for NoReply {}

/// The connection of one relayed command.
struct RelayedConnection {
    api: Arc<MongoApi>,
    connection: Arc<Connection>,
}

impl Drop for RelayedConnection {
    fn drop(&mut self) {
        self.api.remove_connection(&self.connection);
    }
}

/// A reply that was not delivered yet. If it is dropped, its cursor is closed: the id of the cursor
/// is only in the reply, and a lost batch cannot be read again.
struct Reply {
    bytes: Bytes,
    cursor: UndeliveredCursor,
}

impl Reply {
    /// Wraps the reply of a command and counts it as sent.
    fn new(visit: &RelayedConnection, reply: &DocBuf) -> Self {
        let cursor = reply.get("cursor").and_then(ValueRef::as_document);
        let id = cursor.and_then(|cursor| cursor.get("id"));
        let id = id.and_then(|id| if let ValueRef::Int64(id) = id { Some(id) } else { None });
        let cursor = UndeliveredCursor { api: Arc::clone(&visit.api), id };
        Self { bytes: count_reply(&visit.connection, reply), cursor }
    }

    /// Returns the bytes for delivery, and keeps the cursor open.
    fn take(mut self) -> Bytes {
        self.cursor.id = None;
        self.bytes
    }
}

/// A cursor that is closed on drop unless the sender has received its id.
struct UndeliveredCursor {
    api: Arc<MongoApi>,
    id: Option<i64>,
}

impl Drop for UndeliveredCursor {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.api.cursors.close(id);
        }
    }
}

/// Stops a command when its caller drops the future, which means that the web page was closed.
/// Commands that write run to completion.
struct StopWhenDropped {
    connection: Arc<Connection>,
    /// The command's own operation. During a `getMore` the connection's operation is that of the
    /// cursor, so both operations are stopped.
    operation: Arc<Operation>,
    ends_with_client: bool,
}

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        if self.ends_with_client {
            self.operation.request_stop(StopReason::ClientLeft);
            self.connection.stop_command(None, StopReason::ClientLeft);
        }
    }
}

/// Returns the database that decides which server runs a command relayed to `database`; `None` if
/// any server can answer the command, which includes bytes that are not a command.
pub fn home_of_command(database: &str, command: &[u8]) -> Option<String> {
    validate(command).ok()?;
    let about = database_of_command(&COMMANDS, DocRef::Raw(command), Some(database));
    about.map(str::to_owned)
}

impl MongoApi {
    /// Runs one command on a database and returns its reply, which may be an error. A command that
    /// only reads is stopped when the future is dropped; all other commands run to completion.
    ///
    /// A sender without the right to write gets 13 for a command that may change something, before
    /// the command runs.
    pub async fn relay(
        self: &Arc<Self>,
        sender: Sender,
        database: &str,
        command: &[u8],
    ) -> Result<Bytes, NoReply> {
        let message = parse_command(database, command)?;
        let writes = sender.right == Right::Write;
        let relayed = RelayedSender { writes, session: sender.session };
        let connection = self.add_connection(sender.peer.into(), Some(relayed));
        let visit = RelayedConnection { api: Arc::clone(self), connection };
        let connection = Arc::clone(&visit.connection);
        Counters::add(&connection.counters.bytes_in, command.len() as u64);
        if !writes && !self.commands.changes_nothing(message.body()) {
            let refused = Error::new(Unauthorized, "The key is read-only.");
            return Ok(count_reply(&connection, &refused.to_reply().to_buf()));
        }
        let operation = Arc::<Operation>::default();
        let known = self.commands.find_body(message.body());
        let _waiting = StopWhenDropped {
            connection,
            operation: Arc::clone(&operation),
            ends_with_client: known.is_some_and(|known| known.row.ends_with_client),
        };
        // In a task of its own, since it may occupy its thread for long, while the caller's thread
        // must notice a disconnected client.
        let run = tokio::spawn(run_message(visit, message, operation));
        run.await.unwrap_or(Err(NoReply::Closed)).map(Reply::take)
    }
}

/// Runs the command of a message. Takes owned arguments, since it runs in a task of its own.
async fn run_message(
    visit: RelayedConnection,
    message: Message,
    operation: Arc<Operation>,
) -> Result<Reply, NoReply> {
    let settings = &visit.api.settings;
    let mut held = settings.memory.share();
    let weight = parsed_command::parsed_bytes(&message, &visit.api.commands);
    if let Err(short) = held.set(message.bytes.len().saturating_add(weight)) {
        return Ok(Reply::new(&visit, &Error::from(short).to_reply().to_buf()));
    }
    let answer = match Call::new(&visit.api, &visit.connection, &message, operation) {
        Ok(call) => {
            let run = pin!(commands::run(&call));
            let run = pin!(parsed_command::run_by_weight(weight, settings.block_in_place, run));
            visit.api.engine.lanes().run(run).await
        }
        Err(error) => Response::Reply(error.to_reply().to_buf()),
    };
    match answer {
        Response::Reply(reply) => Ok(Reply::new(&visit, &reply)),
        Response::CloseConnection => Err(NoReply::Closed),
    }
}

/// Returns the bytes of a reply and counts them as sent.
fn count_reply(connection: &Connection, reply: &DocBuf) -> Bytes {
    let bytes = Bytes::copy_from_slice(reply.bytes());
    Counters::add(&connection.counters.bytes_out, bytes.len() as u64);
    bytes
}

/// Builds the message that a driver would have sent: the command with its database as last field.
///
/// The document is not parsed here: its length and its terminating zero are checked, the fields
/// between are copied, `$db` is appended, and the result goes through the same parser as bytes from
/// a socket. A command that contains a `$db` itself ends up with two and is refused.
fn parse_command(database: &str, command: &[u8]) -> Result<Message, NoReply> {
    let malformed = |why: &str| NoReply::Malformed(why.to_owned());
    if MAX_COMMAND_BYTES < command.len() {
        return Err(NoReply::TooLarge);
    }
    let claimed = command.first_chunk().map(|len| u32::from_le_bytes(*len));
    let fields = match (command.get(4..command.len().saturating_sub(1)), command.last()) {
        (Some(fields), Some(0)) if claimed.map(u64::from) == Some(command.len() as u64) => fields,
        _ => return Err(malformed("the body is not a single document")),
    };
    let mut payload = Vec::with_capacity(command.len() + database.len() + 32);
    payload.extend_from_slice(&[0; 9]);
    payload.extend_from_slice(fields);
    payload.extend_from_slice(b"\x02$db\0");
    let len = u32::try_from(database.len() + 1).map_err(|_| NoReply::TooLarge)?;
    payload.extend_from_slice(&len.to_le_bytes());
    payload.extend_from_slice(database.as_bytes());
    payload.extend_from_slice(&[0, 0]);
    let len = u32::try_from(payload.len() - 5).map_err(|_| NoReply::TooLarge)?;
    if let Some(place) = payload.get_mut(5..9) {
        place.copy_from_slice(&len.to_le_bytes());
    }
    let header = Header {
        len: HEADER_BYTES + payload.len(),
        request_id: 0,
        response_to: 0,
        code: OpCode::Msg as i32,
    };
    let message = wire::parse_message(&header, payload).map_err(|wrong| {
        if wrong.code == crate::errors::BSONObjectTooLarge {
            NoReply::TooLarge
        } else {
            NoReply::Malformed(wrong.message)
        }
    })?;
    // A command with its own `$db` would run on another database than the database in the request's
    // path.
    let named = |body: DocRef<'_>| body.iter().filter(|(name, _)| *name == "$db").count();
    match named(message.body()) {
        1 => Ok(message),
        _ => Err(malformed("the database belongs in the path, not in '$db'")),
    }
}
