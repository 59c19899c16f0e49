//! Operations, their execution by the engine, and their results. The same value is applied to the
//! engine ([`Op::run_op`]) and to the model, and the results are compared. This file also defines
//! the indexes and ids of documents that engine and model share.

use std::sync::Arc;

use document::{DocRef, Document, Value, array, doc};
use engine::{
    Collection, Engine, Error, Find, IndexChange, IndexSpec, Kind, Model as DataModel, Namespace,
    Update,
};
use pipeline::edit::Edit;
use test_kit::{TtlField, context, default_ttl, equal, first_failure, insert_one, plain_index};

/// An operation that may change something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// Inserts a document with its own id.
    Insert(Document),
    /// Replaces the document with the same id.
    Replace { body: Document, upsert: bool },
    /// Sets a field; `None` removes it.
    Set { id: i32, field: String, value: Option<Value> },
    /// Adds one to the field `n`.
    Increment { id: i32 },
    /// Replaces a document and returns the previous version.
    FindAndReplace(Document),
    /// Removes a document and returns it.
    FindAndRemove { id: i32 },
    /// Removes the document with this id.
    Remove { id: i32 },
    /// Adds one to `n` of all documents with this `v`.
    UpdateMany { v: i32 },
    /// Removes all documents with this `v`.
    RemoveMany { v: i32 },
    /// Changes the collection's default TTL.
    SetDefault(Option<i64>),
    /// Creates an index with this name.
    CreateIndex { name: &'static str, index: Index },
    /// Changes the expiration seconds of an index.
    ChangeIndex { name: &'static str, after: i64 },
    /// Drops the index with this name.
    DropIndex { name: &'static str },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The document was inserted as given.
    Inserted,
    /// The document was inserted by an upsert, since none matched.
    Upserted,
    /// Numbers of documents matched and modified.
    Updated { matched: usize, modified: usize },
    /// Number of documents that were removed.
    Removed(usize),
    /// The document as it was before the change, if one matched.
    Found(Option<Document>),
    /// The settings or indexes were changed.
    Done,
    /// The operation was refused because of a duplicate unique value.
    Duplicate,
    /// Any other error, which no history may produce.
    Failed(String),
}

impl Outcome {
    /// Creates the result of an update.
    pub(crate) fn updated(matched: usize, modified: usize) -> Self {
        Self::Updated { matched, modified }
    }
}

impl Op {
    /// Returns whether the operation changes settings rather than documents. The effect of such an
    /// operation is visible before the operation completes, see `World::take_effect`.
    pub(crate) fn is_settings(&self) -> bool {
        matches!(
            self,
            Self::SetDefault(_)
                | Self::CreateIndex { .. }
                | Self::ChangeIndex { .. }
                | Self::DropIndex { .. }
        )
    }

    /// Returns whether the operation takes effect by one commit, so that it can be held or paused:
    /// not if it writes several documents or builds a unique index.
    pub(crate) fn is_single(&self) -> bool {
        let unique = matches!(self, Self::CreateIndex { index, .. } if index.unique);
        !unique && !matches!(self, Self::UpdateMany { .. } | Self::RemoveMany { .. })
    }

    /// Returns whether the operation writes a document with an array at this path.
    pub(crate) fn puts_array_at(&self, path: &str) -> bool {
        let value = match self {
            Self::Insert(body) | Self::Replace { body, .. } | Self::FindAndReplace(body) => {
                body.get(path)
            }
            Self::Set { field, value, .. } if field == path => value.as_ref(),
            _ => None,
        };
        matches!(value, Some(Value::Array(_)))
    }

    /// Returns the id of the document that the operation affects; `None` if the id is not known in
    /// advance.
    pub(crate) fn id(&self) -> Option<i32> {
        match self {
            Self::Insert(body) | Self::Replace { body, .. } | Self::FindAndReplace(body) => {
                Some(id_of(body))
            }
            Self::Set { id, .. }
            | Self::Increment { id }
            | Self::FindAndRemove { id }
            | Self::Remove { id } => Some(*id),
            _ => None,
        }
    }

    /// Returns whether the operation waits in the queue of its document.
    pub(crate) fn is_queued(&self) -> bool {
        matches!(
            self,
            Self::Replace { .. }
                | Self::FindAndReplace(_)
                | Self::Set { .. }
                | Self::Increment { .. }
        )
    }

    pub(crate) async fn run_op(self, engine: Engine, namespace: Namespace) -> Outcome {
        let done = match engine.expect_collection(DataModel::Documents, &namespace) {
            Ok(collection) => self.run_in(&engine, &collection).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(outcome) => outcome,
            Err(Error { kind: Kind::DuplicateKey { .. }, .. }) => Outcome::Duplicate,
            Err(error) => Outcome::Failed(format!("{:?}: {}", error.kind, error.message)),
        }
    }

    /// Runs the operation in the collection. The caller converts errors to outcomes.
    pub(crate) async fn run_in(
        self,
        engine: &Engine,
        collection: &Arc<Collection>,
    ) -> Result<Outcome, Error> {
        match self {
            Self::Insert(body) => {
                let inserted = insert_one(engine.clone(), Arc::clone(collection), body).await?;
                first_failure(inserted).map(|()| Outcome::Inserted)
            }
            Self::Replace { body, upsert } => {
                let find = by_id(id_of(&body));
                run_update(engine, collection, find, &Edit::Replacement(body), false, upsert).await
            }
            Self::Set { id, field, value } => {
                let change = match value {
                    Some(value) => doc! { "$set": one_field(field, value) },
                    None => doc! { "$unset": one_field(field, Value::Int32(1)) },
                };
                run_update(engine, collection, by_id(id), &parsed_edit(&change), false, false).await
            }
            Self::Increment { id } => {
                run_update(engine, collection, by_id(id), &increment_edit(), false, false).await
            }
            Self::UpdateMany { v } => {
                let find = Find::new(equal("v", v));
                run_update(engine, collection, find, &increment_edit(), true, false).await
            }
            Self::FindAndReplace(body) => {
                let find = by_id(id_of(&body));
                let edit = Edit::Replacement(body);
                let edited =
                    engine.find_and_update(collection, &update_of_first(find, &edit)).await?;
                Ok(Outcome::Found(edited.before.map(|bytes| DocRef::Raw(&bytes).to_tree())))
            }
            Self::FindAndRemove { id } => {
                let found = engine.find_and_remove(collection, &by_id(id), &context()).await?;
                Ok(Outcome::Found(found.map(|bytes| DocRef::Raw(&bytes).to_tree())))
            }
            Self::Remove { id } => {
                let removed = engine.remove(collection, &by_id(id), false, &context()).await?;
                Ok(Outcome::Removed(removed.count))
            }
            Self::RemoveMany { v } => {
                let find = Find::new(equal("v", v));
                let removed = engine.remove(collection, &find, true, &context()).await?;
                Ok(Outcome::Removed(removed.count))
            }
            settings => settings.change_settings(engine, collection).await.map(|()| Outcome::Done),
        }
    }

    /// Runs an operation that changes settings.
    async fn change_settings(
        self,
        engine: &Engine,
        collection: &Arc<Collection>,
    ) -> Result<(), Error> {
        match self {
            Self::SetDefault(default) => {
                engine.set_default_ttl(collection, default_ttl(default)).await
            }
            Self::CreateIndex { name, index } => {
                let spec = vec![index_spec(name, &index)];
                engine.create_indexes(collection, spec).await.map(|_| ())
            }
            Self::ChangeIndex { name, after } => {
                let change = IndexChange { expire_after: Some(after), hidden: None };
                engine.change_index(collection, name, change).await.map(|_| ())
            }
            Self::DropIndex { name } => {
                engine.drop_indexes(collection, vec![name.to_owned()]).await.map(|_| ())
            }
            _ => Ok(()),
        }
    }
}

/// Builds the engine's index. A unique index is also sparse, so that documents without a value do
/// not conflict.
fn index_spec(name: &str, wanted: &Index) -> IndexSpec {
    IndexSpec {
        name: name.to_owned(),
        unique: wanted.unique,
        sparse: wanted.unique,
        partial: wanted.partial.then(|| doc! { "p": 1 }),
        expire_after: wanted.after,
        ..plain_index(wanted.path)
    }
}

/// Finds the document with this id.
fn by_id(id: i32) -> Find {
    Find::new(equal("_id", id))
}

/// Builds a document with one field.
fn one_field(field: String, value: Value) -> Document {
    let mut out = Document::new();
    out.push(field, value);
    out
}

/// Returns an edit that adds one to `n`.
fn increment_edit() -> Edit {
    parsed_edit(&doc! { "$inc": doc! { "n": 1 } })
}

/// Parses an edit in the language of the MongoDB API.
fn parsed_edit(change: &Document) -> Edit {
    let value = Value::Document(change.clone());
    mongo_query::update::parse(value.as_ref(), None, false).expect("an update")
}

/// Builds an update of the first matching document.
fn update_of_first<'a>(find: Find, edit: &'a Edit) -> Update<'a> {
    Update { find, edit, many: false, upsert: false, context: context(), writer: &TtlField }
}

