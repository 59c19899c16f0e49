//! Pipelines over twelve documents of mixed types.

pub(super) const COLLECTION: &str = "[{_id: 0, k: 'a', v: 0, n: {l: [{q: 0}, {q: [0, 1]}, 7]}, d: Date(1704067200000), e: [[1, 0], [2]]}, {_id: 1, k: 'b', v: 1.0, n: {l: [{q: 1}, {q: [1, 2]}, 7]}, d: Date(1704153600000), e: []}, {_id: 2, k: null, v: NumberLong(2), n: {l: [{q: 2}, {q: [2, 3]}, 7]}, d: Date(1704240000000), e: []}, {_id: 3, k: 1, v: null, n: {l: [{q: 3}, {q: [3, 4]}, 7]}, d: Date(1704326400000), e: [[1, 3], [2]]}, {_id: 4, k: NumberLong(1), v: 's', n: {l: [{q: 4}, {q: [4, 5]}, 7]}, d: Date(1704412800000), e: []}, {_id: 5, k: 1.0, v: NumberDecimal('5'), n: {l: [{q: 5}, {q: [5, 6]}, 7]}, d: Date(1704499200000), e: []}, {_id: 6, k: 'a', v: 6, n: {l: [{q: 6}, {q: [6, 7]}, 7]}, d: Date(1704585600000), e: [[1, 6], [2]]}, {_id: 7, k: 'b', v: 7.0, n: {l: [{q: 7}, {q: [7, 8]}, 7]}, d: Date(1704672000000), e: []}, {_id: 8, k: null, v: NumberLong(8), n: {l: [{q: 8}, {q: [8, 9]}, 7]}, d: Date(1704758400000), e: []}, {_id: 9, k: 1, v: null, n: {l: [{q: 9}, {q: [9, 10]}, 7]}, d: Date(1704844800000), e: [[1, 9], [2]]}, {_id: 10, k: NumberLong(1), v: 's', n: {l: [{q: 10}, {q: [10, 11]}, 7]}, d: Date(1704931200000), e: []}, {_id: 11, k: 1.0, v: NumberDecimal('11'), n: {l: [{q: 11}, {q: [11, 12]}, 7]}, d: Date(1705017600000), e: []}]";

