//! Optional export of traces, if configured and compiled in.

use server_base::{config::Config, failure::Failure};
use traces::Tracer;

/// The exporter of traces, if any.
#[derive(Clone, Default)]
pub(crate) struct Traces {
    #[cfg(feature = "otlp")]
    spans: Option<std::sync::Arc<crate::otlp::Spans>>,
}

impl Traces {
    /// Sets up the export if configured. Fails if it is configured but not compiled in.
    pub(crate) fn open(config: &Config) -> Result<Self, Failure> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(Self::default()) };
        Self::to(endpoint)
    }

    #[cfg(feature = "otlp")]
    fn to(endpoint: &str) -> Result<Self, Failure> {
        let name = server_base::machine::node_name();
        Ok(Self { spans: Some(crate::otlp::Spans::open(endpoint, name)?) })
    }

    #[cfg(not(feature = "otlp"))]
    fn to(_: &str) -> Result<Self, Failure> {
        let text = "--otlp-endpoint: this program was built without OpenTelemetry: build it with \
                    --features otlp";
        Err(Failure::Usage(text.to_owned()))
    }

    /// Returns the tracer to which the APIs report finished operations.
    pub(crate) fn tracer(&self) -> Tracer {
        #[cfg(feature = "otlp")]
        return self.spans.clone().map(|spans| spans as std::sync::Arc<dyn traces::Trace>);
        #[cfg(not(feature = "otlp"))]
        None
    }

    /// Flushes pending traces, within a time limit.
    pub(crate) async fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(spans) = self.spans {
            let _ = tokio::task::spawn_blocking(move || spans.end()).await;
        }
    }
}
