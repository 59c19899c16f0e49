//! Client encryption policies: the paths of an item that clients encrypt, and the ids of the
//! database's encryption keys for them. The server itself encrypts nothing. Policies are validated
//! as in Azure Cosmos DB, so that mistakes are found before data are written.

use std::collections::HashSet;

use document::{Document, Number, Value};

use super::vectors::{entries_of, text_of};
use crate::{
    failure::{Failure, Result},
    partition_key::KeyPath,
};

const POLICY: &str = "clientEncryptionPolicy";

/// The only encryption algorithm that Azure Cosmos DB accepts.
const ALGORITHM: &str = "AEAD_AES_256_CBC_HMAC_SHA256";

/// Refuses a policy that Azure Cosmos DB refuses. The caller checks whether the keys that it names
/// exist.
pub(super) fn check_encryption(body: &Document, key: &[KeyPath]) -> Result<()> {
    let Some(Value::Document(policy)) = body.get(POLICY) else { return Ok(()) };
    let version = match policy.get("policyFormatVersion") {
        None | Some(Value::Null) => Some(1),
        Some(version) => Number::of(version.as_ref()).and_then(Number::to_i64_exact),
    };
    let Some(version @ (1 | 2)) = version else {
        return Err(Failure::bad_request("The property 'policyFormatVersion' must be 1 or 2."));
    };
    let mut seen = HashSet::new();
    for entry in entries_of(body, POLICY, "includedPaths") {
        let text = text_of(entry, "path");
        let path = KeyPath::parse(text);
        let Some([name]) = path.as_ref().map(KeyPath::parts) else {
            return Err(Failure::bad_request(format!(
                "The path '{text}' of the client encryption policy is not that of a property of the item."
            )));
        };
        if !seen.insert(name.clone()) {
            return Err(Failure::bad_request(format!(
                "The client encryption policy has the path '{text}' more than once."
            )));
        }
        check_entry(entry, text)?;
        let begins = |held: &KeyPath| held.parts().first() == Some(name);
        let names_items = name == "id" || key.iter().any(begins);
        if names_items && (version == 1 || text_of(entry, "encryptionType") != "Deterministic") {
            return Err(Failure::bad_request(format!(
                "The path '{text}' is the id or in the partition key: that is encrypted by a policy of \
                 version 2 alone, and deterministically."
            )));
        }
    }
    Ok(())
}

/// Refuses an element of the policy's list of paths that has missing or invalid properties.
fn check_entry(entry: &Document, path: &str) -> Result<()> {
    if text_of(entry, "clientEncryptionKeyId").is_empty() {
        return Err(Failure::bad_request(format!(
            "The path '{path}' of the client encryption policy has no 'clientEncryptionKeyId'."
        )));
    }
    if !["Deterministic", "Randomized"].contains(&text_of(entry, "encryptionType")) {
        return Err(Failure::bad_request(format!(
            "The 'encryptionType' of the path '{path}' must be Deterministic or Randomized."
        )));
    }
    if text_of(entry, "encryptionAlgorithm") != ALGORITHM {
        return Err(Failure::bad_request(format!(
            "The 'encryptionAlgorithm' of the path '{path}' must be {ALGORITHM}."
        )));
    }
    Ok(())
}

/// Returns the ids of the client encryption keys that a definition refers to.
pub(crate) fn encryption_keys(options: &Document) -> Vec<&str> {
    let entries = entries_of(options, POLICY, "includedPaths").into_iter();
    entries.map(|entry| text_of(entry, "clientEncryptionKeyId")).collect()
}

/// Returns the paths of a definition's encryption policy, each with key id, encryption type and
/// algorithm.
fn policy_entries(options: &Document) -> Vec<[&str; 4]> {
    let names = ["path", "clientEncryptionKeyId", "encryptionType", "encryptionAlgorithm"];
    let entries = entries_of(options, POLICY, "includedPaths").into_iter();
    entries.map(|entry| names.map(|name| text_of(entry, name))).collect()
}

/// Refuses a replacement that changes the policy, since stored data are encrypted by the current
/// policy.
pub(super) fn check_replacement(new: &Document, held: &Document) -> Result<()> {
    if policy_entries(new) == policy_entries(held) {
        return Ok(());
    }
    Err(Failure::bad_request(
        "'clientEncryptionPolicy' cannot be changed as part of collection replace operation.",
    ))
}

#[cfg(test)]
mod tests {
    use document::json;

    use super::*;

    fn entry(path: &str, more: &str) -> String {
        format!(
            r#"{{"path":"{path}","clientEncryptionKeyId":"k",{more}"encryptionAlgorithm":"{ALGORITHM}"}}"#
        )
    }

    fn body(entries: &str, version: &str) -> Document {
        let text = format!(r#"{{"{POLICY}":{{"includedPaths":[{entries}]{version}}}}}"#);
        json::parse_document(text.as_bytes(), 9).unwrap()
    }

    #[test]
    fn what_the_service_refuses_is_refused() {
        let (fixed, random) =
            (r#""encryptionType":"Deterministic","#, r#""encryptionType":"Randomized","#);
        let second = r#","policyFormatVersion":2"#;
        let key = [KeyPath::parse("/pk/x").unwrap()];
        for (entries, version, good) in [
            (entry("/a", fixed), "", true),
            (entry("/a", random), r#","policyFormatVersion":1"#, true),
            (String::new(), "", true),
            (entry("/a", random), r#","policyFormatVersion":3"#, false),
            (entry("/a", random), r#","policyFormatVersion":"1""#, false),
            (format!("{},{}", entry("/a", fixed), entry("/a", random)), "", false),
            (format!("{},{}", entry("/a", fixed), entry("/b", random)), "", true),
            (entry("/a/b", fixed), "", false),
            (entry("a", fixed), "", false),
            (entry("", fixed), "", false),
            (entry("/a", r#""encryptionType":"None","#), "", false),
            (entry("/a", ""), "", false),
            (entry("/id", fixed), "", false),
            (entry("/id", fixed), second, true),
            (entry("/id", random), second, false),
            (entry("/pk", fixed), "", false),
            (entry("/pk", fixed), second, true),
            (r#"{"path":"/a","encryptionType":"Randomized"}"#.to_owned(), "", false),
        ] {
            let found = check_encryption(&body(&entries, version), &key);
            assert_eq!(found.is_ok(), good, "{entries} {version}");
        }
        assert_eq!(encryption_keys(&body(&entry("/a", fixed), "")), ["k"]);
    }

    #[test]
    fn a_policy_stays_as_it_is() {
        let one = body(&entry("/a", r#""encryptionType":"Randomized","#), "");
        let none = Document::new();
        for (new, held, good) in
            [(&one, &one, true), (&none, &none, true), (&none, &one, false), (&one, &none, false)]
        {
            assert_eq!(check_replacement(new, held).is_ok(), good);
        }
    }
}
