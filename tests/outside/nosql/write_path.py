"""The write paths by which an item gets a `ttl`."""

import json

WRITE_PATHS = (
    "create",
    "upsert",
    "upsert over",
    "replace",
    "patch set",
    "patch add",
    "batch create",
    "batch upsert",
    "batch replace",
    "batch patch",
    "bulk create",
)


class WritePath:
    """Writes a value as the `ttl` of an item by one path; raw JSON, so that 5.0 differs from 5."""

    def __init__(self, container, write_path, text, more=()):
        self.container, self.write_path = container, write_path
        self.body = self.item({**dict(more), "ttl": "@"}).replace(b'"@"', text.encode())
        self.put = json.dumps(
            {"op": "add" if write_path == "patch add" else "set", "path": "/ttl", "value": "@"}
        ).replace('"@"', text)

    def item(self, more=()):
        return json.dumps({"id": "a", "pk": "a", **dict(more)}).encode()

    def prepare(self):
        """Creates the item for paths that change an existing one."""
        if not any(word in self.write_path for word in ("over", "replace", "patch")):
            return None
        reply = self.call("POST", "", self.item({"first": True}))
        assert reply.status == 201, reply
        return reply.json

    def call(self, method, path, body, headers=()):
        key = {"x-ms-documentdb-partitionkey": '["a"]'}
        return self.container.client.call(
            method, self.container.docs + path, body, {**key, **dict(headers)}
        )

    def run(self):
        """Returns the reply, the status of the write, and the message of a refusal."""
        if self.write_path.startswith(("batch", "bulk")):
            return self.batch()
        reply = {
            "create": lambda: self.call("POST", "", self.body),
            "upsert": self.upsert,
            "upsert over": self.upsert,
            "replace": lambda: self.call("PUT", "/a", self.body),
            "patch set": self.patch,
            "patch add": self.patch,
        }[self.write_path]()
        return reply, reply.status

    def upsert(self):
        return self.call("POST", "", self.body, {"x-ms-documentdb-is-upsert": "true"})

    def patch(self):
        body = f'{{"operations":[{self.put}]}}'.encode()
        return self.call("PATCH", "/a", body, {"content-type": "application/json-patch+json"})

    def batch(self):
        kind = self.write_path.split()[1].capitalize()
        body = self.body if kind != "Patch" else f'{{"operations":[{self.put}]}}'.encode()
        id = b'"id":"a",' if kind in ("Patch", "Replace") else b""
        key = b'"partitionKey":"[\\"a\\"]",' if self.write_path.startswith("bulk") else b""
        atomic = "False" if key else "True"
        sent = b'[{"operationType":"%s",%s%s"resourceBody":%s}]' % (kind.encode(), id, key, body)
        headers = {
            "x-ms-cosmos-is-batch-request": "True",
            "x-ms-cosmos-batch-atomic": atomic,
            "x-ms-cosmos-batch-continue-on-error": "True" if key else "False",
        }
        if key:
            headers["x-ms-documentdb-partitionkeyrangeid"] = "0"
        reply = self.call("POST", "", sent, headers)
        if reply.status not in (200, 207):
            return reply, reply.status
        [one] = reply.json
        return reply, one["statusCode"]
