"""The command line: runs tables and random cases, prints what differs, fails on anything new."""

import argparse
import collections
import fnmatch
import importlib
import sys
import time

from both import show
from both.compare import run_case, run_table
from both.pair import Pair
from generate import cases
from known import KNOWN, expected
from shrink import shrunk

TABLES = [
    "functions",
    "expressions",
    "filters",
    "updates",
    "projections",
    "groups",
    "stages",
    "dates",
    "commands",
    "catalog",
]


def arguments():
    parser = argparse.ArgumentParser(prog="tests/oracle/run", description=__doc__)
    parser.add_argument(
        "--oracle", metavar="mongodb://HOST:PORT", help="a mongod that runs already"
    )
    parser.add_argument("--only", action="append", help="ids to run, as a glob; no random cases")
    parser.add_argument("--cases", type=int, default=2000, help="how many random cases")
    parser.add_argument("--seed", type=int, default=None, help="where random cases begin")
    parser.add_argument("--most", type=int, default=20, help="random differences to stop after")
    parser.add_argument("--random", action="store_true", help="random cases alone, no tables")
    parser.add_argument("--each", type=int, default=3, help="differences printed of each group")
    parser.add_argument("--known", action="store_true", help="print known differences too")
    return parser.parse_args()


def main():
    options = arguments()
    started = time.monotonic()
    with Pair(options.oracle) as pair:
        print(f"oracle: mongod {pair.version()}")
        count, new, stale = (0, 0, []) if options.random else tables(pair, options)
        print(
            f"tables: {count} cases, {new} new differences, {len(stale)} stale entries, "
            f"{time.monotonic() - started:.0f} s"
        )
        if not options.only:
            new += random_cases(pair, options)
    for pattern in stale:
        print(f"known.py: nothing differs at {pattern!r} any more")
    return 1 if new or stale else 0


def tables(pair, options):
    """Runs the tables; returns the number of cases, new differences, and entries without one."""
    count, findings, seen = 0, [], set()
    for module in TABLES:
        made = list(importlib.import_module(f"tables.{module}").tables())
        chosen = [[c for c in table.cases if wanted(options, c.id)] for table in made]
        for table, some in zip(made, chosen, strict=True):
            if not any(chosen):
                break
            table.cases = some
            count += len(some)
            for finding in run_table(pair, table):
                globs = known(finding.case.id)
                seen.update(globs)
                if not globs or options.known:
                    findings.append(finding)
    stale = [] if options.only else [pattern for pattern in KNOWN if pattern not in seen]
    report(findings, options.each)
    return count, len(findings), stale


def random_cases(pair, options):
    """Runs random cases; prints each new difference shrunk and returns their number."""
    seed = options.seed if options.seed is not None else int(time.time())
    print(f"random: {options.cases} cases from --seed {seed}")
    new, started = 0, time.monotonic()
    for at in range(seed, seed + options.cases):
        finding = run_case(pair, cases.case(at))
        if finding and not expected(finding):
            finding = shrunk(pair, finding)
            if expected(finding):
                continue
            new += 1
            print_finding(finding)
            if options.most <= new:
                break
    print(f"random: {new} new differences, {time.monotonic() - started:.0f} s")
    return new


def wanted(options, id):
    return not options.only or any(fnmatch.fnmatchcase(id, glob) for glob in options.only)


def known(id):
    return [glob for glob in KNOWN if fnmatch.fnmatchcase(id, glob)]


def report(findings, each):
    groups = collections.defaultdict(list)
    for finding in findings:
        groups[("/".join(finding.case.id.split("/")[:2]), finding.kind())].append(finding)
    for (name, kind), some in groups.items():
        print(f"\n## {name}: {len(some)} ({kind})")
        for finding in some[:each]:
            print_finding(finding)
        ids = [finding.case.id.split("/", 2)[-1] for finding in some[each:]]
        if ids:
            print(f"  also: {show.cut('; '.join(ids))}")


def print_finding(finding):
    ours, theirs = show.rows_apart(finding.ours, finding.theirs) or (
        show.reply(finding.ours),
        show.reply(finding.theirs),
    )
    print(f"- {finding.case.id}")
    for command in finding.case.ours_first:
        print(f"    ours    {show.command(command)}")
    if finding.case.docs is not None:
        print(f"    docs    {show.cut(show.text(finding.case.docs))}")
    for command in finding.case.commands:
        print(f"    send    {show.command(command)}")
    if finding.command not in finding.case.commands:
        print(f"    then    {show.command(finding.command)}")
    print(f"    ours    {ours}")
    print(f"    oracle  {theirs}")


if __name__ == "__main__":
    sys.exit(main())
