"""Every function of one or two arguments on every value: a find that projects the expression."""

from both.case import Case, Table
from values import ALL, NUMBERS, SOME

UNARY = [
    "abs",
    "ceil",
    "floor",
    "sqrt",
    "exp",
    "ln",
    "log10",
    "trunc",
    "round",
    "toBool",
    "toInt",
    "toLong",
    "toDouble",
    "toDecimal",
    "toString",
    "toDate",
    "toObjectId",
    "type",
    "isNumber",
    "isArray",
    "size",
    "first",
    "last",
    "reverseArray",
    "strLenBytes",
    "strLenCP",
    "toLower",
    "toUpper",
    "objectToArray",
    "arrayToObject",
    "mergeObjects",
    "year",
    "month",
    "dayOfMonth",
    "dayOfWeek",
    "dayOfYear",
    "hour",
    "minute",
    "second",
    "millisecond",
    "week",
    "isoWeek",
    "isoWeekYear",
    "isoDayOfWeek",
    "bsonSize",
    "binarySize",
    "tsSecond",
    "tsIncrement",
    "not",
    "degreesToRadians",
    "radiansToDegrees",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sum",
    "avg",
    "max",
    "min",
    "stdDevPop",
    "stdDevSamp",
    "literal",
    "concat",
    "concatArrays",
    "setUnion",
    "and",
    "or",
    "add",
    "multiply",
    "anyElementTrue",
    "allElementsTrue",
    "setIntersection",
]
WRAPPED = {
    "not": 1,
    "anyElementTrue": 1,
    "allElementsTrue": 1,
    "size": 1,
    "reverseArray": 0,
}
FORMS = {
    "trim": {"$trim": {"input": "$a"}},
    "ltrim": {"$ltrim": {"input": "$a"}},
    "rtrim": {"$rtrim": {"input": "$a"}},
    "trim chars": {"$trim": {"input": "$a", "chars": "a \n"}},
    "dateToParts": {"$dateToParts": {"date": "$a"}},
    "dateToParts iso": {"$dateToParts": {"date": "$a", "iso8601": True}},
    "dateToString": {"$dateToString": {"date": "$a"}},
    "dateToString all": {
        "$dateToString": {"date": "$a", "format": "%Y %m %d %H %M %S %L %j %U %u %w %V %G %z %Z %%"}
    },
    "dateToString zone": {"$dateToString": {"date": "$a", "timezone": "America/New_York"}},
    "dateFromString": {"$dateFromString": {"dateString": "$a"}},
    "dateFromString null": {"$dateFromString": {"dateString": "$a", "onNull": 1, "onError": "no"}},
    "hour zone": {"$hour": {"date": "$a", "timezone": "+05:30"}},
    "hour zone of": {"$hour": {"date": "$$NOW", "timezone": "$a"}},
    "sortArray": {"$sortArray": {"input": "$a", "sortBy": 1}},
    "sortArray a": {"$sortArray": {"input": "$a", "sortBy": {"a": -1}}},
    "filter": {"$filter": {"input": "$a", "cond": {"$gt": ["$$this", 1]}}},
    "map": {"$map": {"input": "$a", "in": {"$type": "$$this"}}},
    "reduce": {"$reduce": {"input": "$a", "initialValue": "", "in": {"$type": "$$this"}}},
    "slice 2": {"$slice": ["$a", 2]},
    "slice -1": {"$slice": ["$a", -1]},
    "slice of": {"$slice": [[1, 2, 3], "$a"]},
    "slice from": {"$slice": [[1, 2, 3], "$a", 2]},
    "slice count": {"$slice": [[1, 2, 3], 0, "$a"]},
    "range to": {"$range": [0, "$a", 1000000000]},
    "range step": {"$range": [0, 10, "$a"]},
    "in": {"$in": [1, "$a"]},
    "cond": {"$cond": ["$a", 1, 2]},
    "ifNull": {"$ifNull": ["$a", "none"]},
    "zip": {"$zip": {"inputs": ["$a", [1, 2]], "useLongestLength": True, "defaults": [0, 9]}},
    "getField": {"$getField": {"field": "a", "input": "$a"}},
    "getField of": {"$getField": {"field": "$a", "input": {"a": 1}}},
    "setField": {"$setField": {"field": "a", "input": "$a", "value": 9}},
    "switch": {"$switch": {"branches": [{"case": "$a", "then": "yes"}], "default": "no"}},
    "let": {"$let": {"vars": {"x": "$a"}, "in": ["$$x"]}},
    "regexMatch": {"$regexMatch": {"input": "$a", "regex": "a"}},
    "regexMatch by": {"$regexMatch": {"input": "abc", "regex": "$a"}},
    "regexFind": {"$regexFind": {"input": "$a", "regex": "(a)|(b)"}},
    "regexFindAll": {"$regexFindAll": {"input": "$a", "regex": ".", "options": "s"}},
    "split": {"$split": ["$a", ","]},
    "split by": {"$split": ["a,b", "$a"]},
    "replaceOne": {"$replaceOne": {"input": "$a", "find": "a", "replacement": "z"}},
    "replaceAll find": {"$replaceAll": {"input": "abc", "find": "$a", "replacement": "z"}},
    "substrCP": {"$substrCP": ["$a", 1, 1]},
    "substrBytes": {"$substrBytes": ["$a", 0, 2]},
    "substrCP at": {"$substrCP": ["xyz", "$a", 1]},
    "substrBytes at": {"$substrBytes": ["xyz", "$a", 1]},
    "substrCP len": {"$substrCP": ["xyz", 1, "$a"]},
    "substrBytes len": {"$substrBytes": ["xyz", 0, "$a"]},
    "indexOfCP": {"$indexOfCP": ["$a", "b"]},
    "indexOfBytes": {"$indexOfBytes": ["$a", "b"]},
    "indexOfCP at": {"$indexOfCP": ["abcabc", "b", "$a"]},
    "indexOfArray at": {"$indexOfArray": [[1, 2, 1], 1, "$a"]},
    "dateFromParts year": {"$dateFromParts": {"year": "$a"}},
    "dateFromParts month": {"$dateFromParts": {"year": 2020, "month": "$a"}},
    "dateFromParts ms": {"$dateFromParts": {"year": 2020, "millisecond": "$a"}},
    "dateFromParts week": {"$dateFromParts": {"isoWeekYear": 2020, "isoWeek": "$a"}},
    "dateTrunc": {"$dateTrunc": {"date": "$a", "unit": "month"}},
    "dateTrunc bin": {"$dateTrunc": {"date": "$a", "unit": "week", "binSize": 3}},
    "dateTrunc size": {"$dateTrunc": {"date": "$$NOW", "unit": "year", "binSize": "$a"}},
    "dateDiff": {"$dateDiff": {"startDate": "$a", "endDate": {"$toDate": 0}, "unit": "day"}},
    "dateAdd": {"$dateAdd": {"startDate": "$a", "unit": "month", "amount": 1}},
    "dateAdd amount": {"$dateAdd": {"startDate": {"$toDate": 0}, "unit": "month", "amount": "$a"}},
    "dateAdd unit": {"$dateAdd": {"startDate": {"$toDate": 0}, "unit": "$a", "amount": 1}},
    "maxN": {"$maxN": {"n": 2, "input": "$a"}},
    "minN": {"$minN": {"n": 2, "input": "$a"}},
    "firstN": {"$firstN": {"n": 2, "input": "$a"}},
    "lastN": {"$lastN": {"n": 2, "input": "$a"}},
    "lastN n": {"$lastN": {"n": "$a", "input": [1, 2, 3]}},
    "round 1": {"$round": ["$a", 1]},
    "round -1": {"$round": ["$a", -1]},
    "trunc 1": {"$trunc": ["$a", 1]},
    "round place": {"$round": [123.456, "$a"]},
    "trunc place": {"$trunc": [123456, "$a"]},
    "arrayElemAt": {"$arrayElemAt": ["$a", -1]},
    "arrayElemAt at": {"$arrayElemAt": [[1, 2], "$a"]},
    "path b": "$a.b",
    "path a": "$a.a",
    "path 0": "$a.0",
    "path b.c": "$a.b.c",
    "object": {"x": "$a", "y": {"z": "$a.a"}},
    "array": ["$a", "$missing"],
    "switch type": {"$eq": [{"$type": "$a"}, "missing"]},
    "concat right": {"$concat": ["x", "$a"]},
    "strcasecmp": {"$strcasecmp": ["$a", "ABC"]},
    "divide by": {"$divide": [7, "$a"]},
    "mod by": {"$mod": [7, "$a"]},
    "mod": {"$mod": ["$a", 3]},
    "pow -1": {"$pow": ["$a", -1]},
    "log 2": {"$log": ["$a", 2]},
    "log base": {"$log": [8, "$a"]},
    "sum pair": {"$sum": ["$a", "$a"]},
    "avg pair": {"$avg": ["$a", 1]},
    "max pair": {"$max": ["$a", 1]},
    "setEquals": {"$setEquals": ["$a", [1, 2, 3]]},
    "setIsSubset": {"$setIsSubset": ["$a", [1, 2, 3]]},
    "unsetField": {"$unsetField": {"field": "a", "input": "$a"}},
    "merge": {"$mergeObjects": ["$a", {"z": 1}]},
    "eq null": {"$eq": ["$a", None]},
}
TARGETS = [
    "double",
    "string",
    "objectId",
    "bool",
    "date",
    "int",
    "long",
    "decimal",
    "timestamp",
    "array",
    1,
    2,
    7,
    8,
    9,
    16,
    18,
    19,
    99,
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "mod",
    "pow",
    "log",
    "atan2",
    "cmp",
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "arrayElemAt",
    "concat",
    "concatArrays",
    "setUnion",
    "setIntersection",
    "setDifference",
    "setEquals",
    "setIsSubset",
    "split",
    "indexOfArray",
    "indexOfBytes",
    "indexOfCP",
    "strcasecmp",
    "ifNull",
    "round",
    "trunc",
    "slice",
    "range",
    "and",
    "or",
    "sum",
    "avg",
    "max",
    "min",
    "stdDevPop",
    "stdDevSamp",
    "mergeObjects",
]


