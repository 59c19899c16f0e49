"""Random documents with few names and few values, so that filters match them."""

from bson import Binary, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS

NAMES = ["a", "b", "c"]
SCALARS = [
    0,
    1,
    2,
    3,
    -1,
    7,
    Int64(1),
    Int64(2),
    Int64(2**53 + 1),
    1.0,
    2.5,
    -0.0,
    float("nan"),
    float("inf"),
    2.0**53,
    2**31 - 1,
    Decimal128("1"),
    Decimal128("2.5"),
    Decimal128("NaN"),
    "",
    "a",
    "b",
    "ab",
    "A",
    "1",
    "é",
    "$a",
    None,
    None,
    True,
    False,
    DatetimeMS(0),
    DatetimeMS(-1),
    DatetimeMS(1583020799999),
    ObjectId("5e5b9d7f0123456789abcdef"),
    Timestamp(5, 1),
    Binary(b"a"),
    Binary(bytes(16), 4),
]
RARE = [MinKey(), MaxKey(), Regex("^a", "i"), Regex("b"), {}, [], [[]], {"$x": 1}]
PATHS = ["a", "b", "c", "a.b", "a.a", "b.c", "a.0", "b.0", "a.1", "a.b.c", "a.0.b", "c.a", "_id"]


def scalar(random):
    return random.choice(SCALARS)


def value(random, depth=2):
    roll = random.random()
    if depth == 0 or roll < 0.55:
        return random.choice(RARE) if random.random() < 0.06 else scalar(random)
    if roll < 0.8:
        return [value(random, depth - 1) for _ in range(random.choice([0, 1, 2, 2, 3]))]
    return document(random, depth - 1)


def document(random, depth):
    names = random.sample(NAMES, random.choice([0, 1, 1, 2, 3]))
    return {name: value(random, depth) for name in names}


def documents(random):
    count = random.choice([1, 2, 3, 5, 8])
    return [{"_id": at, **document(random, 3)} for at in range(count)]


def path(random):
    return random.choice(PATHS)
