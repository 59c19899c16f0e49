//! The last word of a server to another that passes a client's messages on to it: what was not answered
//! was not begun. Only servers of this project say it, and only to each other.

use tokio::io::AsyncWrite;

use crate::{
    client_stream::ClientStream,
    outgoing::write_within,
    wire::{HEADER_BYTES, Header},
};

/// A kind of message that clients never see; MongoDB's have small numbers.
const CODE: i32 = 0x6562_6200;

/// Whether a message, which is nothing but a header, is the word.
pub(crate) fn is_word(header: &Header) -> bool {
    header.code == CODE && header.len == HEADER_BYTES
}

impl<S: AsyncWrite + Unpin> ClientStream<S> {
    /// Ends the stream of another server that passes a client on: that may have a third one answer what
    /// was not answered here, whatever it asks for.
    pub async fn end_unbegun(&mut self) {
        let word = Header { len: HEADER_BYTES, request_id: 0, response_to: 0, code: CODE };
        // Who does not hear it takes this server for one that was lost.
        let _ = write_within(self, &word.to_bytes()).await;
        self.close().await;
    }
}
