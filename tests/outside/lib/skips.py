"""Names skipped tests in the file of EBB_SKIPS, whose lines `./test` repeats at its end."""

import collections
import os


class Skips:
    """A plugin of pytest that counts the skipped tests of each file by their reason."""

    def __init__(self):
        self.counts = collections.Counter()

    def pytest_runtest_logreport(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            self.counts[report.location[0], str(reason).removeprefix("Skipped: ")] += 1

    def pytest_sessionfinish(self):
        path = os.environ.get("EBB_SKIPS")
        if path and self.counts:
            lines = [f"{n} in {file}: {reason}\n" for (file, reason), n in self.counts.items()]
            with open(path, "a", encoding="utf-8") as file:
                file.writelines(lines)
