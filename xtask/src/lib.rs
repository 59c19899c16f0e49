//! Rules about the code's own shape, as tests: who may import whom, and how files look. It checks
//! manifests and text; it builds and runs nothing.

pub mod client_module_table;
pub mod layers;
pub mod module_table;
pub mod modules;
pub mod protocols;
pub mod store_module_table;
pub mod tidy;
pub mod views;

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}
