"""Differences that are known, by id of a table's case, and why they stay."""

KNOWN = {}
