"""A random case: documents, and one read or write of them; our server may have indexes that the
oracle does not have."""

import random as randomness

from both.case import Case

from generate import filters, pipelines, updates, values

INDEXES = [
    {"a": 1},
    {"b": -1},
    {"a.b": 1},
    {"a": 1, "b": 1},
    {"c": 1, "a": -1},
    {"a.0": 1},
    {"b.c": 1, "c": 1},
]


def case(seed):
    random = randomness.Random(seed)
    docs = values.documents(random)
    kind = random.choice(
        ["find", "find", "indexed", "update", "update", "aggregate", "aggregate", "distinct"]
    )
    made = {
        "find": find,
        "indexed": find,
        "update": update,
        "aggregate": aggregate,
        "distinct": distinct,
    }[kind](random, seed, docs)
    made.failures_alike = True
    if kind == "indexed":
        made.ours_first = [
            {
                "createIndexes": "c",
                "indexes": [
                    {"key": key, "name": f"i{at}"}
                    for at, key in enumerate(random.sample(INDEXES, random.choice([1, 2])))
                ],
            }
        ]
        made.drops = ("c",)
    return made


def find(random, seed, docs):
    command = {"find": "c", "filter": filters.filter(random)}
    if random.random() < 0.4:
        command["sort"] = filters.sort(random)
    if random.random() < 0.4:
        command["projection"] = pipelines.projection(random, find=True)
    if "sort" in command and random.random() < 0.3:
        command |= {"skip": random.choice([0, 1]), "limit": random.choice([1, 2, 3])}
    return Case(
        f"random/{seed}",
        [command],
        docs,
        loose=frozenset() if "sort" in command else frozenset(["rows"]),
    )


def update(random, seed, docs):
    change, array_filters = updates.update(random)
    statement = {
        "q": filters.filter(random, 1),
        "u": change,
        "multi": random.random() < 0.5 and not isinstance(change, list),
    }
    if array_filters:
        statement["arrayFilters"] = array_filters
    return Case(f"random/{seed}", [{"update": "c", "updates": [statement]}], docs, writes=True)


def aggregate(random, seed, docs):
    command = {"aggregate": "c", "pipeline": pipelines.pipeline(random), "cursor": {}}
    text = str(command)
    grouped = "$group" in text
    loose = (
        ["arrays"]
        if "$addToSet" in text or "$set" in text or (grouped and "$facet" in text)
        else []
    )
    loose += ["rows"] if grouped else []
    return Case(f"random/{seed}", [command], docs, loose=frozenset(loose))


def distinct(random, seed, docs):
    return Case(
        f"random/{seed}",
        [{"distinct": "c", "key": values.path(random), "query": filters.filter(random)}],
        docs,
        loose=frozenset(["rows"]),
    )
