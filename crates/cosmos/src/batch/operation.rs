//! The operations of a batch, independent of the encoding: their types, their required properties,
//! and the limit of their number.

use document::Value;

use crate::{
    binary,
    failure::{Failure, Result},
    item::{NewItem, check_id},
    limits::{MAX_BATCH, MAX_DEPTH, MAX_ITEM_BYTES, PATCH_DEPTH},
    patch::Patch,
};

/// A validated operation of a batch. Whether it suits the container is checked when it is prepared
/// for execution.
#[derive(Clone, Debug)]
pub(crate) struct BatchOperation {
    pub(crate) action: BatchAction,
    /// The etag that the item must have, as the client wrote it.
    pub(crate) if_match: Option<String>,
    /// The etag of the version that the client already has, for reads. If the item still has this
    /// version, it is not returned.
    pub(crate) if_none_match: Option<String>,
    /// The partition key in header form; used in bulks only. A batch has one key for all
    /// operations, in the request's header.
    pub(crate) partition_key: Option<String>,
    /// Whether the response omits the item.
    pub(crate) minimal: bool,
}

/// The action of an operation on one item.
#[derive(Clone, Debug)]
pub(crate) enum BatchAction {
    /// Create an item that must not exist.
    Create(NewItem),
    /// Create or overwrite an item.
    Upsert(NewItem),
    /// Replace the item with this id by another item, whose id may differ.
    Replace(String, NewItem),
    /// Patch the item with this id.
    Patch(String, Patch),
    /// Return the item with this id.
    Read(String),
    /// Delete the item with this id.
    Delete(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Create,
    Patch,
    Read,
    Delete,
    Replace,
    Upsert,
}

impl Kind {
    /// Each operation type with its name in JSON and its number in HybridRow.
    const ALL: [(Self, &'static str, i32); 6] = [
        (Self::Create, "Create", 0),
        (Self::Patch, "Patch", 1),
        (Self::Read, "Read", 2),
        (Self::Delete, "Delete", 4),
        (Self::Replace, "Replace", 5),
        (Self::Upsert, "Upsert", 20),
    ];

    /// Returns the operation type with this name, ignoring case.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(kind, ..)| *kind)
    }

    /// Returns the operation type with this number, and its name.
    pub(super) fn of_number(number: i32) -> Option<(Self, &'static str)> {
        let found = Self::ALL.iter().find(|(.., known)| *known == number);
        found.map(|(kind, name, _)| (*kind, *name))
    }
}

/// The item or the patch of an operation.
#[derive(Debug)]
pub(super) enum OperationBody<'a> {
    /// A value that was parsed as part of the batch. The depth of the value itself is not checked
    /// yet.
    Parsed(Value),
    /// JSON as text or binary.
    Bytes(&'a [u8]),
}

/// A byte order mark, which clients may send before JSON text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl OperationBody<'_> {
    fn into_item(self) -> Result<NewItem> {
        match self {
            Self::Parsed(value) => read_item(value),
            Self::Bytes(bytes) => NewItem::parse(without_mark(bytes)),
        }
    }

    fn into_patch(self) -> Result<Patch> {
        match self {
            Self::Parsed(value) => Patch::from_value(value),
            Self::Bytes(bytes) if binary::is_binary(bytes) => Patch::from_value(
                binary::read_value(bytes, MAX_DEPTH + PATCH_DEPTH, MAX_ITEM_BYTES)?,
            ),
            Self::Bytes(bytes) => Patch::parse(without_mark(bytes)),
        }
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

impl BatchAction {
    /// Builds the action of an operation. `shown` is the type's name in error texts.
    pub(super) fn new(
        kind: Kind,
        shown: &str,
        id: Option<String>,
        body: Option<OperationBody<'_>>,
    ) -> Result<Self> {
        let missing = |what: &str| {
            Failure::bad_request(format!("The batch operation '{shown}' has no '{what}'."))
        };
        let named = || {
            let id = id.ok_or_else(|| missing("id"))?;
            check_id(&id).map(|()| id)
        };
        let given = || body.ok_or_else(|| missing("resourceBody"));
        Ok(match kind {
            Kind::Create => Self::Create(given()?.into_item()?),
            Kind::Upsert => Self::Upsert(given()?.into_item()?),
            Kind::Replace => Self::Replace(named()?, given()?.into_item()?),
            Kind::Patch => Self::Patch(named()?, given()?.into_patch()?),
            Kind::Read => Self::Read(named()?),
            Kind::Delete => Self::Delete(named()?),
        })
    }
}

#[cfg(test)]
impl BatchAction {
    /// Returns the id of the operation's item.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Create(item) | Self::Upsert(item) => item.id(),
            Self::Replace(id, _) | Self::Patch(id, _) | Self::Read(id) | Self::Delete(id) => id,
        }
    }
}

/// Refuses a request with no or too many operations; limits and texts are Azure Cosmos DB's.
pub(super) fn check_count(count: usize) -> Result<()> {
    match count {
        0 => Err(Failure::bad_request("Batch request has no operations.")),
        1..=MAX_BATCH => Ok(()),
        _ => Err(Failure::bad_request(format!(
            "Batch request has more operations than what is supported. There are {count}, and at \
             most {MAX_BATCH} are allowed."
        ))),
    }
}

/// Converts the item of an operation. It was parsed as part of the batch, so the depth of the item
/// itself is checked here.
fn read_item(body: Value) -> Result<NewItem> {
    if !fits_depth(&body, MAX_DEPTH) {
        return Err(Failure::bad_request(format!(
            "The item is nested deeper than {MAX_DEPTH} levels."
        )));
    }
    match body {
        Value::Document(body) => NewItem::from_document(body),
        _ => Err(Failure::bad_request("The 'resourceBody' of a batch operation is not an object.")),
    }
}

/// Returns whether a value has at most this many levels of objects and arrays. The recursion is
/// bounded by the depth limit of the parser.
fn fits_depth(value: &Value, levels: usize) -> bool {
    let below = levels.checked_sub(1);
    match (value, below) {
        (Value::Document(fields), Some(below)) => {
            fields.fields().iter().all(|(_, value)| fits_depth(value, below))
        }
        (Value::Array(values), Some(below)) => values.iter().all(|value| fits_depth(value, below)),
        (Value::Document(_) | Value::Array(_), None) => false,
        _ => true,
    }
}
