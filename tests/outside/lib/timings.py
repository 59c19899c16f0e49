"""Elapsed and processor time of each file of tests, for the table that `./test` prints at its end.

EBB_TIMINGS names the file that gets a line for each: name, seconds, and seconds of a processor,
separated by tabs. A server counts in the file of tests that stops it.
"""

import os
import resource
import time


def processor():
    """Returns the processor time of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(it.ru_utime + it.ru_stime for it in used)


def tell(name, seconds, spent):
    """Appends a line to the file of EBB_TIMINGS, if there is one."""
    path = os.environ.get("EBB_TIMINGS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            # One write, since several processes append.
            file.write(f"{name}\t{seconds:.1f}\t{spent:.1f}\n")


class Timings:
    """A plugin of pytest that adds up the times of the tests of each file."""

    def __init__(self):
        self.files = {}

    def pytest_collection_finish(self):
        self.since = time.monotonic(), processor()

    def pytest_runtest_logfinish(self, nodeid):
        """Called after the teardown of each test. Time since the test before it counts."""
        # Its location would be the file of an inherited test.
        name, now = nodeid.split("::")[0], (time.monotonic(), processor())
        seconds, spent = self.files.get(name, (0.0, 0.0))
        self.files[name] = seconds + now[0] - self.since[0], spent + now[1] - self.since[1]
        self.since = now

    def pytest_sessionfinish(self):
        for name, (seconds, spent) in self.files.items():
            tell(name, seconds, spent)
