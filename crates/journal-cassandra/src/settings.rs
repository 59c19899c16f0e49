//! Requirements on a Cassandra cluster, as a table of checks of its reported configuration.

use std::collections::BTreeMap;

use store::{Error, Kind};

#[derive(Clone, Debug, Default)]
pub(crate) struct ReportedSettings {
    /// The distinct datacenters of all nodes.
    pub(crate) datacenters: Vec<String>,
    /// Tables of the `system` keyspace, which identify other databases that speak CQL.
    pub(crate) system_tables: Vec<String>,
    pub(crate) replication: BTreeMap<String, String>,
    /// Address and settings of each node that responded; unset settings are empty.
    pub(crate) settings: Vec<(String, BTreeMap<String, String>)>,
}

impl ReportedSettings {
    /// Returns a message for each node whose setting is wrong.
    fn nodes_where(&self, name: &str, is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
        let value = |settings: &BTreeMap<String, String>| {
            settings.get(name).map_or("unset", |value| value.as_str()).to_lowercase()
        };
        let nodes = self.settings.iter().map(|(node, settings)| (node, value(settings)));
        let wrong = nodes.filter(|(_, value)| is_wrong(value));
        wrong.map(|(node, value)| format!("{name} is {value} on {node}")).collect()
    }
}

/// A check that returns an error message.
type Check = fn(&ReportedSettings) -> Option<String>;

/// All checks, and whether each is skipped if unsynced writes are accepted.
const CHECKS: &[(Check, bool)] = &[
    (is_another_database, false),
    (has_many_datacenters, false),
    (has_few_copies, false),
    (has_old_transactions, false),
    (does_not_sync, true),
    (refuses_old_timestamps, false),
];

/// Fails with the first violated check.
pub(crate) fn check(facts: &ReportedSettings, accept_unsynced: bool) -> Result<(), Error> {
    let checks = CHECKS.iter().filter(|(_, of_sync)| !(*of_sync && accept_unsynced));
    match checks.filter_map(|(check, _)| check(facts)).next() {
        None => Ok(()),
        Some(wrong) => Err(Error::new(Kind::Refused, wrong)),
    }
}

fn is_another_database(facts: &ReportedSettings) -> Option<String> {
    let scylla = facts.system_tables.iter().any(|table| table.starts_with("scylla_"));
    scylla.then(|| "this is ScyllaDB, which is not supported; Apache Cassandra is".to_owned())
}

fn has_many_datacenters(facts: &ReportedSettings) -> Option<String> {
    let many = facts.datacenters.len() > 1;
    many.then(|| {
        format!("more than one datacenter is not supported: {}", facts.datacenters.join(", "))
    })
}

fn has_few_copies(facts: &ReportedSettings) -> Option<String> {
    let copies = facts.replication.iter().filter(|(name, _)| *name != "class");
    let copies: Vec<&String> = copies.map(|(_, copies)| copies).collect();
    let is_enough = |copies: &str| copies.parse::<u32>().is_ok_and(|copies| copies >= 3);
    match copies[..] {
        [copies] if is_enough(copies) => None,
        [copies] => {
            Some(format!("the keyspace has {copies} replicas; it must have three full ones"))
        }
        [] => Some("the keyspace does not define its replicas".to_owned()),
        _ => Some("the keyspace is replicated over more than one datacenter".to_owned()),
    }
}

fn has_old_transactions(facts: &ReportedSettings) -> Option<String> {
    let wrong = facts.nodes_where("paxos_variant", |value| value != "v2");
    said(wrong, "set paxos_variant to v2 in cassandra.yaml")
}

fn does_not_sync(facts: &ReportedSettings) -> Option<String> {
    let wrong = facts.nodes_where("commitlog_sync", |value| value != "batch" && value != "group");
    said(
        wrong,
        "writes are acknowledged before they are on disk: set commitlog_sync to batch or group \
         in cassandra.yaml, unless unsynced writes are accepted",
    )
}

