"""A server with 512 MB gets concurrent requests for more: two hundred clients that write a document
of 16 MB each, and sorts and groups of all of it. It refuses requests that do not fit with a clear
error, keeps its memory limit, and ends nothing but requests. WRITERS is the number of clients
(default 12; 200 with --torture).
"""

import os
import socket
import struct
import threading
import time

import bson
from bombs.data import DATABASE
from lib.seed import TORTURE
from lib.server import Server

WRITERS = int(os.environ.get("WRITERS", 200 if TORTURE else 12))
MEMORY, BEYOND = 512 << 20, 200 << 20
#: Bytes of a document: nearly the maximum.
LARGE = (16 << 20) - 1024
#: Error codes for missing memory or disk space, and for a result that is larger than a document.
REFUSED = {365, 14031, 292, 146, 91, 10334}
PATIENCE = 180


def frame(body, *sections):
    parts = b"\0\0\0\0\0" + bson.encode(body) + b"".join(sections)
    return struct.pack("<iiii", 16 + len(parts), 1, 0, 2013) + parts


def documents(*rows):
    content = b"documents\0" + b"".join(bson.encode(row) for row in rows)
    return b"\x01" + struct.pack("<i", len(content) + 4) + content


INSERT = frame({"insert": "large", "$db": DATABASE}, documents({"k": 1, "pad": "x" * LARGE}))
QUESTIONS = [
    {"aggregate": "large", "pipeline": [{"$sort": {"pad": 1}}], "cursor": {"batchSize": 1}},
    {
        "aggregate": "large",
        "pipeline": [{"$group": {"_id": "$k", "all": {"$push": "$pad"}}}],
        "cursor": {},
    },
    {
        "aggregate": "large",
        "pipeline": [{"$sort": {"pad": -1}}, {"$limit": 50}],
        "allowDiskUse": False,
        "cursor": {},
    },
]


class Client(threading.Thread):
    """Sends messages one after the other and records the codes of the replies, 0 for success."""

    def __init__(self, address, messages, gate):
        super().__init__(daemon=True)
        self.address, self.messages, self.gate = address, messages, gate
        self.codes, self.problem = [], None

    def run(self):
        try:
            with socket.create_connection(self.address, PATIENCE) as wire:
                # The first message of a connection has to be a small one.
                wire.sendall(frame({"ping": 1, "$db": "admin"}))
                answer(wire)
                self.gate.wait(60)
                for message in self.messages:
                    wire.sendall(message)
                    reply = answer(wire)
                    errors = reply.get("writeErrors", [])
                    self.codes.append(errors[0]["code"] if errors else reply.get("code", 0))
        except (OSError, ValueError) as problem:
            self.problem = repr(problem)


def exactly(wire, count):
    parts = []
    while count:
        part = wire.recv(min(count, 1 << 20))
        if not part:
            raise ValueError("closed instead of an answer")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def answer(wire):
    length = struct.unpack("<i", exactly(wire, 4))[0]
    return bson.decode(exactly(wire, length - 4)[12 + 5 :])


def together(server, messages, count):
    """Runs clients concurrently; returns the numbers of successes and refusals, and the errors."""
    gate = threading.Barrier(count)
    clients = [Client(server.address, messages, gate) for _ in range(count)]
    for one in clients:
        one.start()
    for one in clients:
        one.join(PATIENCE + 60)
    wrong = [one.problem for one in clients if one.problem]
    wrong += [f"{one.codes}" for one in clients if one.is_alive()]
    codes = [code for one in clients for code in one.codes]
    wrong += [f"code {code}" for code in set(codes) - REFUSED - {0}]
    return codes.count(0), len(codes) - codes.count(0), wrong


def test_more_than_memory(report):
    flags = ["--memory", str(MEMORY)]
    with Server(data_dir=True, nosql=True, flags=flags) as server:
        written, refused, wrong = together(server, [INSERT], WRITERS)
        questions = [frame({**question, "$db": DATABASE}) for question in QUESTIONS]
        answered, too_much, more = together(server, questions, 4)
        most = server.most_rss()
        began = time.monotonic()
        assert server.alive(), server.log.read_text(errors="replace")[-500:]
        rows = server.client[DATABASE]["large"]
        assert rows.count_documents({}) == written
        rows.insert_one({"_id": "after"})
        took = time.monotonic() - began
        rows.drop()
        server.end()
    report(
        "F17",
        WRITERS,
        "clients that write 16 MB each into 512 MB",
        written=written,
        refused=refused,
        questions=f"{answered} answered, {too_much} refused",
        peak=f"{most >> 20} MiB",
    )
    assert wrong + more == [], (wrong + more)[:5]
    assert written > 0 and most < MEMORY + BEYOND, f"{most >> 20} MiB were held"
    assert took < 30, f"{took:.1f} s until a small write was done afterwards"
