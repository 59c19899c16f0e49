"""A server started under strace, which injects faults from its first call on and, unlike an
attached strace, stops it only at the traced calls."""

import collections
import re

from lib.inject import injected
from lib.server import Server

#: A system call in a line of strace's output, and its thread.
CALL = re.compile(r"^(\d+) +(\w+)\(")


class Traced(Server):
    """`calls` are traced, and the fault `injected` (in strace's syntax) is injected into them; with
    None the server starts without strace."""

    def __init__(self, calls, injected="", **options):
        super().__init__(**options)
        self.calls, self.injected = calls, injected

    def command_line(self, ready):
        command = super().command_line(ready)
        if self.injected is None:
            return command
        return [*injected(self.calls, self.injected, self.trace()), *command]

    def trace(self):
        return self.home / f"trace-{self.starts}"

    def most_calls(self):
        return most_calls(self.trace().read_text(errors="replace"), self.data_dir)


def most_calls(trace, directory):
    """Returns how often each call was made on a directory's files, at most per thread."""
    counts = collections.Counter()
    for line in trace.splitlines():
        found = CALL.match(line)
        if found and str(directory) in line:
            counts[found[2], found[1]] += 1
    most = {}
    for (call, _), count in counts.items():
        most[call] = max(most.get(call, 0), count)
    return most
