"""A stream that is resumed after each kill of the server tells every acknowledged write and every
expiration once, in order: applied to a copy, its events yield the collection."""

import os
import random
import threading

from lib.seed import SEED, TORTURE
from lib.server import Server
from pymongo.errors import PyMongoError

ROUNDS = int(os.environ.get("ROUNDS", 50 if TORTURE else 4))
WRITES = 40


class Copy:
    """The documents that the events of a stream yield, by `_id`."""

    def __init__(self):
        self.documents, self.last, self.expired = {}, "", 0

    def apply(self, event):
        token = event["_id"]["_data"]
        assert self.last < token
        self.last = token
        kind, key = event["operationType"], event["documentKey"]["_id"]
        if kind == "insert":
            assert key not in self.documents, event
            self.documents[key] = event["fullDocument"]
        elif kind == "delete":
            assert self.documents.pop(key, None) is not None, event
            self.expired += event.get("expired", False)
        else:
            self.documents[key] = event["fullDocument"]


def follow(coll, copy, token):
    """Applies the events after a token and returns the token after them."""
    options = {"max_await_time_ms": 20, "show_expanded_events": True}
    with coll.watch(resume_after=token, **options) as stream:
        while (event := stream.try_next()) is not None:
            if "documentKey" in event:
                copy.apply(event)
        return stream.resume_token


def test_a_stream_is_resumed_after_kills():
    chance, copy = random.Random(SEED), Copy()
    with Server(data_dir=True, clock="manual") as server:
        coll = server.client.db.coll
        coll.create_index("_ts", expireAfterSeconds=-1)
        with coll.watch() as stream:
            stream.try_next()
            token = stream.resume_token
        for _ in range(ROUNDS):
            killer = threading.Timer(chance.random() / 2, server.process.kill)
            killer.start()
            try:
                for _ in range(WRITES):
                    key = chance.randrange(10)
                    document = {"_id": key, "ttl": chance.choice([-1, 1, 3])}
                    coll.replace_one({"_id": key}, document, upsert=True)
                    if chance.random() < 0.2:
                        server.client.admin.command("ebbClock", 1, advanceSeconds=1)
            except PyMongoError:
                pass
            killer.join()
            server.kill()
            server.start()
            coll = server.client.db.coll
            token = follow(coll, copy, token)
            assert copy.documents == {found["_id"]: found for found in coll.find()}, f"{SEED=}"
        server.client.admin.command("ebbClock", 1, advanceSeconds=10)
        follow(coll, copy, token)
        assert copy.documents == {found["_id"]: found for found in coll.find()}, f"{SEED=}"
        assert copy.expired
