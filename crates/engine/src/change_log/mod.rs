//! State of the change log that views and writers share: whether the log is kept, and the readers
//! that wait for changes. `changes` writes and reads its records.

mod scope;
mod state;
mod wake;

pub use scope::ChangeScope;
pub(crate) use state::{ChangeLog, KeptLog, log_name, log_record_key};
pub use wake::ChangeWait;
