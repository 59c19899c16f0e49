//! Variables of other systems: of MongoDB's container image, and of Azure's emulator. They stand for
//! settings of ours where the variable of ours is not set; those that mean nothing here are named.

use std::ffi::OsString;

use clap::Arg;

/// Variables, and the settings that they stand for.
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

/// Variables of Azure's emulator that mean nothing here, and why.
const WITHOUT_MEANING: &[(&str, &str)] = &[
    ("PROTOCOL", "HTTP and HTTPS are spoken at the same address"),
    ("CERT_PATH", "give --tls-cert and --tls-key, files in PEM"),
    ("ENABLE_EXPLORER", "the portal is at --admin-addr; --explorer-dir serves another explorer"),
    ("EXPLORER_PORT", "the portal is at --admin-addr"),
];

/// The value of a variable, where it is set and not empty.
fn value_of(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The variable of ours that a setting is read from.
pub(super) fn own_name(setting: &str) -> String {
    format!("EBB_{}", setting.replace('-', "_").to_uppercase())
}

/// The variable of another system that a setting is read from. Its own, `EBB_DATA_DIR` of `data-dir`, goes
/// before that.
pub(super) fn other_name(setting: &str) -> Option<&'static str> {
    if std::env::var_os(own_name(setting)).is_some() {
        return None;
    }
    let of_setting = |(name, _): &&(&str, &str)| *name == setting;
    let (_, other) = OTHER_NAMES.iter().find(of_setting)?;
    value_of(other).map(|_| *other)
}

/// Has a setting read from the variable of another system where its own is not set.
pub(super) fn with_other_name(arg: Arg) -> Arg {
    match other_name(arg.get_long().unwrap_or_default()) {
        Some(other) => arg.env(other),
        None => arg,
    }
}

/// Sentences about variables that are set and mean nothing here.
pub(super) fn without_meaning() -> Vec<String> {
    let set = WITHOUT_MEANING.iter().filter(|(name, _)| value_of(name).is_some());
    set.map(|(name, why)| format!("the variable {name} is ignored: {why}")).collect()
}
