"""The table of bodies: a valid skeleton of each, and its fields with the kind of value they take.

A field is `path:kind`, followed by `/status` if a value of another kind may get a status other than
400. Kinds: `text`, `doc`, `array`, `bool` and `number`; `any` if other types are handled by the
body's own rules or ignored.
"""

import copy

from badinput_nosql.wire import BATCH, QUERY, A

DOCS = "/dbs/data/colls/c/docs"
PLAN = {
    "content-type": "application/query+json",
    "x-ms-cosmos-is-query-plan-request": "True",
    "x-ms-cosmos-query-version": "1.4",
    "x-ms-cosmos-supported-query-features": "OrderBy, Top",
}
POLICY = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/x/?"}],
    "compositeIndexes": [
        [{"path": "/n", "order": "ascending"}, {"path": "/s", "order": "descending"}]
    ],
    "spatialIndexes": [{"path": "/g/*", "types": ["Point"]}],
}
CONTAINER = {
    "id": "new",
    "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
    "defaultTtl": 100,
    "indexingPolicy": POLICY,
    "conflictResolutionPolicy": {
        "mode": "LastWriterWins",
        "conflictResolutionPath": "/_ts",
        "conflictResolutionProcedure": "",
    },
    "geospatialConfig": {"type": "Geography"},
}
POLICIES = """partitionKey:doc partitionKey.paths:array partitionKey.paths.0:text
    partitionKey.kind:text partitionKey.version:number defaultTtl:number indexingPolicy:doc
    indexingPolicy.indexingMode:text indexingPolicy.automatic:bool
    indexingPolicy.includedPaths:array indexingPolicy.includedPaths.0:doc
    indexingPolicy.includedPaths.0.path:text indexingPolicy.includedPaths.0.indexes:any
    indexingPolicy.excludedPaths:array indexingPolicy.excludedPaths.0:doc
    indexingPolicy.excludedPaths.0.path:text indexingPolicy.compositeIndexes:array
    indexingPolicy.compositeIndexes.0:array indexingPolicy.compositeIndexes.0.0:doc
    indexingPolicy.compositeIndexes.0.0.path:text indexingPolicy.compositeIndexes.0.0.order:text
    indexingPolicy.spatialIndexes:array/501 indexingPolicy.spatialIndexes.0:doc/501
    indexingPolicy.spatialIndexes.0.path:text/501 indexingPolicy.spatialIndexes.0.types:array/501
    indexingPolicy.spatialIndexes.0.types.0:text/501 indexingPolicy.vectorIndexes:array
    indexingPolicy.fullTextIndexes:array conflictResolutionPolicy:doc
    conflictResolutionPolicy.mode:text conflictResolutionPolicy.conflictResolutionPath:text
    conflictResolutionPolicy.conflictResolutionProcedure:text geospatialConfig:doc
    geospatialConfig.type:text computedProperties:array/501 vectorEmbeddingPolicy:doc
    fullTextPolicy:doc clientEncryptionPolicy:doc ttlPropertyPath:text/501 changeFeedPolicy:doc
    changeFeedPolicy.retentionDuration:number changeFeedPolicy.retainPreviousImages:bool
    analyticalStorageTtl:number unknown:any _rid:any _self:any _etag:any _ts:any _docs:any"""
SYSTEM = "_rid:any _self:any _etag:any _ts:any _attachments:any"
OPERATION = {"operationType": "Create", "resourceBody": {"id": "new", "pk": "a"}}
PATCH = {"operations": [{"op": "set", "path": "/lost", "value": 1}]}
FUNCTION = {"id": "new", "body": "function(){}"}
KEPT = {
    "id": "c",
    "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
    "defaultTtl": -1,
}
ASKED = {"query": "SELECT * FROM c WHERE c.n = @n", "parameters": [{"name": "@n", "value": 1}]}

