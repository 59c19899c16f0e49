//! OP_QUERY and OP_REPLY, which drivers use for their first handshake, before it is known whether
//! the server supports OP_MSG, and old drivers also for the login.
//!
//! ```text
//! OP_QUERY: flags: i32, full name, 0, skip: i32, limit: i32, document
//! OP_REPLY: flags: i32, cursor: i64, from: i32, count: i32, document ...
//! ```

use document::validate;

use super::{HEADER_BYTES, Header, Malformed, Message, OpCode, Shape};

/// Returns the position of the document after a collection name of this length: after the flags,
/// the terminated name, and the numbers skip and limit, which have no meaning for commands.
fn body_at(name_len: usize) -> usize {
    4 + name_len + 1 + 8
}

/// Returns the position of the document in an unparsed payload.
pub(crate) fn find_body(payload: &[u8]) -> Option<usize> {
    payload.get(4..)?.iter().position(|byte| *byte == 0).map(body_at)
}

/// Parses an OP_QUERY. It must be on `<database>.$cmd`, the name for commands; queries of
/// collections in this format were removed from MongoDB. A second document, the old projection, is
/// ignored.
pub(super) fn parse(header: &Header, payload: Vec<u8>) -> Result<Message, Malformed> {
    let bad = || Malformed::fatal("a malformed OP_QUERY");
    let rest = payload.get(4..).ok_or_else(bad)?;
    let name_len = rest.iter().position(|byte| *byte == 0).ok_or_else(bad)?;
    let name = str::from_utf8(rest.get(..name_len).unwrap_or_default()).map_err(|_| bad())?;
    let database = name.strip_suffix(".$cmd").map(str::to_owned);
    let start = body_at(name_len);
    let len: [u8; 4] =
        payload.get(start..start + 4).and_then(|len| len.try_into().ok()).ok_or_else(bad)?;
    let len = usize::try_from(i32::from_le_bytes(len)).map_err(|_| bad())?;
    let end = start.checked_add(len).filter(|end| *end <= payload.len()).ok_or_else(bad)?;
    // An invalid document closes the connection: this format has no error reply that all of its
    // clients understand.
    let elements = validate(payload.get(start..end).unwrap_or_default())
        .map_err(|invalid| Malformed::fatal(invalid.to_string()))?;
    let Some(database) = database else {
        return Err(Malformed::fatal("OP_QUERY is only understood for handshakes and logins"));
    };
    Ok(Message {
        request_id: header.request_id,
        shape: Shape::Query,
        compressor: None,
        database: Some(database),
        bytes: payload.into(),
        as_it_came: None,
        not_utf8: Vec::new(),
        body: start..end,
        sequences: Vec::new(),
        elements,
    })
}

/// Returns an OP_REPLY with one document.
pub(crate) fn reply(request_id: i32, response_to: i32, body: &[u8]) -> Vec<u8> {
    /// Flag: the server supports awaitData. It is set in every reply.
    const AWAIT_CAPABLE: i32 = 8;
    let len = HEADER_BYTES + 20 + body.len();
    let mut out = Vec::with_capacity(len);
    Header { len, request_id, response_to, code: OpCode::Reply as i32 }.write(&mut out);
    out.extend_from_slice(&AWAIT_CAPABLE.to_le_bytes());
    // Cursor id 0 (no cursor), starting position 0, one document.
    out.extend_from_slice(&0_i64.to_le_bytes());
    out.extend_from_slice(&0_i32.to_le_bytes());
    out.extend_from_slice(&1_i32.to_le_bytes());
    out.extend_from_slice(body);
    out
}
