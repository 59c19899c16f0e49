//! Reads the configuration of the Cassandra nodes. Nodes that do not respond are skipped: a ledger
//! has to open while one of them is down.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use scylla::{
    client::session::Session,
    cluster::Node,
    policies::load_balancing::{NodeIdentifier, SingleTargetLoadBalancingPolicy},
    response::query_result::QueryRowsResult,
    serialize::row::SerializeRow,
    statement::{Consistency, unprepared::Statement},
};
use store::{Error, Kind};

use crate::{failure, settings::ReportedSettings};

const DOING: &str = "cannot read Cassandra's settings";

pub(crate) async fn read_settings(
    session: &Session,
    keyspace: &str,
) -> Result<ReportedSettings, Error> {
    let nodes = session.get_cluster_state().get_nodes_info().to_vec();
    let datacenters: BTreeSet<String> =
        nodes.iter().filter_map(|node| node.datacenter.clone()).collect();
    let system_tables = system_tables(session).await?;
    let replication = replication(session, keyspace).await?;
    let mut settings = Vec::new();
    // ScyllaDB, which does not have the settings table, is detected by its system tables.
    if !system_tables.iter().any(|table| table.starts_with("scylla_")) {
        for node in nodes {
            let address = node.address.to_string();
            if let Some(found) = settings_of(session, node).await? {
                settings.push((address, found));
            }
        }
        if settings.is_empty() {
            return Err(Error::new(Kind::Unavailable, format!("{DOING}: no node answers")));
        }
    }
    let datacenters = datacenters.into_iter().collect();
    Ok(ReportedSettings { datacenters, system_tables, replication, settings })
}

async fn system_tables(session: &Session) -> Result<Vec<String>, Error> {
    let text = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system'";
    let rows = ask(session, Statement::new(text), ()).await?;
    let rows = rows.rows::<(String,)>().map_err(strange)?;
    rows.map(|row| Ok(row.map_err(strange)?.0)).collect()
}

async fn replication(session: &Session, keyspace: &str) -> Result<BTreeMap<String, String>, Error> {
    let text = "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?";
    let rows = ask(session, Statement::new(text), (keyspace,)).await?;
    let row = rows.maybe_first_row::<(HashMap<String, String>,)>().map_err(strange)?;
    match row {
        Some((replication,)) => Ok(replication.into_iter().collect()),
        None => Err(Error::new(
            Kind::Refused,
            format!("there is no keyspace {keyspace}: 'ebb admin cluster init' creates it"),
        )),
    }
}

/// Reads the settings of one node; `None` if it does not respond.
async fn settings_of(
    session: &Session,
    node: std::sync::Arc<Node>,
) -> Result<Option<BTreeMap<String, String>>, Error> {
    let mut statement = Statement::new("SELECT name, value FROM system_views.settings");
    let only = SingleTargetLoadBalancingPolicy::new(NodeIdentifier::Node(node), None);
    statement.set_load_balancing_policy(Some(only));
    let rows = match ask(session, statement, ()).await {
        Err(error) if error.kind == Kind::Unavailable => return Ok(None),
        rows => rows?,
    };
    let rows = rows.rows::<(String, Option<String>)>().map_err(strange)?;
    let setting = |row: Result<(String, Option<String>), _>| {
        let (name, value) = row.map_err(strange)?;
        Ok((name, value.unwrap_or_default()))
    };
    rows.map(setting).collect::<Result<_, _>>().map(Some)
}

async fn ask(
    session: &Session,
    mut statement: Statement,
    values: impl SerializeRow,
) -> Result<QueryRowsResult, Error> {
    // The tables are local to the node that responds.
    statement.set_consistency(Consistency::One);
    statement.set_is_idempotent(true);
    let answer = session.query_unpaged(statement, values).await;
    let answer = answer.map_err(|error| failure::at_connect(DOING, error))?;
    answer.into_rows_result().map_err(strange)
}

fn strange(error: impl std::fmt::Display) -> Error {
    Error::new(Kind::Refused, format!("{DOING}: {error}"))
}
