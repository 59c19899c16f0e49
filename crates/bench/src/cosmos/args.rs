//! The command line of the load generator for the NoSQL REST API.

use clap::{Args, Subcommand};

use super::{
    Rest,
    key::{EMULATOR, Key},
    url::Url,
};
use crate::options::{Compare, Load};

/// Load a server that speaks the Azure Cosmos DB NoSQL REST API.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cosmos {
    /// What to do instead of measuring one server.
    #[command(subcommand)]
    pub(crate) mode: Option<Mode>,
    /// Measure one server.
    #[command(flatten)]
    pub(crate) one: One,
}

/// What to do instead of measuring one server.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Mode {
    /// List the workloads.
    List,
    /// Measure two servers in turn and print a table in markdown.
    Compare(Box<Compare<Rest>>),
}

/// Measure one server.
#[derive(Clone, Debug, Args)]
pub(crate) struct One {
    /// The server's address. `rntbd://HOST:PORT?tlsCAFile=PATH` sends requests about items in direct mode.
    #[arg(long, value_name = "http://HOST:PORT", default_value = "http://127.0.0.1:8081")]
    pub(crate) url: Url,
    /// The account's master key; the emulators' by default.
    #[arg(long, value_name = "BASE64", default_value = EMULATOR, hide_default_value = true)]
    pub(crate) key: Key,
    /// Process id of the server, to measure its CPU time and memory.
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
    /// Options of the load.
    #[command(flatten)]
    pub(crate) load: Load<Rest>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;
    use crate::{
        args::{self, Bench},
        cosmos::work::WORKS,
    };

    fn parse(words: &[&str]) -> Result<Cosmos, String> {
        let words = ["ebb-bench", "cosmos"].iter().chain(words);
        match Bench::try_parse_from(words).map_err(|error| error.to_string())?.mode {
            args::Mode::Cosmos(cosmos) => Ok(*cosmos),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn what_was_typed() {
        let words = ["--url", "http://h:1", "--connections", "8", "--seconds", "0.5", "--json"];
        let typed = parse(&words).unwrap();
        let settings = typed.one.load.round_settings(1);
        assert_eq!(typed.one.url.to_string(), "http://h:1");
        assert_eq!((settings.connections, settings.seed), (Some(8), 2));
        assert_eq!(settings.duration, Duration::from_millis(500));
        assert!(typed.mode.is_none() && typed.one.load.json);
        let words = ["compare", "--ours", "http://h:1", "--peer", "http://h:2", "--threads", "2"];
        match parse(&words).unwrap().mode {
            Some(Mode::Compare(compare)) => assert_eq!(compare.load.threads, 2),
            other => panic!("{other:?}"),
        }
        assert!(matches!(parse(&["list"]).unwrap().mode, Some(Mode::List)));
    }

    #[test]
    fn workloads_are_named() {
        for (work, known, want) in [
            ("all", true, Some(WORKS.len())),
            ("all", false, Some(WORKS.len() - 1)),
            ("count,batch", false, Some(2)),
            ("memory", false, Some(1)),
            ("scan", true, None),
        ] {
            let load = parse(&["--work", work]).unwrap().one.load;
            assert_eq!(load.named_works(known).ok().map(|works| works.len()), want, "{work}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (words, why) in [
            (&["--url", "https://h:1"][..], "https and rntbd need"),
            (&["--url", "mongodb://h:1"], "http://"),
            (&["--key", "???"], "not base64"),
            (&["--seconds=-1"], "negative"),
            (&["--items", "0"], "0 is not in"),
            (&["--expiry-items", "1"], "1 is not in"),
            (&["compare", "--ours", "http://h:1"], "--peer"),
            (&["--json", "list"], "cannot be used with"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(why), "{words:?}: {error}");
        }
    }
}
