"""Runs every row of the table of faults, F1 to F23, at the sizes of the gate or of the soak, and
writes what was run as a table: `table.md` to read and `table.json`.

    fault_table.py gate DIRECTORY [F2 F7 ...]
    fault_table.py soak DIRECTORY [F2 F7 ...]

Rows of one lane run one after the other, the lanes beside each other: most of the time a test waits
for the disk or for a server's start. `run` starts this with the right Python and binary.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from lib.report import line

#: How often a bound of time is stretched: four lanes share the machine.
PATIENCE = "5"


@dataclasses.dataclass(frozen=True)
class Row:
    """Tests of one fault. `gate` and `soak` are variables that size them; without `tests` the row
    says where else it is held."""

    fault: str
    what: str
    tests: tuple = ()
    lane: int = 0
    gate: dict = dataclasses.field(default_factory=dict)
    soak: dict = dataclasses.field(default_factory=dict)
    chosen: tuple = ()
    elsewhere: str = ""


def rounds(number):
    return {"ROUNDS": str(number)}


ROWS = [
    Row("F1", "kill -9 at a random time", ("crash/test_kill.py",), 0, rounds(300), rounds(3_000)),
    Row(
        "F1",
        "kill -9 beside reads and swaps of single documents",
        ("crash/test_registers.py",),
        1,
        rounds(30),
        rounds(400),
    ),
    Row(
        "F1",
        "kill -9 beside mortal documents",
        ("crash/test_ttl_oracle.py",),
        1,
        rounds(20),
        rounds(400),
    ),
    Row("F1", "storms of the catalog", ("storm/test_storm.py",), 2, rounds(10), rounds(200)),
    Row("F1", "storms of users and roles", ("crash/test_users.py",), 1, rounds(20), rounds(300)),
    Row(
        "F2",
        "kill -9 beside findAndModify $inc with j: true",
        ("crash/test_counters.py",),
        1,
        rounds(200),
        rounds(2_000),
    ),
    Row(
        "F3",
        "kill at the Nth write, sync and rename",
        ("crash/test_every_call.py",),
        1,
        {"POINTS": "60"},
        {"POINTS": "0"},
    ),
    Row(
        "F4",
        "power cuts, ext4",
        ("power/test_power.py",),
        2,
        rounds(100),
        rounds(1_000),
        ("-k", "ext4"),
    ),
    Row(
        "F4",
        "power cuts, xfs",
        ("power/test_power.py",),
        2,
        rounds(50),
        rounds(400),
        ("-k", "xfs"),
    ),
    Row("F4", "the control of power cuts", ("power/test_control.py",), 2, rounds(5), rounds(30)),
    Row(
        "F5",
        "torn and reordered writes",
        elsewhere="`cargo test -p journal -p store-tree` (every byte of batches and lists)",
    ),
    Row(
        "F6",
        "flipped bits",
        ("flips/test_flips.py",),
        3,
        {"FLIPS": "500"},
        {"FLIPS": "20000"},
    ),
    Row(
        "F7",
        "failing syncs",
        ("faults/test_failed_syncs.py", "faults/test_control.py"),
        3,
        rounds(50),
        rounds(500),
    ),
    Row(
        "F8",
        "full disks",
        ("faults/test_full_disk.py",),
        3,
        rounds(20),
        rounds(200),
        ("-k", "again"),
    ),
    Row("F9", "slow and stalling syncs", ("faults/test_slow_disk.py",), 3),
    Row(
        "F10, F11",
        "clocks that step, forward and back, and after a reboot",
        ("clock/test_steps.py", "clock/test_wall_clock.py", "clock/test_boots.py"),
        0,
    ),
    Row(
        "F12",
        "clocks that drift, swing, step and jitter, and kill -9",
        ("clock/test_skews.py",),
        0,
        rounds(40),
        rounds(2_000),
    ),
    Row("F13", "clocks that stand still or are slow", ("clock/test_pace.py",), 0),
    Row("F14", "SIGSTOP", ("clock/test_stopped.py", "crash/test_pause.py"), 0),
    Row(
        "F15",
        "floods of connections",
        ("floods/test_connections.py",),
        3,
        {"FLOOD_SECONDS": "20", "CONNECTIONS": "20000"},
        {"FLOOD_SECONDS": "600", "CONNECTIONS": "20000"},
    ),
    Row(
        "F16",
        "handshakes without end",
        ("floods/test_handshakes.py",),
        3,
        {"FLOOD_SECONDS": "8"},
        {"FLOOD_SECONDS": "60"},
    ),
    Row(
        "F17",
        "more than memory",
        ("floods/test_memory.py",),
        3,
        {"WRITERS": "60"},
        {"WRITERS": "200"},
    ),
    Row(
        "F18",
        "requests that cost much",
        ("bombs/test_bombs.py",),
        3,
        {"BOMBS": "24"},
        {"TORTURE": "1"},
    ),
    Row(
        "F19",
        "guessing",
        ("floods/test_guessing.py",),
        3,
        {"GUESSES": "10000"},
        {"GUESSES": "100000"},
    ),
    Row("F20", "directories and backups of released formats", ("backup/test_upgrade.py",), 2),
    Row(
        "F20",
        "kill -9 while a directory of a released format is opened",
        ("backup/test_upgrade_kills.py",),
        2,
        {"POINTS": "40", "ROUNDS": "30"},
        {"POINTS": "0", "ROUNDS": "200"},
    ),
    Row(
        "F21",
        "backups during load, full targets, interruptions",
        ("backup/test_full.py", "backup/test_incremental.py", "backup/test_full_target.py"),
        2,
    ),
    Row(
        "F21",
        "rounds of backup and restore, and instants of one history",
        ("backup/test_rounds.py",),
        3,
        {"ROUNDS": "6", "INSTANTS": "5"},
        {"ROUNDS": "50", "INSTANTS": "20"},
    ),
    Row(
        "F22",
        "SIGTERM under load",
        ("crash/test_stop.py", "faults/test_stop.py"),
        1,
        rounds(20),
        rounds(200),
    ),
    Row("F23", "two processes, stale locks, directories", ("crash/test_directories.py",), 1),
]
#: How pytest sums up: `3 passed in 1.2s`.
SUMMARY = (" passed", " failed", " error")


class Run:
    """One row that was run."""

    def __init__(self, row, size):
        self.row, self.sizes = row, getattr(row, size)
        self.told, self.passed, self.output, self.seconds = [], False, "", 0.0

    def command(self):
        sizes = " ".join(f"{name}={value}" for name, value in self.sizes.items())
        return " ".join([*([sizes] if sizes else []), "tests/outside/run", *self.arguments()])

    def arguments(self):
        return [*self.row.tests, *self.row.chosen]

    def run(self):
        began = time.monotonic()
        with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as told:
            env = {"PATIENCE": PATIENCE, **os.environ, **self.sizes, "FAULTS_TOLD": told.name}
            command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
            ended = subprocess.run(
                [*command, *self.arguments()],
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            self.told = [json.loads(text) for text in told]
        self.seconds = time.monotonic() - began
        self.output, self.passed = ended.stdout + ended.stderr, ended.returncode == 0

    def lines(self):
        """What it says: a line for each report, or how many tests passed."""
        if not self.passed:
            return [f"{self.row.fault:<4} FAILED: {self.row.what}, {self.seconds:.0f} s"]
        own = [line(told) for told in self.told if told["fault"] == self.row.fault]
        return own or [f"{self.row.fault:<4} {self.summary()}: {self.row.what}"]

    def summary(self):
        """The last line of pytest."""
        lines = [it for it in self.output.splitlines() if any(word in it for word in SUMMARY)]
        return lines[-1].strip("= ") if lines else "nothing ran"

    def as_json(self):
        return {
            "fault": self.row.fault,
            "what": self.row.what,
            "command": self.command(),
            "passed": self.passed,
            "seconds": round(self.seconds, 1),
            "summary": self.summary(),
            "told": self.told,
        }

    def as_markdown(self):
        """Its lines of the table."""
        rows = [told for told in self.told if told["fault"] == self.row.fault]
        count = "; ".join(f"{told['count']:,} {told['what']}" for told in rows) or self.summary()
        figures = "; ".join(
            f"{name.replace('_', ' ')} {value}"
            for told in rows
            for name, value in told["figures"].items()
        )
        lost = sum(told["lost"] for told in rows) if self.passed else "FAILED"
        cells = [self.row.fault, self.row.what, count, lost, figures, f"`{self.command()}`"]
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


def lane(runs, lock):
    for one in runs:
        one.run()
        with lock:
            print("\n".join(one.lines()), flush=True)
            if not one.passed:
                print(one.output[-6_000:], flush=True)


def write(directory, size, runs, rest):
    directory.mkdir(parents=True, exist_ok=True)
    table = {"size": size, "rows": [one.as_json() for one in runs]}
    (directory / "table.json").write_text(json.dumps(table, indent=1) + "\n")
    lines = ["| | fault | what was run | lost | figures | command |", "|---|---|---|---|---|---|"]
    by_row = {id(one.row): one.as_markdown() for one in runs}
    for row in ROWS:
        if row.elsewhere and row in rest:
            lines.append(f"| {row.fault} | {row.what} | | | {row.elsewhere} | |")
        elif id(row) in by_row:
            lines.append(by_row[id(row)])
    (directory / "table.md").write_text("\n".join(lines) + "\n")


def main(size, directory, *faults):
    rows = [row for row in ROWS if not faults or row.fault in faults]
    runs = [Run(row, size) for row in rows if row.tests]
    lock, lanes = threading.Lock(), sorted({one.row.lane for one in runs})
    threads = [
        threading.Thread(target=lane, args=([one for one in runs if one.row.lane == it], lock))
        for it in lanes
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    write(pathlib.Path(directory), size, runs, rows)
    failed = [one.row.fault for one in runs if not one.passed]
    print(f"{len(runs)} rows in {time.monotonic() - began:.0f} s, {len(failed)} failed {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("gate", "soak"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
