//! The ready file, written atomically once every listener accepts. Scripts wait for it and read the
//! bound ports from it.

use std::{fs, io, net::SocketAddr, path::Path};

use serde::Serialize;

/// Content of the file, as JSON. An address is `null` if that listener is off.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    /// Address of the MongoDB API, `host:port`.
    pub mongo: Option<String>,
    /// Address of the NoSQL API, `host:port`.
    pub cosmos: Option<String>,
    /// Address of the admin listener, `host:port`.
    pub admin: Option<String>,
    /// Process id of the server.
    pub pid: u32,
    /// Version of the running program.
    pub version: &'static str,
}

impl Ready {
    /// Returns the contents before an address is bound; `ServerContext::open` fills in the
    /// addresses.
    pub fn starting() -> Self {
        let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION"));
        Self { mongo: None, cosmos: None, admin: None, pid, version }
    }
}

/// Returns whether other machines can reach a bound address.
pub fn is_reached(address: &str) -> bool {
    // An IPv4 loopback address may be mapped to IPv6.
    let bound = address.parse::<SocketAddr>();
    bound.is_ok_and(|bound| !bound.ip().to_canonical().is_loopback())
}

/// Writes the file under a temporary name and renames it, so that readers never see part of it. Not
/// synced: it is meaningless after a crash.
pub fn write_ready_file(path: &Path, ready: &Ready) -> io::Result<()> {
    let text = serde_json::to_string(ready).map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let temporary = path.with_file_name(name);
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}
