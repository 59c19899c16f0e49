//! `CreateDatabase`, `UpdateDatabase` and `GetDatabase`. `CreateDatabase` stores a record of the
//! database, which then exists even without collections. Other databases exist while they have a
//! collection.

use document::{DocBuf, doc};
use engine::Model;

use super::push_throughput;
use crate::{
    call::Call,
    errors::{Error, NamespaceExists, NamespaceNotFound, Result},
    names,
    provisioning::{self, Provisioning, parse_throughput},
    replies::ok,
};

/// Returns whether the command's database exists.
fn exists(call: &Call<'_>) -> bool {
    names::SYSTEM_DATABASES.contains(&call.database)
        || names_of_all(call).any(|name| name == call.database)
}

/// Returns the names of the databases that have a collection or a record, with repetitions.
fn names_of_all(call: &Call<'_>) -> impl Iterator<Item = String> {
    let collections = call.api.engine.collections(Model::Documents);
    let named = collections.into_iter().map(|(namespace, _)| namespace.database);
    named.chain(provisioning::recorded_databases(&call.api.engine))
}

/// Returns the error for a database that does not exist.
fn missing(database: &str) -> Error {
    Error::new(NamespaceNotFound, format!("database {database} does not exist"))
}

/// Creates the command's database.
///
/// Fails with 48 if it exists, and with 13297 if another database's name differs only in case.
pub(super) async fn create(call: &Call<'_>) -> Result<DocBuf> {
    let throughput = parse_throughput(&call.args())?;
    let database = call.database;
    // Checks the name of the database, too.
    names::new_collection(database, "c")?;
    let exists_already =
        || Error::new(NamespaceExists, format!("Database {database} already exists."));
    if exists(call) {
        return Err(exists_already());
    }
    // No lock covers this check and the creation below: a database that is created at the same
    // moment may differ in case only. Both stay usable, like those of older data directories.
    let differs = |name: &String| name.eq_ignore_ascii_case(database);
    if let Some(other) = names_of_all(call).find(differs) {
        return Err(Error::other_case(&other, database));
    }
    if !provisioning::create_database(&call.api.engine, database, throughput).await? {
        return Err(exists_already());
    }
    ok(doc! {})
}

/// Changes the throughput of the command's database; fails with 26 if it does not exist.
pub(super) async fn update(call: &Call<'_>) -> Result<DocBuf> {
    let throughput = parse_throughput(&call.args())?;
    if !exists(call) {
        return Err(missing(call.database));
    }
    if let Some(throughput) = throughput {
        let engine = &call.api.engine;
        provisioning::set_database_throughput(engine, call.database, throughput).await?;
    }
    ok(doc! {})
}

/// Returns the properties of the command's database; fails with 26 if it does not exist.
pub(super) fn show(call: &Call<'_>) -> Result<DocBuf> {
    if !exists(call) {
        return Err(missing(call.database));
    }
    let throughput = provisioning::database_throughput(&call.api.engine, call.database);
    let mut reply = doc! { "database": call.database };
    push_throughput(&mut reply, &Provisioning { shard_key: None, throughput });
    ok(reply)
}
