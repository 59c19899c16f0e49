"""Differences that are known and why they stay: by id of a table's case, and by shape of a random one."""

KNOWN = {}


def expected(finding):
    """Whether a random finding is a known difference."""
    return any(rule(finding) for rule in RULES)


def lazily_skipped(finding):
    """A pipeline of several stages may leave out what no later stage asks for; ours evaluates it."""
    stages = finding.command.get("pipeline", [])
    return 1 < len(stages) and not finding.ours.get("ok") and bool(finding.theirs.get("ok"))


def expr_and_positional(finding):
    """6.0 refuses $expr beside a positional projection; here it is a filter like any other."""
    return finding.theirs.get("code") == 224


RULES = [lazily_skipped, expr_and_positional]
