"""Compares a restarted server with the ledgers, and its indexes and counts with its documents."""

import time

from pymongo.errors import OperationFailure

from crash import ledgers
from crash.workload import COLLECTIONS

ALL = (*COLLECTIONS, "unique", "counters")
#: Nothing expires in these, so that successive reads are comparable with any clock.
IMMORTAL = ("plain", "unique", "counters")
#: Error code of a hint that names a missing index, or one that is still being built.
BAD_VALUE = 2


def documents(db):
    """Returns all documents by (collection, id), read by collection scans."""
    return {(name, row["_id"]): row for name in ALL for row in db[name].find()}


def hinted(collection, index, within=60.0):
    """Returns all rows by an index; waits for a build that a crash interrupted."""
    until = time.monotonic() + within
    while True:
        try:
            return list(collection.find().hint(index))
        except OperationFailure as error:
            # A build may fail, and its index is then removed.
            if index not in collection.index_information():
                return list(collection.find())
            if error.code != BAD_VALUE or until < time.monotonic():
                raise
            time.sleep(0.02)


def await_rules(collection):
    """Waits for TTL indexes whose build resumes after a crash: when one is built, everything due
    expires at once, also between two reads on a clock that stands still."""
    for index in collection.list_indexes():
        if "expireAfterSeconds" in index and "_ts" not in index["key"]:
            hinted(collection, index["name"])


def halves(db, stands):
    """Returns rows without index entries, and the reverse, provided that nothing can expire during
    the check."""
    wrong = []
    for name in ALL if stands else IMMORTAL:
        await_rules(db[name])
        rows = {row["_id"]: row for row in db[name].find()}
        for index in db[name].list_indexes():
            if "_ts" in index["key"]:
                continue
            by_index = {row["_id"]: row for row in hinted(db[name], index["name"])}
            if by_index != rows:
                ids = by_index.keys() | rows.keys()
                odd = sorted(id for id in ids if by_index.get(id) != rows.get(id))
                wrong.append(f"{name} by {index['name']} differs from the scan: {odd[:5]}")
        for how, n in (
            ("count", db[name].estimated_document_count()),
            ("countDocuments", db[name].count_documents({})),
        ):
            if n != len(rows):
                wrong.append(f"{how} of {name} is {n}, there are {len(rows)}")
    for name in ALL:
        reply = db.command("validate", name)
        if not reply["valid"]:
            wrong.append(f"validate {name}: {reply['errors'][:3]}")
    return wrong + ledgers.unique(db["unique"].find(), "the unique index holds a value")


def compare(db, times, writers, crashed):
    """Returns all errors after a restart."""
    begin = times.low()
    found = documents(db)
    end = times.high()
    wrong = ledgers.settle(found, (begin, end), writers, crashed)
    n = db["counters"].find_one({"_id": "shared"})["n"]
    return wrong + ledgers.counter(n, writers) + halves(db, times.stands)
