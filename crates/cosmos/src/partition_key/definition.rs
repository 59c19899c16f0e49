//! The partition key definition of a container, and the rules for headers and items.
//!
//! A request names a key in a header, and an item contains one at the key's paths. A write must
//! name the key that its item contains, so that clients and proxies that route by the header reach
//! the item's partition. Otherwise it is refused, as in Azure Cosmos DB.

use document::{DocRef, Document, Value, array, doc};

use crate::{
    failure::{Failure, Fault},
    limits::{MAX_KEY_BYTES, MAX_KEY_PATHS},
    partition_key::{Component, KeyPath},
};

/// Path of the system partition key, which a container created without a partition key gets.
const SYSTEM_PATH: &str = "/_partitionKey";

/// Method by which the components are combined to an effective partition key. It cannot change once
/// a container exists, since row keys depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashKind {
    /// Hash version 1 over a single path: a hash, followed by the components.
    HashV1,
    /// Hash version 2 over a single path.
    HashV2,
    /// One hash per component, so that keys with a common prefix are adjacent.
    MultiHash,
}

/// A container's partition key definition.
#[derive(Clone, Debug)]
pub(crate) struct PartitionKeyDefinition {
    /// The paths in items, in order; empty in a container without a partition key.
    paths: Vec<KeyPath>,
    kind: HashKind,
    /// Whether this is the system partition key of clients that predate partition keys: a request
    /// without the partition key header, or with an empty array in it, refers to the items without
    /// the property `_partitionKey`.
    system: bool,
}

/// The part of a container to which the partition key header of a request limits the operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum KeyScope {
    /// All items of one logical partition.
    Whole(Vec<Component>),
    /// All items whose partition keys start with these components.
    Prefix(Vec<Component>),
}

impl PartitionKeyDefinition {
    /// Returns the definition of a container that an earlier version created without a partition
    /// key: all items are in one logical partition.
    pub(crate) fn without_paths() -> Self {
        Self { paths: Vec::new(), kind: HashKind::HashV2, system: false }
    }

    /// Returns the system partition key definition, which is stored as the definition of a
    /// container created without a partition key. Most items do not have the property at its path.
    pub(crate) fn system_document() -> Document {
        doc! { "paths": array![SYSTEM_PATH], "kind": "Hash", "systemKey": true }
    }

    /// Returns whether a definition, or its absence, means that a container has no partition key.
    pub(crate) fn means_no_key(definition: Option<&Value>) -> bool {
        match definition {
            None | Some(Value::Null) => true,
            Some(Value::Document(key)) => match key.get("paths") {
                Some(Value::Array(paths)) => match paths.as_slice() {
                    [] => true,
                    [path] => {
                        path.as_ref().as_str() == Some(SYSTEM_PATH)
                            && key.get("systemKey") == Some(&Value::Bool(true))
                    }
                    _ => false,
                },
                _ => false,
            },
            Some(_) => false,
        }
    }

    /// Returns whether requests and items may omit the partition key.
    pub(crate) fn is_optional(&self) -> bool {
        self.system || self.paths.is_empty()
    }

    /// Parses a definition. Kind and version are optional: one path means `Hash`, several mean
    /// `MultiHash`, and for `Hash` the default version is 1.
    pub(crate) fn parse(definition: &Document) -> Result<Self, Failure> {
        let refused = |text: String| Failure::new(Fault::BadRequest, text);
        let Some(Value::Array(paths)) = definition.get("paths") else {
            return Err(refused("The partition key definition has no array 'paths'.".to_owned()));
        };
        let kind = match definition.get("kind").map(Value::as_ref) {
            None => {
                if paths.len() == 1 {
                    "Hash"
                } else {
                    "MultiHash"
                }
            }
            Some(kind) => kind.as_str().unwrap_or_default(),
        };
        let version = match definition.get("version") {
            None if kind == "MultiHash" => 2,
            None => 1,
            // The Java SDK sends the names of the versions instead of numbers.
            Some(Value::String(name)) if name.eq_ignore_ascii_case("V1") => 1,
            Some(Value::String(name)) if name.eq_ignore_ascii_case("V2") => 2,
            Some(version) => whole_number(version).unwrap_or(0),
        };
        let (kind, most) = match (kind, version) {
            ("Hash", 1) => (HashKind::HashV1, 1),
            ("Hash", 2) => (HashKind::HashV2, 1),
            ("MultiHash", 2) => (HashKind::MultiHash, MAX_KEY_PATHS),
            ("Hash" | "MultiHash", _) => {
                return Err(refused("The partition key's version is not supported.".to_owned()));
            }
            (other, _) => {
                return Err(refused(format!("The partition key kind '{other}' is not supported.")));
            }
        };
        if paths.is_empty() || most < paths.len() {
            let text = format!("A partition key of this kind must have 1 to {most} paths.");
            return Err(refused(text));
        }
        let mut parsed: Vec<KeyPath> = Vec::new();
        for path in paths {
            let text = path.as_ref().as_str().unwrap_or_default();
            let path = KeyPath::parse(text).filter(|path| !parsed.contains(path));
            parsed.push(path.ok_or_else(|| {
                refused(format!("The partition key component definition path '{text}' is invalid."))
            })?);
        }
        let system = matches!(definition.get("systemKey"), Some(Value::Bool(true)));
        Ok(Self { paths: parsed, kind, system })
    }

