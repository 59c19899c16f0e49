"""Paths in a transaction that begins at the instant, and reads at a snapshot of that instant."""

from dataclasses import dataclass
from typing import Any

from ghosts.paths.table import READS, WRITES, Cell, Path, Strange, write
from ghosts.paths.update import by_id, by_key, own, updated

#: Reads of the other tables that also run in a transaction and at a snapshot.
INSIDE = (
    "find by _id",
    "find by index",
    "find by unique index",
    "find by hashed index",
    "find by text index",
    "find by wildcard index",
    "find by distance",
    "find covered",
    "find $or",
    "find all",
    "find all in small batches",
    "find all sorted by index backward",
    "find all sorted in memory",
    "find in a clustered collection",
    "aggregate $match by index",
    "aggregate $count",
    "aggregate $group sum",
    "aggregate $lookup",
    "aggregate $unionWith",
    "distinct",
    "distinct with query",
)


@dataclass
class InSession(Cell):
    """A cell whose commands run in a session."""

    session: Any = None

    def command(self, *args, **more):
        return self.db.command(*args, session=self.session, **more)


def within(c, session):
    return InSession(**vars(c), session=session)


def in_transaction(run):
    def path(c):
        with c.db.client.start_session() as session, session.start_transaction():
            return run(within(c, session))

    return path


class AtSnapshot(Cell):
    """A cell whose reads are at the snapshot of the first one."""

    time = None

    def command(self, name, *args, **more):
        if name == "getMore":
            return super().command(name, *args, **more)
        concern = {"level": "snapshot"}
        if self.time is not None:
            concern["atClusterTime"] = self.time
        reply = super().command(name, *args, readConcern=concern, **more)
        time = reply.get("cursor", reply)["atClusterTime"]
        if self.time not in (None, time):
            raise Strange(f"{time} for {self.time}")
        self.time = time
        return reply


def at_snapshot(run):
    def path(c):
        c = AtSnapshot(**vars(c))
        # The second read names the time of the first one.
        first, second = run(c), run(c)
        if first != second:
            raise Strange(f"{first}, then {second} at one time")
        return first

    return path


for path in [path for path in READS if path.name in INSIDE]:
    READS.append(Path(f"in a transaction: {path.name}", in_transaction(path.run)))
    READS.append(Path(f"at a snapshot: {path.name}", at_snapshot(path.run)))


def write_row(name, run):
    """Adds a write in a transaction, which commits; `run` returns whether it saw the document."""

    def path(c):
        client = c.db.client
        with client.start_session() as session:
            with session.start_transaction():
                seen = run(within(c, session))
            found = own(c)
        if len(found) > 1:
            raise Strange(f"{found}")
        return seen

    WRITES.append(Path(f"in a transaction: {name}", path))


def judged(c, reply, count="n"):
    return c.judge(reply[count], 1, 0)


def deleted(c, **delete):
    return c.command("delete", "w", deletes=[{"limit": 1, **delete}])


write_row("update by _id", lambda c: judged(c, updated(c, by_id(c), {"$set": {"x": 1}})))
write_row("update by index", lambda c: judged(c, updated(c, by_key(c), {"$inc": {"n": 1}})))
write_row("update by scan", lambda c: judged(c, updated(c, {"plain": c.key}, {"$set": {"x": 1}})))
write_row("update of ttl", lambda c: judged(c, updated(c, by_id(c), {"$set": {"ttl": 500}})))
write_row("delete by _id", lambda c: judged(c, deleted(c, q=by_id(c))))
write_row("delete by index", lambda c: judged(c, deleted(c, q=by_key(c))))


def upsert(c):
    change = {"$set": {"k": c.key, "u": c.key, "born": True}}
    reply = updated(c, by_id(c), change, upsert=True)
    [row] = c.rows("find", "w", filter=by_id(c))
    seen = "upserted" not in reply
    if ("plain" in row) != seen:
        raise Strange(f"a mixture: {row}")
    return seen


write_row("upsert", upsert)


def find_and_modify(c):
    reply = c.command("findAndModify", "w", query=by_key(c), update={"$set": {"x": 1}}, new=True)
    return c.judge(bool(reply["value"]), True, False)


write_row("findAndModify", find_and_modify)


@write("in a transaction: insert over the _id")
def _(c):
    # A duplicate aborts the transaction.
    with c.db.client.start_session() as session:
        session.start_transaction()
        try:
            within(c, session).command(
                "insert", "w", documents=[{"_id": c.id, "k": c.key, "new": True}]
            )["writeErrors"]
            seen = True
        except KeyError:
            session.commit_transaction()
            seen = False
    if [row.get("new", False) for row in own(c)] != [not seen]:
        raise Strange(f"{own(c)}")
    return seen
