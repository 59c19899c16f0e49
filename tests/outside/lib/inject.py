"""Injects errors and delays into single system calls of a running server with strace."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

from lib import needs

#: Seconds within which strace attaches to every thread of the process.
ATTACHED = 15


def strace():
    """Returns the path of strace."""
    return needs.program("strace", "strace")


def injected(calls, what, out):
    """Returns the prefix that runs a program under strace; an empty `what` only traces."""
    inject = ["-e", f"inject={what}"] if what else []
    # Stops the program at traced calls only, but strace 6.1 then silently sends no signals.
    quick = [] if "signal=" in what else ["--seccomp-bpf"]
    # -D: strace runs as a grandchild, so that the process to signal and wait for is the program.
    tracer = [strace(), "-D", "-f", "-qq", "-y", *quick, "-o", str(out)]
    return [*tracer, "-e", f"trace={','.join(calls)}", *inject]


class Injection:
    """While the block runs, `call` fails with `error` or takes `seconds` longer, from its `when`th
    occurrence on (`3`: only the third, `3+`: from the third on), on `paths` only if given."""

    def __init__(self, server, call, error=None, when="1+", paths=(), seconds=0):
        self.server = server
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="ebb-outside-strace-"))
        self.out = self.home / "out"
        only = [part for path in paths for part in ("-P", str(path))]
        self.delays = seconds > 0
        how = f"error={error}" if error else f"delay_enter={int(seconds * 1_000_000)}"
        # Strace counts per thread, so `when` applies to each thread separately.
        self.command = [
            strace(),
            "-f",
            "-qq",
            "-p",
            str(server.process.pid),
            "-o",
            str(self.out),
            *only,
            "-e",
            f"trace={call}",
            "-e",
            f"inject={call}:{how}:when={when}",
        ]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + ATTACHED
        while not self.is_attached():
            assert self.process.poll() is None, f"strace: {self.process.stderr.read()}"
            assert time.monotonic() < until, "strace does not attach"
            time.sleep(0.02)
        return self

    def is_attached(self):
        """Returns whether every thread has a tracer."""
        tasks = pathlib.Path(f"/proc/{self.server.process.pid}/task")
        traced = []
        for task in tasks.iterdir():
            with contextlib.suppress(OSError):
                text = (task / "status").read_text()
                traced.append("TracerPid:\t0\n" not in text)
        return bool(traced) and all(traced)

    def count(self):
        """Returns the number of errors injected so far."""
        return self.out.read_text().count("(INJECTED)") if self.out.exists() else 0

    def __exit__(self, *_):
        if self.process.poll() is None:
            # On SIGTERM, strace would hold the server until the ends of delays.
            self.process.kill() if self.delays else self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()
        shutil.rmtree(self.home, ignore_errors=True)
