//! Memory accounting: memory is requested from an account before it is used, and a share returns
//! its bytes when it is dropped. This crate allocates nothing itself.

mod account;
mod plan;
mod pressure;
mod share;

pub use account::{Account, InsufficientMemory, Relief, SMALL};
pub use plan::{LEAST, Plan};
pub use share::Share;
