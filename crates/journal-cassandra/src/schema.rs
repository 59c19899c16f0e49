//! The tables of a cluster. Records and entries are in separate tables, since rows that lightweight
//! transactions change must not be changed in any other way.

use store::Error;

use crate::options::Replication;

/// The name of each table, and its columns with options.
const TABLES: &[(&str, &str)] = &[
    ("cluster", "(one int PRIMARY KEY, format int, id uuid, shards int, clock text, secret blob)"),
    (
        "nodes",
        "(node uuid PRIMARY KEY, incarnation bigint, beat bigint, state text, about blob, terms blob)",
    ),
    (
        "shards",
        "(shard int PRIMARY KEY, epoch bigint, claim uuid, node uuid, incarnation bigint, phase text, \
         opened bigint, ends blob, clock blob, base bigint, bases blob)",
    ),
    (
        "journal",
        "(shard int, epoch bigint, segment bigint, n bigint, part int, body blob, \
         PRIMARY KEY ((shard, epoch, segment), n, part)) WITH compression = {'enabled': false}",
    ),
    (
        "bases",
        "(shard int, base bigint, piece int, n int, body blob, \
         PRIMARY KEY ((shard, base, piece), n)) WITH compression = {'enabled': false}",
    ),
];

/// Delay after which the coordinator of a read queries another replica if one is silent. The
/// default of Cassandra, `99p` alone, is too long under load.
const SILENCE: &str = "speculative_retry = 'MIN(99p,25ms)'";

/// Returns the statements that create the keyspace and its tables if they do not exist.
pub(crate) fn statements(keyspace: &str, replication: &Replication) -> Result<Vec<String>, Error> {
    let replication = replication.to_cql()?;
    let mut statements =
        vec![format!("CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication}")];
    let table = |(name, rest): (&str, &str)| {
        let word = if rest.contains(" WITH ") { "AND" } else { "WITH" };
        format!("CREATE TABLE IF NOT EXISTS {keyspace}.{name} {rest} {word} {SILENCE}")
    };
    statements.extend(TABLES.iter().copied().map(table));
    Ok(statements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_ask_another_replica_soon() {
        let made = statements("k", &Replication::Simple(3)).unwrap();
        let (keyspace, tables) = made.split_first().unwrap();
        assert!(keyspace.starts_with("CREATE KEYSPACE IF NOT EXISTS k "));
        for table in tables {
            assert!(table.ends_with(SILENCE) && table.matches(" WITH ").count() == 1, "{table}");
        }
    }
}
