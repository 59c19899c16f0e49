"""Runs every row of the table of faults, F1 to F23, at the sizes of the gate or of the soak, and
writes the results as a table: `table.md` to read and `table.json`.

    fault_table.py gate DIRECTORY [beside|alone] [F2 F7 ...]
    fault_table.py soak DIRECTORY [beside|alone] [F2 F7 ...]
    fault_table.py files    prints the files of all rows

Several rows, or parts of one, run concurrently, the longest first: most of the time a test waits
for the disk, for a server's start or for the end of its load. Rows that measure times come last,
one by one. `beside` and `alone` run only one of these kinds. `run` starts this with the right
Python and binary.
"""

import concurrent.futures
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
from lib.timings import tell

#: Number of concurrent runs.
BESIDE = int(os.environ.get("BESIDE", "8"))
#: Factors for time limits of concurrent runs, and of runs that use the machine alone.
PATIENCE, PATIENCE_ALONE = "15", "2"


@dataclasses.dataclass(frozen=True)
class Row:
    """Tests of one fault. `gate` and `soak` are variables that size them; without `tests` the row
    names another test. `seconds` is about the duration of its longest part in the gate."""

    fault: str
    what: str
    tests: tuple = ()
    seconds: int = 0
    gate: dict = dataclasses.field(default_factory=dict)
    soak: dict = dataclasses.field(default_factory=dict)
    #: Expressions of pytest that choose tests; each is a run of its own.
    parts: tuple = ("",)
    #: Whether it measures times or processor use, so that nothing else may run at the same time.
    #: Floods of connections compare with a server that is not flooded, and so need not be alone.
    alone: bool = False
    elsewhere: str = ""


def rounds(number):
    return {"ROUNDS": str(number)}


