//! Arguments that version 1 of MongoDB's Stable API excludes, by command, as in MongoDB 8.0. `a.b`
//! is the field `b` of the document in argument `a`, or of each document if `a` is a list.
//! Arguments that this server never supports are included: a client with `apiStrict` gets the API's
//! error for them.

/// Arguments of `create`. Version 1 includes `capped` but not a capped collection, since that needs
/// a `size`.
pub(super) const CREATE: &[&str] = &[
    "autoIndexId",
    "changeStreamPreAndPostImages",
    "flags",
    "indexOptionDefaults",
    "max",
    "recordPreImages",
    "size",
    "storageEngine",
    "temp",
];

pub(super) const COLL_MOD: &[&str] = &[
    "changeStreamPreAndPostImages",
    "collectionUUID",
    "dryRun",
    "recordPreImages",
    "index.forceNonUnique",
    "index.prepareUnique",
    "index.unique",
];

pub(super) const CREATE_INDEXES: &[&str] = &[
    "collectionUUID",
    "ignoreUnknownIndexOptions",
    "returnOnStart",
    "indexes.background",
    "indexes.bucketSize",
    "indexes.columnstoreCompressor",
    "indexes.columnstoreProjection",
    "indexes.dropDups",
    "indexes.originalSpec",
    "indexes.prepareUnique",
    "indexes.sparse",
    "indexes.storageEngine",
];

pub(super) const DROP_INDEXES: &[&str] = &["collectionUUID"];

pub(super) const LIST_COLLECTIONS: &[&str] = &["includePendingDrops"];

pub(super) const LIST_INDEXES: &[&str] = &["includeBuildUUIDs", "includeIndexBuildInfo"];

pub(super) const FIND: &[&str] = &[
    "$_requestResumeToken",
    "$_resumeAfter",
    "allowSpeculativeMajorityRead",
    "awaitData",
    "collectionUUID",
    "encryptionInformation",
    "max",
    "min",
    "noCursorTimeout",
    "ntoreturn",
    "oplogReplay",
    "options",
    "readOnce",
    "returnKey",
    "runtimeConstants",
    "showRecordId",
    "tailable",
    "term",
];

pub(super) const AGGREGATE: &[&str] = &[
    "$_passthroughToShard",
    "$_requestReshardingResumeToken",
    "collectionUUID",
    "encryptionInformation",
    "explain",
    "isMapReduceCommand",
    "runtimeConstants",
];

pub(super) const COUNT: &[&str] = &["encryptionInformation", "fields", "mirrored"];

pub(super) const GET_MORE: &[&str] = &["lastKnownCommittedOpTime", "term"];

/// Arguments of `insert`, `update`, `delete` and `findAndModify` that are not part of the Stable
/// API.
pub(super) const WRITES: &[&str] = &["collectionUUID", "encryptionInformation"];
