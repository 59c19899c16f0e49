//! Tests of combined settings, and of refused ones.

use super::*;

pub(super) fn gather(typed: &[&str], file: Option<&str>) -> Result<Settings, Wrong> {
    let command = add_flags(Command::new("serve").no_binary_name(true));
    let matches = command.try_get_matches_from(typed).map_err(|error| value_error(&error))?;
    Settings::gather(&matches, file.map(|text| ("ebb.toml", text)))
}

pub(super) fn config(typed: &[&str], file: Option<&str>) -> Result<Config, String> {
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
    assert_eq!(config(&[], None).unwrap().index_unused_days, None);
    let found = config(&["--index-unused-days", "30"], None).unwrap();
    assert_eq!(found.index_unused_days, Some(30));
    for (typed, want) in [
        (&[][..], OldViewsBound::Percent(50)),
        (&["--old-views-disk", "10%"], OldViewsBound::Percent(10)),
        (&["--old-views-disk", "20g"], OldViewsBound::Bytes(20 << 30)),
    ] {
        assert_eq!(config(typed, None).unwrap().old_views, want, "{typed:?}");
    }
    // An empty variable or key counts as unset.
    for (typed, file) in [(&["--memory", ""][..], None), (&[], Some("memory = \"\""))] {
        assert_eq!(config(typed, file).unwrap().memory, None, "{typed:?} {file:?}");
    }
    let found = config(&["--data-dir", "x", "--in-memory=false"], None).unwrap();
    assert_eq!(found.data_dir.as_deref(), Some(std::path::Path::new("x")));
    let printed = gather(&["--clock", "manual"], Some(file)).unwrap().print();
    assert!(printed.contains("clock = \"manual\" # flag"), "{printed}");
    assert!(printed.contains("reap-delay = \"5\" # file"), "{printed}");
    assert!(!printed.contains("test-wall"), "{printed}");
    let printed = gather(&["--test-wall", "w"], None).unwrap().print();
    assert!(printed.contains("test-wall = \"w\" # flag"), "{printed}");
}

#[test]
fn wrong_values_name_their_setting() {
    for (typed, file, name) in [
        (&["--clock", "lunar"][..], None, "--clock"),
        (&["--mongo-addr", "nowhere"], None, "--mongo-addr"),
        (&["--reap-delay", "-1"], None, "--reap-delay"),
        (&["--change-log-size", "1023k"], None, "--change-log-size"),
        (&["--change-log-size", "5%"], None, "--change-log-size"),
        (&["--reap-delay", "NaN"], None, "--reap-delay"),
        (&["--index-unused-days", "0"], None, "--index-unused-days"),
        (&["--old-views-disk", "0%"], None, "--old-views-disk"),
        (&["--old-views-disk", "101%"], None, "--old-views-disk"),
        (&["--old-views-disk", "half"], None, "--old-views-disk"),
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
        (&[], Some("clock = \"lunar\""), "--clock"),
        (&[], Some("\nclock = \"lunar\""), "--config ebb.toml:2: invalid value 'lunar'"),
        (&["--mongo-addr", "127.0.0.1:99999"], None, "the largest is 65535"),
        (&[], Some("in-memory = 7"), "--in-memory"),
        (&[], Some("admin-host = [\"a\", \"b:1\"]"), "--admin-host"),
        (&[], Some("in-memory = true\ndata-dir = \"x\""), "--data-dir"),
        (&["--data-dir", "x"], Some("in-memory = true"), "--data-dir"),
        (&[], Some("colour = 1"), "colour"),
        (&[], Some("clock ="), "--config"),
    ] {
        let wrong = config(typed, file).unwrap_err();
        assert!(wrong.contains(name), "{typed:?}: {wrong}");
    }
}

/// Settings name files with secrets: a secret that is itself a setting would be shown by the
/// process list, by `--print-config` and in service logs.
#[test]
fn secrets_are_given_as_files_alone() {
    let command = add_flags(Command::new("serve"));
    let is_secret = |word: &str| ["key", "keys", "password", "secret", "token"].contains(&word);
    let mut found = Vec::new();
    for setting in command.get_arguments() {
        let name = setting.get_id().as_str();
        if name.split(['-', '_']).any(is_secret) {
            let values: Vec<&str> =
                setting.get_value_names().unwrap().iter().map(|value| value.as_str()).collect();
            assert_eq!(values, ["PATH"], "{name}");
            found.push(name.replace('_', "-"));
        }
    }
    for name in ["key-file", "tls-key", "cassandra-password-file", "cassandra-cert-key", "peer-key"]
    {
        assert!(found.iter().any(|found| found == name), "{name}: {found:?}");
    }
}

#[test]
fn the_content_of_a_password_file_is_printed_nowhere() {
    let file = std::env::temp_dir().join(format!("ebb-password-{}", std::process::id()));
    std::fs::write(&file, "planted").unwrap();
    let path = file.to_str().unwrap();
    let typed = [
        "--data-dir",
        "x",
        "--store",
        "cassandra",
        "--cassandra-contact-points",
        "127.0.0.1:9042",
        "--cassandra-user",
        "shown",
        "--cassandra-password-file",
        path,
    ];
    let settings = gather(&typed, None).unwrap();
    let config = settings.config().unwrap();
    for text in [settings.print(), format!("{config:?}")] {
        assert!(text.contains("shown") && text.contains(path), "{text}");
        assert!(!text.contains("planted"), "{text}");
    }
    std::fs::remove_file(&file).unwrap();
}
