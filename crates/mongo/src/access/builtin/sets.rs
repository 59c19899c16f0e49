//! The privileges of each built-in role: sets of actions and the resources that they apply to. The
//! parent module maps names to them.

use crate::access::{
    action::{Action, Actions},
    privilege::{Privilege, Privileges},
    resource::{OWN_DATABASES, Resource},
};

/// Actions that allow reading a collection.
const READ: Actions = Actions::of(&[
    Action::ChangeStream,
    Action::CollStats,
    Action::DbHash,
    Action::DbStats,
    Action::EbbExpiry,
    Action::Find,
    Action::KillCursors,
    Action::ListCollections,
    Action::ListIndexes,
    Action::ListSearchIndexes,
    Action::PlanCacheRead,
]);

/// Actions that allow reading and writing a collection.
const READ_WRITE: Actions = READ.union(Actions::of(&[
    Action::CleanupStructuredEncryptionData,
    Action::CompactStructuredEncryptionData,
    Action::ConvertToCapped,
    Action::CreateCollection,
    Action::CreateIndex,
    Action::CreateSearchIndexes,
    Action::DropCollection,
    Action::DropIndex,
    Action::DropSearchIndex,
    Action::Insert,
    Action::Remove,
    Action::RenameCollectionSameDB,
    Action::Update,
    Action::UpdateSearchIndex,
]));

/// Actions that allow administering a database without reading its documents.
const DB_ADMIN: Actions = Actions::of(&[
    Action::BypassDocumentValidation,
    Action::CollMod,
    Action::CollStats,
    Action::Compact,
    Action::ConvertToCapped,
    Action::CreateCollection,
    Action::CreateIndex,
    Action::CreateSearchIndexes,
    Action::DbStats,
    Action::DropCollection,
    Action::DropDatabase,
    Action::DropIndex,
    Action::DropSearchIndex,
    Action::EnableProfiler,
    Action::ListCollections,
    Action::ListIndexes,
    Action::ListSearchIndexes,
    Action::PlanCacheIndexFilter,
    Action::PlanCacheRead,
    Action::PlanCacheWrite,
    Action::ReIndex,
    Action::RenameCollectionSameDB,
    Action::StorageDetails,
    Action::UpdateSearchIndex,
    Action::Validate,
]);

/// Actions of `dbAdmin` on the profiler's collection.
const PROFILE: Actions = READ.union(Actions::of(&[
    Action::ConvertToCapped,
    Action::CreateCollection,
    Action::DropCollection,
]));

/// Actions that allow administering the users and roles of a database.
const USER_ADMIN: Actions = Actions::of(&[
    Action::ChangeCustomData,
    Action::ChangePassword,
    Action::CreateRole,
    Action::CreateUser,
    Action::DropRole,
    Action::DropUser,
    Action::GrantRole,
    Action::RevokeRole,
    Action::SetAuthenticationRestriction,
    Action::ViewRole,
    Action::ViewUser,
]);

/// Actions that allow reading a collection for monitoring, without its change stream.
const WATCH: Actions = READ.without(Actions::of(&[Action::ChangeStream]));

/// Actions of `clusterMonitor` on the cluster.
const MONITOR_CLUSTER: Actions = Actions::of(&[
    Action::CheckFreeMonitoringStatus,
    Action::ConnPoolStats,
    Action::GetClusterParameter,
    Action::GetCmdLineOpts,
    Action::GetDefaultRWConcern,
    Action::GetLog,
    Action::GetParameter,
    Action::GetShardMap,
    Action::HostInfo,
    Action::InProg,
    Action::ListDatabases,
    Action::ListSessions,
    Action::ListShards,
    Action::Netstat,
    Action::OperationMetrics,
    Action::QueryStatsRead,
    Action::QueryStatsReadTransformed,
    Action::ReplSetGetConfig,
    Action::ReplSetGetStatus,
    Action::ServerStatus,
    Action::SetFreeMonitoring,
    Action::ShardingState,
    Action::Top,
    Action::UseUUID,
]);

/// Actions of `clusterMonitor` on any database.
const MONITOR_DATABASES: Actions =
    Actions::of(&[Action::CollStats, Action::DbStats, Action::GetShardVersion, Action::IndexStats]);

