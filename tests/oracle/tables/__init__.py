"""Tables of edge cases. Each module returns its tables from `tables()`."""
