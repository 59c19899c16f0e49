//! Tests of which container definitions are accepted, and of the stored result.

use document::{ValueRef, json};
use engine::DefaultTtl;

use super::*;

fn document(text: &str) -> Document {
    json::parse_document(text.as_bytes(), 20).unwrap()
}

fn parse(more: &str) -> Result<ContainerDefinition> {
    ContainerDefinition::parse(document(&format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"version":2}}{more}}}"#
    )))
}

fn shown(definition: &ContainerDefinition) -> String {
    json::to_string(ValueRef::Document(document::DocRef::Tree(definition.options())))
}

#[test]
fn the_twelve_values_of_a_default() {
    for (value, want) in [
        ("5", Some(DefaultTtl::Seconds(5))),
        ("-1", Some(DefaultTtl::Infinite)),
        ("1", Some(DefaultTtl::Seconds(1))),
        ("2147483647", Some(DefaultTtl::Seconds(2_147_483_647))),
        ("5.0", Some(DefaultTtl::Seconds(5))),
        ("0", None),
        ("-2", None),
        ("-10", None),
        ("2147483648", None),
        ("\"5\"", None),
        ("1.5", None),
        ("true", None),
        ("null", None),
    ] {
        let found = parse(&format!(r#","defaultTtl":{value}"#));
        match want {
            Some(want) => assert_eq!(found.unwrap().engine_definition().default, want, "{value}"),
            None => {
                let failure = found.unwrap_err();
                assert_eq!(failure.fault.status(), 400, "{value}");
                assert!(failure.text.contains(&format!("'{value}'")), "{}", failure.text);
            }
        }
    }
    assert_eq!(parse("").unwrap().engine_definition().default, DefaultTtl::Off);
}

#[test]
fn what_is_not_said_is_completed() {
    let want = concat!(
        r#"{"id":"c","partitionKey":{"paths":["/pk"],"version":2,"kind":"Hash"},"#,
        r#""indexingPolicy":{"indexingMode":"consistent","automatic":true,"#,
        r#""includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},"#,
        r#""conflictResolutionPolicy":{"mode":"LastWriterWins","#,
        r#""conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},"#,
        r#""geospatialConfig":{"type":"Geography"}}"#,
    );
    let found = parse(r#","_rid":"x","_ts":1,"unknown":1"#).unwrap();
    assert_eq!(shown(&found), want);
    let names: Vec<&str> =
        found.engine_definition().indexes.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["paths"]);
}

#[test]
fn the_etag_is_not_indexed_unless_it_is_named() {
    let (etag, named) = (r#"{"path":"/\"_etag\"/?"}"#, r#"{"path":"/_etag/*"}"#);
    for (policy, excluded) in [
        ("{}".to_owned(), format!("[{etag}]")),
        (r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[]}"#.to_owned(), format!("[{etag}]")),
        (r#"{"includedPaths":[{"path":"/*"}]}"#.to_owned(), format!("[{etag}]")),
        (r#"{"excludedPaths":[{"path":"/*"}]}"#.to_owned(), format!(r#"[{{"path":"/*"}},{etag}]"#)),
        (
            format!(r#"{{"includedPaths":[{{"path":"/*"}}],"excludedPaths":[{etag}]}}"#),
            format!("[{etag}]"),
        ),
        (format!(r#"{{"includedPaths":[{{"path":"/*"}},{named}]}}"#), "[]".to_owned()),
        (r#"{"indexingMode":"none"}"#.to_owned(), "[]".to_owned()),
    ] {
        let found = parse(&format!(r#","indexingPolicy":{policy}"#)).unwrap();
        let (shown, want) = (shown(&found), format!(r#""excludedPaths":{excluded}"#));
        assert!(shown.contains(&want), "{policy}: {shown}");
        let again =
            ContainerDefinition::parse_replacement(document(&shown), found.options()).unwrap();
        assert_eq!(
            again.engine_definition().indexes,
            found.engine_definition().indexes,
            "{policy}"
        );
        assert_eq!(again.options(), found.options(), "{policy}");
    }
}

#[test]
fn policies() {
    for (policy, want) in [
        (r#"{"indexingMode":"Consistent"}"#, Ok(1)),
        (r#"{"indexingMode":"lazy","automatic":false}"#, Ok(1)),
        (r#"{"indexingMode":"none","automatic":false}"#, Ok(0)),
        (r#"{"indexingMode":"none","includedPaths":[]}"#, Ok(0)),
        (r#"{"includedPaths":[],"excludedPaths":[{"path":"/*"}]}"#, Ok(0)),
        (r#"{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}"#, Ok(1)),
        (r#"{"includedPaths":[{"path":"/*"},{"path":"/t/[]/{a, b}/?"}]}"#, Ok(1)),
        (r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]]}"#, Ok(2)),
        (r#"{"spatialIndexes":[{"path":"/p/*","types":["Point"]}]}"#, Ok(1)),
        (r#"{"spatialIndexes":[{"path":"/p/*","types":[]}]}"#, Ok(1)),
        (r#"{"spatialIndexes":[{"path":"/p/*","types":["Circle"]}]}"#, Err(400)),
        (r#"{"spatialIndexes":[{"path":"p"}]}"#, Err(400)),
        (r#"{"spatialIndexes":[{"types":["Point"]}]}"#, Err(400)),
        (r#"{"spatialIndexes":{}}"#, Err(400)),
        (r#"{"indexingMode":"eager"}"#, Err(400)),
        (r#"{"automatic":1}"#, Err(400)),
        (r#"{"includedPaths":[{"path":"/a/?"}]}"#, Err(400)),
        (r#"{"includedPaths":[{"path":"/*"},{"path":"/*"}]}"#, Err(400)),
        (r#"{"includedPaths":[{"path":"a"}]}"#, Err(400)),
        (r#"{"includedPaths":[{}]}"#, Err(400)),
        (r#"{"includedPaths":{}}"#, Err(400)),
        (r#"{"compositeIndexes":[[{"path":"/a"}]]}"#, Err(400)),
        (r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b/?"}]]}"#, Err(400)),
        (r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"up"}]]}"#, Err(400)),
        (r#"{"vectorIndexes":[{"path":"/v","type":"flat"}]}"#, Err(400)),
        (r#"{"vectorIndexes":[{"path":"/v","type":"round"}]}"#, Err(400)),
        (r#"{"vectorIndexes":[{"path":"v","type":"flat"}]}"#, Err(400)),
        (r#"{"vectorIndexes":{}}"#, Err(400)),
        (r#"{"fullTextIndexes":[{"path":"/t"}]}"#, Err(400)),
        (r#"{"fullTextIndexes":[]}"#, Ok(1)),
        (r#"{"fullTextIndexes":["/t"]}"#, Err(400)),
        (r#"{"vectorIndexes":[]}"#, Ok(1)),
    ] {
        let found = parse(&format!(r#","indexingPolicy":{policy}"#));
        let found = found.map(|found| found.engine_definition().indexes.len());
        assert_eq!(found.map_err(|failure| failure.fault.status()), want, "{policy}");
    }
}

#[test]
fn spatial_indexes_of_a_plane_have_a_bounding_box() {
    let bounds = r#""boundingBox":{"xmin":-10,"ymin":-5,"xmax":10,"ymax":5}"#;
    let inverted = r#""boundingBox":{"xmin":10,"ymin":-5,"xmax":-10,"ymax":5}"#;
    for (kind, index, want) in [
        ("Geography", "", 200),
        ("Geography", bounds, 400),
        ("Geometry", bounds, 200),
        ("Geometry", "", 400),
        ("Geometry", inverted, 400),
        ("Geometry", r#""boundingBox":{"xmin":1}"#, 400),
        ("Geometry", r#""boundingBox":[1,2,3,4]"#, 400),
    ] {
        let more = if index.is_empty() { String::new() } else { format!(",{index}") };
        let found = parse(&format!(
            r#","geospatialConfig":{{"type":"{kind}"}},
               "indexingPolicy":{{"spatialIndexes":[{{"path":"/p/*"{more}}}]}}"#
        ));
        match found {
            Ok(found) => {
                assert_eq!(want, 200, "{kind} {index}");
                let types = r#""types":["Point","LineString","Polygon","MultiPolygon"]"#;
                assert!(shown(&found).contains(types), "{}", shown(&found));
            }
            Err(failure) => {
                assert_eq!(failure.fault.status(), want, "{kind} {index}");
                assert!(failure.text.contains("boundingBox"), "{}", failure.text);
            }
        }
    }
}

#[test]
fn no_index_and_expiry_exclude_each_other() {
    let failure = parse(r#","defaultTtl":5,"indexingPolicy":{"indexingMode":"none"}"#).unwrap_err();
    assert_eq!(
        failure.text,
        "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection"
    );
}

#[test]
fn other_properties() {
    for (more, want) in [
        (r#","uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b/c"]}]}"#, 200),
        (r#","uniqueKeyPolicy":{"uniqueKeys":[]}"#, 200),
        (r#","uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}"#, 400),
        (r#","uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/_ts"]}]}"#, 400),
        (r#","uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]},{"paths":["/a"]}]}"#, 400),
        (r#","uniqueKeyPolicy":[]"#, 400),
        (r#","changeFeedPolicy":{"retentionDuration":10}"#, 200),
        (r#","changeFeedPolicy":{"retentionDuration":-1}"#, 400),
        (r#","conflictResolutionPolicy":{"mode":"Custom"}"#, 200),
        (r#","conflictResolutionPolicy":{"mode":"Dice"}"#, 400),
        (r#","geospatialConfig":{"type":"Geometry"}"#, 200),
        (r#","geospatialConfig":{"type":"Flat"}"#, 400),
        (r#","vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v"}]}"#, 400),
        (
            r#","vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32",
                "dimensions":3,"distanceFunction":"cosine"}]}"#,
            200,
        ),
        (r#","vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"v"}]}"#, 400),
        (r#","vectorEmbeddingPolicy":{"vectorEmbeddings":1}"#, 400),
        (r#","vectorEmbeddingPolicy":1"#, 400),
        (
            r#","clientEncryptionPolicy":{"includedPaths":[{"path":"/s"}],"policyFormatVersion":1}"#,
            400,
        ),
        (r#","clientEncryptionPolicy":{"includedPaths":["/s"]}"#, 400),
        (r#","analyticalStorageTtl":-1"#, 200),
        (r#","analyticalStorageTtl":100"#, 200),
        (r#","analyticalStorageTtl":-2"#, 400),
        (r#","analyticalStorageTtl":"x""#, 400),
        (r#","changeFeedPolicy":{"retentionDuration":10,"retainPreviousImages":true}"#, 200),
        (r#","changeFeedPolicy":{"retainPreviousImages":1}"#, 400),
        (r#","vectorEmbeddingPolicy":{"vectorEmbeddings":[]}"#, 200),
        (r#","fullTextPolicy":{"defaultLanguage":"en-US"}"#, 200),
        (r#","materializedViewDefinition":{"definition":"x"}"#, 501),
        (r#","computedProperties":[]"#, 200),
        (r#","computedProperties":[{"name":"x","query":"y"}]"#, 501),
        (r#","computedProperties":null"#, 200),
        (r#","computedProperties":{}"#, 400),
        (r#","computedProperties":{"a":[]}"#, 400),
        (r#","computedProperties":0"#, 400),
        (r#","ttlPropertyPath":"/x""#, 400),
        (r#","ttlPropertyPath":"/x","defaultTtl":5"#, 501),
    ] {
        let found = parse(more).map_or_else(|failure| failure.fault.status(), |_| 200);
        assert_eq!(found, want, "{more}");
    }
    let many = [r#"{"paths":["/a"]}"#; 11].join(",");
    assert!(parse(&format!(r#","uniqueKeyPolicy":{{"uniqueKeys":[{many}]}}"#)).is_err());
    assert!(
        ContainerDefinition::parse(document(r#"{"id":"c"}"#)).is_ok(),
        "from before partition keys"
    );
    assert!(ContainerDefinition::parse(document(r#"{"id":"c","partitionKey":1}"#)).is_err());
}

#[test]
fn what_is_only_kept_is_shown_as_it_came() {
    let policies = [
        r#""vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]}"#,
        r#""fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/t","language":"en-US"}]}"#,
        r#""clientEncryptionPolicy":{"includedPaths":[{"path":"/s","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}],"policyFormatVersion":1}"#,
        r#""analyticalStorageTtl":-1"#,
        r#""vectorIndexes":[{"path":"/v","type":"diskANN"}],"fullTextIndexes":[{"path":"/t"}]"#,
    ];
    let [vectors, texts, keys, seconds, indexes] = policies;
    let more = format!(r#",{vectors},{texts},{keys},{seconds},"indexingPolicy":{{{indexes}}}"#);
    let text = shown(&parse(&more).unwrap());
    for policy in policies {
        assert!(text.contains(policy), "{text}");
    }
    let manual = parse(r#","indexingPolicy":{"automatic":false}"#).unwrap();
    let text = shown(&manual);
    assert!(text.contains(r#""automatic":true"#), "{text}");
}

#[test]
fn what_cannot_be_changed() {
    let unique = r#","uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]}"#;
    let held = parse(unique).unwrap();
    let replace = |text: &str| {
        let found = ContainerDefinition::parse_replacement(document(text), held.options());
        found.map_or_else(|failure| failure.text.into_owned(), |_| "fine".to_owned())
    };
    let key = r#""partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}"#;
    for (text, want) in [
        (format!(r#"{{"id":"c",{key}{unique},"defaultTtl":5}}"#), "fine"),
        (format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}}{unique}}}"#), "fine"),
        (format!(r#"{{"id":"c",{key}}}"#), "unique keys"),
        (format!(r#"{{"id":"d",{key}{unique}}}"#), "id of a container"),
        (format!(r#"{{"id":"c"{unique}}}"#), "partition key cannot"),
        (format!(r#"{{"id":"c","partitionKey":{{"paths":["/x"]}}{unique}}}"#), "partition key"),
    ] {
        assert!(replace(&text).contains(want), "{text}: {}", replace(&text));
    }
    let plain = parse("").unwrap();
    let text = format!(r#"{{"id":"c",{key},"uniqueKeyPolicy":{{"uniqueKeys":[]}}}}"#);
    assert!(ContainerDefinition::parse_replacement(document(&text), plain.options()).is_ok());
}

#[test]
fn a_kept_index_of_full_texts_without_a_policy_stays() {
    let indexed = |path: &str| {
        document(&format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}},
                "indexingPolicy":{{"fullTextIndexes":[{{"path":"{path}"}}]}}}}"#
        ))
    };
    let replaced =
        |path: &str| ContainerDefinition::parse_replacement(indexed(path), &indexed("/t"));
    assert!(replaced("/t").is_ok());
    assert!(replaced("/u").unwrap_err().text.contains("path::/u not matching"));
}
