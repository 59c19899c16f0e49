"""Texts of the service that tests compare with."""

ABSENT_TEXT = "Entity with the specified id does not exist in the system."
EXISTS = "Entity with the specified id already exists in the system."
UNIQUE = "Unique index constraint violation."
NOT_MET = "One of the specified pre-condition is not met."
MODE_NONE = (
    "Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection")


def bad_ttl(value):
    """What an item is told whose `ttl` means nothing."""
    return (f"The input ttl '{value}' is invalid. Ensure to provide a nonzero positive integer "
            "less than or equal to '2147483647', or '-1' which means never expire.")
