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
pub mod words;

use std::path::PathBuf;

/// The repository's root, as cargo says it when it runs this: what was known while compiling may be another
/// checkout's, where several share what they build.
pub fn root() -> PathBuf {
    let here =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    PathBuf::from(here).parent().map(PathBuf::from).unwrap_or_default()
}
