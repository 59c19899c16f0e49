//! Serves another project's data explorer: the files of a directory under `/_explorer/`, with
//! settings generated for the address that the browser used. Without a directory, requests are
//! redirected to the portal. The admin address and the address of the NoSQL API share one instance.

mod files;
mod page;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use cosmos::{PageAnswer, Pages};
use http::{Method, StatusCode, header, request::Parts};

use page::{BrowserAddresses, no_page, plain_text, redirect_to};

/// Path of the settings that the explorer requests, both at the root and below its pages.
pub(crate) const CONFIG: &str = "/config.json";
/// Path of the explorer's pages.
pub(crate) const PAGES: &str = "/_explorer";
/// The one file under [`PAGES`] that the NoSQL API itself serves: its certificate.
const CERTIFICATE: &str = "emulator.pem";

/// The address that received a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceivedAt {
    /// The admin address, shared with the portal.
    Admin,
    /// The address of the NoSQL API.
    Nosql,
}

/// Ports for links in pages; `None` if that listener is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Port of the admin address, if it is on.
    pub admin: Option<u16>,
    /// Port of the NoSQL API, if it is on.
    pub nosql: Option<u16>,
}

/// The data explorer of a server, shared by its listeners.
#[derive(Debug)]
pub struct Explorer {
    /// Canonical path of the explorer's directory; `None` if not configured.
    root: Option<PathBuf>,
    /// Set when all listeners are bound; they need the explorer before that.
    ports: OnceLock<Ports>,
}

impl Explorer {
    /// Returns the explorer for a directory. Fails, naming the flag, if it is not a directory.
    pub fn open(directory: Option<&Path>) -> io::Result<Arc<Self>> {
        let wrong = |why: String| io::Error::other(format!("--explorer-dir: {why}"));
        let root = match directory {
            None => None,
            Some(directory) => {
                let shown = directory.display();
                let root = directory.canonicalize();
                let root = root.map_err(|error| wrong(format!("{shown}: {error}")))?;
                if !root.is_dir() {
                    return Err(wrong(format!("{shown} is not a directory")));
                }
                Some(root)
            }
        };
        Ok(Arc::new(Self { root, ports: OnceLock::new() }))
    }

    /// Sets the bound ports, which requests before this call do not see. `ServerContext::open`
    /// calls it once.
    pub fn listens(&self, ports: Ports) {
        let _ = self.ports.set(ports);
    }

    /// Returns the response to a request at one of the addresses, or `None` if the path is not the
    /// explorer's. The file is located at once and read when the response is awaited.
    pub(crate) fn answer(&self, at: ReceivedAt, request: &Parts) -> Option<PageAnswer> {
        let path = request.uri.path();
        let below = match path.strip_prefix(PAGES) {
            Some("") => "",
            Some(below) => below.strip_prefix('/')?,
            None if path == CONFIG && self.root.is_some() => "config.json",
            None => return None,
        };
        if at == ReceivedAt::Nosql && below == CERTIFICATE {
            return None;
        }
        let ports = self.ports.get().copied().unwrap_or_default();
        let addresses = BrowserAddresses::of(at, ports, request);
        let reads = matches!(request.method, Method::GET | Method::HEAD);
        let is_head = request.method == Method::HEAD;
        let made = match (&addresses, &self.root) {
            _ if !reads => {
                plain_text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed")
            }
            (Err(why), _) => plain_text(StatusCode::BAD_REQUEST, why),
            (Ok(addresses), None) => match below {
                "" | "index.html" => addresses.to_portal(),
                _ => no_page(),
            },
            (Ok(_), Some(_)) if path == PAGES => redirect_to(&format!("{PAGES}/")),
            (Ok(addresses), Some(_)) if below == "config.json" => addresses.config_script(),
            (Ok(addresses), Some(root)) => {
                let file = files::find_file(root, below);
                let (policy, headers) = (addresses.content_policy(), request.headers.clone());
                return Some(Box::pin(async move {
                    let response = match file {
                        Some(file) => files::read_file(&file, is_head, &headers).await,
                        None => no_page(),
                    };
                    page::add_guards(response, Some(&policy), is_head)
                }));
            }
        };
        let response = page::add_guards(made, None, is_head);
        Some(Box::pin(async move { response }))
    }
}

/// Serves the explorer as pages of the NoSQL API, without authorization.
#[derive(Debug)]
pub struct ExplorerPages(pub Arc<Explorer>);

impl Pages for ExplorerPages {
    fn answer(&self, request: &Parts) -> Option<PageAnswer> {
        self.0.answer(ReceivedAt::Nosql, request)
    }
}

/// Returns the host of a request: HTTP/2 has it in the URI, HTTP/1 in a header.
fn host(request: &Parts) -> Option<&str> {
    let header = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    request.uri.authority().map(http::uri::Authority::as_str).or(header)
}
