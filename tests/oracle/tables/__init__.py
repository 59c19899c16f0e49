"""Tables of edge cases. Each module answers its tables from `tables()`."""
