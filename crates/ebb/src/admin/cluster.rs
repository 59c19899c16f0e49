//! `ebb admin cluster`: creates a cluster, shows it, and moves its data between nodes.
//!
//! ```text
//! init        creates keyspace, tables and cluster record in Cassandra, before any node starts;
//!             --from imports the data directory of a stand-alone server
//! dump        writes the cluster's data into a new stand-alone data directory
//! verify      compares the copy of a stopped node with the cluster's journal
//! status      shows nodes, shard owners and lag
//! hand-over   transfers a shard to another node
//! base        makes a shard's owner write a base, a full copy of the shard, now
//! forget      removes a dead node from the lists
//! accept-loss continues without a committed entry that is permanently lost
//! ```

use std::{path::PathBuf, process::ExitCode};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use node::{Loss, MigrationProgress, NewCluster, NodeVerified};
use serde_json::{Value, json};
use server::{ClockMode, ClusterConfig};

use super::Request;
use crate::{
    FAILED, USAGE,
    client::Client,
    complain, end_failed, print_text,
    settings::{CassandraValues, Wrong},
};

pub(super) fn command() -> Command {
    let base = Command::new("base")
        .about(
            "Have the owner write a base of all data now, so that the journal before it can be \
             deleted",
        )
        .arg(shard_arg());
    let hand_over = Command::new("hand-over")
        .about("Move a shard to another node")
        .arg(shard_arg())
        .arg(Arg::new("to").long("to").value_name("NODE").help("Name or id of that node [any]"));
    Command::new("cluster")
        .about("Inspect and administer a cluster")
        .subcommand(init_command())
        .subcommands(copy_commands())
        .subcommand(Command::new("status").about("Show nodes and shards"))
        .subcommand(hand_over)
        .subcommand(base)
        .subcommands(repair_commands())
}

fn shard_arg() -> Arg {
    Arg::new("shard")
        .value_name("SHARD")
        .value_parser(value_parser!(u32))
        .required(true)
        .help("Shard number, from 0")
}

fn init_command() -> Command {
    CassandraValues::augment_args(Command::new("init"))
        .about("Create a cluster in a Cassandra keyspace that has none")
        .arg(
            Arg::new("replication")
                .long("replication")
                .value_name("[DATACENTER:]COPIES")
                .default_value("3")
                .help("Replication factor in Cassandra, at least 3"),
        )
        .arg(
            Arg::new("shards")
                .long("shards")
                .value_name("NUMBER")
                .value_parser(value_parser!(u32).range(1..=64))
                .default_value("1")
                .help("Number of shards that databases are distributed over; fixed once created"),
        )
        .arg(
            Arg::new("clock")
                .long("clock")
                .value_name("system|manual")
                .value_parser(["system", "manual"])
                .default_value("system")
                .conflicts_with("from")
                .help("Mode of the database clock; fixed once created"),
        )
        .arg(
            Arg::new("from")
                .long("from")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .help(
                    "Data directory of a stopped server, whose data and clock the cluster starts \
                     with",
                ),
        )
}

/// Returns the subcommands that write a complete copy of the data (`dump`) and that read one
/// (`verify`).
fn copy_commands() -> [Command; 2] {
    let dump = CassandraValues::augment_args(Command::new("dump"))
        .about("Write a cluster's data into a new data directory for a stand-alone server")
        .arg(
            Arg::new("directory")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .required(true)
                .help("Target directory; must be empty or not exist"),
        )
        .arg(
            Arg::new("shard")
                .long("shard")
                .value_name("SHARD")
                .value_parser(value_parser!(u32))
                .help("Shard to dump, if the cluster has several"),
        );
    let verify = CassandraValues::augment_args(Command::new("verify"))
        .about("Compare a stopped node's copy with the cluster's data")
        .arg(
            Arg::new("directory")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .required(true)
                .help("The node's data directory; its disk needs free space for a second copy"),
        );
    [dump, verify]
}

/// Returns the commands for permanent failures.
fn repair_commands() -> [Command; 2] {
    let forget = CassandraValues::augment_args(Command::new("forget"))
        .about("Remove a permanently lost node from the cluster; it can rejoin as a new node")
        .arg(Arg::new("node").value_name("NODE").required(true).help("Name or id of that node"));
    let accept_loss = CassandraValues::augment_args(Command::new("accept-loss"))
        .about("Resume a shard without a permanently lost entry and all entries after it")
        .arg(shard_arg())
        .arg(Arg::new("yes").long("yes").action(ArgAction::SetTrue).help(
            "Apply the change; without this, only print the missing entries that would be discarded",
        ));
    [forget, accept_loss]
}

