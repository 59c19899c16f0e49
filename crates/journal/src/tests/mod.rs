//! The journal on a simulated disk with failures, power cuts and damage.

mod damage;
mod faults;
mod kept;
mod laws;
mod run;
mod sim_disk;
mod spare;
mod torn;
