"""The tables of paths, and the cell that a path runs in. `READS` run on the containers `r` and `v`;
`WRITES` get an item of their own for each instant.
"""

import json
from dataclasses import dataclass
from typing import Any

from lib import paths
from lib.nosql import stripped
from lib.paths import Strange, judge
from lib.texts import NO_ENTITY

#: Status and sub-status of a missing item.
ABSENT = (404, 0)


def plain(row):
    """Returns a row in comparable form: without system properties, one text for equal values."""
    return json.dumps(whole(stripped(row)), sort_keys=True)


def whole(value):
    """Returns the value with whole numbers as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: whole(inner) for name, inner in value.items()}
    return [whole(inner) for inner in value] if isinstance(value, list) else value


def less(rows, others):
    """Returns the rows without one for each of the others."""
    left = list(map(plain, rows))
    for row in others:
        text = plain(row)
        if text in left:
            left.remove(text)
    return left


@dataclass
class Cell:
    """The data of a path: `r` and `v` for reads, or an item of its own in container `w` or `x`."""

    #: The container; `v` has the items of `r`, and a feed of all versions and deletes.
    c: Any
    v: Any
    #: The items written into the containers of reads: controls first.
    items: list
    server: Any
    mortal: dict
    #: The container with a hierarchical partition key.
    h: Any = None
    now: int = 0
    #: The current default TTL of the container.
    default: int | None = None
    #: Whether the expiring items were patched after they were written.
    patched: bool = False
    #: The second of the expiry.
    dies_at: int = 0
    #: For an own item: its partition key, and its first version as the server returned it.
    pk: str = "a"
    old: Any = None
    #: ETags of feeds from before the first write, by container.
    before: Any = None
    prepared: Any = None

    def living(self, alive, scope=None):
        """Returns the items (of a partition) while the expiring ones are live, or later."""
        items = self.items if alive else [item for item in self.items if item["kind"] == "c"]
        return [item for item in items if scope in (None, item["pk"])]

    judge = staticmethod(judge)

    def dies(self, item):
        """Returns whether a live item would expire if the default TTL became one second."""
        return "ttl" not in item

    def dies_soon(self, item):
        """Returns whether a live item will expire within an hour under the current settings."""
        ttl = item.get("ttl", self.default)
        return self.default is not None and 0 < ttl <= 3_600

    def all(self, rows, scope=None):
        """Judges whole items."""
        texts = [sorted(map(plain, self.living(alive, scope))) for alive in (True, False)]
        found = sorted(map(plain, rows))
        if found == texts[0] and texts[0] != texts[1]:
            return True
        if found == texts[1] and texts[0] != texts[1]:
            return False
        raise Strange(f"{[row.get('id') for row in rows]}")

    def there(self, reply, status=200):
        """Judges a point operation: this status, or that the item does not exist."""
        if reply.status == status:
            return True
        if reply.code == ABSENT and NO_ENTITY in reply.error:
            return False
        raise Strange(f"{reply}")

    def agreed(self, answers):
        """Returns the result that all of these agree on."""
        answers = list(answers)
        if len(set(answers)) != 1:
            raise Strange(f"ways disagree: {answers}")
        return answers[0]

    # An item of its own.

    def body(self, **more):
        return {**self.mortal, "id": "t", "pk": self.pk, "u": "u", "n": 1, **more}

    def helper(self, id, **more):
        """Creates an item that does not expire, beside the expiring one."""
        body = {"id": id, "pk": self.pk, "u": id, "ttl": -1, **more}
        reply = self.c.create(body)
        assert reply.status == 201, reply
        return body

    def fresh(self, item, container=None):
        """Checks that an item is new: it has nothing of the expired one, and can be read."""
        container = container or self.c
        assert item["_rid"] != self.old["_rid"], "the former _rid"
        assert item["_etag"] != self.old["_etag"], "the former _etag"
        assert item["_ts"] == self.now // 1000, "not the second of the write"
        read = container.read(item["id"], self.pk)
        assert (read.status, read.json) == (200, item), read
        rows = container.rows("SELECT * FROM c WHERE c.id = 't'", pk=self.pk)
        assert rows == [item], rows

    def nothing(self):
        """Checks that a refused operation left no item under the key of the expired one."""
        assert self.c.read("t", self.pk).code == ABSENT

    def only(self, *ids):
        """Checks that the partition has exactly these items."""
        rows = self.c.rows("SELECT VALUE c.id FROM c", pk=self.pk)
        assert sorted(rows) == sorted(ids), rows


@dataclass(frozen=True)
class Path(paths.Path):
    """A row of the table; `versions` lets it write into the container that keeps all versions."""

    versions: bool = False


TABLE = paths.Table(Path)
READS, WRITES, read, write = TABLE.reads, TABLE.writes, TABLE.read, TABLE.write
