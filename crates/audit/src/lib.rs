//! The audit log: who logged in or was refused, and who changed what there is besides documents. Lines
//! of JSON are appended to a file, each with a hash over itself and the line before, so that one that was
//! changed, taken out or put in shows. What documents, queries and passwords say is in none of them.
//!
//! It is not a proof against whoever may write the file: that person can make all hashes anew from some
//! line on. Who keeps the last hash elsewhere sees that too.

mod chain;
mod event;
mod log;

pub use chain::{Broken, Checked, check};
pub use event::{Api, Event, is_refusal, outcome_of};
pub use log::AuditLog;
