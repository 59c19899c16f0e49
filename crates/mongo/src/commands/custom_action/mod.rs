//! `customAction`, an extension of Azure Cosmos DB for MongoDB: creates, changes and shows
//! databases and collections with their throughput, shard keys, indexes and default TTL.
//!
//! ```text
//! {customAction: "CreateCollection", collection: "c", offerThroughput: 400, shardKey: "a.b",
//!     indexes: [{key: {_id: 1}, name: "_id_1"}], defaultTtl: 3600}          => {ok: 1}
//! {customAction: "GetCollection", collection: "c", showIndexes: true}
//! => {database: "db", collection: "c", shardKeyDefinition: {"a.b": "hashed"},
//!     provisionedThroughput: 400, defaultTtl: 3600, indexes: [..], ok: 1}
//! ```
//!
//! The shard key is only stored and returned: documents without it are accepted, and `_id` is
//! unique in the whole collection. `defaultTtl` creates the index on `_ts`; Azure ignores it.

mod collections;
mod databases;

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use throughput::Throughput;

use crate::{
    access::Action as Right,
    call::Call,
    errors::{CommandNotFound, CommandNotSupported, Error, Result},
    provisioning::Provisioning,
    replies::numbers::int_or_long,
    rights::{CommandRequest, Object, Requirement},
};

/// The arguments of all actions.
pub(super) const FIELDS: &[&str] = &[
    COLLECTION,
    "offerThroughput",
    "autoScaleSettings",
    "shardKey",
    "indexes",
    "defaultTtl",
    "showIndexes",
    "startAtOperationTime",
];

/// The argument that names the collection.
pub(super) const COLLECTION: &str = "collection";

/// An action of the command, named by the value of the command's first field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    CreateDatabase,
    UpdateDatabase,
    GetDatabase,
    CreateCollection,
    UpdateCollection,
    GetCollection,
    GetChangeStreamTokens,
}

impl Action {
    /// Returns the action of this name; names are case-sensitive.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "CreateDatabase" => Self::CreateDatabase,
            "UpdateDatabase" => Self::UpdateDatabase,
            "GetDatabase" => Self::GetDatabase,
            "CreateCollection" => Self::CreateCollection,
            "UpdateCollection" => Self::UpdateCollection,
            "GetCollection" => Self::GetCollection,
            "GetChangeStreamTokens" => Self::GetChangeStreamTokens,
            _ => return None,
        })
    }

    /// Returns the action that a command names.
    fn of_body(body: DocRef<'_>) -> Option<Self> {
        let name = body.get("customAction").and_then(ValueRef::as_str);
        name.and_then(Self::named)
    }

    /// Returns the arguments of the action.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::CreateDatabase | Self::UpdateDatabase => {
                &["offerThroughput", "autoScaleSettings"]
            }
            Self::GetDatabase => &[],
            Self::CreateCollection => &[
                COLLECTION,
                "offerThroughput",
                "autoScaleSettings",
                "shardKey",
                "indexes",
                "defaultTtl",
            ],
            Self::UpdateCollection => {
                &[COLLECTION, "offerThroughput", "autoScaleSettings", "indexes", "defaultTtl"]
            }
            Self::GetCollection => &[COLLECTION, "showIndexes"],
            Self::GetChangeStreamTokens => &[COLLECTION, "startAtOperationTime"],
        }
    }
}

/// Returns whether a command changes data. Unknown actions count as changes.
pub(super) fn changes_data(body: DocRef<'_>) -> bool {
    !matches!(
        Action::of_body(body),
        Some(Action::GetDatabase | Action::GetCollection | Action::GetChangeStreamTokens)
    )
}

/// Returns the rights that an action requires: those of the commands with the same effect. An
/// unknown action requires no right, since it is refused.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let Some(action) = Action::of_body(request.body) else { return Ok(Vec::new()) };
    let database = || Object::Database(request.database.to_owned());
    let on_collection =
        |right| -> Result<Requirement> { Ok(Requirement::of(right, request.collection()?)) };
    let gives = |name: &str| request.args().get(name).is_some();
    Ok(match action {
        Action::CreateDatabase => vec![Requirement::of(Right::CreateCollection, database())],
        Action::UpdateDatabase => vec![Requirement::of(Right::CollMod, database())],
        Action::GetDatabase => vec![Requirement::of(Right::DbStats, database())],
        Action::CreateCollection => {
            let creates = [Right::CreateCollection, Right::Insert];
            let mut needs = vec![Requirement::one_of(&creates, request.collection()?)];
            if gives("indexes") || gives("defaultTtl") {
                needs.push(on_collection(Right::CreateIndex)?);
            }
            needs
        }
        Action::UpdateCollection => {
            let mut needs = vec![on_collection(Right::CollMod)?];
            if gives("indexes") {
                needs.push(on_collection(Right::DropIndex)?);
            }
            if gives("indexes") || gives("defaultTtl") {
                needs.push(on_collection(Right::CreateIndex)?);
            }
            needs
        }
        Action::GetCollection => {
            let mut needs = vec![on_collection(Right::CollStats)?];
            if request.is_set("showIndexes") {
                needs.push(on_collection(Right::ListIndexes)?);
            }
            needs
        }
        Action::GetChangeStreamTokens => vec![on_collection(Right::ChangeStream)?],
    })
}

/// Runs `customAction`.
///
/// Fails with 59 if the action is unknown, 40415 if an argument belongs to another action, and 115
/// if the action is `GetChangeStreamTokens`, whose tokens are those of partitions.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let name = call.args().need_str("customAction")?;
    let Some(action) = Action::named(name) else {
        let shown: String = name.chars().take(100).collect();
        return Err(Error::new(
            CommandNotFound,
            format!("Invalid custom action: {shown} specified"),
        ));
    };
    let foreign =
        |field: &&&str| !action.fields().contains(field) && call.body.get(field).is_some();
    if let Some(field) = FIELDS.iter().find(foreign) {
        let text = format!("BSON field '{name}.{field}' is an unknown field.");
        return Err(Error::new(40415, text));
    }
    match action {
        Action::CreateDatabase => databases::create(call).await,
        Action::UpdateDatabase => databases::update(call).await,
        Action::GetDatabase => databases::show(call),
        Action::CreateCollection => collections::create(call).await,
        Action::UpdateCollection => collections::update(call).await,
        Action::GetCollection => collections::show(call),
        Action::GetChangeStreamTokens => {
            let text = "customAction 'GetChangeStreamTokens' is not supported (change streams)";
            Err(Error::new(CommandNotSupported, text))
        }
    }
}

/// Adds the provisioned throughput and the settings of autoscale to a reply.
fn push_throughput(reply: &mut Document, provisioning: &Provisioning) {
    let Some(throughput) = provisioning.throughput else { return };
    reply.push("provisionedThroughput", int_or_long(throughput.shown_units()));
    if let Throughput::Autoscale(most, _) = throughput {
        let settings = doc! { "maxThroughput": int_or_long(most) };
        reply.push("autoScaleSettings", Value::Document(settings));
    }
}
