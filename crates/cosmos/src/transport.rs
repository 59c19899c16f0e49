//! The transports by which requests arrive.

/// The transport of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// HTTP/1 or HTTP/2, the protocol of clients in gateway mode.
    Http,
    /// Frames, the protocol of clients in direct mode.
    Direct,
}

impl Transport {
    /// Returns the name of the protocol in logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Direct => "rntbd",
        }
    }
}
