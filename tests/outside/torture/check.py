"""Compares a restarted server with the ledgers, by every index, and counts with what is there."""

import time

from torture.workload import COLLECTIONS

HINTS = {
    "plain": ("k_1", "w_1_n_-1", "own_1"), "inherit": ("k_1", "w_1_n_-1", "own_1"),
    "explicit": ("k_1", "w_1_n_-1", "own_1"), "dates": ("k_1", "own_1", "at_1"),
    "unique": ("u_1",), "counters": (),
}
#: A bound on each index that every document has.
FIRST = {"k_1": {"k": {"$gte": 0}}, "w_1_n_-1": {"w": {"$gte": 0}}, "own_1": {"own": {"$gte": ""}},
         "u_1": {"u": {"$gte": 0}}, "at_1": {"at": {"$exists": True}}}


def documents(db):
    """All documents by (collection, id), read by scan."""
    return {(name, row["_id"]): row for name in HINTS for row in db[name].find()}


def halves(db):
    """Rows without index entries, or the other way round, where nothing can die meanwhile."""
    wrong = []
    for name in ("plain", "unique"):
        rows = {row["_id"]: row for row in db[name].find()}
        for hint in HINTS[name]:
            by_index = {row["_id"]: row for row in db[name].find(FIRST[hint]).hint(hint)}
            if by_index != rows:
                odd = [id for id in by_index.keys() | rows.keys() if by_index.get(id) != rows.get(id)]
                wrong.append(f"{name} by {hint} differs from the scan: {sorted(odd)[:5]}")
        for how, n in (("count", db[name].estimated_document_count()),
                       ("countDocuments", db[name].count_documents({}))):
            if n != len(rows):
                wrong.append(f"{how} of {name} is {n}, there are {len(rows)}")
    for name in COLLECTIONS:
        reply = db.command("validate", name)
        if not reply["valid"]:
            wrong.append(f"validate {name}: {reply['errors'][:3]}")
    values = [row["u"] for row in db["unique"].find()]
    if len(set(values)) != len(values):
        wrong.append(f"the unique index holds a value twice: {sorted(values)}")
    return wrong


def counter(db, writers):
    """The shared counter: no answer twice, none lost, at most the unanswered ones more."""
    answers = sorted(n for writer in writers for n in writer.counted)
    n = db["counters"].find_one({"_id": "shared"})["n"]
    wrong = []
    if len(set(answers)) != len(answers):
        wrong.append("two requests were answered with the same count")
    if answers and n < answers[-1]:
        wrong.append(f"the counter lost: {n} < {answers[-1]}")
    return wrong


def compare(db, writers, crashed):
    """Everything that is wrong after a restart."""
    begin = time.time()
    found = documents(db)
    end = time.time()
    wrong = [text for writer in writers for text in writer.wrong]
    known = {("counters", "shared")}
    for writer in writers:
        ledger = writer.ledger
        known |= ledger.acked.keys() | ledger.pending.keys()
        wrong += ledger.settle(found, begin, end, crashed)
    wrong += [f"nobody wrote {key}" for key in found.keys() - known]
    return wrong + counter(db, writers) + halves(db)