/// Runs an update and returns its result.
async fn run_update(
    engine: &Engine,
    collection: &Arc<Collection>,
    find: Find,
    edit: &Edit,
    many: bool,
    upsert: bool,
) -> Result<Outcome, Error> {
    let update = Update { many, upsert, ..update_of_first(find, edit) };
    let updated = engine.update(collection, &update).await?;
    Ok(match updated.upserted {
        Some(_) => Outcome::Upserted,
        None => Outcome::updated(updated.matched, updated.modified),
    })
}

/// Returns a random value of a date field: a date near now; an array with some dates, of which the
/// earliest decides; or a value that is not a date and never expires.
pub(crate) fn random_date(rng: &mut fastrand::Rng, now_ms: i64) -> Value {
    let mut near =
        || Value::DateTime(now_ms + [-9_000, -2_001, -1_000, 0, 500, 3_000][rng.usize(0..6)]);
    let (first, second) = (near(), near());
    match rng.u8(0..5) {
        0 => array![7, first, second],
        1 => Value::Int32(3),
        _ => first,
    }
}

/// Returns a random document. Each optional field is present with a probability of a quarter to a
/// half, so that sparse and partial indexes, `ttl` and dates occur in all combinations.
pub(crate) fn random_body(rng: &mut fastrand::Rng, id: i32, now_ms: i64) -> Document {
    let mut body = doc! { "_id": id, "v": rng.i32(0..3) };
    if rng.u8(0..3) == 0 {
        body.push("u", Value::Int32(rng.i32(0..4)));
    }
    for name in ["d", "e"] {
        if rng.u8(0..3) == 0 {
            let value = random_date(rng, now_ms);
            body.push(name, value);
        }
    }
    if rng.bool() {
        body.push("p", Value::Int32(1));
    }
    if rng.u8(0..4) == 0 {
        body.push("t", array![rng.i32(0..3), rng.i32(0..3)]);
    }
    if let Some(ttl) = random_ttl(rng) {
        body.push("ttl", ttl);
    }
    body
}

/// Returns a random `ttl`: mostly seconds that elapse within the history, sometimes -1, sometimes a
/// double without a fraction, which is also valid.
pub(crate) fn random_ttl(rng: &mut fastrand::Rng) -> Option<Value> {
    match rng.u8(0..8) {
        0 => Some(Value::Int32(-1)),
        1..=3 => Some(Value::Int32(rng.i32(1..6))),
        4 => Some(Value::Double(2.0)),
        _ => None,
    }
}

/// The properties of an index that the model needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Index {
    pub(crate) path: &'static str,
    /// Whether no two live documents may have the same value. Missing values do not count.
    pub(crate) unique: bool,
    /// Whether the index holds only documents with `p: 1`.
    pub(crate) partial: bool,
    /// Number of seconds between the date and the expiration; `None` for an index that does not
    /// expire documents.
    pub(crate) after: Option<i64>,
}

/// Returns the id of a document.
pub(crate) fn id_of(body: &Document) -> i32 {
    match body.get("_id") {
        Some(Value::Int32(id)) => *id,
        _ => -1,
    }
}
