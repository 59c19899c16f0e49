//! The ready file: written atomically once every listener accepts. Scripts wait for it and read from
//! it which ports a server took.

use std::{fs, io, net::SocketAddr, path::Path};

use serde::Serialize;

/// What the file tells, as JSON. An address is `null` where that listener is off.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Ready {
    /// `host:port` of the MongoDB API.
    pub(crate) mongo: Option<String>,
    /// `host:port` of the NoSQL API.
    pub(crate) cosmos: Option<String>,
    /// `host:port` of the admin listener.
    pub(crate) admin: Option<String>,
    pub(crate) pid: u32,
    pub(crate) version: &'static str,
}

impl Ready {
    /// Returns what is known before any address is bound; `serve::start` fills in the rest.
    pub(crate) fn starting() -> Self {
        let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION"));
        Self { mongo: None, cosmos: None, admin: None, pid, version }
    }
}

/// Whether other machines reach an address that was bound.
pub(crate) fn is_reached(address: &str) -> bool {
    // An IPv4 loopback address may come as IPv6.
    let bound = address.parse::<SocketAddr>();
    bound.is_ok_and(|bound| !bound.ip().to_canonical().is_loopback())
}

/// Writes the file under another name and renames it, so that whoever sees it can read all of it.
/// It is not flushed: it means nothing after a crash.
pub(crate) fn write_ready_file(path: &Path, ready: &Ready) -> io::Result<()> {
    let text = serde_json::to_string(ready).map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = path.with_file_name(name);
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}
