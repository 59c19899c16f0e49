//! Why a request is not let in, sorted by what its sender does next. The texts are what a client of
//! Azure expects to read; the status is chosen by the API.

use std::fmt;

/// Why a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// There is no authorization header.
    Missing,
    /// The authorization header cannot be read.
    Malformed,
    /// The request's date is missing or cannot be read.
    NoDate,
    /// The date is too far from the server's clock: set the clock right.
    Skewed,
    /// The signature is of another key or another request.
    Signature,
    /// The token's time is over: ask for another.
    Expired,
    /// The token has the emulators' form, which a key of the account signs, and this server accepts only
    /// those of its identity service.
    EmulatorToken,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => {
                "Required Header authorization is missing. Ensure a valid Authorization token is \
                 passed."
            }
            Self::Malformed => "The authorization header is not in a format that is understood.",
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
                "Tokens that are signed with a key of the account are not accepted here: get one from \
                 the identity service, or set emulator_tokens = true in the file of --cosmos-roles."
            }
        })
    }
}

impl std::error::Error for Denied {}
