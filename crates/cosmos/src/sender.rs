//! How the sender of a request is authenticated: by the request itself or by the caller.
//! `authorize` checks the sender's rights.

use auth::Right;

/// Method by which the identity of a request's sender is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// By the signature or token in the request's headers.
    Signs,
    /// By the signature or token in the request's headers. The client has connected to another
    /// endpoint, which has checked the host name and serves static pages itself.
    Forwarded,
    /// By the caller of this crate, such as the portal, which has authenticated the sender. The
    /// request's authorization headers are ignored.
    Known(Right),
}
