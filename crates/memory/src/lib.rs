//! Memory that is asked for before it is used: one account for all operations, and shares of it that
//! give back what they took when they are dropped. It allocates nothing itself.

mod account;
mod plan;
mod pressure;
mod share;

pub use account::{Account, Relief, SMALL, Short};
pub use plan::{LEAST, Plan};
pub use share::Share;
