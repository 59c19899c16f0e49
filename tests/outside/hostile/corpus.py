"""All entries of the hostile corpus, in the order of their classes."""

from hostile import (
    bson_entries,
    command_entries,
    http_entries,
    nosql_entries,
    query_entries,
    script_entries,
    wire_entries,
)

MODULES = (
    wire_entries,
    bson_entries,
    command_entries,
    query_entries,
    nosql_entries,
    http_entries,
    script_entries,
)
KINDS = sorted((kind for it in MODULES for kind in it.KINDS), key=lambda kind: int(kind.id[1:]))
ENTRIES = [entry for kind in KINDS for entry in kind.entries()]
