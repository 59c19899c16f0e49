"""Container definitions with values of the right type but without meaning, or beyond limits."""

import pytest
from lib.texts import EXISTS, MODE_NONE, NO_OWNER, NO_RESOURCE

from badinput_nosql.attacked import ONE, TWO
from badinput_nosql.wire import request

COLLS = "/dbs/data/colls"


def container(**more):
    return {"id": "new", "partitionKey": ONE, **more}


def policy(**more):
    return container(
        indexingPolicy={"indexingMode": "consistent", "includedPaths": [{"path": "/*"}], **more}
    )


def included(*paths, **more):
    return policy(includedPaths=[{"path": path} for path in paths], **more)


def key(paths, **more):
    return container(partitionKey={"paths": paths, **more})


def composite(*paths, order="ascending"):
    return [{"path": path, "order": order} for path in paths]


def unique(*keys):
    return container(uniqueKeyPolicy={"uniqueKeys": [{"paths": list(paths)} for paths in keys]})


REFUSED = {
    "no id": {"partitionKey": ONE},
    "Id": {"Id": "new", "partitionKey": ONE},
    "no paths": key([]),
    "empty path": key([""]),
    "root": key(["/"]),
    "no slash": key(["pk"]),
    "star": key(["/*"]),
    "star below": key(["/pk/*"]),
    "value": key(["/pk/?"]),
    "array": key(["/pk/[]"]),
    "array element": key(["/pk/0/[]"]),
    "two slashes": key(["//pk"]),
    "slash behind": key(["/pk/"]),
    "open quote": key(['/"pk']),
    "many paths": key(["/a", "/b"], kind="Hash"),
    "four paths": key(["/a", "/b", "/c", "/d"], kind="MultiHash", version=2),
    "thousands of paths": key([f"/p{i}" for i in range(5000)]),
    "a path twice": key(["/a", "/a"], kind="MultiHash", version=2),
    "a deep path": key(["/a" * 10_000]),
    "kind": key(["/pk"], kind="Range"),
    "kind of other case": key(["/pk"], kind="hash "),
    "version 0": key(["/pk"], kind="Hash", version=0),
    "version 3": key(["/pk"], kind="Hash", version=3),
    "version 1.5": key(["/pk"], kind="Hash", version=1.5),
    "MultiHash version 1": key(["/a", "/b"], kind="MultiHash", version=1),
    "no key paths": container(partitionKey={}),
    "mode": policy(indexingMode="sometimes"),
    "empty mode": policy(indexingMode=""),
    "path without slash": included("/*", "a"),
    "empty index path": included("/*", ""),
    "star inside": included("/*", "/a/*/b"),
    "question inside": included("/*", "/a/?/b"),
    "star in a name": included("/*", "/a*"),
    "two slashes in an index": included("/*", "/a//b"),
    "open quote in an index": included("/*", '/"a'),
    "no root": included("/a/?"),
    "no root and exclusions": included("/a/?", excludedPaths=[{"path": "/b/?"}]),
    "root twice": included("/*", "/*"),
    "root in both": policy(excludedPaths=[{"path": "/*"}]),
    "a path in both": included("/*", "/a/?", excludedPaths=[{"path": "/a/?"}]),
    "too many included": included("/*", *(f"/p{i}/?" for i in range(1501))),
    "too many excluded": policy(excludedPaths=[{"path": f"/p{i}/?"} for i in range(1501)]),
    "a deep index": included("/*", "/a" * 10_000 + "/?"),
    "tuple without array": included("/*", "/{a, b}/?"),
    "tuple that is open": included("/*", "/a/[]/{b, c/?"),
    "tuple with star": included("/*", "/a/[]/{b, c/*}/?"),
    "tuple with nothing": included("/*", "/a/[]/{}/?"),
    "tuple with slashes": included("/*", "/a/[]/{/b, /c}/?"),
    "composite of none": policy(compositeIndexes=[[]]),
    "composite of one": policy(compositeIndexes=[composite("/a")]),
    "composite of nine": policy(compositeIndexes=[composite(*(f"/p{i}" for i in range(9)))]),
    "composite with star": policy(compositeIndexes=[composite("/a/*", "/b")]),
    "composite with value": policy(compositeIndexes=[composite("/a/?", "/b")]),
    "composite of the root": policy(compositeIndexes=[composite("/", "/b")]),
    "composite of no path": policy(compositeIndexes=[composite("a", "b")]),
    "composite with an array": policy(compositeIndexes=[composite("/a/[]", "/b")]),
    "composite order": policy(compositeIndexes=[composite("/a", "/b", order="up")]),
    "composite path twice": policy(compositeIndexes=[composite("/a", "/a")]),
    "too many composites": policy(compositeIndexes=[composite(f"/a{i}", "/b") for i in range(101)]),
    "composite without index": container(
        indexingPolicy={"indexingMode": "none", "compositeIndexes": [composite("/a", "/b")]}
    ),
    "unique of none": unique([]),
    "unique of no path": unique(["a"]),
    "unique of the root": unique(["/"]),
    "unique of an empty path": unique([""]),
    "unique with star": unique(["/a/*"]),
    "unique with an array": unique(["/a/[]/b"]),
    "unique twice": unique(["/a"], ["/a"]),
    "unique path twice": unique(["/a", "/a"]),
    "eleven unique keys": unique(*([f"/k{i}"] for i in range(11))),
    "seventeen unique paths": unique([f"/k{i}" for i in range(9)], [f"/l{i}" for i in range(8)]),
    "unique of system": unique(["/_ts"]),
    "conflict mode": container(conflictResolutionPolicy={"mode": "x"}),
    "retention of -1": container(changeFeedPolicy={"retentionDuration": -1}),
    "retention of 1.5": container(changeFeedPolicy={"retentionDuration": 1.5}),
    "retention for ever": container(changeFeedPolicy={"retentionDuration": 2**40}),
    "geography": container(geospatialConfig={"type": "Flat"}),
    "no geography": container(geospatialConfig={}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_definitions(attacked, what):
    attacked.refused(request("POST", COLLS, REFUSED[what]), 400, within=3)


TTLS = [
    0,
    -2,
    -10,
    -(2**31),
    2**31,
    2**53,
    2**63,
    1e300,
    1.5,
    -1.5,
    0.5,
    True,
    False,
    None,
    "5",
    "",
    "-1",
    [],
    [5],
    {},
    {"a": 5},
]


@pytest.mark.parametrize("ttl", TTLS, ids=repr)
def test_default_ttl(attacked, ttl):
    attacked.refused(request("POST", COLLS, container(defaultTtl=ttl)), 400)
    attacked.refused(
        request("PUT", f"{COLLS}/c", {"id": "c", "partitionKey": ONE, "defaultTtl": ttl}), 400
    )


@pytest.mark.parametrize(
    "text", ["1e3000", "-0.0", "1" * 400, "-99999999999999999999", "00", "0x5", "+5", "5e", "NaN"]
)
def test_default_ttl_as_no_json_library_writes_it(attacked, text):
    body = f'{{"id":"new","partitionKey":{{"paths":["/pk"]}},"defaultTtl":{text}}}'
    attacked.refused(request("POST", COLLS, body), 400)


@pytest.mark.parametrize("ttl", [-1, 5])
@pytest.mark.parametrize("mode", ["none", "None", "NONE"])
def test_ttl_without_an_index(attacked, ttl, mode):
    more = {"indexingPolicy": {"indexingMode": mode, "automatic": False}, "defaultTtl": ttl}
    attacked.refused(request("POST", COLLS, container(**more)), 400, 0, MODE_NONE)
    attacked.refused(
        request("PUT", f"{COLLS}/c", {"id": "c", "partitionKey": ONE, **more}), 400, 0, MODE_NONE
    )
    attacked.refused(
        request("PUT", f"{COLLS}/off", {"id": "off", "partitionKey": ONE, **more}),
        400,
        0,
        MODE_NONE,
    )


def test_a_ttl_path_without_a_ttl(attacked):
    attacked.refused(request("POST", COLLS, container(ttlPropertyPath="/created")), 400)


CHANGED = {
    "another id": {"id": "off", "partitionKey": ONE},
    "no id": {"partitionKey": ONE},
    "no such id": {"id": "x", "partitionKey": ONE},
    "another key": {"id": "c", "partitionKey": {**ONE, "paths": ["/other"]}},
    "more keys": {"id": "c", "partitionKey": TWO},
    "no key": {"id": "c"},
    "another version": {"id": "c", "partitionKey": {**ONE, "version": 1}},
    "unique keys": {
        "id": "c",
        "partitionKey": ONE,
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/s"]}]},
    },
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_cannot_be_changed(attacked, what):
    attacked.refused(request("PUT", f"{COLLS}/c", CHANGED[what]), 400)


def test_unique_keys_cannot_be_taken_away(attacked):
    attacked.refused(
        request(
            "PUT",
            f"{COLLS}/u",
            {
                "id": "u",
                "partitionKey": ONE,
                "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/s"]}]},
            },
        ),
        400,
    )


