//! The HTTP client for an S3-compatible store. It limits its trust in the server: redirects must
//! stay on the same host, and the size of buffered responses (all except object contents) is
//! bounded.

use std::{pin::Pin, time::Duration};

use http_body_util::{BodyExt as _, Limited};
use object_store::{
    ClientConfigKey, ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
        HttpResponseBody, HttpService,
    },
};
use reqwest::redirect::{Attempt, Policy};

/// Maximum size of a buffered response. A listing of a thousand names of a kilobyte each is
/// smaller.
const ANSWER_MAX: usize = 16 << 20;
const REDIRECTS: usize = 5;
/// Default timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Default timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |error: reqwest::Error| object_store::Error::Generic {
            store: "S3",
            source: Box::new(error),
        };
        let text = |key: ClientConfigKey| options.get_config_value(&key);
        let is_set = |key: ClientConfigKey| text(key).as_deref() == Some("true");
        let time = |key: ClientConfigKey, usual: Duration| {
            let typed = text(key).and_then(|text| text.parse::<jiff::SignedDuration>().ok());
            typed.and_then(|typed| typed.try_into().ok()).unwrap_or(usual)
        };
        let mut builder = reqwest::Client::builder()
            .redirect(Policy::custom(follow))
            .timeout(time(ClientConfigKey::Timeout, TIMEOUT))
            .connect_timeout(time(ClientConfigKey::ConnectTimeout, CONNECT_TIMEOUT))
            .https_only(!is_set(ClientConfigKey::AllowHttp))
            .http1_only();
        if is_set(ClientConfigKey::AllowInvalidCertificates) {
            builder = builder.danger_accept_invalid_certs(true);
        }
        if let Some(proxy) = text(ClientConfigKey::ProxyUrl) {
            builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(failed)?);
        }
        Ok(HttpClient::new(Client(builder.build().map_err(failed)?)))
    }
}

/// Follows a redirect to the same host and port, or to TLS on the same host.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let Some(first) = attempt.previous().first() else { return attempt.stop() };
    if REDIRECTS < attempt.previous().len() {
        return attempt.error("too many redirects");
    }
    match is_same_host(first, attempt.url()) {
        true => attempt.follow(),
        false => {
            let host = attempt.url().host_str().unwrap_or_default().to_owned();
            attempt.error(format!(
                "it redirects to another host ({host}), which is not followed: name the right one in \
                 AWS_ENDPOINT_URL or AWS_REGION"
            ))
        }
    }
}

fn is_same_host(from: &reqwest::Url, to: &reqwest::Url) -> bool {
    let is_safer = from.scheme() == "http" && to.scheme() == "https";
    let is_same =
        from.scheme() == to.scheme() && from.port_or_known_default() == to.port_or_known_default();
    from.host_str() == to.host_str() && (is_same || is_safer)
}

#[derive(Debug)]
struct Client(reqwest::Client);

/// A pending request: a future that completes with the response.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Client {
    fn call<'life0, 'async_trait>(&'life0 self, request: HttpRequest) -> Answering<'async_trait>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        // The content of an object is streamed and not buffered.
        let is_read = request.method() == "GET" && !is_list(request.uri().query());
        Box::pin(async move {
            let answer = HttpService::call(&self.0, request).await?;
            if is_read && answer.status().is_success() {
                return Ok(answer);
            }
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, ANSWER_MAX);
            let body = body.map_err(|error| match error.downcast::<HttpError>() {
                Ok(error) => *error,
                Err(error) => HttpError::new_boxed(HttpErrorKind::Decode, error),
            });
            Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
        })
    }
}

/// Returns whether a request lists names or uploads instead of reading an object.
fn is_list(query: Option<&str>) -> bool {
    let names = query.unwrap_or_default().split('&').map(|part| part.split('=').next());
    names.flatten().any(|name| matches!(name, "list-type" | "uploads" | "uploadId"))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };

    use super::*;

    #[test]
    fn hosts_are_told_apart() {
        for (from, to, want) in [
            ("https://a/x", "https://a/y", true),
            ("http://a:9000/x", "http://a:9000/y", true),
            ("http://a/x", "https://a/x", true),
            ("https://a/x", "http://a/x", false),
            ("https://a/x", "https://b.a/x", false),
            ("http://a:9000/x", "http://a:9001/x", false),
            ("http://a/x", "http://169.254.169.254/latest", false),
        ] {
            let url = |text: &str| text.parse::<reqwest::Url>().unwrap();
            assert_eq!(is_same_host(&url(from), &url(to)), want, "{from} to {to}");
        }
        assert!(is_list(Some("list-type=2&prefix=x")) && is_list(Some("a=b&uploadId=5")));
        assert!(!is_list(None) && !is_list(Some("versionId=list-type")));
    }

    /// Starts a server that answers each connection with `head`, followed by endless repetitions of
    /// `endless` if given. Returns its port.
    fn serve(head: String, endless: Option<&'static [u8]>) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4096]);
                let mut sent = stream.write_all(head.as_bytes());
                while let (Ok(()), Some(bytes)) = (&sent, endless) {
                    sent = stream.write_all(bytes);
                }
            }
        });
        port
    }

    fn ask(port: u16) -> Result<Vec<u8>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = Connector.connect(&ClientOptions::new().with_allow_http(true)).unwrap();
        let uri = format!("http://127.0.0.1:{port}/b?list-type=2");
        let mut request = HttpRequest::new(bytes::Bytes::new().into());
        *request.uri_mut() = uri.parse().unwrap();
        runtime.block_on(async {
            let said = |error: HttpError| {
                let mut text = error.to_string();
                let mut source = std::error::Error::source(&error);
                while let Some(error) = source {
                    text.push_str(&format!(": {error}"));
                    source = error.source();
                }
                text
            };
            let answer = client.execute(request).await.map_err(said)?;
            let body = answer.into_body().collect().await.map_err(said)?;
            Ok(body.to_bytes().to_vec())
        })
    }

    #[test]
    fn redirects_to_another_host_are_not_followed_and_answers_have_a_bound() {
        let secret = serve("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret".to_owned(), None);
        assert_eq!(ask(secret).unwrap(), b"secret");
        let location = format!("http://127.0.0.1:{secret}/latest");
        let head = format!("HTTP/1.1 307 x\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let refused = ask(serve(head, None)).unwrap_err();
        assert!(refused.contains("another host"), "{refused}");
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned();
        let refused = ask(serve(head, Some(&[b'x'; 65536]))).unwrap_err();
        assert!(refused.contains("limit"), "{refused}");
    }
}
