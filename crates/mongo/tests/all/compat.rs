//! `docs/compat/mongodb.md` is generated from the tables that parsers and commands are tested
//! against. `EBB_UPDATE=1 cargo test -p mongo compat` writes it.

use std::{fmt::Write, path::PathBuf};

use mongo_query::support::{
    LanguagePart, Support, TABLE,
    pipelines::{ACCUMULATORS, EXPRESSIONS, STAGES},
};

use crate::options::{Answer, COMMANDS, OPTIONS};

const HEAD: &str = "\
# MongoDB compatibility

Printed from the tables of commands and operators; a test keeps it true. The server answers as
version 8.0 (wire version 0..25), and as a router unless a [topology](../replica-set.md) is chosen. *Works* means as in
MongoDB; what differs says how; what is not there yet answers an error that names it.
[frameworks.md](frameworks.md) lists what frameworks and applications send when they start, and the replies.

## Rules of time to live

* An index on `_ts` is the collection's default TTL: `expireAfterSeconds` -1 (on, no default) or
  1..2147483647. A root-level `ttl` of a document overrides it: int32, int64 that fits int32, or a
  whole double; -1 or 1..2147483647; anything else is stored and not honoured.
* `_ts` is reserved. You cannot write it (error 2), and reads, filters, sorts and projections do not see
  it.
* MongoDB's TTL indexes on dates follow MongoDB's rules, and a document is gone at the instant, not
  at the next pass of a monitor.
* What has expired stays expired whatever is set later.
* A dump does not contain `_ts`, so that what is restored begins a life anew. While
  `carry_timestamps` is switched on (`PUT /_ebb/features`; off at every start), finds of a client
  whose application is called `mongodump` show it as a last field, unless they sort or project, and
  an insert may set it: a whole number of seconds since 1970, now where it is later. The document's
  life is counted from there; one that has expired by then is never seen. One that has expired by an
  earlier default of the collection is error 2.
* `numIndexesBefore` and `numIndexesAfter` are true counts: 1 and 2 where a collection gets its
  first index.

## Chosen where no system decides

* A find without a sort answers in the order of `_id`, not of insertion. The other order would cost
  a walk over the whole collection for each batch, as containers of few items pay it, or an index of
  creation stamps that every write would pay for.
* `explain` shows one plan: `IDHACK`, `IXSCAN` under `FETCH`, or `COLLSCAN`, and MongoDB's names of
  stages above it. Several access paths, such as one for each alternative of an `$or`, stand under `OR`,
  or under `SORT_MERGE` where they are merged in the order of the sort. Several ids, a range of `_id` and
  its order are shown as `IXSCAN` of `_id_`. A count whose filter is exactly what the ranges of an index
  without arrays say reads its entries alone: `COUNT_SCAN`, or `IXSCAN` without `FETCH` where there are
  several ranges. So does a pipeline that only counts (`$count`, `$group` with a constant `_id` and
  `{$sum: 1}`), and a `skip` reads no documents there. No
  other plan is covered: an index tells which documents are meant, and they are read, since its keys
  do not say of what type a number was.
* `explain` shows hashes of the shapes of queries: `queryShapeHash` of `find`, `distinct` and `aggregate`, and
  `planCacheShapeHash` (also under its older name `queryHash`) of each search. They are the same at each start and
  on each node, and others than MongoDB's. There is no `planCacheKey`, since no plan is cached.
* `setParameter` with `requireApiVersion` refuses commands without `apiVersion` (498870) until the server stops;
  requests of the portal are exempt. It is refused in a sharded cluster (115).
* `serverStatus`, `getDiagnosticData` and `top` have what exporters read; what does not exist here counts
  0 there. `top` and `latencyStats` count up to 5,000 collections, and not the operations of `bulkWrite`;
  keys and documents that were examined include expired ones. `writeConflicts` is 0: writers that meet
  begin again by themselves.
* `killSessions`, `killAllSessions` and `killAllSessionsByPattern` end the operations, close the cursors and
  abort the transactions of sessions; `endSessions` lets operations continue.
* A validator has at most 1 MiB. A write that is decided before a `collMod` of the validator and committed
  after it is checked again. `errInfo` has at most 4 MiB, and those of one command about 8 MiB together;
  beyond that `errInfo` contains only the document's `_id` and a note. Log lines about failures (`warn`,
  `errorAndLog`) contain no values of documents. `encrypt` and `encryptMetadata` are refused in schemas.
