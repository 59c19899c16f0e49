//! The table of options.

use document::{Value, array, doc};

/// The treatment of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The option has the same effect as in MongoDB.
    Works,
    /// The option is checked and accepted. It has no effect other than the effect described in
    /// `note`.
    Ignored,
    /// The option is refused with this code.
    Refused(i64),
}

/// One option of a command. A path of two parts is a field of the document, or of each document of
/// the list, in the first part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) command: &'static str,
    pub(crate) option: &'static str,
    /// The kind of value that the row covers, if the option has several.
    pub(crate) kind: &'static str,
    pub(crate) answer: Answer,
    pub(crate) note: &'static str,
    /// A value with which the option enables something.
    pub(crate) value: fn() -> Value,
    /// A value with which the option enables nothing. It is accepted if `value` is refused.
    pub(crate) nothing: Option<fn() -> Value>,
}

impl Row {
    const fn unless(self, nothing: fn() -> Value) -> Self {
        Self { nothing: Some(nothing), ..self }
    }

    const fn of_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    const fn noted(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

const fn works(command: &'static str, option: &'static str, value: fn() -> Value) -> Row {
    Row { command, option, kind: "", answer: Answer::Works, note: "", value, nothing: None }
}

const fn ignored(command: &'static str, option: &'static str, value: fn() -> Value) -> Row {
    Row { answer: Answer::Ignored, ..works(command, option, value) }
}

const fn refused(
    command: &'static str,
    option: &'static str,
    code: i64,
    value: fn() -> Value,
) -> Row {
    Row { answer: Answer::Refused(code), ..works(command, option, value) }
}

/// States which collations work, and which do not.
const COLLATIONS: &str = "except for `search` variants of locales; see Collations";

fn german() -> Value {
    doc! { "locale": "de" }.into()
}

/// Returns the row of a collation.
const fn collation(command: &'static str, option: &'static str) -> Row {
    works(command, option, german).noted(COLLATIONS)
}

/// The options of the commands, in the order of the page.
pub(crate) const OPTIONS: &[Row] = &[
    refused("create", "capped", 72, || Value::from(true))
        .unless(|| Value::from(false))
        .noted("without a `size`, and on a node of a cluster (115)"),
    ignored("create", "autoIndexId", || Value::from(true)),
    refused("create", "size", 72, || Value::from(1000)).noted("without `capped`"),
    refused("create", "max", 72, || Value::from(1000)).noted("without `capped`"),
    ignored("create", "storageEngine", || Value::from(doc! { "wiredTiger": doc! {} }))
        .noted("for `wiredTiger` and `ebb` alone; shown by `listCollections`"),
    works("create", "validator", || Value::from(doc! { "a": 1 }))
        .noted("at most 1 MiB; with the filters that work here"),
    works("create", "validationLevel", || Value::from("off")),
    works("create", "validationAction", || Value::from("warn"))
        .noted("log lines contain no values, at most one per second and collection"),
    ignored("create", "indexOptionDefaults", || Value::from(doc! { "storageEngine": doc! {} }))
        .noted("shown by `listCollections`"),
    works("create", "viewOn", || Value::from("c")),
    works("create", "pipeline", || array![]).noted("of a view"),
    collation("create", "collation"),
    refused("create", "timeseries", 115, || Value::from(doc! { "timeField": "at" }))
        .noted("there are no time series"),
    works("create", "expireAfterSeconds", || Value::from(60))
        .noted("of a clustered collection, by the date in `_id`"),
    works("create", "clusteredIndex", || {
        Value::from(doc! { "key": doc! { "_id": 1 }, "unique": true })
    })
    .noted("every collection is kept in the order of `_id`"),
    works("create", "changeStreamPreAndPostImages", || Value::from(doc! { "enabled": true }))
        .noted("in the events of change streams"),
    refused("create", "recordPreImages", 115, || Value::from(true))
        .unless(|| Value::from(false))
        .noted("use `changeStreamPreAndPostImages`"),
    ignored("create", "idIndex", || Value::from(doc! { "key": doc! { "_id": 1 }, "name": "_id_" }))
        .noted("the index is there anyway"),
    refused("create", "encryptedFields", 115, || Value::from(doc! {}))
        .noted("no client-side encryption"),
    ignored("create", "flags", || Value::from(1)),
    works("create", "shardKey", || Value::from("a.b"))
        .noted("stored and returned, as by `customAction`"),
    works("collMod", "index", || Value::from(doc! { "name": "a_1", "hidden": true })),
    works("collMod", "index.name", || Value::from("a_1")),
    works("collMod", "index.keyPattern", || Value::from(doc! { "a": 1 })),
    works("collMod", "index.expireAfterSeconds", || Value::from(90)),
    works("collMod", "index.hidden", || Value::from(true)),
    refused("collMod", "index.unique", 115, || Value::from(true)),
    refused("collMod", "index.prepareUnique", 115, || Value::from(true)),
    works("collMod", "validator", || Value::from(doc! { "a": 1 }))
        .noted("at most 1 MiB; with the filters that work here"),
    works("collMod", "validationLevel", || Value::from("off")),
    works("collMod", "validationAction", || Value::from("warn"))
        .noted("log lines contain no values, at most one per second and collection"),
    works("collMod", "viewOn", || Value::from("c")).noted("of a view, together with `pipeline`"),
    works("collMod", "pipeline", || array![]).noted("of a view, together with `viewOn`"),
    works("collMod", "expireAfterSeconds", || Value::from(60))
        .noted("of a clustered collection; `off` ends it"),
    refused("collMod", "timeseries", 72, || Value::from(doc! {})).noted("of a time series"),
    works("collMod", "changeStreamPreAndPostImages", || Value::from(doc! { "enabled": true }))
        .noted("in the events of change streams"),
    refused("collMod", "cappedSize", 72, || Value::from(1000))
        .noted("on a collection that is not capped"),
    refused("collMod", "cappedMax", 72, || Value::from(1000))
        .noted("on a collection that is not capped"),
    refused("collMod", "dryRun", 72, || Value::from(true)).unless(|| Value::from(false)),
    refused("collMod", "recordPreImages", 115, || Value::from(true))
        .unless(|| Value::from(false))
        .noted("use `changeStreamPreAndPostImages`"),
    works("createIndexes", "indexes", || array![doc! { "key": doc! { "b": -1 }, "name": "b" }]),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b": 1, "c": -1 })),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b": "text" }))
        .of_kind("`text`")
        .noted("one per collection; stop words of seven languages"),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b": "2d" })).of_kind("`2d`"),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b": "2dsphere" }))
        .of_kind("`2dsphere`")
        .noted("`$near` needs a condition on the first field, a region an equality for each field before the geometry; neither unique nor a TTL index"),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b": "hashed" }))
        .of_kind("`hashed`")
        .noted("serves equality and `$in`"),
    refused("createIndexes", "indexes.key", 115, || Value::from(doc! { "b": "geoHaystack" }))
        .of_kind("`geoHaystack`"),
    refused("createIndexes", "indexes.key", 115, || Value::from(doc! { "b": "columnstore" }))
        .of_kind("`columnstore`"),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b.$**": 1 }))
        .of_kind("wildcard")
        .noted("serves conditions on one path, but no order"),
    works("createIndexes", "indexes.key", || Value::from(doc! { "b.$**": 1, "c": 1 }))
        .of_kind("compound wildcard")
        .noted("serves conditions that fix the fields before the wildcard, or those fields alone"),
    works("createIndexes", "indexes.name", || Value::from("b")),
    ignored("createIndexes", "indexes.v", || Value::from(1))
        .noted("1 and 2 are shown by `listIndexes`"),
    ignored("createIndexes", "indexes.ns", || Value::from("db.c")),
    works("createIndexes", "indexes.unique", || Value::from(true)),
    works("createIndexes", "indexes.sparse", || Value::from(true)),
    ignored("createIndexes", "indexes.background", || Value::from(true))
        .noted("shown by `listIndexes`"),
    works("createIndexes", "indexes.partialFilterExpression", || {
        Value::from(doc! { "b": doc! { "$gt": 1 } })
    }),
    works("createIndexes", "indexes.hidden", || Value::from(true)),
    works("createIndexes", "indexes.expireAfterSeconds", || Value::from(60)),
    collation("createIndexes", "indexes.collation"),
    ignored("createIndexes", "indexes.dropDups", || Value::from(true)),
    refused("createIndexes", "indexes.weights", 115, || Value::from(doc! {}))
        .noted("works for a text index"),
    refused("createIndexes", "indexes.default_language", 115, || Value::from("none"))
        .noted("works for a text index"),
    refused("createIndexes", "indexes.language_override", 115, || Value::from("l"))
        .noted("works for a text index"),
    refused("createIndexes", "indexes.textIndexVersion", 115, || Value::from(3))
        .noted("works for a text index"),
    refused("createIndexes", "indexes.2dsphereIndexVersion", 72, || Value::from(3))
        .noted("works for a `2dsphere` index"),
    refused("createIndexes", "indexes.bits", 72, || Value::from(26))
        .noted("works for a `2d` index, whose cells are always the finest"),
    refused("createIndexes", "indexes.min", 72, || Value::from(0)).noted("works for a `2d` index"),
    refused("createIndexes", "indexes.max", 72, || Value::from(9)).noted("works for a `2d` index"),
    refused("createIndexes", "indexes.bucketSize", 115, || Value::from(1)),
    refused("createIndexes", "indexes.wildcardProjection", 2, || Value::from(doc! { "a": 1 }))
        .noted("works for a wildcard index; at most 1,000 paths"),
    refused("createIndexes", "indexes.clustered", 115, || Value::from(true)),
    refused("createIndexes", "indexes.prepareUnique", 115, || Value::from(true)),
    refused("createIndexes", "indexes.columnstoreProjection", 115, || Value::from(doc! {})),
    ignored("createIndexes", "indexes.storageEngine", || {
        Value::from(doc! { "wiredTiger": doc! {} })
    })
    .noted("for `wiredTiger` and `ebb` alone; shown by `listIndexes`"),
    works("createIndexes", "ignoreUnknownIndexOptions", || Value::from(true)),
    ignored("createIndexes", "commitQuorum", || Value::from("majority"))
        .noted("one node makes an index"),
    works("insert", "documents", || array![doc! { "_id": 3 }]),
    works("insert", "ordered", || Value::from(false)),
    works("insert", "bypassDocumentValidation", || Value::from(true)),
    works("update", "updates", || {
        array![doc! { "q": doc! {}, "u": doc! { "$set": doc! { "b": 3 } } }]
    }),
    works("update", "updates.q", || Value::from(doc! { "a": 1 })),
    works("update", "updates.u", || Value::from(doc! { "$set": doc! { "b": 2 } })),
    works("update", "updates.c", || Value::from(doc! { "x": 1 })).noted("with a pipeline"),
    works("update", "updates.multi", || Value::from(true)),
    works("update", "updates.upsert", || Value::from(true)),
    collation("update", "updates.collation"),
    works("update", "updates.arrayFilters", || array![doc! { "x": 1 }]),
    works("update", "updates.hint", || Value::from("a_1")),
    works("update", "updates.sort", || Value::from(doc! { "a": 1 })),
    works("update", "ordered", || Value::from(false)),
    works("update", "bypassDocumentValidation", || Value::from(true)),
    works("update", "let", || Value::from(doc! { "x": 1 })),
    works("delete", "deletes", || array![doc! { "q": doc! {}, "limit": 0 }]),
    works("delete", "deletes.q", || Value::from(doc! { "a": 1 })),
    works("delete", "deletes.limit", || Value::from(0)),
    collation("delete", "deletes.collation"),
    works("delete", "deletes.hint", || Value::from("a_1")),
    works("delete", "ordered", || Value::from(false)),
    ignored("delete", "bypassDocumentValidation", || Value::from(true)),
    works("delete", "let", || Value::from(doc! { "x": 1 })),
    works("findAndModify", "query", || Value::from(doc! { "a": 1 })),
    works("findAndModify", "sort", || Value::from(doc! { "a": 1 })),
    works("findAndModify", "remove", || Value::from(true)),
    works("findAndModify", "update", || Value::from(doc! { "$set": doc! { "b": 2 } })),
    works("findAndModify", "new", || Value::from(true)),
    works("findAndModify", "fields", || Value::from(doc! { "a": 1 })),
    works("findAndModify", "upsert", || Value::from(true)),
    works("findAndModify", "bypassDocumentValidation", || Value::from(true)),
    collation("findAndModify", "collation"),
    works("findAndModify", "arrayFilters", || array![doc! { "x": 1 }]),
    works("findAndModify", "hint", || Value::from("a_1")),
    works("findAndModify", "let", || Value::from(doc! { "x": 1 })),
    ignored("findAndModify", "batchSize", || Value::from(5)),
    ignored("findAndModify", "singleBatch", || Value::from(true)),
    works("find", "filter", || Value::from(doc! { "a": 1 })),
    works("find", "sort", || Value::from(doc! { "a": 1 })).noted(
        "`$natural` alone is the order of `_id`, in a capped collection that of the inserts",
    ),
    works("find", "projection", || Value::from(doc! { "a": 1 })),
    works("find", "hint", || Value::from("a_1")),
    works("find", "skip", || Value::from(1)),
    works("find", "limit", || Value::from(1)),
    works("find", "batchSize", || Value::from(1)),
    works("find", "singleBatch", || Value::from(true)),
    works("find", "returnKey", || Value::from(true)),
    works("find", "showRecordId", || Value::from(true))
        .noted("binary data, as in a clustered collection: the encoded `_id`"),
    refused("find", "tailable", 2, || Value::from(true))
        .unless(|| Value::from(false))
        .noted("on a collection that is not capped"),
    refused("find", "awaitData", 9, || Value::from(true))
        .unless(|| Value::from(false))
        .noted("without `tailable`"),
    works("find", "noCursorTimeout", || Value::from(true)),
    works("find", "allowDiskUse", || Value::from(false)),
    works("find", "let", || Value::from(doc! { "x": 1 })),
    collation("find", "collation"),
    refused("find", "min", 51173, || Value::from(doc! { "a": 1 }))
        .unless(|| Value::from(doc! {}))
        .noted("works with the `hint` of an ordinary index; values of up to 1,000 bytes"),
    refused("find", "max", 51173, || Value::from(doc! { "a": 1 }))
        .unless(|| Value::from(doc! {}))
        .noted("works with the `hint` of an ordinary index; values of up to 1,000 bytes"),
    ignored("find", "allowPartialResults", || Value::from(true))
        .noted("an answer is whole, or an error"),
    ignored("find", "oplogReplay", || Value::from(true)),
    works("aggregate", "pipeline", || array![doc! { "$match": doc! {} }]),
    works("aggregate", "cursor", || Value::from(doc! { "batchSize": 1 })),
    works("aggregate", "explain", || Value::from(true)),
    works("aggregate", "allowDiskUse", || Value::from(false)),
    ignored("aggregate", "bypassDocumentValidation", || Value::from(true)).noted("no stage writes"),
    collation("aggregate", "collation"),
    works("aggregate", "hint", || Value::from("a_1")),
    works("aggregate", "let", || Value::from(doc! { "x": 1 })),
    ignored("aggregate", "isMapReduceCommand", || Value::from(false)),
    refused("aggregate", "exchange", 115, || Value::from(doc! {})),
    works("count", "query", || Value::from(doc! { "a": 1 })),
    works("count", "limit", || Value::from(1)),
    works("count", "skip", || Value::from(1)),
    works("count", "hint", || Value::from("a_1")),
    collation("count", "collation"),
    ignored("count", "fields", || Value::from(doc! { "a": 1 })),
    ignored("count", "queryHash", || Value::from("x")),
    works("distinct", "key", || Value::from("a")),
    works("distinct", "query", || Value::from(doc! { "a": 1 })),
    collation("distinct", "collation"),
    works("distinct", "hint", || Value::from("a_1")),
];
