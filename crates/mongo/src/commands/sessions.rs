//! Sessions are accepted everywhere and hold nothing here, so ending one always succeeds. Cursors
//! remember the id of the session they were opened in; no other state hangs on it.

use document::{DocBuf, Value, doc};
use engine::Store;

use crate::{call::Call, errors::Result, limits::SESSION_MINUTES, replies::ok};

/// Runs `startSession`: a new id. Drivers make ids themselves and ask for none.
pub(super) async fn start_session<S: Store>(_: &Call<'_, S>) -> Result<DocBuf> {
    let mut bytes: Vec<u8> = (0..16).map(|_| fastrand::u8(..)).collect();
    // Version 4, variant 1.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    ok(doc! {
        "id": doc! { "id": Value::Binary { subtype: 4, bytes } },
        "timeoutMinutes": SESSION_MINUTES,
    })
}

/// Runs `endSessions` and its kin. What names sessions, users or patterns of them is an array of
/// documents.
pub(super) async fn end_sessions<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    call.args().documents(call.name)?;
    ok(doc! {})
}