* Options of `create` and `collMod` for storage engines and images before a change are accepted
  where they ask for nothing, and refused by name where they ask for something.
* `currentOp` shows commands of up to 1 KB whole, of others the beginning. So does `$currentOp` with
  `truncateOps: true`; else it shows those of the node that answers whole, up to nearly 16 MB together
  and as far as there is memory.
* `$pow` of decimals rounds its exact result once where the exponent is whole, and gives some 15 digits where
  it is neither whole nor a half; MongoDB may be off in the last of its 34 digits.
* A write concern `{j: false}` is acknowledged after the sync like any other.
* An index on a field that holds arrays gives bounds from its first field only.
* A key of more than 1,000 bytes is indexed by its beginning and a hash. A walk in the order of an index
  reads all documents of one such beginning together and sorts them by their values, which takes memory
  for as many as there are (365 where there is not enough).
* All text is UTF-8. MongoDB stores other bytes as they came; here a document with such text, or such a
  name of a field, is refused with 22 and a message that names its `_id` and the field: an entry of
  `writeErrors`, so that the other documents of the command are written. Convert such text before, for
  example from latin-1. Anywhere else in a command it is an error of the command.
* A document has one `_id`: a second field of that name is error 2 in each kind of write. MongoDB refuses
  it in inserts only.
* Documents between two stages may have 64 MB, as far as there is memory for operations; one that is
  returned or stored has 16 MB at most.
* `setFeatureCompatibilityVersion` changes nothing and needs no `confirm`. `$$NOW` is known to `count` and
  `distinct` too. `let` of a command cannot give `CURRENT` a value. A timestamp as text is
  `Timestamp(1, 2)`, where MongoDB writes a date.
* Seconds of an ObjectId are unsigned, as its specification says: dates of ids after 2038 lie in the future,
  where MongoDB has them before 1970.
* Errors of constants, such as a division by zero, come up when the expression is evaluated, and not where
  nothing evaluates it: `{$or: [true, {$divide: [1, 0]}]}` is true.
* `$collStats` is understood as the first stage of an `aggregate`, with `latencyStats`, `storageStats`,
  `count` and `queryExecStats`. Scans are counted by the command that begins them.
* `$indexStats` is understood as the first stage of an `aggregate`. Its counts are those of the node that
  answers, from its start or the index's making on. A find, a count, each statement of an update and
  each other operation counts once for each index that it walks; `collMod` does not set counts back.
* `currentOp` shows index builds that the server continues after a restart as `createIndexes` without
  a number (`opid`), since nobody waits for them and nobody can end them.
* `$near` and `$geoNear` need an index whose first field has a condition in the filter, unless it is the geometry.
  A `2dsphere` index finds points and shapes to within 6 mm; a ring whose edges lie so close that it
  cannot be checked for crossings in bounded work is refused. `$geoWithin` and `$geoIntersects` are refused in
  `partialFilterExpression`.
* `create` with `timeseries` or `encryptedFields` is refused by name (115).
* The definitions of views are shown by `listCollections`; there is no `system.views`. A `collMod` of a view
  needs `viewOn` and `pipeline` together. `$collStats` of a view has `latencyStats` only, and `explain` shows the
  stages of a view before those of the command. A definition that makes a view read itself is refused (5) when
  it is stored, and when it is read if two such definitions were stored at the same time.
* `$out` fills a temporary collection, which replaces its target in one commit, or fails with 125 if options or
  indexes of the target have changed since; the name of the temporary one starts with `tmp.agg_out.`, and a
  start drops any that a crash left. `explain` of a pipeline with `$out` or `$merge` has only `queryPlanner` (72).
* Every collection is kept in the order of `_id`; `clusteredIndex` names this order and can have a TTL. `explain`
  then shows `CLUSTERED_IXSCAN`, without `minRecord` and `maxRecord`. A hint of `_id_` works there, too.
* Capped collections evict the oldest documents in the commit of the insert that needs the room. Documents
  may be deleted, and updates may change their size, as in MongoDB since 5.3. An expired document counts
  towards no limit; indexes with `expireAfterSeconds` and the `ttl` of documents work as elsewhere.
  `convertToCapped` keeps all indexes and orders the documents by their creation;
  `cloneCollectionAsCapped` copies no time to live of the collection, but that of each document and
  the time of its write. A node of a cluster refuses capped collections (115).
