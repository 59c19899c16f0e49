//! Stages that read other collections or contain pipelines: `$lookup`, `$unionWith`,
//! `$graphLookup`, `$facet`.

pub(super) const ROWS: &[(&str, &str)] = &[
    // Documents of `$documents` are joined by `localField` and `foreignField`, too.
    (
        "[{$limit: 1}, {$project: {a: 1}}, {$lookup: {from: 't', localField: 'a', foreignField: 'y', pipeline: [{$documents: [{y: 1}, {y: 2}]}, {$set: {z: 3}}], as: 'r'}}]",
        "{_id: 1, a: 1, r: [{y: 1, z: 3}]}",
    ),
    // A value on the path that is not a document is replaced by one.
    (
        "[{$limit: 1}, {$lookup: {from: 't', pipeline: [{$documents: [{y: 1}]}], as: 'l.r'}}]",
        "{_id: 1, a: 1, x: 'p', o: {e: 2}, l: {r: [{y: 1}]}}",
    ),
    (
        "[{$limit: 1}, {$lookup: {from: 't', pipeline: [{$documents: [{y: 1}]}], as: 'o.r.s'}}, {$unwind: '$o.r.s'}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2, r: {s: {y: 1}}}}",
    ),
    (
        "[{$facet: {}}]",
        "error 40169: the $facet specification must be a non-empty object, but found: $facet: {}",
    ),
    (
        "[{$facet: 1}]",
        "error 40169: the $facet specification must be a non-empty object, but found: $facet: 1",
    ),
    ("[{$facet: {a: 1}}]", "error 40170: arguments to $facet must be arrays, a is type int"),
    (
        "[{$facet: {a: [{$match: {a: 1}}], b: [{$count: 'n'}]}}]",
        "{a: [{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}], b: [{n: 5}]}",
    ),
    (
        "[{$facet: {a: [{$facet: {x: []}}]}}]",
        "error 40600: $facet is not allowed to be used within a $facet stage",
    ),
    (
        "[{$facet: {a: [{$lookup: {from: 'u', pipeline: [{$facet: {x: []}}], as: 'r'}}]}}]",
        "error 40600: $facet is not allowed to be used within a $facet stage",
    ),
    (
        "[{$facet: {a: [{$unionWith: {coll: 'u', pipeline: [{$facet: {x: []}}]}}]}}]",
        "error 40600: $facet is not allowed to be used within a $facet stage",
    ),
    ("[{$facet: {'': []}}]", "error 15998: FieldPath field names may not be empty strings."),
    (
        "[{$lookup: {from: '', localField: 'a', foreignField: 'b', as: 'r'}}]",
        "error 73: invalid $lookup namespace: ",
    ),
    ("[{$lookup: {from: '.x', pipeline: [], as: 'r'}}]", "error 73: invalid $lookup namespace: .x"),
    ("[{$unionWith: 'a$b'}]", "error 73: invalid $unionWith namespace: a$b"),
    (
        "[{$graphLookup: {from: '', startWith: 1, connectFromField: 'a', connectToField: 'b', as: 'r'}}]",
        "error 73: invalid $graphLookup namespace: ",
    ),
    (
        "[{$facet: {a: [{$out: 'x'}]}}]",
        "error 40600: $out is not allowed to be used within a $facet stage",
    ),
    (
        "[{$facet: {$a: []}}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$facet: {'a.b': []}}]",
        "error 16412: FieldPath field names may not contain '.'. Consider using $getField or $setField.",
    ),
    (
        "[{$facet: {a: []}}]",
        "{a: [{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}, {_id: 2, a: NumberLong(2), x: 'q', l: []}, {_id: 3, a: 2.5, x: 'p'}, {_id: 4, a: 's', l: 5, x: null}, {_id: 5, l: null}]}",
    ),
    (
        "[{$facet: {a: [{$collStats: {}}]}}]",
        "error 40600: $collStats is not allowed to be used within a $facet stage",
    ),
    (
        "[{$facet: {a: [{$limit: 1}, {$currentOp: {}}]}}]",
        "error 40600: $currentOp is not allowed to be used within a $facet stage",
    ),
    ("[{$lookup: 1}]", "error 9: the $lookup stage specification must be an object, but found int"),
    ("[{$lookup: {from: 'u'}}]", "error 9: must specify 'as' field for a $lookup"),
    ("[{$lookup: {from: 1}}]", "error 9: $lookup 'from' field must be a string, but found int"),
    (
        "[{$lookup: {from: 't', as: 'j'}}]",
        "error 9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ),
    (
        "[{$lookup: {from: 't', localField: '', foreignField: '', as: 'j'}}]",
        "error 9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: '', pipeline: [], as: 'j'}}]",
        "error 9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ),
    (
        "[{$limit: 1}, {$lookup: {from: 't', localField: '', foreignField: '', pipeline: [{$project: {_id: 1}}], as: 'a'}}]",
        "{_id: 1, a: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}, {_id: 5}], x: 'p', l: [1, 2], o: {e: 2}}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', as: 'j'}}]",
        "error 9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a', as: 'j', z: 1}}]",
        "error 9: $lookup argument 'z' must be a string, found z: 1: int",
    ),
    (
        "[{$lookup: {from: 't', localField: 1, foreignField: 'a', as: 'j'}}]",
        "error 9: $lookup argument 'localField' must be a string, found localField: 1: int",
    ),
    (
        "[{$lookup: {from: 't', localField: '$a', foreignField: 'a', as: 'j'}}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a', as: '$j'}}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a'}}]",
        "error 9: must specify 'as' field for a $lookup",
    ),
    (
        "[{$lookup: {from: 't', pipeline: 1, as: 'j'}}]",
        "error 14: 'pipeline' option must be specified as an array",
    ),
    (
        "[{$lookup: {from: 't', let: 1, pipeline: [], as: 'j'}}]",
        "error 9: $lookup argument 'let: 1' must be an object, is type int",
    ),
    (
        "[{$lookup: {from: 't', let: {X: 1}, pipeline: [], as: 'j'}}]",
        "error 9: 'X' starts with an invalid character for a user variable name",
    ),
    (
        "[{$lookup: {pipeline: [], as: 'j'}}]",
        "error 9: $lookup stage without explicit collection must have a pipeline with $documents as first stage",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a', let: {x: 1}, as: 'j'}}]",
        "error 9: $lookup with a 'let' argument must also specify 'pipeline'",
    ),
    (
        "[{$lookup: {from: {db: 'x', coll: 'y'}, localField: 'a', foreignField: 'a', as: 'j'}}]",
        "error 9: $lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: x and coll: y",
    ),
    (
        "[{$lookup: {from: 't', let: {}, pipeline: [{$out: 'x'}], as: 'j'}}]",
        "error 51047: $out is not allowed within a $lookup's sub-pipeline",
    ),
    (
        "[{$unionWith: 1}]",
        "error 9: the $unionWith stage specification must be an object or string, but found int",
    ),
    (
        "[{$unionWith: {}}]",
        "error 9: $unionWith stage without explicit collection must have a pipeline with $documents as first stage",
    ),
    (
        "[{$unionWith: {coll: 1}}]",
        "error 14: BSON field '$unionWith.coll' is the wrong type 'int', expected type 'string'",
    ),
    (
        "[{$unionWith: {coll: 't', z: 1}}]",
        "error 40415: BSON field '$unionWith.z' is an unknown field.",
    ),
    (
        "[{$unionWith: {coll: 't', pipeline: [{$limit: 1}]}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}; {_id: 3, a: 2.5, x: 'p'}; {_id: 4, a: 's', l: 5, x: null}; {_id: 5, l: null}; {_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}",
    ),
    (
        "[{$unionWith: {coll: 't', pipeline: 1}}]",
        "error 14: BSON field '$unionWith.pipeline' is the wrong type 'int', expected type 'array'",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: '_id', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: [{_id: 1}]}; {_id: 2, j: [{_id: 2}]}; {_id: 3, j: []}; {_id: 4, j: []}; {_id: 5, j: []}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'l', foreignField: '_id', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: [{_id: 1}, {_id: 2}]}; {_id: 2, j: []}; {_id: 3, j: []}; {_id: 4, j: [{_id: 5}]}; {_id: 5, j: []}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'x', foreignField: 'zz', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: []}; {_id: 2, j: []}; {_id: 3, j: []}; {_id: 4, j: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}, {_id: 5}]}; {_id: 5, j: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}, {_id: 5}]}",
    ),
    (
        "[{$lookup: {from: 't', localField: '_id', foreignField: 'l', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: [{_id: 1}]}; {_id: 2, j: [{_id: 1}]}; {_id: 3, j: []}; {_id: 4, j: []}; {_id: 5, j: [{_id: 4}]}",
    ),
    (
        "[{$lookup: {from: 't', let: {i: '$_id'}, pipeline: [{$match: {$expr: {$lt: ['$_id', '$$i']}}}, {$project: {a: 1}}], as: 'j.k'}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}, j: {k: []}}; {_id: 2, a: NumberLong(2), x: 'q', l: [], j: {k: [{_id: 1, a: 1}]}}; {_id: 3, a: 2.5, x: 'p', j: {k: [{_id: 1, a: 1}, {_id: 2, a: NumberLong(2)}]}}; {_id: 4, a: 's', l: 5, x: null, j: {k: [{_id: 1, a: 1}, {_id: 2, a: NumberLong(2)}, {_id: 3, a: 2.5}]}}; {_id: 5, l: null, j: {k: [{_id: 1, a: 1}, {_id: 2, a: NumberLong(2)}, {_id: 3, a: 2.5}, {_id: 4, a: 's'}]}}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'x', foreignField: 'x', let: {i: '$_id'}, pipeline: [{$match: {$expr: {$ne: ['$_id', '$$i']}}}, {$count: 'n'}], as: 'j'}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}, j: [{n: 1}]}; {_id: 2, a: NumberLong(2), x: 'q', l: [], j: []}; {_id: 3, a: 2.5, x: 'p', j: [{n: 1}]}; {_id: 4, a: 's', l: 5, x: null, j: [{n: 1}]}; {_id: 5, l: null, j: [{n: 1}]}",
    ),
    (
        "[{$lookup: {from: 't', pipeline: [{$sort: {_id: -1}}, {$limit: 1}, {$project: {_id: 1}}], as: 'a'}}]",
        "{_id: 1, a: [{_id: 5}], x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: [{_id: 5}], x: 'q', l: []}; {_id: 3, a: [{_id: 5}], x: 'p'}; {_id: 4, a: [{_id: 5}], l: 5, x: null}; {_id: 5, l: null, a: [{_id: 5}]}",
    ),
    (
        "[{$facet: {a: [{$lookup: {from: 't', localField: 'a', foreignField: '_id', as: 'j'}}, {$unwind: '$j'}, {$project: {j: '$j._id'}}], b: [{$limit: 1}]}}]",
        "{a: [{_id: 1, j: 1}, {_id: 2, j: 2}], b: [{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}]}",
    ),
    ("[{$unionWith: 't'}, {$count: 'n'}]", "{n: 10}"),
    (
        "[{$unionWith: {coll: 't', pipeline: [{$match: {_id: {$gt: 3}}}]}}, {$project: {_id: 1}}]",
        "{_id: 1}; {_id: 2}; {_id: 3}; {_id: 4}; {_id: 5}; {_id: 4}; {_id: 5}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$x', connectFromField: 'o.e', connectToField: 'x', as: 'r'}}, {$project: {'r._id': 1}}]",
        "{_id: 1, r: [{_id: 1}, {_id: 3}]}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$_id', connectFromField: 'l', connectToField: '_id', as: 'r', depthField: 'd'}}, {$project: {'r._id': 1, 'r.d': 1}}]",
        "{_id: 1, r: [{_id: 1, d: NumberLong(0)}, {_id: 2, d: NumberLong(1)}]}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$_id', connectFromField: 'l', connectToField: '_id', as: 'r', maxDepth: 0}}, {$project: {'r._id': 1}}]",
        "{_id: 1, r: [{_id: 1}]}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$l', connectFromField: 'l', connectToField: '_id', as: 'r', restrictSearchWithMatch: {x: 'q'}}}, {$project: {'r._id': 1}}]",
        "{_id: 1, r: [{_id: 2}]}",
    ),
    (
        "[{$graphLookup: {from: 't', startWith: '$l', connectFromField: 'l', connectToField: '_id', as: 'r', maxDepth: -1}}]",
        "error 40101: maxDepth requires a nonnegative argument, found: -1",
    ),
    (
        "[{$graphLookup: {from: 't'}}]",
        "error 40105: $graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    ),
    ("[{$graphLookup: {from: 't', z: 1}}]", "error 40104: Unknown argument to $graphLookup: z"),
];
