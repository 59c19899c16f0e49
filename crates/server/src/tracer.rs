//! Whoever traces operations, if the settings want it and the program was built with it.

use traces::Tracer;

use crate::{config::Config, failure::Failure};

/// Traces that are sent, and whose rest is sent at the end.
#[derive(Clone, Default)]
pub(crate) struct Traces {
    #[cfg(feature = "otlp")]
    spans: Option<std::sync::Arc<crate::otlp::Spans>>,
}

impl Traces {
    /// Opens the way to a collector where one is set. Fails where the program cannot do so.
    pub(crate) fn open(config: &Config) -> Result<Self, Failure> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(Self::default()) };
        Self::to(endpoint)
    }

    #[cfg(feature = "otlp")]
    fn to(endpoint: &str) -> Result<Self, Failure> {
        let name = crate::machine::node_name();
        Ok(Self { spans: Some(crate::otlp::Spans::open(endpoint, name)?) })
    }

    #[cfg(not(feature = "otlp"))]
    fn to(_: &str) -> Result<Self, Failure> {
        let text = "--otlp-endpoint: this program was built without OpenTelemetry: build it with \
                    --features otlp";
        Err(Failure::Usage(text.to_owned()))
    }

    /// What the APIs tell of their operations.
    pub(crate) fn tracer(&self) -> Tracer {
        #[cfg(feature = "otlp")]
        return self.spans.clone().map(|spans| spans as std::sync::Arc<dyn traces::Trace>);
        #[cfg(not(feature = "otlp"))]
        None
    }

    /// Sends what waits, for a short while.
    pub(crate) async fn end(self) {
        #[cfg(feature = "otlp")]
        if let Some(spans) = self.spans {
            let _ = tokio::task::spawn_blocking(move || spans.end()).await;
        }
    }
}
