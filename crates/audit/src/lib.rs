//! The audit log: logins, refusals, and changes of anything but documents. Lines of JSON are
//! appended to a file, each with a hash over itself and the previous hash, so that changed, removed
//! or inserted lines are detected. Lines contain no documents, queries or passwords.
//!
//! Unless the last hash is also kept elsewhere, the chain does not protect against a person who can
//! write the file, since all hashes from a line on can be recomputed.

mod chain;
mod event;
mod log;

pub use chain::{Broken, Checked, check};
pub use event::{Api, Event, is_refusal, outcome_of};
pub use log::AuditLog;
