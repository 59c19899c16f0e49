"""The same history through both APIs of one server leads to the same live documents."""

import os
import random

import pytest
from lib.seed import SEED, TORTURE
from lib.server import Server

COUNT = int(os.environ.get("HISTORIES", 40 if TORTURE else 4))
STEPS = 60
IDS = [f"id{i}" for i in range(8)]


class Doors:
    """A collection and a container with the same TTL setting, written alike."""

    def __init__(self, server):
        self.server = server
        assert server.items.create_database("d").status == 201
        self.container = server.items.container("d", "d")
        assert self.container.define().status == 201
        server.client["d"].create_collection("d")
        self.on = False

    @property
    def collection(self):
        return self.server.client["d"]["d"]

    def write(self, id, n, ttl):
        body = {"n": n, **({} if ttl is None else {"ttl": ttl})}
        found = self.collection.replace_one({"_id": id}, body, upsert=True).matched_count
        reply = self.container.upsert({"id": id, "pk": id, **body})
        assert reply.status == (200 if found else 201), f"{id}: {found}, {reply}"

    def touch(self, id, n):
        found = self.collection.update_one({"_id": id}, {"$set": {"n": n}}).matched_count
        reply = self.container.patch(id, id, [{"op": "set", "path": "/n", "value": n}])
        assert reply.status == (200 if found else 404), f"{id}: {found}, {reply}"

    def delete(self, id):
        found = self.collection.delete_one({"_id": id}).deleted_count
        reply = self.container.delete(id, id)
        assert reply.status == (204 if found else 404), f"{id}: {found}, {reply}"

    def default(self, value):
        if value is None:
            if self.on:
                self.collection.drop_index("_ts_1")
        elif self.on:
            index = {"keyPattern": {"_ts": 1}, "expireAfterSeconds": value}
            self.collection.database.command("collMod", "d", index=index)
        else:
            self.collection.create_index("_ts", expireAfterSeconds=value)
        self.on = value is not None
        more = {} if value is None else {"defaultTtl": value}
        assert self.container.redefine(**more).status == 200

    def compare(self):
        documents = {row["_id"]: row["n"] for row in self.collection.find()}
        items = {row["id"]: row["n"] for row in self.container.rows("SELECT * FROM c")}
        assert documents == items
        count = self.collection.estimated_document_count()
        assert self.container.rows("SELECT VALUE COUNT(1) FROM c") == [count] == [len(items)]
        mongo, nosql = (
            self.server.admin(f"/_ebb/databases/d/collections/d/expiry?door={door}")
            for door in ("mongo", "nosql")
        )
        for part in ("live", "dies_within"):
            assert documents_of(mongo[part]) == documents_of(nosql[part]), part
        assert mongo["default"] == nosql["default"]


def documents_of(amounts):
    """Returns the counts of a part of a forecast, without its bytes."""
    if "documents" in amounts:
        return amounts["documents"]
    return {name: documents_of(inner) for name, inner in amounts.items()}


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_both_doors(seed):
    rng = random.Random(f"{seed} both")
    with Server(data_dir=seed % 2 == 0, flags=["--reap-delay", "0"], nosql=True) as server:
        doors, steps = Doors(server), []
        for n in range(STEPS):
            steps.append(step(doors, rng, n))
            try:
                doors.compare()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error} after {steps}") from error


def step(doors, rng, n):
    """Performs one random step; returns its description."""
    id = rng.choice(IDS)
    kind = rng.choices(
        ["write", "touch", "delete", "move", "default", "restart"], [20, 8, 3, 16, 6, 1]
    )[0]
    if kind == "write":
        # Values that have a meaning in both APIs.
        args = id, n, rng.choice([None, None, -1, 1, 5, 10, 20])
    elif kind == "touch":
        args = id, n
    elif kind == "move":
        args = (rng.choice([1, 500, 999, 1_000, 2_500, 5_000, 9_999]),)
    elif kind == "default":
        args = (rng.choice([None, -1, 3, 10, 30]),)
    else:
        args = (id,) if kind == "delete" else ()
    if kind == "move":
        doors.server.advance(*args)
    elif kind == "restart":
        if doors.server.data_dir:
            doors.server.restart()
    else:
        getattr(doors, kind)(*args)
    return kind, *args