def test_definitions_that_are_there_or_not(attacked):
    attacked.refused(request("POST", COLLS, {"id": "c", "partitionKey": ONE}), 409, 0, EXISTS)
    attacked.refused(request("POST", "/dbs", {"id": "data"}), 409, 0, EXISTS)
    attacked.refused(
        request("PUT", f"{COLLS}/none", {"id": "none", "partitionKey": ONE}), 404, 0, NO_RESOURCE
    )
    attacked.refused(request("POST", "/dbs/none/colls", container()), 404, 1003, NO_OWNER)
    attacked.refused(request("DELETE", f"{COLLS}/none"), 404, 0, NO_RESOURCE)
    attacked.refused(request("DELETE", "/dbs/none"), 404, 0, NO_RESOURCE)
    attacked.refused(request("PUT", "/dbs/data", {"id": "data"}), 405)


EMBEDDINGS = {
    "vectorEmbeddings": [
        {"path": "/v", "dataType": "float32", "dimensions": 3, "distanceFunction": "cosine"}
    ]
}

KEPT = {
    "vectorEmbeddingPolicy": container(vectorEmbeddingPolicy=EMBEDDINGS),
    "fullTextPolicy": container(
        fullTextPolicy={
            "defaultLanguage": "en-US",
            "fullTextPaths": [{"path": "/t", "language": "en-US"}],
        }
    ),
    "vectorIndexes": policy(vectorIndexes=[{"path": "/v", "type": "diskANN"}])
    | {"vectorEmbeddingPolicy": EMBEDDINGS},
    "fullTextIndexes": policy(fullTextIndexes=[{"path": "/t"}])
    | {"fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/t"}]}},
    "clientEncryptionPolicy": container(
        clientEncryptionPolicy={"policyFormatVersion": 1, "includedPaths": []}
    ),
    "analyticalStorageTtl": container(analyticalStorageTtl=-1),
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_only_kept_is_shown(attacked, what):
    made = attacked.accepted(request("POST", COLLS, KEPT[what]), 201).json
    read = attacked.run("GET", f"{COLLS}/new").json
    attacked.remove(f"{COLLS}/new")
    attacked.held = attacked.state()
    for shown in (made, read):
        held = shown if what in shown else shown["indexingPolicy"]
        wanted = KEPT[what] if what in KEPT[what] else KEPT[what]["indexingPolicy"]
        assert held[what] == wanted[what], shown


