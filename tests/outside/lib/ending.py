"""Recognizes errors after which a client does not know whether its request was executed: those of a
server that shuts down, and of a node that gives up ownership."""

from pymongo.errors import AutoReconnect, BulkWriteError, PyMongoError

WORDS = (
    "shutting down",
    "interrupted",
    "not the owner",
    "no longer owns",
)


def tells_end(text):
    """Returns whether this error text says that the server is stopping."""
    return any(word in text for word in WORDS)


def is_end(error):
    """Returns whether this error of the MongoDB API means that the server is stopping."""
    if isinstance(error, BulkWriteError):
        return tells_end(str(error.details))
    ends = isinstance(error, AutoReconnect)
    return ends or (isinstance(error, PyMongoError) and tells_end(str(error)))
