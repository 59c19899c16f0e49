//! What can go wrong while measuring, by who has to act: the user, the server or the network.

use std::{fmt, io};

/// A failed measurement.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Error {
    /// The connection or a file failed.
    Io {
        /// What was being done, empty where that is plain.
        doing: String,
        /// How it failed.
        source: io::Error,
    },
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
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns what makes an error of an input or output error, for `map_err`; `doing` is what was being
    /// done.
    pub(crate) fn io_error(doing: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.to_string(), source }
    }

    /// Returns whether the connection is still good after it: the server answered, only not as wished.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Server { .. } | Self::Answer(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, source } if doing.is_empty() => write!(f, "{source}"),
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Protocol(what) => write!(f, "the server broke the protocol: {what}"),
            Self::Server { code, message } => write!(f, "the server refused ({code}): {message}"),
            Self::Answer(what) => write!(f, "the server gave a wrong answer: {what}"),
            Self::Usage(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io { source, .. } = self { Some(source) } else { None }
    }
}

impl From<mongo_client::Error> for Error {
    fn from(error: mongo_client::Error) -> Self {
        match error {
            mongo_client::Error::Protocol(what) => Self::Protocol(what),
            mongo_client::Error::Server { code, message } => Self::Server { code, message },
        }
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Io { doing: String::new(), source }
    }
}
