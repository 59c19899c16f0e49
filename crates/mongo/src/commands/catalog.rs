//! Collections and databases come, get other names and go.

use document::{DocBuf, Document, doc};
use engine::Store;
use engine::{Collection, Model, Namespace};

use super::{Call, index_spec, ok};
use crate::{
    args::Args,
    errors::{
        BadValue, CommandNotSupported, Error, IllegalOperation, InvalidOptions, NamespaceNotFound,
        Result,
    },
    names,
};

pub(super) const CREATE_FIELDS: &[&str] = &[
    "capped",
    "autoIndexId",
    "size",
    "max",
    "storageEngine",
    "validator",
    "validationLevel",
    "validationAction",
    "indexOptionDefaults",
    "viewOn",
    "pipeline",
    "collation",
    "timeseries",
    "expireAfterSeconds",
    "clusteredIndex",
    "changeStreamPreAndPostImages",
    "idIndex",
    "encryptedFields",
    "flags",
];

/// Options of `create` that would change what the collection is.
const UNSUPPORTED: &[&str] = &[
    "viewOn",
    "pipeline",
    "timeseries",
    "clusteredIndex",
    "validator",
    "storageEngine",
    "indexOptionDefaults",
    "encryptedFields",
    "changeStreamPreAndPostImages",
];

pub(super) async fn create<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    names::new_collection(&namespace.database, &namespace.collection)?;
    let args = call.args();
    args.simple_collation()?;
    if args.lax_bool("capped")?.unwrap_or(false) {
        return Err(unsupported("capped"));
    }
    for name in UNSUPPORTED {
        if args.get(name).is_some() {
            return Err(unsupported(name));
        }
    }
    if args.get("expireAfterSeconds").is_some() {
        let message = "'expireAfterSeconds' is only supported on time-series collections or when \
                       the 'clusteredIndex' option is specified";
        return Err(Error::new(InvalidOptions, message));
    }
    check_options(&args)?;
    let engine = &call.door.engine;
    engine.create(Model::Documents, &namespace, Document::new()).await?;
    ok(doc! {})
}

/// Options that change nothing here have to make sense nevertheless.
fn check_options(args: &Args<'_>) -> Result<()> {
    args.lax_bool("autoIndexId")?;
    args.int("flags")?;
    if args.int("size")?.or(args.int("max")?).is_some() {
        let message = "the 'capped' field needs to be true when either the 'size' or 'max' fields \
                       are present";
        return Err(Error::new(InvalidOptions, message));
    }
    for (name, values) in [
        ("validationLevel", ["off", "strict", "moderate"].as_slice()),
        ("validationAction", &["error", "warn"]),
    ] {
        let value = args.str(name)?;
        if value.is_some_and(|value| !values.contains(&value)) {
            let message = format!(
                "Enumeration value '{}' for field 'create.{name}' is not a valid value.",
                value.unwrap_or_default()
            );
            return Err(Error::new(BadValue, message));
        }
    }
    match args.document("idIndex")? {
        Some(spec) if index_spec::parse(spec)?.is_some() => {
            let message = "The field 'key' for an _id index must be {_id: 1}";
            Err(Error::new(BadValue, message))
        }
        _ => Ok(()),
    }
}

fn unsupported(option: &str) -> Error {
    Error::new(CommandNotSupported, format!("create with '{option}' is not supported"))
}

pub(super) async fn drop<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let indexes = call.find(&namespace).map(|collection| index_count(&collection));
    if !call.door.engine.drop_collection(Model::Documents, &namespace).await? {
        // As newer servers do, dropping what is not there succeeds.
        return ok(doc! {});
    }
    ok(doc! { "nIndexesWas": indexes.unwrap_or(1), "ns": namespace.to_string() })
}

fn index_count(collection: &Collection) -> i32 {
    i32::try_from(collection.state().record.indexes.len() + 1).unwrap_or(i32::MAX)
}

pub(super) async fn drop_database<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    if args.int("dropDatabase")?.ok_or_else(|| args.missing("dropDatabase"))? != 1 {
        return Err(Error::new(5_255_100, "Have to pass 1 as 'drop' parameter"));
    }
    if call.database == "admin" {
        let message = "Dropping the 'admin' database is prohibited.";
        return Err(Error::new(IllegalOperation, message));
    }
    let mut dropped = false;
    for (namespace, _) in call.door.engine.collections(Model::Documents) {
        if namespace.database == call.database {
            dropped |= call.door.engine.drop_collection(Model::Documents, &namespace).await?;
        }
    }
    if dropped { ok(doc! { "dropped": call.database }) } else { ok(doc! {}) }
}

pub(super) async fn rename<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    let from = full_name(args.need_str("renameCollection")?)?;
    let to = full_name(args.need_str("to")?)?;
    names::new_collection(&to.database, &to.collection)?;
    let replace = args.bool("dropTarget")?.unwrap_or(false);
    if from == to {
        let message = "Can't rename a collection to itself";
        return Err(Error::new(IllegalOperation, message));
    }
    if call.find(&from).is_none() {
        let message = format!("Source collection {from} does not exist");
        return Err(Error::new(NamespaceNotFound, message));
    }
    call.door.engine.rename(Model::Documents, &from, &to, replace).await?;
    ok(doc! {})
}

fn full_name(name: &str) -> Result<Namespace> {
    let (database, collection) = name.split_once('.').unwrap_or((name, ""));
    names::collection(database, collection)
}
