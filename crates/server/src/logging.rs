//! Logging to standard error. Never logs a payload or a secret.

use std::{io::IsTerminal, sync::OnceLock};

use tracing_subscriber::{
    Registry, filter::LevelFilter, fmt, layer::SubscriberExt, registry, reload,
};

use crate::config::{Config, LogFormat};

/// Handle to change the level of the process's logger.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

/// Returns the configured level; an unknown one counts as `info`.
fn level_of(config: &Config) -> LevelFilter {
    config.log_level.parse().unwrap_or(LevelFilter::INFO)
}

/// Changes the level of the process's logger to the configured one.
pub(crate) fn change_level(config: &Config) {
    if let Some(Err(error)) = LEVEL.get().map(|level| level.reload(level_of(config))) {
        tracing::error!(%error, "the log level was not changed");
    }
}

/// Starts logging as configured, once per process. Colours only on a terminal.
pub(crate) fn start_logging(config: &Config) {
    let Some(format) = config.log_format else { return };
    let (filter, level) = reload::Layer::new(level_of(config));
    let (filtered, lines) = (registry().with(filter), fmt::layer());
    let lines = lines.with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let started = match format {
        LogFormat::Text => tracing::subscriber::set_global_default(filtered.with(lines)),
        LogFormat::Json => tracing::subscriber::set_global_default(filtered.with(lines.json())),
    };
    // A second server in the same process keeps the first one's logger.
    if started.is_ok() {
        let _ = LEVEL.set(level);
    }
}
