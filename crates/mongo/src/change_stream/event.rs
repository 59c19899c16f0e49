//! The event document of a change.

use document::{DocBuf, DocBuilder, DocRef, Value, ValueRef};
use engine::{Change, ChangeKind};

use super::{
    options::{Image, StreamOptions},
    token::EventToken,
};
use crate::{
    errors::{Error, NoMatchingDocument, Result},
    provisioning::without_provisioning,
    stored_view::VIEW_ON,
};

/// Option of an index: its TTL in seconds.
const EXPIRE_AFTER: &str = "expireAfterSeconds";

/// Returns the operation type of a change.
pub(super) fn kind_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Insert => "insert",
        ChangeKind::Update => "update",
        ChangeKind::Replace => "replace",
        ChangeKind::Delete | ChangeKind::Expire => "delete",
        ChangeKind::Create => "create",
        ChangeKind::Drop => "drop",
        ChangeKind::Rename => "rename",
        ChangeKind::DropDatabase => "dropDatabase",
        ChangeKind::CreateIndexes => "createIndexes",
        ChangeKind::DropIndexes => "dropIndexes",
        ChangeKind::Modify => "modify",
    }
}

/// Returns whether events of this kind are shown only with `showExpandedEvents`.
pub(super) fn is_expanded_only(kind: ChangeKind) -> bool {
    matches!(
        kind,
        ChangeKind::Create
            | ChangeKind::CreateIndexes
            | ChangeKind::DropIndexes
            | ChangeKind::Modify
    )
}

/// Returns the event of a change. `current` is the document as it is now, if the event needs it.
///
/// Fails with 47 if a required image is not there.
pub(super) fn event_of(
    change: &Change,
    token: &DocBuf,
    options: &StreamOptions,
    current: Option<Option<DocBuf>>,
) -> Result<DocBuf> {
    let mut out = DocBuilder::new();
    begin(change, kind_name(change.kind), token, &mut out);
    if options.expanded && change.uuid != [0; 16] {
        out.append("collectionUUID", ValueRef::Binary { subtype: 4, bytes: &change.uuid });
    }
    if options.expanded && change.kind == ChangeKind::Expire {
        out.append("expired", ValueRef::Bool(true));
    }
    match change.kind {
        ChangeKind::Insert | ChangeKind::Replace => {
            append_image("fullDocument", change.after.as_ref(), &mut out);
        }
        ChangeKind::Update => append_updated(change, token, options, current, &mut out)?,
        _ => {}
    }
    append_names(change, &mut out);
    if let Some(id) = &change.id {
        out.document("documentKey", |key| key.append("_id", id.as_ref()));
    }
    match (change.kind, &change.description) {
        (ChangeKind::Update, Some(description)) => {
            append_update(description.as_ref(), options.expanded, &mut out);
        }
        (_, Some(description)) if options.expanded => {
            append_operation(change.kind, description.as_ref(), &mut out);
        }
        _ => {}
    }
    let has_before = matches!(
        change.kind,
        ChangeKind::Update | ChangeKind::Replace | ChangeKind::Delete | ChangeKind::Expire
    );
    if has_before && options.before != Image::None {
        if change.before.is_none() && options.before == Image::Required {
            return Err(missing_image("pre-image for all update, delete and replace", token));
        }
        append_image("fullDocumentBeforeChange", change.before.as_ref(), &mut out);
    }
    Ok(out.finish())
}

/// Returns the event by which a stream reports that it ends after this change.
pub(super) fn invalidation_of(change: &Change, token: &DocBuf) -> DocBuf {
    let mut out = DocBuilder::new();
    begin(change, "invalidate", token, &mut out);
    out.finish()
}

/// Returns the token of the invalidation after a change.
pub(super) fn invalidation_token(change: &Change) -> EventToken {
    EventToken { invalidates: true, ..EventToken::of_change(change, kind_name(change.kind)) }
}

fn begin(change: &Change, kind: &str, token: &DocBuf, out: &mut DocBuilder) {
    out.append("_id", ValueRef::Document(token.as_ref()));
    out.append("operationType", ValueRef::String(kind));
    out.append("clusterTime", ValueRef::Timestamp(change.time.timestamp()));
    out.append("wallTime", ValueRef::DateTime(change.time.at_ms()));
    for (name, value) in change.transaction.iter().flat_map(|of| of.as_ref().iter()) {
        out.append(name, value);
    }
}

