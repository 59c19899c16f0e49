//! Bodies of the commands that the workloads send. Each function returns a closure that fills a
//! builder, so that a connection can reuse one buffer. The cost of a driver is excluded.
//!
//! ```text
//! commands::find_id("usertable", id)   →  {find: "usertable", $db: "ebb_bench",
//!                                          filter: {_id: id}, limit: 1, singleBatch: true}
//! ```

use std::ops::Range;

use document::{DocBuilder, ValueRef};
use mongo_client::commands::begin_command;

use crate::{limits::PAGE, limits::SCAN_DOCUMENTS};

/// Database of all workloads; its collections are dropped without confirmation.
pub(crate) const DATABASE: &str = "ebb_bench";

/// Durability required before a write is acknowledged; `w` is always 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Concern {
    /// `j`: on disk, not only in memory.
    pub(crate) journal: bool,
}

/// Write concern of preparatory inserts, which need not wait for the disk.
pub(crate) const LOADING: Concern = Concern { journal: false };

/// Builds a command with these arguments on the `admin` database.
pub(crate) fn admin_command<'a>(
    name: &'a str,
    more: &'a [(&'a str, ValueRef<'a>)],
) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, name, ValueRef::Int32(1), "admin");
        for (name, value) in more {
            body.append(name, *value);
        }
    }
}

/// Builds a command on a collection without further arguments, such as `count` and `drop`.
pub(crate) fn collection_command(name: &str, collection: &str) -> impl FnOnce(&mut DocBuilder) {
    move |body| begin_command(body, name, ValueRef::String(collection), DATABASE)
}

/// Finds a document by its `_id`, with `limit` 1 and `singleBatch`, as drivers send `findOne`.
pub(crate) fn find_id(collection: &str, id: ValueRef<'_>) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "find", ValueRef::String(collection), DATABASE);
        body.document("filter", |filter| filter.append("_id", id));
        body.append("limit", ValueRef::Int32(1));
        body.append("singleBatch", ValueRef::Bool(true));
    }
}

/// Finds all documents with this value of a field; they have to fit into the first batch.
pub(crate) fn find_equal(
    collection: &str,
    field: &str,
    value: ValueRef<'_>,
) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "find", ValueRef::String(collection), DATABASE);
        body.document("filter", |filter| filter.append(field, value));
    }
}

/// Finds the first `limit` documents from an `_id` on. The batch size equals the limit, so no
/// cursor stays open.
pub(crate) fn find_range(
    collection: &str,
    from: ValueRef<'_>,
    limit: u64,
) -> impl FnOnce(&mut DocBuilder) {
    let limit = ValueRef::Int32(i32::try_from(limit).unwrap_or(i32::MAX));
    move |body| {
        begin_command(body, "find", ValueRef::String(collection), DATABASE);
        body.document("filter", |filter| {
            filter.document("_id", |range| range.append("$gte", from));
        });
        body.document("sort", |sort| sort.append("_id", ValueRef::Int32(1)));
        body.append("limit", limit);
        body.append("batchSize", limit);
    }
}

/// Finds [`SCAN_DOCUMENTS`] documents from an `_id` on. The server chooses the batch size, so that
/// its choice is part of the measurement.
pub(crate) fn find_scan(collection: &str, from: ValueRef<'_>) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "find", ValueRef::String(collection), DATABASE);
        body.document("filter", |filter| {
            filter.document("_id", |range| range.append("$gte", from));
        });
        body.document("sort", |sort| sort.append("_id", ValueRef::Int32(1)));
        body.append("limit", ValueRef::Int32(SCAN_DOCUMENTS.cast_signed()));
    }
}

/// Finds the newest orders of a customer, one page, by the compound index.
pub(crate) fn find_orders(collection: &str, customer: i32) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "find", ValueRef::String(collection), DATABASE);
        body.document("filter", |filter| filter.append("customer", ValueRef::Int32(customer)));
        body.document("sort", |sort| sort.append("at", ValueRef::Int32(-1)));
        body.append("limit", ValueRef::Int32(PAGE.cast_signed()));
    }
}

