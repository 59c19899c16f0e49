//! Reads and writes a container over the NoSQL API. This file sends the signed requests for one
//! container.

mod item;
mod sink;
mod source;

pub use sink::NoSqlSink;
pub use source::NoSqlSource;

use std::time::{Duration, UNIX_EPOCH};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::{
    endpoint::{CONNECTS, HTTPS, NoSqlAddress},
    interfaces::SharedMonitor,
    tls::{http_authority, with_advice},
};

/// Maximum size of a NoSQL API response.
const MAX_ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum number of attempts of a throttled request.
const TRIES: u32 = 100;
/// Number of concurrent NoSQL API requests.
const WORKERS: usize = 8;
/// Characters that are not escaped in a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const VERSION: &str = "2020-07-15";
/// Start of the link that ends messages of Azure Cosmos DB.
const LEARN_MORE: &str = "Learn more: ";
/// Timeout until a response starts, and until it ends.
const PATIENCE: Duration = Duration::from_secs(600);
/// Default delay before a retry.
const PAUSE: Duration = Duration::from_millis(200);

/// Resource type and path suffix of the container.
const CONTAINER: (&str, &str) = ("colls", "");
/// Resource type and path suffix of the container's items.
const ITEMS: (&str, &str) = ("docs", "/docs");

#[derive(Debug)]
struct Response {
    status: u16,
    /// Continuation token of the next page.
    continuation: Option<String>,
    body: Vec<u8>,
}

impl Response {
    /// Returns the server's error message on one line.
    fn reason(&self) -> String {
        let body: Option<Value> = serde_json::from_slice(&self.body).ok();
        let text = body.as_ref().and_then(|body| body["message"].as_str()).unwrap_or_default();
        let text = text.strip_prefix("Message: ").unwrap_or(text).split("\r\n").next();
        let text = text.unwrap_or_default();
        // Azure Cosmos DB embeds messages in another JSON text.
        let inner: Option<Value> = serde_json::from_str(text).ok();
        let inner = inner.as_ref().and_then(|it| it["Errors"][0].as_str()).unwrap_or(text);
        // Messages of Azure Cosmos DB end with a link to its documentation.
        let inner = inner.split(LEARN_MORE).next().unwrap_or(inner);
        format!("{} {}", self.status, inner.trim()).trim().to_owned()
    }
}

/// A client for one container.
#[derive(Clone, Debug)]
struct Service {
    agent: ureq::Agent,
    address: NoSqlAddress,
    /// Link of the container as signed, and escaped for a path.
    link: String,
    path: String,
    /// Name of the container in error messages.
    shown: String,
    watch: SharedMonitor,
}

impl Service {
    /// Creates the client without sending a request.
    fn new(
        address: &NoSqlAddress,
        database: &str,
        container: &str,
        watch: SharedMonitor,
    ) -> Result<Self, String> {
        let config = ureq::Agent::config_builder();
        let config = match address.base.starts_with(HTTPS) {
            true => config.tls_config(http_authority(address.authority.as_deref())?),
            false => config,
        };
        // Ignores proxies of the environment and redirects, so that requests go to the given
        // address only.
        let config = config
            .http_status_as_error(false)
            .max_redirects(0)
            // A timeout for the whole request would need a thread for each name resolution.
            .timeout_connect(Some(CONNECTS))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_recv_body(Some(PATIENCE))
            .proxy(None);
        let config = config.max_idle_connections_per_host(WORKERS).max_idle_connections(WORKERS);
        let encoded = |name: &str| utf8_percent_encode(name, PLAIN).to_string();
        Ok(Self {
            agent: ureq::Agent::new_with_config(config.build()),
            address: address.clone(),
            link: format!("dbs/{database}/colls/{container}"),
            shown: format!("{container} in the database {database}"),
            path: format!("dbs/{}/colls/{}", encoded(database), encoded(container)),
            watch,
        })
    }

