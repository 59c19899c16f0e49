//! The tables. Records and entries never share one: what lightweight transactions change is changed by
//! nothing else.

use store::Error;

use crate::options::Replication;

/// The tables of a ledger: name and columns with options.
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

/// What makes the keyspace and its tables. What is there already stays.
pub(crate) fn statements(keyspace: &str, replication: &Replication) -> Result<Vec<String>, Error> {
    let replication = replication.to_cql()?;
    let mut statements =
        vec![format!("CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication}")];
    let table = |(name, rest)| format!("CREATE TABLE IF NOT EXISTS {keyspace}.{name} {rest}");
    statements.extend(TABLES.iter().copied().map(table));
    Ok(statements)
}
