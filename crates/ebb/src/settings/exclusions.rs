//! Settings of `ebb serve` that exclude or require each other, except those checked in separate
//! modules.

use super::{Settings, Wrong, values::StoreKind};

impl Settings {
    /// Fails with the first violated rule.
    pub(super) fn check_exclusions(&self) -> Result<(), Wrong> {
        let given = &self.values;
        let in_cluster = given.store == StoreKind::Cassandra;
        let wrong = [
            (
                given.in_memory && self.is_set("data-dir"),
                "--in-memory and --data-dir exclude each other",
            ),
            (
                0 < given.backup_journal && (given.in_memory || in_cluster),
                "--backup-journal needs a server with a data directory of its own",
            ),
            (
                given.tls_cert.0.is_some() != given.tls_key.0.is_some(),
                "--tls-cert and --tls-key must be given together",
            ),
            (
                self.is_set("mongo-topology") && in_cluster,
                "--mongo-topology is for a stand-alone server: a node of a cluster is a router",
            ),
            (
                given.topology.repl_set.0.is_some()
                    && (in_cluster || self.is_set("mongo-topology")),
                "--repl-set excludes --mongo-topology, and a node of a cluster is a router",
            ),
            (
                given.topology.advertise.0.is_some() && given.topology.repl_set.0.is_none(),
                "--advertise needs --repl-set",
            ),
            (given.in_memory && in_cluster, "--in-memory and --store cassandra exclude each other"),
            (
                given.max_forward_jump.0.is_some() && in_cluster,
                "--max-forward-jump is for a stand-alone server: a cluster continues from the \
                 previous owner's time",
            ),
        ];
        match wrong.iter().find(|(is_wrong, _)| *is_wrong) {
            Some((_, text)) => Err(Wrong((*text).to_owned())),
            None => Ok(()),
        }
    }
}
