"""The compared parts of a reply: documents, order, error codes and value types, no messages."""

import struct

import bson
from bson import (
    SON,
    Binary,
    Code,
    DBRef,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)
from bson.datetime_ms import DatetimeMS

IGNORED = {
    "$clusterTime",
    "operationTime",
    "electionId",
    "opTime",
    "localTime",
    "atClusterTime",
    "_t",
}
TEXTS = {"errmsg", "codeName", "errInfo", "info", "note"}


def tagged(value):
    """Returns a value as nested tuples that are equal only for the same BSON."""
    if isinstance(value, dict):
        return ("object", tuple((key, tagged(inner)) for key, inner in value.items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(tagged(inner) for inner in value))
    if isinstance(value, float):
        return ("double", "nan" if value != value else struct.pack("<d", value).hex())
    if isinstance(value, Decimal128):
        return ("decimal", "nan" if value.to_decimal().is_nan() else value.bid.hex())
    if isinstance(value, DBRef):
        return tagged(value.as_doc())
    kind = type(value).__name__
    if isinstance(value, Code):
        return (kind, str(value), tagged(value.scope) if value.scope is not None else None)
    if isinstance(value, Binary):
        return (kind, value.subtype, bytes(value))
    if isinstance(value, (Regex, Timestamp, Int64, ObjectId, DatetimeMS)):
        return (kind, repr(value))
    if isinstance(value, (MinKey, MaxKey)) or value is None:
        return (kind,)
    return (kind, value)


def unordered(value, rows, arrays):
    """Returns the tuples normalized where a case allows any order."""
    if value[0] == "object":
        return ("object", tuple((key, opened(key, inner, rows, arrays)) for key, inner in value[1]))
    if value[0] == "array":
        inner = [unordered(one, rows, arrays) for one in value[1]]
        return ("bag", tuple(sorted(map(repr, inner)))) if arrays else ("array", tuple(inner))
    return value


def opened(key, value, rows, arrays):
    if rows and value[0] == "array" and key in ("firstBatch", "nextBatch", "values"):
        return ("rows", tuple(sorted(repr(unordered(row, rows, arrays)) for row in value[1])))
    return unordered(value, rows, arrays)


def reduced(reply):
    """Returns a reply without the parts that may differ: messages, clocks, cursor ids."""
    if not reply.get("ok"):
        return SON([("failed", reply.get("code"))])
    out = SON()
    for key, value in reply.items():
        if key in IGNORED:
            continue
        if key in ("writeErrors", "cursorsUnknown") and value and isinstance(value[0], dict):
            value = [SON((k, v) for k, v in one.items() if k not in TEXTS) for one in value]
        if key == "lastErrorObject" and isinstance(value.get("upserted"), ObjectId):
            value = SON((k, v if k != "upserted" else None) for k, v in value.items())
        if key == "cursor":
            value = SON(sorted((k, v) for k, v in value.items() if k != "ns"))
            value["id"] = bool(value.get("id"))
        if key == "cursorsKilled":
            value = len(value)
        out[key] = value
    return SON(sorted(out.items()))


def same(case, ours, theirs):
    """Returns whether two replies are equal in the parts that the case compares."""
    if case.failures_alike and failed(ours) and failed(theirs):
        return True
    rows, arrays = "rows" in case.loose, "arrays" in case.loose
    left, right = (tagged(reduced(reply)) for reply in (ours, theirs))
    if left == right:
        return True
    return unordered(left, rows, arrays) == unordered(right, rows, arrays)


def failed(reply):
    return not reply.get("ok") or bool(reply.get("writeErrors"))


def size(value):
    """Returns the size of a command or document, for shrinking."""
    return len(bson.encode({"v": value}))
