//! Tests of the tree as a whole, on a simulated disk that fails, tears and reorders, and on a real
//! one.

mod basics;
mod expiry;
mod faults;
mod flips;
mod model;
mod owner;
mod rules;
mod sim_disk;
mod threads;
mod waiting;
mod world;
