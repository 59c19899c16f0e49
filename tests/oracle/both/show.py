"""Values, commands and replies as short text, close to the shell's."""

import json

from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS

from both.outcome import reduced

LONGEST = 700


def text(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key or repr(key)}: {text(v)}" for key, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, Int64):
        return f"long({int(value)})"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal128):
        return f"decimal({value})"
    if isinstance(value, DatetimeMS):
        return f"date({int(value)})"
    if isinstance(value, Regex):
        return f"/{value.pattern}/{value.flags}"
    if isinstance(value, (Binary, bytes)) and not isinstance(value, Code):
        return f"bin({getattr(value, 'subtype', 0)},{bytes(value).hex()})"
    if isinstance(value, Code):
        return f"code({json.dumps(str(value))})"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (ObjectId, Timestamp, MinKey, MaxKey)):
        return repr(value).replace("'", "")
    return repr(value)


def cut(line):
    return line if len(line) <= LONGEST else line[:LONGEST] + " …"


def command(value):
    return cut(text({key: inner for key, inner in value.items() if key != "$db"}))


def reply(value):
    if not value.get("ok"):
        return cut(f"error {value.get('code')} {value.get('codeName')}: {value.get('errmsg')}")
    shown = reduced(value)
    for one in shown.get("writeErrors", []):
        texts = [
            e.get("errmsg") for e in value["writeErrors"] if e.get("index") == one.get("index")
        ]
        one["errmsg"] = texts[0] if texts else None
    cursor = shown.get("cursor")
    if isinstance(cursor, dict) and "firstBatch" in cursor and not cursor["id"]:
        return cut(text(cursor["firstBatch"]))
    return cut(text(shown))


def rows_apart(ours, theirs):
    """Describes two replies with long batches by the rows that only one of them has."""
    batches = []
    for value in (ours, theirs):
        cursor = value.get("cursor")
        if not value.get("ok") or not isinstance(cursor, dict) or "firstBatch" not in cursor:
            return None
        batches.append([text(row) for row in cursor["firstBatch"]])
    if min(map(len, batches)) + max(map(len, batches)) < 8:
        return None
    left, right = batches
    only = [r for r in left if r not in right], [r for r in right if r not in left]
    if not only[0] and not only[1]:
        at = next(
            (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
            min(len(left), len(right)),
        )
        return cut(f"from row {at}: {left[at : at + 4]}"), cut(
            f"from row {at}: {right[at : at + 4]}"
        )
    return tuple(
        cut(f"only here {len(rows)} of {len(batch)}: [{', '.join(rows)}]")
        for rows, batch in zip(only, batches, strict=True)
    )
