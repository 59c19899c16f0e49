//! Arguments that version 1 of MongoDB's Stable API leaves out, command by command, as MongoDB 8.0 has
//! it. A path of two parts is a field of the document, or of each document of the list, that the first
//! part names. Arguments that this server has under no circumstances are listed too: a client that asks
//! for version 1 strictly gets the error of the version for them.

/// Of `create`. `capped` is in the version, and a capped collection is not, since it needs a `size`.
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

/// Of `collMod`.
pub(super) const COLL_MOD: &[&str] = &[
    "changeStreamPreAndPostImages",
    "collectionUUID",
    "dryRun",
    "recordPreImages",
    "index.forceNonUnique",
    "index.prepareUnique",
    "index.unique",
];

/// Of `createIndexes`.
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

/// Of `dropIndexes`.
pub(super) const DROP_INDEXES: &[&str] = &["collectionUUID"];

/// Of `listCollections`.
pub(super) const LIST_COLLECTIONS: &[&str] = &["includePendingDrops"];

/// Of `listIndexes`.
pub(super) const LIST_INDEXES: &[&str] = &["includeBuildUUIDs", "includeIndexBuildInfo"];

/// Of `find`.
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

/// Of `aggregate`.
pub(super) const AGGREGATE: &[&str] = &[
    "$_passthroughToShard",
    "$_requestReshardingResumeToken",
    "collectionUUID",
    "encryptionInformation",
    "explain",
    "isMapReduceCommand",
    "runtimeConstants",
];

/// Of `count`.
pub(super) const COUNT: &[&str] = &["encryptionInformation", "fields", "mirrored"];

/// Of `getMore`.
pub(super) const GET_MORE: &[&str] = &["lastKnownCommittedOpTime", "term"];

/// Of `insert`, `update`, `delete` and `findAndModify`.
pub(super) const WRITES: &[&str] = &["collectionUUID", "encryptionInformation"];
