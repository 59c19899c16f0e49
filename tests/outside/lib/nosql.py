"""A small client of the NoSQL API: sends signed requests over one persistent connection. It knows
routes and headers and checks nothing; tests check the replies.
"""

import http.client
import json
import select
import urllib.parse
from email.utils import formatdate

from lib.signature import KEY, authorization, whose

SYSTEM = ("_rid", "_self", "_etag", "_attachments", "_ts", "_lsn")
#: Limit of the pages of one reply, more than any test needs.
PAGES = 20_000

UPSERT = {"x-ms-documentdb-is-upsert": "True"}
QUERY = {
    "content-type": "application/query+json",
    "x-ms-documentdb-isquery": "True",
    "x-ms-documentdb-query-enablecrosspartition": "True",
}
PLAN = {
    "content-type": "application/query+json",
    "x-ms-cosmos-is-query-plan-request": "True",
    "x-ms-cosmos-query-version": "1.4",
    "x-ms-cosmos-supported-query-features": "NonValueAggregate, Aggregate, Distinct, "
    "MultipleOrderBy, OffsetAndLimit, OrderBy, Top, CompositeAggregate, GroupBy, "
    "MultipleAggregates, NonStreamingOrderBy, ListAndSetAggregate, CountIf",
}
LATEST = {"a-im": "Incremental Feed"}
ALL_VERSIONS = {
    "a-im": "Full-Fidelity Feed",
    "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15",
}
RANGE = {"x-ms-documentdb-partitionkeyrangeid": "0"}
#: The key range that contains only the partition key "a".
RANGE_OF_A = {
    "x-ms-documentdb-partitionkeyrangeid": "0",
    "x-ms-read-key-type": "EffectivePartitionKeyRange",
    "x-ms-start-epk": "3A5381E1114EB8D3FCC90795045B49B7",
    "x-ms-end-epk": "3A5381E1114EB8D3FCC90795045B49B8",
}


def if_match(etag):
    return {"if-match": etag}


def if_none_match(etag):
    return {"if-none-match": etag}


def of_partition(key):
    """Returns the header of a partition key: one value, or the list of values of a hierarchical
    key."""
    return {"x-ms-documentdb-partitionkey": json.dumps(key if isinstance(key, list) else [key])}


def stripped(item):
    """Returns an item without its system properties."""
    if not isinstance(item, dict):
        return item
    return {name: value for name, value in item.items() if name not in SYSTEM}


def fits(changes, size):
    """Returns whether a page of a change feed has at most `size` rows, or more only because the
    rows of one commit stay together."""
    stamps = [row["metadata"]["lsn"] if "metadata" in row else row["_lsn"] for row in changes]
    return size is None or len(stamps) <= size or stamps[size - 1] == stamps[-1]


