//! Settings of `ebb serve`: flag, then environment, then file, then default, each with its source.

use std::{collections::BTreeMap, io::IsTerminal, path::PathBuf, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, parser::ValueSource};
use server::{ClockMode, Config, LEAST_MEMORY, LogFormat, REAP_DELAY};

/// One setting: a flag, an environment variable and a key of the file, all of one name.
struct Setting {
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
}

/// What stands for the value of a setting that may be given several times.
const LIST: &str = "NAME,...";

const SETTINGS: &[Setting] = &[
    setting("data-dir", "PATH", "./ebb-data", "Where data lives; made when it is missing"),
    setting("in-memory", "BOOL", "false", "Keep nothing; excludes --data-dir"),
    setting("mongo-addr", "HOST:PORT", "127.0.0.1:27017", "Address of the MongoDB door, or 'off'"),
    setting(
        "mongo-no-auth",
        "BOOL",
        "false",
        "Let other machines reach the MongoDB door, which asks nobody who they are",
    ),
    setting("cosmos-addr", "HOST:PORT", "127.0.0.1:8081", "Address of the NoSQL door, or 'off'"),
    setting(
        "cosmos-host",
        LIST,
        "",
        "Names that it answers to with the key that everybody knows, beside addresses, localhost and \
         the machine's name",
    ),
    setting(
        "account-endpoint",
        "URL",
        "",
        "Where clients of the NoSQL door are sent [the address they came to]",
    ),
    setting(
        "key-file",
        "PATH",
        "",
        "Keys of the NoSQL door, in lines like 'primary = BASE64'; see the README [the one that \
         everybody knows]",
    ),
    setting("tls-cert", "PATH", "", "Certificate of the NoSQL door [one that is made]"),
    setting("tls-key", "PATH", "", "Key of that certificate"),
    setting(
        "enforce-throughput",
        "BOOL",
        "false",
        "Answer 429 where requests about items exceed the throughput of their container",
    ),
    setting(
        "admin-addr",
        "HOST:PORT",
        "127.0.0.1:8080",
        "Address of the portal, health and metrics, or 'off'",
    ),
    setting(
        "admin-host",
        LIST,
        "",
        "Names that this address answers to, beside addresses, localhost and the machine's name",
    ),
    setting("explorer-dir", "PATH", "", "Files that are served at /_explorer/ [none]"),
    setting("clock", "system|manual", "system", "How the database clock moves"),
    setting("ready-file", "PATH", "", "Written once every listener accepts"),
    setting(
        "reap-delay",
        "SECONDS",
        "",
        "How long a document has been dead before its bytes may go [60; 0 on a manual clock]",
    ),
    setting(
        "per-document-ttl",
        "on|off",
        "on",
        "Whether a MongoDB document's own ttl is interpreted; goes before what was switched",
    ),
    setting(
        "memory",
        "SIZE",
        "",
        "Memory that the process may hold, with k, m or g [a quarter of the machine's, 512m to 2g]",
    ),
    // By how many milliseconds the wall clock is off, in a file: for tests of its steps.
    setting("test-wall", "PATH", "", ""),
    setting("accept-loss", "BOOL", "false", "Start although commits are missing from damaged data"),
    setting(
        "log-format",
        "text|json",
        "",
        "How log lines look [text on a terminal, json elsewhere]",
    ),
    setting("log-level", "LEVEL", "info", "error, warn, info, debug or trace"),
];

const fn setting(
    name: &'static str,
    value_name: &'static str,
    default: &'static str,
    help: &'static str,
) -> Setting {
    Setting { name, value_name, default, help }
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Flag,
    Environment,
    File,
    Default,
}

