//! `shardCollection`, `enableSharding` and `reIndex`, which tutorials and migration scripts call.
//! All documents of a collection are on one server, so a shard key is stored and returned but has
//! no effect.
//!
//! ```text
//! {shardCollection: "db.c", key: {a: "hashed"}}
//! => {_t: "ShardCollectionResponse", collectionsharded: "db.c", ok: 1}
//! {enableSharding: "db"}      => {ok: 1}
//! {reIndex: "c"}              => {nIndexesWas: 2, nIndexes: 2, indexes: [..], ok: 1}
//! ```

use std::sync::Arc;

use document::{DocBuf, Document, Value, doc};
use engine::{Definition, ErrorSubject, Kind, Namespace, Record};

use crate::{
    access::Action,
    arguments::collection_argument,
    call::Call,
    errors::{AlreadyInitialized, CommandNotSupported, Error, Result},
    names,
    provisioning::{Provisioning, shard_key_of_pattern},
    replies::{index::index_entries, numbers::saturated_int, ok},
    rights::{CommandRequest, Object, Requirement},
};

/// The arguments of `shardCollection` besides the collection.
pub(super) const SHARD_FIELDS: &[&str] = &[
    "key",
    "unique",
    "numInitialChunks",
    "presplitHashedZones",
    "collation",
    "implicitlyCreateIndex",
    "enforceUniquenessCheck",
];

/// Returns the rights that `shardCollection` requires: to shard the collection, or to create it and
/// to change its options, since the command has no other effect here.
pub(super) fn shard_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let named = collection_argument(request.body, "shardCollection")?;
    let collection = || names::parse_full_name(named).map(Object::Collection);
    let both = vec![
        Requirement::of(Action::CreateCollection, collection()?),
        Requirement::of(Action::CollMod, collection()?),
    ];
    let shards = Requirement::of(Action::EnableSharding, collection()?);
    Ok(vec![Requirement::Any(vec![shards, Requirement::All(both)])])
}

/// Runs `shardCollection`: stores the shard key, and creates the collection if it does not exist.
///
/// Fails with 2 if the key is invalid, 23 if the collection has another one, 115 if `unique` is
/// set, and 73 if the name is invalid.
pub(super) async fn shard_collection(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let namespace = names::parse_full_name(collection_argument(call.body, call.name)?)?;
    call.check_new(&namespace)?;
    let key = shard_key_of_pattern(args.need_document("key")?)?;
    args.simple_collation()?;
    args.int("numInitialChunks")?;
    for flag in ["presplitHashedZones", "implicitlyCreateIndex", "enforceUniquenessCheck"] {
        args.lax_bool(flag)?;
    }
    if args.lax_bool("unique")?.unwrap_or(false) {
        let text = "shardCollection with 'unique' is not supported: create a unique index";
        return Err(Error::new(CommandNotSupported, text));
    }
    call.check_home(&namespace.database)?;
    while !store_key(call, &namespace, &key).await? {}
    ok(doc! { "_t": "ShardCollectionResponse", "collectionsharded": namespace.to_string() })
}

/// Makes one attempt to store a shard key; returns false if another client has created or dropped
/// the collection during the attempt.
async fn store_key(call: &Call<'_>, namespace: &Namespace, key: &Document) -> Result<bool> {
    let engine = &call.api.engine;
    let Some(collection) = call.find_no_view(namespace)? else {
        let kept = Provisioning { shard_key: Some(key.clone()), throughput: None };
        let options = kept.in_options(&Document::new());
        return match engine.create_with_indexes(namespace, options, Vec::new()).await {
            Ok(_) => Ok(true),
            Err(engine::Error { kind: Kind::Exists(ErrorSubject::Collection(_)), .. }) => Ok(false),
            Err(error) => Err(error.into()),
        };
    };
    let wanted = key.clone();
    let redefine = move |record: &Record| -> std::result::Result<_, engine::Error> {
        let mut provisioning = Provisioning::of_options(&record.options);
        // A key that the collection already has is not replaced.
        provisioning.shard_key.get_or_insert_with(|| wanted.clone());
        Ok(Definition { options: provisioning.in_options(&record.options), indexes: None })
    };
    let changed = engine.redefine_collection(&collection, Arc::new(redefine)).await;
    if Call::collection_was_dropped(&changed) {
        return Ok(false);
    }
    changed?;
    match Provisioning::of_options(&collection.state().record.options).shard_key {
        Some(held) if held != *key => {
            let text = format!("collection {namespace} has another shard key");
            Err(Error::new(AlreadyInitialized, text))
        }
        _ => Ok(true),
    }
}

/// Returns the right that `enableSharding` requires, on the database that it names.
pub(super) fn enable_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let database = request.first_text()?;
    names::check_database(database)?;
    Ok(vec![Requirement::on_database(Action::EnableSharding, database)])
}

/// Runs `enableSharding`, which has no effect: any collection may have a shard key.
pub(super) async fn enable_sharding(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    names::check_database(args.need_str("enableSharding")?)?;
    args.str("primaryShard")?;
    ok(doc! {})
}

/// Runs `reIndex`, which only returns the indexes, since they are always complete. Fails with 26 if
/// the collection does not exist.
pub(super) async fn re_index(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let state = call.expect_collection(&namespace)?.state();
    let indexes: Vec<_> = index_entries(&state.record).into_iter().map(Value::Document).collect();
    let count = saturated_int(indexes.len());
    ok(doc! { "nIndexesWas": count, "nIndexes": count, "indexes": Value::Array(indexes) })
}
