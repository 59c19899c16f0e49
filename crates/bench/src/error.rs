//! Errors of a measurement, by cause: the user, the server or the network.

use std::{fmt, io};

#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Error {
    /// An I/O error of the connection or a file.
    Io {
        /// The activity during which the error occurred; empty if the cause already contains it.
        doing: String,
        source: io::Error,
    },
    /// The server sent bytes that are not a valid reply.
    Protocol(String),
    /// The server refused a command.
    Server {
        /// Error code of the server; 0 if it sent none.
        code: i32,
        /// Error message of the server.
        message: String,
    },
    /// The server sent a wrong answer to a command.
    Answer(String),
    /// The arguments cannot be used for a measurement.
    Usage(String),
}

/// Result type of the crate.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns a closure that wraps an I/O error, for `map_err`; `doing` is the activity during
    /// which it occurred.
    pub(crate) fn io_error(doing: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.to_string(), source }
    }

    /// Returns whether the connection is still usable, because the server has answered.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Server { .. } | Self::Answer(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, source } if doing.is_empty() => write!(f, "{source}"),
            Self::Io { doing, source } => write!(f, "{doing}: {source}"),
            Self::Protocol(what) => write!(f, "the server violated the protocol: {what}"),
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
