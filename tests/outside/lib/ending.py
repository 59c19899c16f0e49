"""How a server that ends, or a node that gives its data up, tells clients whose requests it may
have done or not."""

from pymongo.errors import AutoReconnect, BulkWriteError, PyMongoError

WORDS = (
    "shutting down",
    "interrupted",
    "not the owner",
)


def tells_end(text):
    """Whether a server says with this that it ends."""
    return any(word in text for word in WORDS)


def is_end(error):
    """Whether this error is what a client of the MongoDB API meets when its server ends."""
    if isinstance(error, BulkWriteError):
        return tells_end(str(error.details))
    ends = isinstance(error, AutoReconnect)
    return ends or (isinstance(error, PyMongoError) and tells_end(str(error)))
