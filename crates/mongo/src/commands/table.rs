//! The table of commands. It also answers `listCommands` and prints `docs/compat/mongodb.md`.

use std::{collections::HashMap, future::Future, marker::PhantomData, pin::Pin};

use document::DocBuf;
use store::Store;

use super::{
    Call, aggregate, bulk, catalog, coll_mod, count, create_indexes, delete, diagnosis, distinct,
    drop_indexes, ebb, explain, fail_point, find, find_and_modify, get_more, handshake, insert,
    kill_cursors, list, operations, parameters, server_status, sessions, stats, update,
};
use crate::errors::Result;

type Running<'a> = Pin<Box<dyn Future<Output = Result<DocBuf>> + Send + 'a>>;

/// One command.
pub(crate) struct Row<S: Store> {
    pub(crate) name: &'static str,
    /// Arguments it knows beside the generic ones.
    pub(crate) fields: &'static [&'static str],
    /// It may run before a client has authenticated.
    pub(crate) before_auth: bool,
    /// It runs on database `admin` only.
    pub(crate) admin: bool,
    pub(crate) help: &'static str,
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
    ($($name:literal $module:ident :: $run:ident $(($flag:ident))? $fields:expr, $help:literal;)*) => {
        /// The table for a store.
        pub(crate) struct Table<S>(PhantomData<S>);

        impl<S: Store> Table<S> {
            const ROWS: &'static [Row<S>] = &[$(Row {
                name: $name,
                fields: $fields,
                before_auth: flags!(before_auth $($flag)?),
                admin: flags!(admin $($flag)?),
                help: $help,
                run: |call| Box::pin($module::$run(call)),
            }),*];

            /// Rows by name.
            pub(crate) fn by_name() -> HashMap<&'static str, &'static Row<S>> {
                Self::ROWS.iter().map(|row| (row.name, row)).collect()
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
    (before_auth open) => { true };
    (admin admin) => { true };
    ($($other:tt)*) => { false };
}

rows! {
    "hello" handshake::run (open) handshake::FIELDS, "who the server is";
    "isMaster" handshake::run (open) handshake::FIELDS, "who the server is, old name";
    "ismaster" handshake::run (open) handshake::FIELDS, "who the server is, old name";
    "ping" diagnosis::ping (open) &[], "answers";
    "buildInfo" diagnosis::build_info (open) &[], "versions";
    "buildinfo" diagnosis::build_info (open) &[], "versions, old name";
    "whatsmyuri" diagnosis::whats_my_uri (open) &[], "the client's address";
    "connectionStatus" diagnosis::connection_status (open) &["showPrivileges"], "who is logged in";
    "hostInfo" diagnosis::host_info &[], "the machine";
    "getLog" diagnosis::get_log (admin) &[], "log lines kept in memory: none";
    "getCmdLineOpts" diagnosis::command_line (admin) &[], "how the server was started";
    "listCommands" diagnosis::list_commands (open) &[], "this table";
    "serverStatus" server_status::run &["repl", "metrics", "locks", "network", "wiredTiger", "tcmalloc", "opcounters", "connections", "storageEngine", "asserts", "transactions", "logicalSessionRecordCache", "security", "mem", "oplog", "sharding"], "state and counters, metrics.ttl among them";
    "getParameter" parameters::get (admin) parameters::NAMES, "a setting, or all of them";
    "setParameter" parameters::set (admin) parameters::NAMES, "changes a setting";
    "getDefaultRWConcern" parameters::concerns (admin) &["inMemory"], "default concerns";
    "setFeatureCompatibilityVersion" parameters::set_compatibility (admin) &["confirm", "downgradeOnDiskChanges", "fromConfigServer"], "accepted, changes nothing";
    "listDatabases" list::databases (admin) &["filter", "nameOnly", "authorizedDatabases"], "databases and their sizes";
    "listCollections" list::collections &["filter", "nameOnly", "authorizedCollections", "cursor"], "collections of a database";
    "listIndexes" list::indexes &["cursor", "includeBuildUUIDs", "includeIndexBuildInfo"], "indexes of a collection";
    "create" catalog::create catalog::CREATE_FIELDS, "makes a collection";
    "drop" catalog::drop &[], "drops a collection";
    "dropDatabase" catalog::drop_database &[], "drops a database";
    "renameCollection" catalog::rename (admin) &["to", "dropTarget"], "gives a collection another name";
    "collMod" coll_mod::run coll_mod::FIELDS, "changes an index or a collection";
    "createIndexes" create_indexes::run &["indexes", "ignoreUnknownIndexOptions", "commitQuorum"], "makes indexes";
    "dropIndexes" drop_indexes::run &["index"], "drops indexes";
    "deleteIndexes" drop_indexes::run &["index"], "drops indexes, old name";
    "collStats" stats::collection &["scale"], "counts and sizes of a collection";
    "collstats" stats::collection &["scale"], "counts and sizes, old name";
    "dbStats" stats::database &["scale", "freeStorage"], "counts and sizes of a database";
    "dbstats" stats::database &["scale", "freeStorage"], "counts and sizes, old name";
    "validate" stats::validate &["full", "repair", "metadata", "checkBSONConformance", "background"], "walks a collection";
    "insert" insert::run &["documents", "ordered", "bypassDocumentValidation"], "inserts documents";
    "update" update::run &["updates", "ordered", "bypassDocumentValidation", "let"], "updates documents";
    "delete" delete::run &["deletes", "ordered", "let"], "removes documents";
    "bulkWrite" bulk::run (admin) bulk::FIELDS, "many writes of many collections";
    "find" find::run find::FIELDS, "reads documents";
    "getMore" get_more::run &["collection", "batchSize", "term", "lastKnownCommittedOpTime"], "the next batch of a cursor";
    "killCursors" kill_cursors::run &["cursors"], "closes cursors";
    "findAndModify" find_and_modify::run find_and_modify::FIELDS, "changes a document and answers it";
    "findandmodify" find_and_modify::run find_and_modify::FIELDS, "old name";
    "aggregate" aggregate::run aggregate::FIELDS, "runs a pipeline";
    "count" count::run count::FIELDS, "counts documents";
    "distinct" distinct::run distinct::FIELDS, "distinct values of a field";
    "explain" explain::run &["verbosity"], "how a command would run";
    "startSession" sessions::start &[], "a session id";
    "endSessions" sessions::end (open) &[], "ends sessions";
    "refreshSessions" sessions::end &[], "keeps sessions";
    "killSessions" sessions::end &[], "ends sessions";
    "killAllSessions" sessions::end &[], "ends sessions";
    "killAllSessionsByPattern" sessions::end &[], "ends sessions";
    "logout" sessions::end (open) &[], "forgets who is logged in";
    "currentOp" operations::current (admin) &["$all", "$ownOps"], "operations under way";
    "killOp" operations::kill (admin) &["op"], "accepted";
    "fsync" operations::fsync (admin) &["lock", "async"], "everything acknowledged is durable already";
    "replSetGetStatus" operations::replica_set (admin) &["initialSync"], "not a replica set: 76";
    "configureFailPoint" fail_point::run (admin) &["mode", "data"], "failCommand, for tests of applications";
    "ebbClock" ebb::clock (admin) &["advanceSeconds", "set"], "reads or moves the database clock";
    "ebbExpiry" ebb::expiry &["preview"], "forecast and preview of a collection's expiry";
}