ROWS = [
    Row(
        "F1",
        "kill -9 at a random time",
        ("crash/test_kill.py",),
        180,
        rounds(120),
        rounds(3_000),
        parts=("system-0", "manual-0", "system-60"),
    ),
    Row(
        "F1",
        "kill -9 beside reads and swaps of single documents",
        ("crash/test_registers.py",),
        25,
        rounds(30),
        rounds(400),
    ),
    Row(
        "F1",
        "kill -9 beside mortal documents",
        ("crash/test_ttl_oracle.py",),
        25,
        rounds(20),
        rounds(400),
    ),
    Row("F1", "storms of the catalog", ("storm/test_storm.py",), 30, rounds(10), rounds(200)),
    Row("F1", "storms of users and roles", ("crash/test_users.py",), 60, rounds(20), rounds(300)),
    Row(
        "F2",
        "kill -9 beside findAndModify $inc with j: true",
        ("crash/test_counters.py",),
        90,
        rounds(80),
        rounds(2_000),
        parts=("one", "several"),
    ),
    Row(
        "F3",
        "kill at the Nth write, sync and rename",
        ("crash/test_every_call.py",),
        60,
        {"POINTS": "40"},
        {"POINTS": "0"},
        parts=("in_a_script or of_checks", "in_a_start_and_a_stop", "in_a_first_start"),
    ),
    Row(
        "F4",
        "power cuts, ext4",
        ("power/test_power.py",),
        150,
        rounds(40),
        rounds(1_000),
        parts=("ext4",),
    ),
    Row(
        "F4",
        "power cuts, xfs",
        ("power/test_power.py",),
        80,
        rounds(20),
        rounds(400),
        parts=("xfs",),
    ),
    Row("F4", "the control of power cuts", ("power/test_control.py",), 10, rounds(5), rounds(30)),
    Row(
        "F5",
        "torn and reordered writes",
        elsewhere="`cargo test -p journal -p store-tree` (every byte of batches and lists)",
    ),
    Row("F6", "flipped bits", ("flips/test_flips.py",), 100, {"FLIPS": "300"}, {"FLIPS": "20000"}),
    Row(
        "F7",
        "failing syncs",
        ("faults/test_failed_syncs.py", "faults/test_control.py"),
        60,
        rounds(50),
        rounds(500),
    ),
    Row(
        "F8",
        "full disks",
        ("faults/test_full_disk.py",),
        30,
        rounds(20),
        rounds(200),
    ),
    Row("F9", "slow and stalling syncs", ("faults/test_slow_disk.py",), 15, alone=True),
    Row(
        "F10, F11",
        "clocks that step, forward and back, and after a reboot",
        ("clock/test_steps.py", "clock/test_wall_clock.py", "clock/test_boots.py"),
        40,
    ),
    Row(
        "F12",
        "clocks that drift, swing, step and jitter, and kill -9",
        ("clock/test_skews.py",),
        40,
        rounds(40),
        rounds(2_000),
    ),
    Row("F13", "clocks that stand still or are slow", ("clock/test_pace.py",), 20),
    Row("F14", "SIGSTOP", ("clock/test_stopped.py", "crash/test_pause.py"), 30),
    Row(
        "F15",
        "floods of connections",
        ("floods/test_connections.py",),
        100,
        {"FLOOD_SECONDS": "8", "CONNECTIONS": "20000"},
        {"FLOOD_SECONDS": "600", "CONNECTIONS": "20000"},
        alone=True,
    ),
    Row(
        "F16",
        "handshakes without end",
        ("floods/test_handshakes.py",),
        60,
        {"FLOOD_SECONDS": "5"},
        {"FLOOD_SECONDS": "60"},
        alone=True,
    ),
    Row(
        "F17",
        "more than memory",
        ("floods/test_memory.py",),
        20,
        {"WRITERS": "60"},
        {"WRITERS": "200"},
    ),
    Row(
        "F18",
        "requests that cost much",
        ("bombs/test_bombs.py",),
        60,
        {"BOMBS": "12"},
        {"TORTURE": "1"},
        alone=True,
    ),
    Row(
        "F19",
        "guessing",
        ("floods/test_guessing.py",),
        30,
        {"GUESSES": "10000"},
        {"GUESSES": "100000"},
    ),
    Row("F20", "directories and backups of released formats", ("backup/test_upgrade.py",), 10),
    Row(
        "F20",
        "kill -9 while a directory of a released format is opened",
        ("backup/test_upgrade_kills.py",),
        60,
        {"POINTS": "40", "ROUNDS": "30"},
        {"POINTS": "0", "ROUNDS": "200"},
    ),
    Row(
        "F21",
        "backups during load, full targets, interruptions",
        ("backup/test_full.py", "backup/test_incremental.py", "backup/test_full_target.py"),
        30,
    ),
    Row(
        "F21",
        "rounds of backup and restore, and instants of one history",
        ("backup/test_rounds.py",),
        60,
        {"ROUNDS": "6", "INSTANTS": "5"},
        {"ROUNDS": "50", "INSTANTS": "20"},
    ),
    Row(
        "F22",
        "SIGTERM under load",
        ("crash/test_stop.py", "faults/test_stop.py"),
        40,
        rounds(20),
        rounds(200),
    ),
    Row("F23", "two processes, stale locks, directories", ("crash/test_directories.py",), 30),
]
#: Words that choose rows, and whether these are alone.
KINDS = {"beside": False, "alone": True}
#: Words of pytest's summary: `3 passed in 1.2s`.
SUMMARY = (" passed", " failed", " error")


