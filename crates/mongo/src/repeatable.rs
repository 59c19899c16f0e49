//! Decides which messages may be sent to another server after the first one did not answer, and
//! which replies indicate that another server should be used.

use document::{DocBuf, DocRef, Document, Number, validate};

use crate::{
    command_table::CommandTable,
    errors::{InterruptedAtShutdown, ShutdownInProgress},
    wire::{self, Header, OpCode, msg_reply},
};

/// Returns whether a command may be repeated although it may have been executed: it only reads and
/// does not continue anything (a cursor or a login), or it is a retryable write.
pub(crate) fn is_repeatable(commands: &CommandTable, body: DocRef<'_>) -> bool {
    let Some(known) = commands.find_body(body) else { return false };
    if known.row.retryable && body.get("txnNumber").is_some() {
        return true;
    }
    !known.row.continues && commands.changes_nothing(body)
}

/// Returns whether a command is the first handshake, with client metadata.
pub(crate) fn is_introduction(commands: &CommandTable, body: DocRef<'_>) -> bool {
    commands.find_body(body).is_some_and(|known| known.row.awaits_state)
        && body.get("client").is_some()
        && body.get("maxAwaitTimeMS").is_none()
}

/// Returns the handshake message that is repeated to servers to which the client is passed on. It
/// contains no login, which only the first server handles.
pub(crate) fn introduction_of(body: DocRef<'_>) -> Vec<u8> {
    let mut said = Document::new();
    for (name, value) in body.iter().filter(|(name, _)| !is_of_login(name) && *name != "$db") {
        said.push(name, value);
    }
    said.push("$db", "admin");
    // An OP_MSG request has the same format as a reply.
    msg_reply(1, 0, said.to_buf().bytes(), false, false)
}

/// Returns whether an argument of a handshake contains a login or requests a user's mechanisms.
pub(crate) fn is_of_login(argument: &str) -> bool {
    matches!(argument, "speculativeAuthenticate" | "saslSupportedMechs")
}

/// Returns whether a reply of this server indicates that it stops or has lost its shard, so that
/// another server may answer.
pub(crate) fn indicates_move(reply: &DocBuf) -> bool {
    let code = reply.get("code").and_then(Number::of).and_then(Number::to_i64_exact);
    code.is_some_and(|code| {
        [ShutdownInProgress, InterruptedAtShutdown].map(i64::from).contains(&code)
    })
}

/// Returns the command of an unparsed message if it is valid BSON and not compressed. Everything
/// else is left to the server that receives the message.
pub(crate) fn command_of<'a>(header: &Header, payload: &'a [u8]) -> Option<DocRef<'a>> {
    let from = match OpCode::from_number(header.code) {
        Some(OpCode::Msg) => payload.get(wire::msg_body_at(payload)?..)?,
        Some(OpCode::Query) => payload.get(wire::query_body_at(payload)?..)?,
        _ => return None,
    };
    let len = from.first_chunk().map(|len| u32::from_le_bytes(*len))?;
    let body = from.get(..usize::try_from(len).ok()?)?;
    validate(body).ok()?;
    Some(DocRef::Raw(body))
}