    pub(crate) fn kind(&self) -> HashKind {
        self.kind
    }

    pub(crate) fn paths(&self) -> &[KeyPath] {
        &self.paths
    }

    /// Extracts the key of an item.
    pub(crate) fn extract_key(&self, item: DocRef<'_>) -> Vec<Component> {
        self.paths.iter().map(|path| Component::of_value(path.find_value(item))).collect()
    }

    /// Returns the key of items that have none of the properties in the definition.
    fn missing_key(&self) -> Vec<Component> {
        vec![Component::Undefined; self.paths.len()]
    }

    /// Returns the full key in a header, which operations on one item require. Fails if the header
    /// has only a prefix of a hierarchical key.
    pub(crate) fn whole_key(&self, header: Option<&str>) -> Result<Vec<Component>, Failure> {
        match header {
            None if self.is_optional() => Ok(self.missing_key()),
            None => Err(Failure::new(
                Fault::BadRequest,
                "PartitionKey value must be supplied for this operation.",
            )),
            Some(header) => match self.read_scope(header)? {
                KeyScope::Whole(components) => Ok(components),
                KeyScope::Prefix(_) => Err(Failure::new(
                    Fault::PartitionKey,
                    "The partition key supplied in x-ms-partitionkey header has fewer components \
                     than defined in the the collection.",
                )),
            },
        }
    }

    /// Parses the partition key header to the part of the container that it selects. More
    /// components than the definition has paths are refused, with the sub-status on which SDKs
    /// reload the definition.
    pub(crate) fn read_scope(&self, header: &str) -> Result<KeyScope, Failure> {
        let mut components = Component::parse_all(header).ok_or_else(|| {
            Failure::new(Fault::BadRequest, format!("Partition key {header} is invalid."))
        })?;
        if components.is_empty() && self.system {
            components = self.missing_key();
        }
        if self.paths.len() < components.len() {
            return Err(Failure::mismatch_of_definition());
        }
        check_len(&components)?;
        if components.len() == self.paths.len() {
            Ok(KeyScope::Whole(components))
        } else {
            Ok(KeyScope::Prefix(components))
        }
    }

    /// Returns the partition key of an item to be written; the key in the header must equal it bit
    /// by bit.
    pub(crate) fn of_item(
        &self,
        item: DocRef<'_>,
        header: Option<&str>,
    ) -> Result<Vec<Component>, Failure> {
        let named = match header.map(|header| self.read_scope(header)).transpose()? {
            Some(KeyScope::Prefix(_)) => return Err(Failure::mismatch_of_definition()),
            Some(KeyScope::Whole(components)) => components,
            None => self.whole_key(None)?,
        };
        let held = self.extract_key(item);
        check_len(&held)?;
        if named == held { Ok(held) } else { Err(Failure::mismatch_of_item()) }
    }
}

/// Refuses a key that is too long for a row key.
pub(crate) fn check_len(components: &[Component]) -> Result<(), Failure> {
    if MAX_KEY_BYTES < components.iter().map(Component::counted_bytes).sum() {
        return Err(Failure::new(
            Fault::BadRequest,
            format!("The partition key is longer than {MAX_KEY_BYTES} bytes."),
        ));
    }
    Ok(())
}