/// Checks the minimum timestamp of writes, since entries are written with timestamp 1.
fn refuses_old_timestamps(facts: &ReportedSettings) -> Option<String> {
    let is_set = |value: &str| !["unset", "", "null", "-1"].contains(&value);
    let wrong = facts.nodes_where("minimum_timestamp_fail_threshold", is_set);
    said(
        wrong,
        "entries have fixed timestamps: remove minimum_timestamp_fail_threshold from \
         cassandra.yaml",
    )
}

fn said(wrong: Vec<String>, then: &str) -> Option<String> {
    (!wrong.is_empty()).then(|| format!("{}; {then}", wrong.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> ReportedSettings {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let settings = map(&[
            ("commitlog_sync", "batch"),
            ("paxos_variant", "v2"),
            ("minimum_timestamp_fail_threshold", ""),
        ]);
        ReportedSettings {
            datacenters: vec!["datacenter1".to_owned()],
            system_tables: vec!["local".to_owned(), "peers_v2".to_owned()],
            replication: map(&[("class", "SimpleStrategy"), ("replication_factor", "3")]),
            settings: vec![("one".to_owned(), settings)],
        }
    }

    /// A change of a valid configuration, and the expected message; empty if none is expected.
    type Row = (fn(&mut ReportedSettings), &'static str);

    fn set(facts: &mut ReportedSettings, name: &str, value: &str) {
        // A second node, since the first is valid: every node is checked.
        let mut settings = facts.settings[0].1.clone();
        settings.insert(name.to_owned(), value.to_owned());
        facts.settings.push(("two".to_owned(), settings));
    }

    fn copies(facts: &mut ReportedSettings, name: &str, copies: &str) {
        facts.replication.insert(name.to_owned(), copies.to_owned());
    }

    const ROWS: &[Row] = &[
        (|_| {}, ""),
        (|facts| set(facts, "commitlog_sync", "group"), ""),
        (|facts| set(facts, "commitlog_sync", "periodic"), "commitlog_sync is periodic on two; "),
        (|facts| set(facts, "paxos_variant", "v1"), "paxos_variant is v1 on two; "),
        (|facts| set(facts, "paxos_variant", "V2"), ""),
        (
            |facts| drop(facts.settings[0].1.remove("paxos_variant")),
            "paxos_variant is unset on one; ",
        ),
        (
            |facts| set(facts, "minimum_timestamp_fail_threshold", "10d"),
            "minimum_timestamp_fail_threshold is 10d on two; ",
        ),
        (|facts| copies(facts, "replication_factor", "2"), "the keyspace has 2 replicas; "),
        (|facts| copies(facts, "replication_factor", "5"), ""),
        (|facts| copies(facts, "replication_factor", "3/1"), "the keyspace has 3/1 replicas; "),
        (|facts| facts.replication.clear(), "the keyspace does not define its replicas"),
        (|facts| copies(facts, "other", "3"), "the keyspace is replicated over more than one"),
        (
            |facts| facts.datacenters.push("other".to_owned()),
            "more than one datacenter is not supported: datacenter1, other",
        ),
        (|facts| facts.system_tables.push("scylla_local".to_owned()), "this is ScyllaDB"),
    ];

    #[test]
    fn each_check_names_what_is_wrong() {
        for (change, said) in ROWS {
            let mut facts = good();
            change(&mut facts);
            let found = check(&facts, false).err();
            let message = found.as_ref().map_or("", |error| &error.message);
            assert_eq!(said.is_empty(), found.is_none(), "{message}");
            assert!(message.starts_with(said), "{message:?} does not begin with {said:?}");
            assert!(found.is_none_or(|error| error.kind == Kind::Refused));
        }
    }

    #[test]
    fn unsynced_writes_can_be_accepted_and_nothing_else() {
        let mut facts = good();
        set(&mut facts, "commitlog_sync", "periodic");
        check(&facts, true).unwrap();
        set(&mut facts, "paxos_variant", "v1");
        check(&facts, true).unwrap_err();
    }
}
