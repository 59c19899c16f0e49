//! Log lines to standard error. Never a payload, never a secret.

use std::io::IsTerminal;

use crate::config::{Config, LogFormat};

/// Starts logging as the configuration says, once a process. A level that is not known counts as
/// `info`. Colours only where a person reads.
pub(crate) fn start_logging(config: &Config) {
    let level = config.log_level.parse().unwrap_or(tracing::Level::INFO);
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    let builder = builder.with_ansi(std::io::stderr().is_terminal());
    // A second server in one process keeps the first one's logger.
    let _ = match config.log_format {
        None => return,
        Some(LogFormat::Text) => tracing::subscriber::set_global_default(builder.finish()),
        Some(LogFormat::Json) => tracing::subscriber::set_global_default(builder.json().finish()),
    };
}
