//! An operation of a batch, whatever the encoding of the request: which ones there are, what each
//! needs, and how many a request may have.

use document::Value;

use crate::{
    binary,
    failure::{Failure, Result},
    item::{NewItem, check_id},
    limits::{MAX_BATCH, MAX_DEPTH, MAX_ITEM_BYTES, PATCH_DEPTH},
    patch::Patch,
};

/// One operation of a batch, checked in itself. Whether it fits the container is found out when it
/// is prepared.
#[derive(Clone, Debug)]
pub(crate) struct BatchOperation {
    /// What is to be done, and with which item.
    pub(crate) action: BatchAction,
    /// The etag that the item has to have, as the client wrote it.
    pub(crate) if_match: Option<String>,
    /// The etag that the client has already. It counts for reads alone.
    pub(crate) if_none_match: Option<String>,
    /// The partition key as it would stand in a header. It counts in bulks alone: a batch has one
    /// key for all its operations, in the header of the request.
    pub(crate) partition_key: Option<String>,
    /// Whether the item is left out of the response.
    pub(crate) minimal: bool,
}

/// What is to be done with one item.
#[derive(Clone, Debug)]
pub(crate) enum BatchAction {
    /// Write an item that is not there yet.
    Create(NewItem),
    /// Write an item, whether it is there or not.
    Upsert(NewItem),
    /// The item of this id becomes this one, which may have another id.
    Replace(String, NewItem),
    /// Change parts of the item of this id.
    Patch(String, Patch),
    /// Return the item of this id.
    Read(String),
    /// Remove the item of this id.
    Delete(String),
}

/// The types of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Writes an item that must not exist.
    Create,
    /// Changes parts of an item.
    Patch,
    /// Returns an item.
    Read,
    /// Removes an item.
    Delete,
    /// Writes an item that must exist.
    Replace,
    /// Writes an item.
    Upsert,
}

impl Kind {
    /// Each type with its name in JSON and its number in HybridRow.
    const ALL: [(Self, &'static str, i32); 6] = [
        (Self::Create, "Create", 0),
        (Self::Patch, "Patch", 1),
        (Self::Read, "Read", 2),
        (Self::Delete, "Delete", 4),
        (Self::Replace, "Replace", 5),
        (Self::Upsert, "Upsert", 20),
    ];

    /// Returns the type of this name, compared without regard to case.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(kind, ..)| *kind)
    }

    /// Returns the type of this number, and its name.
    pub(super) fn of_number(number: i32) -> Option<(Self, &'static str)> {
        let found = Self::ALL.iter().find(|(.., known)| *known == number);
        found.map(|(kind, name, _)| (*kind, *name))
    }
}

/// The item or the patch of an operation.
#[derive(Debug)]
pub(super) enum OperationBody<'a> {
    /// A value that was parsed together with the batch around it, so its depth is still to be
    /// checked.
    Parsed(Value),
    /// JSON text, or its binary form.
    Bytes(&'a [u8]),
}

/// What a client may write before JSON text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl OperationBody<'_> {
    /// Reads the item.
    fn into_item(self) -> Result<NewItem> {
        match self {
            Self::Parsed(value) => read_item(value),
            Self::Bytes(bytes) => NewItem::parse(without_mark(bytes)),
        }
    }

    /// Reads the patch.
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

/// Returns JSON text without a byte order mark.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

impl BatchAction {
    /// Makes the action of an operation. `shown` is the type as errors name it.
    pub(super) fn new(
        kind: Kind,
        shown: &str,
        id: Option<String>,
        body: Option<OperationBody<'_>>,
    ) -> Result<Self> {
        let missing = |what: &str| {
            Failure::bad_request(format!("The operation '{shown}' of a batch has no '{what}'."))
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
    /// The id of the item it is about.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Create(item) | Self::Upsert(item) => item.id(),
            Self::Replace(id, _) | Self::Patch(id, _) | Self::Read(id) | Self::Delete(id) => id,
        }
    }
}

/// Refuses a request without operations or with too many. Both bounds are the service's, with its
/// texts.
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

/// Reads the item of an operation. It was parsed together with what is around it, so its own depth
/// is still to be checked.
fn read_item(body: Value) -> Result<NewItem> {
    if !fits_depth(&body, MAX_DEPTH) {
        return Err(Failure::bad_request(format!(
            "The item is nested deeper than {MAX_DEPTH} levels."
        )));
    }
    match body {
        Value::Document(body) => NewItem::from_document(body),
        _ => Err(Failure::bad_request("The 'resourceBody' of an operation is no object.")),
    }
}

/// Whether a value has at most this many levels of objects and arrays. The recursion is bounded,
/// because what was parsed has only a few levels more.
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
