//! Client encryption keys, and policies that use them.

use crate::client::Client;

const KEYS: &str = "/dbs/d/clientencryptionkeys";

fn key(id: &str, wrapped: &str) -> String {
    format!(
        r#"{{"id":"{id}","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256","wrappedDataEncryptionKey":"{wrapped}","keyWrapMetadata":{{"type":"custom","name":"master","value":"https://vault/key","algorithm":"RSA-OAEP"}}}}"#
    )
}

#[tokio::test]
async fn keys_are_made_read_and_wrapped_anew() {
    let mut client = Client::with_container("").await;
    let one = format!("{KEYS}/k1");
    assert_eq!(client.ask("GET", &one, &[], "").await.status, 404);
    let made = client.ask("POST", KEYS, &[], &key("k1", "AQID")).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(client.ask("POST", KEYS, &[], &key("k1", "AQID")).await.status, 409);
    assert_eq!(client.ask("POST", KEYS, &[], &key("k2", "BAUG")).await.status, 201);
    let read = client.ask("GET", &one, &[], "").await;
    assert_eq!((read.status, &read.body), (200, &made.body));
    assert!(read.body.contains(r#""algorithm":"RSA-OAEP""#) && !read.body.contains("number"));
    let rid = made.text("_rid");
    assert_eq!(made.text("_self").rsplit('/').nth(1), Some(rid.as_str()));
    let by_rid = client.ask("GET", &format!("{KEYS}/{rid}"), &[], "").await;
    assert_eq!(by_rid.text("id"), "k1");
    let known = [("if-none-match", made.header("etag").unwrap())];
    assert_eq!(client.ask("GET", &one, &known, "").await.status, 304);
    let listed = client.ask("GET", KEYS, &[], "").await;
    assert!(listed.body.contains("\"ClientEncryptionKeys\":["), "{listed:?}");
    assert!(listed.body.contains("\"_count\":2"), "{listed:?}");
    let asked = [("content-type", "application/query+json")];
    let query = r#"{"query":"SELECT VALUE c.id FROM c WHERE c.id > 'k1'"}"#;
    let found = client.ask("POST", KEYS, &asked, query).await;
    assert!(found.body.contains(r#"["k2"]"#), "{found:?}");
    let other = [("if-match", "\"x\"")];
    assert_eq!(client.ask("PUT", &one, &other, &key("k1", "BwgJ")).await.status, 412);
    let put = client.ask("PUT", &one, &[], &key("k1", "BwgJ")).await;
    assert_eq!((put.status, put.text("wrappedDataEncryptionKey")), (200, "BwgJ".to_owned()));
    assert_eq!(put.text("_rid"), rid);
    assert_eq!(client.ask("PUT", &one, &[], &key("k3", "BwgJ")).await.status, 400);
    assert_eq!(
        client.ask("PUT", &format!("{KEYS}/none"), &[], &key("none", "AA==")).await.status,
        404
    );
    assert_eq!(client.ask("DELETE", &one, &[], "").await.status, 405);
    assert_eq!(client.ask("DELETE", "/dbs/d", &[], "").await.status, 204);
    client.ask("POST", "/dbs", &[], r#"{"id":"d"}"#).await;
    assert!(client.ask("GET", KEYS, &[], "").await.body.contains("\"_count\":0"));
}

#[tokio::test]
async fn keys_that_say_too_little_are_refused() {
    let mut client = Client::with_container("").await;
    let good = key("k", "AQID");
    for (part, other) in [
        ("\"k\"", "1"),
        ("\"AQID\"", "\"*\""),
        ("\"AQID\"", "1"),
        ("\"AQID\"", "\"\""),
        ("AEAD_AES_256_CBC_HMAC_SHA256", ""),
        ("\"custom\"", "null"),
        ("\"algorithm\"", "\"other\""),
        ("keyWrapMetadata", "metadata"),
    ] {
        let body = good.replacen(part, other, 1);
        assert_ne!(body, good);
        assert_eq!(client.ask("POST", KEYS, &[], &body).await.status, 400, "{body}");
    }
    assert_eq!(client.ask("POST", "/dbs/none/clientencryptionkeys", &[], &good).await.status, 404);
    for at in 0..20 {
        let body = key(&format!("k{at}"), "AQID");
        assert_eq!(client.ask("POST", KEYS, &[], &body).await.status, 201, "{at}");
    }
    assert_eq!(client.ask("POST", KEYS, &[], &good).await.status, 403);
}

#[tokio::test]
async fn policies_name_keys_of_their_database() {
    let mut client = Client::with_container("").await;
    client.ask("POST", KEYS, &[], &key("k", "AQID")).await;
    let definition = |id: &str, key: &str, kind: &str| {
        format!(
            r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}},"clientEncryptionPolicy":{{"includedPaths":[{{"path":"/secret","clientEncryptionKeyId":"{key}","encryptionType":"{kind}","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}}],"policyFormatVersion":1}}}}"#
        )
    };
    let colls = "/dbs/d/colls";
    let good = definition("e", "k", "Deterministic");
    let unknown =
        client.ask("POST", colls, &[], &definition("e", "unknownKey", "Randomized")).await;
    let text = "ClientEncryptionKey with id '[unknownKey]' does not exist.";
    assert!(unknown.status == 400 && unknown.body.contains(text), "{unknown:?}");
    let wrong = client.ask("POST", colls, &[], &definition("e", "k", "Other")).await;
    assert_eq!(wrong.status, 400, "{wrong:?}");
    let made = client.ask("POST", colls, &[], &good).await;
    assert_eq!(made.status, 201, "{made:?}");
    let policy =
        good.split("\"clientEncryptionPolicy\":").nth(1).unwrap().strip_suffix('}').unwrap();
    let read = client.ask("GET", "/dbs/d/colls/e", &[], "").await;
    assert!(read.body.contains(policy), "{read:?}");
    assert_eq!(client.ask("PUT", "/dbs/d/colls/e", &[], &good).await.status, 200);
    let none = r#"{"id":"e","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    for body in [definition("e", "k", "Randomized").as_str(), none] {
        let put = client.ask("PUT", "/dbs/d/colls/e", &[], body).await;
        assert!(put.status == 400 && put.body.contains("cannot be changed"), "{put:?}");
    }
}
