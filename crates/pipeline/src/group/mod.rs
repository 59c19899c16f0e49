//! Accumulators: what a group computes from its rows. One table row each; the state of a group is
//! an enum, so that adding a row is a jump and not a lookup.
//!
//! `exec/group` has the groups, this module what they compute, `accumulate` the states over values.
//! A state can be saved as a value and restored (`saved`), for groups that memory does not hold.

mod saved;
mod state;
mod table;
mod taken;
mod top;

pub use state::GroupState;
pub use table::{Accumulator, Field, all_accumulators, find_accumulator};
pub use taken::{AccumulatorShape, Taken};
