//! The reasons for refusing a request, distinguished by what the sender should do next. The texts
//! match what Azure's clients expect; the API chooses the status.

use std::fmt;

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The authorization header is missing.
    Missing,
    /// The authorization header cannot be parsed.
    Malformed,
    /// The request's date is missing or cannot be parsed.
    NoDate,
    /// The date is too far from the server's clock.
    Skewed,
    /// The signature does not match the key and the request.
    Signature,
    /// The token's validity period has ended.
    Expired,
    /// The token has the emulators' format, signed with an account key, but this server accepts
    /// only tokens of its identity service.
    EmulatorToken,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => {
                "Required Header authorization is missing. Ensure a valid Authorization token is \
                 passed."
            }
            Self::Malformed => "The authorization header is malformed.",
            Self::NoDate => "The request has neither a valid x-ms-date header nor a valid date.",
            Self::Skewed => {
                "The authorization token is not valid at the current time: its date is more than \
                 15 minutes away from the server's clock."
            }
            Self::Signature => {
                "The input authorization token can't serve the request. Please check that the \
                 expected payload is built as per the protocol, and check the key being used."
            }
            Self::Expired => "The authorization token has expired.",
            Self::EmulatorToken => {
                "Tokens signed with an account key are not accepted: get one from the identity \
                 service, or set emulator_tokens = true in the file of --cosmos-roles."
            }
        })
    }
}

impl std::error::Error for Denied {}
