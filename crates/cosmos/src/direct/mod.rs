//! Direct mode: clients send requests as frames over TLS, many at once on a connection, and get the
//! answers in any order.
//!
//! ```text
//! TLS stream -> connection   one future for each client: reads, runs, writes
//!               input        bytes to frames and bodies
//!            -> frame_link, frame_request
//!                            a frame to the same request that HTTP makes
//!            -> exchange     authorizes and executes it, as for HTTP
//!            or forwarding   another node of the cluster does that
//!            -> reply_frame  the answer to a frame
//!               output       frames that wait to be sent
//! ```
//!
//! A client first sends its context, then requests. A frame that cannot be decoded closes the
//! connection, since the start of the next frame is unknown; any other mistake is answered. A
//! request is authorized before its body is read, so that an unauthenticated client cannot make the
//! server allocate memory. While a client has too many requests or unread answers, no further frame
//! is read.

mod connection;
mod context;
mod executor;
mod forwarding;
mod frame_link;
mod frame_request;
mod input;
mod output;
mod reply_frame;
mod running;

pub(crate) use connection::serve_direct;
pub(crate) use executor::{Executor, Executors, ForwardLimits, Forwarding};
pub(crate) use forwarding::{FrameLink, Outcome, OutgoingFrame, Unanswered};
pub(crate) use frame_request::{ClientInfo, read_frame};

/// A frame that cannot be decoded or is out of sequence; the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenFrame;

impl From<rntbd::Invalid> for BrokenFrame {
    fn from(_: rntbd::Invalid) -> Self {
        Self
    }
}
