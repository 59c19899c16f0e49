//! An HTTP client for a running server's admin address. Requests and the interpretation of answers
//! are defined by the callers. Errors are messages for the user.

use std::{
    io,
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    time::Duration,
};

use clap::{Arg, ArgAction, ArgMatches, builder::OsStr};
use serde_json::Value;
use server::Secret;
use ureq::{http::HeaderValue, tls::TlsConfig};

/// Timeout of a request, from connecting to the last byte.
const PATIENCE: Duration = Duration::from_secs(30);
/// Timeout of a connection attempt that only tests whether a server listens.
const ACCEPTS: Duration = Duration::from_secs(5);

/// Prefix of the key in the header `authorization`.
const BEARER: &[u8] = b"Bearer ";

/// A client for the server at an admin address, with the key for its requests.
#[derive(Debug)]
pub(crate) struct Client {
    address: String,
    /// Value of the header `authorization`; `None` if no key was given.
    bearer: Option<Secret>,
    /// URL scheme: `http`, or `https` for TLS.
    scheme: &'static str,
    agent: ureq::Agent,
}

/// Returns the flags that select the server. `ebb serve` has flags of the same names, so that both
/// can share an environment.
pub(crate) fn client_flags() -> [Arg; 4] {
    let address = Arg::new("admin-addr")
        .long("admin-addr")
        .env(OsStr::from("EBB_ADMIN_ADDR"))
        .value_name("HOST:PORT")
        .default_value("127.0.0.1:8080")
        .help("The server's admin address");
    let key = Arg::new("key-file")
        .long("key-file")
        .env(OsStr::from("EBB_KEY_FILE"))
        .value_name("PATH")
        .help("The server's key file, if its admin address requires a key");
    let tls = Arg::new("tls").long("tls").action(ArgAction::SetTrue).help("Use TLS");
    let authority =
        Arg::new("tls-ca").long("tls-ca").env(OsStr::from("EBB_TLS_CA")).value_name("PATH").help(
            "Use TLS, and trust this CA or certificate: a server keeps its generated one in \
             DATA-DIR/nosql/certificate.pem [the system's CAs]",
        );
    [address, key, tls, authority]
}

/// Returns the key file on the command line; `None` if it is missing or an empty text.
pub(crate) fn key_file(matches: &ArgMatches) -> Option<&Path> {
    let path = matches.get_one::<String>("key-file").filter(|path| !path.is_empty());
    path.map(Path::new)
}

impl Client {
    /// Creates a client for the server on the command line, with the first key of its key file.
    pub(crate) fn from_matches(matches: &ArgMatches) -> Result<Self, String> {
        let address = matches.get_one::<String>("admin-addr").map_or("", String::as_str);
        let key = key_file(matches).map(server::first_key).transpose();
        let key = key.map_err(|failure| failure.to_string())?;
        let authority = matches.get_one::<String>("tls-ca").filter(|path| !path.is_empty());
        match authority.is_some() || matches.get_flag("tls") {
            true => Self::over_tls(address, key.as_ref(), authority.map(Path::new)),
            false => Ok(Self::new(address, key.as_ref())),
        }
    }

    /// Creates a client that uses TLS. It trusts the authority or certificate in this file; with
    /// `None`, the authorities of the system.
    pub(crate) fn over_tls(
        address: &str,
        key: Option<&Secret>,
        authority: Option<&Path>,
    ) -> Result<Self, String> {
        let tls = transfer::http_authority(authority)?;
        Ok(Self { scheme: "https", ..Self::with_tls(address, key, tls) })
    }

    /// Creates a client for this address with this key. Proxies of the environment are not used.
    /// HTTP error statuses are not treated as errors, because the body has the message.
    pub(crate) fn new(address: &str, key: Option<&Secret>) -> Self {
        Self::with_tls(address, key, TlsConfig::builder().build())
    }

    fn with_tls(address: &str, key: Option<&Secret>, tls: TlsConfig) -> Self {
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            // A redirect would send the key to another server.
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .proxy(None)
            .build();
        Self {
            address: address.to_owned(),
            bearer: key.map(|key| Secret::from_bytes([BEARER, key.bytes()].concat())),
            scheme: "http",
            agent: ureq::Agent::new_with_config(config),
        }
    }

    /// Returns a client with the same key for another address.
    pub(crate) fn with_address(&self, address: &str) -> Self {
        Self {
            address: address.to_owned(),
            bearer: self.bearer.clone(),
            scheme: self.scheme,
            agent: self.agent.clone(),
        }
    }

    /// Returns the server's address as `host:port`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns whether connections to the address are refused. Returns false if the host cannot be
    /// resolved or does not respond, since a slow server may exist.
    pub(crate) fn nobody_listens(&self) -> bool {
        let Ok(mut all) = self.address.to_socket_addrs() else { return false };
        let refused =
            |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
        all.all(|address| {
            TcpStream::connect_timeout(&address, ACCEPTS).is_err_and(|error| refused(&error))
        })
    }

