//! Headings of the settings in `ebb serve --help`. A test fails for a setting without a heading.

/// The headings in order, each with its settings.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "Storage",
        &[
            "data-dir",
            "in-memory",
            "backup-journal",
            "change-log-size",
            "index-unused-days",
            "accept-loss",
            "memory",
            "old-views-disk",
        ],
    ),
    (
        "Addresses",
        &[
            "mongo-addr",
            "mongo-topology",
            "repl-set",
            "advertise",
            "cosmos-addr",
            "admin-addr",
            "cosmos-host",
            "admin-host",
            "account-endpoint",
            "cosmos-direct",
            "cosmos-direct-advertise",
            "explorer-dir",
            "ready-file",
        ],
    ),
    (
        "Access",
        &[
            "key-file",
            "account-name",
            "mongo-auth",
            "mongo-no-auth",
            "root-user",
            "root-password-file",
            "cosmos-roles",
            "audit-file",
        ],
    ),
    (
        "TLS",
        &[
            "tls-cert",
            "tls-key",
            "mongo-tls",
            "admin-tls",
            "cosmos-tls",
            "tls-client-ca",
            "tls-client-cert",
        ],
    ),
    (
        "Time",
        &[
            "clock",
            "per-document-ttl",
            "reap-delay",
            "change-retention",
            "max-forward-jump",
            "test-wall",
            "test-boot",
        ],
    ),
    (
        "Limits",
        &[
            "enforce-throughput",
            "max-time-ms",
            "max-connections",
            "max-cursors",
            "max-message",
            "max-body",
        ],
    ),
    ("Log", &["log-format", "log-level", "slow-ms", "otlp-endpoint"]),
    (
        "A node of a cluster",
        &[
            "store",
            "cassandra-contact-points",
            "cassandra-keyspace",
            "cassandra-datacenter",
            "cassandra-user",
            "cassandra-password-file",
            "cassandra-ca",
            "cassandra-cert",
            "cassandra-cert-key",
            "accept-unsynced",
            "peer-addr",
            "peer-advertise",
            "peer-ca",
            "peer-cert",
            "peer-key",
            "node-name",
        ],
    ),
];

/// Returns the heading of a setting and the setting's position in the list of all settings; `None`
/// if it is unknown.
pub(super) fn heading_of(setting: &str) -> Option<(&'static str, usize)> {
    let all =
        HEADINGS.iter().flat_map(|(heading, names)| names.iter().map(move |name| (heading, name)));
    let found = all.enumerate().find(|(_, (_, name))| **name == setting);
    found.map(|(place, (heading, _))| (*heading, place))
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::{super::add_flags, *};

    #[test]
    fn every_setting_has_a_heading_and_every_heading_settings() {
        let serve = add_flags(Command::new("serve"));
        let settings: Vec<&str> = serve.get_arguments().filter_map(|arg| arg.get_long()).collect();
        for name in &settings {
            assert!(heading_of(name).is_some(), "{name} has no heading in settings/headings.rs");
        }
        for (_, names) in HEADINGS {
            for name in *names {
                assert!(settings.contains(name), "{name} is no setting");
            }
        }
        assert_eq!(heading_of("config"), None);
    }

    #[test]
    fn headings_are_shown_in_their_order() {
        let help = add_flags(Command::new("serve")).render_help().to_string();
        let mut rest = help.as_str();
        for (heading, names) in HEADINGS {
            let (_, after) = rest.split_once(&format!("\n{heading}:\n")).unwrap();
            let own = after.split("\n\n").next().unwrap();
            for name in names.iter().filter(|name| !name.starts_with("test-")) {
                assert!(own.contains(&format!("--{name}")), "{heading} {name}: {own}");
            }
            rest = after;
        }
    }
}