fn append_image(name: &str, image: Option<&DocBuf>, out: &mut DocBuilder) {
    let image = image.map_or(ValueRef::Null, |image| ValueRef::Document(image.as_ref()));
    out.append(name, image);
}

fn append_updated(
    change: &Change,
    token: &DocBuf,
    options: &StreamOptions,
    current: Option<Option<DocBuf>>,
    out: &mut DocBuilder,
) -> Result<()> {
    let after = match options.after {
        Image::None => return Ok(()),
        Image::Lookup => current.flatten(),
        Image::WhenAvailable => change.after.clone(),
        Image::Required if change.after.is_none() => {
            return Err(missing_image("post-image for all update", token));
        }
        Image::Required => change.after.clone(),
    };
    append_image("fullDocument", after.as_ref(), out);
    Ok(())
}

fn missing_image(what: &str, token: &DocBuf) -> Error {
    let image = what.split(' ').next().unwrap_or_default();
    let message = format!(
        "Change stream was configured to require a {what} events, but the {image} was not found \
         for event: {{ _id: {} }}",
        document::shell(ValueRef::Document(token.as_ref()))
    );
    Error::new(NoMatchingDocument, message)
}

fn append_names(change: &Change, out: &mut DocBuilder) {
    let namespace = &change.namespace;
    out.document("ns", |names| {
        names.append("db", ValueRef::String(&namespace.database));
        if change.kind != ChangeKind::DropDatabase {
            names.append("coll", ValueRef::String(&namespace.collection));
        }
    });
    let to = change.description.as_ref().and_then(|description| description.get("to"));
    if change.kind == ChangeKind::Rename
        && let Some(to) = to
    {
        out.append("to", to);
    }
}

fn append_update(description: DocRef<'_>, expanded: bool, out: &mut DocBuilder) {
    out.document("updateDescription", |shown| {
        for (name, value) in description.iter() {
            if expanded || name != "disambiguatedPaths" {
                shown.append(name, value);
            }
        }
    });
}

/// Returns a description with MongoDB's name of the option that the engine names itself.
fn with_own_names(value: Value) -> Value {
    match value {
        Value::Document(fields) => {
            let is_stale = fields.get("expire_after").is_some();
            let kept = fields.into_iter().filter(|(name, _)| !(is_stale && name == EXPIRE_AFTER));
            let named = kept.map(|(name, value)| match &*name {
                "expire_after" => (EXPIRE_AFTER.to_owned(), value),
                _ => (name, with_own_names(value)),
            });
            Value::Document(named.collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(with_own_names).collect()),
        other => other,
    }
}

/// Appends the description of a change of a collection, in MongoDB's form.
fn append_operation(kind: ChangeKind, description: DocRef<'_>, out: &mut DocBuilder) {
    let described = with_own_names(Value::Document(description.to_tree()));
    let Some(description) = described.as_ref().as_document() else { return };
    match kind {
        ChangeKind::Create => {
            let options = without_provisioning(&description.to_tree());
            let is_view = options.get(VIEW_ON).is_some();
            out.append("nsType", ValueRef::String(if is_view { "view" } else { "collection" }));
            out.document("operationDescription", |shown| {
                for (name, value) in options.fields() {
                    shown.append(name, value.as_ref());
                }
                if !is_view {
                    shown.document("idIndex", |index| {
                        index.append("v", ValueRef::Int32(2));
                        index.document("key", |key| key.append("_id", ValueRef::Int32(1)));
                        index.append("name", ValueRef::String("_id_"));
                    });
                }
            });
        }
        ChangeKind::Modify => {
            let (before, options) = (description.get("before"), description.get("options"));
            let before = before.and_then(ValueRef::as_document);
            match options {
                Some(options) => out.append("operationDescription", options),
                None => out.document("operationDescription", |shown| {
                    description.get("index").into_iter().for_each(|it| shown.append("index", it));
                }),
            }
            out.document("stateBeforeChange", |state| {
                for (name, shown) in [("options", "collectionOptions"), ("index", "indexOptions")] {
                    let value = before.and_then(|before| before.get(name));
                    value.into_iter().for_each(|value| state.append(shown, value));
                }
            });
        }
        _ => out.append("operationDescription", ValueRef::Document(description)),
    }
}

/// Returns the id of the document that an event looks up, if it does.
pub(super) fn looked_up<'a>(change: &'a Change, options: &StreamOptions) -> Option<&'a Value> {
    let looks = change.kind == ChangeKind::Update && options.after == Image::Lookup;
    change.id.as_ref().filter(|_| looks)
}