    /// Sends a GET and returns the JSON of the answer.
    pub(crate) fn get(&self, path: &str) -> Result<Value, String> {
        self.read_answer(self.with_key(self.agent.get(self.url_of(path))).call())
    }

    /// Sends a GET and returns the answer's bytes as a stream, without a total timeout.
    pub(crate) fn stream(&self, path: &str) -> Result<impl std::io::Read + Send + use<>, String> {
        let request = self.with_key(self.agent.get(self.url_of(path)));
        let request =
            request.header(server::CLIENT_HEADER, concat!("ebb/", env!("CARGO_PKG_VERSION")));
        let request = request.config().timeout_global(None).timeout_recv_response(Some(PATIENCE));
        let answer = request.build().call();
        match answer {
            Ok(answer) if answer.status() == 200 => Ok(answer.into_body().into_reader()),
            refused => match self.read_answer(refused) {
                Err(message) => Err(message),
                Ok(_) => Err(format!("unexpected answer from {}", self.address)),
            },
        }
    }

    /// Sends a POST without a body and returns the JSON of the answer.
    pub(crate) fn post(&self, path: &str) -> Result<Value, String> {
        self.read_answer(self.with_key(self.agent.post(self.url_of(path))).send_empty())
    }

    /// Sends a POST with JSON and returns the JSON of the answer.
    pub(crate) fn post_json(&self, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.with_key(self.agent.post(self.url_of(path)));
        let request = request.header("content-type", "application/json");
        self.read_answer(request.send(body.to_string()))
    }

    /// Sends a PUT with JSON and returns the JSON of the answer.
    pub(crate) fn put_json(&self, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.with_key(self.agent.put(self.url_of(path)));
        let request = request.header("content-type", "application/json");
        self.read_answer(request.send(body.to_string()))
    }

    /// Sends a DELETE and returns the JSON of the answer.
    pub(crate) fn delete(&self, path: &str) -> Result<Value, String> {
        self.read_answer(self.with_key(self.agent.delete(self.url_of(path))).call())
    }

    /// Adds the key to a request, if there is one.
    fn with_key<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        let bearer = self.bearer.as_ref().map(|bearer| HeaderValue::from_bytes(bearer.bytes()));
        match bearer {
            Some(Ok(mut bearer)) => {
                // Excludes the header from debug output.
                bearer.set_sensitive(true);
                request.header("authorization", bearer)
            }
            // Keys are base64, so every key is a valid header value.
            Some(Err(_)) | None => request,
        }
    }

    /// Returns the URL of a path on this server.
    fn url_of(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// Returns the answer's JSON. A body with an error message is returned as an error, regardless
    /// of the status. Any other body is returned even with an error status: `/status`, for example,
    /// has status 503 while a server is not ready.
    fn read_answer(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, String> {
        let address = &self.address;
        let mut answer = answer.map_err(|error| no_answer(address, &error))?;
        let status = answer.status();
        let text = answer.body_mut().read_to_string();
        let text = text.map_err(|error| format!("the answer of {address} ended early: {error}"))?;
        let body: Value = serde_json::from_str(&text)
            .map_err(|_| format!("{address} returned {status}; it is not an ebb server"))?;
        match body.pointer("/error/message").and_then(Value::as_str) {
            Some(_) if status == 401 && self.bearer.is_none() => Err(format!(
                "{address} requires a key: give --key-file with the server's key file, or \
                 admin.key in its data directory"
            )),
            Some(message) => Err(message.to_owned()),
            None => Ok(body),
        }
    }
}

/// Returns the error message for a failed connection, with advice.
fn no_answer(address: &str, error: &ureq::Error) -> String {
    let ureq::Error::Io(io) = error else {
        return transfer::with_advice(format!("no answer from {address}: {error}"));
    };
    match io.kind() {
        io::ErrorKind::ConnectionRefused => format!(
            "no answer from {address}: nothing listens there. Is the server running? 'ebb serve' \
             starts one; choose another address with --admin-addr"
        ),
        // The server does not use TLS, or its certificate is not trusted.
        io::ErrorKind::InvalidData => {
            transfer::with_advice(format!("no answer from {address}: {io}"))
        }
        _ => format!("no answer from {address}: {io}; choose another address with --admin-addr"),
    }
}

/// Escapes a name as a path segment.
pub(crate) fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let part =
        |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sent_and_not_printed() {
        let key = Secret::from_text("planted".to_owned());
        let client = Client::new("127.0.0.1:1", Some(&key));
        let request = client.with_key(client.agent.get(client.url_of("/")));
        let sent = request.headers_ref().unwrap().get("authorization").unwrap();
        assert_eq!(sent.as_bytes(), b"Bearer planted");
        let text = format!("{client:?} {:?} {:?}", client.with_address("b:1"), request);
        assert!(text.contains("127.0.0.1:1") && !text.contains("planted"), "{text}");
    }
}
