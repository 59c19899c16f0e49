//! Admin routes that list the databases and collections of both APIs.

use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
};
use engine::Model;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Shared,
    error::Result,
    expiry::{forecast_json, parse_query},
};

/// Name of each API in responses, and the model that its collections have in the engine.
const APIS: [(&str, Model); 2] = [("mongo", Model::Documents), ("nosql", Model::Items)];

/// Restricts the list to one database; `None` lists all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseQuery {
    database: Option<String>,
}

/// Handles `GET /_ebb/databases`: databases by API and name, with the names of their collections.
///
/// ```text
/// {"databases": [{"api": "mongo", "database": "app", "collections": ["sessions"]}]}
/// ```
pub(crate) async fn get_databases(State(shared): State<Shared>) -> Json<Value> {
    let mut databases = Vec::new();
    for (api, model) in APIS {
        let mut found = std::collections::BTreeMap::<String, Vec<String>>::new();
        if let (Model::Items, Some(nosql)) = (model, &shared.apis.cosmos) {
            // A database of the NoSQL API may have no container yet.
            found.extend(nosql.database_names().into_iter().map(|name| (name, Vec::new())));
        }
        for (namespace, _) in shared.engine.collections(model) {
            found.entry(namespace.database).or_default().push(namespace.collection);
        }
        databases.extend(found.into_iter().map(|(database, collections)| {
            json!({ "api": api, "database": database, "collections": collections })
        }));
    }
    Json(json!({ "databases": databases }))
}

/// Handles `GET /_ebb/collections?database=name`: collections by API and name, each with its
/// default time to live and its forecast, in the format of `.../expiry`.
pub(crate) async fn get_collections(
    State(shared): State<Shared>,
    within: std::result::Result<Query<DatabaseQuery>, QueryRejection>,
) -> Result<Json<Value>> {
    let within = parse_query(within)?;
    let mut collections = Vec::new();
    for (api, model) in APIS {
        for (namespace, collection) in shared.engine.collections(model) {
            if within.database.as_ref().is_some_and(|name| *name != namespace.database) {
                continue;
            }
            let forecast = match shared.engine.forecast_collection(&collection).await {
                Ok(forecast) => forecast,
                // The collection was dropped after the list was read.
                Err(_) if collection.is_dropped() => continue,
                Err(error) => return Err(error.into()),
            };
            let mut shown = forecast_json(&forecast);
            shown["api"] = json!(api);
            shown["database"] = json!(namespace.database);
            shown["collection"] = json!(namespace.collection);
            collections.push(shown);
        }
    }
    Ok(Json(json!({ "collections": collections })))
}
