//! The account document. It names the address under which the client came, as clients go on with
//! what it says.

use document::{DocRef, Value, ValueRef, array, doc, json};

/// Name of the one region there is.
const REGION: &str = "South Central US";

/// What clients may ask of queries, as they read it: a text of JSON.
const QUERY_ENGINE: &str = concat!(
    r#"{"maxSqlQueryInputLength":262144,"maxJoinsPerSqlQuery":10,"maxLogicalAndPerSqlQuery":2000,"#,
    r#""maxLogicalOrPerSqlQuery":2000,"maxUdfRefPerSqlQuery":10,"maxInExpressionItemsCount":16000,"#,
    r#""queryMaxInMemorySortDocumentCount":500,"maxQueryRequestTimeoutFraction":0.9,"#,
    r#""sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":true,"#,
    r#""sqlAllowScalarSubQuery":true,"allowNewKeywords":true,"sqlAllowLike":true,"#,
    r#""sqlAllowGroupByClause":true,"maxSpatialQueryCells":12,"spatialMaxGeometryPointCount":256,"#,
    r#""sqlDisableOptimizationFlags":0,"sqlAllowTop":true,"enableSpatialIndexing":true}"#,
);

/// The document for a client that came under this scheme and address.
pub(crate) fn document(account: &str, scheme: &str, authority: &str) -> Vec<u8> {
    let endpoint = format!("{scheme}://{authority}/");
    let location = || array![doc! { "name": REGION, "databaseAccountEndpoint": endpoint.as_str() }];
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
        "userConsistencyPolicy": doc! { "defaultConsistencyLevel": "Session" },
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
    fn clients_are_sent_where_they_came_from() {
        let text = document("localhost", "https", "[::1]:8081");
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
