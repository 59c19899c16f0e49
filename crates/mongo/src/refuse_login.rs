//! The reply to a login while no server accepts logins: a retryable error. For any other message
//! that cannot be served, the connection is closed without a reply.

use memory::Account;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    client_stream::ClientStream,
    commands::COMMANDS,
    homes::carries_login,
    incoming::{ConnectionEnded, read_header, read_payload},
    limits::{MAX_FIRST_BYTES, MESSAGE_TIMEOUT},
    outgoing::write_within,
    repeatable::command_of,
    retry_label,
    users_copy::unreached,
    wire::{Header, OpCode, msg_reply, payload::PayloadRead, query_reply},
};

impl<C: AsyncRead + AsyncWrite + Unpin + Send> ClientStream<C> {
    /// Closes the connection of a client that no server can serve, after answering its message if
    /// that is a login.
    pub async fn refuse_login(&mut self, account: &Account) {
        // A failure means that the client has disconnected and needs no reply.
        let _ = self.answer_login(account).await;
        self.close().await;
    }

    async fn answer_login(&mut self, account: &Account) -> Result<(), ConnectionEnded> {
        let header: Header = read_header(self, MESSAGE_TIMEOUT).await?.ok_or(())?;
        if MAX_FIRST_BYTES < header.len {
            return Err(());
        }
        let arrived = read_payload(self, &header, account, &mut account.share()).await?;
        let PayloadRead::Whole(payload) = arrived else { return Err(()) };
        let command = command_of(&header, &payload).ok_or(())?;
        if !carries_login(&COMMANDS, command) {
            return Err(());
        }
        // The label makes the driver retry, which is always safe for a login.
        let body = retry_label::with_label(unreached().to_reply().to_buf(), false);
        let reply = match OpCode::from_number(header.code) {
            Some(OpCode::Query) => query_reply(0, header.request_id, body.bytes()),
            _ => msg_reply(0, header.request_id, body.bytes(), false, false),
        };
        write_within(self, &reply).await
    }
}

#[cfg(test)]
mod tests {
    use document::{Document, doc};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::{
        errors::ShutdownInProgress,
        wire::{HEADER_BYTES, msg_reply},
    };

    async fn answered(command: Document) -> Vec<u8> {
        let account = Account::new(1_000_000);
        let (mut near, far) = tokio::io::duplex(100_000);
        near.write_all(&msg_reply(7, 0, command.to_buf().bytes(), false, false)).await.unwrap();
        ClientStream::movable(far).refuse_login(&account).await;
        let mut answer = Vec::new();
        near.read_to_end(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_login_gets_an_error_that_is_tried_again_and_nothing_else_an_answer() {
        let login = doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256", "$db": "admin" };
        let hello = doc! { "hello": 1, "speculativeAuthenticate": doc! {}, "$db": "admin" };
        for command in [login, hello] {
            let answer = answered(command).await;
            let (head, payload) = answer.split_first_chunk::<HEADER_BYTES>().unwrap();
            let header = Header::read(head).unwrap();
            assert_eq!(header.response_to, 7);
            let body = command_of(&header, payload).unwrap();
            let code = body.get("code").and_then(document::Number::of).unwrap();
            assert_eq!(code.to_i64_exact(), Some(ShutdownInProgress.into()));
            assert!(body.get("errorLabels").is_some());
        }
        for command in [doc! { "hello": 1, "$db": "admin" }, doc! { "find": "c", "$db": "x" }] {
            assert_eq!(answered(command).await, b"");
        }
    }
}