/// Values by name, with their sources.
#[derive(Debug, Default)]
pub(crate) struct Settings(BTreeMap<&'static str, (String, Source)>);

/// A wrong value, and which setting it is of.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String);

/// The flags of `ebb serve`.
pub(crate) fn args() -> Vec<Arg> {
    let flag = |setting: &Setting| {
        let variable = format!("EBB_{}", setting.name.to_uppercase().replace('-', "_"));
        let arg = Arg::new(setting.name)
            .long(setting.name)
            .env(clap::builder::OsStr::from(variable))
            .value_name(setting.value_name)
            .help(if setting.default.is_empty() {
                setting.help.to_owned()
            } else {
                format!("{} [{}]", setting.help, setting.default)
            })
            .allow_hyphen_values(true)
            .hide(setting.help.is_empty())
            .action(ArgAction::Set);
        if setting.value_name == LIST {
            arg.action(ArgAction::Append)
        } else if setting.value_name == "BOOL" {
            arg.num_args(0..=1).default_missing_value("true").require_equals(true)
        } else {
            arg
        }
    };
    SETTINGS.iter().map(flag).collect()
}

impl Settings {
    /// Gathers values from what was typed, the environment and a file.
    pub(crate) fn gather(matches: &ArgMatches, file: Option<&str>) -> Result<Self, Wrong> {
        let file: toml::Table = match file {
            None => toml::Table::new(),
            Some(text) => text.parse().map_err(|error| Wrong(format!("--config: {error}")))?,
        };
        for name in file.keys() {
            if !SETTINGS.iter().any(|setting| setting.name == name) {
                return Err(Wrong(format!("--config: there is no setting '{name}'")));
            }
        }
        let mut settings = Self::default();
        for setting in SETTINGS {
            let typed = matches.get_many::<String>(setting.name);
            let typed = typed.map(|all| all.cloned().collect::<Vec<_>>().join(","));
            let value = match (typed, file.get(setting.name)) {
                (Some(value), _) => {
                    let from_env =
                        matches.value_source(setting.name) == Some(ValueSource::EnvVariable);
                    (value, if from_env { Source::Environment } else { Source::Flag })
                }
                (None, Some(value)) => (plain(value), Source::File),
                (None, None) => (setting.default.to_owned(), Source::Default),
            };
            settings.0.insert(setting.name, value);
        }
        Ok(settings)
    }

    /// The values and where each came from, as `--print-config` shows them.
    pub(crate) fn print(&self) -> String {
        let mut out = String::new();
        for (name, (value, source)) in &self.0 {
            let source = match source {
                Source::Flag => "flag",
                Source::Environment => "environment",
                Source::File => "file",
                Source::Default => "default",
            };
            out.push_str(&format!("{name} = {value:?} # {source}\n"));
        }
        out
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |(value, _)| value)
    }

    fn is_set(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|(_, source)| *source != Source::Default)
    }

    fn bool(&self, name: &str) -> Result<bool, Wrong> {
        match self.text(name) {
            "true" | "1" | "on" | "yes" => Ok(true),
            "false" | "0" | "off" | "no" => Ok(false),
            other => Err(Wrong(format!("--{name}: '{other}' is neither true nor false"))),
        }
    }

    fn address(&self, name: &str) -> Result<Option<String>, Wrong> {
        match self.text(name) {
            "off" => Ok(None),
            address
                if address
                    .rsplit_once(':')
                    .is_some_and(|(_, port)| port.parse::<u16>().is_ok()) =>
            {
                Ok(Some(address.to_owned()))
            }
            other => Err(Wrong(format!("--{name}: '{other}' is not HOST:PORT or 'off'"))),
        }
    }

    /// Names of hosts, without ports.
    fn names(&self, name: &str) -> Result<Vec<String>, Wrong> {
        let names = self.text(name).split(',').map(str::trim).filter(|host| !host.is_empty());
        let names = names.map(|host| match host.contains([':', '/', '*', ' ']) {
            true => Err(Wrong(format!("--{name}: '{host}' is not the name of a host"))),
            false => Ok(host.to_owned()),
        });
        names.collect()
    }

    /// The address of a server as clients know it, with a slash at its end.
    fn endpoint(&self, name: &str) -> Result<Option<String>, Wrong> {
        let text = self.text(name).trim();
        if text.is_empty() {
            return Ok(None);
        }
        let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let host = host.map(|host| host.strip_suffix('/').unwrap_or(host));
        let is_host = |host: &str| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
            !host.is_empty() && host.bytes().all(known)
        };
        match host.is_some_and(is_host) {
            true => Ok(Some(format!("{}/", text.trim_end_matches('/')))),
            false => Err(Wrong(format!("--{name}: '{text}' is not http(s)://HOST[:PORT]"))),
        }
    }

    /// Bytes, with a suffix for powers of 1024.
    fn size(&self, name: &str) -> Result<Option<usize>, Wrong> {
        let text = self.text(name).trim();
        if text.is_empty() {
            return Ok(None);
        }
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let shift = match text.get(digits.len()..).unwrap_or("").to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            _ => u32::MAX,
        };
        let unit = 1_usize.checked_shl(shift);
        let bytes = digits.trim().parse::<usize>().ok().zip(unit);
        let bytes = bytes.and_then(|(count, unit)| count.checked_mul(unit));
        let wrong = |why: &str| Wrong(format!("--{name}: '{text}' {why}"));
        match bytes {
            None => Err(wrong("is not a size such as 900m or 2g")),
            Some(bytes) if bytes < LEAST_MEMORY => {
                Err(wrong(&format!("is too little: at least {}m", LEAST_MEMORY >> 20)))
            }
            Some(bytes) => Ok(Some(bytes)),
        }
    }

    /// What the values mean.
    pub(crate) fn config(&self) -> Result<Config, Wrong> {
        let in_memory = self.bool("in-memory")?;
        if in_memory && self.is_set("data-dir") {
            return Err(Wrong("--in-memory and --data-dir exclude each other".to_owned()));
        }
        let clock = match self.text("clock") {
            "system" => ClockMode::System,
            "manual" => ClockMode::Manual,
            other => return Err(Wrong(format!("--clock: '{other}' is not system or manual"))),
        };
        let reap_delay = match (self.text("reap-delay"), clock) {
            ("", ClockMode::System) => REAP_DELAY,
            ("", ClockMode::Manual) => Duration::ZERO,
            (text, _) => text
                .parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .ok_or_else(|| {
                    Wrong(format!("--reap-delay: '{text}' is not a number of seconds"))
                })?,
        };
        let log_format = match self.text("log-format") {
            "text" => LogFormat::Text,
            "json" => LogFormat::Json,
            "" if std::io::stderr().is_terminal() => LogFormat::Text,
            "" => LogFormat::Json,
            other => return Err(Wrong(format!("--log-format: '{other}' is not text or json"))),
        };
        let log_level = self.text("log-level").to_owned();
        if !["error", "warn", "info", "debug", "trace"].contains(&log_level.as_str()) {
            return Err(Wrong(format!("--log-level: '{log_level}' is not a level")));
        }
        let path =
            |name: &str| Some(self.text(name)).filter(|path| !path.is_empty()).map(PathBuf::from);
        let (tls_cert, tls_key) = (path("tls-cert"), path("tls-key"));
        if tls_cert.is_some() != tls_key.is_some() {
            return Err(Wrong("--tls-cert and --tls-key belong together".to_owned()));
        }
        Ok(Config {
            data_dir: (!in_memory).then(|| PathBuf::from(self.text("data-dir"))),
            mongo_addr: self.address("mongo-addr")?,
            mongo_no_auth: self.bool("mongo-no-auth")?,
            cosmos_addr: self.address("cosmos-addr")?,
            cosmos_hosts: self.names("cosmos-host")?,
            account_endpoint: self.endpoint("account-endpoint")?,
            key_file: path("key-file"),
            tls_cert,
            tls_key,
            enforce_throughput: self.bool("enforce-throughput")?,
            admin_addr: self.address("admin-addr")?,
            admin_hosts: self.names("admin-host")?,
            explorer_dir: path("explorer-dir"),
            clock,
            ready_file: path("ready-file"),
            reap_delay,
            log_format: Some(log_format),
            log_level,
            banner: std::io::stdout().is_terminal(),
            per_document_ttl: match self.is_set("per-document-ttl") {
                true => Some(self.bool("per-document-ttl")?),
                false => None,
            },
            accept_loss: self.bool("accept-loss")?,
            test_wall: path("test-wall"),
            memory: self.size("memory")?,
        })
    }
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(typed: &[&str], file: Option<&str>) -> Result<Settings, Wrong> {
        let command = clap::Command::new("serve").no_binary_name(true).args(args());
        Settings::gather(&command.try_get_matches_from(typed).unwrap(), file)
    }

    fn config(typed: &[&str], file: Option<&str>) -> Result<Config, String> {
        gather(typed, file).and_then(|settings| settings.config()).map_err(|wrong| wrong.0)
    }

    #[test]
    fn a_flag_beats_the_file_and_the_file_beats_the_default() {
        let file = "clock = \"manual\"\nmongo-addr = \"127.0.0.1:1\"\nreap-delay = 5";
        let found = config(&["--mongo-addr", "127.0.0.1:2"], Some(file)).unwrap();
        assert_eq!(found.mongo_addr.as_deref(), Some("127.0.0.1:2"));
        assert_eq!((found.clock, found.reap_delay), (ClockMode::Manual, Duration::from_secs(5)));
        let found = config(&["--clock", "manual", "--admin-addr", "off"], None).unwrap();
        assert_eq!((found.reap_delay, found.admin_addr), (Duration::ZERO, None));
        assert_eq!(config(&[], None).unwrap().reap_delay, Duration::from_secs(60));
        for (typed, want) in [(&[][..], false), (&["--enforce-throughput"], true)] {
            assert_eq!(config(typed, None).unwrap().enforce_throughput, want);
        }
        for (typed, file, want) in [
            (&[][..], None, None),
            (&["--per-document-ttl", "off"], None, Some(false)),
            (&["--per-document-ttl", "on"], Some("per-document-ttl = \"off\""), Some(true)),
            (&[], Some("per-document-ttl = \"off\""), Some(false)),
        ] {
            assert_eq!(config(typed, file).unwrap().per_document_ttl, want, "{typed:?} {file:?}");
        }
        for (typed, file, want) in [
            (&[][..], None, &[][..]),
            (&["--admin-host", "a", "--admin-host", "b, c"], None, &["a", "b", "c"]),
            (&[], Some("admin-host = [\"a\", \"b\"]"), &["a", "b"]),
            (&["--admin-host", "a"], Some("admin-host = \"b\""), &["a"]),
        ] {
            assert_eq!(config(typed, file).unwrap().admin_hosts, want, "{typed:?}");
        }
        for (typed, want) in [
            (&[][..], None),
            (&["--account-endpoint", "https://db.example"], Some("https://db.example/")),
            (&["--account-endpoint", "http://[::1]:8081/"], Some("http://[::1]:8081/")),
        ] {
            assert_eq!(config(typed, None).unwrap().account_endpoint.as_deref(), want, "{typed:?}");
        }
        for (typed, want) in [
            (&[][..], None),
            (&["--memory", "512m"], Some(512 << 20)),
            (&["--memory", "2G"], Some(2 << 30)),
            (&["--memory", "262144k"], Some(256 << 20)),
            (&["--memory", "300000000"], Some(300_000_000)),
        ] {
            assert_eq!(config(typed, None).unwrap().memory, want, "{typed:?}");
        }
        let printed = gather(&["--clock", "manual"], Some(file)).unwrap().print();
        assert!(printed.contains("clock = \"manual\" # flag"), "{printed}");
        assert!(printed.contains("reap-delay = \"5\" # file"), "{printed}");
    }

    #[test]
    fn wrong_values_name_their_setting() {
        for (typed, file, name) in [
            (&["--clock", "lunar"][..], None, "--clock"),
            (&["--mongo-addr", "nowhere"], None, "--mongo-addr"),
            (&["--reap-delay", "-1"], None, "--reap-delay"),
            (&["--reap-delay", "NaN"], None, "--reap-delay"),
            (&["--log-level", "loud"], None, "--log-level"),
            (&["--in-memory", "--data-dir", "x"], None, "--in-memory"),
            (&["--tls-cert", "x"], None, "--tls-key"),
            (&["--per-document-ttl", "maybe"], None, "--per-document-ttl"),
            (&["--admin-host", "http://x"], None, "--admin-host"),
            (&["--account-endpoint", "db.example:443"], None, "--account-endpoint"),
            (&["--account-endpoint", "ftp://db.example"], None, "--account-endpoint"),
            (&["--account-endpoint", "https://"], None, "--account-endpoint"),
            (&["--account-endpoint", "https://db.example/x"], None, "--account-endpoint"),
            (&["--account-endpoint", "https://a@db.example"], None, "--account-endpoint"),
            (&["--memory", "much"], None, "--memory"),
            (&["--memory", "1t"], None, "--memory"),
            (&["--memory", "-1g"], None, "--memory"),
            (&["--memory", "127m"], None, "--memory"),
            (&["--memory", "99999999999999999999g"], None, "--memory"),
            (&["--memory", "99999999999999999g"], None, "--memory"),
            (&[], Some("colour = 1"), "colour"),
            (&[], Some("clock ="), "--config"),
        ] {
            let wrong = config(typed, file).unwrap_err();
            assert!(wrong.contains(name), "{typed:?}: {wrong}");
        }
    }
}
