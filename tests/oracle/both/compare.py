"""Runs cases and tables on a pair and returns the differences."""

from both.case import COLLECTION, Finding
from both.outcome import failed, same
from both.pair import with_database


def run_table(pair, table):
    for ours, theirs in pair.run_many(table.setup):
        ok = ours.get("ok") == theirs.get("ok") == 1 and "writeErrors" not in (*ours, *theirs)
        assert ok, (table.name, ours, theirs)
    for command in table.ours_first:
        reply = pair.ours_to([with_database(command)])[0]
        assert reply.get("ok") == 1, reply
    if not table.fast:
        return [finding for case in table.cases if (finding := run_case(pair, case))]
    replies = pair.run_many([case.commands[0] for case in table.cases])
    return [
        Finding(case, case.commands[0], ours, theirs)
        for case, (ours, theirs) in zip(table.cases, replies, strict=True)
        if not same(case, ours, theirs)
    ]


def run_case(pair, case):
    """Returns the first command of a case whose replies differ, if any."""
    try:
        return first_difference(pair, case)
    finally:
        if case.ours_first:
            pair.run({"drop": COLLECTION})


def first_difference(pair, case):
    before, commands = case.sequence()
    if case.ours_first:
        pair.run_in_turn(commands[:before])
        for command in case.ours_first:
            pair.ours_to([with_database(command)])
        before, commands = 0, commands[before:]
    for at, (ours, theirs) in enumerate(pair.run_in_turn(commands)):
        if at < before:
            if "insert" in commands[at] and not same(case, ours, theirs):
                return Finding(case, commands[at], ours, theirs)
            continue
        if not same(case, ours, theirs):
            return Finding(case, commands[at], ours, theirs)
        if case.failures_alike and failed(ours):
            return None
    return None
