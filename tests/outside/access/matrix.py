"""The commands that each role permits, according to MongoDB's manual: its page of built-in roles
lists the actions of each, its page of actions the commands that require each. Commands of EbbDB are
listed separately at the end.

Each command of the server is in `BODIES`, with harmless arguments: the tests check only whether it
fails with 13.
"""

import bson

OWN, OTHER = "own", "other"


def bodies(database):
    """Returns each command with arguments: the database that it is sent to, and its body."""
    here, admin = database, "admin"
    unknown = "nobody-of-the-matrix"
    privilege = {"resource": {"db": database, "collection": "c"}, "actions": ["find"]}
    role = {"role": "read", "db": database}
    find = {"find": "c", "limit": 1}
    info = [{"ns": f"{database}.c"}]
    index = {"key": {"a": 1}, "name": "a_1"}
    first = bson.Binary(b"n,,n=nobody,r=abc")
    table = [
        # Commands that need no privilege.
        (here, {"hello": 1}),
        (here, {"isMaster": 1}),
        (here, {"ismaster": 1}),
        (here, {"ping": 1}),
        (here, {"buildInfo": 1}),
        (here, {"buildinfo": 1}),
        (here, {"whatsmyuri": 1}),
        (here, {"connectionStatus": 1}),
        (here, {"listCommands": 1}),
        (admin, {"endSessions": []}),
        (admin, {"refreshSessions": []}),
        (admin, {"killSessions": []}),
        (admin, {"startSession": 1}),
        (admin, {"commitTransaction": 1}),
        (admin, {"abortTransaction": 1}),
        (here, {"saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": first}),
        (here, {"saslContinue": 1, "conversationId": 1, "payload": bson.Binary(b"")}),
        ("$external", {"authenticate": 1, "mechanism": "MONGODB-X509"}),
        (here, {"logout": 1}),
        # Reading.
        (here, find),
        (here, {"count": "c"}),
        (here, {"distinct": "c", "key": "a"}),
        (here, {"aggregate": "c", "pipeline": [], "cursor": {}}),
        (here, {"explain": find}),
        (here, {"getMore": bson.Int64(17), "collection": "c"}),
        (here, {"killCursors": "c", "cursors": [bson.Int64(17)]}),
        (here, {"listCollections": 1}),
        (here, {"listIndexes": "c"}),
        (here, {"collStats": "c"}),
        (here, {"collstats": "c"}),
        (here, {"dataSize": f"{database}.c"}),
        (here, {"dbStats": 1}),
        (here, {"dbstats": 1}),
        (here, {"validate": "c"}),
        (here, {"validateDBMetadata": 1, "apiParameters": {"version": "1"}}),
        (here, {"profile": 0}),
        (here, {"planCacheClear": "c"}),
        (here, {"planCacheClearFilters": "c"}),
        (here, {"planCacheListFilters": "c"}),
        (here, {"ebbExpiry": "c"}),
        (here, {"customAction": "GetDatabase"}),
        (here, {"getLastRequestStatistics": 1}),
        # Writing.
        (here, {"insert": "c", "documents": [{"a": 1}]}),
        (here, {"update": "c", "updates": [{"q": {"a": 1}, "u": {"$set": {"b": 1}}}]}),
        (here, {"delete": "c", "deletes": [{"q": {"a": 1}, "limit": 1}]}),
        (here, {"findAndModify": "c", "query": {"a": 1}, "update": {"$set": {"b": 1}}}),
        (here, {"findandmodify": "c", "query": {"a": 1}, "update": {"$set": {"b": 1}}}),
        (admin, {"bulkWrite": 1, "ops": [{"insert": 0, "document": {"a": 1}}], "nsInfo": info}),
        (here, {"create": "made"}),
        (here, {"drop": "made"}),
        (here, {"createIndexes": "c", "indexes": [index]}),
        (here, {"dropIndexes": "c", "index": "a_1"}),
        (here, {"deleteIndexes": "c", "index": "a_1"}),
        (here, {"collMod": "c"}),
        (here, {"convertToCapped": "none", "size": 4096}),
        (here, {"cloneCollectionAsCapped": "none", "toCollection": "copied", "size": 4096}),
        (here, {"shardCollection": f"{database}.c", "key": {"a": 1}}),
        (admin, {"enableSharding": database}),
        (here, {"reIndex": "c"}),
        (admin, {"renameCollection": f"{database}.none", "to": f"{database}.other"}),
        (here, {"dropDatabase": 1}),
        # Users and roles.
        (here, {"createUser": unknown, "pwd": "", "roles": []}),
        (here, {"updateUser": unknown, "customData": {}}),
        (here, {"dropUser": unknown}),
        (here, {"dropAllUsersFromDatabase": 1}),
        (here, {"grantRolesToUser": unknown, "roles": [role]}),
        (here, {"revokeRolesFromUser": unknown, "roles": [role]}),
        (here, {"usersInfo": 1}),
        (here, {"createRole": "read", "privileges": [privilege], "roles": [role]}),
        (here, {"updateRole": unknown, "privileges": [privilege]}),
        (here, {"dropRole": unknown}),
        (here, {"dropAllRolesFromDatabase": 1}),
        (here, {"grantPrivilegesToRole": unknown, "privileges": [privilege]}),
        (here, {"revokePrivilegesFromRole": unknown, "privileges": [privilege]}),
        (here, {"grantRolesToRole": unknown, "roles": [role]}),
        (here, {"revokeRolesFromRole": unknown, "roles": [role]}),
        (here, {"rolesInfo": 1}),
        (admin, {"invalidateUserCache": 1}),
        # The server.
        (admin, {"listDatabases": 1}),
        (admin, {"serverStatus": 1}),
        (admin, {"hostInfo": 1}),
        (admin, {"getLog": "global"}),
        (admin, {"getCmdLineOpts": 1}),
        (admin, {"getParameter": "*"}),
        (admin, {"getDiagnosticData": 1}),
        (admin, {"top": 1}),
        (admin, {"setParameter": 1}),
        (admin, {"getDefaultRWConcern": 1}),
        (admin, {"setFeatureCompatibilityVersion": "7.0", "confirm": True}),
        (admin, {"replSetGetStatus": 1}),
        (admin, {"replSetGetConfig": 1}),
        (admin, {"replSetInitiate": {}}),
        (admin, {"replSetReconfig": {}}),
        (admin, {"currentOp": 1}),
        (admin, {"killOp": 1, "op": 2147483647}),
        (admin, {"killAllSessions": []}),
        (admin, {"killAllSessionsByPattern": []}),
        (admin, {"fsync": 1}),
        (admin, {"configureFailPoint": "failCommand", "mode": "off"}),
        (admin, {"ebbClock": 1}),
    ]
    return {next(iter(body)): (to, body) for to, body in table}


