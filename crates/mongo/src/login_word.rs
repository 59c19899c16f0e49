//! What a server tells another one that passes a client on to it: who is logged in from now on. It comes
//! right before the reply to the command that changed that, and only over the link between servers, where
//! clients are not heard: a client that sends such a message is not understood.
//!
//! ```text
//! header (its kind is CODE), {user, db, id} or {}
//! ```

use document::{DocBuf, DocRef, Document, validate};

use crate::{
    login::KnownUser,
    wire::{HEADER_BYTES, Header},
};

/// A kind of message that clients never see; MongoDB's have small numbers.
const CODE: i32 = 0x6562_6201;
/// Bytes of one at the most: a name and its database are shorter.
const MAX_BYTES: usize = 64 * 1024;

/// Whether a message is the word, by its header.
pub(crate) fn is_word(header: &Header) -> bool {
    header.code == CODE && header.len <= MAX_BYTES
}

/// The word as a message.
pub(crate) fn word(user: Option<&KnownUser>) -> Vec<u8> {
    let body: DocBuf = user.map_or_else(Document::new, KnownUser::to_document).to_buf();
    let len = HEADER_BYTES + body.bytes().len();
    let mut message = Vec::with_capacity(len);
    Header { len, request_id: 0, response_to: 0, code: CODE }.write(&mut message);
    message.extend_from_slice(body.bytes());
    message
}

/// Who is logged in, by what follows the header; `None`: nobody.
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
            let message = word(user.as_ref());
            let (head, payload) = message.split_first_chunk().unwrap();
            let header = Header::read(head).unwrap();
            assert!(is_word(&header) && header.len == message.len());
            assert_eq!(read(payload), user);
            for end in 0..payload.len() {
                assert_eq!(read(&payload[..end]), None);
            }
        }
    }
}
