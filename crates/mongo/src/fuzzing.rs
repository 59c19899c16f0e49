//! The message parser alone, for tests with arbitrary bytes. Connections do not use this module.

use crate::wire::{HEADER_BYTES, Header, parse_message};

/// A parsed message, for fuzz tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMessage {
    /// The command document of the message.
    pub body: Vec<u8>,
    /// Document sequences, by argument name.
    pub sequences: Vec<(String, Vec<Vec<u8>>)>,
    /// The message as a client sends it without compression.
    pub whole: Vec<u8>,
}

/// Parses one message including its header, decompressing it if needed; `None` if it is refused.
pub fn read_message(bytes: &[u8]) -> Option<ReadMessage> {
    let (head, payload) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let header = Header::read(head).ok()?;
    let message = parse_message(&header, payload.to_vec()).ok()?;
    let body = message.slice(&message.body).to_vec();
    let documents = |name: &str| {
        let found = message.sequence(name).unwrap_or_default();
        found.into_iter().map(<[u8]>::to_vec).collect()
    };
    let names = message.sequences.iter().map(|sequence| &sequence.name);
    let sequences = names.map(|name| (name.clone(), documents(name))).collect();
    Some(ReadMessage { body, sequences, whole: message.into_whole(header) })
}
