//! Entry points for fuzzing: each calls one parser of request data. The server does not use this
//! module.

use auth::Key;
use bytes::Bytes;
use document::{DocBuf, DocRef, Document, Value, json};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use rntbd::{HEAD_BYTES, RequestHead};

use crate::{
    batch::{BatchAction, BatchOperation, read_operations},
    binary,
    continuation::open_token,
    direct::{ClientInfo, read_frame},
    epk::{EpkRange, effective_key},
    etag::{parse_etag, quoted_etag},
    headers::Headers,
    homes::Home,
    item::NewItem,
    limits::{MAX_BODY_BYTES, MAX_DEPTH, MAX_HEAD_BYTES},
    link::Link,
    operation::Operation,
    partition_key::{Component, HashKind, KeyPath, PartitionKeyDefinition},
    patch::{Patch, Pointer, apply_patch},
    resource_path::ResourcePath,
    rid::Rid,
    session::parse_tokens,
};

/// Parses the head of a request: method, path and headers. Steps that need an engine are left out.
pub fn read_head<'a>(verb: &[u8], path: &str, lines: impl Iterator<Item = (&'a [u8], &'a [u8])>) {
    let Ok(method) = Method::from_bytes(verb) else { return };
    let mut map = HeaderMap::new();
    for (name, value) in lines.take(100) {
        let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        else {
            return;
        };
        map.append(name, value);
    }
    let (Ok(link), Ok(headers)) = (Link::parse(path), Headers::read(map)) else { return };
    let _ = link.signed_forms();
    let _ = ResourcePath::of_link(&link);
    let _ = (headers.page_items(), headers.prefers_minimal(), headers.has_query());
    let _ = Operation::decide(&method, &link, &headers);
}

/// Parses a frame of direct mode, the head of a request and its tokens. Returns whether it denotes a
/// resource.
pub fn read_request_frame(frame: &[u8]) -> bool {
    let Some(head) = frame.first_chunk() else { return false };
    let Ok(head) = RequestHead::read(head, MAX_HEAD_BYTES) else { return false };
    let tokens = frame.get(HEAD_BYTES..).unwrap_or_default();
    let tokens = Bytes::copy_from_slice(tokens.get(..head.tokens_len).unwrap_or(tokens));
    let client = ClientInfo {
        version: HeaderValue::from_static("2020-07-15"),
        agent: HeaderValue::from_static("fuzz"),
    };
    let Ok(frame) = read_frame(&head, &tokens, &client) else { return false };
    let Ok((method, link, headers)) = frame.parts else { return false };
    let _ = (link.signed_forms(), link.signed.to_path(), ResourcePath::of_link(&link));
    let _ = (headers.page_items(), headers.check_values(), Home::of(&link));
    let _ = Operation::decide(&method, &link, &headers);
    true
}

/// Parses a text as each kind of token or name that has its own format: resource ids, etags, keys.
pub fn read_tokens(text: &str) {
    if let Some(id) = Rid::parse(text) {
        assert_eq!(
            Rid::parse(&id.encode()),
            Some(id),
            "a decoded resource id encodes to another text"
        );
    }
    if let Some(stamp) = parse_etag(text) {
        assert_eq!(
            parse_etag(&quoted_etag(stamp)),
            Some(stamp),
            "a decoded ETag encodes to another text"
        );
    }
    if let Some(components) = Component::parse_all(text) {
        for kind in [HashKind::HashV1, HashKind::HashV2, HashKind::MultiHash] {
            let _ = effective_key(kind, &components);
        }
    }
    let _ = parse_tokens(Some(text));
    let _ = (ResourcePath::parse(text), KeyPath::parse(text), Pointer::parse(text));
    let (min, max) = text.split_at_checked(text.len() / 2).unwrap_or_default();
    let _ = EpkRange::parse(min, max);
    if let Ok(key) = Key::of(b"a key of tests") {
        assert!(
            open_token(&key, &[b"a query".as_slice()], text).is_err(),
            "a forged token was decrypted"
        );
    }
}

/// Parses an item and returns the form in which it is stored.
pub fn read_item(body: &[u8]) -> Option<Vec<u8>> {
    NewItem::parse(body).ok().map(|item| item.to_buf().bytes().to_vec())
}

/// Parses a partition key definition, and extracts a key from it as if it were an item.
pub fn read_definition(body: &[u8]) {
    let Ok(definition) = json::parse_document(body, MAX_DEPTH) else { return };
    if let Ok(key) = PartitionKeyDefinition::parse(&definition) {
        let _ = key.extract_key(DocRef::Tree(&definition));
    }
}

/// Parses a value in binary JSON.
pub fn read_binary(body: &[u8]) -> Option<Value> {
    let found =
        binary::is_binary(body).then(|| binary::read_value(body, MAX_DEPTH, MAX_BODY_BYTES));
    found?.ok()
}

/// Patches a JSON item whose partition key is its property `pk`.
pub fn patch_item(patch: &[u8], item: &[u8]) -> Option<Vec<u8>> {
    let patch = Patch::parse(patch).ok()?;
    let item = json::parse_document(item, MAX_DEPTH).ok()?.to_buf();
    let paths = Value::Array(vec![Value::from("/pk")]);
    let mut definition = Document::new();
    definition.push("paths", paths);
    definition.push("kind", "Hash");
    let key = PartitionKeyDefinition::parse(&definition).ok()?;
    let made: DocBuf = apply_patch(&patch, &key, item.as_ref()).ok()?;
    Some(made.bytes().to_vec())
}

/// Parses the operations of a batch; returns the items in them in stored form.
pub fn read_batch(body: &[u8]) -> Vec<Vec<u8>> {
    let operations = read_operations(body).into_iter().flatten().flatten();
    let item = |operation: BatchOperation| match operation.action {
        BatchAction::Create(item) | BatchAction::Upsert(item) => {
            Some(item.to_buf().bytes().to_vec())
        }
        _ => None,
    };
    operations.filter_map(item).collect()
}