    fn definition(&self) -> Result<Value, String> {
        let answer = self.ask(CONTAINER, None, &[])?;
        match answer.status {
            200 => {}
            404 => return Err(format!("there is no container {} (404)", self.shown)),
            _ => return Err(answer.reason()),
        }
        serde_json::from_slice(&answer.body)
            .map_err(|_| format!("{} is not a NoSQL API endpoint", self.address.base))
    }

    /// Reads a page of items.
    fn read_feed(&self, headers: &[(&str, &str)]) -> Result<Response, String> {
        self.ask(ITEMS, None, headers)
    }

    /// Sends a POST to the items: a new item, or a query.
    fn post(&self, body: &[u8], headers: &[(&str, &str)]) -> Result<Response, String> {
        self.ask(ITEMS, Some(body), headers)
    }

    /// Sends a request, and repeats it while the server throttles it.
    fn ask(
        &self,
        (kind, under): (&str, &str),
        body: Option<&[u8]>,
        headers: &[(&str, &str)],
    ) -> Result<Response, String> {
        for _ in 0..TRIES {
            if !self.watch.should_continue() {
                return Err("interrupted".to_owned());
            }
            let (answer, later) = self.ask_once((kind, under), body, headers)?;
            match answer.status {
                408 | 429 | 449 | 503 => self.watch.pause(later.unwrap_or(PAUSE)),
                _ => return Ok(answer),
            }
        }
        Err(format!("{} keeps throttling requests (429)", self.address.base))
    }

    fn ask_once(
        &self,
        (kind, under): (&str, &str),
        body: Option<&[u8]>,
        headers: &[(&str, &str)],
    ) -> Result<(Response, Option<Duration>), String> {
        let verb = if body.is_some() { "post" } else { "get" };
        let ms = u64::try_from(clock::wall_ms()).unwrap_or_default();
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(ms));
        let url = format!("{}/{}{under}", self.address.base, self.path);
        let authorization = self.signature(verb, kind, &date.to_ascii_lowercase());
        let fixed = [
            ("authorization", authorization.as_str()),
            ("x-ms-date", &date),
            ("x-ms-version", VERSION),
            ("accept", "application/json"),
        ];
        let all = fixed.iter().chain(headers);
        let sent = match body {
            None => {
                let request =
                    all.fold(self.agent.get(&url), |it, (name, value)| it.header(*name, *value));
                request.call()
            }
            Some(body) => {
                let request =
                    all.fold(self.agent.post(&url), |it, (name, value)| it.header(*name, *value));
                request.send(body)
            }
        };
        let base = &self.address.base;
        let failed = |error: ureq::Error| with_advice(format!("no answer from {base}: {error}"));
        let mut answer = sent.map_err(failed)?;
        let header = |name: &str| {
            let value = answer.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let continuation = header("x-ms-continuation").filter(|text| !text.is_empty());
        let later = header("x-ms-retry-after-ms").and_then(|ms| ms.parse().ok());
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = body.map_err(failed)?;
        Ok((Response { status, continuation, body }, later.map(Duration::from_millis)))
    }

    /// Returns the value of the header `authorization`.
    fn signature(&self, verb: &str, kind: &str, date: &str) -> String {
        let parts = [verb, "\n", kind, "\n", &self.link, "\n", date, "\n\n"];
        let signed = STANDARD.encode(self.address.key.sign(&parts.map(str::as_bytes)));
        utf8_percent_encode(&format!("type=master&ver=1.0&sig={signed}"), PLAIN).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_what_the_server_says() {
        for (body, want) in [
            (
                "{\"code\":\"NotFound\",\"message\":\"Message: {\\\"Errors\\\":[\\\"Gone.\\\"]}\\r\\nActivityId: x\"}",
                "404 Gone.",
            ),
            ("{\"message\":\"Entity is there.\\r\\nActivityId: x\"}", "404 Entity is there."),
            ("{\"message\":\"Not Found. Learn more: https://aka.ms/x\"}", "404 Not Found."),
            ("<html>", "404"),
            ("", "404"),
        ] {
            let body = body.as_bytes().to_vec();
            let answer = Response { status: 404, continuation: None, body };
            assert_eq!(answer.reason(), want);
        }
    }
}
