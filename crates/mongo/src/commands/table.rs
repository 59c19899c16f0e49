//! The table of commands: one row each, with the function that runs it and its properties.
//! `listCommands` and `docs/compat/mongodb.md` are generated from it. A new command is one file and
//! one row here; the columns are documented in `command_row.rs`.
//!
//! A row has the function, the arguments besides the ones shared by all commands, a short
//! description, and the properties that differ from the defaults.

use std::{future::Future, pin::Pin};

use document::DocBuf;

use super::{
    aggregate, bulk_write, capped, catalog, coll_mod, count, create_indexes, custom_action, delete,
    diagnosis, diagnostic_data, distinct, drop_indexes, ebb, explain, fail_point, find,
    find_and_modify, get_more, handshake, insert, kill_cursors, list, operations, parameters,
    plan_cache, profile, replica_set, request_statistics, roles, sasl, server_status, sessions,
    sharding, stats, top, transaction, update, users, x509,
};
use crate::{
    access::Action,
    call::Call,
    command_row::{ANY_ARGUMENT, CommandRow, Home, InTransactions, ReadLevels, Work},
    command_table::{CommandTable, NotYet},
    errors::Result,
    rights::Rights,
};

mod stable_api;

/// The future of a running command. It returns the reply without the fields that the connection
/// adds to every reply.
type Running<'a> = Pin<Box<dyn Future<Output = Result<DocBuf>> + Send + 'a>>;

/// The function that runs a command.
pub(super) type Run = for<'a> fn(&'a Call<'a>) -> Running<'a>;

/// Defines rows and functions from one list, so that they match. The compiler rejects a duplicate
/// name, since the second match arm for it in `position` is unreachable.
macro_rules! rows {
    ($($name:literal => $module:ident :: $run:ident, $fields:expr, $help:literal, $row:expr;)*) => {
        const NAMES: &[&str] = &[$($name),*];

        static ROWS: &[CommandRow] =
            &[$(CommandRow { name: $name, fields: $fields, help: $help, ..$row }),*];

        fn position(name: &str) -> Option<usize> {
            match name {
                $($name => Some(const { place_of($name) }),)*
                _ => None,
            }
        }

        /// The functions that run commands, by position of their rows. They are not part of the
        /// rows, since modules that `call` depends on use the rows.
        static RUNS: &[Run] = &[$(|call| Box::pin($module::$run(call))),*];
    };
}

/// Returns the position in the command table of the command with this name, at compile time.
const fn place_of(name: &str) -> usize {
    let mut position = 0;
    while position < NAMES.len() {
        if is_same(NAMES[position].as_bytes(), name.as_bytes()) {
            return position;
        }
        position += 1;
    }
    position
}

/// Returns whether two byte strings are equal; `==` is not available in a `const fn`.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

