//! How the door knows who sends a request: by what the request carries, or because somebody else has
//! found it out. What the sender may do is decided in `authorize`.

use auth::Right;

/// Where the identity of a request's sender comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// From the signature or the token in the request's headers.
    Signs,
    /// The same, for a client that came in at another entrance: its host was checked there, and pages are
    /// served there.
    Forwarded,
    /// From the caller of this crate, which has let the sender in itself: the portal. The headers of
    /// the request are not asked, so a wrong signature in them does not matter.
    Known(Right),
}
