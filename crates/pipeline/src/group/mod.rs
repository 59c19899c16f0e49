//! Accumulators of groups. Each is an entry of one table (`table.rs`); the state of a group is an
//! enum, so that adding a row needs neither a virtual call nor a lookup.
//!
//! `exec/group` contains the groups, this module their accumulators, `accumulate` the states over
//! values. A state can be saved as a value and restored (`saved`), for groups that are spilled.

mod arguments;
mod saved;
mod state;
mod table;
mod top;

pub use arguments::{AccumulatorArguments, AccumulatorShape};
pub use state::GroupState;
pub use table::{Accumulator, Field, all_accumulators, find_accumulator};
