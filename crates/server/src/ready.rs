//! The ready file: written atomically once every listener accepts.

use std::{fs, io, path::Path};

use serde::Serialize;

/// What the file tells.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Ready {
    pub(crate) mongo: Option<String>,
    pub(crate) cosmos: Option<String>,
    pub(crate) admin: Option<String>,
    pub(crate) pid: u32,
    pub(crate) version: &'static str,
}

impl Ready {
    /// This process, before any address is bound.
    pub(crate) fn starting() -> Self {
        let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION"));
        Self { mongo: None, cosmos: None, admin: None, pid, version }
    }
}

/// Writes the file under another name and renames it.
pub(crate) fn write_ready_file(path: &Path, ready: &Ready) -> io::Result<()> {
    let text = serde_json::to_string(ready).map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = path.with_file_name(name);
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}
