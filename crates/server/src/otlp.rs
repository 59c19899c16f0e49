//! Exports traces of operations to an OpenTelemetry collector over HTTP (OTLP): one span per
//! operation, a child of the client's span if it names one. Spans wait in a bounded queue and are
//! dropped when it is full, so that no operation waits for a collector.
//!
//! Sampling, headers and the service name follow the `OTEL_...` variables, which the library reads.

use std::{
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use clock::{ClockSource as _, Machine};
use opentelemetry::{
    Context, KeyValue,
    propagation::{Extractor, TextMapPropagator as _},
    trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{SdkTracer, SdkTracerProvider},
};
use server_base::failure::{Failure, failed};
use traces::{Operation, Trace};

/// Path of the traces endpoint of a collector.
const PATH: &str = "/v1/traces";
/// Maximum time that a shutdown waits until pending spans are sent.
const LAST: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Spans {
    tracer: SdkTracer,
    provider: SdkTracerProvider,
}

impl Spans {
    /// Sets up the export; the collector need not be reachable and nothing is sent yet.
    pub(crate) fn open(endpoint: &str, name: String) -> Result<Arc<Self>, Failure> {
        let endpoint = address(endpoint);
        let made = thread::scope(|scope| scope.spawn(|| make_provider(&endpoint, name)).join());
        let made = made.map_err(|_| failed("--otlp-endpoint: the exporter thread failed"))?;
        let provider = made.map_err(|why| Failure::Usage(format!("--otlp-endpoint: {why}")))?;
        let tracer = provider.tracer("ebb");
        Ok(Arc::new(Self { tracer, provider }))
    }

    /// Flushes pending spans, within a time limit. Blocks the thread.
    pub(crate) fn end(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Returns the URL that spans are sent to; an explicit path is kept.
fn address(endpoint: &str) -> String {
    let host = endpoint.split_once("://").map_or(endpoint, |(_, host)| host);
    match host.trim_end_matches('/').contains('/') {
        true => endpoint.to_owned(),
        false => format!("{}{PATH}", endpoint.trim_end_matches('/')),
    }
}

/// Creates the library's provider. Needs its own thread: the HTTP client starts a runtime.
fn make_provider(endpoint: &str, name: String) -> Result<SdkTracerProvider, String> {
    let exporter = SpanExporter::builder().with_http().with_endpoint(endpoint).build();
    let exporter = exporter.map_err(|error| error.to_string())?;
    let resource = Resource::builder().with_attributes([
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", name),
    ]);
    // `OTEL_SERVICE_NAME`, which the library reads, takes precedence over the name `ebb`.
    let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
        Some(_) => resource,
        None => resource.with_service_name("ebb"),
    };
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter);
    Ok(provider.with_resource(resource.build()).build())
}

/// A `traceparent` header as the library's extractor expects it.
struct Parent<'a>(&'a str);

impl Extractor for Parent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == "traceparent").then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent"]
    }
}

/// Returns the client's trace context, or an empty context if it is missing or malformed.
fn context_of(parent: Option<&str>) -> Context {
    let Some(parent) = parent else { return Context::new() };
    TraceContextPropagator::new().extract_with_context(&Context::new(), &Parent(parent))
}

impl Trace for Spans {
    fn note(&self, operation: &Operation<'_>) {
        let ended = now();
        let began = ended.checked_sub(operation.took).unwrap_or(ended);
        let context = context_of(operation.parent);
        let names = [operation.name, operation.collection];
        let title = names.into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>();
        let builder = self.tracer.span_builder(title.join(" "));
        let builder = builder.with_kind(SpanKind::Server).with_start_time(began);
        let builder = builder.with_attributes(attributes_of(operation));
        let mut span = builder.start_with_context(&self.tracer, &context);
        if operation.failed {
            span.set_status(Status::error(operation.code.to_string()));
        }
        span.end_with_timestamp(ended);
    }
}

/// Returns wall-clock time, not database time: collectors order spans of many machines by it.
fn now() -> SystemTime {
    let ms = u64::try_from(Machine.wall_ms()).unwrap_or(0);
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns a span's attributes, named by OpenTelemetry's conventions where those exist.
fn attributes_of(operation: &Operation<'_>) -> Vec<KeyValue> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let texts = [
        ("db.system.name", operation.system),
        ("db.operation.name", operation.name),
        ("db.namespace", operation.database),
        ("db.collection.name", operation.collection),
        ("network.protocol.name", operation.protocol),
        ("user_agent.original", operation.client),
        ("ebb.request", operation.request),
        ("ebb.plan", operation.plan),
    ];
    let known = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut found: Vec<_> =
        known.map(|(name, text)| KeyValue::new(name, text.to_owned())).collect();
    found.push(KeyValue::new("db.response.status_code", operation.code.to_string()));
    found.push(KeyValue::new("db.response.returned_rows", number(operation.returned)));
    found.push(KeyValue::new("ebb.examined", number(operation.examined)));
    if operation.failed {
        found.push(KeyValue::new("error.type", operation.code.to_string()));
    }
    found.extend(operation.charge.map(|units| KeyValue::new("ebb.request_charge", units)));
    found
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
    };

    use super::*;

    #[test]
    fn a_path_that_was_given_is_kept() {
        for (given, sent_to) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            ("https://c.example/otlp/v1/traces", "https://c.example/otlp/v1/traces"),
        ] {
            assert_eq!(address(given), sent_to);
        }
    }

    fn take_request(listener: &TcpListener) -> Vec<u8> {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut part = [0; 4096];
        loop {
            let read = stream.read(&mut part).unwrap();
            request.extend_from_slice(&part[..read]);
            let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
            let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().parse().unwrap();
            if head.len() + 4 + length <= request.len() {
                break;
            }
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        request
    }

    #[test]
    fn what_was_noted_is_sent_at_the_latest_at_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let collector = thread::spawn(move || take_request(&listener));
        let spans = Spans::open(&endpoint, "a node".to_owned()).unwrap();
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        spans.note(&Operation {
            system: "azure.cosmosdb",
            name: "ReadItem",
            database: "shop",
            collection: "orders",
            took: Duration::from_millis(5),
            code: 404,
            failed: true,
            examined: 1,
            returned: 0,
            plan: "",
            charge: Some(1.5),
            client: "test",
            request: "an id",
            protocol: "rntbd",
            relayed: false,
            parent: Some(parent),
        });
        spans.end();
        let request = collector.join().unwrap();
        // Protobuf contains texts and ids verbatim.
        let has = |wanted: &[u8]| request.windows(wanted.len()).any(|part| part == wanted);
        assert!(request.starts_with(b"POST /v1/traces HTTP/1.1\r\n"));
        for wanted in
            ["ReadItem orders", "db.namespace", "shop", "error.type", "404", "rntbd", "a node"]
        {
            assert!(has(wanted.as_bytes()), "{wanted}");
        }
        let trace = [0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21];
        assert!(has(&trace), "it belongs to the client's trace");
        assert!(!has(b"ebb.plan"), "what was not noted is left out");
    }

    #[test]
    fn a_parent_that_cannot_be_read_is_none() {
        use opentelemetry::trace::TraceContextExt as _;
        for parent in [None, Some(""), Some("00-0-0-0"), Some("\u{1F980}")] {
            assert!(!context_of(parent).span().span_context().is_valid(), "{parent:?}");
        }
    }
}
