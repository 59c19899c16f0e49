//! Which messages may be sent to another server when the one that got them did not answer, and which
//! answers say that there is another.

use document::{DocBuf, DocRef, Document, Number, validate};

use crate::{
    command_table::CommandTable,
    errors::{InterruptedAtShutdown, ShutdownInProgress},
    wire::{self, Header, OpCode, msg_reply},
};

/// Whether a command may be done again, although it may have been done: it only reads, and goes on with
/// nothing (as a cursor, or a login), or it has a number by which it is done once.
pub(crate) fn is_repeatable(commands: &CommandTable, body: DocRef<'_>) -> bool {
    let Some(known) = commands.find_body(body) else { return false };
    if known.row.numbered && body.get("txnNumber").is_some() {
        return true;
    }
    !known.row.continues && commands.changes_nothing(body)
}

/// Whether a command says who its client is: the first handshake.
pub(crate) fn is_introduction(commands: &CommandTable, body: DocRef<'_>) -> bool {
    commands.find_body(body).is_some_and(|known| known.row.awaits_state)
        && body.get("client").is_some()
        && body.get("maxAwaitTimeMS").is_none()
}

/// The introduction of a client as the servers after the first get it: without a login, which was that of the
/// first.
pub(crate) fn introduction_of(body: DocRef<'_>) -> Vec<u8> {
    let mut said = Document::new();
    for (name, value) in body.iter().filter(|(name, _)| !is_of_login(name) && *name != "$db") {
        said.push(name, value);
    }
    said.push("$db", "admin");
    // A request has the form of a reply.
    msg_reply(1, 0, said.to_buf().bytes(), false, false)
}

/// Whether an argument of a handshake carries a login, or asks how a user may log in.
pub(crate) fn is_of_login(argument: &str) -> bool {
    matches!(argument, "speculativeAuthenticate" | "saslSupportedMechs")
}

/// Whether a reply says that this server does not answer such requests any more, and another may.
pub(crate) fn says_moved(reply: &DocBuf) -> bool {
    let code = reply.get("code").and_then(Number::of).and_then(Number::to_i64_exact);
    code.is_some_and(|code| {
        [ShutdownInProgress, InterruptedAtShutdown].map(i64::from).contains(&code)
    })
}

/// The command of a message that was not parsed, where it is valid and not compressed.
/// Another server looks at the rest.
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