#: name: (method, path, headers, skeleton, fields)
BODIES = {
    "database": (
        "POST",
        "/dbs",
        {},
        {"id": "new"},
        f"id:text {SYSTEM} _colls:any _users:any more:any",
    ),
    "container": ("POST", "/dbs/data/colls", {}, CONTAINER, "id:text " + POLICIES),
    "container with unique keys": (
        "POST",
        "/dbs/data/colls",
        {},
        {
            "id": "new",
            "partitionKey": KEPT["partitionKey"],
            "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/n"]}]},
        },
        """uniqueKeyPolicy:doc uniqueKeyPolicy.uniqueKeys:array uniqueKeyPolicy.uniqueKeys.0:doc
        uniqueKeyPolicy.uniqueKeys.0.paths:array uniqueKeyPolicy.uniqueKeys.0.paths.0:text""",
    ),
    "replaced container": (
        "PUT",
        "/dbs/data/colls/c",
        {},
        {**CONTAINER, "id": "c"},
        "id:text uniqueKeyPolicy:doc " + POLICIES,
    ),
    "item": ("POST", DOCS, A, {"id": "new", "pk": "a"}, f"id:text pk:text ttl:number {SYSTEM}"),
    "upserted item": (
        "POST",
        DOCS,
        {**A, "x-ms-documentdb-is-upsert": "True"},
        {"id": "new", "pk": "a"},
        "id:text pk:text ttl:number",
    ),
    "replaced item": (
        "PUT",
        f"{DOCS}/1",
        A,
        {"id": "1", "pk": "a"},
        f"id:text pk:text ttl:number {SYSTEM}",
    ),
    "patch": (
        "PATCH",
        f"{DOCS}/1",
        A,
        PATCH,
        """condition:text operations:array operations.0:doc operations.0.op:text
        operations.0.path:text operations.0.value:any more:any""",
    ),
    "increment": (
        "PATCH",
        f"{DOCS}/1",
        A,
        {"operations": [{"op": "incr", "path": "/n", "value": 1}]},
        "operations.0.value:number",
    ),
    "move": (
        "PATCH",
        f"{DOCS}/1",
        A,
        {"operations": [{"op": "move", "from": "/s", "path": "/t"}]},
        "operations.0.from:text",
    ),
    "patched ttl": (
        "PATCH",
        f"{DOCS}/1",
        A,
        {"operations": [{"op": "set", "path": "/ttl", "value": 5}]},
        "operations.0.value:number",
    ),
    "batch": (
        "POST",
        DOCS,
        BATCH,
        [OPERATION],
        """0:doc 0.operationType:text 0.id:any 0.resourceBody:doc 0.resourceBody.id:text
        0.resourceBody.ttl:number 0.ifMatch:text 0.ifNoneMatch:text 0.partitionKey:text
        0.more:any""",
    ),
    "batch that reads": (
        "POST",
        DOCS,
        BATCH,
        [{"operationType": "Read", "id": "1"}],
        "0.id:text 0.ifMatch:text 0.resourceBody:any",
    ),
    "batch that replaces": (
        "POST",
        DOCS,
        BATCH,
        [{"operationType": "Replace", "id": "1", "resourceBody": {"id": "1", "pk": "a"}}],
        "0.id:text 0.resourceBody:doc",
    ),
    "batch that patches": (
        "POST",
        DOCS,
        BATCH,
        [{"operationType": "Patch", "id": "1", "resourceBody": PATCH}],
        """0.resourceBody:doc 0.resourceBody.operations:array 0.resourceBody.operations.0.op:text
        0.resourceBody.operations.0.path:text 0.resourceBody.condition:text""",
    ),
    "query": (
        "POST",
        DOCS,
        QUERY,
        ASKED,
        """query:text parameters:array parameters.0:doc parameters.0.name:text
        parameters.0.value:any more:any""",
    ),
    "plan": (
        "POST",
        DOCS,
        PLAN,
        ASKED,
        """query:text parameters:array parameters.0:doc parameters.0.name:text
        parameters.0.value:any""",
    ),
    "query of databases": (
        "POST",
        "/dbs",
        QUERY,
        {"query": "SELECT * FROM c", "parameters": []},
        "query:text parameters:array",
    ),
    "query of offers": (
        "POST",
        "/offers",
        QUERY,
        {"query": "SELECT * FROM c", "parameters": []},
        "query:text parameters:array",
    ),
    "user": (
        "POST",
        "/dbs/data/users",
        {},
        {"id": "new"},
        f"id:text _permissions:any {SYSTEM} more:any",
    ),
    "permission": (
        "POST",
        "/dbs/data/users/u/permissions",
        {},
        {"id": "new", "permissionMode": "Read", "resource": "dbs/data/colls/c"},
        "id:text permissionMode:text resource:text resourcePartitionKey:array _token:any",
    ),
    "procedure": ("POST", "/dbs/data/colls/c/sprocs", {}, FUNCTION, "id:text body:text more:any"),
    "trigger": (
        "POST",
        "/dbs/data/colls/c/triggers",
        {},
        {**FUNCTION, "triggerType": "Pre", "triggerOperation": "All"},
        "id:text body:text triggerType:text triggerOperation:text",
    ),
    "function": ("POST", "/dbs/data/colls/c/udfs", {}, FUNCTION, "id:text body:text"),
    "offer": (
        "PUT",
        "/offers/@",
        {},
        {"content": {"offerThroughput": 500}, "offerVersion": "V2"},
        """content:doc content.offerThroughput:number content.offerAutopilotSettings:any
        content.offerAutopilotSettings.maxThroughput:number offerVersion:any offerType:any
        resource:any offerResourceId:any id:any""",
    ),
}

#: Values of each JSON type, with special ones of some, by name.
VALUES = {
    "null": None,
    "true": True,
    "false": False,
    "0": 0,
    "-1": -1,
    "7": 7,
    "1.5": 1.5,
    "1e300": 1e300,
    "2^31": 2**31,
    "2^63": 2**63,
    "empty text": "",
    "text": "x",
    "long text": "x" * 3000,
    "empty array": [],
    "array": [1, "x"],
    "array of arrays": [[[]]],
    "empty object": {},
    "object": {"a": 1},
}
KINDS = {"text": str, "doc": dict, "array": list, "bool": bool, "number": (int, float)}


class Field:
    """A field of a body, by its path."""

    def __init__(self, body, text):
        self.body = body
        self.method, self.path, self.headers, self.skeleton, _ = BODIES[body]
        self.field, kind = text.split(":")
        self.kind, *more = kind.split("/")
        self.statuses = {400, *map(int, more)}

    def __str__(self):
        return f"{self.body}: {self.field}"

    def with_value(self, value):
        """Returns the body with this value in the field; missing parents are created."""
        body = copy.deepcopy(self.skeleton)
        place = body
        *parents, last = self.field.split(".")
        for name in parents:
            place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
        if isinstance(place, list):
            place[int(last)] = value
        else:
            place[last] = value
        return body

    def is_wrong(self, value):
        """Returns whether a value of this type has to be refused. Null counts as absent."""
        if self.kind == "any" or value is None:
            return False
        if isinstance(value, bool):
            return self.kind != "bool"
        return not isinstance(value, KINDS[self.kind]) or self.kind == "bool"


def fields():
    return [Field(body, text) for body, row in BODIES.items() for text in row[-1].split()]
