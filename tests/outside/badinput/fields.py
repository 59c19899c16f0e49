"""The table of commands: a valid skeleton of each, and its fields with the kind of value they take.

A row is (database, skeleton, fields). A field is `path:kind`, followed by `/` and each further
error code that a value of another kind may get; TypeMismatch (14) is always allowed. Kinds: `text`,
`doc`, `array`, `bool` and `number`; `any` if other types are handled by the command's own rules or
ignored, as in MongoDB; `few` is the same, tested with few values since each creates a collection.
"""

import copy

import bson

GENERIC = """lsid:doc readConcern:doc/9 writeConcern:doc/72 maxTimeMS:number/2 comment:any
    apiVersion:text/322/9 apiStrict:bool/72 apiDeprecationErrors:bool/72 $readPreference:any
    txnNumber:number/20 autocommit:any startTransaction:any $clusterTime:any $db:text/73/40571
    lsid.id:any readConcern.level:text/9/2 writeConcern.w:any/72 writeConcern.j:bool/9/72
    writeConcern.wtimeout:any $readPreference.mode:any"""

HANDSHAKE = """client:doc compression:array saslSupportedMechs:any speculativeAuthenticate:any
    topologyVersion:any maxAwaitTimeMS:any loadBalanced:any helloOk:any hostInfo:any
    internalClient:any backpressure:any forShell:any client.application:any
    client.application.name:any client.driver:any client.os:any compression.0:any"""
FIND_AND_MODIFY = """@:text/73 query:doc sort:doc remove:bool update:any new:bool fields:doc
    upsert:bool bypassDocumentValidation:any collation:doc arrayFilters:array hint:any let:doc"""
PLAN_SHAPE = "@:text/73 query:doc/2 sort:doc projection:doc collation:doc"
MODIFY = {"query": {"_id": 1}, "update": {"$set": {"x": 1}}}
SESSION = {"id": bson.Binary(b"0123456789abcdef", 4)}
PRIVILEGE = {"resource": {"db": "t", "collection": "c"}, "actions": ["find"]}
PRIVILEGES = """privileges:array privileges.0:doc/2/9 privileges.0.resource:doc/2/9
    privileges.0.resource.db:text/9 privileges.0.resource.collection:text/9
    privileges.0.resource.cluster:any privileges.0.actions:array/2/9
    privileges.0.actions.0:text/2/9"""
PASSWORD = """pwd:text digestPassword:bool mechanisms:array mechanisms.0:text/2
    authenticationRestrictions:array authenticationRestrictions.0:doc/2/9
    authenticationRestrictions.0.clientSource:array/2/9"""

