"""Honest clients in a process of their own: each reads one document every few milliseconds, as many
at each API of the server under attack as at a second server that is not attacked. The second server
shows the delays that the machine itself causes; a delay affects one client at a time, so fewer
clients there would see fewer of them.

The arguments are the addresses, and the number of clients of each API; each line of input starts a
new measurement, and prints the previous one as a line of JSON.
"""

import json
import pathlib
import select
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from badinput import wire as documents
from badinput_nosql import wire as items

from bombs.data import DATABASE, HONEST

EVERY = 0.015
#: Timeout of a request in seconds.
GIVE_UP = 20.0
PATH = f"/dbs/{DATABASE}/colls/c/docs/honest"


def read_document(wire):
    reply = wire.run(("find", "honest"), db=DATABASE, filter={"_id": "honest"}, within=GIVE_UP)
    assert reply["ok"] == 1, reply
    assert reply["cursor"]["firstBatch"] == [HONEST], reply


def read_item(wire):
    key = {items.PARTITION_KEY: '["honest"]'}
    reply = wire.ask(items.request("GET", PATH, None, key), GIVE_UP)
    assert reply is not None and reply.status == 200, reply
    assert reply.json["v"] == 1, reply


def corrected(took):
    """Yields the times of one request and of the requests due during it (coordinated omission)."""
    while took > 0:
        yield took
        took -= EVERY


def percentile(times, part=0.99):
    times = sorted(times)
    return times[int(part * (len(times) - 1))] if times else 0.0


class Watch:
    """One client, which sends requests continuously."""

    def __init__(self, kind, address, read):
        self.kind, self.address, self.read, self.wire = kind, address, read, None
        self.times, self.problems = [], []

    def ask(self):
        began = time.monotonic()
        try:
            if self.wire is None:
                self.wire = self.kind.Wire(self.address)
            self.read(self.wire)
        except (AssertionError, OSError, KeyError, ValueError) as problem:
            self.problems.append(repr(problem)[:500])
            if self.wire:
                self.wire.close()
            self.wire = None
        self.times.extend(corrected(time.monotonic() - began))


def told(watches):
    """Returns the combined measurements of the clients of an API."""
    times = [took for watch in watches for took in watch.times]
    return {
        "p99": percentile(times),
        "median": percentile(times, 0.5),
        "longest": max(times, default=0.0),
        "count": len(times),
        "problems": [problem for watch in watches for problem in watch.problems[:3]],
    }


def main():
    mongo, cosmos, control = (address.rsplit(":", 1) for address in sys.argv[1:4])
    many = range(int(sys.argv[4]))
    watches = {
        "mongo": [Watch(documents, (mongo[0], int(mongo[1])), read_document) for _ in many],
        "nosql": [Watch(items, (cosmos[0], int(cosmos[1])), read_item) for _ in many],
        "control": [Watch(documents, (control[0], int(control[1])), read_document) for _ in many],
    }
    each = [watch for those in watches.values() for watch in those]
    while True:
        due = time.monotonic() + EVERY
        for watch in each:
            watch.ask()
        if select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
            if not sys.stdin.readline():
                return
            print(json.dumps({name: told(those) for name, those in watches.items()}), flush=True)
            for watch in each:
                watch.times, watch.problems = [], []


main()