def names(text):
    return frozenset(text.split())


BODIES = frozenset(bodies(OWN))

#: Commands with `requiresAuth` false: drivers send them before they log in, or they are harmless.
OPEN = names("""
    hello isMaster ismaster ping buildInfo buildinfo whatsmyuri connectionStatus listCommands
    saslStart saslContinue authenticate logout endSessions
""")
#: Commands that require a login but no privilege: they return what the user may see, or concern the
#: user's own state. (A missing cursor is reported as not found, since its owner is unknown.)
LOGIN = names("""
    startSession refreshSessions killSessions listDatabases getMore killCursors ebbClock
    getLastRequestStatistics commitTransaction abortTransaction
""")

# Sets of commands by action.
#: EbbDB's forecast of expirations requires `find`.
_FIND = names("find count distinct aggregate explain ebbExpiry dataSize")
_LISTS = names("listCollections listIndexes")
#: `customAction` requires the right of `dbStats` for `GetDatabase`, which the matrix sends.
_STATS = names("collStats collstats dbStats dbstats customAction")
_INDEXES = names("createIndexes dropIndexes deleteIndexes")
_USERS = names("""
    createUser updateUser dropUser dropAllUsersFromDatabase grantRolesToUser revokeRolesFromUser
    usersInfo createRole updateRole dropRole dropAllRolesFromDatabase grantPrivilegesToRole
    revokePrivilegesFromRole grantRolesToRole revokeRolesFromRole rolesInfo
""")

READ = _FIND | _LISTS | _STATS
READ_WRITE = (
    READ
    | _INDEXES
    | names("""
    insert update delete findAndModify findandmodify bulkWrite create drop renameCollection
    convertToCapped cloneCollectionAsCapped
""")
)
DB_ADMIN = (
    _LISTS
    | _STATS
    | _INDEXES
    | names("""
    validate create drop collMod renameCollection dropDatabase validateDBMetadata
    planCacheClear planCacheClearFilters planCacheListFilters reIndex shardCollection
    convertToCapped profile
""")
)
USER_ADMIN = _USERS
DB_OWNER = READ_WRITE | DB_ADMIN | USER_ADMIN

CLUSTER_MONITOR = _STATS | names("""
    serverStatus hostInfo getLog getCmdLineOpts getParameter getDefaultRWConcern replSetGetStatus
    replSetGetConfig currentOp getDiagnosticData top
""")
CLUSTER_MANAGER = names("""
    getDefaultRWConcern setFeatureCompatibilityVersion replSetGetStatus replSetGetConfig
    replSetInitiate replSetReconfig enableSharding shardCollection
""")
HOST_MANAGER = names("""
    setParameter killOp killAllSessions killAllSessionsByPattern fsync invalidateUserCache
""") | {"configureFailPoint"}
CLUSTER_ADMIN = CLUSTER_MONITOR | CLUSTER_MANAGER | HOST_MANAGER | {"dropDatabase"}
BACKUP = _FIND | _LISTS | names("serverStatus getParameter")
RESTORE = _USERS | names("""
    insert bulkWrite create drop createIndexes collMod listCollections getParameter
    shardCollection convertToCapped
""")

#: The commands that a role of a database permits on that database. On others it permits none.
ON_OWN = {
    "read": READ,
    "readWrite": READ_WRITE,
    "dbAdmin": DB_ADMIN,
    "userAdmin": USER_ADMIN,
    "dbOwner": DB_OWNER,
}
#: The commands that a role of `admin` permits on every database and on the server.
EVERYWHERE = {
    "readAnyDatabase": READ,
    "readWriteAnyDatabase": READ_WRITE,
    "dbAdminAnyDatabase": DB_ADMIN,
    "userAdminAnyDatabase": USER_ADMIN | {"invalidateUserCache"},
    "clusterMonitor": CLUSTER_MONITOR,
    "clusterManager": CLUSTER_MANAGER,
    "hostManager": HOST_MANAGER,
    "clusterAdmin": CLUSTER_ADMIN,
    "backup": BACKUP,
    "restore": RESTORE,
    "root": BODIES,
}


def role_database(role):
    """Returns the database that defines a role."""
    return OWN if role in ON_OWN else "admin"


def permitted(role, database):
    """Returns the commands that a user with this role may run on a database."""
    if role in EVERYWHERE:
        return OPEN | LOGIN | EVERYWHERE[role]
    return OPEN | LOGIN | (ON_OWN[role] if database == OWN else frozenset())