/// Returns an integer in any JSON notation of integers, such as `2` or `2.0`.
fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Int64(value) => Some(*value),
        Value::Double(value) if value.fract() == 0.0 => Some(*value as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use document::json;

    use super::*;

    fn parse(text: &str) -> Result<PartitionKeyDefinition, Failure> {
        PartitionKeyDefinition::parse(&json::parse_document(text.as_bytes(), 5).unwrap())
    }

    #[test]
    fn definitions() {
        for (text, want) in [
            (r#"{"paths":["/a"]}"#, Some(HashKind::HashV1)),
            (r#"{"paths":["/a"],"kind":"Hash"}"#, Some(HashKind::HashV1)),
            (r#"{"paths":["/a/b"],"kind":"Hash","version":2}"#, Some(HashKind::HashV2)),
            (r#"{"paths":["/a"],"kind":"Hash","version":2.0}"#, Some(HashKind::HashV2)),
            (r#"{"paths":["/a"],"kind":"Hash","version":"V2"}"#, Some(HashKind::HashV2)),
            (r#"{"paths":["/a"],"kind":"Hash","version":"v1"}"#, Some(HashKind::HashV1)),
            (
                r#"{"paths":["/a","/b","/c"],"kind":"MultiHash","version":2}"#,
                Some(HashKind::MultiHash),
            ),
            (r#"{"paths":["/a","/b"]}"#, Some(HashKind::MultiHash)),
            (r#"{"paths":["/a","/b"],"kind":"Hash"}"#, None),
            (r#"{"paths":["/a","/a"],"kind":"MultiHash","version":2}"#, None),
            (r#"{"paths":["/a","/b","/c","/d"],"kind":"MultiHash","version":2}"#, None),
            (r#"{"paths":["/a"],"kind":"MultiHash","version":1}"#, None),
            (r#"{"paths":["/a"],"kind":"Range"}"#, None),
            (r#"{"paths":["/a"],"kind":1}"#, None),
            (r#"{"paths":["/a"],"kind":"Hash","version":3}"#, None),
            (r#"{"paths":["/a"],"kind":"Hash","version":"2"}"#, None),
            (r#"{"paths":[]}"#, None),
            (r#"{"paths":["a"]}"#, None),
            (r#"{"paths":["/a/*"]}"#, None),
            (r#"{"paths":[1]}"#, None),
            (r#"{"paths":"/a"}"#, None),
            ("{}", None),
        ] {
            assert_eq!(parse(text).ok().map(|found| found.kind()), want, "{text}");
        }
    }

    #[test]
    fn items_and_headers_have_to_agree() {
        let one = r#"{"paths":["/a/b"]}"#;
        let two = r#"{"paths":["/a","/b"]}"#;
        let system = r#"{"paths":["/a/b"],"systemKey":true}"#;
        for (definition, item, header, want) in [
            (one, r#"{"a":{"b":"x"}}"#, Some("[\"x\"]"), 200),
            (one, r#"{"a":{"b":1}}"#, Some("[1.0]"), 200),
            (one, r#"{"a":{"b":null}}"#, Some("[null]"), 200),
            (one, r#"{"a":{}}"#, Some("[{}]"), 200),
            (one, r#"{"a":{"b":[1]}}"#, Some("[{}]"), 200),
            (one, r#"{"a":{"b":"x"}}"#, Some("[\"y\"]"), 1001),
            (one, r#"{"a":{"b":"x"}}"#, Some("[{}]"), 1001),
            (one, r#"{"a":{"b":null}}"#, Some("[{}]"), 1001),
            (one, r#"{"a":{"b":"x"}}"#, None, 0),
            (one, r#"{"a":{"b":"x"}}"#, Some("[]"), 1001),
            (one, r#"{"a":{"b":"x"}}"#, Some("x"), 0),
            (one, r#"{"a":{"b":"x"}}"#, Some("[\"x\",\"y\"]"), 1001),
            (two, r#"{"a":"x","b":2}"#, Some("[\"x\",2]"), 200),
            (two, r#"{"a":"x","b":2}"#, Some("[\"x\"]"), 1001),
            (system, r"{}", Some("[]"), 200),
            (system, r"{}", None, 200),
            (system, r"{}", Some("[{}]"), 200),
            (system, r#"{"a":{"b":"x"}}"#, Some("[\"x\"]"), 200),
            (system, r#"{"a":{"b":"x"}}"#, Some("[]"), 1001),
            (system, r#"{"a":{"b":"x"}}"#, None, 1001),
        ] {
            let definition = parse(definition).unwrap();
            let item = json::parse_document(item.as_bytes(), 5).unwrap();
            let found = definition.of_item(DocRef::Tree(&item), header);
            let found = found.map_or_else(|failure| failure.fault.sub_status(), |_| 200);
            assert_eq!(found, want, "{item:?} {header:?}");
        }
        let item = document::doc! { "pk": "x".repeat(2049).as_str() };
        let header = format!("[\"{}\"]", "x".repeat(2049));
        let definition = parse(r#"{"paths":["/pk"],"version":2}"#).unwrap();
        assert!(definition.of_item(DocRef::Tree(&item), Some(&header)).is_err());
        assert_eq!(PartitionKeyDefinition::without_paths().whole_key(None).unwrap(), []);
        assert_eq!(PartitionKeyDefinition::without_paths().whole_key(Some("[]")).unwrap(), []);
    }

    #[test]
    fn a_prefix_is_a_scope() {
        let definition = parse(r#"{"paths":["/a","/b"]}"#).unwrap();
        let text = |text: &str| Component::String(text.to_owned());
        assert_eq!(definition.read_scope("[\"x\"]").unwrap(), KeyScope::Prefix(vec![text("x")]));
        let whole = KeyScope::Whole(vec![text("x"), text("y")]);
        assert_eq!(definition.read_scope("[\"x\",\"y\"]").unwrap(), whole);
        definition.read_scope("[1,2,3]").unwrap_err();
    }
}