* `profile` records commands in `system.profile`, a capped collection of 1 MB, where each entry has an `_id`.
  Settings are lost at a restart. Entries show commands of up to 1 KB whole, of others the beginning, and
  so may show values of documents that have expired. `planSummary` names the index, not its key. Clients may create
  `system.profile`, but not write to it (73).
* A tailable cursor whose unread documents were evicted ends with 136; one whose last document was deleted,
  expired or evicted after it was read continues.
* `$text` is a condition of the whole filter or in an alternative of an `$or`, whose other alternatives then need an
  index (291); what only these match has the score 0. Scores follow MongoDB's formula.
  Stop words are left out in English, German, French, Spanish, Italian, Portuguese and Dutch, by shorter lists than
  MongoDB's, so that scores may differ. A document has at most 100,000 words in a text index. A pipeline uses
  `textScore` before it reshapes documents, and not next to `$$ROOT`.
* A wildcard index yields no order of a sort. A `$recordId` is binary data, as in a clustered collection, since
  every collection is kept in the order of `_id`.
* Collations order texts by the rules of CLDR 49, MongoDB by those of ICU 57. Names of locales, options and
  the `version` that is shown (`57.1`) are MongoDB's; some characters sort elsewhere. Texts are always normalized, so
  `normalization` is only kept. Variants `search`, `searchjl`, `eor`, `phonetic`, `reformed`, `big5han` and
  `gb2312han` of locales are refused (115), and so is `backwards` for a locale with rules of its own, such as
  `sv`. An error of a unique index (11000) shows the value as it is, where MongoDB shows its sort key.
* Texts compare by the collation in filters, sorts, `$group`, `$bucket`, `distinct`, `$lookup`, sets,
  `$min`, `$max` and all comparisons of expressions and updates, also inside documents and arrays.
  `$regex`, `$strcasecmp`, `$indexOfBytes`, `$indexOfCP`, `$split`, `$replaceOne`, `$trim`, `$jsonSchema`
  and names of fields ignore it. An index serves conditions on texts, and the order of a sort, if its
  collation is that of the query; other values it serves with any collation. In a collection with a
  collation `_id` is unique by it. A text index has none: in such a collection it needs
  the locale `simple` by name, and `$text` finds words without the collation of its query. A `returnKey` shows
  texts as they are.
* A view compares texts by its own collation, not by that of its source. Queries with another one are refused (167),
  and so are views that read a view with another one.
