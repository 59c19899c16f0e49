"""Random updates: operators on random paths, replacements and pipelines."""

from bson import Int64

from generate import filters, pipelines, values

PATHS = [
    "a",
    "b",
    "c",
    "a.b",
    "a.0",
    "b.c",
    "a.0.b",
    "c.a",
    "a.$[]",
    "a.$[].b",
    "a.$",
    "a.$[i]",
    "a.2",
    "b.$[i].c",
    "d",
    "d.e",
]


def update(random):
    roll = random.random()
    if roll < 0.07:
        return values.document(random, 2), None
    if roll < 0.17:
        return [pipelines.reshape(random, update=True) for _ in range(random.choice([1, 2]))], None
    out = {}
    for path in random.sample(PATHS, random.choice([1, 1, 2, 3])):
        name, operand = operation(random)
        out.setdefault(name, {})[path] = operand
    used = any("[i]" in path for fields in out.values() for path in fields)
    return out, ([array_filter(random)] if used else None)


def array_filter(random):
    if random.random() < 0.5:
        return {"i": filters.condition_of_operators(random, 1)}
    return {"i." + random.choice(values.NAMES): filters.condition(random, 0)}


def operation(random):
    name = random.choice(
        [
            "$set",
            "$set",
            "$unset",
            "$inc",
            "$mul",
            "$min",
            "$max",
            "$push",
            "$push",
            "$addToSet",
            "$pull",
            "$pullAll",
            "$pop",
            "$bit",
            "$rename",
            "$setOnInsert",
        ]
    )
    if name in ("$inc", "$mul"):
        return name, random.choice([1, 2, -1, Int64(3), 1.5, 0, 2**31 - 1])
    if name == "$pop":
        return name, random.choice([1, -1])
    if name == "$bit":
        return name, {random.choice(["and", "or", "xor"]): random.choice([1, 6, Int64(5)])}
    if name == "$rename":
        return name, random.choice(["c", "d", "x", "b.c", "d.e"])
    if name == "$unset":
        return name, 1
    if name == "$pull":
        return name, random.choice([filters.condition(random, 1), values.value(random, 1)])
    if name == "$pullAll":
        return name, [values.value(random, 1) for _ in range(2)]
    if name == "$push" and random.random() < 0.6:
        return name, pushed(random)
    if name == "$addToSet" and random.random() < 0.4:
        return name, {"$each": [values.value(random, 1) for _ in range(2)]}
    return name, values.value(random)


def pushed(random):
    out = {"$each": [values.value(random, 1) for _ in range(random.choice([0, 1, 2]))]}
    if random.random() < 0.5:
        out["$position"] = random.choice([0, 1, -1, 10])
    if random.random() < 0.5:
        out["$slice"] = random.choice([0, 1, 2, -1, -2, 5])
    if random.random() < 0.4:
        out["$sort"] = random.choice([1, -1, {"a": 1}, {"b": -1}, {"a.b": 1}])
    return out
