"""Generates random cases from a grammar, by seed."""
