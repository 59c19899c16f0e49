"""Transactions that append to lists in two databases, with a record of what each of them read and
whether its commit was acknowledged, and the check of these records.

The check searches for the anomalies that snapshot isolation excludes. The final lists show the
order of the commits that appended to them, so that the version that each read returned is known:

* an acknowledged append is missing, an aborted one is present, or one is present twice (G1a, loss);
* a transaction read an intermediate state of another, or appends to a list in part (G1b);
* two reads of one transaction belong to no common state, or a read returned no prefix (G-single);
* two transactions appended to the version that both had read (a lost update).
"""

import random
import uuid

import bson
from badinput.wire import Wire, command, msg

from crash.clients import Untiring

#: The lists: databases, collections and ids.
PLACES = [(database, "lists", key) for database in ("one", "two") for key in range(4)]
#: Codes after which a transaction is repeated: conflicts and an abort by time.
CONFLICTS = (112, 246, 251)


class Transaction:
    """What one transaction has read and appended. `committed` is None while it is unknown."""

    def __init__(self, name, lsid, number):
        self.name, self.lsid, self.number = name, lsid, number
        self.reads, self.appends, self.committed = {}, {}, False


class Failed(Exception):
    """A command has failed with this reply."""

    def __init__(self, reply):
        super().__init__(str(reply))
        self.reply, self.code = reply, reply["code"]


class Connection(Wire):
    """A connection that sends the session and the number of a transaction, which drivers would
    replace by their own."""

    def run(self, transaction, database, first, *fields):
        """Runs a command in a transaction; returns its reply."""
        of = [
            ("lsid", transaction.lsid),
            ("txnNumber", bson.Int64(transaction.number)),
            ("autocommit", False),
        ]
        reply = self.ask(msg(command(first, *fields, *of, db=database)), within=20.0)
        if reply is None:
            raise ConnectionError("the server has closed the connection")
        if reply["ok"] != 1.0 or "writeErrors" in reply:
            raise Failed(reply)
        return reply


class Transferring(Untiring):
    """A client that runs transactions until its server stops."""

    PAUSE = 0.001

    def __init__(self, server, seed):
        self.rng, self.done = random.Random(seed), []
        self.lsid = {"id": bson.Binary(uuid.UUID(int=self.rng.getrandbits(128)).bytes, 4)}
        self.number = 0
        self.begin(f"transferring {seed}", server)

    def open(self, server):
        self.client = Connection(server.address)

    def is_end(self, error):
        return isinstance(error, OSError)

    def step(self):
        self.number += 1
        name = f"{self.lsid['id'].hex()}-{self.number}"
        transaction = Transaction(name, self.lsid, self.number)
        self.done.append(transaction)
        try:
            self.statements(transaction)
            # From here on the outcome is unknown until the reply.
            transaction.committed = None
            self.client.run(transaction, "admin", ("commitTransaction", 1))
            transaction.committed = True
        except Failed as error:
            if error.code not in CONFLICTS:
                raise
            transaction.committed = False

    def statements(self, transaction):
        places = self.rng.sample(PLACES, self.rng.randint(2, 4))
        starts = [("startTransaction", True)]
        for database, collection, key in places:
            fields = [("filter", {"_id": key}), *starts]
            reply = self.client.run(transaction, database, ("find", collection), *fields)
            starts = []
            found = reply["cursor"]["firstBatch"]
            transaction.reads[database, collection, key] = found[0]["v"] if found else []
        for database, collection, key in places[: self.rng.randint(1, 3)]:
            push = {"q": {"_id": key}, "u": {"$push": {"v": transaction.name}}, "upsert": True}
            transaction.appends[database, collection, key] = transaction.name
            fields = [("updates", [push])]
            self.client.run(transaction, database, ("update", collection), *fields)


def repeat_commits(server, transactions):
    """Repeats the commits without a reply, which must be answered by the outcome of the first."""
    with Connection(server.address) as connection:
        for transaction in transactions:
            if transaction.committed is not None:
                continue
            try:
                connection.run(transaction, "admin", ("commitTransaction", 1))
                transaction.committed = True
            except Failed as error:
                assert error.code == 251, error
                assert error.reply["errorLabels"] == ["TransientTransactionError"]
                transaction.committed = False


def final_lists(client):
    """Returns the lists as they are stored."""
    found = {}
    for database, collection, key in PLACES:
        document = client[database][collection].find_one({"_id": key})
        found[database, collection, key] = document["v"] if document else []
    return found


def anomalies(lists, transactions):
    """Returns the anomalies of these transactions, given the final lists."""
    wrong = []
    for place, values in lists.items():
        if len(set(values)) != len(values):
            wrong.append(f"{place}: an append is present twice")
    for transaction in transactions:
        present = {p for p, name in transaction.appends.items() if name in lists[p]}
        if transaction.committed is True and present != set(transaction.appends):
            wrong.append(f"{transaction.name}: acknowledged, but only in {present}")
        if transaction.committed is False and present:
            wrong.append(f"{transaction.name}: aborted, but in {present}")
        if transaction.committed is None and present not in (set(), set(transaction.appends)):
            wrong.append(f"{transaction.name}: in part, in {present}")
        wrong += misread(transaction, lists)
    return wrong


def misread(transaction, lists):
    """Returns the reads of a transaction that no snapshot could return. A snapshot is a prefix of
    each list, and contains a transaction in all lists or in none.
    """
    wrong, seen, unseen = [], set(), set()
    for place, read in transaction.reads.items():
        if read != lists[place][: len(read)]:
            wrong.append(f"{transaction.name}: {place} was {read}, no prefix of the final list")
        seen |= set(read)
        unseen |= set(lists[place][len(read) :])
        if transaction.committed is True and place in transaction.appends:
            rest = lists[place][len(read) :]
            if rest[:1] != [transaction.name]:
                wrong.append(f"{transaction.name}: {place} was changed between read and append")
    if seen & unseen:
        wrong.append(f"{transaction.name}: read {seen & unseen} in some lists and not in others")
    return wrong