/// Actions of `clusterManager` on the cluster.
const MANAGE_CLUSTER: Actions = Actions::of(&[
    Action::AddShard,
    Action::AppendOplogNote,
    Action::ApplicationMessage,
    Action::CleanupOrphaned,
    Action::FlushRouterConfig,
    Action::GetClusterParameter,
    Action::GetDefaultRWConcern,
    Action::ListSessions,
    Action::ListShards,
    Action::RemoveShard,
    Action::ReplSetConfigure,
    Action::ReplSetGetConfig,
    Action::ReplSetGetStatus,
    Action::ReplSetStateChange,
    Action::Resync,
    Action::SetClusterParameter,
    Action::SetDefaultRWConcern,
    Action::SetFeatureCompatibilityVersion,
    Action::SetFreeMonitoring,
]);

/// Actions of `clusterManager` on any database.
const MANAGE_DATABASES: Actions = Actions::of(&[
    Action::AnalyzeShardKey,
    Action::ClearJumboFlag,
    Action::EnableSharding,
    Action::MoveChunk,
    Action::RefineCollectionShardKey,
    Action::ReshardCollection,
    Action::SplitChunk,
    Action::SplitVector,
]);

/// Actions of `clusterManager` on the databases `config` and `local`.
const MANAGE_OWN: Actions = Actions::of(&[
    Action::EnableSharding,
    Action::Insert,
    Action::MoveChunk,
    Action::Remove,
    Action::SplitChunk,
    Action::SplitVector,
    Action::Update,
]);

/// Actions of `hostManager` on the servers.
const MANAGE_HOSTS: Actions = Actions::of(&[
    Action::ApplicationMessage,
    Action::CloseAllDatabases,
    Action::ConfigureFailPoint,
    Action::ConnPoolSync,
    Action::DropConnections,
    Action::EbbClock,
    Action::FlushRouterConfig,
    Action::Fsync,
    Action::InvalidateUserCache,
    Action::KillAnyCursor,
    Action::KillAnySession,
    Action::KillOp,
    Action::LogRotate,
    Action::Resync,
    Action::RotateCertificates,
    Action::SetParameter,
    Action::Shutdown,
    Action::Touch,
    Action::Unlock,
]);

/// Actions that `restore` allows on the collections in a backup.
const RESTORE: Actions = Actions::of(&[
    Action::BypassDocumentValidation,
    Action::CollMod,
    Action::ConvertToCapped,
    Action::CreateCollection,
    Action::CreateIndex,
    Action::CreateSearchIndexes,
    Action::DropCollection,
    Action::Insert,
]);

/// Actions of `restore` on the users and roles in a backup.
const RESTORE_USERS: Actions = Actions::of(&[
    Action::ChangeCustomData,
    Action::ChangePassword,
    Action::CreateRole,
    Action::CreateUser,
    Action::DropRole,
    Action::DropUser,
    Action::GrantRole,
    Action::RevokeRole,
    Action::ViewRole,
    Action::ViewUser,
]);

const USERS: [&str; 2] = ["system.roles", "system.users"];

/// Builds the privileges of a role.
#[derive(Default)]
pub(super) struct PrivilegeBuilder(Privileges);

impl PrivilegeBuilder {
    fn add(&mut self, resource: Resource, actions: Actions) {
        // Cannot fail: the roles have far fewer resources than the limit, which a test checks.
        let _ = self.0.add(Privilege::new(resource, actions));
    }

    fn on(&mut self, database: &str, collection: &str, actions: Actions) {
        self.add(Resource::namespace(database, collection), actions);
    }

    fn on_cluster(&mut self, actions: Actions) {
        self.add(Resource::Cluster, actions);
    }

    pub(super) fn finish(self) -> Privileges {
        self.0
    }
}

pub(super) fn read(to: &mut PrivilegeBuilder, database: &str) {
    to.on(database, "", READ);
    to.on(database, "system.js", READ);
}

pub(super) fn read_write(to: &mut PrivilegeBuilder, database: &str) {
    to.on(database, "", READ_WRITE);
    to.on(database, "system.js", READ_WRITE);
}

pub(super) fn db_admin(to: &mut PrivilegeBuilder, database: &str) {
    to.on(database, "", DB_ADMIN);
    to.on(database, "system.profile", PROFILE);
}

pub(super) fn user_admin(to: &mut PrivilegeBuilder, database: &str) {
    to.on(database, "", USER_ADMIN);
}

pub(super) fn db_owner(to: &mut PrivilegeBuilder, database: &str) {
    read_write(to, database);
    db_admin(to, database);
    user_admin(to, database);
}

