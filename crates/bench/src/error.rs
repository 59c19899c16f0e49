//! What can go wrong while measuring, by who has to act: the user, the server or the network.

use std::{fmt, io};

/// A failed measurement.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The connection or a file failed.
    Io(io::Error),
    /// The server answered with bytes that are not a reply to what was asked.
    Protocol(String),
    /// The server refused a command.
    Server {
        /// Its error code, 0 when it gave none.
        code: i32,
        /// Its message.
        message: String,
    },
    /// The server answered a command with something that cannot be.
    Answer(String),
    /// The arguments ask for something that cannot be measured.
    Usage(String),
}

/// The crate's results.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether the connection is still good after it.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Server { .. } | Self::Answer(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Protocol(what) => write!(f, "the server broke the protocol: {what}"),
            Self::Server { code, message } => write!(f, "the server refused ({code}): {message}"),
            Self::Answer(what) => write!(f, "the server gave a wrong answer: {what}"),
            Self::Usage(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io(error) = self { Some(error) } else { None }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
