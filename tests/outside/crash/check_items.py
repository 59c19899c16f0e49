"""Compares a restarted server's items with the ledgers, read paths, and both change feeds."""

from lib.nosql import ALL_VERSIONS, LATEST, stripped

from crash import ledgers
from crash.items import CONTAINERS, containers

#: Nothing expires in these, so that successive reads are comparable with any clock.
IMMORTAL = ("plain", "unique", "counters")


class Follower:
    """Reads the feed of all versions in rounds: each must appear once and in order."""

    def __init__(self, client):
        self.live = {}
        self.etag = containers(client)["versions"].changes("*", ALL_VERSIONS)[1]
        self.deaths = 0

    def follow(self, container):
        """Returns the errors in the changes since the last round."""
        wrong = []
        rows, self.etag = container.changes(self.etag, ALL_VERSIONS)
        for row in rows:
            metadata = row["metadata"]
            item = stripped(row["current"])
            key = (
                (metadata.get("partitionKey") or {}).get("pk") or item.get("pk"),
                (metadata.get("id") or item.get("id")),
            )
            kind, was = metadata["operationType"], self.live.get(key)
            if (kind == "create") == (was is not None):
                wrong.append(f"{kind} of {key}, which is {'there' if was else 'not there'}")
            if kind == "delete":
                self.deaths += bool(metadata.get("timeToLiveExpired"))
                if was is not None and stripped(row.get("previous")) != was:
                    wrong.append(f"{key} was {row.get('previous')}, told before as {was}")
                self.live.pop(key, None)
            else:
                self.live[key] = item
        return wrong

    def compare(self, container, stands):
        """Compares the items of the read feed with the items that the feed of versions implies."""
        found = {(row["pk"], row["id"]): stripped(row) for row in container.rows()}
        wrong = self.follow(container)
        if stands and found.keys() != self.live.keys():
            odd = sorted(found.keys() ^ self.live.keys())
            wrong.append(f"by all versions other items live: {odd[:5]}")
        wrong += [
            f"by all versions {key} is {item}, there is {found.get(key)}"
            for key, item in self.live.items()
            if found.get(key) != item
        ]
        return wrong


def paths(container, rows):
    """Returns rows that a query, index or change feed shows, but not the read feed, or reverse."""
    wrong, name = [], container.name
    ids = sorted(row["id"] for row in rows)
    changed, _ = container.changes(None, LATEST)
    for how, found in (
        ("query", container.rows("SELECT VALUE c.id FROM c")),
        ("index", container.rows("SELECT VALUE c.id FROM c WHERE c.n >= -1")),
        ("order", container.rows("SELECT VALUE c.id FROM c ORDER BY c.n", size=50)),
        ("change feed", [row["id"] for row in changed]),
    ):
        if sorted(found) != ids:
            odd = sorted(set(found) ^ set(ids))
            wrong.append(f"{name} by {how} differs from the read feed: {odd[:5]}")
    [n] = container.rows("SELECT VALUE COUNT(1) FROM c")
    if n != len(ids):
        wrong.append(f"COUNT of {name} is {n}, there are {len(ids)}")
    return wrong


def compare_items(server, times, writers, follower, crashed):
    """Returns all errors after a restart."""
    made = containers(server.items)
    begin = times.low()
    rows = {name: made[name].rows() for name in CONTAINERS}
    end = times.high()
    found = {(name, row["id"]): stripped(row) for name in CONTAINERS for row in rows[name]}
    wrong = ledgers.settle(found, (begin, end), writers, crashed)
    for name in CONTAINERS:
        if times.stands or name in IMMORTAL:
            wrong += paths(made[name], rows[name])
    wrong += ledgers.unique(rows["unique"], "the unique key is held")
    wrong += ledgers.counter(found["counters", "shared"]["n"], writers)
    return wrong + follower.compare(made["versions"], times.stands)