pub(super) fn read_any_database(to: &mut PrivilegeBuilder) {
    read(to, "");
    to.on_cluster(Actions::of(&[Action::ListDatabases]));
}

pub(super) fn read_write_any_database(to: &mut PrivilegeBuilder) {
    read_write(to, "");
    to.on_cluster(Actions::of(&[Action::ListDatabases]));
}

pub(super) fn db_admin_any_database(to: &mut PrivilegeBuilder) {
    db_admin(to, "");
    to.on_cluster(Actions::of(&[Action::ListDatabases]));
}

pub(super) fn user_admin_any_database(to: &mut PrivilegeBuilder) {
    user_admin(to, "");
    to.on_cluster(Actions::of(&[
        Action::AuthSchemaUpgrade,
        Action::InvalidateUserCache,
        Action::ListDatabases,
    ]));
    let indexes = Actions::of(&[Action::CreateIndex, Action::DropIndex]);
    to.on("admin", "system.users", WATCH.union(indexes));
    to.on("admin", "system.roles", WATCH);
}

pub(super) fn cluster_monitor(to: &mut PrivilegeBuilder) {
    to.on_cluster(MONITOR_CLUSTER);
    to.on("", "", MONITOR_DATABASES);
    to.on("", "system.profile", Actions::of(&[Action::Find]));
    for database in OWN_DATABASES {
        to.on(database, "", WATCH.union(MONITOR_DATABASES));
        to.on(database, "system.js", WATCH);
    }
    to.on("local", "system.replset", Actions::of(&[Action::Find]));
}

pub(super) fn cluster_manager(to: &mut PrivilegeBuilder) {
    to.on_cluster(MANAGE_CLUSTER);
    to.on("", "", MANAGE_DATABASES);
    to.on("config", "", WATCH.union(MANAGE_OWN));
    to.on("config", "system.js", WATCH);
    to.on("local", "", MANAGE_OWN);
    to.on("local", "system.replset", WATCH);
}

pub(super) fn host_manager(to: &mut PrivilegeBuilder) {
    to.on_cluster(MANAGE_HOSTS);
    to.on("", "", Actions::of(&[Action::KillAnyCursor, Action::KillCursors]));
}

pub(super) fn cluster_admin(to: &mut PrivilegeBuilder) {
    cluster_monitor(to);
    cluster_manager(to);
    host_manager(to);
    to.on("", "", Actions::of(&[Action::DropDatabase]));
}

pub(super) fn backup(to: &mut PrivilegeBuilder) {
    to.on_cluster(Actions::of(&[
        Action::AppendOplogNote,
        Action::GetClusterParameter,
        Action::GetParameter,
        Action::ListDatabases,
        Action::ServerStatus,
        Action::SetUserWriteBlockMode,
    ]));
    to.add(Resource::AnyResource, Actions::of(&[Action::ListCollections, Action::ListIndexes]));
    let find = Actions::of(&[Action::Find]);
    to.on("", "", find);
    for database in OWN_DATABASES {
        to.on(database, "", find);
    }
    for collection in ["system.js", "system.profile", "system.views"] {
        to.on("", collection, find);
    }
    for collection in USERS {
        to.on("admin", collection, find);
    }
    to.on("config", "settings", Actions::of(&[Action::Find, Action::Insert, Action::Update]));
}

pub(super) fn restore(to: &mut PrivilegeBuilder) {
    to.on_cluster(Actions::of(&[
        Action::BypassWriteBlockingMode,
        Action::ForceUUID,
        Action::GetParameter,
        Action::SetUserWriteBlockMode,
        Action::UseUUID,
    ]));
    to.add(Resource::AnyResource, Actions::of(&[Action::ListCollections]));
    to.on("", "", RESTORE.union(RESTORE_USERS));
    for database in OWN_DATABASES {
        to.on(database, "", RESTORE);
    }
    for collection in ["system.js", "system.views"] {
        to.on("", collection, RESTORE);
    }
    let change = Actions::of(&[Action::Find, Action::Remove, Action::Update]);
    for collection in USERS {
        to.on("admin", collection, RESTORE.union(change));
    }
}

pub(super) fn root(to: &mut PrivilegeBuilder) {
    to.on_cluster(Actions::ALL);
    db_owner(to, "");
    for database in OWN_DATABASES {
        db_owner(to, database);
    }
    user_admin_any_database(to);
    cluster_admin(to);
    backup(to);
    restore(to);
    to.add(Resource::AnyResource, Actions::of(&[Action::Validate]));
}
