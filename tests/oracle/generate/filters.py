"""Random filters."""

from bson import Regex

from generate import values

TYPES = [
    "double",
    "string",
    "object",
    "array",
    "null",
    "int",
    "number",
    "bool",
    "date",
    "missing",
    1,
    2,
    3,
    4,
    16,
    18,
]
PATTERNS = ["a", "^a", "b$", "^$", "A", ".", "a|b", "é"]


def filter(random, depth=2):
    parts = {}
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        if depth and random.random() < 0.25:
            parts[random.choice(["$and", "$or", "$nor"])] = [
                filter(random, depth - 1) for _ in range(random.choice([1, 2, 3]))
            ]
        elif random.random() < 0.06:
            parts["$expr"] = comparison(random)
        else:
            parts[values.path(random)] = condition(random, depth)
    return parts


def condition(random, depth):
    if random.random() < 0.25:
        return values.value(random)
    out = {}
    for _ in range(random.choice([1, 1, 2])):
        name, operand = operator(random, depth)
        out[name] = operand
    return out


def operator(random, depth):
    name = random.choice(
        [
            "$eq",
            "$ne",
            "$gt",
            "$gte",
            "$lt",
            "$lte",
            "$in",
            "$nin",
            "$all",
            "$exists",
            "$type",
            "$size",
            "$mod",
            "$regex",
            "$elemMatch",
            "$not",
            "$bitsAllSet",
            "$bitsAnyClear",
        ]
    )
    if name in ("$in", "$nin", "$all"):
        some = [values.value(random, 1) for _ in range(random.choice([0, 1, 2, 3]))]
        if name == "$all" and random.random() < 0.2:
            some = [{"$elemMatch": filter(random, 1)}]
        return name, some
    if name == "$exists":
        return name, random.choice([True, False])
    if name == "$type":
        return name, random.choice([random.choice(TYPES), random.sample(TYPES, 2)])
    if name == "$size":
        return name, random.choice([0, 1, 2, 3])
    if name == "$mod":
        return name, [random.choice([1, 2, 3, -2]), random.choice([0, 1, -1])]
    if name == "$regex":
        return name, random.choice([Regex(random.choice(PATTERNS), "i"), random.choice(PATTERNS)])
    if name.startswith("$bits"):
        return name, random.choice([0, 1, 5, [0], [1, 3]])
    if name == "$elemMatch":
        inner = (
            filter(random, 0) if random.random() < 0.5 else condition_of_operators(random, depth)
        )
        return name, inner
    if name == "$not":
        return name, condition_of_operators(random, depth)
    return name, values.value(random)


def condition_of_operators(random, depth):
    if depth == 0:
        return {random.choice(["$gt", "$lte", "$eq", "$ne"]): values.scalar(random)}
    name, operand = operator(random, depth - 1)
    return {name: operand}


def comparison(random):
    left = "$" + random.choice(values.PATHS)
    right = random.choice(
        ["$" + random.choice(values.PATHS), {"$literal": values.value(random, 1)}]
    )
    return {random.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]): [left, right]}


def sort(random):
    paths = random.sample([p for p in values.PATHS if p != "_id"], random.choice([1, 1, 2]))
    if len({path.split(".")[0] for path in paths}) < len(paths) or (
        len(paths) > 1 and random.random() < 0.7
    ):
        paths = paths[:1]
    return {**{path: random.choice([1, -1]) for path in paths}, "_id": random.choice([1, -1])}
