//! What every part of the server needs: configuration, the data directory and its files, listeners
//! and TLS, and the stream of a backup. It opens no store and serves no request.

pub mod addresses;
pub mod atomic_file;
pub mod backup;
pub mod checksummed;
pub mod config;
pub mod data_dir;
pub mod entrance;
pub mod failure;
pub mod features;
pub mod key_file;
pub mod listen;
pub mod machine;
mod misdirected;
pub mod random;
pub mod ready;
pub mod sleep;
pub mod tls;
