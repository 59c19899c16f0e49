//! Change records of collections: creation, drop, renaming, and changes of indexes and options. The
//! descriptions have the forms of the engine's records; the API shows them in its own.

use std::sync::Arc;

use document::{DocBuf, Document, Value, doc};
use store::{Commit, Mutation, Stamp};

use super::{ChangeBody, ChangeKind};
use crate::{
    catalog::{IndexSpec, Record},
    change_log::ChangeLog,
    engine::Engine,
    error::Error,
    names::{Model, Namespace},
};

/// Field of a described index: its TTL in seconds.
const EXPIRE_AFTER: &str = "expire_after";

impl ChangeLog {
    /// Adds the record of a creation, which describes the options.
    pub(crate) fn put_created(
        self: &Arc<Self>,
        record: &Record,
        stamp: Stamp,
        out: &mut Vec<Mutation>,
    ) {
        let options = record.options.to_buf();
        self.put_one(ChangeKind::Create, record, Some(&options), stamp, out);
    }

    /// Adds the record of a drop.
    pub(crate) fn put_dropped(
        self: &Arc<Self>,
        record: &Record,
        stamp: Stamp,
        out: &mut Vec<Mutation>,
    ) {
        self.put_one(ChangeKind::Drop, record, None, stamp, out);
    }

    /// Adds the record of a renaming, which describes the new name and the UUID of the collection
    /// that had it before.
    pub(crate) fn put_renamed(
        self: &Arc<Self>,
        record: &Record,
        (to, replaced): (&Namespace, Option<[u8; 16]>),
        stamp: Stamp,
        out: &mut Vec<Mutation>,
    ) {
        let to = doc! { "db": to.database.as_str(), "coll": to.collection.as_str() };
        let mut description = doc! { "to": to };
        if let Some(uuid) = replaced {
            description.push("dropTarget", Value::Binary { subtype: 4, bytes: uuid.to_vec() });
        }
        let description = description.to_buf();
        self.put_one(ChangeKind::Rename, record, Some(&description), stamp, out);
    }

    /// Adds the records of the differences between two versions of a catalog record: of created and
    /// dropped indexes, and of changed indexes and options.
    pub(crate) fn put_changed(
        self: &Arc<Self>,
        before: &Record,
        after: &Record,
        stamp: Stamp,
        out: &mut Vec<Mutation>,
    ) {
        if after.model != Model::Documents || self.records().is_none() {
            return;
        }
        let described = changes_of(before, after);
        let bodies: Vec<ChangeBody<'_>> = described
            .iter()
            .map(|(kind, description)| ChangeBody {
                description: Some(description),
                ..ChangeBody::of_collection(*kind, &after.namespace)
            })
            .collect();
        self.put_all(after.uuid(), &bodies, stamp, out);
    }

    fn put_one(
        self: &Arc<Self>,
        kind: ChangeKind,
        record: &Record,
        description: Option<&DocBuf>,
        stamp: Stamp,
        out: &mut Vec<Mutation>,
    ) {
        if record.model == Model::Documents {
            let body = ChangeBody::of_collection(kind, &record.namespace);
            self.put_all(record.uuid(), &[ChangeBody { description, ..body }], stamp, out);
        }
    }
}

/// Returns the kinds and descriptions of the differences between two versions of a record.
fn changes_of(before: &Record, after: &Record) -> Vec<(ChangeKind, DocBuf)> {
    let mut changes = Vec::new();
    let held = |record: &Record, index: &IndexSpec| {
        record.listed_indexes().find(|other| other.id == index.id).cloned()
    };
    let list = |of: &Record, other: &Record| -> Vec<Value> {
        let missing = of.listed_indexes().filter(|index| held(other, index).is_none());
        missing.map(|index| Value::Document(described_index(index))).collect()
    };
    for (kind, indexes) in [
        (ChangeKind::CreateIndexes, list(after, before)),
        (ChangeKind::DropIndexes, list(before, after)),
    ] {
        if !indexes.is_empty() {
            changes.push((kind, doc! { "indexes": Value::Array(indexes) }.to_buf()));
        }
    }
    for index in after.listed_indexes() {
        let Some(was) = held(before, index) else { continue };
        let options = |of: &IndexSpec| (of.expire_after, of.hidden);
        if options(&was) != options(index) {
            let index = described_index(index);
            let was = described_index(&was);
            let description = doc! { "index": index, "before": doc! { "index": was } };
            changes.push((ChangeKind::Modify, description.to_buf()));
        }
    }
    if before.options != after.options {
        let description = doc! {
            "options": after.options.clone(),
            "before": doc! { "options": before.options.clone() },
        };
        changes.push((ChangeKind::Modify, description.to_buf()));
    }
    changes
}

/// Returns the specification of an index with its options that can change.
fn described_index(index: &IndexSpec) -> Document {
    let mut shown = index.shown.clone();
    if shown.get("key").is_none() {
        shown.push("key", index.key_pattern());
    }
    if shown.get("name").is_none() {
        shown.push("name", index.name.as_str());
    }
    if let Some(seconds) = index.expire_after {
        shown.insert(EXPIRE_AFTER, Value::Int64(seconds));
    }
    if index.hidden {
        shown.insert("hidden", true);
    }
    shown
}

impl Engine {
    /// Records that all collections of a database were dropped, if the change log is kept.
    pub async fn record_dropped_database(&self, database: &str) -> Result<(), Error> {
        let log = Arc::clone(self.inner.changes());
        if log.records().is_none() {
            return Ok(());
        }
        let name = Namespace::new(database, "");
        let commit = Commit::new(Vec::new(), move |stamp| {
            let mut out = Vec::new();
            let body = ChangeBody::of_collection(ChangeKind::DropDatabase, &name);
            log.put_all([0; 16], &[body], stamp, &mut out);
            out
        });
        self.commit_one(commit.freeing()).await?;
        Ok(())
    }
}
