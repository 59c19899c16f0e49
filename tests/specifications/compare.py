"""Compares the results of a run with the list of tests that are known to fail.

compare.py TOPOLOGY RESULTS FAILURES MODULES

RESULTS is a report in JUnit's format. FAILURES has lines of a topology (or `all`), a test and the reason for
which it fails, separated by tabs. Prints a line for each module with its passed, failed and skipped tests.
"""

import collections
import sys
import xml.etree.ElementTree as ElementTree


def outcomes(path):
    """Yields module, test and outcome of each test of a report."""
    for case in ElementTree.parse(path).iter("testcase"):
        *_, module, group = case.get("classname", "").split(".")
        outcome, text = "passed", ""
        for child in case:
            if child.tag in ("failure", "error"):
                outcome, text = "failed", child.get("message", "")
            elif child.tag == "skipped" and outcome == "passed":
                outcome, text = "skipped", child.get("message", "")
        yield module.removeprefix("test_"), f"{group}::{case.get('name')}", outcome, text


def main(topology, results, failures, modules):
    with open(failures) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if line.strip() and not line.startswith("#")]
    known = {test: reason for place, test, reason in rows if place in (topology, "all")}
    with open(modules) as lines:
        contents = dict(line.rstrip("\n").split("\t") for line in lines)
    counts = collections.defaultdict(collections.Counter)
    skips = collections.Counter()
    wrong = []
    seen = set()
    for module, test, outcome, text in outcomes(results):
        seen.add(test)
        counts[module]["known" if outcome == "failed" and test in known else outcome] += 1
        if outcome == "skipped":
            skips[text.split(": ", 1)[-1] if " runOnRequirements " not in text else "runOnRequirements not satisfied"] += 1
        elif outcome == "failed" and test not in known:
            wrong.append(f"FAILED {test}: {text.splitlines()[0] if text else ''}")
        elif outcome == "passed" and test in known:
            wrong.append(f"FAILED {test}: it passes, but failures.tsv says: {known[test]}")
    wrong += [f"FAILED {test}: it is in failures.tsv, but was not run" for test in known.keys() - seen]
    wrong += [f"FAILED {module}: no test of this module was run" for module in contents.keys() - counts.keys()]
    print(f"{topology}: passed, skipped, known to fail, failed")
    for module in contents:
        count = counts[module]
        print(f"{count['passed']:6} {count['skipped']:5} {count['known']:4} {count['failed']:4}  {contents[module]}")
    total = sum(counts.values(), collections.Counter())
    print("skipped because:")
    for reason, number in skips.most_common(12):
        print(f"{number:6} {reason[:110]}")
    print("\n".join(wrong))
    print(f"{topology}: {total['passed']} passed, {total['skipped']} skipped, {total['known']} known to fail, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