class Reply:
    """Status, headers and body of one reply."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def substatus(self):
        return int(self.headers.get("x-ms-substatus") or 0)

    @property
    def code(self):
        """Status and sub-status."""
        return self.status, self.substatus

    @property
    def etag(self):
        return self.headers.get("etag")

    @property
    def continuation(self):
        return self.headers.get("x-ms-continuation")

    @property
    def error(self):
        """The messages of an error, one a line."""
        message = self.json["message"]
        inner = message.removeprefix("Message: ").split("\r\n")[0]
        try:
            inner = json.loads(inner)
        except ValueError:
            return message
        texts = inner.get("Errors") or [one["message"] for one in inner.get("errors", [])]
        return "\n".join(texts)

    def __repr__(self):
        return f"{self.status}/{self.substatus} {self.body[:400].decode(errors='replace')}"


class Client:
    """One connection to the API; not thread-safe."""

    def __init__(self, address, key=KEY, timeout=60):
        self.address, self.key, self.timeout = address, key, timeout
        self.connection = None

    def again(self):
        """Returns another client of the same server."""
        return Client(self.address, self.key, self.timeout)

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def was_closed(self):
        """Returns whether the server has closed the connection, as after 4 idle minutes."""
        if self.connection.sock is None:
            return False
        # Between two responses the only thing to read is the end of the stream.
        ready = select.poll()
        ready.register(self.connection.sock, select.POLLIN)
        return bool(ready.poll(0))

    def call(self, method, path, body=None, headers=(), signed=None):
        """Sends a request. `path` is also the link that is signed, unless `signed` gives (type,
        link)."""
        kind, link = signed or whose(path)
        date = formatdate(usegmt=True)
        sent = {
            "authorization": authorization(method, kind, link, date, self.key),
            "x-ms-date": date,
            "x-ms-version": "2020-07-15",
            "accept": "application/json",
            "cache-control": "no-cache",
        }
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["content-type"] = "application/json"
        sent.update(headers)
        if self.connection and self.was_closed():
            self.close()
        if self.connection is None:
            self.connection = http.client.HTTPConnection(*self.address, timeout=self.timeout)
        try:
            self.connection.request(method, urllib.parse.quote("/" + path, safe="/=-"), data, sent)
            reply = self.connection.getresponse()
            return Reply(reply.status, reply.headers, reply.read())
        except BaseException:
            self.close()
            raise

    # Databases and containers.

    def create_database(self, name):
        return self.call("POST", "dbs", {"id": name})

    def container(self, database, name):
        return Container(self, database, name)


class Container:
    """Requests to one container and its items. Each returns a `Reply`, or the rows of all pages."""

    def __init__(self, client, database, name):
        self.client, self.database, self.name = client, database, name
        self.link = f"dbs/{database}/colls/{name}"
        self.docs = f"{self.link}/docs"

    def through(self, client):
        return Container(client, self.database, self.name)

    def definition(self, **more):
        return {
            "id": self.name,
            "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
            **more,
        }

    def define(self, **more):
        return self.client.call("POST", f"dbs/{self.database}/colls", self.definition(**more))

    def redefine(self, **more):
        return self.client.call("PUT", self.link, self.definition(**more))

    def get(self, headers=()):
        return self.client.call("GET", self.link, None, headers)

    # Items.

    def create(self, body, headers=(), pk=None):
        key = of_partition(body.get("pk", {}) if pk is None else pk)
        return self.client.call("POST", self.docs, body, {**key, **dict(headers)})

    def upsert(self, body, headers=()):
        return self.create(body, {**UPSERT, **dict(headers)})

    def read(self, id, pk, headers=()):
        key = of_partition(pk)
        return self.client.call("GET", f"{self.docs}/{id}", None, {**key, **dict(headers)})

    def replace(self, body, headers=(), id=None):
        link, key = f"{self.docs}/{id or body['id']}", of_partition(body["pk"])
        return self.client.call("PUT", link, body, {**key, **dict(headers)})

    def patch(self, id, pk, operations, condition=None, headers=()):
        body = {"operations": operations, **({"condition": condition} if condition else {})}
        more = {"content-type": "application/json-patch+json", **of_partition(pk), **dict(headers)}
        return self.client.call("PATCH", f"{self.docs}/{id}", body, more)

    def delete(self, id, pk, headers=()):
        key = of_partition(pk)
        return self.client.call("DELETE", f"{self.docs}/{id}", None, {**key, **dict(headers)})

    def batch(self, pk, operations):
        """Runs a transactional batch in one partition."""
        headers = {
            "x-ms-cosmos-is-batch-request": "True",
            "x-ms-cosmos-batch-atomic": "True",
            "x-ms-cosmos-batch-continue-on-error": "False",
            **of_partition(pk),
        }
        return self.client.call("POST", self.docs, operations, headers)

    def bulk(self, operations):
        """Runs operations one by one; each names its partition key."""
        headers = {
            "x-ms-cosmos-is-batch-request": "True",
            "x-ms-cosmos-batch-atomic": "False",
            "x-ms-cosmos-batch-continue-on-error": "True",
            **RANGE,
        }
        return self.client.call("POST", self.docs, operations, headers)

    def remove_partition(self, pk):
        return self.client.call(
            "POST", f"{self.link}/operations/partitionkeydelete", b"", of_partition(pk)
        )

    # Queries and feeds.

    def page(self, query, pk=None, size=None, after=None, parameters=(), headers=()):
        """Returns one page of a query, or of the read feed if `query` is None."""
        sent = {**(QUERY if query else {}), **({} if pk is None else of_partition(pk))}
        if size:
            sent["x-ms-max-item-count"] = str(size)
        if after:
            sent["x-ms-continuation"] = after
        sent.update(headers)
        if query is None:
            return self.client.call("GET", self.docs, None, sent)
        body = {"query": query, "parameters": list(parameters)}
        return self.client.call("POST", self.docs, body, sent)

    def rows(self, query=None, **more):
        """Returns the rows of all pages."""
        return self.rest(query, None, **more)[0]

    def rest(self, query, after, **more):
        """Returns the rows of the pages after a continuation token, and the number of pages."""
        found, pages = [], 0
        while True:
            reply = self.page(query, after=after, **more)
            assert reply.status == 200, f"{query}: {reply}"
            documents = reply.json["Documents"]
            assert reply.json["_count"] == len(documents), reply
            found += documents
            after, pages = reply.continuation, pages + 1
            if not after:
                return found, pages
            assert pages < PAGES, f"{query} does not end"

    def plan(self, query, parameters=()):
        body = {"query": query, "parameters": list(parameters)}
        return self.client.call("POST", self.docs, body, PLAN)

    def changes(self, after=None, mode=LATEST, size=None, headers=RANGE):
        """Returns the changes since an ETag (`*`: now, None: the start), and the new ETag."""
        found = []
        for _ in range(PAGES):
            sent = {**mode, **headers, **(if_none_match(after) if after else {})}
            if size:
                sent["x-ms-max-item-count"] = str(size)
            reply = self.client.call("GET", self.docs, None, sent)
            after = reply.etag
            if reply.status == 304:
                return found, after
            assert reply.status == 200, reply
            documents = reply.json["Documents"]
            assert fits(documents, size), f"{len(documents)} on a page of {size}"
            found += documents
        raise AssertionError("the feed does not end")
