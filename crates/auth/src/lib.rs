//! Who may do what: signed requests and tokens checked as pure functions. No sockets, no storage;
//! what time it is, is a parameter.

mod date;
mod denied;
mod entra;
mod header;
mod key;
mod keys;
pub mod limits;
mod signature;
mod token;

pub use date::http_date;
pub use denied::Denied;
pub use entra::check_entra;
pub use header::{Authorization, Credential};
pub use key::{Key, NotAKey};
pub use keys::{Keys, Right, WELL_KNOWN_KEY};
pub use signature::Signed;
pub use token::Token;
