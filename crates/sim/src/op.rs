//! Operations: what they are, how they are run, and what their callers are told. The same value is
//! done by the engine ([`Op::run_op`]) and by the model, and both results are compared as they are.

use std::sync::Arc;

use document::{DocRef, Document, Value, array, doc};
use engine::{
    Collection, Engine, Error, Find, IndexChange, IndexSpec, Kind, Model as DataModel, Namespace,
    Update,
};
use pipeline::edit::Edit;
use test_kit::{
    PausingStore, TtlField, context, default_ttl, equal, first_failure, insert_one, plain_index,
};

use crate::shape::{Index, id_of};

/// An operation that may change something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// Inserts a document.
    Insert(Document),
    /// Replaces the document with the id of this one.
    Replace { body: Document, upsert: bool },
    /// Sets a field, or removes it.
    Set { id: i32, field: String, value: Option<Value> },
    /// Adds one to `n`.
    Increment { id: i32 },
    /// Replaces a document and returns what was there.
    FindAndReplace(Document),
    /// Removes a document and returns it.
    FindAndRemove { id: i32 },
    /// Removes a document.
    Remove { id: i32 },
    /// Adds one to `n` of all documents with this `v`.
    UpdateMany { v: i32 },
    /// Removes all documents with this `v`.
    RemoveMany { v: i32 },
    /// Changes the default TTL.
    SetDefault(Option<i64>),
    /// Makes an index.
    CreateIndex { name: &'static str, index: Index },
    /// Changes after how many seconds an index expires documents.
    ChangeIndex { name: &'static str, after: i64 },
    /// Drops an index.
    DropIndex { name: &'static str },
}

/// What the caller of an operation is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It is in.
    Inserted,
    /// Nothing was found, and it is in.
    Upserted,
    /// So many were found, and so many changed.
    Updated { matched: usize, modified: usize },
    /// So many are gone.
    Removed(usize),
    /// What was there before.
    Found(Option<Document>),
    /// Settings changed.
    Done,
    /// A unique value is taken.
    Duplicate,
    /// Anything else, which no history may meet.
    Failed(String),
}

impl Outcome {
    /// What an update did.
    pub(crate) fn updated(matched: usize, modified: usize) -> Self {
        Self::Updated { matched, modified }
    }
}

impl Op {
    /// Whether it changes settings rather than documents.
    /// These have effects that are seen before they end; see `World::take_effect`.
    pub(crate) fn is_settings(&self) -> bool {
        matches!(
            self,
            Self::SetDefault(_)
                | Self::CreateIndex { .. }
                | Self::ChangeIndex { .. }
                | Self::DropIndex { .. }
        )
    }

    /// Whether it names its document, so that it can be interrupted and its effect is one commit.
    pub(crate) fn is_single(&self) -> bool {
        let unique = matches!(self, Self::CreateIndex { index, .. } if index.unique);
        !unique && !matches!(self, Self::UpdateMany { .. } | Self::RemoveMany { .. })
    }

    /// Whether it writes an array there.
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

    /// The document it is about.
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

    /// Runs it.
    pub(crate) async fn run_op(
        self,
        engine: Engine<PausingStore>,
        namespace: Namespace,
    ) -> Outcome {
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

    /// Runs it in the collection; failures are told apart by the caller.
    async fn run_in(
        self,
        engine: &Engine<PausingStore>,
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

    /// Runs one that changes settings.
    async fn change_settings(
        self,
        engine: &Engine<PausingStore>,
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

/// An index as the engine has it. A unique one is sparse: missing values are not equal here.
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

/// A document of one field.
fn one_field(field: String, value: Value) -> Document {
    let mut out = Document::new();
    out.push(field, value);
    out
}

/// Adds one to `n`.
fn increment_edit() -> Edit {
    parsed_edit(&doc! { "$inc": doc! { "n": 1 } })
}

/// An edit in the language of the MongoDB API.
fn parsed_edit(change: &Document) -> Edit {
    let value = Value::Document(change.clone());
    mongo_query::update::parse(value.as_ref(), None, false).expect("an update")
}

/// An update of the first document that is found.
fn update_of_first<'a>(find: Find, edit: &'a Edit) -> Update<'a> {
    Update { find, edit, many: false, upsert: false, context: context(), writer: &TtlField }
}

/// Runs an update and says what its caller is told.
async fn run_update(
    engine: &Engine<PausingStore>,
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

/// A random value of a date field: a date about now, or an array with some.
/// Also what is no date: it never expires by this field. Of an array the earliest date decides.
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

/// A random document.
/// Each field is there about every second to fourth time, so that sparse and partial indexes, `ttl`
/// and dates meet in all combinations.
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

/// A random `ttl`.
/// Mostly seconds that are over within the history, sometimes -1, sometimes a whole double, which
/// counts as well.
pub(crate) fn random_ttl(rng: &mut fastrand::Rng) -> Option<Value> {
    match rng.u8(0..8) {
        0 => Some(Value::Int32(-1)),
        1..=3 => Some(Value::Int32(rng.i32(1..6))),
        4 => Some(Value::Double(2.0)),
        _ => None,
    }
}