rows! {
    "hello" => handshake::run, handshake::FIELDS, "describes the server",
        CommandRow::reads(Rights::Open).handshake().in_api(&[]).no_write_concern()
            .without_documents();
    "isMaster" => handshake::run, handshake::FIELDS, "same as `hello`, under its former name",
        CommandRow::reads(Rights::Open).handshake().without_documents();
    "ismaster" => handshake::run, handshake::FIELDS, "same as `hello`, under its former name",
        CommandRow::reads(Rights::Open).handshake().without_documents().alias_of("isMaster");
    "ping" => diagnosis::ping, &[], "replies without doing anything",
        CommandRow::reads(Rights::Open).in_api(&[]).ends_with_client().no_write_concern()
            .without_documents().home(Home::Any);
    "buildInfo" => diagnosis::build_info, &[ANY_ARGUMENT], "shows the server's versions",
        CommandRow::reads(Rights::Open).in_old_form().without_documents().home(Home::Any);
    "buildinfo" => diagnosis::build_info, &[ANY_ARGUMENT], "same as `buildInfo`, under its former name",
        CommandRow::reads(Rights::Open).in_old_form().without_documents().home(Home::Any).alias_of("buildInfo");
    "whatsmyuri" => diagnosis::whats_my_uri, &[ANY_ARGUMENT], "shows the client's address",
        CommandRow::reads(Rights::Open).without_documents().home(Home::Any);
    "connectionStatus" => diagnosis::connection_status, &["showPrivileges"], "shows the logged-in user",
        CommandRow::reads(Rights::Open).without_documents().home(Home::Any);
    "hostInfo" => diagnosis::host_info, &[], "describes the machine",
        CommandRow::reads(Rights::Server(&[Action::HostInfo])).without_documents().home(Home::Any);
    "getLog" => diagnosis::get_log, &[], "the last 1,024 lines of the server's log, each up to 1,024 bytes",
        CommandRow::reads(Rights::Server(&[Action::GetLog])).on_admin().without_documents().home(Home::Any);
    "getCmdLineOpts" => diagnosis::command_line, &[], "shows the command line of the server",
        CommandRow::reads(Rights::Server(&[Action::GetCmdLineOpts])).on_admin().without_documents().home(Home::Any);
    "listCommands" => diagnosis::list_commands, &[ANY_ARGUMENT], "lists the commands that the server knows",
        CommandRow::reads(Rights::Open).without_documents().home(Home::Any);
    "serverStatus" => server_status::run, &[ANY_ARGUMENT],
        "shows state and counters, including metrics.ttl",
        CommandRow::reads(Rights::Server(&[Action::ServerStatus])).no_write_concern().without_documents();
    "getDiagnosticData" => diagnostic_data::run, &[ANY_ARGUMENT],
        "shows serverStatus and figures of the machine, for exporters",
        CommandRow::reads(Rights::ByArguments(diagnostic_data::needs)).on_admin().no_write_concern().without_documents();
    "top" => top::run, &[ANY_ARGUMENT], "shows how often and how long each collection was used since the start",
        CommandRow::reads(Rights::Server(&[Action::Top])).on_admin().no_write_concern().without_documents().home(Home::Any);
    "getParameter" => parameters::get_parameters, &[ANY_ARGUMENT], "shows one setting or all",
        CommandRow::reads(Rights::Server(&[Action::GetParameter])).on_admin().no_write_concern().without_documents();
    "setParameter" => parameters::set_parameters, &[ANY_ARGUMENT], "changes a setting",
        CommandRow::writes(Rights::Server(&[Action::SetParameter])).on_admin().without_documents();
    "getDefaultRWConcern" => parameters::default_concerns, &["inMemory"], "shows the default read and write concerns",
        CommandRow::reads(Rights::Server(&[Action::GetDefaultRWConcern])).on_admin().without_documents();
    "setFeatureCompatibilityVersion" => parameters::set_compatibility,
        &["confirm", "downgradeOnDiskChanges", "fromConfigServer"],
        "accepted, changes nothing",
        CommandRow::writes(Rights::Server(&[Action::SetFeatureCompatibilityVersion])).on_admin().without_documents();
    "listDatabases" => list::list_databases, &["filter", "nameOnly", "authorizedDatabases"],
        "lists databases and their sizes",
        CommandRow::reads(Rights::ByArguments(list::databases_needs)).on_admin().in_api(&[]).ends_with_client().no_write_concern()
            .without_documents().home(Home::Any);
    "listCollections" => list::list_collections,
        &["filter", "nameOnly", "authorizedCollections", "cursor"],
        "lists the collections of a database",
        CommandRow::reads(Rights::ByArguments(list::collections_needs)).in_api(stable_api::LIST_COLLECTIONS).ends_with_client().no_write_concern();
    "listIndexes" => list::list_indexes, &["cursor", "includeBuildUUIDs", "includeIndexBuildInfo"],
        "lists the indexes of a collection",
        CommandRow::reads(Rights::Collection(&[Action::ListIndexes])).in_api(stable_api::LIST_INDEXES).ends_with_client().no_write_concern();
    "create" => catalog::create_collection, catalog::CREATE_FIELDS, "creates a collection or a view",
        CommandRow::writes(Rights::ByArguments(catalog::create_needs)).in_api(stable_api::CREATE).in_transactions(InTransactions::Yes);
    "customAction" => custom_action::run, custom_action::FIELDS,
        "creates, changes or shows a database or a collection, with its throughput",
        CommandRow::by_arguments(custom_action::changes_data, Rights::ByArguments(custom_action::needs))
            .collection_in(custom_action::COLLECTION);
    "shardCollection" => sharding::shard_collection, sharding::SHARD_FIELDS,
        "stores the shard key of a collection, which it creates if needed",
        CommandRow::writes(Rights::ByArguments(sharding::shard_needs)).without_documents().home(Home::Namespace);
    "enableSharding" => sharding::enable_sharding, &["primaryShard"], "accepted, changes nothing",
        CommandRow::writes(Rights::ByArguments(sharding::enable_needs)).on_admin().without_documents().home(Home::Any);
    "reIndex" => sharding::re_index, &[], "returns the indexes of a collection, which are always complete",
        CommandRow::writes(Rights::Collection(&[Action::ReIndex])).without_documents();
    "drop" => catalog::drop_collection, &[], "drops a collection",
        CommandRow::writes(Rights::Collection(&[Action::DropCollection])).in_api(&[]);
    "dropDatabase" => catalog::drop_database, &[], "drops a database",
        CommandRow::writes(Rights::Database(&[Action::DropDatabase])).in_api(&[]).without_documents();
    "renameCollection" => catalog::rename_collection, &["to", "dropTarget", "stayTemp", "collectionUUID"],
        "renames a collection",
        CommandRow::writes(Rights::ByArguments(catalog::rename_needs)).on_admin().home(Home::Namespace);
    "convertToCapped" => capped::convert, &["size", "max"], "makes a collection capped",
        CommandRow::writes(Rights::Collection(&[Action::ConvertToCapped]));
    "cloneCollectionAsCapped" => capped::clone_as_capped, capped::CLONE_FIELDS,
        "copies the last documents of a collection into a new capped one",
        CommandRow::writes(Rights::ByArguments(capped::clone_needs));
    "collMod" => coll_mod::run, coll_mod::FIELDS, "changes the options of a collection or an index",
        CommandRow::writes(Rights::ByArguments(coll_mod::needs)).in_api(stable_api::COLL_MOD).without_documents();
    "createIndexes" => create_indexes::run,
        &["indexes", "ignoreUnknownIndexOptions", "commitQuorum"],
        "creates indexes",
        CommandRow::writes(Rights::Collection(&[Action::CreateIndex])).in_api(stable_api::CREATE_INDEXES).in_transactions(InTransactions::Yes);
    "dropIndexes" => drop_indexes::run, &["index"], "drops indexes",
        CommandRow::writes(Rights::Collection(&[Action::DropIndex])).in_api(stable_api::DROP_INDEXES);
    "deleteIndexes" => drop_indexes::run, &["index"], "same as `dropIndexes`, under its former name",
        CommandRow::writes(Rights::Collection(&[Action::DropIndex])).in_api(stable_api::DROP_INDEXES).alias_of("dropIndexes");
    "collStats" => stats::collection_stats, &["scale", ANY_ARGUMENT], "shows document counts and sizes of a collection",
        CommandRow::reads(Rights::Collection(&[Action::CollStats])).no_write_concern();
    "collstats" => stats::collection_stats, &["scale", ANY_ARGUMENT], "same as `collStats`, under its former name",
        CommandRow::reads(Rights::Collection(&[Action::CollStats])).no_write_concern().alias_of("collStats");
    "dataSize" => stats::data_size, stats::DATA_SIZE_FIELDS, "size and number of the documents of `db.collection`",
        CommandRow::reads(Rights::ByArguments(stats::data_size_needs)).no_write_concern().home(Home::Namespace);
    "dbStats" => stats::database_stats, &["scale", "freeStorage", ANY_ARGUMENT], "counts and sizes of a database",
        CommandRow::reads(Rights::Database(&[Action::DbStats])).no_write_concern();
    "dbstats" => stats::database_stats, &["scale", "freeStorage", ANY_ARGUMENT], "same as `dbStats`, under its former name",
        CommandRow::reads(Rights::Database(&[Action::DbStats])).no_write_concern().alias_of("dbStats");
    "validate" => stats::validate,
        &["full", "repair", "metadata", "checkBSONConformance", "background", "scandata", ANY_ARGUMENT],
        "checks the documents and indexes of a collection",
        CommandRow::reads(Rights::Collection(&[Action::Validate])).no_write_concern();
    "validateDBMetadata" => diagnosis::validate_metadata, &["db", "collection", "apiParameters"],
        "no collection here has anything outside version 1 of the Stable API",
        CommandRow::reads(Rights::Database(&[Action::Validate])).no_write_concern().without_documents();
    "profile" => profile::run, profile::FIELDS,
        "records commands of a database in its `system.profile`, until the server stops",
        CommandRow::by_arguments(profile::changes_data, Rights::ByArguments(profile::needs))
            .no_write_concern().without_documents();
    "planCacheClear" => plan_cache::clear, plan_cache::SHAPE, "nothing is cached: each query is planned when it begins",
        CommandRow::reads(Rights::Collection(&[Action::PlanCacheWrite])).no_write_concern().without_documents();
    "planCacheClearFilters" => plan_cache::clear, plan_cache::SHAPE, "there are no index filters",
        CommandRow::reads(Rights::Collection(&[Action::PlanCacheIndexFilter])).no_write_concern().without_documents();
    "planCacheListFilters" => plan_cache::list_filters, &[], "there are no index filters",
        CommandRow::reads(Rights::Collection(&[Action::PlanCacheIndexFilter])).no_write_concern().without_documents();
    "insert" => insert::run, &["documents", "ordered", "bypassDocumentValidation"],
        "inserts documents",
        CommandRow::writes(Rights::ByArguments(insert::needs)).in_api(stable_api::WRITES).stores_bytes().retryable().counted_as(Work::Insert).in_transactions(InTransactions::Yes);
    "update" => update::run, &["updates", "ordered", "bypassDocumentValidation", "let"],
        "updates documents",
        CommandRow::writes(Rights::ByArguments(update::needs)).in_api(stable_api::WRITES).retryable().counted_as(Work::Update).in_transactions(InTransactions::Yes);
    "delete" => delete::run, &["deletes", "ordered", "bypassDocumentValidation", "let"],
        "removes documents",
        CommandRow::writes(Rights::ByArguments(delete::needs)).in_api(stable_api::WRITES).retryable().counted_as(Work::Remove).in_transactions(InTransactions::Yes);
    "bulkWrite" => bulk_write::run, bulk_write::FIELDS, "performs many writes in several collections",
        CommandRow::writes(Rights::ByArguments(bulk_write::needs)).on_admin().in_api(&[]).retryable().counted_as(Work::Write).home(Home::Namespaces).in_transactions(InTransactions::Yes);
    "find" => find::run, find::FIELDS, "reads documents",
        CommandRow::reads(Rights::Collection(&[Action::Find])).in_api(stable_api::FIND).ends_with_client().no_write_concern()
            .at_levels(ReadLevels::All).counted_as(Work::Query).in_transactions(InTransactions::Yes);
    "commitTransaction" => transaction::commit, &["recoveryToken"], "commits the transaction of a session",
        CommandRow::writes(Rights::Login).on_admin().in_api(&[]).without_documents().home(Home::Any)
            .in_transactions(InTransactions::Ends);
    "abortTransaction" => transaction::abort, &["recoveryToken"], "aborts the transaction of a session",
        CommandRow::writes(Rights::Login).on_admin().in_api(&[]).without_documents().home(Home::Any)
            .in_transactions(InTransactions::Ends);
    "getLastRequestStatistics" => request_statistics::run, &[],
        "returns the request units of the last command on documents, of the session or the connection",
        CommandRow::reads(Rights::Login).no_write_concern().without_documents().without_cluster_time();
    "getMore" => get_more::run, &["collection", "batchSize", "term", "lastKnownCommittedOpTime"],
        "returns the next batch of a cursor",
        CommandRow::reads(Rights::Login).in_api(stable_api::GET_MORE).ends_with_client().no_write_concern()
            .at_levels(ReadLevels::All).collection_in("collection").continues().counted_as(Work::GetMore).in_transactions(InTransactions::Later);
    "killCursors" => kill_cursors::run, &["cursors"], "closes cursors, and ends the operations that read from them",
        CommandRow::reads(Rights::Login).in_api(&[]).ends_with_client().no_write_concern().in_transactions(InTransactions::Later);
    "findAndModify" => find_and_modify::run, find_and_modify::FIELDS,
        "changes a document and returns it",
        CommandRow::writes(Rights::ByArguments(find_and_modify::needs)).in_api(stable_api::WRITES).retryable().counted_as(Work::Write).in_transactions(InTransactions::Yes);
    "findandmodify" => find_and_modify::run, find_and_modify::FIELDS, "same as `findAndModify`, under its former name",
        CommandRow::writes(Rights::ByArguments(find_and_modify::needs)).in_api(stable_api::WRITES).retryable().counted_as(Work::Write).alias_of("findAndModify").in_transactions(InTransactions::Yes);
    "aggregate" => aggregate::run, aggregate::FIELDS, "runs a pipeline",
        CommandRow::by_arguments(aggregate::changes_data, Rights::ByArguments(aggregate::needs)).in_api(stable_api::AGGREGATE).ends_with_client()
            .at_levels(ReadLevels::All).strict_shared().without_collection("$cmd.aggregate")
            .counted_as(Work::Read).in_transactions(InTransactions::Yes);
    "count" => count::run, count::FIELDS, "counts documents",
        CommandRow::reads(Rights::Collection(&[Action::Find])).in_api(stable_api::COUNT).ends_with_client().no_write_concern()
            .at_levels(ReadLevels::ExceptSnapshot).counted_as(Work::Read);
    "distinct" => distinct::run, distinct::FIELDS, "returns the distinct values of a field",
        CommandRow::reads(Rights::Collection(&[Action::Find])).ends_with_client().no_write_concern().at_levels(ReadLevels::All)
            .counted_as(Work::Read).in_transactions(InTransactions::Yes);
    "explain" => explain::run, &["verbosity"], "shows how a command would be executed",
        CommandRow::by_arguments(explain::changes_data, Rights::ByArguments(explain::needs)).in_api(&[]).ends_with_client()
            .no_write_concern();
    "startSession" => sessions::start_session, &[ANY_ARGUMENT], "returns a new session id",
        CommandRow::reads(Rights::Login).without_documents().home(Home::Any);
    "endSessions" => sessions::end_sessions, &[], "closes the cursors of sessions",
        CommandRow::reads(Rights::Open).in_api(&[]).no_write_concern().without_documents().home(Home::Any);
    "refreshSessions" => sessions::refresh_sessions, &[], "extends the lifetime of sessions",
        CommandRow::reads(Rights::Login).in_api(&[]).no_write_concern().without_documents().home(Home::Any);
    "killSessions" => sessions::kill_sessions, &[ANY_ARGUMENT],
        "ends the operations and closes the cursors of the user's own sessions",
        CommandRow::writes(Rights::Login).no_write_concern().without_documents().home(Home::Any);
    "killAllSessions" => sessions::kill_all_sessions, &[ANY_ARGUMENT], "the same for all sessions, or for those of the given users",
        CommandRow::writes(Rights::Server(&[Action::KillAnySession])).no_write_concern().without_documents().home(Home::Any);
    "killAllSessionsByPattern" => sessions::kill_by_pattern, &[ANY_ARGUMENT], "the same for sessions and users given by digests",
        CommandRow::writes(Rights::Server(&[Action::KillAnySession])).no_write_concern().without_documents().home(Home::Any);
    "logout" => sasl::log_out, &[], "logs the user out",
        CommandRow::reads(Rights::Open).without_documents().home(Home::Any);
    "saslStart" => sasl::start, sasl::START_FIELDS, "begins a login",
        CommandRow::reads(Rights::Open).credentials().in_api(&[]).in_old_form().without_documents().home(Home::First);
    "saslContinue" => sasl::proceed, sasl::CONTINUE_FIELDS, "continues a login",
        CommandRow::reads(Rights::Open).credentials().in_api(&[]).in_old_form().without_documents().home(Home::First).continues();
    "authenticate" => x509::authenticate, x509::FIELDS, "logs in with a certificate",
        CommandRow::reads(Rights::Open).credentials().in_api(&[]).in_old_form().without_documents().home(Home::First);
    "createUser" => users::create_user, users::CREATE_FIELDS, "creates a user",
        CommandRow::writes(Rights::ByArguments(users::create_needs)).of_users().credentials();
    "updateUser" => users::update_user, users::UPDATE_FIELDS, "changes a user",
        CommandRow::writes(Rights::ByArguments(users::update_needs)).of_users().credentials();
    "dropUser" => users::drop_user, &[], "removes a user",
        CommandRow::writes(Rights::ByArguments(users::drop_needs)).of_users();
    "dropAllUsersFromDatabase" => users::drop_all_users, &[], "removes the users of a database",
        CommandRow::writes(Rights::ByArguments(users::drop_needs)).of_users();
    "grantRolesToUser" => users::grant_roles, &["roles"], "grants roles to a user",
        CommandRow::writes(Rights::ByArguments(users::grant_needs)).of_users();
    "revokeRolesFromUser" => users::revoke_roles, &["roles"], "revokes roles from a user",
        CommandRow::writes(Rights::ByArguments(users::revoke_needs)).of_users();
    "usersInfo" => users::users_info, users::INFO_FIELDS, "shows users",
        CommandRow::by_arguments(users::shows_credentials, Rights::ByArguments(users::info_needs))
            .of_users();
    "createRole" => roles::create_role, roles::CREATE_FIELDS, "creates a role",
        CommandRow::writes(Rights::ByArguments(roles::create_needs)).of_users();
    "updateRole" => roles::update_role, roles::CREATE_FIELDS, "changes a role",
        CommandRow::writes(Rights::ByArguments(roles::update_needs)).of_users();
    "grantPrivilegesToRole" => roles::grant_privileges, &["privileges"], "grants privileges to a role",
        CommandRow::writes(Rights::ByArguments(roles::grant_needs)).of_users();
    "revokePrivilegesFromRole" => roles::revoke_privileges, &["privileges"],
        "revokes privileges from a role",
        CommandRow::writes(Rights::ByArguments(roles::revoke_needs)).of_users();
    "grantRolesToRole" => roles::grant_roles, &["roles"], "makes a role inherit other roles",
        CommandRow::writes(Rights::ByArguments(roles::grant_needs)).of_users();
    "revokeRolesFromRole" => roles::revoke_roles, &["roles"], "ends the inheritance of other roles",
        CommandRow::writes(Rights::ByArguments(roles::revoke_needs)).of_users();
    "dropRole" => roles::drop_role, &[], "removes a role, also from all users and roles that have it",
        CommandRow::writes(Rights::ByArguments(roles::drop_needs)).of_users();
    "dropAllRolesFromDatabase" => roles::drop_all_roles, &[], "removes the roles of a database",
        CommandRow::writes(Rights::ByArguments(roles::drop_needs)).of_users();
    "rolesInfo" => roles::roles_info, roles::INFO_FIELDS, "shows roles",
        CommandRow::reads(Rights::ByArguments(roles::info_needs)).of_users();
    "invalidateUserCache" => users::invalidate, &[], "has no effect: the server keeps no outdated users",
        CommandRow::writes(Rights::Server(&[Action::InvalidateUserCache])).of_users();
    "currentOp" => operations::current_op, &["$all", "$ownOps", ANY_ARGUMENT],
        "shows running operations; other arguments are a filter",
        CommandRow::reads(Rights::ByArguments(operations::current_op_needs)).on_admin().without_documents().home(Home::First);
    "killOp" => operations::kill_op, &["op", ANY_ARGUMENT],
        "ends a read, an update or a delete",
        CommandRow::writes(Rights::Login).on_admin().no_write_concern().without_documents().home(Home::First);
    "fsync" => operations::fsync, &["lock", "async", ANY_ARGUMENT], "everything acknowledged is durable already; with `lock` refused (115)",
        CommandRow::writes(Rights::Server(&[Action::Fsync])).on_admin().without_documents();
    "replSetGetStatus" => replica_set::status, &["initialSync", ANY_ARGUMENT], "shows the replica set of one (`--repl-set`); 76 without one",
        CommandRow::reads(Rights::Server(&[Action::ReplSetGetStatus])).on_admin().without_documents().home(Home::Any);
    "replSetGetConfig" => replica_set::config, &["commitmentStatus", "includeNewlyAdded"], "shows the configuration of the replica set of one",
        CommandRow::reads(Rights::Server(&[Action::ReplSetGetConfig])).on_admin().without_documents().home(Home::Any);
    "replSetInitiate" => replica_set::initiate, &[], "initiates the replica set of one, once",
        CommandRow::writes(Rights::Server(&[Action::ReplSetConfigure])).on_admin().without_documents().home(Home::Any);
    "replSetReconfig" => replica_set::reconfigure, replica_set::RECONFIG_FIELDS, "changes the address of the only member of the replica set",
        CommandRow::writes(Rights::Server(&[Action::ReplSetConfigure])).on_admin().without_documents().home(Home::Any);
    "configureFailPoint" => fail_point::run, &["mode", "data"],
        "sets failCommand, maxTimeAlwaysTimeOut, maxTimeNeverTimeOut, onPrimaryTransactionalWrite or failGetMoreAfterCursorCheckout, for tests of applications",
        CommandRow::writes(Rights::Server(&[Action::ConfigureFailPoint])).on_admin().without_documents();
    "ebbClock" => ebb::run_clock, &["advanceSeconds", "set"], "reads or moves the database clock",
        CommandRow::by_arguments(ebb::moves_clock, Rights::ByArguments(ebb::clock_needs)).on_admin().in_api(&[]).home(Home::First);
    "ebbExpiry" => ebb::run_expiry, &["preview", "ids", "next", "after"],
        "shows a forecast or a preview of a collection's expiry; with `ids` when these documents expire, and by which rule; with `next: n` the n documents that expire next",
        CommandRow::reads(Rights::Collection(&[Action::EbbExpiry, Action::Find])).in_api(&[]);
}