@pytest.mark.parametrize("what", ["materializedViewDefinition", "encryptionScopeId"])
def test_what_is_not_supported_is_named(attacked, what):
    for data in (
        request("POST", COLLS, container(**{what: "x"})),
        request("PUT", f"{COLLS}/c", container(id="c", **{what: "x"})),
    ):
        reply = attacked.refused(data, 501)
        assert any(what.lower() in text.lower() for text in reply.texts()), reply


def test_a_container_that_is_made_anew(attacked):
    """Every request with the resource id of a deleted container fails at its successor."""
    attacked.make(COLLS, container())
    old = attacked.run("GET", f"{COLLS}/new").json["_rid"]
    attacked.remove(f"{COLLS}/new")
    attacked.make(COLLS, container())
    attacked.held = attacked.state()
    headers = {"x-ms-cosmos-intended-collection-rid": old, "x-ms-documentdb-partitionkey": '["a"]'}
    docs = f"{COLLS}/new/docs"
    for data in (
        request("GET", f"{docs}/1", None, headers),
        request("GET", docs, None, headers),
        request("POST", docs, {"id": "1", "pk": "a"}, headers),
        request("PUT", f"{docs}/1", {"id": "1", "pk": "a"}, headers),
        request("DELETE", f"{docs}/1", None, headers),
        request("PATCH", f"{docs}/1", {"operations": [{"op": "remove", "path": "/x"}]}, headers),
        request(
            "POST",
            docs,
            {"query": "SELECT * FROM c"},
            {**headers, "content-type": "application/query+json"},
        ),
        request(
            "POST",
            docs,
            [{"operationType": "Read", "id": "1"}],
            {**headers, "x-ms-cosmos-is-batch-request": "True"},
        ),
        request("GET", f"{COLLS}/new/pkranges", None, headers),
        request("GET", docs, None, {**headers, "a-im": "Incremental Feed"}),
    ):
        attacked.refused(data, 400, 1024)
    for rid in ("x", "", "AAAAAA==", "A" * 1000, old.lower()):
        attacked.survived(
            request(
                "GET", f"{docs}/1", None, {**headers, "x-ms-cosmos-intended-collection-rid": rid}
            ),
            400,
            404,
        )
    attacked.refused(request("GET", f"/dbs/data/colls/{old}", None), 404, 0, NO_RESOURCE)
    attacked.remove(f"{COLLS}/new")
    attacked.held = attacked.state()


