//! Environment variables of MongoDB's container image and of Azure's emulator. They are read if the
//! corresponding `EBB_` variable is not set. A warning names variables that have no corresponding
//! setting.

use std::ffi::OsString;

use clap::Arg;

/// Settings with the environment variables that are read for them.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("root-user", "MONGO_INITDB_ROOT_USERNAME"),
    ("root-password-file", "MONGO_INITDB_ROOT_PASSWORD_FILE"),
    ("cosmos-addr", "PORT"),
    ("key-file", "KEY_FILE"),
    ("data-dir", "DATA_PATH"),
    ("account-endpoint", "GATEWAY_PUBLIC_ENDPOINT"),
    #[cfg(feature = "otlp")]
    ("otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"),
];

/// Environment variables of Azure's emulator that are ignored, each with a hint at the replacement.
const WITHOUT_MEANING: &[(&str, &str)] = &[
    ("PROTOCOL", "HTTP and HTTPS are served at the same address"),
    ("CERT_PATH", "give --tls-cert and --tls-key, files in PEM"),
    ("ENABLE_EXPLORER", "the portal is at --admin-addr; --explorer-dir serves another explorer"),
    ("EXPLORER_PORT", "the portal is at --admin-addr"),
];

/// Returns the value of an environment variable, if it is set and not empty.
fn value_of(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the `EBB_` variable of a setting.
pub(super) fn own_name(setting: &str) -> String {
    format!("EBB_{}", setting.replace('-', "_").to_uppercase())
}

/// Returns the variable of another system from which a setting is read; `None` if the setting's
/// `EBB_` variable is set, which has precedence, or no such variable is set.
pub(super) fn other_name(setting: &str) -> Option<&'static str> {
    if std::env::var_os(own_name(setting)).is_some() {
        return None;
    }
    let of_setting = |(name, _): &&(&str, &str)| *name == setting;
    let (_, other) = OTHER_NAMES.iter().find(of_setting)?;
    value_of(other).map(|_| *other)
}

/// Makes a flag read the variable of another system if its own variable is not set.
pub(super) fn with_other_name(arg: Arg) -> Arg {
    match other_name(arg.get_long().unwrap_or_default()) {
        Some(other) => arg.env(other),
        None => arg,
    }
}

/// Returns warnings about variables that are set and ignored.
pub(super) fn without_meaning() -> Vec<String> {
    let set = WITHOUT_MEANING.iter().filter(|(name, _)| value_of(name).is_some());
    set.map(|(name, why)| format!("the variable {name} is ignored: {why}")).collect()
}
