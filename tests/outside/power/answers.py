"""What an answer says of a write that was sent while the disk lost its power."""

import http.client

from crash.items import Unavailable
from faults.ledger import AGAIN, REASON, UNKNOWN
from pymongo.errors import AutoReconnect, BulkWriteError, NotPrimaryError, PyMongoError

#: A part of it was done.
IN_PART = "was created, but not"
#: It has no memory for it at this moment.
LATER = "try again later"
#: Statuses of the NoSQL API that say that the server could not.
FAILED = {500, 503, 507}


class Refused(Exception):
    """It was not done, for sure."""


class Uncertain(Exception):
    """It was done or not."""


def told(error):
    """The same as one of these, or the error itself if it says nothing about the disk."""
    if isinstance(error, (Refused, Uncertain)):
        return error
    if isinstance(error, (ConnectionError, http.client.HTTPException, Unavailable, TimeoutError)):
        return Uncertain(str(error))
    if isinstance(error, AutoReconnect) and not isinstance(error, NotPrimaryError):
        return Uncertain(str(error))
    if isinstance(error, PyMongoError):
        details = str(error.details) if isinstance(error, BulkWriteError) else str(error)
        return by_text(details) or error
    return error


def by_text(text):
    if IN_PART in text:
        return Uncertain(text)
    if AGAIN.search(text) or LATER in text:
        return Refused(text)
    if UNKNOWN.search(text):
        return Uncertain(text)
    return Refused(text) if REASON.search(text) else None


def expect(reply, *statuses):
    """Answers the status, if it is one of these."""
    if reply.status in FAILED or (reply.status == 207 and 207 not in statuses):
        text = str(reply)
        raise by_text(text) or AssertionError(f"refused without the reason: {text}")
    assert reply.status in statuses, f"{reply}, expected {statuses}"
    return reply.status
