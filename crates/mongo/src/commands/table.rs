//! The table of commands. It also answers `listCommands` and prints `docs/compat/mongodb.md`.

use std::{collections::HashMap, future::Future, marker::PhantomData, pin::Pin};

use document::DocBuf;
use engine::Store;

use super::{
    Call, aggregate, bulk, catalog, coll_mod, count, create_indexes, delete, diagnosis, distinct,
    drop_indexes, ebb, explain, fail_point, find, find_and_modify, get_more, handshake, insert,
    kill_cursors, list, operations, parameters, server_status, sessions, stats, update,
};
use crate::errors::Result;

type Running<'a> = Pin<Box<dyn Future<Output = Result<DocBuf>> + Send + 'a>>;

/// Stands for arguments of any name.
pub(crate) const ANY: &str = "*";

/// One command.
pub(crate) struct Row<S: Store> {
    pub(crate) name: &'static str,
    /// Arguments it knows beside the generic ones.
    pub(crate) fields: &'static [&'static str],
    /// It runs on database `admin` only.
    pub(crate) admin: bool,
    pub(crate) run: for<'a> fn(Call<'a, S>) -> Running<'a>,
}

/// One command, as documentation sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// Its name.
    pub name: &'static str,
    /// Arguments it knows beside the generic ones.
    pub fields: &'static [&'static str],
    /// It may run before a client has authenticated.
    pub before_auth: bool,
    /// It runs on database `admin` only.
    pub admin: bool,
    /// What it does.
    pub help: &'static str,
}

macro_rules! rows {
    ($($name:literal [$($flag:ident)?] $module:ident :: $run:ident, $fields:expr, $help:literal;)*) => {
        /// The table for a store.
        pub(crate) struct Table<S>(PhantomData<S>);

        impl<S: Store> Table<S> {
            const ROWS: &'static [Row<S>] = &[$(Row {
                name: $name,
                fields: $fields,
                admin: flags!(admin $($flag)?),
                run: |call| Box::pin($module::$run(call)),
            }),*];

            /// Rows and their places by name.
            pub(crate) fn by_name() -> HashMap<&'static str, (usize, &'static Row<S>)> {
                let rows = Self::ROWS.iter().enumerate();
                rows.map(|(at, row)| (row.name, (at, row))).collect()
            }
        }

        /// All commands.
        pub fn table() -> Vec<CommandRow> {
            vec![$(CommandRow {
                name: $name,
                fields: $fields,
                before_auth: flags!(before_auth $($flag)?),
                admin: flags!(admin $($flag)?),
                help: $help,
            }),*]
        }
    };
}

macro_rules! flags {
    (before_auth open) => {
        true
    };
    (admin admin) => {
        true
    };
    ($($other:tt)*) => {
        false
    };
}

