//! rntbd, the binary protocol of the NoSQL API's direct mode: frames and tokens, in both directions.
//!
//! ```text
//! request                       answer                        bytes
//! length of head and tokens     length of head and tokens     4
//! resource type                 status                        2 | 4
//! operation type                                              2 |
//! activity id                   activity id                   16
//! tokens                        tokens                        length - 24
//! length of the body            length of the body            4    only if the token
//! body                          body                               `PayloadPresent` is 1
//! ```
//!
//! All numbers are little-endian. A token is an id (2 bytes), a kind (1 byte) and a value, whose
//! width the kind determines. A reader skips tokens whose ids it does not know.
//!
//! Decoding borrows from the frame and copies nothing. Every length is checked against the remaining
//! bytes, so the work is linear in the length of the frame.

mod context;
mod frame;
mod request;
mod response;
mod token;

pub use context::{ClientContext, ServerContext, is_context};
pub use frame::{AnswerHead, FrameWriter, HEAD_BYTES, RequestHead};
pub use request::{OperationType, RequestToken, RequestTokens, ResourceType};
pub use response::AnswerToken;
pub use token::{Kind, Token, Tokens};

use std::fmt;

/// Reason why a frame cannot be decoded; `Display` describes the mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid(pub(crate) &'static str);

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Invalid {}

pub(crate) type Result<T> = std::result::Result<T, Invalid>;
