//! Actions: the operations that a privilege permits, by MongoDB's names. The resources that they
//! apply to are defined in `resource`, and the actions that a command requires in the command
//! table.
//!
//! The names are a compatibility rule: they occur in roles that clients create and read. Actions
//! that no command here requires are known, too, so that a role written for MongoDB can be created.
//! Three names are not in MongoDB's manual: `configureFailPoint`, which is internal to MongoDB's
//! server, `ebbClock` (moving the database clock; every logged-in user may read it) and `ebbExpiry`
//! (expiry forecasts of a collection, granted together with `find`).

/// Defines the enum `Action`, the list of all actions and their names from one table.
macro_rules! actions {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// An action. The variants are in the order of their names.
        #[expect(clippy::enum_variant_names, reason = "the names are MongoDB's")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum Action {
            $(#[doc = concat!("`", $name, "`")] $variant),*
        }

        impl Action {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the action's name in a privilege document.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

actions! {
    AddShard = "addShard",
    AnalyzeShardKey = "analyzeShardKey",
    AnyAction = "anyAction",
    AppendOplogNote = "appendOplogNote",
    ApplicationMessage = "applicationMessage",
    AuthSchemaUpgrade = "authSchemaUpgrade",
    BypassDefaultMaxTimeMS = "bypassDefaultMaxTimeMS",
    BypassDocumentValidation = "bypassDocumentValidation",
    BypassWriteBlockingMode = "bypassWriteBlockingMode",
    ChangeCustomData = "changeCustomData",
    ChangeOwnCustomData = "changeOwnCustomData",
    ChangeOwnPassword = "changeOwnPassword",
    ChangePassword = "changePassword",
    ChangeStream = "changeStream",
    CheckFreeMonitoringStatus = "checkFreeMonitoringStatus",
    CleanupOrphaned = "cleanupOrphaned",
    CleanupStructuredEncryptionData = "cleanupStructuredEncryptionData",
    ClearJumboFlag = "clearJumboFlag",
    CloseAllDatabases = "closeAllDatabases",
    CollMod = "collMod",
    CollStats = "collStats",
    Compact = "compact",
    CompactStructuredEncryptionData = "compactStructuredEncryptionData",
    ConfigureFailPoint = "configureFailPoint",
    ConnPoolStats = "connPoolStats",
    ConnPoolSync = "connPoolSync",
    ConvertToCapped = "convertToCapped",
    CpuProfiler = "cpuProfiler",
    CreateCollection = "createCollection",
    CreateIndex = "createIndex",
    CreateRole = "createRole",
    CreateSearchIndexes = "createSearchIndexes",
    CreateUser = "createUser",
    DbHash = "dbHash",
    DbStats = "dbStats",
    DropCollection = "dropCollection",
    DropConnections = "dropConnections",
    DropDatabase = "dropDatabase",
    DropIndex = "dropIndex",
    DropRole = "dropRole",
    DropSearchIndex = "dropSearchIndex",
    DropUser = "dropUser",
    EbbClock = "ebbClock",
    EbbExpiry = "ebbExpiry",
    EnableProfiler = "enableProfiler",
    EnableSharding = "enableSharding",
    Find = "find",
    FlushRouterConfig = "flushRouterConfig",
    ForceUUID = "forceUUID",
    Fsync = "fsync",
    GetClusterParameter = "getClusterParameter",
    GetCmdLineOpts = "getCmdLineOpts",
    GetDefaultRWConcern = "getDefaultRWConcern",
    GetLog = "getLog",
    GetParameter = "getParameter",
    GetShardMap = "getShardMap",
    GetShardVersion = "getShardVersion",
    GrantRole = "grantRole",
    HostInfo = "hostInfo",
    Impersonate = "impersonate",
    IndexStats = "indexStats",
    InProg = "inprog",
    Insert = "insert",
    Internal = "internal",
    InvalidateUserCache = "invalidateUserCache",
    KillAnyCursor = "killAnyCursor",
    KillAnySession = "killAnySession",
    KillCursors = "killCursors",
    KillOp = "killop",
    ListCollections = "listCollections",
    ListDatabases = "listDatabases",
    ListIndexes = "listIndexes",
    ListSearchIndexes = "listSearchIndexes",
    ListSessions = "listSessions",
    ListShards = "listShards",
    LogRotate = "logRotate",
    MoveChunk = "moveChunk",
    Netstat = "netstat",
    OidReset = "oidReset",
    OperationMetrics = "operationMetrics",
    PlanCacheIndexFilter = "planCacheIndexFilter",
    PlanCacheRead = "planCacheRead",
    PlanCacheWrite = "planCacheWrite",
    QuerySettings = "querySettings",
    QueryStatsRead = "queryStatsRead",
    QueryStatsReadTransformed = "queryStatsReadTransformed",
    ReIndex = "reIndex",
    RefineCollectionShardKey = "refineCollectionShardKey",
    Remove = "remove",
    RemoveShard = "removeShard",
    RenameCollectionSameDB = "renameCollectionSameDB",
    ReplSetConfigure = "replSetConfigure",
    ReplSetGetConfig = "replSetGetConfig",
    ReplSetGetStatus = "replSetGetStatus",
    ReplSetHeartbeat = "replSetHeartbeat",
    ReplSetStateChange = "replSetStateChange",
    ReshardCollection = "reshardCollection",
    Resync = "resync",
    RevokeRole = "revokeRole",
    RotateCertificates = "rotateCertificates",
    ServerStatus = "serverStatus",
    SetAuthenticationRestriction = "setAuthenticationRestriction",
    SetClusterParameter = "setClusterParameter",
    SetDefaultRWConcern = "setDefaultRWConcern",
    SetFeatureCompatibilityVersion = "setFeatureCompatibilityVersion",
    SetFreeMonitoring = "setFreeMonitoring",
    SetParameter = "setParameter",
    SetUserWriteBlockMode = "setUserWriteBlockMode",
    ShardingState = "shardingState",
    Shutdown = "shutdown",
    SplitChunk = "splitChunk",
    SplitVector = "splitVector",
    StorageDetails = "storageDetails",
    Top = "top",
    Touch = "touch",
    Unlock = "unlock",
    Update = "update",
    UpdateSearchIndex = "updateSearchIndex",
    UseUUID = "useUUID",
    Validate = "validate",
    ViewRole = "viewRole",
    ViewUser = "viewUser",
}

const _: () = assert!(Action::ALL.len() <= u128::BITS as usize);

impl Action {
    /// Returns the action of this name; case matters.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let at = Self::ALL.binary_search_by(|action| action.name().cmp(name)).ok()?;
        Self::ALL.get(at).copied()
    }

    const fn bit(self) -> u128 {
        1 << (self as u32)
    }
}

/// A set of actions. `anyAction` means all: adding it adds every action, and removing any action
/// removes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Actions(u128);

const ALL_BITS: u128 = u128::MAX >> (u128::BITS as usize - Action::ALL.len());

impl Actions {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(ALL_BITS);

    /// Returns the set of these actions.
    pub(crate) const fn of(actions: &[Action]) -> Self {
        let mut set = Self::NONE;
        let mut rest = actions;
        while let [action, after @ ..] = rest {
            set.insert(*action);
            rest = after;
        }
        set
    }

    /// Returns the union of both sets.
    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the difference of both sets, without `anyAction` if anything was removed.
    pub(crate) const fn without(self, other: Self) -> Self {
        let left = self.0 & !other.0;
        if left == self.0 { self } else { Self(left & !Action::AnyAction.bit()) }
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn contains(self, action: Action) -> bool {
        self.0 & action.bit() != 0
    }

    /// Returns whether the sets have a common action.
    pub(crate) const fn has_one_of(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether the set includes all actions of `other`.
    #[cfg(test)]
    pub(crate) const fn contains_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds an action; `anyAction` adds all.
    pub(crate) const fn insert(&mut self, action: Action) {
        self.0 |= if matches!(action, Action::AnyAction) { ALL_BITS } else { action.bit() };
    }

    /// Removes an action; `anyAction` removes all.
    #[cfg(test)]
    pub(crate) const fn remove(&mut self, action: Action) {
        let taken = if matches!(action, Action::AnyAction) { ALL_BITS } else { action.bit() };
        *self = self.without(Self(taken));
    }

    /// Returns the actions in the order of their names, including `anyAction` itself.
    pub(crate) fn iter(self) -> impl Iterator<Item = Action> {
        Action::ALL.iter().copied().filter(move |action| self.contains(*action))
    }

    /// Returns the names for a privilege document: only `anyAction` if the set contains it.
    pub(crate) fn names(self) -> Vec<&'static str> {
        if self.contains(Action::AnyAction) {
            return vec![Action::AnyAction.name()];
        }
        self.iter().map(Action::name).collect()
    }
}

impl FromIterator<Action> for Actions {
    fn from_iter<I: IntoIterator<Item = Action>>(actions: I) -> Self {
        let mut set = Self::NONE;
        for action in actions {
            set.insert(action);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.name()), Some(*action));
        }
        assert!(Action::ALL.is_sorted_by(|one, other| one.name() < other.name()));
        for name in ["", "Find", "find ", "findAny", "zzz"] {
            assert_eq!(Action::from_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_set_has_what_was_put_in() {
        const SET: Actions = Actions::of(&[Action::Update, Action::Find]);
        assert_eq!(SET.names(), ["find", "update"]);
        for action in Action::ALL {
            let is_in = matches!(action, Action::Find | Action::Update);
            assert_eq!(SET.contains(*action), is_in, "{action:?}");
            let mut one = Actions::of(&[*action]);
            assert!(!one.is_empty() && one.contains(*action));
            one.remove(*action);
            assert!(one.is_empty(), "{action:?}");
        }
        assert_eq!(Actions::ALL.iter().collect::<Actions>(), Actions::ALL);
        assert!(Actions::NONE.is_empty() && Actions::NONE.names().is_empty());
        assert!(Actions::ALL.contains_all(SET) && !SET.contains_all(Actions::ALL));
    }

    #[test]
    fn any_action_is_all_of_them_until_one_is_taken() {
        let any = Actions::of(&[Action::AnyAction]);
        assert_eq!(any, Actions::ALL);
        assert_eq!(any.names(), ["anyAction"]);
        let mut fewer = any;
        fewer.remove(Action::Find);
        assert!(!fewer.contains(Action::AnyAction) && !fewer.contains(Action::Find));
        assert_eq!(fewer.names().len(), Action::ALL.len() - 2);
        assert_eq!(any.without(Actions::NONE), any);
        assert!(any.without(any).is_empty());
        fewer.remove(Action::AnyAction);
        assert!(fewer.is_empty());
    }
}
