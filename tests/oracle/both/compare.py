"""Runs cases and tables on a pair and answers what differs."""

from both.case import Finding
from both.outcome import same


def run_table(pair, table):
    for ours, theirs in pair.run_many(table.setup):
        ok = ours.get("ok") == theirs.get("ok") == 1 and "writeErrors" not in (*ours, *theirs)
        assert ok, (table.name, ours, theirs)
    if not table.fast:
        return [finding for case in table.cases if (finding := run_case(pair, case))]
    replies = pair.run_many([case.commands[0] for case in table.cases])
    return [
        Finding(case, case.commands[0], ours, theirs)
        for case, (ours, theirs) in zip(table.cases, replies)
        if not same(case, ours, theirs)
    ]


def run_case(pair, case):
    """The first command of a case whose replies differ, if one does."""
    before, commands = case.sequence()
    for at, (ours, theirs) in enumerate(pair.run_in_turn(commands)):
        if at < before:
            if "insert" in commands[at] and not same(case, ours, theirs):
                return Finding(case, commands[at], ours, theirs)
            continue
        if not same(case, ours, theirs):
            return Finding(case, commands[at], ours, theirs)
    return None
