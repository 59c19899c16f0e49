"""Rounds of backup and restore: a full backup or the next of a chain is taken under the load of
both APIs, sometimes after one that was interrupted or killed or whose server was; it is restored,
sometimes up to an instant or with --rebase-ttl, while deadlines pass; and the restored server shows
the writes of each client acknowledged by then that have not expired, by every path, now and later.

ROUNDS is the number of rounds (default 4; 50 with --torture), SEED seeds them. INSTANTS is the
number of instants up to which one history is restored (default 5; 20 with --torture).
"""

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import closing

import pytest
from lib.seed import SEED, TORTURE
from lib.server import EBB_BIN, Server

from backup.judge import steps_of, wrong_paths
from backup.load import Load, await_all
from backup.tools import (
    at,
    backup,
    environment,
    follow,
    refused,
    reported_ms,
    restore,
    restored,
    rfc3339,
    run,
    sound,
)

#: Rounds for each of the two clocks.
ROUNDS = -(-int(os.environ.get("ROUNDS", 50 if TORTURE else 4)) // 2)
INSTANTS = int(os.environ.get("INSTANTS", 20 if TORTURE else 5))
KEEPS = ["--backup-journal", "1g", "--reap-delay", "0"]
#: Milliseconds by which the system clock of a server is behind the machine's, which restores use.
BEHIND_MS = 3_600_000
#: Weights of the disturbances of a backup, or of its server, before the restored backup.
EVENTS = {"nothing": 6, "interrupt": 2, "kill the backup": 2, "kill the server": 3}
#: Seconds that a restore may take.
SLOW = 60
#: Number of backups of a chain before a new one begins.
CHAIN = 4


def disturbed(words, wait, disturb):
    """Runs a command that is disturbed after a while; returns whether it succeeded nevertheless."""
    process = subprocess.Popen(
        [EBB_BIN, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    time.sleep(wait)
    disturb(process)
    out, error = process.communicate(timeout=60)
    assert b"panicked" not in out + error, error
    return process.returncode == 0


class Rounds:
    """The rounds of one server."""

    def __init__(self, server, home, manual):
        self.server, self.home, self.manual = server, home, manual
        self.random = random.Random(f"{SEED} rounds {manual}")
        self.load = Load(server, SEED, manual)
        self.counts = dict.fromkeys(
            ["full", "incremental", *EVENTS, "up to an instant", "rebased", "restore killed"], 0
        )
        #: Number of rows that restores reported as expired on arrival.
        self.arrived = 0
        self.chain, self.length, self.since = None, 0, None

    def round(self, number):
        load = self.load
        load.begin()
        time.sleep(self.random.uniform(0.2, 0.8))
        if self.length == 0 or self.length == CHAIN:
            if self.chain:
                shutil.rmtree(self.chain)
            self.chain, self.length = self.home / f"chain{number}", 0
        self.disturb()
        least, before = load.done(), len(load.gate.marks)
        flags = ["--incremental"] if self.length else []
        taken = backup(self.server, f"{self.chain}/", *flags)
        bounds = list(zip(least, load.begun(), strict=True))
        assert taken["kind"] == ("incremental" if self.length else "full"), taken
        self.counts[taken["kind"]] += 1
        if not self.length:
            self.since = len(load.gate.marks)
        self.length += 1
        if self.random.random() < 0.3:
            load.kill()
        else:
            load.stop()
        run("verify", f"{self.chain}/")
        self.restore(number, bounds, before)

    def words(self):
        flags = ["--incremental"] if self.length else []
        return ["backup", f"{self.chain}/", *at(self.server), *flags]

    def disturb(self):
        """Disturbs a backup or its server."""
        [event] = self.random.choices(list(EVENTS), EVENTS.values())
        self.counts[event] += 1
        if event == "nothing":
            return
        disturb = {
            "interrupt": lambda process: process.send_signal(signal.SIGINT),
            "kill the backup": lambda process: process.kill(),
            "kill the server": lambda _: self.load.server.process.kill(),
        }[event]
        done = disturbed(self.words(), self.random.uniform(0.01, 0.3), disturb)
        if done:
            self.since = self.since if self.length else len(self.load.gate.marks)
            self.length += 1
        if event == "kill the server":
            self.load.kill()
            self.load.begin()
        if self.chain.exists():
            files = [path for path in self.chain.iterdir() if path.suffix == ".ebb"]
            assert len(files) == self.length, f"{event}: half of a backup: {files}"
        if self.length:
            run("verify", f"{self.chain}/")

    def restore(self, number, bounds, before):
        """Restores the backup, and checks the copy."""
        directory, flags = self.home / f"copy{number}", []
        gate = self.load.gate
        # Instants between the end of the full backup and the beginning of this one.
        among = [mark for mark in range(self.since, before) if gate.is_final(mark)]
        if among and self.random.random() < 0.4:
            chosen = self.random.choice(among)
            flags = ["--to", rfc3339(gate.instants[chosen])]
            bounds = [(step, step) for step in gate.marks[chosen]]
            self.counts["up to an instant"] += 1
        rebase = not self.manual and self.random.random() < 0.5
        if rebase:
            flags.append("--rebase-ttl")
            self.counts["rebased"] += 1
        if self.random.random() < 0.3:
            self.killed_restore(directory, flags, bounds)
        said = restore(f"{self.chain}/", directory, *flags)
        sound(directory)
        Judged(self, directory, flags, bounds, said).run()
        shutil.rmtree(directory)

    def killed_restore(self, directory, flags, bounds):
        """A killed restore leaves a directory that no server accepts, or the whole data."""
        self.counts["restore killed"] += 1
        words = ["restore", f"{self.chain}/", "--data-dir", directory, *flags]
        done = disturbed(words, self.random.uniform(0.01, 0.3), lambda process: process.kill())
        if not directory.exists():
            return
        with closing(Server(data_dir=directory)) as left:
            verified = left.verify()
        assert verified.returncode == 0 or (not done and verified.returncode == 3), verified
        if verified.returncode:
            # Without its mark the directory has no data.
            unmarked = not (directory / "EBB").exists() and not (directory / "store").exists()
            assert unmarked or "was interrupted" in verified.stderr, verified
        elif "--rebase-ttl" not in flags:
            clock = "manual" if self.manual else "system"
            with restored(directory, clock=clock, nosql=True) as copy:
                await_all(copy, self.load.clients)
                _, wrong = steps_of(copy, self.load.clients, bounds, copy.now_ms())
                assert wrong == [], "\n".join(wrong)
        shutil.rmtree(directory)


class Judged:
    """One restored directory, and the server on it."""

    def __init__(self, rounds, directory, flags, bounds, said):
        self.rounds, self.directory, self.bounds, self.said = rounds, directory, bounds, said
        self.flags, self.clients = flags, rounds.load.clients
        self.rebase = "--rebase-ttl" in flags
        self.wall = rounds.home / "copy-wall"
        self.wall.write_text("0")

    def run(self):
        manual = self.rounds.manual
        flags = ["--reap-delay", "0", *([] if manual else ["--test-wall", str(self.wall)])]
        clock = "manual" if manual else "system"
        with restored(self.directory, clock=clock, nosql=True, flags=flags) as copy:
            rng, taken_ms = self.rounds.random, reported_ms(self.said["at"])
            if manual:
                assert copy.now_ms() == taken_ms == reported_ms(self.said["now"])
                # Some rounds let deadlines pass before the first read.
                copy.advance(rng.choice([0, 0, 1, 4_000, 21_000]))
            await_all(copy, self.clients)
            entries = self.entries(copy, taken_ms)
            for later_ms in self.moves(rng):
                self.later(copy, later_ms)
                now, wrong = copy.now_ms(), []
                for client, entry in zip(self.clients, entries, strict=True):
                    wrong += wrong_paths(copy, client, entry, now)
                assert wrong == [], f"{self.said}: " + "\n".join(wrong[:10])
            copy.client["ballast"]["rows"].insert_one({"_id": "new"})
            copy.end()

    def moves(self, rng):
        """Returns the clock's moves between comparisons, in milliseconds."""
        if self.rounds.manual:
            return [0, rng.choice([1, 1_000, 5_000]), rng.choice([10_000, 25_000]), 70_000]
        return [0, 4_500_000, 12_000_000]

    def later(self, copy, ms):
        if self.rounds.manual:
            copy.advance(ms)
        elif ms:
            least = copy.now_ms() + ms - 60_000
            self.wall.write_text(str(int(self.wall.read_text()) + ms))
            follow(copy, least)

    def entries(self, copy, taken_ms):
        """Returns the states that clients may have in the copy, as the restore changes them."""
        anchor = copy.items.container("ballast", "anchors").read("anchor", "a").json["_ts"]
        seconds = anchor - self.rounds.load.anchor
        passed = (reported_ms(self.said["now"]) - taken_ms) / 1_000
        # A restore uses the instant at which it has read everything, rounded up to a second.
        least = passed - SLOW if self.rebase else 0
        assert least < seconds + 1 and seconds <= least + SLOW + 1, (seconds, self.said)

        def moved(entry):
            return entry.moved(taken_ms, seconds) if self.rebase else entry

        now, bounds = copy.now_ms(), self.bounds
        steps, wrong = steps_of(copy, self.clients, bounds, now, moved)
        assert wrong == [], f"{self.flags}, {self.said}: " + "\n".join(wrong)
        held = [
            [client.book.entries[step] for step in among]
            for client, among in zip(self.clients, steps, strict=True)
        ]
        self.count(held, moved, taken_ms)
        return [moved(among[-1]) for among in held]

    def count(self, held, moved, taken_ms):
        """Checks the counts that the command reported, for any of the possible steps."""
        ballast, now = self.rounds.load.ballast(), reported_ms(self.said["now"])
        live = [[entry.count(taken_ms) for entry in among] for among in held]
        left = [[moved(entry).count(now) for entry in among] for among in held]
        told, expired = self.said["documents"], self.said["expired_on_arrival"]
        for number, counts in ((told, live), (told - expired, left)):
            least, most = (ballast + sum(map(which, counts)) for which in (min, max))
            assert least <= number <= most, (self.said, least, most)
        self.rounds.arrived += expired


@pytest.mark.parametrize("clock", ["manual", "system"])
def test_rounds_of_backup_and_restore(tmp_path, clock, report):
    flags, manual = list(KEEPS), clock == "manual"
    if not manual:
        wall = tmp_path / "wall"
        wall.write_text(str(-BEHIND_MS))
        flags += ["--test-wall", str(wall)]
    with Server(data_dir=True, clock=clock, flags=flags, nosql=True) as server:
        rounds = Rounds(server, tmp_path, manual)
        for number in range(ROUNDS):
            try:
                rounds.round(number)
            except AssertionError as error:
                raise AssertionError(f"SEED={SEED}, round {number}: {error}") from error
        steps = rounds.load.steps()
        server.end()
    report(
        "F21",
        ROUNDS,
        f"rounds of backup and restore, {clock} clock",
        seed=SEED,
        steps_acknowledged=steps,
        expired_on_arrival=rounds.arrived,
        **rounds.counts,
    )
    assert steps > 10 * ROUNDS, "hardly any load"


def test_instants_of_one_history(tmp_path, report):
    """Each instant of a history, with a kill in it, has its own state of every client."""
    rng, kept = random.Random(f"{SEED} instants"), tmp_path / "kept"
    with Server(data_dir=True, flags=KEEPS, nosql=True) as server:
        load = Load(server, SEED, manual=True)
        load.begin()
        time.sleep(0.7)
        began = load.gate.now
        backup(server, f"{kept}/")
        first, between = load.gate.now + 1, []
        for part in range(4):
            time.sleep(0.7)
            if part == 2:
                load.kill()
                load.begin()
                time.sleep(0.3)
            between.append(load.gate.now - 1)
            backup(server, f"{kept}/", "--incremental")
        load.stop()
        load.gate.mark(server.now_ms())
        server.advance(1_000)
        backup(server, f"{kept}/", "--incremental")
        last = server.now_ms()
        server.end()
    run("verify", f"{kept}/")
    instants = [last, *between[1:3]]
    while len(instants) < INSTANTS:
        instants.append(rng.randint(first, last))
    for number, to in enumerate(instants[:INSTANTS]):
        directory = tmp_path / f"copy{number}"
        said = restore(f"{kept}/", directory, "--to", rfc3339(to))
        sound(directory)
        with restored(directory, nosql=True) as copy:
            assert copy.now_ms() == to == reported_ms(said["at"])
            await_all(copy, load.clients)
            for later in (0, rng.choice([1, 3_000]), 25_000):
                copy.advance(later)
                wrong, now = [], copy.now_ms()
                for client, step in zip(
                    load.clients, load.gate.marks[load.gate.at(to)], strict=True
                ):
                    wrong += wrong_paths(copy, client, client.book.entries[step], now)
                assert wrong == [], f"SEED={SEED}, up to {to}: " + "\n".join(wrong[:10])
            copy.end()
        shutil.rmtree(directory)
    flags = ["--data-dir", tmp_path / "x", "--to"]
    early = refused("restore", f"{kept}/", *flags, rfc3339(began - 1))
    assert "no full backup that ended by that instant" in early, early
    late = refused("restore", f"{kept}/", *flags, rfc3339(last + 1))
    assert "omit --to" in late, late
    assert not (tmp_path / "x").exists()
    report(
        "F21",
        INSTANTS,
        "instants of one history restored",
        seed=SEED,
        steps_acknowledged=load.steps(),
    )
    assert load.steps() > 100, "hardly any load"