class Part:
    """Tests of a row that run in one process."""

    def __init__(self, row, size, chosen):
        self.row, self.sizes, self.chosen = row, getattr(row, size), chosen
        self.told, self.passed, self.output = [], False, ""
        self.seconds = self.processor = 0.0

    @property
    def name(self):
        return self.row.what + (f" ({self.chosen})" if len(self.row.parts) > 1 else "")

    def run(self):
        began = time.monotonic()
        patience = PATIENCE_ALONE if self.row.alone else PATIENCE
        chosen = ["-k", self.chosen] if self.chosen else []
        with (
            tempfile.NamedTemporaryFile("r", suffix=".jsonl") as told,
            tempfile.TemporaryFile("w+") as output,
        ):
            pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
            # The row reports the times of its files.
            own = {**self.sizes, "FAULTS_TOLD": told.name, "EBB_TIMINGS": ""}
            process = subprocess.Popen(
                [*pytest, *self.row.tests, *chosen],
                env={"PATIENCE": patience, **os.environ, **own},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            # Its processor time, including all its servers except traced ones.
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            self.output = output.read()
            self.told = [json.loads(text) for text in told]
        self.seconds = time.monotonic() - began
        self.processor = used.ru_utime + used.ru_stime
        self.passed = process.returncode == 0
        tell(f"{self.row.fault} {self.name}", self.seconds, self.processor)

    def lines(self):
        """Returns its result: a line for each report, or the number of tests that passed."""
        fault, what = self.row.fault, self.name
        took = f"{self.seconds:.0f} s, {self.processor:.0f} of a processor"
        if not self.passed:
            return [f"{fault:<4} FAILED: {what}, {took}"]
        own = [line(told) for told in self.told if told["fault"] == fault]
        return [*own, f"{fault:<4} {self.summary()}, {took}: {what}"]

    def summary(self):
        """Returns the last line of pytest."""
        lines = [it for it in self.output.splitlines() if any(word in it for word in SUMMARY)]
        return lines[-1].strip("= ") if lines else "nothing ran"


class Run:
    """The run of one row."""

    def __init__(self, row, size):
        self.row, self.sizes = row, getattr(row, size)
        self.parts = [Part(row, size, chosen) for chosen in row.parts]

    def command(self):
        sizes = " ".join(f"{name}={value}" for name, value in self.sizes.items())
        chosen = " or ".join(it for it in self.row.parts if it)
        command = [*([sizes] if sizes else []), "tests/outside/run", *self.row.tests]
        return " ".join([*command, *([f"-k '{chosen}'"] if chosen else [])])

    @property
    def passed(self):
        return all(part.passed for part in self.parts)

    @property
    def told(self):
        return [told for part in self.parts for told in part.told]

    def summary(self):
        return "; ".join(part.summary() for part in self.parts)

    def as_json(self):
        return {
            "fault": self.row.fault,
            "what": self.row.what,
            "command": self.command(),
            "passed": self.passed,
            "seconds": round(sum(part.seconds for part in self.parts), 1),
            "processor": round(sum(part.processor for part in self.parts), 1),
            "summary": self.summary(),
            "told": self.told,
        }

    def as_markdown(self):
        """Returns its lines of the table."""
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


def run_all(parts, beside):
    """Runs the parts, `beside` of them concurrently, and prints the result of each when it ends."""
    lock = threading.Lock()

    def run(part):
        part.run()
        with lock:
            print("\n".join(part.lines()), flush=True)
            if not part.passed:
                print(part.output[-6_000:], flush=True)

    with concurrent.futures.ThreadPoolExecutor(beside) as pool:
        # list() raises the exceptions of the parts.
        list(pool.map(run, sorted(parts, key=lambda it: -it.row.seconds)))


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


def main(size, directory, *chosen):
    faults = [it for it in chosen if it not in KINDS]
    rows = [row for row in ROWS if not faults or row.fault in faults]
    for kind in set(chosen) & KINDS.keys():
        rows = [row for row in rows if row.alone == KINDS[kind]]
    runs = [Run(row, size) for row in rows if row.tests]
    began = time.monotonic()
    for alone, beside in ((False, BESIDE), (True, 1)):
        run_all([part for it in runs if it.row.alone == alone for part in it.parts], beside)
    write(pathlib.Path(directory), size, runs, rows)
    failed = [one.row.fault for one in runs if not one.passed]
    processor = sum(part.processor for one in runs for part in one.parts)
    print(
        f"{len(runs)} rows in {time.monotonic() - began:.0f} s, {processor:.0f} s of a processor, "
        f"{len(failed)} failed {failed}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["files"]:
        print("\n".join(dict.fromkeys(file for row in ROWS for file in row.tests)))
        sys.exit()
    if len(sys.argv) < 3 or sys.argv[1] not in ("gate", "soak"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
