//! Reads and writes a collection over the MongoDB API. This file is the connection: it sends a
//! request and waits for its reply, with regular checks for an interruption.

mod sink;
mod source;

pub use sink::MongoSink;
pub use source::{Find, MongoSource};

use std::{
    fmt,
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs as _},
    time::Duration,
};

use auth::Secret;
use document::{DocBuilder, ValueRef};
use mongo_client::{
    Error, Reply, Scram, Sequence, commands, encode_request, message_length, reply_body,
};
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};

use crate::{
    endpoint::{CONNECTS, Login, MongoAddress},
    interfaces::SharedMonitor,
    tls::{client_config, with_advice},
};

/// Interval of checks for an interruption while waiting for the server.
const GLANCE: Duration = Duration::from_millis(300);
/// Number of checks ([`GLANCE`]) without a response after which a request fails: ten minutes.
const MAX_GLANCES: u32 = 2000;

trait Duplex: Read + Write {}

impl<T: Read + Write> Duplex for T {}

/// A connection after the handshake and, if a user is given, the login.
struct Connection {
    stream: Box<dyn Duplex>,
    place: String,
    watch: SharedMonitor,
    /// Id of the last request, which its reply repeats.
    request: i32,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects, performs the handshake and logs in.
    fn open(address: &MongoAddress, watch: SharedMonitor) -> Result<Self, String> {
        let place = address.shown();
        let failed = |error: io::Error| format!("no answer from {place}: {error}");
        let authority = address.authority.as_deref();
        let mut stream = open_stream(address).map_err(failed)?;
        let stream: Box<dyn Duplex> = match address.tls {
            true => {
                let name = address.host.trim_matches(['[', ']']).to_owned();
                let name = ServerName::try_from(name).map_err(|error| {
                    format!("the host of {place} is not a valid TLS server name: {error}")
                })?;
                let mut tls = ClientConnection::new(client_config(authority)?, name)
                    .map_err(|error| format!("TLS handshake with {place} failed: {error}"))?;
                // A TLS handshake must not be interrupted by the short read timeout.
                stream.set_read_timeout(Some(CONNECTS)).map_err(failed)?;
                tls.complete_io(&mut stream).map_err(|error| {
                    with_advice(format!("TLS handshake with {place} failed: {error}"))
                })?;
                stream.set_read_timeout(Some(GLANCE)).map_err(failed)?;
                Box::new(StreamOwned::new(tls, stream))
            }
            false => {
                stream.set_read_timeout(Some(GLANCE)).map_err(failed)?;
                Box::new(stream)
            }
        };
        let (outgoing, incoming) = (Vec::new(), Vec::new());
        let mut connection = Self { stream, place, watch, request: 0, outgoing, incoming };
        connection.call(commands::hello_command, None)?;
        if let Some(login) = &address.login {
            let password = login.password()?;
            connection.log_in(login, &password)?;
        }
        Ok(connection)
    }

    fn log_in(&mut self, login: &Login, password: &Secret) -> Result<(), String> {
        let scram = Scram::begin(&login.user, password.text().unwrap_or_default());
        let first = scram.first();
        let begun = self.call(commands::begin_login(&login.database, &first), None)?;
        let conversation = begun.integer_field("conversationId");
        let said = begun.payload().map_err(|error| error.to_string())?;
        let (last, of_server) = scram.answer(&said).map_err(|error| error.to_string())?;
        let ended = self.call(commands::end_login(&login.database, conversation, &last), None)?;
        if ended.payload().map_err(|error| error.to_string())? == of_server {
            return Ok(());
        }
        Err("the server failed to authenticate itself".to_owned())
    }

    /// Sends the command that `fill` builds and returns its reply. Fails if the server refuses the
    /// command; errors of single writes are in the reply.
    fn call(
        &mut self,
        fill: impl FnOnce(&mut DocBuilder),
        sequence: Option<Sequence<'_>>,
    ) -> Result<Reply<'_>, String> {
        self.try_call(fill, sequence)?.map_err(|refused| match refused {
            Error::Server { message, .. } => message,
            Error::Protocol(_) => refused.to_string(),
        })
    }

    /// Runs a command as `call` does, but returns a refusal by the server separately from a failure
    /// of the connection.
    fn try_call(
        &mut self,
        fill: impl FnOnce(&mut DocBuilder),
        sequence: Option<Sequence<'_>>,
    ) -> Result<Result<Reply<'_>, Error>, String> {
        let mut body = DocBuilder::new();
        fill(&mut body);
        self.request = self.request.wrapping_add(1);
        encode_request(&mut self.outgoing, self.request, &body.into_vec(), sequence);
        let failed = |place: &str, error: io::Error| format!("no answer from {place}: {error}");
        let sent = self.stream.write_all(&self.outgoing).and_then(|()| self.stream.flush());
        sent.map_err(|error| failed(&self.place, error))?;
        self.receive().map_err(|error| failed(&self.place, error))?;
        let reply = reply_body(&self.incoming, self.request).map_err(|error| error.to_string())?;
        let checked = document::validate(reply);
        checked.map_err(|error| format!("{} does not answer in BSON: {error}", self.place))?;
        Ok(Reply::of_writes(reply))
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut length = [0; 4];
        self.fill(&mut length)?;
        let whole = message_length(&length).map_err(io::Error::other)?.unwrap_or(0);
        let mut incoming = std::mem::take(&mut self.incoming);
        incoming.clear();
        incoming.extend_from_slice(&length);
        incoming.resize(whole.max(length.len()), 0);
        let filled = incoming.get_mut(length.len()..).map_or(Ok(()), |rest| self.fill(rest));
        self.incoming = incoming;
        filled
    }

    fn fill(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        let mut glances = 0;
        while !bytes.is_empty() {
            if !self.watch.should_continue() {
                return Err(io::Error::other("interrupted"));
            }
            match self.stream.read(bytes) {
                Ok(0) => return Err(io::Error::other("the server closed the connection")),
                Ok(count) => {
                    bytes = bytes.get_mut(count..).unwrap_or_default();
                    glances = 0;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) && glances < MAX_GLANCES =>
                {
                    glances += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Connects to the first of the host's addresses that accepts a connection.
fn open_stream(address: &MongoAddress) -> io::Result<TcpStream> {
    let host = address.host.trim_matches(['[', ']']);
    let mut last = io::Error::other("the name does not resolve to an address");
    for place in (host, address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, CONNECTS) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns a function that appends the first fields of a command on a collection.
fn begin<'a>(
    name: &'a str,
    database: &'a str,
    collection: &'a str,
) -> impl Fn(&mut DocBuilder) + 'a {
    move |body| commands::begin_command(body, name, ValueRef::String(collection), database)
}