/// MongoDB commands that are known but not implemented, with the feature that they belong to.
pub static NOT_YET: &[NotYet] = &[
    not_yet("mapReduce", "server-side JavaScript"),
    not_yet("replSetStepDown", "replica sets of several members"),
    not_yet("replSetFreeze", "replica sets of several members"),
    not_yet("replSetMaintenance", "replica sets of several members"),
    not_yet("replSetSyncFrom", "replica sets of several members"),
    not_yet("compact", "operations"),
    not_yet("dbHash", "operations"),
    not_yet("fsyncUnlock", "operations"),
    not_yet("logRotate", "operations"),
    not_yet("dropConnections", "operations"),
    not_yet("planCacheSetFilter", "index filters"),
    not_yet("createSearchIndexes", "search"),
    not_yet("updateSearchIndex", "search"),
    not_yet("dropSearchIndex", "search"),
    not_yet("testVersion2", "commands for tests of the Stable API"),
];

const fn not_yet(name: &'static str, area: &'static str) -> NotYet {
    NotYet { name, area, compress: true }
}

/// Returns the function of the row at a position.
pub(super) fn run_at(position: usize) -> Option<Run> {
    RUNS.get(position).copied()
}

/// Returns the rows of all commands, in the order of the documentation.
pub fn table() -> &'static [CommandRow] {
    ROWS
}

/// The command table without the functions that run commands.
pub(crate) const COMMANDS: CommandTable = CommandTable { rows: ROWS, not_yet: NOT_YET, position };

#[cfg(test)]
mod empty_tests;
#[cfg(test)]
mod roles_tests;
#[cfg(test)]
mod tests;