#: name: (database, fields of the skeleton, fields with kinds); `@` is the command's own value.
COMMANDS = {
    "hello": ("admin", {}, HANDSHAKE + " @:any"),
    "isMaster": ("admin", {}, HANDSHAKE + " @:any"),
    "ismaster": ("admin", {}, HANDSHAKE + " @:any"),
    "ping": ("t", {}, "@:any"),
    "buildInfo": ("admin", {}, "@:any"),
    "buildinfo": ("admin", {}, "@:any"),
    "whatsmyuri": ("admin", {}, "@:any"),
    "connectionStatus": ("admin", {}, "@:any showPrivileges:bool"),
    "hostInfo": ("admin", {}, "@:any"),
    "getLog": ("admin", {"@": "global"}, "@:text/2"),
    "getCmdLineOpts": ("admin", {}, "@:any"),
    "listCommands": ("admin", {}, "@:any"),
    "serverStatus": ("admin", {}, "@:any repl:any metrics:any locks:any network:any mem:any"),
    "getDiagnosticData": ("admin", {}, "@:any"),
    "top": ("admin", {}, "@:any"),
    "getParameter": ("admin", {"quiet": 1}, "@:any quiet:any"),
    "setParameter": (
        "admin",
        {"logLevel": 0},
        """@:any logLevel:number/2 quiet:any ttlMonitorEnabled:any
        ttlMonitorSleepSecs:number/2 ttlMonitorBatchDeletes:any
        ttlMonitorSubPassTargetSecs:number/2 ttlIndexDeleteTargetTimeMS:number/2
        ttlIndexDeleteTargetDocs:number/2 transactionLifetimeLimitSeconds:number/2""",
    ),
    "getDefaultRWConcern": ("admin", {}, "@:any inMemory:any"),
    "setFeatureCompatibilityVersion": (
        "admin",
        {"@": "7.0", "confirm": True},
        "@:text/2 confirm:bool downgradeOnDiskChanges:any fromConfigServer:any",
    ),
    "listDatabases": ("admin", {}, "@:any filter:doc nameOnly:bool authorizedDatabases:bool"),
    "listCollections": (
        "t",
        {},
        """@:any filter:doc nameOnly:bool authorizedCollections:any cursor:doc
        cursor.batchSize:number""",
    ),
    "listIndexes": (
        "t",
        {"@": "c"},
        """@:text/73 cursor:doc cursor.batchSize:number includeBuildUUIDs:any
        includeIndexBuildInfo:any""",
    ),
    "create": (
        "t",
        {"@": "made"},
        """@:text/73 capped:bool/72 autoIndexId:few size:number/72/51024 max:number/72/2
        storageEngine:doc/72 validator:doc/2 validationLevel:text validationAction:text
        indexOptionDefaults:doc/40415 viewOn:text/73 pipeline:array/2 collation:doc
        timeseries:doc/115
        expireAfterSeconds:any clusteredIndex:any changeStreamPreAndPostImages:doc/40414/40415
        recordPreImages:bool/115 idIndex:doc
        encryptedFields:doc/115 flags:few shardKey:text/2""",
    ),
    "profile": ("t", {"@": -1}, "@:number slowms:number sampleRate:number/2 filter:doc/2"),
    "convertToCapped": (
        "t",
        {"@": "made", "size": 4096},
        "@:text/73/26 size:number/72/51024 max:any",
    ),
    "cloneCollectionAsCapped": (
        "t",
        {"@": "none", "toCollection": "copied", "size": 4096},
        "@:text/73/26 toCollection:text/73 size:number/2/51024 temp:any",
    ),
    "customAction": (
        "t",
        {"@": "UpdateCollection", "collection": "c"},
        """@:text/59 collection:text/73 offerThroughput:number/2 autoScaleSettings:doc/40414/40415
        autoScaleSettings.maxThroughput:number/2 indexes:array/67 defaultTtl:number/2 shardKey:any
        showIndexes:any startAtOperationTime:any""",
    ),
    "shardCollection": (
        "admin",
        {"@": "t.c", "key": {"n": 1}},
        """@:text/73 key:doc/2 key.n:any unique:bool/115 numInitialChunks:number
        presplitHashedZones:bool collation:doc implicitlyCreateIndex:bool
        enforceUniquenessCheck:bool""",
    ),
    "enableSharding": ("admin", {"@": "t"}, "@:text/73/40414 primaryShard:text"),
    "reIndex": ("t", {"@": "c"}, "@:text/73"),
    "drop": ("t", {"@": "c"}, "@:text/73"),
    "dropDatabase": ("t", {}, "@:number/40414"),
    "renameCollection": (
        "admin",
        {"@": "t.c", "to": "t.d"},
        "@:text/73/2 to:text dropTarget:bool/207",
    ),
    "collMod": (
        "t",
        {"@": "c", "index": {"name": "n_1", "hidden": False}},
        """@:text/73 index:doc validator:doc/2 validationLevel:text/2 validationAction:text/2
        viewOn:any pipeline:any expireAfterSeconds:any timeseries:any
        changeStreamPreAndPostImages:doc/40414/40415 cappedSize:any cappedMax:any dryRun:bool/72
        recordPreImages:bool/115 index.name:text index.keyPattern:doc/72
        index.expireAfterSeconds:number/72 index.hidden:bool index.unique:bool/115
        index.prepareUnique:bool/115""",
    ),
    "createIndexes": (
        "t",
        {"@": "c", "indexes": [{"key": {"k": 1}, "name": "k"}]},
        """@:text/73 indexes:array indexes.0:doc indexes.0.key:doc indexes.0.name:text
        indexes.0.v:any indexes.0.ns:any indexes.0.unique:bool indexes.0.sparse:bool
        indexes.0.background:any indexes.0.partialFilterExpression:doc indexes.0.hidden:bool
        indexes.0.expireAfterSeconds:number/67 indexes.0.collation:doc
        indexes.0.storageEngine:doc/2/72 indexes.0.dropDups:any indexes.0.weights:any
        indexes.0.default_language:text/115 indexes.0.language_override:text/115
        indexes.0.textIndexVersion:any indexes.0.2dsphereIndexVersion:any indexes.0.bits:any
        indexes.0.min:any indexes.0.max:any indexes.0.bucketSize:any
        indexes.0.wildcardProjection:doc/2/67 indexes.0.clustered:any
        indexes.0.prepareUnique:any indexes.0.columnstoreProjection:any indexes.0.key.k:any
        indexes.0.key._ts:any ignoreUnknownIndexOptions:any commitQuorum:any""",
    ),
    "dropIndexes": ("t", {"@": "c", "index": "n_1"}, "@:text/73 index:any"),
    "deleteIndexes": ("t", {"@": "c", "index": "n_1"}, "@:text/73 index:any"),
    "collStats": ("t", {"@": "c"}, "@:text/73 scale:number"),
    "collstats": ("t", {"@": "c"}, "@:text/73 scale:number"),
    "dataSize": (
        "t",
        {"@": "t.c"},
        """@:text/73 estimate:any keyPattern:any min:any max:any maxSize:any/115
        maxObjects:any/115""",
    ),
    "dbStats": ("t", {}, "@:any scale:number freeStorage:any"),
    "dbstats": ("t", {}, "@:any scale:number freeStorage:any"),
    "validate": (
        "t",
        {"@": "c"},
        "@:text/73 full:any repair:any metadata:any checkBSONConformance:any background:any",
    ),
    "validateDBMetadata": (
        "t",
        {"apiParameters": {"version": "1", "strict": True}},
        """@:any db:text collection:text apiParameters:doc apiParameters.version:text
        apiParameters.strict:bool apiParameters.deprecationErrors:bool""",
    ),
    "planCacheClear": ("t", {"@": "c", "query": {}}, PLAN_SHAPE),
    "planCacheClearFilters": ("t", {"@": "c", "query": {}}, PLAN_SHAPE),
    "planCacheListFilters": ("t", {"@": "c"}, "@:text/73"),
    "insert": (
        "t",
        {"@": "c", "documents": [{"_id": 9}]},
        """@:text/73 documents:array documents.0:doc documents.0._id:any documents.0._ts:any
        documents.0.ttl:any ordered:bool bypassDocumentValidation:any""",
    ),
    "update": (
        "t",
        {"@": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"x": 1}}}]},
        """@:text/73 updates:array updates.0:doc updates.0.q:doc updates.0.u:any updates.0.c:doc
        updates.0.multi:bool updates.0.upsert:bool updates.0.collation:doc
        updates.0.arrayFilters:array updates.0.arrayFilters.0:doc updates.0.hint:any
        updates.0.sort:doc updates.0.u.$set:any updates.0.u.0:any ordered:bool
        bypassDocumentValidation:any let:doc let.a:any""",
    ),
    "delete": (
        "t",
        {"@": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]},
        """@:text/73 deletes:array deletes.0:doc deletes.0.q:doc deletes.0.limit:number/9
        deletes.0.collation:doc deletes.0.hint:any ordered:bool let:doc""",
    ),
    "bulkWrite": (
        "admin",
        {
            "ops": [
                {"insert": 0, "document": {"_id": 8}},
                {"update": 0, "filter": {"_id": 1}, "updateMods": {"$set": {"x": 1}}},
                {"delete": 0, "filter": {"_id": 2}},
            ],
            "nsInfo": [{"ns": "t.c"}],
        },
        """@:any ops:array nsInfo:array nsInfo.0:doc nsInfo.0.ns:text/73 ops.0:doc
        ops.0.insert:number/2 ops.0.document:doc ops.1.update:number/2 ops.1.filter:doc
        ops.1.updateMods:any ops.1.multi:bool ops.1.upsert:bool ops.1.constants:any
        ops.1.arrayFilters:array ops.1.hint:any ops.1.collation:doc ops.2.delete:number/2
        ops.2.filter:doc ops.2.multi:bool ops.2.hint:any ordered:bool errorsOnly:bool
        bypassDocumentValidation:any let:doc cursor:any cursor.batchSize:any""",
    ),
    "find": (
        "t",
        {"@": "c"},
        """@:text/73 filter:doc sort:doc projection:doc hint:any skip:number limit:number
        batchSize:number singleBatch:bool returnKey:bool showRecordId:bool tailable:bool
        awaitData:bool noCursorTimeout:bool allowDiskUse:any let:doc let.a:any collation:doc
        min:doc/51173 max:doc/51173 allowPartialResults:any oplogReplay:bool filter._id:any
        filter.n:any sort.n:any
        projection.n:any collation.locale:any collation.strength:any collation.caseLevel:any
        collation.caseFirst:any collation.version:any hint.n:any""",
    ),
    "getLastRequestStatistics": ("t", {}, "@:any"),
    "getMore": (
        "t",
        {"@": bson.Int64(5), "collection": "c"},
        """@:number collection:text/73 batchSize:number/43 term:any lastKnownCommittedOpTime:any""",
    ),
    "killCursors": (
        "t",
        {"@": "c", "cursors": [bson.Int64(5)]},
        "@:text/73 cursors:array cursors.0:any",
    ),
    "findAndModify": ("t", {"@": "c", **MODIFY}, FIND_AND_MODIFY),
    "findandmodify": ("t", {"@": "c", **MODIFY}, FIND_AND_MODIFY),
    "aggregate": (
        "t",
        {"@": "c", "pipeline": [{"$match": {"n": 1}}], "cursor": {}},
        """@:any pipeline:array pipeline.0:doc cursor:doc cursor.batchSize:number explain:bool
        allowDiskUse:any bypassDocumentValidation:any collation:doc hint:any let:doc let.a:any
        isMapReduceCommand:any exchange:any""",
    ),
    "count": (
        "t",
        {"@": "c", "query": {"n": 1}},
        """@:text/73 query:doc limit:number/2/9 skip:number hint:any collation:doc fields:any
        queryHash:any""",
    ),
    "distinct": (
        "t",
        {"@": "c", "key": "n"},
        "@:text/73 key:text query:doc collation:doc hint:any",
    ),
    "explain": (
        "t",
        {"@": {"find": "c", "filter": {"n": 1}}},
        "@:doc verbosity:text/9/2 @.find:text/73 @.filter:doc @.sort:doc @.hint:any",
    ),
    "startSession": ("admin", {}, "@:any"),
    "endSessions": ("admin", {"@": [SESSION]}, "@:array @.0:doc/40414/40415"),
    "refreshSessions": ("admin", {"@": [SESSION]}, "@:array @.0:doc/40414/40415"),
    "killSessions": ("admin", {"@": [SESSION]}, "@:array @.0:doc/40414/40415"),
    "killAllSessions": ("admin", {"@": []}, "@:array"),
    "killAllSessionsByPattern": ("admin", {"@": []}, "@:array"),
    "logout": ("admin", {}, "@:any"),
    "commitTransaction": ("admin", {}, "@:any/125 recoveryToken:any/125"),
    "abortTransaction": ("admin", {}, "@:any/125 recoveryToken:any/125"),
    "saslStart": (
        "admin",
        {"mechanism": "SCRAM-SHA-256", "payload": bson.Binary(b"n,,n=nobody,r=abc")},
        """@:any mechanism:text/334/18 payload:any/18 options:doc autoAuthorize:any db:any
        options.skipEmptyExchange:any""",
    ),
    "authenticate": (
        "$external",
        {"mechanism": "MONGODB-X509"},
        "@:any mechanism:text/334/18 user:any/18 db:any",
    ),
    "saslContinue": (
        "admin",
        {"conversationId": 1, "payload": bson.Binary(b"x")},
        "@:any conversationId:any payload:any",
    ),
    # The named users and roles do not exist, so that cases do not affect each other.
    "createUser": (
        "t",
        {"@": "nobody", "pwd": "x", "roles": ["nothing"]},
        f"""@:text {PASSWORD} roles:array roles.0:any/2 roles.0.role:text/2/4 roles.0.db:text/2/4
        customData:doc""",
    ),
    "updateUser": (
        "t",
        {"@": "nobody", "pwd": "x"},
        f"@:text/11 {PASSWORD} roles:array roles.0:any/2 customData:doc",
    ),
    "dropUser": ("t", {"@": "nobody"}, "@:text/11"),
    "dropAllUsersFromDatabase": ("t", {}, "@:any"),
    "grantRolesToUser": ("t", {"@": "nobody", "roles": ["read"]}, "@:text/11 roles:array/11/2"),
    "revokeRolesFromUser": ("t", {"@": "nobody", "roles": ["read"]}, "@:text/11 roles:array/11/2"),
    "usersInfo": (
        "t",
        {},
        """@:any showCredentials:bool showCustomData:bool showPrivileges:bool
        showAuthenticationRestrictions:bool filter:doc""",
    ),
    "createRole": (
        "t",
        {"@": "nothing", "privileges": [PRIVILEGE], "roles": ["none"]},
        f"@:text {PRIVILEGES} roles:array roles.0:any authenticationRestrictions:array",
    ),
    "updateRole": (
        "t",
        {"@": "nothing", "privileges": [PRIVILEGE]},
        f"@:text/31 {PRIVILEGES} roles:array/31 authenticationRestrictions:array/31",
    ),
    "grantPrivilegesToRole": (
        "t",
        {"@": "nothing", "privileges": [PRIVILEGE]},
        f"@:text/31 {PRIVILEGES}",
    ),
    "revokePrivilegesFromRole": (
        "t",
        {"@": "nothing", "privileges": [PRIVILEGE]},
        f"@:text/31 {PRIVILEGES}",
    ),
    "grantRolesToRole": ("t", {"@": "nothing", "roles": ["read"]}, "@:text/31 roles:array/31"),
    "revokeRolesFromRole": ("t", {"@": "nothing", "roles": ["read"]}, "@:text/31 roles:array/31"),
    "dropRole": ("t", {"@": "nothing"}, "@:text/31"),
    "dropAllRolesFromDatabase": ("t", {}, "@:any"),
    "rolesInfo": (
        "t",
        {},
        "@:any showPrivileges:bool showBuiltinRoles:bool showAuthenticationRestrictions:any",
    ),
    "invalidateUserCache": ("admin", {}, "@:any"),
    "currentOp": ("admin", {}, "@:any $all:any $ownOps:any"),
    "killOp": ("admin", {"op": 1}, "@:any op:number"),
    "fsync": ("admin", {}, "@:any lock:bool async:any"),
    "replSetGetStatus": ("admin", {}, "@:any initialSync:any"),
    "replSetGetConfig": ("admin", {}, "@:any commitmentStatus:any includeNewlyAdded:any"),
    "replSetInitiate": ("admin", {"@": {}}, "@:any"),
    "replSetReconfig": ("admin", {"@": {}}, "@:any force:any maxTimeMS:any"),
    "configureFailPoint": (
        "admin",
        {"@": "failCommand", "mode": "off"},
        """@:text mode:any/2 data:any data.failCommands:any data.errorCode:any
        data.closeConnection:any data.errorLabels:any data.writeConcernError:any
        data.blockConnection:any data.blockTimeMS:any data.appName:any mode.times:any
        mode.skip:any mode.activationProbability:any""",
    ),
    "ebbClock": ("admin", {}, "@:any"),
    "ebbExpiry": (
        "t",
        {"@": "c", "preview": {"default": 5}},
        "@:text/73 preview:doc preview.default:any",
    ),
}

