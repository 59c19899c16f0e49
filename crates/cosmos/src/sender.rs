//! How the sender of a request is authenticated: by the request itself or by the caller.
//! `authorize` checks the sender's rights.

use auth::Right;

/// How the identity of a request's sender is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// By the signature or token in the request's headers.
    Signs,
    /// As `Signs`, for a client that connected to another endpoint, which has checked the host and
    /// serves static pages.
    Forwarded,
    /// The caller of this crate, which has authenticated the sender itself: the portal. The
    /// request's authorization headers are ignored.
    Known(Right),
}
