"""Errors and delays of single system calls, injected into a running server by strace."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

#: Seconds until strace has every thread of the process.
ATTACHED = 15


def strace():
    """Where it is; on a machine of ours it is installed when it is missing."""
    found = shutil.which("strace")
    if not found:
        subprocess.run(["apt-get", "update", "-qq"], check=True, capture_output=True)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "strace"], check=True, capture_output=True
        )
        found = shutil.which("strace")
    assert found, "strace is needed to inject errors of the disk"
    return found


def injected(calls, what, out):
    """How strace starts a program and injects this (nothing: it only looks) into these calls."""
    inject = ["-e", f"inject={what}"] if what else []
    # Then only the traced calls stop the program. With it strace 6.1 sends no signals, silently.
    quick = [] if "signal=" in what else ["--seccomp-bpf"]
    # As a grandchild, so that the process that is signalled and waited for is the program.
    tracer = [strace(), "-D", "-f", "-qq", "-y", *quick, "-o", str(out)]
    return [*tracer, "-e", f"trace={','.join(calls)}", *inject]


class Injection:
    """`call` answers with `error`, or takes `seconds` more, from the `when`th on (`3`: once, `3+`:
    from then on), on these paths alone, for the length of a block."""

    def __init__(self, server, call, error=None, when="1+", paths=(), seconds=0):
        self.server = server
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="ebb-outside-strace-"))
        self.out = self.home / "out"
        only = [part for path in paths for part in ("-P", str(path))]
        self.delays = seconds > 0
        how = f"error={error}" if error else f"delay_enter={int(seconds * 1_000_000)}"
        # Threads count each for themselves, so that `when` is of one of them.
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
        """Every thread has a tracer."""
        tasks = pathlib.Path(f"/proc/{self.server.process.pid}/task")
        traced = []
        for task in tasks.iterdir():
            with contextlib.suppress(OSError):
                text = (task / "status").read_text()
                traced.append("TracerPid:\t0\n" not in text)
        return bool(traced) and all(traced)

    def count(self):
        """How many errors it has injected."""
        return self.out.read_text().count("(INJECTED)") if self.out.exists() else 0

    def __exit__(self, *_):
        if self.process.poll() is None:
            # It would wait for the ends of delays, in which it holds the server.
            self.process.kill() if self.delays else self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()
        shutil.rmtree(self.home, ignore_errors=True)
