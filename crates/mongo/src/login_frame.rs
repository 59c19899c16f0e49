//! The login control frame: a server that executes a client's commands sends it to the server that
//! forwards them, to report which user is logged in from now on. It precedes the reply to the
//! command that changed the user, and is sent only between servers; a client that sends such a
//! message is disconnected.
//!
//! ```text
//! header (its kind is CODE), {user, db, id} or {}
//! ```

use document::{DocBuf, DocRef, Document, validate};

use crate::{
    login::KnownUser,
    wire::{HEADER_BYTES, Header},
};

/// An opcode that clients never use; MongoDB's are small numbers.
const CODE: i32 = 0x6562_6201;
/// Maximum size of the control frame in bytes; names of users are shorter.
const MAX_BYTES: usize = 64 * 1024;

/// Returns whether a message header is the header of this control frame.
pub(crate) fn is_frame(header: &Header) -> bool {
    header.code == CODE && header.len <= MAX_BYTES
}

/// Returns the control frame that reports this user as logged in; `None` reports a logout.
pub(crate) fn frame(user: Option<&KnownUser>) -> Vec<u8> {
    let body: DocBuf = user.map_or_else(Document::new, KnownUser::to_document).to_buf();
    let len = HEADER_BYTES + body.bytes().len();
    let mut message = Vec::with_capacity(len);
    Header { len, request_id: 0, response_to: 0, code: CODE }.write(&mut message);
    message.extend_from_slice(body.bytes());
    message
}

/// Returns the user in the frame's payload; `None` if no user is logged in.
pub(crate) fn read(payload: &[u8]) -> Option<KnownUser> {
    validate(payload).ok()?;
    KnownUser::from_document(DocRef::Raw(payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_and_everything_else_is_nobody() {
        let ann = KnownUser { user: "ann".to_owned(), database: "admin".to_owned(), id: [7; 16] };
        for user in [Some(ann), None] {
            let message = frame(user.as_ref());
            let (head, payload) = message.split_first_chunk().unwrap();
            let header = Header::read(head).unwrap();
            assert!(is_frame(&header) && header.len == message.len());
            assert_eq!(read(payload), user);
            for end in 0..payload.len() {
                assert_eq!(read(&payload[..end]), None);
            }
        }
    }
}