pub(super) const ROWS: &[(&str, &str)] = &[
    // A sort by `_id` alone uses the whole array of a group's key; another sort its least element.
    (
        "[{$match: {_id: {$lt: 4}}}, {$group: {_id: {$arrayElemAt: [[[], 3, null, [1]], '$_id']}}}, {$sort: {_id: 1}}, {$group: {_id: 0, r: {$push: '$_id'}}}]",
        "{_id: 0, r: [null, 3, [], [1]]}",
    ),
    (
        "[{$match: {_id: {$lt: 4}}}, {$project: {a: {$arrayElemAt: [[[], 3, null, [1]], '$_id']}, _id: 0}}, {$sort: {a: 1}}, {$group: {_id: 0, r: {$push: '$a'}}}]",
        "{_id: 0, r: [[], null, [1], 3]}",
    ),
    (
        "[{$group: {_id: null, r: {$bottom: {sortBy: {z: 1}, output: '$_id'}}}}]",
        "{_id: null, r: 0}",
    ),
    // `$topN` ranks by values of expressions: an array is one value, and an empty one comes first.
    (
        "[{$match: {_id: {$lt: 4}}}, {$set: {a: {$arrayElemAt: [[[1, 5], 3, [], [2]], '$_id']}}}, {$group: {_id: null, r: {$topN: {n: 9, sortBy: {a: 1}, output: '$a'}}}}]",
        "{_id: null, r: [[], 3, [1, 5], [2]]}",
    ),
    (
        "[{$match: {_id: 2}}, {$graphLookup: {from: 't', startWith: '$k', connectFromField: 'x', connectToField: 'k', as: 'r'}}, {$project: {r: '$r._id'}}]",
        "{_id: 2, r: [2, 8]}",
    ),
    (
        "[{$match: {_id: 2}}, {$graphLookup: {from: 't', startWith: '$k', connectFromField: 'x', connectToField: 'zz', as: 'r'}}, {$project: {r: 1}}]",
        "{_id: 2, r: []}",
    ),
    ("[{$group: {_id: 1, r: {}}}]", "error 40234: The field 'r' must be an accumulator object"),
    (
        "[{$group: {_id: '$k', s: {$sum: '$v'}, a: {$avg: '$v'}, mn: {$min: '$v'}, mx: {$max: '$v'}, n: {$sum: 1}, sd: {$stdDevPop: '$v'}}}]",
        "{_id: 'a', s: 6, a: 3.0, mn: 0, mx: 6, n: 2, sd: 3.0}; {_id: 'b', s: 8.0, a: 4.0, mn: 1.0, mx: 7.0, n: 2, sd: 3.0}; {_id: 1, s: NumberDecimal('16'), a: NumberDecimal('8'), mn: NumberDecimal('5'), mx: 's', n: 6, sd: 3.0}; {_id: null, s: NumberLong(10), a: 5.0, mn: NumberLong(2), mx: NumberLong(8), n: 2, sd: 3.0}",
    ),
    (
        "[{$group: {_id: {k: '$k', p: {$mod: ['$_id', 2]}}, f: {$first: '$_id'}, l: {$last: '$v'}}}]",
        "{_id: {k: 'a', p: 0}, f: 0, l: 6}; {_id: {k: 'b', p: 1}, f: 1, l: 7.0}; {_id: {k: 1, p: 1}, f: 3, l: NumberDecimal('11')}; {_id: {k: NumberLong(1), p: 0}, f: 4, l: 's'}; {_id: {k: null, p: 0}, f: 2, l: NumberLong(8)}",
    ),
    (
        "[{$group: {_id: {$type: '$v'}, c: {$count: {}}, f: {$firstN: {n: 2, input: '$_id'}}, l: {$lastN: {n: 2, input: '$_id'}}, m: {$maxN: {n: 2, input: '$_id'}}}}]",
        "{_id: 'decimal', c: 2, f: [5, 11], l: [5, 11], m: [11, 5]}; {_id: 'double', c: 2, f: [1, 7], l: [1, 7], m: [7, 1]}; {_id: 'int', c: 2, f: [0, 6], l: [0, 6], m: [6, 0]}; {_id: 'long', c: 2, f: [2, 8], l: [2, 8], m: [8, 2]}; {_id: 'null', c: 2, f: [3, 9], l: [3, 9], m: [9, 3]}; {_id: 'string', c: 2, f: [4, 10], l: [4, 10], m: [10, 4]}",
    ),
    (
        "[{$unwind: '$n.l'}, {$limit: 4}, {$project: {x: '$n.l.q'}}]",
        "{_id: 0, x: 0}; {_id: 0, x: [0, 1]}; {_id: 0}; {_id: 1, x: 1}",
    ),
    (
        "[{$unwind: '$e'}, {$unwind: {path: '$e', includeArrayIndex: 'i'}}, {$project: {e: 1, i: 1}}]",
        "{_id: 0, e: 1, i: NumberLong(0)}; {_id: 0, e: 0, i: NumberLong(1)}; {_id: 0, e: 2, i: NumberLong(0)}; {_id: 3, e: 1, i: NumberLong(0)}; {_id: 3, e: 3, i: NumberLong(1)}; {_id: 3, e: 2, i: NumberLong(0)}; {_id: 6, e: 1, i: NumberLong(0)}; {_id: 6, e: 6, i: NumberLong(1)}; {_id: 6, e: 2, i: NumberLong(0)}; {_id: 9, e: 1, i: NumberLong(0)}; {_id: 9, e: 9, i: NumberLong(1)}; {_id: 9, e: 2, i: NumberLong(0)}",
    ),
    (
        "[{$project: {q: '$n.l.q'}}, {$limit: 2}]",
        "{_id: 0, q: [0, [0, 1]]}; {_id: 1, q: [1, [1, 2]]}",
    ),
    (
        "[{$set: {'n.l.z': '$_id', 'n.w.x': 1}}, {$limit: 1}, {$project: {n: 1}}]",
        "{_id: 0, n: {l: [{q: 0, z: 0}, {q: [0, 1], z: 0}, {z: 0}], w: {x: 1}}}",
    ),
    ("[{$set: {n: {l: 5}}}, {$limit: 1}, {$project: {n: 1}}]", "{_id: 0, n: {l: 5}}"),
    (
        "[{$sort: {k: 1, _id: -1}}, {$project: {k: 1}}]",
        "{_id: 8, k: null}; {_id: 2, k: null}; {_id: 11, k: 1.0}; {_id: 10, k: NumberLong(1)}; {_id: 9, k: 1}; {_id: 5, k: 1.0}; {_id: 4, k: NumberLong(1)}; {_id: 3, k: 1}; {_id: 6, k: 'a'}; {_id: 0, k: 'a'}; {_id: 7, k: 'b'}; {_id: 1, k: 'b'}",
    ),
    (
        "[{$sort: {v: -1, _id: 1}}, {$limit: 5}, {$project: {v: 1}}]",
        "{_id: 4, v: 's'}; {_id: 10, v: 's'}; {_id: 11, v: NumberDecimal('11')}; {_id: 8, v: NumberLong(8)}; {_id: 7, v: 7.0}",
    ),
    (
        "[{$match: {_id: {$lt: 3}}}, {$facet: {a: [{$group: {_id: null, t: {$sum: '$_id'}}}], b: [{$match: {_id: 9}}], c: [{$skip: 2}, {$project: {_id: 1}}]}}]",
        "{a: [{_id: null, t: 3}], b: [], c: [{_id: 2}]}",
    ),
    (
        "[{$match: {_id: {$lt: 4}}}, {$lookup: {from: 't', localField: 'n.l.q', foreignField: '_id', as: 'j'}}, {$project: {j: {$sortArray: {input: '$j._id', sortBy: 1}}}}]",
        "{_id: 0, j: [0, 1]}; {_id: 1, j: [1, 2]}; {_id: 2, j: [2, 3]}; {_id: 3, j: [3, 4]}",
    ),
    (
        "[{$match: {_id: {$lt: 3}}}, {$lookup: {from: 't', localField: '_id', foreignField: 'n.l.q', as: 'j'}}, {$project: {j: {$sortArray: {input: '$j._id', sortBy: 1}}}}]",
        "{_id: 0, j: [0]}; {_id: 1, j: [0, 1]}; {_id: 2, j: [1, 2]}",
    ),
    (
        "[{$match: {_id: {$lt: 3}}}, {$lookup: {from: 't', let: {i: '$_id', zz: '$none'}, pipeline: [{$match: {$expr: {$and: [{$eq: ['$_id', {$add: ['$$i', 1]}]}, {$eq: [{$type: '$$zz'}, 'missing']}]}}}, {$project: {o: '$$i'}}], as: 'j'}}, {$project: {j: 1}}]",
        "{_id: 0, j: [{_id: 1, o: 0}]}; {_id: 1, j: [{_id: 2, o: 1}]}; {_id: 2, j: [{_id: 3, o: 2}]}",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [0, 4, 8], default: 'rest', output: {ids: {$push: '$_id'}}}}]",
        "{_id: 0, ids: [0, 1, 2, 3]}; {_id: 4, ids: [4, 5, 6, 7]}; {_id: 'rest', ids: [8, 9, 10, 11]}",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 5}}]",
        "{_id: {min: 0, max: 2}, count: 2}; {_id: {min: 2, max: 4}, count: 2}; {_id: {min: 4, max: 6}, count: 2}; {_id: {min: 6, max: 8}, count: 2}; {_id: {min: 8, max: 11}, count: 4}",
    ),
    (
        "[{$bucketAuto: {groupBy: '$k', buckets: 2}}]",
        "{_id: {min: null, max: 'a'}, count: 8}; {_id: {min: 'a', max: 'b'}, count: 4}",
    ),
    (
        "[{$sortByCount: {$type: '$k'}}]",
        "{_id: 'double', count: 2}; {_id: 'int', count: 2}; {_id: 'long', count: 2}; {_id: 'null', count: 2}; {_id: 'string', count: 4}",
    ),
    (
        "[{$replaceWith: {$arrayToObject: [[['i', '$_id'], ['v', '$v']]]}}, {$limit: 3}]",
        "{i: 0, v: 0}; {i: 1, v: 1.0}; {i: 2, v: NumberLong(2)}",
    ),
    (
        "[{$project: {_id: 0, v: {$convert: {input: '$v', to: 'int', onError: 'bad', onNull: 'none'}}}}]",
        "{v: 0}; {v: 1}; {v: 2}; {v: 'none'}; {v: 'bad'}; {v: 5}; {v: 6}; {v: 7}; {v: 8}; {v: 'none'}; {v: 'bad'}; {v: 11}",
    ),
    (
        "[{$group: {_id: {$dateTrunc: {date: '$d', unit: 'week'}}, n: {$sum: 1}}}]",
        "{_id: Date(1703980800000), n: 6}; {_id: Date(1704585600000), n: 6}",
    ),
    (
        "[{$group: {_id: null, all: {$push: {i: '$_id', z: '$zz'}}}}, {$project: {all: {$slice: ['$all', 2]}}}]",
        "{_id: null, all: [{i: 0}, {i: 1}]}",
    ),
    (
        "[{$group: {_id: null, m: {$mergeObjects: {$arrayToObject: [[[{$toString: '$_id'}, '$_id']]]}}}}]",
        "{_id: null, m: {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8, 9: 9, 10: 10, 11: 11}}",
    ),
    (
        "[{$set: {e: {$reduce: {input: '$e', initialValue: [], in: {$concatArrays: ['$$value', '$$this']}}}}}, {$limit: 2}, {$project: {e: 1}}]",
        "{_id: 0, e: [1, 0, 2]}; {_id: 1, e: []}",
    ),
    (
        "[{$unset: ['n.l.q', 'd', 'e', 'v']}, {$limit: 2}]",
        "{_id: 0, k: 'a', n: {l: [{}, {}, 7]}}; {_id: 1, k: 'b', n: {l: [{}, {}, 7]}}",
    ),
    ("[{$count: 'c'}, {$set: {d: {$multiply: ['$c', 2]}}}]", "{c: 12, d: 24}"),
    (
        "[{$match: {_id: 3}}, {$unionWith: {coll: 't', pipeline: [{$match: {_id: 4}}]}}, {$group: {_id: null, s: {$sum: '$_id'}}}]",
        "{_id: null, s: 7}",
    ),
    (
        "[{$project: {x: {$filter: {input: '$n.l', as: 'r', cond: {$gt: ['$$r.q', 5]}}}}}, {$limit: 1}]",
        "{_id: 0, x: [{q: [0, 1]}]}",
    ),
    (
        "[{$group: {_id: '$e', n: {$sum: 1}}}]",
        "{_id: [[1, 0], [2]], n: 1}; {_id: [[1, 3], [2]], n: 1}; {_id: [[1, 6], [2]], n: 1}; {_id: [[1, 9], [2]], n: 1}; {_id: [], n: 8}",
    ),
    (
        "[{$group: {_id: null, t: {$top: {sortBy: {v: -1, _id: 1}, output: ['$_id', '$v']}}, b: {$bottomN: {n: 3, sortBy: {k: 1, _id: 1}, output: '$_id'}}}}]",
        "{_id: null, t: [4, 's'], b: [6, 1, 7]}",
    ),
    (
        "[{$redact: {$switch: {branches: [{case: {$eq: ['$q', 0]}, then: '$$PRUNE'}], default: '$$DESCEND'}}}, {$limit: 1}]",
        "{_id: 0, k: 'a', v: 0, n: {l: [{q: [0, 1]}, 7]}, d: Date(1704067200000), e: [[1, 0], [2]]}",
    ),
    (
        "[{$group: {_id: null, a: {$addToSet: '$k'}}}, {$project: {n: {$size: '$a'}}}]",
        "{_id: null, n: 4}",
    ),
];
