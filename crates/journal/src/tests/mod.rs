//! The journal on a disk in memory that fails, stops, forgets and is damaged.

mod damage;
mod faults;
mod kept;
mod laws;
mod run;
mod sim_disk;
mod spare;
mod torn;
