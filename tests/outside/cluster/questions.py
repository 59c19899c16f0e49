"""Single requests to a node, each on its own connection, and their outcomes: done, refused, closed,
or silent. The same requests exist for both APIs: handshake, create, write, read."""

import http.client
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import bson
from badinput.wire import Wire, command, msg
from lib import nosql
from lib.wire import Silence

DATABASE, NAME, SEED = "questions", "c", "seed"
KINDS = ("hello", "create", "write", "read")
#: Limit of the time of a reply in seconds.
PATIENT = 20.0
#: Codes after which drivers retry: not the owner, shutting down, interrupted.
AGAIN = frozenset([91, 189, 10107, 11600, 11602, 13435])
#: How long to wait beyond PATIENT, in seconds, to measure a late reply.
LONGER = 10.0


@dataclass
class Answer:
    """The outcome of a request. `told` is the reply, its value (of a read), or its error."""

    door: str
    node: str
    kind: str
    id: str
    outcome: str = ""
    told: object = None
    took: float = 0.0


class Documents:
    """A connection to the MongoDB API."""

    door = "mongo"

    def __init__(self, node):
        self.wire = Wire(node.address)

    def warm(self):
        assert self.wire.run(("ping", 1), within=PATIENT)["ok"] == 1

    def close(self):
        self.wire.close()

    def body(self, kind, id):
        if kind == "hello":
            return command(("hello", 1), db="admin")
        if kind == "create":
            return command(("create", id), db=DATABASE)
        if kind == "read":
            return command(("find", NAME), db=DATABASE, filter={"_id": SEED})
        # As a driver's retryable write; a repeated write has the same session and number.
        lsid = {"id": bson.Binary.from_uuid(uuid.uuid5(uuid.NAMESPACE_OID, id))}
        number = bson.Int64(1)
        row = {"_id": id}
        return command(("insert", NAME), db=DATABASE, documents=[row], lsid=lsid, txnNumber=number)

    def ask(self, kind, id):
        reply = self.wire.ask(msg(self.body(kind, id)), PATIENT + LONGER)
        if reply is None:
            return "closed", None
        if reply["ok"] != 1 or reply.get("writeErrors"):
            return "refused", reply
        if kind == "read":
            rows = reply["cursor"]["firstBatch"]
            return "done", rows[0]["v"] if rows else None
        return "done", reply

    @staticmethod
    def says_again(kind, reply):
        """Returns whether a refusal makes a driver retry."""
        labels = reply.get("errorLabels", ())
        return reply.get("code") in AGAIN and (kind != "write" or "RetryableWriteError" in labels)


class Items:
    """A connection to the NoSQL API."""

    door = "nosql"

    def __init__(self, node):
        self.client = nosql.Client(node.items.address, timeout=PATIENT + LONGER)
        self.container = self.client.container(DATABASE, NAME)

    def warm(self):
        assert self.client.call("GET", "").status == 200

    def close(self):
        self.client.close()

    def call(self, kind, id):
        if kind == "hello":
            return self.client.call("GET", "")
        if kind == "create":
            return self.client.container(DATABASE, id).define()
        if kind == "read":
            return self.container.read(SEED, "a")
        return self.container.create({"id": id, "pk": "a"})

    def ask(self, kind, id):
        try:
            reply = self.call(kind, id)
        except TimeoutError as error:
            raise Silence(str(error)) from None
        except (OSError, http.client.HTTPException):
            return "closed", None
        if reply.status not in (200, 201):
            return "refused", reply
        return "done", reply.json["v"] if kind == "read" else reply

    @staticmethod
    def says_again(_, reply):
        return reply.status == 503


DOORS = (Documents, Items)


def prepare(node, value):
    """Creates the data to read, and the collection and container to write to."""
    node.client[DATABASE][NAME].insert_one({"_id": SEED, "v": value})
    assert node.items.create_database(DATABASE).status == 201
    container = node.items.container(DATABASE, NAME)
    assert container.define().status == 201
    assert container.create({"id": SEED, "pk": "a", "v": value}).status == 201


def change(node, value):
    node.client[DATABASE][NAME].replace_one({"_id": SEED}, {"v": value})
    reply = node.items.container(DATABASE, NAME).replace({"id": SEED, "pk": "a", "v": value})
    assert reply.status == 200, reply


class Crowd:
    """Clients of some nodes that send requests at the same time, one for each API and kind of
    request. Unless `warm` is false, their connections are opened and used before."""

    def __init__(self, nodes, round, warm=True):
        self.clients = [(node, make, kind) for node in nodes for make in DOORS for kind in KINDS]
        self.pool = ThreadPoolExecutor(len(self.clients))
        self.round = round
        self.connections = [make(node) for node, make, _ in self.clients] if warm else None
        for one in self.connections or ():
            one.warm()

    def ask(self):
        """Sends all requests; `answers` waits for their outcomes."""
        self.asked = [self.pool.submit(self.one, at) for at in range(len(self.clients))]
        return self

    def one(self, at):
        node, make, kind = self.clients[at]
        answer = Answer(make.door, node.name, kind, f"{self.round}-{node.name}-{kind}")
        began = time.monotonic()
        # A connection that closes while it is being opened is an outcome too.
        connection = None
        try:
            connection = self.connections[at] if self.connections else make(node)
            answer.outcome, answer.told = connection.ask(kind, answer.id)
        except Silence:
            answer.outcome = "silent"
        except OSError as error:
            answer.outcome, answer.told = "closed", error
        finally:
            if connection:
                connection.close()
        answer.took = time.monotonic() - began
        return answer

    def answers(self):
        found = [one.result() for one in self.asked]
        self.pool.shutdown()
        return found


def wrong(answers):
    """Returns the outcomes that no client may get."""
    found = [one for one in answers if one.outcome == "silent" or one.took > PATIENT]
    says_again = {make.door: make.says_again for make in DOORS}
    return found + [
        one
        for one in answers
        if one.outcome == "refused" and not says_again[one.door](one.kind, one.told)
    ]


def repeat(answers, node):
    """Sends all retryable writes again, as drivers do, after any outcome: each must succeed with
    exactly one document. Returns the others."""
    found = []
    for one in answers:
        if (one.door, one.kind) == ("mongo", "write"):
            connection = Documents(node)
            outcome, told = connection.ask(one.kind, one.id)
            connection.close()
            if outcome != "done" or told["n"] != 1:
                found.append((one, outcome, told))
    return found


def lost(answers, node):
    """Returns the acknowledged writes that this node does not show."""
    documents = {row["_id"] for row in node.client[DATABASE][NAME].find()}
    names = set(node.client[DATABASE].list_collection_names())
    items = {row["id"] for row in node.items.container(DATABASE, NAME).rows()}
    there = {
        ("mongo", "write"): lambda id: id in documents,
        ("mongo", "create"): lambda id: id in names,
        ("nosql", "write"): lambda id: id in items,
        ("nosql", "create"): lambda id: node.items.container(DATABASE, id).get().status == 200,
    }
    return [
        one
        for one in answers
        if one.outcome == "done"
        and (one.door, one.kind) in there
        and not there[one.door, one.kind](one.id)
    ]


def summary(answers):
    """Returns the number of each outcome, and the longest wait, as text."""
    counts = {}
    for one in answers:
        counts[one.outcome] = counts.get(one.outcome, 0) + 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"{told}, after {max(one.took for one in answers):.1f} s at the longest"
