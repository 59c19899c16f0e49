//! Change records of commits. Everything but the time and the stamp is encoded before the commit is
//! ordered, since the ordering thread serves all writers.

use std::sync::Arc;

use bytes::Bytes;
use document::{DocBuf, DocBuilder, DocRef, ValueRef};
use expiry::{Class, HeaderDraft, Lifetime, body_checksum};
use store::{ClusterTime, Mutation, Stamp};

use super::{
    ChangeKind,
    record::{key_rest, numbered_key},
};
use crate::{
    catalog::{CollectionState, Record},
    change_log::{ChangeLog, KeptLog},
    counters::{Counted, count_document},
    names::Namespace,
};

/// The content of a change record besides its place in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangeBody<'a> {
    pub(crate) kind: ChangeKind,
    pub(crate) namespace: &'a Namespace,
    pub(crate) id: Option<ValueRef<'a>>,
    pub(crate) after: Option<DocRef<'a>>,
    pub(crate) before: Option<DocRef<'a>>,
    pub(crate) description: Option<&'a DocBuf>,
    /// The identity of the transaction that made the change, in the form that the API shows.
    pub(crate) transaction: Option<&'a DocBuf>,
}

impl<'a> ChangeBody<'a> {
    /// Creates the content of the record of a change to a collection or database.
    pub(crate) fn of_collection(kind: ChangeKind, namespace: &'a Namespace) -> Self {
        let (id, after, before, description, transaction) = (None, None, None, None, None);
        Self { kind, namespace, id, after, before, description, transaction }
    }

    fn encode(&self) -> DocBuf {
        let mut body = DocBuilder::new();
        body.append("k", ValueRef::Int32(self.kind.code()));
        body.append("d", ValueRef::String(&self.namespace.database));
        body.append("c", ValueRef::String(&self.namespace.collection));
        if let Some(id) = self.id {
            body.append("i", id);
        }
        let description = self.description.map(DocBuf::as_ref);
        let transaction = self.transaction.map(DocBuf::as_ref);
        for (name, document) in
            [("a", self.after), ("b", self.before), ("x", description), ("t", transaction)]
        {
            if let Some(document) = document {
                body.append(name, ValueRef::Document(document));
            }
        }
        body.finish()
    }
}

/// A change record that lacks only the time and the stamp of its commit.
pub(crate) struct DraftedChange {
    kept: KeptLog,
    state: Arc<CollectionState>,
    /// The part of the key after the time.
    rest: Vec<u8>,
    header: HeaderDraft,
    /// The record with room for its header.
    value: Vec<u8>,
    bytes: usize,
    /// The collection whose readers are woken.
    namespace: Namespace,
}

impl DraftedChange {
    /// Drafts the record of a change with this position in its commit.
    fn new(
        kept: &KeptLog,
        (operation, uuid, row_key): (u32, [u8; 16], &[u8]),
        body: &ChangeBody<'_>,
    ) -> Self {
        let encoded = body.encode();
        let header = HeaderDraft {
            lifetime: Lifetime::Inherit,
            creation_stamp: None,
            dates: Vec::new(),
            body_checksum: body_checksum(encoded.bytes()),
        };
        let room = header.header_len();
        let mut value = Vec::with_capacity(room + encoded.bytes().len());
        value.resize(room, 0);
        value.extend_from_slice(encoded.bytes());
        Self {
            state: kept.records.state(),
            kept: kept.clone(),
            rest: key_rest(operation, uuid, row_key),
            header,
            value,
            bytes: encoded.bytes().len(),
            namespace: body.namespace.clone(),
        }
    }

    /// Adds the record to the mutations of its commit.
    pub(crate) fn put(self, stamp: Stamp, out: &mut Vec<Mutation>) {
        let time = ClusterTime::of_commit(stamp);
        self.put_at(time, stamp, out);
    }

    /// Adds the record with another time than that of its commit. Nothing is recorded once cluster
    /// times have ended, in 2106: the records would have no order, and streams are refused.
    pub(crate) fn put_at(mut self, time: ClusterTime, stamp: Stamp, out: &mut Vec<Mutation>) {
        if time == ClusterTime::MAX {
            return;
        }
        let ts = stamp.at_ms.div_euclid(1000);
        let header = self.header.encode_stamped(stamp.seq, ts);
        if let Some(room) = self.value.get_mut(..header.len()) {
            room.copy_from_slice(&header);
        }
        let bytes = i64::try_from(self.bytes).unwrap_or(i64::MAX);
        let counted = Counted { class: Class::Inherit, ts, bytes, dates: Vec::new() };
        count_document(&self.state.record, &counted, 1, out);
        let key = Bytes::from([&time.timestamp().to_be_bytes()[..], &self.rest].concat());
        out.push(Mutation::Put {
            space: self.kept.records.rows_space(),
            key,
            value: self.value.into(),
        });
        self.kept.log.record_change(stamp.seq, ClusterTime::of_commit(stamp), &self.namespace);
    }
}

impl KeptLog {
    /// Numbers the records of a commit's changes in the order of its mutations; each was drafted as
    /// the first one.
    pub(crate) fn number_changes(&self, stamp: Stamp, out: &mut [Mutation]) {
        let (space, time) = (self.records.rows_space(), ClusterTime::of_commit(stamp));
        let mut numbers = 0_u32..;
        for mutation in out {
            if let Mutation::Put { space: of, key, .. } = mutation
                && *of == space
                && let Some(number) = numbers.next()
            {
                *key = numbered_key(key, time, number);
            }
        }
    }

    /// Drafts the record of a change of a document.
    pub(crate) fn draft(
        &self,
        record: &Record,
        (operation, row_key): (u32, &[u8]),
        body: &ChangeBody<'_>,
    ) -> DraftedChange {
        DraftedChange::new(self, (operation, record.uuid(), row_key), body)
    }
}

impl ChangeLog {
    /// Adds records of changes to a collection or database to the mutations of a commit, if the log
    /// is kept. Call it where commits are ordered: records are complete from the moment on at which
    /// the log is kept.
    pub(crate) fn put_all(
        self: &Arc<Self>,
        uuid: [u8; 16],
        bodies: &[ChangeBody<'_>],
        stamp: Stamp,
        out: &mut Vec<Mutation>,
    ) {
        let Some(kept) = self.kept() else { return };
        for (operation, body) in (0_u32..).zip(bodies) {
            DraftedChange::new(&kept, (operation, uuid, &[]), body).put(stamp, out);
        }
    }
}
