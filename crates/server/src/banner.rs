//! The startup banner: where to connect and, on a terminal, lines to paste. Without a terminal the
//! same facts are plain lines for logs. Programs read the ready file instead; this text may change.

use std::{io::Write, time::Duration};

use admin::own_key;
use server_base::{
    config::{Banner, ClockMode, Config, TlsMode},
    ready::{Ready, is_reached},
};

/// A label and a text. The label is empty if the text continues the previous line.
type Fact = (&'static str, String);

/// Returns the portal's address, or why it is not available. Same rule as in
/// `admin/src/pages.rs`: with the emulator's well-known key the portal is served to this machine
/// only.
fn portal(config: &Config, url: &str, admin: &str) -> Fact {
    let everybody_has_the_key = config.key_file.is_none() && !config.mongo_auth;
    let text = if is_reached(admin) && everybody_has_the_key {
        format!("off: other machines can reach {url}; give a --key-file to enable it")
    } else if ::portal::BUILT {
        url.to_owned()
    } else {
        format!("not in this build; see {url}")
    };
    ("Portal", text)
}

/// Returns the account's key if it is the emulator's well-known key, otherwise a reference to the
/// key file, since printed text may end up in a log.
fn key(config: &Config) -> &'static str {
    match &config.key_file {
        None => cosmos::WELL_KNOWN_KEY,
        Some(_) => "(the first of --key-file)",
    }
}

/// Returns the facts about a server. Addresses are the bound ones, ready to paste.
fn facts(config: &Config, ready: &Ready, is_paused: bool) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(mongo) = &ready.mongo {
        let tls = if config.mongo_tls == TlsMode::Require { "&tls=true" } else { "" };
        facts.push(("MongoDB", format!("mongodb://{mongo}/?directConnection=true{tls}")));
        let asks = match config.mongo_auth {
            true => "authentication required",
            false => "open: no authentication required",
        };
        facts.push(("", asks.to_owned()));
    }
    if let Some(cosmos) = &ready.cosmos {
        let (key, scheme) = (key(config), config.cosmos_tls.http_scheme());
        facts.push(("NoSQL", format!("AccountEndpoint={scheme}://{cosmos}/;AccountKey={key}")));
        let with = "with the certificate at /_explorer/emulator.pem";
        match config.cosmos_tls {
            TlsMode::Off => {}
            TlsMode::Allow => facts.push(("", format!("https://{cosmos}/ {with}"))),
            TlsMode::Require => facts.push(("", format!("https only, {with}"))),
        }
        if config.serves_direct_mode() {
            let text = "direct mode: clients must trust the certificate: ebb cert export --help";
            facts.push(("", text.to_owned()));
        }
        if config.key_file.is_none() {
            let text = "public emulator key: no access protection";
            facts.push(("", text.to_owned()));
        }
    }
    if let Some(admin) = &ready.admin {
        let scheme = config.admin_tls.http_scheme();
        facts.push(portal(config, &format!("{scheme}://{admin}/"), admin));
        if let Some(path) = own_key::path(config) {
            facts.push(("", format!("requires the key in {}", path.display())));
        }
        facts.push(("Admin", format!("{scheme}://{admin}/status")));
    }
    let data = config
        .data_dir
        .as_ref()
        .map_or_else(|| "in memory only".to_owned(), |path| path.display().to_string());
    facts.push(("Data", data));
    if config.clock == ClockMode::Manual {
        let text = "manual: moves only by command";
        facts.push(("Clock", text.to_owned()));
    }
    if is_paused {
        facts.push(("Reaping", "paused: resume with ebb admin ttl resume".to_owned()));
    }
    facts
}

/// Returns example commands for the terminal.
fn examples(config: &Config, ready: &Ready) -> Vec<Fact> {
    let mut examples = Vec::new();
    if let Some(mongo) = &ready.mongo {
        examples.push(("mongosh", format!("mongosh mongodb://{mongo}/test")));
        let python = format!("from pymongo import MongoClient; MongoClient('mongodb://{mongo}/')");
        examples.push(("Python", python));
        examples.push(("Node", format!("new MongoClient('mongodb://{mongo}/')")));
    }
    if let (Some(cosmos), None) = (&ready.cosmos, &config.key_file) {
        let (key, scheme) = (cosmos::WELL_KNOWN_KEY, config.cosmos_tls.http_scheme());
        let import = "from azure.cosmos import CosmosClient";
        let python = format!("{import}; CosmosClient('{scheme}://{cosmos}/', '{key}')");
        examples.push(("NoSQL Python", python));
        let node = format!("new CosmosClient({{endpoint: '{scheme}://{cosmos}/', key: '{key}'}})");
        examples.push(("NoSQL Node", node));
        let account = format!("AccountEndpoint={scheme}://{cosmos}/;AccountKey={key}");
        let csharp = match config.serves_direct_mode() {
            // The SDK's default, direct mode, uses TLS.
            true => {
                format!("new CosmosClient(\"{account};DisableServerCertificateValidation=True\")")
            }
            false => format!(
                "new CosmosClient(\"{account}\", new() {{ ConnectionMode = \
                 ConnectionMode.Gateway }})"
            ),
        };
        examples.push(("NoSQL C#", csharp));
    }
    if let Some(admin) = &ready.admin {
        let url = format!("{}://{admin}/", config.admin_tls.http_scheme());
        if portal(config, &url, admin).1 == url {
            let text = format!("examples in Java, Go, Rust and C#: {url}");
            examples.push(("More", text));
        }
        let text = "ebb quickstart creates sample data that expires within a minute";
        examples.push(("Sample", text.to_owned()));
    }
    examples
}