/// Finds one page of the events with this `lot`, lowest `rank` first. The index on `lot` does not
/// contain `rank`, so the server has to sort.
pub(crate) fn find_lot(collection: &str, lot: i64) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "find", ValueRef::String(collection), DATABASE);
        body.document("filter", |filter| filter.append("lot", ValueRef::Int64(lot)));
        body.document("sort", |sort| sort.append("rank", ValueRef::Int32(1)));
        body.append("limit", ValueRef::Int32(PAGE.cast_signed()));
    }
}

/// Counts the events whose `shuffled` is in this range and sums their amounts, grouped by kind.
pub(crate) fn group_events(collection: &str, places: Range<i64>) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "aggregate", ValueRef::String(collection), DATABASE);
        body.array("pipeline", |stages| {
            stages.document(|stage| {
                stage.document("$match", |filter| {
                    filter.document("shuffled", |range| {
                        range.append("$gte", ValueRef::Int64(places.start));
                        range.append("$lt", ValueRef::Int64(places.end));
                    });
                });
            });
            stages.document(|stage| {
                stage.document("$group", |group| {
                    group.append("_id", ValueRef::String("$kind"));
                    group.document("events", |sum| sum.append("$sum", ValueRef::Int32(1)));
                    group.document("amount", |sum| sum.append("$sum", ValueRef::String("$amount")));
                });
            });
        });
        body.document("cursor", |_| {});
    }
}

/// Requests the next batch of a cursor, with the server's batch size.
pub(crate) fn get_more(collection: &str, cursor: i64) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "getMore", ValueRef::Int64(cursor), DATABASE);
        body.append("collection", ValueRef::String(collection));
    }
}

/// Builds an insert command, whose documents are sent in a document sequence of the same message.
pub(crate) fn insert_command(collection: &str, concern: Concern) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "insert", ValueRef::String(collection), DATABASE);
        body.append("ordered", ValueRef::Bool(true));
        put_concern(body, concern);
    }
}

/// Sets one field of the document with this `_id` with `$set`, without upsert.
pub(crate) fn update_command(
    collection: &str,
    id: ValueRef<'_>,
    (field, value): (&str, &str),
    concern: Concern,
) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "update", ValueRef::String(collection), DATABASE);
        body.array("updates", |updates| {
            updates.document(|update| {
                update.document("q", |filter| filter.append("_id", id));
                put_set(update, "u", field, value);
            });
        });
        put_concern(body, concern);
    }
}

/// Sets one field of the document with this `_id` and returns the previous document.
pub(crate) fn find_and_modify(
    collection: &str,
    id: ValueRef<'_>,
    (field, value): (&str, &str),
    concern: Concern,
) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "findAndModify", ValueRef::String(collection), DATABASE);
        body.document("query", |filter| filter.append("_id", id));
        put_set(body, "update", field, value);
        put_concern(body, concern);
    }
}

/// Computes sums and averages of the sales of at least this amount, by category. All amounts are
/// above 0, so that with a negative bound the `$match` keeps every document. Callers use another
/// bound each time, so that the server cannot return a cached reply.
pub(crate) fn group_command(collection: &str, smallest: f64) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "aggregate", ValueRef::String(collection), DATABASE);
        body.array("pipeline", |stages| {
            stages.document(|stage| {
                stage.document("$match", |filter| {
                    filter.document("amount", |range| {
                        range.append("$gte", ValueRef::Double(smallest));
                    });
                });
            });
            stages.document(|stage| {
                stage.document("$group", |group| {
                    group.append("_id", ValueRef::String("$category"));
                    for (name, function, of) in [
                        ("sales", "$sum", ValueRef::Int32(1)),
                        ("amount", "$sum", ValueRef::String("$amount")),
                        ("mean", "$avg", ValueRef::String("$amount")),
                        ("quantity", "$avg", ValueRef::String("$quantity")),
                    ] {
                        group.document(name, |accumulator| accumulator.append(function, of));
                    }
                });
            });
        });
        body.document("cursor", |_| {});
    }
}