CONTENTS = {
    "none": {},
    "null": {"content": None},
    "empty": {"content": {}},
    "399": {"content": {"offerThroughput": 399}},
    "401": {"content": {"offerThroughput": 401}},
    "0": {"content": {"offerThroughput": 0}},
    "-400": {"content": {"offerThroughput": -400}},
    "400.5": {"content": {"offerThroughput": 400.5}},
    "1e300": {"content": {"offerThroughput": 1e300}},
    "2^63": {"content": {"offerThroughput": 2**63}},
    "text": {"content": {"offerThroughput": "400"}},
    "null inside": {"content": {"offerThroughput": None}},
    "scale of 0": {"content": {"offerAutopilotSettings": {"maxThroughput": 0}}},
    "scale of 999": {"content": {"offerAutopilotSettings": {"maxThroughput": 999}}},
    "scale of 1500": {"content": {"offerAutopilotSettings": {"maxThroughput": 1500}}},
    "scale of text": {"content": {"offerAutopilotSettings": {"maxThroughput": "4000"}}},
}


@pytest.mark.parametrize("what", CONTENTS)
def test_offers(attacked, what):
    offer = attacked.run("GET", "/offers").json["Offers"][0]
    attacked.refused(request("PUT", f"/offers/{offer['_rid']}", CONTENTS[what]), 400)
    attacked.refused(request("PUT", "/offers/none", {"content": {"offerThroughput": 500}}), 400)
    attacked.refused(
        request("PUT", "/offers/AAAAZA==", {"content": {"offerThroughput": 500}}), 404, (0, 1003)
    )
    attacked.refused(
        request(
            "PUT",
            f"/offers/{offer['_rid']}",
            {**offer, "content": {"offerThroughput": 500}},
            {"if-match": '"x"'},
        ),
        412,
    )


SCRIPTS = {
    "no body": {"id": "new"},
    "null body": {"id": "new", "body": None},
    "number body": {"id": "new", "body": 1},
    "3 MB": {"id": "new", "body": "x" * (3 << 20)},
}


@pytest.mark.parametrize("what", SCRIPTS)
@pytest.mark.parametrize("kind", ["sprocs", "triggers", "udfs"])
def test_scripts(attacked, kind, what):
    body = {
        **SCRIPTS[what],
        **({"triggerType": "Pre", "triggerOperation": "All"} if kind == "triggers" else {}),
    }
    attacked.refused(
        request("POST", f"{COLLS}/c/{kind}", body), 413 if what == "3 MB" else 400, within=3
    )


@pytest.mark.parametrize(
    "more",
    [
        {"triggerType": "During"},
        {"triggerType": ""},
        {"triggerOperation": "Read"},
        {"triggerOperation": ""},
    ],
    ids=str,
)
def test_triggers(attacked, more):
    body = {
        "id": "new",
        "body": "function(){}",
        "triggerType": "Pre",
        "triggerOperation": "All",
        **more,
    }
    attacked.refused(request("POST", f"{COLLS}/c/triggers", body), 400)


@pytest.mark.parametrize(
    "arguments",
    ["[]", '["x"]', "{}", "x", "", "[" * 5000, '["' + "x" * 100_000 + '"]'],
    ids=lambda it: it[:8] or "empty",
)
def test_procedures_are_not_run(attacked, arguments):
    """Executing a stored procedure is refused as unsupported, with any arguments."""
    attacked.make(f"{COLLS}/c/sprocs", {"id": "sp", "body": "function(){ while(true); }"})
    attacked.held = attacked.state()
    try:
        reply = attacked.refused(
            request(
                "POST", f"{COLLS}/c/sprocs/sp", arguments, {"x-ms-documentdb-partitionkey": '["a"]'}
            ),
            (501, 400) if not arguments.startswith("[") or len(arguments) == 5000 else 501,
        )
        assert reply.status == 400 or "stored procedures" in reply.texts()[0], reply
    finally:
        attacked.remove(f"{COLLS}/c/sprocs/sp")
        attacked.held = attacked.state()