def tables():
    docs = [{"_id": 0}] + [{"_id": at + 1, "a": value} for at, value in enumerate(ALL.values())]
    names = ["missing", *ALL]
    forms = {op: {f"${op}": ["$a"] if WRAPPED.get(op) else "$a"} for op in UNARY} | FORMS
    forms |= {f"convert {to}": {"$convert": {"input": "$a", "to": to}} for to in TARGETS}
    forms |= {
        f"convert {to} else": {
            "$convert": {"input": "$a", "to": to, "onError": "bad", "onNull": "nil"}
        }
        for to in TARGETS[:8]
    }
    forms["convert to"] = {"$convert": {"input": 1, "to": "$a"}}
    yield Table(
        "one",
        [
            found(f"one/{form}/{name}", "one", at, expression)
            for form, expression in forms.items()
            for at, name in enumerate(names)
        ],
        setup("one", docs),
        fast=True,
    )

    pairs = [(left, right) for left in SOME for right in SOME]
    docs = [
        {"_id": at, "a": SOME[left], "b": SOME[right]} for at, (left, right) in enumerate(pairs)
    ]
    yield Table(
        "two",
        [
            found(f"two/{op}/{left},{right}", "two", at, {f"${op}": ["$a", "$b"]}, "set" in op)
            for op in BINARY
            for at, (left, right) in enumerate(pairs)
        ],
        setup("two", docs),
        fast=True,
    )

    exact = list(NUMBERS)
    pairs = [(left, right) for left in exact for right in exact]
    docs = [{"_id": at, "a": ALL[left], "b": ALL[right]} for at, (left, right) in enumerate(pairs)]
    yield Table(
        "numbers",
        [
            found(f"numbers/{op}/{left},{right}", "numbers", at, {f"${op}": ["$a", "$b"]})
            for op in ["add", "subtract", "multiply", "divide", "mod", "cmp", "pow"]
            for at, (left, right) in enumerate(pairs)
        ],
        setup("numbers", docs),
        fast=True,
    )


def setup(name, docs):
    return [{"insert": name, "documents": docs[at : at + 500]} for at in range(0, len(docs), 500)]


def found(id, collection, at, expression, bag=False):
    command = {"find": collection, "filter": {"_id": at}, "projection": {"_id": 0, "r": expression}}
    return Case(id, [command], loose=frozenset(["arrays"]) if bag else frozenset())
