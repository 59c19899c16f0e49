"""Differences that are known, by id of a table's case, and why they stay."""

KNOWN = {}


def expected(finding):
    """Whether a random finding is a known difference."""
    return False
