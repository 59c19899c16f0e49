"""Compares the results of a run with the list of tests that are known to fail.

compare.py TOPOLOGY RESULTS FAILURES MODULES

RESULTS is a report in JUnit's format. FAILURES has lines of a topology (or `all`), a test and the
reason for which it fails, separated by tabs. Prints a line for each module with its passed, skipped
and failed tests. The exit code is 1 if a test failed that is not in FAILURES, or passed although it
is listed, or was not run.
"""

import collections
import sys
import xml.etree.ElementTree as ElementTree


def rows(path):
    """Returns the lines of a table, without comments, as lists of fields."""
    with open(path) as lines:
        texts = [line.rstrip("\n") for line in lines]
    return [text.split("\t") for text in texts if text and not text.startswith("#")]


def outcomes(path):
    """Yields module, test, outcome and message of each test of a report."""
    for case in ElementTree.parse(path).iter("testcase"):
        *_, module, group = case.get("classname", "").split(".")
        outcome, text = "passed", ""
        for child in case:
            if child.tag in ("failure", "error"):
                outcome, text = "failed", child.get("message", "")
            elif child.tag == "skipped" and outcome == "passed":
                outcome, text = "skipped", child.get("message", "")
        yield module.removeprefix("test_"), f"{group}::{case.get('name')}", outcome, text


def reason(text):
    """Returns the reason of a skip without the name of the test."""
    unmet = "runOnRequirements not satisfied"
    return unmet if unmet in text else text.split(": ", 1)[-1][:100]


def report(topology, counts, skips, wrong, contents):
    """Prints the table of modules, the reasons of skips, and what went wrong."""
    print(f"{topology}: passed, skipped, known to fail, failed")
    kinds = ("passed", "skipped", "known", "failed")
    for module, content in contents.items():
        print("".join(f"{counts[module][kind]:6}" for kind in kinds), "", content)
    print("skipped because:")
    for text, number in skips.most_common(12):
        print(f"{number:6} {text}")
    for line in wrong:
        print("FAILED", line)
    total = sum(counts.values(), collections.Counter())
    print(
        f"{topology}: {total['passed']} passed, {total['skipped']} skipped,",
        f"{total['known']} known to fail, {len(wrong)} failed",
    )


def main(topology, results, failures, modules):
    listed = [row for row in rows(failures) if row[0] in (topology, "all")]
    known = {test: text for _, test, text in listed}
    contents = dict(rows(modules))
    counts = collections.defaultdict(collections.Counter)
    skips = collections.Counter()
    wrong = []
    seen = set()
    for module, test, outcome, text in outcomes(results):
        seen.add(test)
        is_known = outcome == "failed" and test in known
        counts[module]["known" if is_known else outcome] += 1
        if outcome == "skipped":
            skips[reason(text)] += 1
        elif outcome == "failed" and not is_known:
            wrong.append(f"{test}: {text.splitlines()[0] if text else ''}")
        elif outcome == "passed" and test in known:
            wrong.append(f"{test}: it passes, but failures.tsv says: {known[test]}")
    wrong += [f"{test}: in failures.tsv, but not run" for test in known.keys() - seen]
    wrong += [f"{module}: no test was run" for module in contents.keys() - counts.keys()]
    report(topology, counts, skips, wrong, contents)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
