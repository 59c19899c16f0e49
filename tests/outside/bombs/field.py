"""The server under attack, with a memory limit, an honest client, and a second server that shows
how busy the machine is."""

import contextlib
import os
import pathlib
import resource
import subprocess
import time

from lib.server import EBB_BIN, Server

from bombs import data
from bombs.attack import PATIENCE, throw
from bombs.probe import Probe

#: Value of --memory; operations may have half of it.
MEMORY = 512 << 20
ACCOUNT = MEMORY // 2
#: Resident memory that a server may use in addition to its account and its idle use.
BESIDE = 200 << 20
#: Seconds within which the memory of a bomb is released, except for LEFTOVER bytes.
SETTLED, LEFTOVER = 3.0, 64 << 20
#: Address space beyond that of an idle server; it stops a process that grows without limit.
SPACE = 2 << 30
#: Limit of the honest client's p99 in seconds, beyond that at the server that is not attacked.
P99 = 0.25 * PATIENCE
#: Smallest share of the machine that is assumed; it bounds the extension of the limit by load.
LEAST_LEFT = 0.25
#: Minimum duration of a measurement in seconds, so that there are enough samples for a percentile.
LEAST = 1.6


def bounded():
    """Returns the flag that limits memory, if the binary has it."""
    shown = subprocess.run([EBB_BIN, "serve", "--help"], capture_output=True, text=True, check=True)
    return ["--memory", f"{MEMORY >> 20}MB"] if "--memory " in shown.stdout else []


def status(server, field):
    """Returns a number of bytes from the process's status; None for a process that is exiting."""
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    for line in text.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def processors(pids):
    """Returns the processor time of all processes and that of the given ones, in seconds."""
    tick = os.sysconf("SC_CLK_TCK")
    total = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    # Everything except idle and I/O wait; guest time is part of user time.
    spent = [int(total[at]) for at in (0, 1, 2, 5, 6, 7)]
    own = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            own += int(fields[11]) + int(fields[12])
    return sum(spent) / tick, own / tick


class Field:
    """The servers and the honest client, for all bombs of a module."""

    def __init__(self):
        self.server = Server(data_dir=True, nosql=True, flags=bounded())
        self.control = Server()
        self.probe = None

    def __enter__(self):
        self.server.start()
        data.settle(self.server)
        self.server.leave()
        self.control.start()
        self.control.client[data.DATABASE]["honest"].insert_one(data.HONEST)
        self.start()
        return self

    def __exit__(self, *_):
        self.leave()
        self.server.close()
        self.control.close()

    def start(self):
        self.server.start()
        server = self.server
        # Idle memory use is measured after both APIs have served a request.
        assert server.client[data.DATABASE]["honest"].find_one() is not None
        assert server.items.container(data.DATABASE, "c").read("honest", "honest").status == 200
        self.rest = server.rss()
        space = status(server, "VmSize") + SPACE
        resource.prlimit(server.process.pid, resource.RLIMIT_AS, (space, space))
        self.probe = Probe(server, self.control)

    def leave(self):
        if self.probe:
            self.probe.close()
            self.probe = None

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.server.process.pid}/clear_refs").write_text("5")

    def settle(self):
        """Waits while the memory of the previous bomb is released, so that each bomb is measured by
        its own use. Memory that is never released counts for the next one."""
        until = time.monotonic() + SETTLED
        while self.rest + LEFTOVER < self.server.rss() and time.monotonic() < until:
            time.sleep(0.05)

    def revive(self):
        """Replaces an unusable server, so that later bombs are not affected."""
        self.leave()
        if self.server.alive():
            self.server.kill()
        self.start()

    def throw(self, work, crowd):
        """Runs a bomb; returns all errors, and the kinds of replies."""
        self.settle()
        self.forget_peak()
        self.probe.told()
        began, before = time.monotonic(), self.spent()
        problems, answers = throw(self.server, work, crowd)
        time.sleep(max(0.0, LEAST - (time.monotonic() - began)))
        took = time.monotonic() - began
        left = self.left(took, before, self.spent())
        if status(self.server, "VmHWM") is None:
            self.server.process.wait(60)
        if not self.server.alive():
            code = self.server.process.returncode
            text = self.server.log.read_text(errors="replace")[-300:]
            self.revive()
            return [f"the server ended with {code}: {text}"], answers, took
        problems += self.patience(left) + self.memory()
        return problems, answers, took

    def spent(self):
        """Returns the processor time of all processes, and that of the processes of this test."""
        mine = [self.server.process.pid, self.control.process.pid, self.probe.pid, os.getpid()]
        return processors(mine)

    @staticmethod
    def left(took, before, after):
        """Returns the share of the machine that other processes left to this test."""
        others = (after[0] - before[0]) - (after[1] - before[1])
        return max(LEAST_LEFT, 1 - max(0.0, others) / (took * os.cpu_count()))

    def patience(self, left):
        """Returns the errors and delays of the honest client, adjusted to the machine's load."""
        told, wrong = self.probe.told(), []
        limit = P99 / left + told["control"]["p99"]
        for door in ("mongo", "nosql"):
            wrong += [f"the honest client: {problem}" for problem in told[door]["problems"]]
            if limit < told[door]["p99"]:
                wrong.append(
                    f"p99 at {door} {told[door]['p99'] * 1000:.0f} ms of {told[door]['count']}, "
                    f"beside an idle server {told['control']['p99'] * 1000:.0f} ms, with "
                    f"{left:.0%} of the machine"
                )
        return wrong

    def memory(self):
        """Checks the peak of resident memory."""
        peak, most = status(self.server, "VmHWM"), self.rest + ACCOUNT + BESIDE
        if peak <= most:
            return []
        self.revive()
        return [f"{peak >> 20} MB were resident, {most >> 20} are allowed"]
