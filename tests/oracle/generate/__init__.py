"""Random cases from a grammar, by seed."""
