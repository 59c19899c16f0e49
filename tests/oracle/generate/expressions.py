"""Random expressions, each function with the number of arguments that it takes."""

from generate import values

ARITIES = {
    1: [
        "abs",
        "ceil",
        "floor",
        "trunc",
        "isNumber",
        "isArray",
        "type",
        "size",
        "first",
        "last",
        "reverseArray",
        "not",
        "objectToArray",
        "arrayToObject",
        "toBool",
        "toInt",
        "toLong",
        "toString",
        "toDate",
        "strLenCP",
        "strLenBytes",
        "bsonSize",
        "sum",
        "max",
        "min",
        "avg",
        "mergeObjects",
        "anyElementTrue",
        "allElementsTrue",
        "year",
        "dayOfWeek",
        "toLower",
        "toUpper",
    ],
    2: [
        "add",
        "subtract",
        "multiply",
        "mod",
        "divide",
        "cmp",
        "eq",
        "ne",
        "gt",
        "gte",
        "lt",
        "lte",
        "and",
        "or",
        "in",
        "arrayElemAt",
        "concat",
        "concatArrays",
        "setUnion",
        "setIntersection",
        "setDifference",
        "setEquals",
        "setIsSubset",
        "indexOfArray",
        "split",
        "strcasecmp",
        "ifNull",
        "slice",
        "sum",
        "max",
        "min",
        "indexOfCP",
        "mergeObjects",
    ],
    3: ["cond", "slice", "concat", "add", "substrCP", "and", "or", "max", "ifNull"],
}
ONE_LIST = {"size", "reverseArray", "arrayToObject", "not", "anyElementTrue", "allElementsTrue"}


def expression(random, depth=2, constant=True):
    """Returns an expression that depends on a row: its first arguments are not constants."""
    roll = random.random()
    if depth == 0 or roll < 0.35:
        return leaf(random, constant)
    if roll < 0.42:
        return [expression(random, depth - 1, False) for _ in range(2)]
    if roll < 0.5:
        return {
            name: expression(random, depth - 1, False) for name in random.sample(values.NAMES, 2)
        }
    if roll < 0.62:
        return iteration(random, depth)
    arity = random.choice([1, 1, 2, 2, 3])
    name = random.choice(ARITIES[arity])
    arguments = [expression(random, depth - 1, at > 0) for at in range(arity)]
    return {f"${name}": arguments if arity > 1 or name in ONE_LIST else [arguments[0]]}


def iteration(random, depth):
    form = random.choice(["map", "filter", "reduce", "let", "switch", "getField", "sortArray"])
    inner, outer = expression(random, depth - 1), expression(random, depth - 1, False)
    if form == "map":
        return {
            "$map": {
                "input": outer,
                "in": random.choice(["$$this", "$$this.a", {"$eq": ["$$this", inner]}, inner]),
            }
        }
    if form == "filter":
        return {
            "$filter": {
                "input": outer,
                "cond": random.choice(["$$this", {"$gt": ["$$this", inner]}, inner]),
            }
        }
    if form == "reduce":
        return {
            "$reduce": {
                "input": outer,
                "initialValue": [],
                "in": {"$concatArrays": ["$$value", ["$$this"]]},
            }
        }
    if form == "let":
        return {
            "$let": {"vars": {"x": outer}, "in": random.choice(["$$x", "$$x.a", ["$$x", inner]])}
        }
    if form == "switch":
        return {"$switch": {"branches": [{"case": outer, "then": inner}], "default": 0}}
    if form == "sortArray":
        return {"$sortArray": {"input": outer, "sortBy": random.choice([1, -1])}}
    return {"$getField": {"field": random.choice(values.NAMES), "input": outer}}


def leaf(random, constant):
    if not constant or random.random() < 0.6:
        return "$" + values.path(random)
    return {"$literal": values.value(random, 1)}
