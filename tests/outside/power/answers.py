"""Classifies the reply to a write during a power cut."""

import http.client

from crash.items import Unavailable
from faults.ledger import AGAIN, REASON, UNKNOWN
from pymongo.errors import AutoReconnect, BulkWriteError, NotPrimaryError, PyMongoError

#: The text of a reply to a write that was done in part.
IN_PART = "was created, but not"
#: The text of a reply when there is too little memory at the moment.
LATER = "try again later"
#: Statuses of the NoSQL API for failures of the server.
FAILED = {500, 503, 507}


class Refused(Exception):
    """The write was certainly not done."""


class Uncertain(Exception):
    """The write may have been done or not."""


def told(error):
    """Returns the error as one of these exceptions, or unchanged if it is not about the disk."""
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
    """Returns the status if it is one of these, else raises."""
    if reply.status in FAILED or (reply.status == 207 and 207 not in statuses):
        text = str(reply)
        raise by_text(text) or AssertionError(f"refused without the reason: {text}")
    assert reply.status in statuses, f"{reply}, expected {statuses}"
    return reply.status
