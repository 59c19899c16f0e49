//! Asks a running server at its admin address. What is asked and what is made of the answer is
//! decided elsewhere.

use std::{
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use serde_json::Value;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to accept.
const ACCEPTS: Duration = Duration::from_secs(5);

/// A server by its admin address.
#[derive(Debug)]
pub(crate) struct Client {
    address: String,
    agent: ureq::Agent,
}

impl Client {
    /// The server at this address.
    pub(crate) fn new(address: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .proxy(None)
            .build();
        Self { address: address.to_owned(), agent: ureq::Agent::new_with_config(config) }
    }

    /// Its address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Whether nothing listens there, though the machine answers.
    pub(crate) fn nobody_listens(&self) -> bool {
        let Ok(mut all) = self.address.to_socket_addrs() else { return false };
        let refused =
            |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
        all.all(|address| {
            TcpStream::connect_timeout(&address, ACCEPTS).is_err_and(|error| refused(&error))
        })
    }

    /// Asks for a page; failures in words.
    pub(crate) fn get(&self, path: &str) -> Result<Value, String> {
        self.read(self.agent.get(self.url(path)).call())
    }

    /// Tells the server to do something.
    pub(crate) fn post(&self, path: &str) -> Result<Value, String> {
        self.read(self.agent.post(self.url(path)).send_empty())
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn read(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, String> {
        let address = &self.address;
        let mut answer = answer.map_err(|error| format!("no answer from {address}: {error}"))?;
        let status = answer.status();
        let text = answer.body_mut().read_to_string();
        let text = text.map_err(|error| format!("the answer of {address} ended early: {error}"))?;
        let body: Value = serde_json::from_str(&text)
            .map_err(|_| format!("{address} answers {status}, and not as an ebb server does"))?;
        match body.pointer("/error/message").and_then(Value::as_str) {
            Some(message) => Err(message.to_owned()),
            None => Ok(body),
        }
    }
}