/// Creates an index on fields, each with its direction (1 or -1). If `expire_after` is given, the
/// index is a TTL index with this number of seconds.
pub(crate) fn create_index(
    collection: &str,
    keys: &[(&str, i32)],
    expire_after: Option<i64>,
) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "createIndexes", ValueRef::String(collection), DATABASE);
        let name: Vec<String> = keys.iter().map(|(key, way)| format!("{key}_{way}")).collect();
        body.array("indexes", |indexes| {
            indexes.document(|index| {
                index.document("key", |key| {
                    keys.iter().for_each(|(name, way)| key.append(name, ValueRef::Int32(*way)));
                });
                index.append("name", ValueRef::String(&name.join("_")));
                if let Some(seconds) = expire_after {
                    index.append("expireAfterSeconds", ValueRef::Int64(seconds));
                }
            });
        });
    }
}

/// Changes the lifetime of documents in a TTL index.
pub(crate) fn change_ttl(
    collection: &str,
    index: &str,
    seconds: i64,
) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "collMod", ValueRef::String(collection), DATABASE);
        body.document("index", |change| {
            change.append("name", ValueRef::String(index));
            change.append("expireAfterSeconds", ValueRef::Int64(seconds));
        });
    }
}

/// Appends an update that sets one field to a text.
fn put_set(body: &mut DocBuilder, name: &str, field: &str, value: &str) {
    body.document(name, |change| {
        change.document("$set", |set| set.append(field, ValueRef::String(value)));
    });
}

fn put_concern(body: &mut DocBuilder, concern: Concern) {
    body.document("writeConcern", |document| {
        document.append("w", ValueRef::Int32(1));
        document.append("j", ValueRef::Bool(concern.journal));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fill: impl FnOnce(&mut DocBuilder), want: &str) {
        let mut body = DocBuilder::new();
        fill(&mut body);
        let bytes = body.finish();
        document::validate(bytes.bytes()).unwrap();
        let got = format!("{bytes:?}").replace(char::is_whitespace, "");
        assert_eq!(got, want.replace(char::is_whitespace, ""));
    }

    #[test]
    fn bodies() {
        let durable = Concern { journal: true };
        let id = ValueRef::Int32(7);
        check(collection_command("drop", "c"), r#"{drop: "c", $db: "ebb_bench"}"#);
        check(
            admin_command("fsync", &[("lock", ValueRef::Bool(false))]),
            r#"{fsync: 1, $db: "admin", lock: false}"#,
        );
        check(
            find_id("c", id),
            r#"{find: "c", $db: "ebb_bench", filter: {_id: 7}, limit: 1, singleBatch: true}"#,
        );
        check(
            find_range("c", id, 9),
            r#"{find: "c", $db: "ebb_bench", filter: {_id: {$gte: 7}}, sort: {_id: 1},
                limit: 9, batchSize: 9}"#,
        );
        check(
            find_orders("c", 3),
            r#"{find: "c", $db: "ebb_bench", filter: {customer: 3}, sort: {at: -1}, limit: 20}"#,
        );
        check(
            insert_command("c", durable),
            r#"{insert: "c", $db: "ebb_bench", ordered: true, writeConcern: {w: 1, j: true}}"#,
        );
        check(
            update_command("c", id, ("f", "x"), Concern { journal: false }),
            r#"{update: "c", $db: "ebb_bench", updates: [{q: {_id: 7}, u: {$set: {f: "x"}}}],
                writeConcern: {w: 1, j: false}}"#,
        );
        check(
            find_and_modify("c", id, ("f", "x"), durable),
            r#"{findAndModify: "c", $db: "ebb_bench", query: {_id: 7}, update: {$set: {f: "x"}},
                writeConcern: {w: 1, j: true}}"#,
        );
        check(find_equal("c", "k", id), r#"{find: "c", $db: "ebb_bench", filter: {k: 7}}"#);
        check(
            change_ttl("c", "i", -1),
            r#"{collMod: "c", $db: "ebb_bench", index: {name: "i", expireAfterSeconds: -1}}"#,
        );
        check(
            create_index("c", &[("a", 1), ("b", -1)], None),
            r#"{createIndexes: "c", $db: "ebb_bench",
                indexes: [{key: {a: 1, b: -1}, name: "a_1_b_-1"}]}"#,
        );
    }
}
