"""Random pipelines and projections."""

from generate import filters, values
from generate.expressions import expression


def projection(random, find=False):
    if random.random() < 0.4:
        kept = random.choice([0, 1])
        out = dict.fromkeys(random.sample(values.PATHS[:-1], random.choice([1, 2])), kept)
    else:
        out = {
            path: random.choice([1, expression(random)])
            for path in random.sample(values.PATHS[:-1], random.choice([1, 2]))
        }
    if find and random.random() < 0.3:
        out[random.choice(values.NAMES)] = random.choice(
            [
                {"$slice": random.choice([1, -1, [1, 1], [-2, 1]])},
                {"$elemMatch": filters.filter(random, 0)},
                {"$elemMatch": filters.condition_of_operators(random, 1)},
            ]
        )
    if find and random.random() < 0.1:
        out = {random.choice(values.NAMES) + ".$": 1}
    return out


def reshape(random, update=False):
    name = random.choice(["$set", "$set", "$unset", "$project", "$replaceWith"])
    if name == "$set":
        paths = random.sample([p for p in values.PATHS if p != "_id"], random.choice([1, 2]))
        return {"$set": {path: expression(random) for path in paths}}
    if name == "$unset":
        return {
            "$unset": random.sample([p for p in values.PATHS if p != "_id"], random.choice([1, 2]))
        }
    if name == "$project":
        return {"$project": projection(random)}
    if update:
        return {"$replaceWith": {"$mergeObjects": [{"_id": "$_id"}, {"x": expression(random)}]}}
    return {
        "$replaceWith": random.choice(
            [{"_id": "$_id", "x": expression(random)}, "$a", {"$mergeObjects": ["$a", "$b"]}]
        )
    }


ACCUMULATORS = [
    "$sum",
    "$avg",
    "$first",
    "$last",
    "$push",
    "$addToSet",
    "$mergeObjects",
    "$stdDevPop",
    "$firstN",
    "$lastN",
    "$maxN",
    "$count",
]


def group(random):
    out = {"_id": random.choice([None, expression(random, 1), "$" + values.path(random)])}
    for name in random.sample(["x", "y"], random.choice([1, 2])):
        function = random.choice(ACCUMULATORS)
        operand = expression(random, 1)
        if function == "$count":
            operand = {}
        elif function.endswith("N"):
            operand = {"n": 2, "input": operand}
        out[name] = {function: operand}
    return {"$group": out}


def lookup(random):
    local, foreign = values.path(random), values.path(random)
    out = {"from": "c", "localField": local, "foreignField": foreign, "as": "x"}
    if random.random() < 0.3:
        out["pipeline"] = [{"$match": filters.filter(random, 1)}]
    if random.random() < 0.2:
        out = {
            "from": "c",
            "let": {"v": "$" + local},
            "pipeline": [{"$match": {"$expr": {"$eq": ["$$v", "$" + foreign]}}}],
            "as": "x",
        }
    return {"$lookup": out}


def pipeline(random):
    out, keeps_ids = [], True
    for _ in range(random.choice([1, 2, 2, 3, 4])):
        kind = random.choice(
            [
                "match",
                "match",
                "reshape",
                "reshape",
                "unwind",
                "group",
                "lookup",
                "sort",
                "page",
                "facet",
                "count",
                "union",
            ]
        )
        if kind == "match":
            out.append({"$match": filters.filter(random)})
        elif kind == "reshape":
            out.append(reshape(random))
            keeps_ids = False
        elif kind == "unwind":
            path = "$" + random.choice(["a", "b", "c", "a.b", "b.c"])
            out.append(
                {
                    "$unwind": random.choice(
                        [
                            path,
                            {
                                "path": path,
                                "preserveNullAndEmptyArrays": True,
                                "includeArrayIndex": "i",
                            },
                        ]
                    )
                }
            )
            keeps_ids = False
        elif kind == "group":
            out += [group(random), {"$sort": {"_id": 1}}]
            keeps_ids = False
        elif kind == "lookup":
            out.append(lookup(random))
        elif kind == "sort" and keeps_ids:
            out.append({"$sort": filters.sort(random)})
        elif kind == "page":
            out.append({random.choice(["$skip", "$limit"]): random.choice([1, 2, 3])})
        elif kind == "facet" and random.random() < 0.4:
            out.append(
                {"$facet": {"p": [{"$match": filters.filter(random)}], "q": [reshape(random)]}}
            )
            keeps_ids = False
        elif kind == "count" and random.random() < 0.3:
            out.append({"$count": "n"})
            keeps_ids = False
        elif kind == "union" and random.random() < 0.3:
            out.append(
                {"$unionWith": {"coll": "c", "pipeline": [{"$match": filters.filter(random)}]}}
            )
            keeps_ids = False
    return out
