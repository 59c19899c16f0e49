"""Reports what a test of a fault did, for the table of faults: a line of text, and a line of JSON
in the file that FAULTS_TOLD names."""

import json
import os
import time

#: The file that tests/outside/fault_table reads; no file if empty.
TOLD = os.environ.get("FAULTS_TOLD", "")


class Report:
    """One report per test; it measures the time since the test began."""

    def __init__(self, test, show):
        self.test, self.show, self.began = test, show, time.monotonic()

    def __call__(self, fault, count, what, lost=0, seed=None, **figures):
        """Reports `count` occurrences of a fault (`what` names the unit) and the lost writes."""
        took = round(time.monotonic() - self.began, 1)
        row = {
            "fault": fault,
            "count": count,
            "what": what,
            "lost": lost,
            "seconds": took,
            "seed": seed,
            "test": self.test,
            "figures": figures,
        }
        if TOLD:
            with open(TOLD, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        self.show(line(row))


def line(row):
    """Returns a row as one line of text."""
    figures = "".join(f", {name.replace('_', ' ')} {v}" for name, v in row["figures"].items())
    seconds = f"{row['seconds']:.0f} s"
    return (
        f"{row['fault']:<4} {row['count']:>6} {row['what']}  {row['lost']} lost  {seconds}{figures}"
    )
