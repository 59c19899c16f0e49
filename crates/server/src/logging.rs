//! Logging to standard error; the last lines are kept for `getLog`. Never logs a payload or a secret.

use std::{
    io::{self, IsTerminal},
    sync::OnceLock,
};

use server_base::config::{Config, LogFormat};
use tracing_subscriber::{
    Registry,
    filter::LevelFilter,
    fmt::{
        self,
        format::{DefaultFields, Format},
    },
    layer::SubscriberExt,
    registry, reload,
};

use crate::recent_lines::RecentLines;

/// Handle to change the level of the process's logger.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

/// Returns the configured log level. An unknown level counts as `info`.
fn level_of(config: &Config) -> LevelFilter {
    config.log_level.parse().unwrap_or(LevelFilter::INFO)
}

/// Changes the level of the process's logger to the configured one.
pub(crate) fn change_level(config: &Config) {
    if let Some(Err(error)) = LEVEL.get().map(|level| level.reload(level_of(config))) {
        tracing::error!(%error, "the log level was not changed");
    }
}

/// Returns the layer that writes lines to standard error. Colours only on a terminal.
fn lines<S>() -> fmt::Layer<S, DefaultFields, Format, fn() -> io::Stderr> {
    let lines = fmt::layer().with_writer(io::stderr as fn() -> io::Stderr);
    lines.with_ansi(io::stderr().is_terminal())
}

/// Starts logging as configured, once per process.
pub(crate) fn start_logging(config: &Config) {
    let Some(format) = config.log_format else { return };
    let (filter, level) = reload::Layer::new(level_of(config));
    let filtered = registry().with(filter);
    // Comes first, since layers of one format share the text of a span's fields, here without
    // colours.
    let kept = fmt::layer().with_writer(|| RecentLines).with_ansi(false);
    let started = match format {
        LogFormat::Text => {
            tracing::subscriber::set_global_default(filtered.with(kept).with(lines()))
        }
        LogFormat::Json => {
            let lines = lines().json();
            tracing::subscriber::set_global_default(filtered.with(kept.json()).with(lines))
        }
    };
    // A second server in the same process keeps the first one's logger.
    if started.is_ok() {
        let _ = LEVEL.set(level);
    }
}