/// Returns the text that the server prints when it has started.
fn text_of(config: &Config, ready: &Ready, is_paused: bool, took: Duration) -> String {
    let mut text = format!("EbbDB {}\n", ready.version);
    let facts = facts(config, ready, is_paused);
    if config.banner == Banner::Lines {
        let mut about = "";
        for (name, fact) in facts {
            about = if name.is_empty() { about } else { name };
            text.push_str(&format!("{about}: {fact}\n"));
        }
        return text;
    }
    let line = |(name, fact): Fact| format!("  {name:<14}{fact}\n");
    text.extend(facts.into_iter().map(line));
    text.push('\n');
    text.extend(examples(config, ready).into_iter().map(line));
    text.push_str(&format!("\nready in {:.1} s\n", took.as_secs_f64()));
    text
}

/// Prints the banner to standard output; on a terminal the last line is the duration of the start.
/// A failure to print does not stop the server.
pub(crate) fn print_banner(config: &Config, ready: &Ready, is_paused: bool, took: Duration) {
    if config.banner == Banner::Off {
        return;
    }
    let mut out = std::io::stdout().lock();
    let text = text_of(config, ready, is_paused, took);
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        tracing::debug!(%error, "cannot print the banner");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready() -> Ready {
        let address = |port: u16| Some(format!("127.0.0.1:{port}"));
        Ready { mongo: address(1), cosmos: address(2), admin: address(3), ..Ready::starting() }
    }

    fn printed(config: Config) -> String {
        text_of(&config, &ready(), false, Duration::from_millis(170))
    }

    #[test]
    fn without_a_terminal_the_facts_are_plain_lines() {
        let text = printed(Config { banner: Banner::Lines, ..Config::for_tests() });
        let key = cosmos::WELL_KNOWN_KEY;
        for line in [
            "MongoDB: mongodb://127.0.0.1:1/?directConnection=true",
            "MongoDB: open: no authentication required",
            &format!("NoSQL: AccountEndpoint=http://127.0.0.1:2/;AccountKey={key}"),
            "NoSQL: https://127.0.0.1:2/ with the certificate at /_explorer/emulator.pem",
            "NoSQL: direct mode: clients must trust the certificate: ebb cert export --help",
            "NoSQL: public emulator key: no access protection",
            "Admin: http://127.0.0.1:3/status",
            "Data: in memory only",
            "Clock: manual: moves only by command",
        ] {
            assert!(text.lines().any(|printed| printed == line), "{line}: {text}");
        }
        assert!(text.starts_with("EbbDB ") && text.contains("\nPortal: "), "{text}");
        assert!(text.lines().skip(1).all(|line| line.contains(": ")), "{text}");
    }

    #[test]
    fn a_terminal_gets_lines_to_paste() {
        let text = printed(Config { banner: Banner::Terminal, ..Config::for_tests() });
        assert!(text.contains("  mongosh       mongosh mongodb://127.0.0.1:1/test\n"), "{text}");
        assert!(text.contains("  Sample        ebb quickstart "), "{text}");
        let key = cosmos::WELL_KNOWN_KEY;
        let account = format!("AccountEndpoint=http://127.0.0.1:2/;AccountKey={key}");
        let csharp = format!(
            "  NoSQL C#      new CosmosClient(\"{account};DisableServerCertificateValidation=True\")\n"
        );
        assert!(text.contains(&csharp), "{text}");
        let config = Config { cosmos_direct: false, ..Config::for_tests() };
        let text = printed(Config { banner: Banner::Terminal, ..config });
        let csharp = format!(
            "  NoSQL C#      new CosmosClient(\"{account}\", new() {{ ConnectionMode = \
             ConnectionMode.Gateway }})\n"
        );
        assert!(text.contains(&csharp) && !text.contains("direct mode"), "{text}");
        let more = "  More          examples in Java, Go, Rust and C#: http://127.0.0.1:3/\n";
        assert_eq!(text.contains(more), ::portal::BUILT, "{text}");
        assert!(text.ends_with("\n\nready in 0.2 s\n"), "{text}");
    }

    #[test]
    fn keys_of_ones_own_are_not_printed() {
        for banner in [Banner::Lines, Banner::Terminal] {
            let key_file = Some("keys".into());
            let text = printed(Config { banner, key_file, ..Config::for_tests() });
            assert!(text.contains("AccountKey=(the first of --key-file)"), "{text}");
            assert!(!text.contains(cosmos::WELL_KNOWN_KEY), "{text}");
            assert!(!text.contains("public emulator"), "{text}");
        }
    }
}
