#!/usr/bin/env python3
"""Measures backups: the speed of backup, verification and restore, and the latency of a client.

    bench/backup.py [DOCUMENTS]

Fills a new directory with documents of 1 KB (1,200,000 by default), takes a backup while one client
finds and inserts in turn, and prints the client's latencies before, during and after it. EBB_BIN
names the program; by default it is that of `cargo build --release`. Needs pymongo.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import pymongo

EBB = os.environ.get("EBB_BIN") or pathlib.Path(__file__).parents[1] / "target/release/ebb"
WORDS = [f"{random.getrandbits(40):x}" for _ in range(3_000)]
BATCH = 1_000


class Server:
    """A server on a directory."""

    def __init__(self, home):
        ready = home / "ready"
        ready.unlink(missing_ok=True)
        words = [EBB, "serve", "--data-dir", home / "data", "--ready-file", ready]
        words += ["--mongo-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"]
        words += ["--cosmos-addr", "off", "--log-level", "warn"]
        self.process = subprocess.Popen(words)
        while not ready.exists():
            assert self.process.poll() is None, "the server does not start"
            time.sleep(0.05)
        told = json.loads(ready.read_text())
        self.admin = told["admin"]
        self.client = pymongo.MongoClient(f"mongodb://{told['mongo']}/?directConnection=true")

    def end(self):
        self.client.close()
        self.process.terminate()
        self.process.wait()


def document(number):
    """Returns a document of about 1 KB, half of which is compressible."""
    return {
        "_id": number,
        "k": number % 1_000,
        "name": random.choice(WORDS),
        "text": " ".join(random.choices(WORDS, k=70)),
        "noise": random.randbytes(150),
        "at": number * 1.5,
    }


def fill(rows, count):
    rows.create_index("k")
    for first in range(0, count, BATCH):
        batch = [document(number) for number in range(first, first + BATCH)]
        rows.insert_many(batch, ordered=False)


def work(client, count, until):
    """Finds and inserts in turn; returns how long each took, in milliseconds."""
    took = {"find": [], "insert": []}
    while not until():
        number = random.randrange(count)
        for name, act in [
            ("find", lambda number=number: client.big.rows.find_one({"_id": number})),
            ("insert", lambda: client.big.other.insert_one({"text": "y" * 500})),
        ]:
            began = time.perf_counter()
            act()
            took[name].append(1_000 * (time.perf_counter() - began))
    return took


def for_seconds(seconds):
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def show(what, took):
    for name, times in took.items():
        times.sort()
        half, most = times[len(times) // 2], times[len(times) * 99 // 100]
        print(f"{what:7} {name:6} {len(times):6} p50 {half:.2f} ms p99 {most:.2f} ms", flush=True)


def measured(what, *words):
    """Runs a command of `ebb` with a report in JSON; prints its duration and throughput."""
    began = time.monotonic()
    ended = subprocess.run([EBB, *words, "--json"], stdout=subprocess.PIPE, check=True)
    seconds = time.monotonic() - began
    size = json.loads(ended.stdout).get("bytes", 0) / 1e6
    speed = f"{size / seconds:.0f} MB/s, {size:.0f} MB in " if size else ""
    print(f"{what}: {speed}{seconds:.1f} s", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_200_000
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        home = pathlib.Path(folder)
        server = Server(home)
        fill(server.client.big.rows, count)
        # Restarted, so that background work of the load is done.
        server.end()
        server = Server(home)
        work(server.client, count, for_seconds(10))
        show("before", work(server.client, count, for_seconds(15)))
        target = ["backup", home / "loaded.ebb", "--admin-addr", server.admin]
        taking = threading.Thread(target=measured, args=("backup under load", *target))
        taking.start()
        show("during", work(server.client, count, lambda: not taking.is_alive()))
        show("after", work(server.client, count, for_seconds(15)))
        measured("backup", "backup", home / "quiet.ebb", "--admin-addr", server.admin)
        server.end()
        measured("verify", "verify", home / "quiet.ebb")
        measured("restore", "restore", home / "quiet.ebb", "--data-dir", home / "copy")


main()
