//! The NOT_STARTED control frame. A server sends it as its last message to another server that
//! forwards a client's messages. It means that the unanswered messages were not started. It is sent
//! only between EbbDB servers.

use tokio::io::AsyncWrite;

use crate::{
    client_stream::ClientStream,
    outgoing::write_within,
    wire::{HEADER_BYTES, Header},
};

/// Opcode of the control frame, which clients never use; MongoDB's are small numbers.
const CODE: i32 = 0x6562_6200;

/// Returns whether a message, which is only a header, is the NOT_STARTED control frame.
pub(crate) fn is_frame(header: &Header) -> bool {
    header.code == CODE && header.len == HEADER_BYTES
}

impl<S: AsyncWrite + Unpin> ClientStream<S> {
    /// Notifies the server that forwards the client that unanswered messages were not started, and
    /// closes the stream. That server may then send the messages to another server, even if they
    /// are not repeatable.
    pub async fn send_not_started(&mut self) {
        let word = Header { len: HEADER_BYTES, request_id: 0, response_to: 0, code: CODE };
        // If the frame is not received, the other server treats this server as failed.
        let _ = write_within(self, &word.to_bytes()).await;
        self.close().await;
    }
}