rows! {
    "hello" [open] handshake::run, handshake::FIELDS, "who the server is";
    "isMaster" [open] handshake::run, handshake::FIELDS, "who the server is, old name";
    "ismaster" [open] handshake::run, handshake::FIELDS, "who the server is, old name";
    "ping" [open] diagnosis::ping, &[], "answers";
    "buildInfo" [open] diagnosis::build_info, &[], "versions";
    "buildinfo" [open] diagnosis::build_info, &[], "versions, old name";
    "whatsmyuri" [open] diagnosis::whats_my_uri, &[], "the client's address";
    "connectionStatus" [open] diagnosis::connection_status, &["showPrivileges"], "who is logged in";
    "hostInfo" [] diagnosis::host_info, &[], "the machine";
    "getLog" [admin] diagnosis::get_log, &[], "log lines kept in memory: none";
    "getCmdLineOpts" [admin] diagnosis::command_line, &[], "how the server was started";
    "listCommands" [open] diagnosis::list_commands, &[], "this table";
    "serverStatus" [] server_status::run, &[ANY], "state and counters, metrics.ttl among them";
    "getParameter" [admin] parameters::get, parameters::NAMES, "a setting, or all of them";
    "setParameter" [admin] parameters::set, parameters::NAMES, "changes a setting";
    "getDefaultRWConcern" [admin] parameters::concerns, &["inMemory"], "default concerns";
    "setFeatureCompatibilityVersion" [admin] parameters::set_compatibility, &["confirm", "downgradeOnDiskChanges", "fromConfigServer"], "accepted, changes nothing";
    "listDatabases" [admin] list::databases, &["filter", "nameOnly", "authorizedDatabases"], "databases and their sizes";
    "listCollections" [] list::collections, &["filter", "nameOnly", "authorizedCollections", "cursor"], "collections of a database";
    "listIndexes" [] list::indexes, &["cursor", "includeBuildUUIDs", "includeIndexBuildInfo"], "indexes of a collection";
    "create" [] catalog::create, catalog::CREATE_FIELDS, "makes a collection";
    "drop" [] catalog::drop, &[], "drops a collection";
    "dropDatabase" [] catalog::drop_database, &[], "drops a database";
    "renameCollection" [admin] catalog::rename, &["to", "dropTarget", "stayTemp", "collectionUUID"], "gives a collection another name";
    "collMod" [] coll_mod::run, coll_mod::FIELDS, "changes an index or a collection";
    "createIndexes" [] create_indexes::run, &["indexes", "ignoreUnknownIndexOptions", "commitQuorum"], "makes indexes";
    "dropIndexes" [] drop_indexes::run, &["index"], "drops indexes";
    "deleteIndexes" [] drop_indexes::run, &["index"], "drops indexes, old name";
    "collStats" [] stats::collection, &["scale"], "counts and sizes of a collection";
    "collstats" [] stats::collection, &["scale"], "counts and sizes, old name";
    "dbStats" [] stats::database, &["scale", "freeStorage"], "counts and sizes of a database";
    "dbstats" [] stats::database, &["scale", "freeStorage"], "counts and sizes, old name";
    "validate" [] stats::validate, &["full", "repair", "metadata", "checkBSONConformance", "background", "scandata"], "walks a collection";
    "insert" [] insert::run, &["documents", "ordered", "bypassDocumentValidation"], "inserts documents";
    "update" [] update::run, &["updates", "ordered", "bypassDocumentValidation", "let"], "updates documents";
    "delete" [] delete::run, &["deletes", "ordered", "let"], "removes documents";
    "bulkWrite" [admin] bulk::run, bulk::FIELDS, "many writes of many collections";
    "find" [] find::run, find::FIELDS, "reads documents";
    "getMore" [] get_more::run, &["collection", "batchSize", "term", "lastKnownCommittedOpTime"], "the next batch of a cursor";
    "killCursors" [] kill_cursors::run, &["cursors"], "closes cursors";
    "findAndModify" [] find_and_modify::run, find_and_modify::FIELDS, "changes a document and answers it";
    "findandmodify" [] find_and_modify::run, find_and_modify::FIELDS, "old name";
    "aggregate" [] aggregate::run, aggregate::FIELDS, "runs a pipeline";
    "count" [] count::run, count::FIELDS, "counts documents";
    "distinct" [] distinct::run, distinct::FIELDS, "distinct values of a field";
    "explain" [] explain::run, &["verbosity"], "how a command would run";
    "startSession" [] sessions::start, &[ANY], "a session id";
    "endSessions" [open] sessions::end, &[], "ends sessions";
    "refreshSessions" [] sessions::end, &[], "keeps sessions";
    "killSessions" [] sessions::end, &[ANY], "ends sessions";
    "killAllSessions" [] sessions::end, &[ANY], "ends sessions";
    "killAllSessionsByPattern" [] sessions::end, &[ANY], "ends sessions";
    "logout" [open] sessions::log_out, &[], "forgets who is logged in";
    "currentOp" [admin] operations::current, &["$all", "$ownOps", ANY], "operations under way; other arguments are a filter";
    "killOp" [admin] operations::kill, &["op", ANY], "ends an operation: reads, updates and deletes";
    "fsync" [admin] operations::fsync, &["lock", "async"], "everything acknowledged is durable already";
    "replSetGetStatus" [admin] operations::replica_set, &["initialSync"], "not a replica set: 76";
    "configureFailPoint" [admin] fail_point::run, &["mode", "data"], "failCommand, for tests of applications";
    "ebbClock" [admin] ebb::clock, &["advanceSeconds", "set"], "reads or moves the database clock";
    "ebbExpiry" [] ebb::expiry, &["preview", "ids"], "forecast and preview of a collection's expiry; with `ids` when those documents die, and by which rule";
}

/// Commands of MongoDB that are known and not there yet, with what they belong to.
pub const NOT_YET: &[(&str, &str)] = &[
    ("saslStart", "authentication"),
    ("saslContinue", "authentication"),
    ("authenticate", "authentication"),
    ("createUser", "authentication"),
    ("updateUser", "authentication"),
    ("dropUser", "authentication"),
    ("usersInfo", "authentication"),
    ("commitTransaction", "transactions"),
    ("abortTransaction", "transactions"),
    ("mapReduce", "server-side JavaScript"),
    ("convertToCapped", "capped collections"),
    ("cloneCollectionAsCapped", "capped collections"),
    ("replSetInitiate", "replica sets"),
    ("replSetGetConfig", "replica sets"),
    ("shardCollection", "sharding"),
    ("enableSharding", "sharding"),
    ("compact", "operations"),
    ("top", "operations"),
    ("profile", "operations"),
    ("dbHash", "operations"),
    ("createSearchIndexes", "search"),
    ("updateSearchIndex", "search"),
    ("dropSearchIndex", "search"),
];
