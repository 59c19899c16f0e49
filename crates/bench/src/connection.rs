//! A TCP connection to a server, with one request at a time. Its buffers are reused, so that the
//! load generator costs little.

use document::DocBuilder;
use mongo_client::{
    Reply, Scram, Sequence,
    commands::{begin_login, end_login, hello_command},
    encode_request, message_length, reply_body,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    address::{Address, Login},
    error::{Error, Result},
    stream::{Stream, open_stream},
};

const ADMIN: &str = "admin";

/// A connection after the handshake and, if requested, the login.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    /// Id of the last request, which the reply repeats.
    request: i32,
    body: Vec<u8>,
    outgoing: Vec<u8>,
    /// The received part of the reply.
    incoming: Vec<u8>,
}

impl Connection {
    /// Connects and performs the handshake.
    pub(crate) async fn open_connection(address: &Address) -> Result<Self> {
        let mut connection = Self {
            stream: open_stream(address).await?,
            request: 0,
            body: Vec::new(),
            outgoing: Vec::new(),
            incoming: Vec::with_capacity(64 * 1024),
        };
        connection.call_command(hello_command).await?;
        if let Some(login) = &address.login {
            connection.log_in(login).await?;
        }
        Ok(connection)
    }

    /// Logs in as a user of the database `admin`.
    async fn log_in(&mut self, login: &Login) -> Result<()> {
        let scram = Scram::begin(&login.user, &login.password);
        let begun = self.call_command(begin_login(ADMIN, &scram.first())).await?;
        let conversation = begun.integer_field("conversationId");
        let (last, of_server) = scram.answer(&begun.payload()?)?;
        let ended = self.call_command(end_login(ADMIN, conversation, &last)).await?;
        if ended.payload()? == of_server {
            return Ok(());
        }
        Err(Error::Protocol("the server failed to authenticate itself".to_owned()))
    }

    /// Sends the command that `fill` builds, and returns its reply. A failed command is an error.
    pub(crate) async fn call_command(
        &mut self,
        fill: impl FnOnce(&mut DocBuilder),
    ) -> Result<Reply<'_>> {
        self.call_with(fill, None).await
    }

    /// Sends the command that `fill` builds, with documents in a document sequence of the same
    /// message, and returns the reply. A failed command is an error.
    pub(crate) async fn call_with(
        &mut self,
        fill: impl FnOnce(&mut DocBuilder),
        sequence: Option<Sequence<'_>>,
    ) -> Result<Reply<'_>> {
        let mut builder = DocBuilder::with_buffer(std::mem::take(&mut self.body));
        fill(&mut builder);
        self.body = builder.into_vec();
        self.request = self.request.wrapping_add(1);
        encode_request(&mut self.outgoing, self.request, &self.body, sequence);
        self.stream.write_all(&self.outgoing).await?;
        self.receive_message().await?;
        Ok(Reply::new(reply_body(&self.incoming, self.request)?)?)
    }

    /// Reads one message; bytes after it are an error, since nothing else was requested.
    async fn receive_message(&mut self) -> Result<()> {
        self.incoming.clear();
        loop {
            if self.stream.read_buf(&mut self.incoming).await? == 0 {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(Error::io_error("the server closed the connection")(source));
            }
            let Some(length) = message_length(&self.incoming)? else { continue };
            if length < self.incoming.len() {
                return Err(Error::Protocol("more than one reply".to_owned()));
            }
            if length == self.incoming.len() {
                return Ok(());
            }
            // The length is known: a single allocation for the rest of the reply.
            self.incoming.reserve(length - self.incoming.len());
        }
    }
}
