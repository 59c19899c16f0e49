//! The first exchange of a connection: the client's context and the server's.

use crate::{
    Invalid, Result,
    frame::{FrameWriter, RequestHead},
    token::{Kind, Tokens},
};

/// The only version of the protocol.
const PROTOCOL_VERSION: u32 = 1;

const VERSION_ID: u16 = 0;
const CLIENT_VERSION_ID: u16 = 1;
/// In the client's context; in the server's the id denotes the server's agent.
const AGENT_ID: u16 = 2;
const SERVER_VERSION_ID: u16 = 3;
const IDLE_ID: u16 = 4;
const UNAUTHENTICATED_ID: u16 = 5;

/// Returns whether a frame is a context.
pub fn is_context(head: &RequestHead) -> bool {
    (head.resource, head.operation) == (0, 0)
}

/// The context that a client sends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientContext<'a> {
    /// The version of the NoSQL API that the requests of the connection have.
    pub client_version: &'a str,
    /// The client's name, as in the HTTP header of that name.
    pub user_agent: &'a str,
}

impl<'a> ClientContext<'a> {
    /// Decodes the tokens of a context. Refuses another version of the protocol.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let [mut version, mut client_version, mut user_agent] = [None; 3];
        for token in Tokens::new(bytes) {
            let token = token?;
            let (held, kind) = match token.id {
                VERSION_ID => (&mut version, Kind::ULong),
                CLIENT_VERSION_ID => (&mut client_version, Kind::SmallString),
                AGENT_ID => (&mut user_agent, Kind::SmallString),
                _ => continue,
            };
            if token.kind != kind {
                return Err(Invalid("a token has the kind of another token"));
            }
            if held.replace(token).is_some() {
                return Err(Invalid("a token occurs twice"));
            }
        }
        let missing = Invalid("a required token of the context is missing");
        if version.ok_or(missing)?.ulong()? != PROTOCOL_VERSION {
            return Err(Invalid("the protocol version is not 1"));
        }
        Ok(Self {
            client_version: client_version.ok_or(missing)?.text()?,
            user_agent: user_agent.ok_or(missing)?.text()?,
        })
    }

    /// Writes the context as the first frame of a client. Texts of more than 255 bytes are left out,
    /// so that the server refuses the context.
    pub fn write(&self, out: &mut Vec<u8>, activity: [u8; 16]) {
        let mut frame = FrameWriter::request(out, 0, 0, activity);
        frame.push(VERSION_ID, Kind::ULong, &PROTOCOL_VERSION.to_le_bytes());
        frame.push(CLIENT_VERSION_ID, Kind::SmallString, self.client_version.as_bytes());
        frame.push(AGENT_ID, Kind::SmallString, self.user_agent.as_bytes());
        frame.finish(None);
    }
}

/// The context with which a server replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerContext<'a> {
    /// The server's name, which clients do not interpret.
    pub agent: &'a str,
    /// The server's version, which clients report as a header of all answers.
    pub version: &'a str,
    /// Time after which the server closes an idle connection, in seconds.
    pub idle_s: u32,
    /// Time after which the server closes a connection without a valid credential, in seconds.
    pub unauthenticated_s: u32,
}

impl ServerContext<'_> {
    /// Writes the answer to a context. `client_version` is sent by the client.
    pub fn write(&self, out: &mut Vec<u8>, activity: [u8; 16], client_version: &str) {
        let mut frame = FrameWriter::answer(out, 200, activity);
        frame.push(VERSION_ID, Kind::ULong, &PROTOCOL_VERSION.to_le_bytes());
        frame.push(CLIENT_VERSION_ID, Kind::SmallString, client_version.as_bytes());
        frame.push(AGENT_ID, Kind::SmallString, self.agent.as_bytes());
        frame.push(SERVER_VERSION_ID, Kind::SmallString, self.version.as_bytes());
        frame.push(IDLE_ID, Kind::ULong, &self.idle_s.to_le_bytes());
        frame.push(UNAUTHENTICATED_ID, Kind::ULong, &self.unauthenticated_s.to_le_bytes());
        frame.finish(None);
    }

    /// Writes the refusal of a context with a status and a JSON body; the connection is then closed.
    pub fn write_refusal(&self, out: &mut Vec<u8>, activity: [u8; 16], status: u32, body: &[u8]) {
        let mut frame = FrameWriter::answer(out, status, activity);
        frame.push(AGENT_ID, Kind::SmallString, self.agent.as_bytes());
        frame.push(SERVER_VERSION_ID, Kind::SmallString, self.version.as_bytes());
        frame.finish(Some(body.len()));
        out.extend_from_slice(body);
    }
}
