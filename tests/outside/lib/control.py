"""A program that replaces the server when fault injection itself is tested: it writes and syncs
records on request and reports the result of each call. If it does not see an injected fault, the
server would not either.

Its input has a line for each record: `sync`, or `leave` for a record that is not synced. Its output
has a line for each: its number, the error number or 0, and the milliseconds that the write and the
sync took. `loop` writes and syncs without end.
"""

import os
import subprocess
import sys
import time

#: Bytes of a record: one block.
RECORD = 4096


def record(number):
    return number.to_bytes(8, "little") * (RECORD // 8)


def one(file, number, sync):
    """Writes a record. Returns the error number or 0, and the seconds that write and sync took."""
    began = written = time.monotonic()
    try:
        os.pwrite(file, record(number), number * RECORD)
        written = time.monotonic()
        if sync:
            os.fdatasync(file)
    except OSError as error:
        return error.errno, written - began, time.monotonic() - written
    return 0, written - began, time.monotonic() - written


def main(path):
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    number = 0
    for line in sys.stdin:
        word = line.strip()
        while True:
            number += 1
            error, write, sync = one(file, number, word != "leave")
            print(number, error, f"{write * 1000:.3f} {sync * 1000:.3f}", flush=True)
            if word != "loop" or error:
                break


class Control:
    """Runs the program for a test."""

    def __init__(self, path, before=()):
        """`before` is the command that starts it, such as strace."""
        self.path = path
        self.process = subprocess.Popen(
            [*before, sys.executable, __file__, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def ask(self, word="sync"):
        """Writes one record; returns its error number and the milliseconds of write and sync, or
        None if the program has ended."""
        self.tell(word)
        line = self.process.stdout.readline().split()
        return (int(line[1]), float(line[2]), float(line[3])) if line else None

    def rest(self):
        """Returns the other records reported as durable, after the program has ended."""
        lines = [line.split() for line in self.process.stdout.read().splitlines()]
        return [int(line[0]) for line in lines if len(line) == 4 and line[1] == "0"]

    def held(self):
        """Returns the numbers of the records that are complete in the file."""
        data = self.path.read_bytes() if self.path.exists() else b""
        blocks = range(1, len(data) // RECORD)
        return {n for n in blocks if data[n * RECORD : (n + 1) * RECORD] == record(n)}


if __name__ == "__main__":
    main(sys.argv[1])