* A connection string that names a `replicaSet` reaches a server with `--repl-set` of that name only, since the
  driver looks for a member of that set; see [Topology](../replica-set.md). The connection string of an Azure
  account works, see [below](#azure-cosmos-db-for-mongodb).
* A database whose name differs from another one's in ASCII case only is refused (13297), as in MongoDB.
* Operations hold half of `--memory` together. One that needs more than is left is error 365
  (`TemporarilyUnavailable`) and may be tried again; idle cursors that hold much are closed before
  that, the oldest of the connection whose cursors hold most first (their next `getMore` is 43), and
  half a minute after the connection that opened them has gone. Error 146 is for an expression, or
  for all regular expressions of a command, beyond limits of their own, 292 for a stage; the parts of
  a `$facet` share one stage's limit.
* `$sort`, `$group` and `$bucketAuto` put what is beyond a stage's 100 MB, or would leave less than an
  eighth of the memory for others, into temporary files; `allowDiskUse` is on unless it is `false`.
  Files take 16 GB together at most and leave a part of the device free (14031); 64 operations have
  one at the same time (365). Other stages, and a server with `--in-memory`, refuse with 292.
* The first message of a connection has 64 KB at most.
* With `--mongo-topology standalone` a `txnNumber` is refused with 20, as by a standalone mongod. Its other effects
  are described [below](#numbered-writes).
* `$lookup`, `$graphLookup` and `$unionWith` read the other collection at the instant of the pipeline's
  batch and in its snapshot.
";

/// The section on transactions of several statements.
const TRANSACTIONS: &str = "
## Transactions

`startTransaction`, `commitTransaction` and `abortTransaction` work wherever `txnNumber` is accepted, except in
a cluster (115). A transaction has snapshot isolation over any number of collections and databases: all its
statements read the state at its first one and its own writes, and its commit is one commit.

* A write conflicts (112) at the statement: with another open transaction that has written the document or the
  unique value, or with a write since the snapshot. Writes outside of transactions wait until the transaction has
  ended. `readConcern` local, majority and snapshot are the same.
* Each statement judges which documents have expired at its own instant, so no statement returns an expired one.
  If a document expires that an earlier statement has returned, a statement that would leave it out fails (112),
  and so does the commit if a document that a write has matched expires before it. Such errors have the label
  `TransientTransactionError`: the transaction repeated begins after the expiry. More in [docs/ttl.md](../ttl.md).
* `_ts` and lifetimes count from the commit, also for documents that were written long before; `$$NOW` and
  `$currentDate` are the instant of the statement.
* A change of a collection's settings or indexes does not wait for transactions. A transaction that has
  used the collection fails with 246. Indexes that become multikey do not count.
* `create`, and writes that create a collection, do so at once and for everybody: an aborted transaction leaves
  the collection, without documents. `createIndexes` works on such a collection until it is written.
* A statement that fails aborts the transaction; one that is refused before it begins (263, 72) does not.
* Refused (263): `count`, `explain`, changes of the catalog, `$out`, `$merge`, `$collStats`, `$currentOp`,
  `$indexStats`, the databases `config` and `local`, and writes to capped collections.
* The writes are kept in memory until the commit, and are charged to the memory of operations (365).
  `transactionLifetimeLimitSeconds` (60) is by the machine's clock; 10,000 may be open (146). A repeated
  `commitTransaction` is answered for half an hour, also after a restart.
* An insert of an `_id` or a unique value that an open transaction has deleted is a duplicate (11000) until it
  commits; MongoDB waits.

## Snapshot reads

`find`, `aggregate` and `distinct` with read concern `snapshot` outside of transactions, and sessions with
`snapshot: true`, read one snapshot and one instant wherever `txnNumber` is accepted, except in a cluster (123).

* Without `atClusterTime` a read gets a snapshot of all acknowledged writes; the reply names its time. A time is that
  of a commit, or of an expiration. Its reads and `getMore`s see the documents live at its instant, including documents that have
  expired since. More in [docs/ttl.md](../ttl.md).
* Only a time that a reply has named can be read again, for as long as a transaction may be open
  (`transactionLifetimeLimitSeconds`, 60 s) and by any client; other times are 239, later ones 72. MongoDB reads any
  time of the last 5 minutes. The 1,000 newest snapshots are kept; snapshots that keep too many old versions on disk
  (`--old-views-disk`) end earlier. The cursors of a snapshot that is no longer kept are closed (43, 237).
* A collection whose settings or indexes have changed since, or that was created since, is 246.
* `$out`, `$merge` and stages that report on the server are 72. `$changeStream` accepts `majority` only (72).
";

/// The section on change streams.
const STREAMS: &str = "
## Change streams

`$changeStream` works on collections, databases and the whole server (`allChangesForCluster`), also on a
standalone server; on nodes of a cluster it is refused (115). Streams read a change log:

* The log is kept from the first stream on, or from the first collection with
  `changeStreamPreAndPostImages` on, for a day; with `--change-retention` from the first start on and for this
  time. Before that nothing is recorded. Beyond `--change-log-size` the oldest changes are dropped, whole seconds
  at once. A place outside of the log is error 286.
* An expiration is a `delete` event at its instant (`wallTime`), exactly once, in order, without waiting for the
  reaper. With `showExpandedEvents` it has `expired: true`. More in [docs/ttl.md](../ttl.md).
* An edit with operators is an `update` with the difference of the two versions; a pipeline is an `update`, or a
  `replace` if the document is smaller than the difference. An edit that changes nothing is no event.
* A transaction has one event per document, with its last version and with `lsid` and `txnNumber`, in the order of
  collections and `_id`s. The events have one `clusterTime` and stand together.
* Images are kept with the changes, for the same time.
* The read concern is `majority`; another one is refused (72).
* Errors after which a stream can be resumed have `ResumableChangeStreamError` among their `errorLabels`, 280 and
  286 `NonResumableChangeStreamError`.
* Tokens have MongoDB's layout, sort as the stream does and stay valid over restarts; a damaged one is 260.
* After the stage: `$match`, `$project`, `$addFields`, `$set`, `$unset`, `$replaceRoot`, `$replaceWith`,
  `$redact`, and `$changeStreamSplitLargeEvent` as the last one; others are refused (20).
* `showMigrationEvents`, `showSystemEvents` and `showRawUpdateDescription` are refused (115). A view is error 166,
  a transaction 263. `explain` is refused (115).
";

const NUMBERED: &str = "
## Numbered writes

Drivers number their writes if the server looks like a router (`msg: \"isdbgrid\"`), as it does by default and in a
cluster, or like a replica set. A write with `lsid` and `txnNumber` is done once, however often it is sent and
whichever node it comes to: what its statements did is kept in the same commit.

* A repeat does the statements that were not done and answers for all, with `retriedStmtIds` (of
  `findAndModify`: `retriedStmtId`). `stmtId` and `stmtIds` are understood. A statement that failed is
  not done, and is tried again.
* A lower number than the session's last is error 225; a number of which nothing was done leaves no
  trace. Half an hour after the last numbered write, by the machine's clock, nothing is known of a session.
* An update with `multi: true` and a delete with `limit: 0` are error 72 with a number, and other
  commands 50768.
* A `findAndModify` is answered with the document that the first attempt answered.
* Errors after which a write may be sent again have `RetryableWriteError` among their `errorLabels`,
  and are errors of the whole command. If the attempt has written nothing, they have `NoWritesPerformed`, too.
* A list that is inserted with a number goes into commits of up to 1,000 documents or about 4 MB, each
  of which takes place as a whole.

";

const AZURE: &str = "
## Azure Cosmos DB for MongoDB

Features of the service that MongoDB does not have or has removed, and differences. Restrictions of the
service are not copied: sorts need no index, reads of a missing collection return nothing, and `_id` is unique
in a collection.

| | | |
|---|---|---|
| `customAction`: `CreateDatabase`, `UpdateDatabase`, `GetDatabase`, `CreateCollection`, `UpdateCollection`, `GetCollection` | works | `defaultTtl`, which the service ignores, creates the index on `_ts`, and `GetCollection` returns it; a created database exists without collections until it is dropped; `indexes` of `UpdateCollection` must contain `_id` (67) |
| `customAction`: `GetChangeStreamTokens` | not yet | 115 |
| `getLastRequestStatistics` | works | the last command on documents of the same session or, without one, of the connection, charged by the table of the NoSQL API; all numbers are doubles |
| `shardCollection`, `enableSharding`, `shardKey` of `create` | works | the shard key is only stored and returned: documents without it are accepted; `unique: true` is refused (115), and so is another key than the present one (23) |
| `reIndex` | works | returns the indexes, which are always complete |
| throughput and error 16500 | works | with `--enforce-throughput`, for collections and databases with a throughput of their own; a refused statement is an entry of `writeErrors`, any other refused command fails, both with `RetryAfterMs`; a `bulkWrite` is charged to its first collection |
| server-side retry | not yet | 16500 reaches the client |
| account name and key as a login | works | with `--account-name` and `--key-file`, with any `authSource` or database in the string; read-only keys have the role `readAnyDatabase`, read-write keys `root` |
| `replicaSet=globaldb` | works | outside a cluster, for clients with `appName=@NAME@` of that account: `hello` returns the address to which the client has connected; behind a mapped port add `directConnection=true` |
| `retrywrites=true` | works | error 20 with `--mongo-topology standalone` |
| transactions | works | where `txnNumber` is accepted |
| change streams | works | the options of MongoDB, see [above](#change-streams) |
| `getLastError`, `getnonce`, `filemd5` | not there | 59, as in MongoDB |
| `$planCacheStats` | not yet | 238 |
| `$geoNear` | works | also first in a pipeline of `$lookup` or `$unionWith`, not over a view with stages (40602) |
| `$geoWithin`, `$geoIntersects`, `$near`, `$nearSphere` and their options | works | with any GeoJSON shape |
| indexes `2dsphere` and `2d` | works | neither unique nor TTL indexes (67) |
| indexes `hashed` and wildcard | works | compound wildcard indexes as in MongoDB 7.0 |
| `$$CLUSTER_TIME` | not yet | 17276 |
| `$pushAll`, `$nin` in expressions | not there | 9, 31325, as in MongoDB |
| `currentOp` and `listDatabases` on other databases than `admin` | not there | 13, as in MongoDB |
";

fn text() -> String {
    let mut out = HEAD.to_owned();
    out.push_str("\n## Commands\n\n| command | | before login | on `admin` only | |\n|---|---|---|---|---|\n");
    let yes = |flag: bool| if flag { "yes" } else { "" };
    for row in mongo::table() {
        writeln!(
            out,
            "| `{}` | works | {} | {} | {} |",
            row.name,
            yes(row.before_login()),
            yes(row.admin_only),
            row.help
        )
        .unwrap();
    }
    for row in mongo::NOT_YET {
        writeln!(out, "| `{}` | not yet | | | {} |", row.name, row.area).unwrap();
    }
    options(&mut out);
    out.push_str(NUMBERED);
    let rows = mongo::table().iter().filter(|row| row.retryable);
    let names: Vec<String> = rows.map(|row| format!("`{}`", row.name)).collect();
    writeln!(out, "Commands with a number: {}.", names.join(", ")).unwrap();
    out.push_str(TRANSACTIONS);
    out.push_str(STREAMS);
    out.push_str(AZURE);
    for (part, title) in [
        (LanguagePart::Filter, "Filters"),
        (LanguagePart::Projection, "Projections"),
        (LanguagePart::Sort, "Sorts"),
        (LanguagePart::Update, "Updates"),
        (LanguagePart::UpdateModifier, "Modifiers in updates"),
    ] {
        let rows = TABLE.iter().filter(|row| row.part == part).map(|row| (row.name, row.support));
        section(&mut out, title, rows);
    }
    section(&mut out, "Pipeline stages", STAGES.iter().copied());
    section(&mut out, "Accumulators", ACCUMULATORS.iter().copied());
    section(&mut out, "Expressions", EXPRESSIONS.iter().copied());
    out
}

/// The introduction of the option tables.
const OPTIONS_HEAD: &str = "
## Options of commands

A test sends each option and compares the answer. *Ignored* is checked and accepted, and changes nothing
here. A refused option is an error of this code, and the command changes nothing. A path such as `updates.q`
is a field of each document in the list. Options that are in no table are error 40415, those of an index 197.
";

fn options(out: &mut String) {
    out.push_str(OPTIONS_HEAD);
    for command in COMMANDS {
        write!(out, "\n### `{command}`\n\n| option | | |\n|---|---|---|\n").unwrap();
        for row in OPTIONS.iter().filter(|row| row.command == *command) {
            let word = match row.answer {
                Answer::Works => "works".to_owned(),
                Answer::Ignored => "ignored".to_owned(),
                Answer::Refused(code) => format!("refused ({code})"),
            };
            let of_kind = if row.kind.is_empty() { "" } else { " of kind " };
            let mut notes: Vec<&str> = vec![row.note];
            if row.nothing.is_some() {
                notes.push("accepted where it asks for nothing");
            }
            notes.retain(|note| !note.is_empty());
            let note = notes.join("; ");
            writeln!(out, "| `{}`{of_kind}{} | {word} | {note} |", row.option, row.kind).unwrap();
        }
    }
}

fn section(out: &mut String, title: &str, rows: impl Iterator<Item = (&'static str, Support)>) {
    write!(out, "\n## {title}\n\n| | | |\n|---|---|---|\n").unwrap();
    for (name, support) in rows {
        let (word, note) = match support {
            Support::Works => ("works", ""),
            Support::Differs(note) => ("differs", note),
            Support::NotYet => ("not yet", ""),
        };
        writeln!(out, "| `{name}` | {word} | {note} |").unwrap();
    }
}

#[test]
fn the_page_is_what_the_tables_say() {
    let path = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("../../docs/compat/mongodb.md");
    if std::env::var_os("EBB_UPDATE").is_some() {
        std::fs::write(&path, text()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == text(), "run EBB_UPDATE=1 cargo test -p mongo compat");
}

#[test]
fn no_command_is_both_there_and_missing() {
    for missing in mongo::NOT_YET {
        assert!(mongo::table().iter().all(|row| row.name != missing.name), "{}", missing.name);
    }
}