#: Skeletons for generic fields, if the command itself should have no effect.
IDLE = {
    "drop": ("t", {"@": "none"}),
    "dropDatabase": ("none", {}),
    "create": ("t", {"@": "c"}),
    "renameCollection": ("admin", {"@": "t.none", "to": "t.d"}),
}

#: Kinds and the types they take; null counts as an absent field.
ABSENT = {"null", "undefined"}
NUMBERS = {
    "double",
    "NaN",
    "infinity",
    "int",
    "negative int",
    "long",
    "largest long",
    "smallest long",
    "decimal",
    "decimal NaN",
}
TAKES = {
    "text": {"string"},
    "doc": {"document", "empty document", "operator"},
    "array": {"array", "empty array"},
    "number": NUMBERS,
    "bool": NUMBERS | {"true", "false"},
}


class Field:
    """One field of one command."""

    def __init__(self, command, text, generic=False):
        path, _, kinds = text.partition(":")
        self.command, self.path = command, path.split(".")
        self.kind, *codes = kinds.split("/")
        self.codes = (14, *map(int, codes))
        self.database, self.skeleton, _ = COMMANDS[command]
        if generic and command in IDLE:
            self.database, self.skeleton = IDLE[command]

    def __str__(self):
        return f"{self.command}-{'.'.join(self.path)}"

    def is_wrong(self, type_name):
        """Returns whether a value of this type has to be refused."""
        return self.kind in TAKES and type_name not in TAKES[self.kind] | ABSENT

    def body(self, value):
        """Returns the command with this value in the field."""
        body = {self.command: 1, **copy.deepcopy(self.skeleton)}
        body[self.command] = body.pop("@", 1)
        body.setdefault("$db", self.database)
        return put(
            body, [self.command if self.path[0] == "@" else self.path[0], *self.path[1:]], value
        )


def put(held, path, value):
    """Returns a copy of a document or list with a value at a path; missing parents are created."""
    first, *rest = path
    if first.isdigit():
        held = list(held) if isinstance(held, list) else []
        at = int(first)
        held += [None] * (at + 1 - len(held))
        held[at] = put(held[at], rest, value) if rest else value
        return held
    held = dict(held) if isinstance(held, dict) else {}
    held[first] = put(held.get(first), rest, value) if rest else value
    return held


def fields(names=COMMANDS, generic=False):
    """Returns all fields of these commands."""
    # Outside of a transaction these are refused before any other field is read.
    ends = ("commitTransaction", "abortTransaction")
    return [
        Field(name, text + "/125" * (generic and name in ends), generic)
        for name in names
        for text in (GENERIC if generic else COMMANDS[name][2]).split()
    ]