/// Returns the admin request of `ebb admin cluster hand-over`.
pub(super) fn hand_over_of(matches: &ArgMatches) -> Request {
    Request::HandOver { shard: shard_of(matches), to: matches.get_one("to").cloned() }
}

/// Returns the admin request of `ebb admin cluster base`.
pub(super) fn base_of(matches: &ArgMatches) -> Request {
    Request::MakeBase { shard: shard_of(matches) }
}

fn shard_of(matches: &ArgMatches) -> u32 {
    matches.get_one("shard").copied().unwrap_or_default()
}

/// Requests a base (a full copy of a shard), and waits until one exists that includes the last
/// journal entry at the time of the request.
pub(super) fn make_base(client: &Client, shard: u32) -> Result<Value, String> {
    let mut body = json!({ "shard": shard });
    loop {
        let answer = client.post_json("/_ebb/cluster/base", &body)?;
        if answer.get("base").is_some_and(|base| !base.is_null()) {
            return Ok(answer);
        }
        body = json!({ "shard": shard, "entry": answer.get("entry") });
    }
}

/// Creates a cluster and prints its id.
pub(super) fn run_init(matches: &ArgMatches) -> ExitCode {
    let new = match new_cluster(matches) {
        Ok(new) => new,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    match node::init_cluster(&new, &mut Progress::new("pieces").tell()) {
        Ok(id) => print_text(format!("created cluster {id} in keyspace {}\n", new.at.keyspace)),
        Err(failure) => return end_failed(failure),
    }
    ExitCode::SUCCESS
}

/// Writes the data of a cluster into a new data directory.
pub(super) fn run_dump(matches: &ArgMatches) -> ExitCode {
    let directory = matches.get_one::<PathBuf>("directory").cloned().unwrap_or_default();
    let at = match cassandra_of(matches) {
        Ok(at) => at,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    let shard = matches.get_one("shard").copied();
    match node::dump_cluster(&at, shard, &directory, &mut Progress::new("entries").tell()) {
        Ok(entries) => {
            let directory = directory.display();
            print_text(format!("{directory} has the cluster's data up to entry {entries}\n"));
        }
        Err(failure) => return end_failed(failure),
    }
    ExitCode::SUCCESS
}

/// Compares a stopped node's copy of the data with the cluster's journal. The exit code is 0 only
/// if there are no differences.
pub(super) fn run_verify(matches: &ArgMatches) -> ExitCode {
    let directory = matches.get_one::<PathBuf>("directory").cloned().unwrap_or_default();
    let at = match cassandra_of(matches) {
        Ok(at) => at,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    let found = match node::verify_node(&at, &directory, &mut Progress::new("entries").tell()) {
        Ok(found) => found,
        Err(failure) => return end_failed(failure),
    };
    let several = 1 < found.len();
    for NodeVerified { shard, entry, compared } in &found {
        let of = if several { format!("shard {shard}, ") } else { String::new() };
        let differences = &compared.differences;
        print_text(format!(
            "{of}up to entry {entry}: {} rows, {} differences, {} expired rows in only one copy\n",
            compared.rows, differences.count, compared.expired
        ));
        differences.listed.iter().for_each(|difference| print_text(format!("  {difference}\n")));
    }
    let same = found.iter().all(|found| found.compared.differences.count == 0);
    if same { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Removes a dead node from the cluster's list of nodes.
pub(super) fn run_forget(matches: &ArgMatches) -> ExitCode {
    let called = matches.get_one::<String>("node").map_or("", String::as_str);
    let at = match cassandra_of(matches) {
        Ok(at) => at,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    match node::forget_node(&at, called) {
        Ok(node::RemovedNode { name, node }) => {
            print_text(format!("removed node {name} ({node})\n"));
        }
        Err(failure) => return end_failed(failure),
    }
    ExitCode::SUCCESS
}

/// Prints which committed entries a damaged journal has lost; with `--yes`, makes the cluster
/// continue without them.
pub(super) fn run_accept_loss(matches: &ArgMatches) -> ExitCode {
    let (shard, yes) = (shard_of(matches), matches.get_flag("yes"));
    let at = match cassandra_of(matches) {
        Ok(at) => at,
        Err(wrong) => return complain(wrong.0, USAGE),
    };
    let mut tell = |loss: &Loss| print_text(format_loss(loss));
    match node::accept_loss(&at, shard, yes, &mut tell) {
        Ok(()) => {
            print_text(format!("shard {shard} resumed; a node takes it over within seconds\n"))
        }
        Err(failure) => return end_failed(failure),
    }
    ExitCode::SUCCESS
}

/// Formats the report of lost entries as lines of text.
fn format_loss(loss: &Loss) -> String {
    let Loss { missing, given_up, base, .. } = loss;
    let from = match base {
        0 => "the beginning".to_owned(),
        base => format!("the newest base, which has entry {base}"),
    };
    let (first, end) = (missing.end + 1, missing.end);
    format!(
        "{missing}\nread from {from}: all entries up to {end} exist\ndiscarded: entry {first} and \
         all after it, {given_up} of them known to be committed\n"
    )
}

/// Prints a progress line each time another `TOLD_BYTES` have been copied.
struct Progress {
    of: &'static str,
    told: u64,
}

const TOLD_BYTES: u64 = 64 << 20;

impl Progress {
    fn new(of: &'static str) -> Self {
        Self { of, told: 0 }
    }

    fn tell(mut self) -> impl FnMut(MigrationProgress) {
        move |moved| {
            if TOLD_BYTES <= moved.bytes.saturating_sub(self.told) {
                self.told = moved.bytes;
                print_text(format!("{} MiB, {} {}\n", moved.bytes >> 20, moved.steps, self.of));
            }
        }
    }
}

fn cassandra_of(matches: &ArgMatches) -> Result<ClusterConfig, Wrong> {
    let values = CassandraValues::from_arg_matches(matches);
    values.map_err(|error| Wrong(error.to_string()))?.config()
}

fn new_cluster(matches: &ArgMatches) -> Result<NewCluster, Wrong> {
    let at = cassandra_of(matches)?;
    let replication = matches.get_one::<String>("replication").map_or("", String::as_str);
    let (datacenter, copies) = match replication.rsplit_once(':') {
        Some((name, copies)) => (Some(name.to_owned()), copies),
        None => (None, replication),
    };
    let copies = copies.parse().ok().filter(|copies| 3 <= *copies);
    let copies = copies.ok_or_else(|| {
        Wrong(format!(
            "--replication {replication}: it is not the number of copies, 3 at least, or \
             DATACENTER:COPIES"
        ))
    })?;
    let is_manual = matches.get_one::<String>("clock").is_some_and(|clock| clock == "manual");
    let clock = if is_manual { ClockMode::Manual } else { ClockMode::System };
    let from = matches.get_one::<PathBuf>("from").cloned();
    let shards = matches.get_one("shards").copied().unwrap_or(1);
    Ok(NewCluster { at, datacenter, copies, clock, shards, from })
}

/// Returns whether the intended node owns the shard. Servers of earlier versions report neither the
/// intended nor the actual owner; this counts as success.
pub(super) fn is_handed_over(answer: &Value) -> bool {
    answer.get("owner") == answer.get("wanted")
}

/// Formats the outcome of a hand-over as lines of text.
pub(super) fn format_hand_over(answer: &Value) -> String {
    let text =
        |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or("no node").to_owned();
    let (owner, wanted) = (text("owner"), text("wanted"));
    let took = answer.get("took_ms").and_then(Value::as_u64).unwrap_or_default();
    match is_handed_over(answer) {
        true => format!("{owner} owns the shard, after {took} ms\n"),
        false => format!("{owner} owns the shard and not {wanted}, after {took} ms\n"),
    }
}

/// Formats the state of a cluster, with one line per shard and node.
pub(super) fn format_cluster(answer: &Value) -> String {
    let text = |value: &Value, name: &str| match value.get(name) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => "-".to_owned(),
        Some(other) => other.to_string(),
    };
    let list = |name: &str| answer.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut out = format!("cluster {}, clock {}\n", text(answer, "cluster"), text(answer, "clock"));
    for shard in list("shards") {
        out.push_str(&format!(
            "shard {}: owner {}, epoch {}, {}, {} entries\n",
            text(&shard, "shard"),
            text(&shard, "owner"),
            text(&shard, "epoch"),
            text(&shard, "phase"),
            text(&shard, "committed"),
        ));
    }
    let asked = answer.get("node").cloned().unwrap_or_default();
    for node in list("nodes") {
        let role = match text(&node, "id") == text(&asked, "id") {
            true => format!(", asked: {}", text(&asked, "role")),
            false => String::new(),
        };
        let age = node.get("beat_age_ms").and_then(Value::as_f64).unwrap_or_default() / 1_000.0;
        // A node that does not respond reports no position.
        let behind = match node.get("behind").and_then(Value::as_u64) {
            Some(behind) => format!("{behind} entries behind"),
            None => "lag unknown".to_owned(),
        };
        out.push_str(&format!(
            "node {}: {}, last beat {age:.1} s ago, {behind}, MongoDB {}, NoSQL {}, admin {}, link {}, \
             version {}{role}\n",
            text(&node, "name"),
            text(&node, "state"),
            text(&node, "mongo"),
            text(&node, "cosmos"),
            text(&node, "admin"),
            text(&node, "peer"),
            text(&node, "version"),
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Result<NewCluster, String> {
        let matches = command()
            .try_get_matches_from([&["cluster", "init"], words].concat())
            .map_err(|error| error.to_string())?;
        let (_, init) = matches.subcommand().unwrap();
        new_cluster(init).map_err(|wrong| wrong.0)
    }

    #[test]
    fn a_cluster_has_three_copies_at_least() {
        let points = "--cassandra-contact-points=127.0.0.1:9042";
        let new = typed(&[points]).unwrap();
        assert_eq!((new.datacenter, new.copies, new.clock), (None, 3, ClockMode::System));
        let new = typed(&[points, "--replication", "dc1:5", "--clock", "manual"]).unwrap();
        assert_eq!((new.datacenter.as_deref(), new.copies), (Some("dc1"), 5));
        assert_eq!((new.clock, new.from), (ClockMode::Manual, None));
        let new = typed(&[points, "--from", "data"]).unwrap();
        assert_eq!(new.from, Some(PathBuf::from("data")));
        for (words, want) in [
            (&[points, "--replication", "2"][..], "3 at least"),
            (&[points, "--replication", "dc1:"], "3 at least"),
            (&[points, "--clock", "lunar"], "--clock"),
            (&[points, "--from", "d", "--clock", "manual"], "--from"),
            (&[], "--cassandra-contact-points"),
        ] {
            let wrong = typed(words).unwrap_err();
            assert!(wrong.contains(want), "{words:?}: {wrong}");
        }
    }

    #[test]
    fn a_cluster_is_shown_a_line_a_node() {
        let answer = json!({
            "cluster": "c", "clock": "system",
            "node": { "id": "1", "role": "follower", "behind": 2 },
            "nodes": [
                { "id": "1", "name": "a", "state": "up", "beat_age_ms": 512, "behind": 2, "mongo": "h:1" },
                { "id": "2", "name": "b", "state": "down", "beat_age_ms": 60_000, "behind": null },
            ],
            "shards": [{ "shard": 0, "owner": null, "epoch": 3, "phase": "sealing", "committed": 9 }],
        });
        let text = format_cluster(&answer);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "shard 0: owner -, epoch 3, sealing, 9 entries");
        let first = "node a: up, last beat 0.5 s ago, 2 entries behind, MongoDB h:1, NoSQL -";
        assert!(lines[2].starts_with(first), "{text}");
        assert!(lines[2].ends_with("asked: follower"), "{text}");
        let second = "node b: down, last beat 60.0 s ago, lag unknown, MongoDB -";
        assert!(lines[3].starts_with(second), "{text}");
    }

    #[test]
    fn a_shard_at_another_node_was_not_handed_over() {
        for (owner, done, said) in [
            (json!("b"), true, "b owns the shard, after 9 ms\n"),
            (json!("a"), false, "a owns the shard and not b, after 9 ms\n"),
            (Value::Null, false, "no node owns the shard and not b, after 9 ms\n"),
        ] {
            let answer = json!({ "owner": owner, "wanted": "b", "took_ms": 9 });
            assert_eq!(is_handed_over(&answer), done);
            assert_eq!(format_hand_over(&answer), said);
        }
        assert!(is_handed_over(&json!({ "shards": [], "took_ms": 9 })));
    }
}
