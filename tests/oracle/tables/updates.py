"""Every update operator with every value on every value: one findAndModify per document."""

from both.case import Case, Table
from bson import Decimal128, Int64
from values import ALL, SOME

PAIRED = [
    "inc",
    "mul",
    "min",
    "max",
    "bit",
    "set",
    "push",
    "addToSet",
    "pull",
    "pullAll",
    "setOnInsert",
]
ELEMENTS = {
    "push each": lambda v: {"$push": {"a": {"$each": [v, 1]}}},
    "push each of": lambda v: {"$push": {"a": {"$each": v}}},
    "push position": lambda v: {"$push": {"a": {"$each": [7], "$position": v}}},
    "push slice": lambda v: {"$push": {"a": {"$each": [7], "$slice": v}}},
    "push sort": lambda v: {"$push": {"a": {"$each": [2], "$sort": v}}},
    "push sort 1": lambda v: {"$push": {"a": {"$each": [v, 2], "$sort": 1}}},
    "push sort a": lambda v: {"$push": {"a": {"$each": [v], "$sort": {"a": -1}}}},
    "addToSet each": lambda v: {"$addToSet": {"a": {"$each": [v, 1, v]}}},
    "addToSet each of": lambda v: {"$addToSet": {"a": {"$each": v}}},
    "pull eq": lambda v: {"$pull": {"a": {"$eq": v}}},
    "pull gte": lambda v: {"$pull": {"a": {"$gte": v}}},
    "pull in": lambda v: {"$pull": {"a": {"$in": [v, 1]}}},
    "pull field": lambda v: {"$pull": {"a": {"a": v}}},
    "pullAll of": lambda v: {"$pullAll": {"a": [v, 1]}},
    "pop": lambda v: {"$pop": {"a": v}},
    "unset": lambda v: {"$unset": {"a": v}},
    "bit and": lambda v: {"$bit": {"a": {"and": v}}},
    "bit or": lambda v: {"$bit": {"a": {"or": v}}},
    "bit xor": lambda v: {"$bit": {"a": {"xor": v}}},
    "set b": lambda v: {"$set": {"a.b": v}},
    "set 0": lambda v: {"$set": {"a.0": v}},
    "set 2": lambda v: {"$set": {"a.2": v}},
    "set 0.b": lambda v: {"$set": {"a.0.b": v}},
    "inc 0": lambda v: {"$inc": {"a.0": v}},
    "unset 0": lambda v: {"$unset": {"a.0": v}},
    "set all": lambda v: {"$set": {"a.$[]": v}},
    "inc all": lambda v: {"$inc": {"a.$[]": v}},
    "set all b": lambda v: {"$set": {"a.$[].b": v}},
    "rename": lambda v: {"$rename": {"a": v}},
    "currentDate": lambda v: {"$currentDate": {"z": v}, "$unset": {"z": 1}},
    "replace": lambda v: {"z": v},
    "update": lambda v: v,
    "set of": lambda v: {"$set": v},
    "two": lambda v: {"$set": {"a": v}, "$unset": {"b": 1}},
}
TARGETS = [
    "int 0",
    "int 2",
    "int max",
    "int min",
    "long max",
    "long min",
    "double 1.5",
    "double nan",
    "double -0",
    "double 2^63",
    "decimal 1.50",
    "decimal nan",
    "null",
    "string a",
    "date 2020",
    "array []",
    "array 123",
    "array objects",
    "array nested",
    "array mixed",
    "object {}",
    "object a",
    "object deep",
    "true",
]
FIXED = {
    "rename b": {"$rename": {"a": "b"}},
    "rename in": {"$rename": {"a.a": "z"}},
    "rename to": {"$rename": {"a": "z.y"}},
    "rename deep": {"$rename": {"a.b": "a.c"}},
    "rename self": {"$rename": {"a": "a"}},
    "rename 0": {"$rename": {"a.0": "z"}},
    "rename missing": {"$rename": {"zz": "a"}},
    "rename empty": {"$rename": {"a": ""}},
    "rename under": {"$rename": {"a": "a.x"}},
    "pop 1": {"$pop": {"a": 1}},
    "pop -1": {"$pop": {"a": -1}},
    "pop in": {"$pop": {"a.0": 1}},
    "pop 2": {"$pop": {"a": 2}},
    "unset a": {"$unset": {"a.a": ""}},
    "unset all": {"$unset": {"a.$[]": 1}},
    "unset deep": {"$unset": {"a.b.c": 1}},
    "inc deep": {"$inc": {"a.b.c": 1}},
    "mul missing": {"$mul": {"z": Int64(3)}},
    "mul decimal": {"$mul": {"z": Decimal128("1.5")}},
    "min deep": {"$min": {"a.x": 1}},
    "push deep": {"$push": {"a.b": 1}},
    "push 0": {"$push": {"a.0": 1}},
    "push all": {"$push": {"a.$[]": 1}},
    "conflict": {"$set": {"a": 1, "a.b": 2}},
    "conflict 2": {"$set": {"a.b": 1}, "$inc": {"a": 2}},
    "conflict same": {"$set": {"a": 1}, "$unset": {"a": 1}},
    "positional": {"$set": {"a.$": 1}},
    "positional deep": {"$set": {"a.$.b": 1}},
    "set _id": {"$set": {"_id": 1}},
    "unset _id": {"$unset": {"_id": 1}},
    "inc _id": {"$inc": {"_id": 0}},
    "inc _id 1": {"$inc": {"_id": 1}},
    "set dotted": {"$set": {"a..b": 1}},
    "set empty": {"$set": {"": 1}},
    "set end": {"$set": {"a.": 1}},
    "set dollar": {"$set": {"$x": 1}},
    "set in dollar": {"$set": {"a.$x": 1}},
    "set far": {"$set": {"a.1500000": 1}},
    "set 00": {"$set": {"a.00": 1}},
    "set -1": {"$set": {"a.-1": 1}},
    "empty set": {"$set": {}},
    "empty": {},
    "unknown": {"$foo": {"a": 1}},
    "mixed": {"$set": {"a": 1}, "b": 1},
    "mixed 2": {"b": 1, "$set": {"a": 1}},
    "order": {"$set": {"z": 1, "b": 2, "a.zz": 3, "c": 4}},
    "order numbers": {"$set": {"n.10": 1, "n.9": 2, "n.a": 3}},
    "pipeline set": [{"$set": {"a": ["$a", 1]}}],
    "pipeline unset": [{"$unset": "a"}],
    "pipeline replace": [{"$replaceWith": {"x": "$a"}}],
    "pipeline project": [{"$project": {"a": 1}}],
    "pipeline project 0": [{"$project": {"a": 0}}],
    "pipeline []": [],
    "pipeline bad": [{"$match": {}}],
    "pipeline two": [{"$set": {"a": 1}}, {"$addFields": {"b": "$a"}}],
    "pipeline _id": [{"$set": {"_id": 5}}],
    "pipeline remove": [{"$set": {"a": "$$REMOVE"}}],
    "pipeline deep": [{"$set": {"a.b": 1}}],
    "pipeline object": [{"$set": {"a": {"b": {"c": 1}}}}],
    "pipeline now": [{"$set": {"z": {"$type": "$$NOW"}}}],
    "bit two": {"$bit": {"a": {"and": 6, "or": 1}}},
    "bit empty": {"$bit": {"a": {}}},
    "bit bad": {"$bit": {"a": {"nand": 1}}},
    "bit 1": {"$bit": {"a": 1}},
    "bit double": {"$bit": {"a": {"or": 1.0}}},
    "bit long": {"$bit": {"a": {"xor": Int64(2**40)}}},
    "push bad": {"$push": {"a": {"$each": [1], "$foo": 1}}},
    "push no each": {"$push": {"a": {"$slice": 1}}},
    "push mixed": {"$push": {"a": {"x": 1, "$each": [1]}}},
    "push none": {"$push": {"a": {"$each": []}}},
    "push all mods": {"$push": {"a": {"$each": [5, 4], "$position": 1, "$slice": -3, "$sort": -1}}},
    "push sort bad": {"$push": {"a": {"$each": [5], "$sort": {"a": 2}}}},
    "push sort two": {"$push": {"a": {"$each": [{"a": 0, "b": 1}], "$sort": {"a": 1, "b": -1}}}},
    "pull elem": {"$pull": {"a": {"$elemMatch": {"$gt": 1}}}},
    "pull {}": {"$pull": {"a": {}}},
    "pull null": {"$pull": {"a": None}},
    "pull exact": {"$pull": {"a": {"a": 1}}},
    "pull array": {"$pull": {"a": [1, 2]}},
    "pull and": {"$pull": {"a": {"a": {"$gte": 1}, "b": None}}},
    "pull not": {"$pull": {"a": {"$not": {"$gt": 1}}}},
    "pull or": {"$pull": {"a": {"$or": [{"a": 1}, {"b": 1}]}}},
    "pull exists": {"$pull": {"a": {"b": {"$exists": True}}}},
    "pull nested": {"$pull": {"a.0": 1}},
    "pull regex": {"$pull": {"a": {"$regex": "^a"}}},
    "pull size": {"$pull": {"a": {"$size": 2}}},
    "pull two": {"$pull": {"a": {"$gt": 0, "$lt": 3}}},
    "pull type": {"$pull": {"a": {"$type": "null"}}},
    "setOnInsert": {"$setOnInsert": {"a": 1}},
    "not object": {"$set": 5},
    "inc text": {"$inc": {"a": "x"}},
    "currentDate bad": {"$currentDate": {"a": "x"}},
    "currentDate type bad": {"$currentDate": {"a": {"$type": "x"}}},
    "filter": {"$set": {"a.$[i]": 0}},
    "filter deep": {"$inc": {"a.$[i].a": 10}},
    "filter both": {"$set": {"a.$[i].b.$[]": 0}},
    "filter unused": {"$set": {"b": 1}},
    "filter missing": {"$set": {"a.$[j]": 0}},
}
ARRAY_FILTERS = {
    "filter": [{"i": {"$gte": 2}}],
    "filter deep": [{"i.a": 1}],
    "filter both": [{"i.b": {"$exists": True}}],
    "filter unused": [{"i": 1}],
    "filter missing": [{"i": 1}],
}


def tables():
    jobs = []
    for target in TARGETS:
        for op in PAIRED:
            jobs += [
                (f"{op}/{target}/{name}", ALL[target], {f"${op}": {"a": value}})
                for name, value in SOME.items()
            ]
        for form, make in ELEMENTS.items():
            jobs += [
                (f"{form}/{target}/{name}", ALL[target], make(value))
                for name, value in SOME.items()
            ]
        jobs += [(f"fixed/{target}/{name}", ALL[target], update) for name, update in FIXED.items()]
    docs, cases = [], []
    for at, (id, value, update) in enumerate(jobs):
        docs.append({"_id": at, "a": value, "b": 1})
        command = {"findAndModify": "modified", "query": {"_id": at}, "update": update, "new": True}
        name = id.rsplit("/", 1)[1]
        if id.startswith("fixed") and name in ARRAY_FILTERS:
            command["arrayFilters"] = ARRAY_FILTERS[name]
        cases.append(Case(f"update/{id}", [command]))
    inserts = [
        {"insert": "modified", "documents": docs[at : at + 1000]}
        for at in range(0, len(docs), 1000)
    ]
    yield Table("update", cases, inserts, fast=True)
