//! Rules about the structure of the code, as tests: imports between crates and modules, and the
//! form of files. The tests read manifests and sources; they build and run nothing.

pub mod client_module_table;
pub mod layers;
pub mod module_table;
pub mod modules;
pub mod protocols;
pub mod server_module_table;
pub mod store_module_table;
pub mod tidy;
pub mod views;
pub mod words;

use std::path::PathBuf;

/// Returns the repository root from the environment that cargo sets at run time: the value at
/// compile time may belong to another checkout, if several share a build directory.
pub fn root() -> PathBuf {
    let here =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(here).parent().map(PathBuf::from).unwrap_or_default()
}
