//! The account document. It names the single region and this server's endpoint: SDKs connect to the
//! address that the application configured, and then send all requests to the addresses in
//! `writableLocations` and `readableLocations`.

use document::{DocRef, Value, ValueRef, array, doc, json};

/// The account's consistency level. A request may specify a weaker level.
pub(crate) const LEVEL: &str = "Session";

/// Name of the single region. SDKs compare it with the application's preferred regions; any real
/// name works, and Azure Cosmos DB's emulator uses this one.
const REGION: &str = "South Central US";

/// Capabilities of the server's query engine, as JSON text within the document. SDKs that plan
/// queries themselves pass it to their planner; the figures are Azure Cosmos DB's.
const QUERY_ENGINE: &str = concat!(
    r#"{"maxSqlQueryInputLength":262144,"maxJoinsPerSqlQuery":10,"maxLogicalAndPerSqlQuery":2000,"#,
    r#""maxLogicalOrPerSqlQuery":2000,"maxUdfRefPerSqlQuery":10,"maxInExpressionItemsCount":16000,"#,
    r#""queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,"#,
    r#""sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":true,"#,
    r#""sqlAllowScalarSubQuery":true,"allowNewKeywords":true,"sqlAllowLike":true,"#,
    r#""sqlAllowGroupByClause":true,"maxSpatialQueryCells":12,"spatialMaxGeometryPointCount":256,"#,
    r#""sqlDisableOptimizationFlags":0,"sqlAllowTop":true,"enableSpatialIndexing":true}"#,
);

/// Returns the account document as JSON. `endpoint` is the address that it names, with a trailing
/// slash. The document has no `_etag`, as in Azure Cosmos DB.
pub(crate) fn account_document(account: &str, endpoint: &str) -> Vec<u8> {
    let location = || array![doc! { "name": REGION, "databaseAccountEndpoint": endpoint }];
    let document = doc! {
        "_self": "",
        "id": account,
        "_rid": account,
        "media": "//media/",
        "addresses": "//addresses/",
        "_dbs": "//dbs/",
        "writableLocations": location(),
        "readableLocations": location(),
        "enableMultipleWriteLocations": false,
        "continuousBackupEnabled": false,
        "enableNRegionSynchronousCommit": false,
        "enablePerPartitionFailoverBehavior": false,
        "userReplicationPolicy": doc! {
            "asyncReplication": false,
            "minReplicaSetSize": Value::Int64(1),
            "maxReplicasetSize": Value::Int64(1),
        },
        "userConsistencyPolicy": doc! { "defaultConsistencyLevel": LEVEL },
        "systemReplicationPolicy": doc! {
            "minReplicaSetSize": Value::Int64(1),
            "maxReplicasetSize": Value::Int64(1),
        },
        "readPolicy": doc! {
            "primaryReadCoefficient": Value::Int64(1),
            "secondaryReadCoefficient": Value::Int64(1),
        },
        "queryEngineConfiguration": QUERY_ENGINE,
    };
    let mut out = Vec::with_capacity(2048);
    json::write(ValueRef::Document(DocRef::Tree(&document)), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_sent_to_the_address() {
        let text = account_document("localhost", "https://[::1]:8081/");
        let found = json::parse_document(&text, 5).unwrap();
        for name in ["writableLocations", "readableLocations"] {
            let shown = json::to_string(found.get(name).unwrap().as_ref());
            assert!(
                shown.contains(r#""databaseAccountEndpoint":"https://[::1]:8081/""#),
                "{shown}"
            );
        }
        assert!(json::parse_document(QUERY_ENGINE.as_bytes(), 2).is_ok());
        assert!(found.get("_etag").is_none());
    }
}
